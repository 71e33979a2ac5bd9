//! Why a choice is refused: the flag, what is wrong with it, and what to type instead.

use thiserror::Error;

/// A choice that cannot be meant, found before any fact about the machine is looked at. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{flag}: {what}\n  try: {remedy}")]
pub struct ConfigError {
    /// The flag with its value, as typed.
    pub flag: String,
    /// What is wrong, in one sentence.
    pub what: String,
    /// What to type instead.
    pub remedy: String,
}

impl ConfigError {
    /// An error of `flag` as it was given with `value`.
    pub fn new(flag: &str, value: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let value = &visible(value);
        let bare = !value.is_empty() && !value.contains(char::is_whitespace);
        let flag = if bare { format!("{flag} {value}") } else { format!("{flag} '{value}'") };
        Self { flag, what: what.into(), remedy: remedy.into() }
    }

    /// An error of a flag that takes no value, or that lies in its being there.
    pub fn bare(flag: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { flag: flag.to_owned(), what: what.into(), remedy: remedy.into() }
    }
}

/// The value with control characters written out: one that came from a script must not move a terminal's
/// cursor.
pub(super) fn visible(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for char in value.chars() {
        if char.is_control() { text.extend(char.escape_default()) } else { text.push(char) }
    }
    text
}

/// Refuses the first of `others` that was given beside a flag which leaves it without effect.
///
/// # Errors
/// Names that flag; `because` says why it has no effect, `remedy` what to leave out.
pub fn validate_without(others: &[(&str, bool)], because: &str, remedy: &str) -> Result<(), ConfigError> {
    match others.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(ConfigError::bare(flag, because, remedy)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_spaces_are_quoted() {
        let flag = |value| ConfigError::new("--match", value, "", "").flag;
        assert_eq!(flag("l3"), "--match l3");
        assert_eq!(flag("tcp port 9"), "--match 'tcp port 9'");
        assert_eq!(flag(""), "--match ''");
        assert_eq!(flag("\u{1b}[2J\nµ"), "--match \\u{1b}[2J\\nµ");
    }

    #[test]
    fn the_first_useless_flag_is_named() {
        let given = |a, b| validate_without(&[("--a", a), ("--b", b)], "no", "none").map_err(|e| e.flag);
        assert_eq!(given(false, false), Ok(()));
        assert_eq!(given(false, true), Err("--b".to_owned()));
    }
}
