//! Which flow a frame belongs to, and what tells the flows apart: a pure function of sequence space and number, so
//! two copies of one frame hash to the same receive queue, and the sink can judge reordering inside a flow without
//! reading a header. Knows no bytes.

use super::formula::{Formula, Modifier, Per};
use super::layout::{Field, Layout};

/// Number of a frame over all workers: worker w of n owns w, w + n, w + 2n, …
#[inline]
#[must_use]
pub const fn index_of(worker: u16, seq: u64, workers: u16) -> u64 {
    seq.wrapping_mul(workers as u64).wrapping_add(worker as u64)
}

/// The flow, below `flows`, of frame `seq` of worker `worker` of `workers`.
///
/// When `flows` is a multiple of `workers`, each worker walks flows of its own: flow mod workers = worker. So
/// each transmit queue owns its flows, and a flow's frames leave through one queue, in order. With `flows`
/// prime to `workers`, every worker walks all of them. `flows` 0 counts as 1.
///
/// A sink that extends 32-bit numbers from a later start than 0 may see all flows of a space renamed by one
/// constant rotation, which changes no grouping.
#[inline]
#[must_use]
pub const fn flow_of(worker: u16, seq: u64, workers: u16, flows: u32) -> u32 {
    match index_of(worker, seq, workers).checked_rem(flows as u64) {
        Some(flow) => flow as u32,
        None => 0,
    }
}

/// The fields by which flows differ, outermost: source address, and source port where there is one. A NIC's
/// receive-side scaling hashes the outermost headers.
fn telling(layout: &Layout) -> Vec<&Field> {
    let first =
        |names: [&str; 2]| names.into_iter().filter_map(|name| layout.field(name)).min_by_key(|f| f.bit);
    [first(["ipv4.src", "ipv6.src"]), first(["udp.src_port", "tcp.src_port"])].into_iter().flatten().collect()
}

const PORT_BITS: usize = 16;

/// Whether the stack has anything by which flows could differ.
#[must_use]
pub fn possible(layout: &Layout) -> bool {
    !telling(layout).is_empty()
}

/// What a flow's source port lies above that of the one before it. The Toeplitz hash of receive-side scaling is linear:
/// where address and port grow by the same, many of their bits cancel out, and queues get a third of their share.
const PORT_STEP: u64 = 3;

/// What makes `flows` flows: flow k has the stack's source address + k (its low 32 bits, or 64 of IPv6,
/// wrapping) and the stack's source port + 3k, or + k where there are not as many ports (wrapping), so that a NIC
/// spreads them whether it hashes ports or not. One flow needs nothing.
#[must_use]
pub fn modifiers(layout: &Layout, flows: u32) -> Vec<Modifier> {
    if flows <= 1 {
        return Vec::new();
    }
    let count = u64::from(flows);
    let by_flow = |field: &Field| {
        let base = low_bits(&layout.header, field);
        let ports = field.bits == PORT_BITS && base + (count - 1) * PORT_STEP <= u64::from(u16::MAX);
        let step = if ports { PORT_STEP } else { 1 };
        Modifier { field: field.name.clone(), formula: Formula::Step { base, step, count }, per: Per::Frame }
    };
    telling(layout).into_iter().map(by_flow).collect()
}

/// The value of a field of whole bytes in the headers, its low 64 bits where it has more.
fn low_bits(header: &[u8], field: &Field) -> u64 {
    let bytes = header.get(field.bit / 8..(field.bit + field.bits) / 8).unwrap_or_default();
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn workers_own_their_flows_when_flows_are_a_multiple() {
        for (workers, flows) in [(1, 7), (4, 4), (4, 64), (3, 12)] {
            for worker in 0..workers {
                let own: HashSet<u32> = (0..1000).map(|seq| flow_of(worker, seq, workers, flows)).collect();
                assert_eq!(own.len() as u32, flows / u32::from(workers));
                assert!(own.iter().all(|flow| flow % u32::from(workers) == u32::from(worker)));
            }
        }
    }

    /// The key of Microsoft's verification suite, which many NICs start with ("Verifying the RSS hash calculation").
    const KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
        0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
        0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ];

    /// The Toeplitz hash of receive-side scaling over `input`.
    fn toeplitz(input: &[u8]) -> u32 {
        let key_bit = |at: usize| u32::from(KEY[at / 8] >> (7 - at % 8) & 1);
        let window = |at: usize| (at..at + 32).fold(0, |word, at| word << 1 | key_bit(at));
        let set = |at: &usize| input[at / 8] >> (7 - at % 8) & 1 == 1;
        (0..input.len() * 8).filter(set).fold(0, |hash, at| hash ^ window(at))
    }

    #[test]
    fn the_hash_is_the_documented_one() {
        // 66.9.149.187 port 2794 to 161.142.100.80 port 1766.
        let input = [66, 9, 149, 187, 161, 142, 100, 80, 0x0A, 0xEA, 0x06, 0xE6];
        assert_eq!((toeplitz(&input), toeplitz(&input[..8])), (0x51cc_c178, 0x323e_8fc2));
    }

    /// Whether the NIC hashes ports or addresses alone, no queue has more than twice or less than half its share.
    #[test]
    fn flows_spread_over_the_queues_of_receive_side_scaling() {
        let (src, dst) = (u32::from_be_bytes([198, 18, 0, 1]), [198, 19, 0, 1]);
        for (flows, queues) in [(64u32, 2usize), (64, 4), (256, 8), (256, 16), (2048, 32)] {
            for hashed in [8, 12] {
                let mut share = vec![0u32; queues];
                for flow in 0..flows {
                    let ports = [(4242 + 3 * flow as u16).to_be_bytes(), 9u16.to_be_bytes()].concat();
                    let input = [&(src + flow).to_be_bytes()[..], &dst, &ports].concat();
                    // The indirection table of 128 places, filled in turn.
                    share[toeplitz(&input[..hashed]) as usize % 128 % queues] += 1;
                }
                let mean = flows / queues as u32;
                let fair = share.iter().all(|n| *n * 2 >= mean && *n <= mean * 2);
                assert!(fair, "{flows} flows over {queues} queues by {hashed} bytes: {share:?}");
            }
        }
    }
}
