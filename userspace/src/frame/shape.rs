//! How a receiver knows the frames of a stream without parsing them: half-words that have a value in each of them,
//! and where the probe lies. The same list goes into the XDP program. Knows no sender.

use super::layout::{HalfCheck, Layout, Length, Pseudo, Sum};
use super::swap;
use super::wire::{ether_type, ethernet};
use std::ops::Range;

/// Half-word checks of one shape at the most; of more the first ones count, and the probe's magic decides.
pub const MAX_CHECKS: usize = 20;
/// Shapes of one sink at the most: every stream of a file, each with its outermost tag and without.
pub const MAX_SHAPES: usize = 128;

/// Frames of one stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// What must hold besides the probe's magic.
    pub checks: Vec<HalfCheck>,
    /// First byte of the probe.
    pub probe: usize,
    /// Checksums that can be verified.
    pub sums: Vec<Sum>,
    /// The innermost length field: where the frame's own bytes end and padding begins; None: nothing says so.
    pub end: Option<Length>,
}

impl Shape {
    /// The shape of a stack, without the checks on fields that `varies`.
    #[must_use]
    pub fn of(layout: &Layout, varies: impl Fn(usize) -> bool) -> Self {
        let mut checks = layout.checks.clone();
        for check in &mut checks {
            for bit in 0..16 {
                if varies(check.at * 8 + bit) {
                    check.mask &= !(0x8000 >> bit);
                }
            }
            check.value &= check.mask;
        }
        checks.retain(|check| check.mask != 0);
        checks.truncate(MAX_CHECKS);
        Self {
            checks,
            probe: layout.probe(),
            sums: layout.sums.clone(),
            end: layout.lengths.first().copied(),
        }
    }

    /// The same frames as a reflector sends them back: `header` is that of one of them. Checksums cover what they covered,
    /// in another order.
    #[must_use]
    pub fn turned(&self, header: &[u8]) -> Self {
        let turned = |check: &HalfCheck| Some(HalfCheck { at: swap::moved(header, check.at)?, ..*check });
        Self { checks: self.checks.iter().filter_map(turned).collect(), ..self.clone() }
    }

    /// The same frames as they arrive where a NIC takes the outermost VLAN tag out of them; None of a stack without a
    /// tag.
    #[must_use]
    pub fn without_outer_tag(&self) -> Option<Self> {
        let types = [ether_type::C_TAG, ether_type::S_TAG];
        let is_type = |check: &HalfCheck| check.mask == u16::MAX && types.contains(&check.value);
        let tag = |check: &&HalfCheck| check.at == ethernet::ETHER_TYPE && is_type(check);
        self.checks.iter().find(tag)?;
        let sum = |sum: &Sum| Sum {
            at: behind_tag(sum.at),
            from: behind_tag(sum.from),
            to: sum.to.map(behind_tag),
            pseudo: sum.pseudo.as_ref().map(|pseudo| Pseudo {
                addresses: behind_tag(pseudo.addresses.start)..behind_tag(pseudo.addresses.end),
                protocol: pseudo.protocol,
            }),
            never_zero: sum.never_zero,
        };
        let end = |end: Length| Length {
            at: behind_tag(end.at),
            minus: end.minus.saturating_sub(ethernet::TAG_LEN),
        };
        Some(Self {
            checks: self.checks.iter().filter_map(check_behind_tag).collect(),
            probe: behind_tag(self.probe),
            sums: self.sums.iter().map(sum).collect(),
            end: self.end.map(end),
        })
    }
}

/// The outermost tag: its EtherType and its control information.
const TAG: Range<usize> = ethernet::ETHER_TYPE..ethernet::ETHER_TYPE + ethernet::TAG_LEN;

/// Where a byte behind the outermost tag is once that is gone.
const fn behind_tag(at: usize) -> usize {
    if at < TAG.end { at } else { at - ethernet::TAG_LEN }
}

