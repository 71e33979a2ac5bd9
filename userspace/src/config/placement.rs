//! Which queues and which cores: lists as people write them, `0-3`, `0,2`.

use super::ConfigError;

/// Queues and cores that were asked for; None leaves the choice to what the machine has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// Queue numbers, in the order given.
    pub queues: Option<Vec<u32>>,
    /// Core numbers, in the order given: one worker each.
    pub cores: Option<Vec<u32>>,
}

/// The highest number in a list: above any queue or core that exists, and low enough that a mistyped range does
/// not fill memory.
const HIGHEST: u32 = 65_535;

const REMEDY: &str = "a list such as 0, 0-3 or 0,2";

/// Queues and cores as typed.
///
/// # Errors
/// A list that is none, or more cores than queues.
pub fn validate_placement(queues: Option<&str>, cores: Option<&str>) -> Result<Placement, ConfigError> {
    let queue_list = queues.map(|text| validate_list("--queues", text)).transpose()?;
    let core_list = cores.map(|text| validate_list("--cores", text)).transpose()?;
    let placement = Placement { queues: queue_list, cores: core_list };
    placement.each_core_has_a_queue()?;
    Ok(placement)
}

impl Placement {
    /// # Errors
    /// More cores than queues, when both were given.
    fn each_core_has_a_queue(&self) -> Result<(), ConfigError> {
        let (Some(queues), Some(cores)) = (&self.queues, &self.cores) else { return Ok(()) };
        if cores.len() <= queues.len() {
            return Ok(());
        }
        let what =
            format!("{} cores for {} queue(s): a queue is served by one core", cores.len(), queues.len());
        Err(ConfigError::bare("--cores", what, "as many cores as queues, or fewer"))
    }
}

/// A list of distinct numbers and ranges, in the order given.
///
/// # Errors
/// Empty, a part that is neither number nor range, a range that runs backwards, a number twice or above 65,535.
pub fn validate_list(flag: &str, text: &str) -> Result<Vec<u32>, ConfigError> {
    let refuse = |what: String| ConfigError::new(flag, text, what, REMEDY);
    if text.trim().is_empty() {
        return Err(refuse("the list is empty".to_owned()));
    }
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = range(part.trim()).map_err(refuse)?;
        numbers.extend(first..=last);
    }
    match first_twice(&numbers) {
        Some(twice) => Err(refuse(format!("{twice} is named twice"))),
        None => Ok(numbers),
    }
}

fn range(part: &str) -> Result<(u32, u32), String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (number(first, part)?, number(last, part)?);
    if last < first { Err(format!("the range {part} runs backwards")) } else { Ok((first, last)) }
}

fn number(text: &str, part: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits {
        return Err(format!("'{part}' is neither a number nor a range"));
    }
    let number = text.parse().ok().filter(|n| *n <= HIGHEST);
    number.ok_or_else(|| format!("{text} is above {HIGHEST}"))
}

fn first_twice(numbers: &[u32]) -> Option<u32> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied()).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_in_order() {
        let read = |text| validate_list("--queues", text);
        assert_eq!(read("0"), Ok(vec![0]));
        assert_eq!(read("0-3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(read("4,0-1, 2"), Ok(vec![4, 0, 1, 2]));
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_reason() {
        let table = [
            ("", "empty"),
            (" ", "empty"),
            ("a", "neither a number nor a range"),
            ("0,", "neither"),
            ("-1", "neither"),
            ("0-", "neither"),
            ("0-1-2", "neither"),
            ("3-0", "backwards"),
            ("0,0", "0 is named twice"),
            ("0-3,2", "2 is named twice"),
            ("0-4294967295", "above 65535"),
            ("99999999999999999999", "above 65535"),
        ];
        for (text, reason) in table {
            let error = validate_list("--cores", text).unwrap_err();
            assert!(error.what.contains(reason), "{text}: {error}");
            assert!(error.flag.starts_with("--cores "), "{error}");
        }
    }

    #[test]
    fn a_queue_is_served_by_one_core() {
        assert!(validate_placement(Some("0-3"), Some("2,3")).is_ok());
        assert!(validate_placement(None, Some("2,3")).is_ok());
        assert_eq!(validate_placement(Some("0"), Some("2,3")).unwrap_err().flag, "--cores");
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[0-9,\\- a]{0,12}") {
            if let Ok(numbers) = validate_list("--queues", &text) {
                let distinct: std::collections::BTreeSet<_> = numbers.iter().collect();
                prop_assert_eq!(distinct.len(), numbers.len());
                prop_assert!(!numbers.is_empty());
            }
        }
    }
}
