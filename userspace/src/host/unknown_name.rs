//! The finding for a name that no interface has: what there is, and what was probably meant. Pure.

use crate::finding::{Code, Finding, Severity};
use std::fmt::Write;

/// More changes than this make it another name, not a typing error.
const NEAR: usize = 3;
/// Names that are listed at the most.
const LISTED: usize = 20;

/// The finding for `name`, given the names that exist and the alternative ones, which are only guessed at.
pub(super) fn unknown_interface(name: &str, existing: &[String], alternative: &[String]) -> Finding {
    let mut remedy = String::new();
    if let Some(near) = nearest(name, existing).or_else(|| nearest(name, alternative)) {
        let _ = write!(remedy, "did you mean {near}? ");
    }
    let _ = match existing {
        [] => write!(remedy, "this network namespace has no interface at all"),
        names => write!(remedy, "interfaces here: {}", listed(names)),
    };
    Finding::new(Code::InterfaceUnknown, Severity::Fail, name, "there is no interface of this name")
        .why("names are looked up in the network namespace that the program runs in, alternative names included")
        .remedy(remedy)
}

/// The names, or the first of very many: a host of containers has thousands.
fn listed(names: &[String]) -> String {
    let (first, rest) = names.split_at(names.len().min(LISTED));
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    format!("{}{more}", first.join(", "))
}

fn nearest<'a>(name: &str, existing: &'a [String]) -> Option<&'a String> {
    let far = |other: &String| strsim::damerau_levenshtein(name, other);
    existing.iter().filter(|other| far(other) <= NEAR.min(name.len() / 2)).min_by_key(|other| far(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let finding = unknown_interface("ens1f0v1", &names(&["lo", "ens1f1", "ens1f0v0"]), &[]);
        assert_eq!(finding.code, Code::InterfaceUnknown);
        assert_eq!(finding.remedy, "did you mean ens1f0v0? interfaces here: lo, ens1f1, ens1f0v0");
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let many: Vec<String> = (0..25).map(|n| format!("veth{n}")).collect();
        let remedy = unknown_interface("ens1", &many, &[]).remedy;
        assert!(remedy.contains("veth19, and 5 more") && !remedy.contains("veth20"), "{remedy}");
    }

    #[test]
    fn an_alternative_name_is_guessed_and_not_listed() {
        let remedy = unknown_interface("uplnk0", &names(&["lo", "eth7"]), &names(&["uplink0"])).remedy;
        assert_eq!(remedy, "did you mean uplink0? interfaces here: lo, eth7");
    }

    #[test]
    fn nothing_near_is_not_guessed() {
        assert_eq!(nearest("wlan7", &names(&["lo", "ens1f0"])), None);
        assert_eq!(nearest("x", &names(&["lo", "y"])), None);
        assert!(unknown_interface("eth0", &[], &[]).remedy.contains("no interface at all"));
    }
}