/// What a check says of bytes that are not the tag's; None when it says nothing of them.
fn check_behind_tag(check: &HalfCheck) -> Option<HalfCheck> {
    let HalfCheck { at, mut mask, value } = *check;
    if TAG.contains(&at) {
        mask &= 0x00FF;
    }
    if TAG.contains(&(at + 1)) {
        mask &= 0xFF00;
    }
    // A second byte behind the tag moves up to the last one in front of it.
    let at = if at < TAG.start { at } else { at.saturating_sub(ethernet::TAG_LEN).max(TAG.start - 1) };
    (mask != 0).then_some(HalfCheck { at, mask, value: value & mask })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_check() -> impl Strategy<Value = HalfCheck> {
        (0usize..60, any::<u16>(), any::<u16>()).prop_map(|(at, mask, value)| HalfCheck {
            at,
            mask,
            value: value & mask,
        })
    }

    const fn is_type(value: u16) -> HalfCheck {
        HalfCheck { at: TAG.start, mask: u16::MAX, value }
    }

    fn shape(checks: Vec<HalfCheck>) -> Shape {
        let sum = Sum { at: 28, from: 18, to: Some(38), pseudo: None, never_zero: false };
        let pseudo = Some(Pseudo { addresses: 30..38, protocol: 17 });
        let udp = Sum { at: 44, from: 38, to: None, pseudo, never_zero: true };
        Shape { checks, probe: 46, sums: vec![udp, sum], end: Some(Length { at: 42, minus: 38 }) }
    }

    #[test]
    fn a_stack_without_a_tag_has_no_other_variant() {
        assert_eq!(shape(vec![is_type(0x0800)]).without_outer_tag(), None);
        assert_eq!(shape(Vec::new()).without_outer_tag(), None);
    }

    #[test]
    fn everything_behind_the_tag_moves_up_by_four_bytes() {
        for tag in [0x8100, 0x88A8] {
            let id = HalfCheck { at: 14, mask: 0x0FFF, value: 5 };
            let ip = HalfCheck { at: 16, mask: u16::MAX, value: 0x0800 };
            let stripped = shape(vec![is_type(tag), id, ip]).without_outer_tag().unwrap();
            assert_eq!(stripped.checks, [is_type(0x0800)]);
            assert_eq!((stripped.probe, stripped.end), (42, Some(Length { at: 38, minus: 34 })));
            let [udp, ip] = &stripped.sums[..] else { panic!("two sums") };
            assert_eq!((udp.at, udp.from, udp.to), (40, 34, None));
            assert_eq!(udp.pseudo.as_ref().map(|pseudo| pseudo.addresses.clone()), Some(26..34));
            assert_eq!((ip.at, ip.from, ip.to), (24, 14, Some(34)));
        }
    }

    proptest! {
        /// Of the bytes that both frames have, the same is asked.
        #[test]
        fn a_check_holds_of_a_stripped_frame_where_it_held_of_the_whole(
            check in any_check(), bytes in prop::collection::vec(any::<u8>(), 62..70), fits: bool,
        ) {
            let mut frame = bytes;
            if fits {
                let [high, low] = check.value.to_be_bytes();
                (frame[check.at], frame[check.at + 1]) = (high, low);
            }
            let holds = |frame: &[u8], HalfCheck { at, mask, value }| {
                u16::from_be_bytes([frame[at], frame[at + 1]]) & mask == value
            };
            let mut stripped = frame.clone();
            stripped.drain(TAG);
            let before = holds(&frame, check);
            match check_behind_tag(&check) {
                Some(moved) if check.at >= TAG.end || check.at + 1 < TAG.start => {
                    prop_assert_eq!(holds(&stripped, moved), before);
                }
                Some(moved) => prop_assert!(holds(&stripped, moved) || !before),
                None => prop_assert!(check.mask == 0 || TAG.start <= check.at + 1 && check.at < TAG.end),
            }
        }
    }
}
