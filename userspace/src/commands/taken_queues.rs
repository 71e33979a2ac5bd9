//! A queue that another socket holds, as a finding: which queues are taken and which are free, by the
//! kernel's list of queues. Changes nothing.

use super::placement::Seat;
use super::sockets::Wanted;
use crate::finding::{Code, Finding, Severity};
use crate::host::netdev::{self, Direction, Queue};
use std::collections::BTreeSet;

/// The finding for a bind on `queue` that found it taken.
pub fn busy(wanted: &Wanted<'_>, seats: &[Seat], queue: u32) -> Finding {
    // Sockets of this side that were open by then: the kernel lets go of them a moment after they close.
    let own: BTreeSet<u32> = seats.iter().map(|seat| seat.queue).take_while(|id| *id != queue).collect();
    let list = netdev::queue_list(wanted.ifindex).unwrap_or_default();
    finding(wanted.iface, queue, &Occupancy::of(&list, wanted.direction, &own, queue))
}

/// Queues by who has them.
#[derive(Debug, PartialEq, Eq)]
struct Occupancy {
    taken: BTreeSet<u32>,
    free: BTreeSet<u32>,
}

impl Occupancy {
    /// Of the queues of that direction; a socket takes the queue of its number in both.
    fn of(list: &[Queue], direction: Direction, own: &BTreeSet<u32>, refused: u32) -> Self {
        let has_socket = |q: &&Queue| q.has_xsk && !own.contains(&q.id);
        let mut taken: BTreeSet<u32> = list.iter().filter(has_socket).map(|q| q.id).collect();
        taken.insert(refused);
        let all = list.iter().filter(|q| q.direction == direction).map(|q| q.id);
        let free = all.filter(|id| !taken.contains(id)).collect();
        Self { taken, free }
    }
}

fn finding(iface: &str, queue: u32, queues: &Occupancy) -> Finding {
    let taken = ranges(&queues.taken);
    let what = match queues.taken.len() {
        0 | 1 => format!("another AF_XDP socket holds queue {taken}"),
        _ => format!("other AF_XDP sockets hold the queues {taken}"),
    };
    let remedy = if queues.free.is_empty() {
        "end the other program; no other queue is known to be free".to_owned()
    } else {
        let free = ranges(&queues.free);
        format!("--queues {free}, which no socket holds, or end the other program")
    };
    Finding::new(Code::QueueBusy, Severity::Fail, format!("{iface} queue {queue}"), what)
        .why("a queue serves one socket at a time; whose it is the kernel tells only where it was built with CONFIG_XDP_SOCKETS_DIAG (`ss --xdp -p`)")
        .remedy(remedy)
}

/// Numbers as `--queues` takes them: `0,2-3`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(id: u32, direction: Direction, has_xsk: bool) -> Queue {
        Queue { id, direction, has_xsk }
    }

    fn set(numbers: &[u32]) -> BTreeSet<u32> {
        numbers.iter().copied().collect()
    }

    #[test]
    fn lists_are_what_the_flag_takes() {
        assert_eq!(ranges(&set(&[0])), "0");
        assert_eq!(ranges(&set(&[0, 1, 2, 5, 7, 8])), "0-2,5,7-8");
        assert_eq!(ranges(&set(&[u32::MAX])), "4294967295");
    }

    #[test]
    fn free_queues_are_those_of_the_direction_without_a_socket() {
        let list = [
            queue(0, Direction::Rx, true),
            queue(0, Direction::Tx, true),
            queue(1, Direction::Tx, false),
            queue(2, Direction::Tx, true),
            queue(3, Direction::Tx, false),
        ];
        let of = |direction, own: &[u32]| Occupancy::of(&list, direction, &set(own), 0);
        assert_eq!(of(Direction::Tx, &[]), Occupancy { taken: set(&[0, 2]), free: set(&[1, 3]) });
        assert_eq!(of(Direction::Tx, &[2]), Occupancy { taken: set(&[0]), free: set(&[1, 2, 3]) });
        assert_eq!(of(Direction::Rx, &[]).free, set(&[]));
    }

    #[test]
    fn what_is_free_is_offered_and_nothing_else() {
        let said =
            |taken: &[u32], free: &[u32]| finding("v0", 0, &Occupancy { taken: set(taken), free: set(free) });
        assert!(said(&[0], &[1, 2, 3]).remedy.starts_with("--queues 1-3"));
        assert!(said(&[0, 2], &[]).what.ends_with("the queues 0,2"));
        assert!(!said(&[0], &[]).remedy.contains("--queues"));
    }
}
