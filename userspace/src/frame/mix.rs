//! Weights as a pattern that repeats: pure in the position, and as even as whole numbers allow. Knows no stream.

/// Places of a pattern at the most; weights that need more are rounded.
pub const MAX_PATTERN: u64 = 65_536;

/// The indexes of `weights`, each as often as its weight over their greatest common divisor, spread evenly: at each
/// place the index that lags most behind its share (smooth weighted round robin). Empty when all are zero.
#[must_use]
pub fn pattern(weights: &[u32]) -> Vec<u16> {
    let weights = reduced(weights);
    let total: u64 = weights.iter().sum();
    let mut credit = vec![0i64; weights.len()];
    let next = |_| {
        let each = credit.iter_mut().zip(&weights);
        each.for_each(|(credit, weight)| *credit += (*weight).cast_signed());
        // Of several that lag alike the first.
        let first = (0u16..).zip(&credit).max_by_key(|(at, credit)| (**credit, std::cmp::Reverse(*at)))?.0;
        let chosen = credit.get_mut(usize::from(first))?;
        *chosen -= total.cast_signed();
        Some(first)
    };
    (0..total).map_while(next).collect()
}

/// In lowest terms, and few enough.
fn reduced(weights: &[u32]) -> Vec<u64> {
    let divisor = weights.iter().fold(0, |divisor, weight| gcd(divisor, (*weight).into())).max(1);
    let total: u64 = weights.iter().map(|weight| u64::from(*weight) / divisor).sum();
    let scaled = |weight: &u32| match u64::from(*weight) / divisor {
        weight if total <= MAX_PATTERN || weight == 0 => weight,
        weight => (weight * MAX_PATTERN / total).max(1),
    };
    weights.iter().map(scaled).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_simple_imix_is_spread() {
        assert_eq!(pattern(&[7, 4, 1]), [0, 1, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0]);
        assert_eq!(pattern(&[14, 8, 2]), pattern(&[7, 4, 1]));
        assert_eq!((pattern(&[0, 3]), pattern(&[0, 0]), pattern(&[])), (vec![1], vec![], vec![]));
    }

    #[test]
    fn weights_too_large_for_a_pattern_are_rounded_and_none_is_lost() {
        let pattern = pattern(&[1, 1_000_003]);
        assert!(pattern.len() as u64 <= MAX_PATTERN + 1);
        assert_eq!(pattern.iter().filter(|index| **index == 0).count(), 1);
    }

    proptest! {
        #[test]
        fn each_index_has_its_share_and_never_lags_by_a_whole_round(
            weights in prop::collection::vec(0u32..50, 1..6),
        ) {
            let pattern = pattern(&weights);
            let total: u32 = weights.iter().sum();
            prop_assume!(total > 0);
            for (index, weight) in (0u16..).zip(&weights) {
                let count = pattern.iter().filter(|at| **at == index).count();
                prop_assert_eq!(count as u64 * u64::from(total), u64::from(*weight) * pattern.len() as u64);
                let mut seen = 0;
                for (place, at) in pattern.iter().enumerate() {
                    seen += u32::from(*at == index);
                    let due = f64::from(*weight) / f64::from(total) * (place + 1) as f64;
                    prop_assert!((f64::from(seen) - due).abs() <= weights.len() as f64);
                }
            }
        }
    }
}
