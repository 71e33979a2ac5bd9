//! What differs from frame to frame beside the probe, as a short table of plain numbers that a BPF program
//! can compute as well. Knows no header: a modifier is an offset and a formula.
//!
//! Flows are a pure function of sequence space and number, see [`flow_of`]: so two copies of one frame hash
//! to the same receive queue, and the sink can judge reordering inside a flow without reading a header.

use super::wire::{ipv4, ipv6, put, udp};
use super::{FrameError, L3, Stack};

/// Bytes of a modified field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// 1 byte.
    One,
    /// 2 bytes in network order.
    Two,
    /// 4 bytes in network order.
    Four,
}

impl Width {
    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    const fn mask(self) -> u64 {
        match self {
            Self::One => 0xFF,
            Self::Two => 0xFFFF,
            Self::Four => 0xFFFF_FFFF,
        }
    }
}

/// One field that follows the frame's index: `base + (index mod modulus) × step`, cut to the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modifier {
    /// First byte of the field, from the first byte of the frame.
    pub offset: usize,
    /// How wide it is.
    pub width: Width,
    /// Its value at index 0.
    pub base: u64,
    /// What one step adds.
    pub step: u64,
    /// Indexes until it begins again; 0 counts as 1.
    pub modulus: u64,
}

impl Modifier {
    /// The field's value in the frame of `index`; arithmetic modulo 2^64, then cut to the width.
    #[inline]
    #[must_use]
    pub fn value(&self, index: u64) -> u64 {
        self.at_phase(index.checked_rem(self.modulus).unwrap_or(0))
    }

    /// The value where `index mod modulus` is known.
    #[inline]
    #[must_use]
    pub(super) fn at_phase(&self, phase: u64) -> u64 {
        self.base.wrapping_add(phase.wrapping_mul(self.step)) & self.width.mask()
    }

    /// Writes `value` into its field.
    #[inline]
    pub(super) fn put(&self, value: u64, frame: &mut [u8]) {
        let [.., a, b, c, d] = value.to_be_bytes();
        match self.width {
            Width::One => put(frame, self.offset, [d]),
            Width::Two => put(frame, self.offset, [c, d]),
            Width::Four => put(frame, self.offset, [a, b, c, d]),
        }
    }

    /// By how many bits its value is shifted in a checksum's 16-bit words: a field that ends inside a word
    /// counts 256-fold. Words begin at even offsets.
    pub(super) fn checksum_shift(&self) -> u32 {
        if (self.offset + self.width.bytes()).is_multiple_of(2) { 0 } else { 8 }
    }
}

/// Number of a frame over all of a sender's sequence spaces: space s of n owns s, s + n, s + 2n, …
#[inline]
#[must_use]
pub const fn index_of(space: u16, seq: u64, spaces: u16) -> u64 {
    seq.wrapping_mul(spaces as u64).wrapping_add(space as u64)
}

/// The flow, below `flows`, of frame `seq` in sequence space `space` of `spaces`.
///
/// When `flows` is a multiple of `spaces`, each space walks flows of its own: flow mod spaces = space. So
/// each transmit queue owns its flows, and a flow's frames leave through one queue, in order. With `flows`
/// prime to `spaces`, every space walks all of them. `flows` 0 counts as 1.
///
/// A sink that extends 32-bit numbers from a later start than 0 may see all flows of a space renamed by one
/// constant rotation, which changes no grouping.
#[inline]
#[must_use]
pub const fn flow_of(space: u16, seq: u64, spaces: u16, flows: u32) -> u32 {
    match index_of(space, seq, spaces).checked_rem(flows as u64) {
        Some(flow) => flow as u32,
        None => 0,
    }
}

/// The table for `flows` flows: flow k has the stack's source address + k (low 32 bits of the address,
/// wrapping) and the stack's source port + k (wrapping), so that a NIC spreads them whether it hashes ports
/// or not. One flow needs no entry, several need two.
///
/// # Errors
/// No flows; or several without IP.
pub fn flow_modifiers(stack: &Stack, flows: u32) -> Result<Vec<Modifier>, FrameError> {
    let headers = stack.headers();
    let (address, low, src_port) = match (flows, stack.l3) {
        (0, _) => return Err(FrameError::NoFlows),
        (1, _) => return Ok(Vec::new()),
        (_, L3::Ethernet) => return Err(FrameError::FlowsNeedIp { flows }),
        (_, L3::V4 { src, src_port, .. }) => (ipv4::SOURCE, u32::from(src), src_port),
        // The low 4 of 16 bytes.
        (_, L3::V6 { src, src_port, .. }) => (ipv6::SOURCE + 12, u128::from(src) as u32, src_port),
    };
    let field = |offset, width, base| Modifier { offset, width, base, step: 1, modulus: u64::from(flows) };
    let port_at = headers.ip().end + udp::SOURCE_PORT;
    Ok(vec![
        field(headers.l3 + address, Width::Four, u64::from(low)),
        field(port_at, Width::Two, u64::from(src_port)),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn spaces_own_their_flows_when_flows_are_a_multiple() {
        for (spaces, flows) in [(1, 7), (4, 4), (4, 64), (3, 12)] {
            for space in 0..spaces {
                let own: HashSet<u32> = (0..1000).map(|seq| flow_of(space, seq, spaces, flows)).collect();
                assert_eq!(own.len() as u32, flows / u32::from(spaces));
                assert!(own.iter().all(|flow| flow % u32::from(spaces) == u32::from(space)));
            }
        }
    }

    #[test]
    fn flows_are_distinct_pairs_of_address_and_port() {
        for stack in [reference::v4_stack(), reference::v6_stack()] {
            for flows in [2, 100, 70_000] {
                let table = flow_modifiers(&stack, flows).unwrap();
                let pairs: HashSet<Vec<u64>> = (0..u64::from(flows) * 2)
                    .map(|index| table.iter().map(|m| m.value(index)).collect())
                    .collect();
                assert_eq!(pairs.len() as u32, flows);
            }
        }
    }

    #[test]
    fn what_cannot_have_flows_is_refused() {
        let ethernet = Stack { l3: L3::Ethernet, ..reference::v4_stack() };
        assert_eq!(flow_modifiers(&ethernet, 1), Ok(vec![]));
        assert_eq!(flow_modifiers(&ethernet, 2), Err(FrameError::FlowsNeedIp { flows: 2 }));
        assert_eq!(flow_modifiers(&reference::v4_stack(), 0), Err(FrameError::NoFlows));
    }

    proptest! {
        #[test]
        fn a_value_is_the_formula_in_unbounded_integers(
            base in 0u64..1 << 32, step in 0u64..1 << 20, modulus in 1u64..1 << 20, index: u64,
        ) {
            for width in [Width::One, Width::Two, Width::Four] {
                let modifier = Modifier { offset: 0, width, base, step, modulus };
                let exact = u128::from(base) + u128::from(index % modulus) * u128::from(step);
                let cut = exact % (1u128 << (8 * width.bytes()));
                prop_assert_eq!(u128::from(modifier.value(index)), cut);
                let mut frame = [0; 8];
                modifier.put(modifier.value(index), &mut frame);
                let written = frame[..width.bytes()].iter().fold(0, |acc, b| acc << 8 | u128::from(*b));
                prop_assert_eq!(written, cut);
            }
        }
    }
}
