//! Classic BPF filters that pass only what may be a frame of ours, or of ARP and neighbour discovery, so that a packet
//! socket on a busy interface costs next to nothing. They may pass too much (the caller looks again), never too
//! little. Know no socket.
//! Source: Documentation/networking/filter.rst.

use libc::sock_filter;

/// EtherType of frames of ours without IP.
const ETHERTYPE_PROBE: u32 = 0x88b5;
const ETHERTYPE_IPV4: u32 = 0x0800;
const ETHERTYPE_ARP: u32 = 0x0806;
const ETHERTYPE_IPV6: u32 = 0x86dd;
/// A tag still in the frame: the kernel takes only the outermost one out of it.
const ETHERTYPE_VLAN: u32 = 0x8100;
const ETHERTYPE_SERVICE_VLAN: u32 = 0x88a8;
const PROTOCOL_UDP: u32 = 17;
const PROTOCOL_ICMPV6: u32 = 58;
/// ICMPv6 types of neighbour discovery: solicitation and advertisement (RFC 4861).
const SOLICITATION: u32 = 135;
const ADVERTISEMENT: u32 = 136;
/// Fragment offset in IPv4's flags word: a later fragment has no ports.
const FRAGMENT_OFFSET: u32 = 0x1fff;

/// Where fields lie from the destination MAC on, the outermost VLAN tag taken out.
const AT_ETHERTYPE: u32 = 12;
const AT_IP: u32 = 14;
const AT_IPV4_FRAGMENT: u32 = AT_IP + 6;
const AT_IPV4_PROTOCOL: u32 = AT_IP + 9;
/// Destination port within UDP.
const PORT_IN_UDP: u32 = 2;
const AT_IPV6_NEXT_HEADER: u32 = AT_IP + 6;
const AT_IPV6_UDP_PORT: u32 = AT_IP + 40 + PORT_IN_UDP;
const AT_ICMPV6_TYPE: u32 = AT_IP + 40;

/// Class, size and mode bits of linux/bpf_common.h, in the combinations used here.
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF_INDEXED: u16 = 0x48;
const LOAD_X_IP_HEADER_LENGTH: u16 = 0xb1;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Instruction numbers of the two ends.
const ACCEPT: usize = 17;
const REJECT: usize = 18;

/// The program that passes UDP to `port` over IPv4 or IPv6, EtherType 0x88B5, and anything with a further VLAN tag.
#[must_use]
pub fn ours(port: u16) -> [sock_filter; 19] {
    let port = u32::from(port);
    [
        load(LOAD_HALF, AT_ETHERTYPE),
        jump(JUMP_EQUAL, ETHERTYPE_PROBE, (1, ACCEPT), 2),
        jump(JUMP_EQUAL, ETHERTYPE_VLAN, (2, ACCEPT), 3),
        jump(JUMP_EQUAL, ETHERTYPE_SERVICE_VLAN, (3, ACCEPT), 4),
        jump(JUMP_EQUAL, ETHERTYPE_IPV4, (4, 6), 5),
        jump(JUMP_EQUAL, ETHERTYPE_IPV6, (5, 13), REJECT),
        load(LOAD_BYTE, AT_IPV4_PROTOCOL),
        jump(JUMP_EQUAL, PROTOCOL_UDP, (7, 8), REJECT),
        load(LOAD_HALF, AT_IPV4_FRAGMENT),
        jump(JUMP_BITS, FRAGMENT_OFFSET, (9, REJECT), 10),
        load(LOAD_X_IP_HEADER_LENGTH, AT_IP),
        load(LOAD_HALF_INDEXED, AT_IP + PORT_IN_UDP),
        jump(JUMP_EQUAL, port, (12, ACCEPT), REJECT),
        load(LOAD_BYTE, AT_IPV6_NEXT_HEADER),
        jump(JUMP_EQUAL, PROTOCOL_UDP, (14, 15), REJECT),
        load(LOAD_HALF, AT_IPV6_UDP_PORT),
        jump(JUMP_EQUAL, port, (16, ACCEPT), REJECT),
        // The whole frame, whatever its length.
        load(RETURN, u32::MAX),
        load(RETURN, 0),
    ]
}

/// The program that passes ARP, solicitations and advertisements of neighbours, and anything with a further VLAN tag.
#[must_use]
pub fn neighbours() -> [sock_filter; 12] {
    const ACCEPT: usize = 10;
    const REJECT: usize = 11;
    [
        load(LOAD_HALF, AT_ETHERTYPE),
        jump(JUMP_EQUAL, ETHERTYPE_ARP, (1, ACCEPT), 2),
        jump(JUMP_EQUAL, ETHERTYPE_VLAN, (2, ACCEPT), 3),
        jump(JUMP_EQUAL, ETHERTYPE_SERVICE_VLAN, (3, ACCEPT), 4),
        jump(JUMP_EQUAL, ETHERTYPE_IPV6, (4, 5), REJECT),
        load(LOAD_BYTE, AT_IPV6_NEXT_HEADER),
        jump(JUMP_EQUAL, PROTOCOL_ICMPV6, (6, 7), REJECT),
        load(LOAD_BYTE, AT_ICMPV6_TYPE),
        jump(JUMP_EQUAL, SOLICITATION, (8, ACCEPT), 9),
        jump(JUMP_EQUAL, ADVERTISEMENT, (9, ACCEPT), REJECT),
        load(RETURN, u32::MAX),
        load(RETURN, 0),
    ]
}

