//! `--answer`: the sink says where certain addresses are, so that switches and routers go on sending to it. Knows no
//! test traffic.

use crate::commands::failure::system_finding;
use crate::finding::{Code, Finding, Severity};
use crate::frame::neighbour::{self, Said, Station};
use crate::host::{InterfaceFacts, address};
use crate::sys::packet_socket::PacketSocket;
use macaddr::MacAddr6;
use std::io;
use std::net::IpAddr;

/// Questions answered in one turn, a hundredth of a second: more than a network of honest hosts asks, and no flood.
const ANSWERS_A_TURN: usize = 64;
/// Frames looked at in one turn: most questions of a network are for others.
const FRAMES_A_TURN: usize = 256;
/// Longer than any question: IPv6, ICMPv6 with a few options, and two tags.
const BUFFER_BYTES: usize = 512;

/// Answers for some addresses with the interface's MAC.
pub struct Answering {
    socket: PacketSocket,
    mac: MacAddr6,
    ips: Vec<IpAddr>,
    answered: u64,
}

/// An answerer for those of `ips` that the interface does not have itself, with a note of each that it has; None where
/// nothing is left to answer for.
///
/// # Errors
/// When the kernel refuses the packet socket, or the interface has no MAC to answer with.
pub fn open(ips: &[IpAddr], facts: &InterfaceFacts) -> Result<(Option<Answering>, Vec<Finding>), Finding> {
    if ips.is_empty() {
        return Ok((None, Vec::new()));
    }
    let refused = |what: &str, e: &io::Error| system_finding(&facts.name, what, e);
    let addresses = address::all().map_err(|e| refused("its addresses could not be listed", &e))?;
    let is_own = |ip: &&IpAddr| addresses.iter().any(|a| a.ifindex == facts.ifindex && a.ip == **ip);
    let (own, ips): (Vec<IpAddr>, Vec<IpAddr>) = ips.iter().partition(is_own);
    let notes = own.into_iter().map(|ip| left_to_kernel(facts, ip)).collect();
    if ips.is_empty() {
        return Ok((None, notes));
    }
    let open = || {
        let mac = facts.mac.ok_or_else(|| io::Error::other("the interface has no MAC"))?;
        let socket = PacketSocket::open_for_neighbours(facts.ifindex)?;
        for ip in &ips {
            // Questions for an IPv6 address go to a group that the NIC must let through.
            if let IpAddr::V6(ip) = ip {
                socket.join(neighbour::solicited_mac(*ip).into_array())?;
            }
        }
        Ok(Answering { socket, mac, ips: ips.clone(), answered: 0 })
    };
    let answering = open().map_err(|e: io::Error| refused("answers for addresses cannot be given", &e))?;
    answering.announce();
    Ok((Some(answering), notes))
}

fn left_to_kernel(facts: &InterfaceFacts, ip: IpAddr) -> Finding {
    let what = format!("the kernel answers for {ip} already, so the sink does not");
    Finding::new(Code::AnsweredByKernel, Severity::Info, facts.name.clone(), what)
        .why("it is an address of the interface itself")
        .remedy(format!("leave {ip} out of --answer"))
}

impl Answering {
    /// Says unasked where the addresses are, in the untagged network: no other is known before somebody asks.
    fn announce(&self) {
        for ip in &self.ips {
            let frame = neighbour::announcement(Station { mac: self.mac, ip: *ip }, &[]);
            // A courtesy: who needs to know will ask.
            let _ = frame.map(|frame| self.socket.send(&frame));
        }
    }

    /// Answers what has been asked, in the VLAN in which it was.
    pub fn turn(&mut self) {
        let mut buf = [0; BUFFER_BYTES];
        let mut answers = 0;
        for _ in 0..FRAMES_A_TURN {
            // What ails the interface ails the socket for control frames too, and is told from there.
            let Ok(Some(length)) = self.socket.recv(&mut buf) else { return };
            let Some(frame) = buf.get(..length).and_then(|frame| reply(frame, self.mac, &self.ips)) else {
                continue;
            };
            // One that the queue does not take now is asked for again.
            answers += usize::from(self.socket.send(&frame).is_ok());
            self.answered += 1;
            if answers == ANSWERS_A_TURN {
                return;
            }
        }
    }

    /// What was done, in words.
    pub fn words(&self) -> String {
        let ips = self.ips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ");
        format!("answered {} question(s) for {ips}", self.answered)
    }
}

/// The answer to a frame that asks for one of `ips`.
fn reply(frame: &[u8], mac: MacAddr6, ips: &[IpAddr]) -> Option<Vec<u8>> {
    let heard = neighbour::read(frame)?;
    match heard.said {
        Said::Question { target, mac: asker, ip } if ips.contains(&target) => {
            neighbour::answer(Station { mac, ip: target }, (asker, ip), &heard.tags)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINK: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 9);

    #[test]
    fn what_is_asked_for_is_answered_with_the_tags_of_the_question() {
        for (asker, ours, other) in
            [("192.0.2.1", "192.0.2.7", "192.0.2.8"), ("2001:db8::1", "2001:db8::7", "2001:db8::8")]
        {
            let [asker, ours, other] = [asker, ours, other].map(|ip| ip.parse::<IpAddr>().unwrap());
            let tags = neighbour::tags(&[200, 100]);
            let from = Station { mac: MacAddr6::new(2, 0, 0, 0, 0, 1), ip: asker };
            let ask = |target| neighbour::question(from, target, &tags).unwrap();
            let heard = neighbour::read(&reply(&ask(ours), SINK, &[ours]).unwrap()).unwrap();
            assert_eq!(
                (heard.tags, heard.said),
                (tags.clone(), Said::Answer(Station { mac: SINK, ip: ours }))
            );
            assert_eq!(reply(&ask(other), SINK, &[ours]), None);
            // Somebody else who says that he has it has not asked.
            let claim = neighbour::announcement(Station { ip: ours, ..from }, &[]).unwrap();
            assert_eq!(reply(&claim, SINK, &[ours]), None);
        }
    }
}
