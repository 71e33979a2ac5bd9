//! The Internet checksum (RFC 1071) as a running sum that grows by addition only. Knows no header layout.
//!
//! A ones-complement sum of 16-bit words is a number modulo 0xFFFF, and 2^16 is 1 modulo 0xFFFF. So a field
//! of any width that ends on a word boundary adds its plain value, and the words may be as wide as the
//! machine's. Nothing is ever subtracted (RFC 1624 explains what goes wrong then): what changes is left out
//! of the constant part and added anew.

use super::wire::udp;

/// Sum of `bytes`, which begin on a word boundary, as 16-bit words in network order; an odd last byte is
/// padded with zero. Below 2^16, so that 2^48 such sums can be added in a u64.
#[inline]
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    in_network_order(native_sum(bytes))
}

/// The same in the machine's byte order and not folded: below 2^48 for any frame.
#[inline]
fn native_sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    // Two 32-bit halves of a u64 cannot overflow it within 2^32 words, and the loop vectorises.
    let mut sum = words.iter().fold(0, |acc, word| {
        let word = u64::from_ne_bytes(*word);
        acc + (word >> 32) + (word & 0xFFFF_FFFF)
    });
    let (four, rest) = rest.as_chunks::<4>();
    if let [four] = four {
        sum += u64::from(u32::from_ne_bytes(*four));
    }
    let (two, rest) = rest.as_chunks::<2>();
    if let [two] = two {
        sum += u64::from(u16::from_ne_bytes(*two));
    }
    if let [last] = rest {
        sum += u64::from(u16::from_ne_bytes([*last, 0]));
    }
    sum
}

/// The sum of byte-swapped words is the byte-swapped sum (RFC 1071, 2B).
#[inline]
fn in_network_order(native: u64) -> u64 {
    u64::from(u16::from_be(fold(native)))
}

/// Reduces a sum to 16 bits with end-around carries; zero only if every word was zero.
#[inline]
#[must_use]
pub const fn fold(sum: u64) -> u16 {
    // Added to itself with its halves exchanged, the upper half is the sum of both, with the carry of the lower one.
    let half = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (half.wrapping_add(half.rotate_left(16)) >> 16) as u16
}

/// The checksum field of a sum taken with that field zero.
#[inline]
#[must_use]
pub const fn field(sum: u64) -> u16 {
    !fold(sum)
}

/// The same for UDP, where zero says "no checksum" and is sent as 0xFFFF (RFC 768).
#[inline]
#[must_use]
pub const fn udp_field(sum: u64) -> u16 {
    let field = field(sum);
    if field == 0 { 0xFFFF } else { field }
}

/// Whether a sum that includes the checksum field says that the bytes are whole.
#[inline]
#[must_use]
pub const fn holds(sum: u64) -> bool {
    fold(sum) == 0xFFFF
}

/// Sum of a UDP datagram with its pseudo-header (RFC 768 and RFC 8200, section 8.1; their layouts differ,
/// their sums do not). `addresses` is the source address followed by the destination address, of either
/// family.
#[inline]
#[must_use]
pub fn datagram_sum(addresses: &[u8], datagram: &[u8]) -> u64 {
    let bytes = in_network_order(native_sum(addresses) + native_sum(datagram));
    bytes + datagram.len() as u64 + u64::from(udp::PROTOCOL)
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&bytes), 0xddf2);
        assert_eq!(field(sum(&bytes)), !0xddf2);
    }

    #[test]
    fn zero_is_sent_as_all_ones_by_udp_alone() {
        assert_eq!((field(0xFFFF), udp_field(0xFFFF)), (0, 0xFFFF));
        assert_eq!(fold(0), 0);
    }

    proptest! {
        #[test]
        fn equals_sixteen_bits_at_a_time(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(sum(&bytes), u64::from(reference::sum(&bytes)));
        }

        #[test]
        fn folding_keeps_the_value_modulo_ffff(sum in any::<u64>()) {
            prop_assert_eq!(u64::from(fold(sum)) % 0xFFFF, sum % 0xFFFF);
            prop_assert_eq!(fold(sum) == 0, sum == 0);
        }
    }
}