const fn load(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// A jump at instruction `at` to `yes` or `no`: (at, yes), no.
const fn jump(code: u16, k: u32, (at, yes): (usize, usize), no: usize) -> sock_filter {
    // No program has more than 19 instructions, so every distance fits eight bits.
    sock_filter { code, jt: (yes - at - 1) as u8, jf: (no - at - 1) as u8, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classic BPF as filter.rst defines it, for the instructions used here: the bytes passed.
    fn run(program: &[sock_filter], frame: &[u8]) -> u32 {
        let half = |at: u32| -> Option<u32> {
            let at = at as usize;
            Some(u32::from(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?)))
        };
        let byte = |at: u32| frame.get(at as usize).map(|b| u32::from(*b));
        let (mut a, mut x, mut pc) = (0, 0, 0usize);
        loop {
            let i = program[pc];
            let loaded = match i.code {
                LOAD_HALF => half(i.k),
                LOAD_BYTE => byte(i.k),
                LOAD_HALF_INDEXED => half(x + i.k),
                LOAD_X_IP_HEADER_LENGTH => byte(i.k).inspect(|b| x = (b & 0xf) * 4).map(|_| a),
                JUMP_EQUAL | JUMP_BITS => {
                    let yes = if i.code == JUMP_EQUAL { a == i.k } else { a & i.k != 0 };
                    pc += usize::from(if yes { i.jt } else { i.jf });
                    Some(a)
                }
                RETURN => return i.k,
                other => panic!("instruction {other:#x} is not known here"),
            };
            // A load past the end ends the program with "reject".
            let Some(loaded) = loaded else { return 0 };
            (a, pc) = (loaded, pc + 1);
        }
    }

    fn ipv4(port: u16, protocol: u8, ihl: u8, fragment: u16) -> Vec<u8> {
        let mut frame = vec![0; 14 + usize::from(ihl) * 4 + 8];
        frame[12..14].copy_from_slice(&[8, 0]);
        (frame[14], frame[23]) = (0x40 | ihl, protocol);
        frame[20..22].copy_from_slice(&fragment.to_be_bytes());
        let udp = 14 + usize::from(ihl) * 4;
        frame[udp + 2..udp + 4].copy_from_slice(&port.to_be_bytes());
        frame
    }

    fn ipv6(port: u16, next_header: u8) -> Vec<u8> {
        let mut frame = vec![0; 14 + 40 + 8];
        frame[12..14].copy_from_slice(&[0x86, 0xdd]);
        frame[20] = next_header;
        frame[56..58].copy_from_slice(&port.to_be_bytes());
        frame
    }

    fn raw(ether_type: u16) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
        frame
    }

    #[test]
    fn ours_pass_whole() {
        let program = ours(9);
        let frames = [ipv4(9, 17, 5, 0), ipv4(9, 17, 15, 0), ipv4(9, 17, 5, 0x4000), ipv6(9, 17)];
        for frame in frames.into_iter().chain([raw(0x88b5), raw(0x8100), raw(0x88a8)]) {
            assert_eq!(run(&program, &frame), u32::MAX, "{frame:x?}");
        }
    }

    #[test]
    fn others_are_left_to_the_host() {
        let program = ours(9);
        let frames = [ipv4(22, 17, 5, 0), ipv4(9, 6, 5, 0), ipv4(9, 17, 5, 185), ipv6(9, 6), ipv6(22, 17)];
        for frame in frames.into_iter().chain([raw(0x0806), raw(0x88cc), vec![0; 13]]) {
            assert_eq!(run(&program, &frame), 0, "{frame:x?}");
        }
    }

    #[test]
    fn questions_for_neighbours_and_their_answers_pass() {
        let program = neighbours();
        let discovery = |kind: u8| {
            let mut frame = ipv6(0, 58);
            frame[54] = kind;
            frame
        };
        for frame in [raw(0x0806), raw(0x8100), raw(0x88a8), discovery(135), discovery(136)] {
            assert_eq!(run(&program, &frame), u32::MAX, "{frame:x?}");
        }
        for frame in [discovery(134), ipv6(9, 17), ipv4(9, 17, 5, 0), raw(0x88b5), vec![0; 13]] {
            assert_eq!(run(&program, &frame), 0, "{frame:x?}");
        }
    }
}
