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

/// Whether the stack has anything by which flows could differ.
#[must_use]
pub fn possible(layout: &Layout) -> bool {
    !telling(layout).is_empty()
}

/// What makes `flows` flows: flow k has the stack's source address + k (its low 32 bits, or 64 of IPv6,
/// wrapping) and the stack's source port + k (wrapping), so that a NIC spreads them whether it hashes ports or
/// not. One flow needs nothing.
#[must_use]
pub fn modifiers(layout: &Layout, flows: u32) -> Vec<Modifier> {
    if flows <= 1 {
        return Vec::new();
    }
    let count = u64::from(flows);
    let by_flow = |field: &Field| Modifier {
        field: field.name.clone(),
        formula: Formula::Step { base: low_bits(&layout.header, field), step: 1, count },
        per: Per::Frame,
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
}
