//! The kernel's way to write a set of small numbers: "0-3,8,10-11". Pure.

/// The numbers of a list, ascending and distinct; None when the text is not such a list. An empty text is the empty
/// list. Source: Documentation/admin-guide/kernel-parameters.rst, "CPU lists".
pub(super) fn parse(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        // More than any machine has: a broken text must not take all memory.
        if last < first || last > LARGEST {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// Above the kernel's NR_CPUS of any architecture (8,192 on x86).
const LARGEST: u32 = 65_535;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_and_single_numbers() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse("\n"), Some(vec![]));
    }

    #[test]
    fn what_is_no_list_is_unknown() {
        for text in ["a", "1-", "3-1", "-4", "0-4294967295"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn single_numbers_come_back_sorted(mut numbers in proptest::collection::vec(0u32..5000, 0..50)) {
            let text = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert_eq!(parse(&text), Some(numbers));
        }
    }
}
