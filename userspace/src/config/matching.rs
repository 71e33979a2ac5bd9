//! Which frames a sink takes: ours, and on request others beside them.

use super::number::Whole;
use super::{ConfigError, DEFAULT_PORT};

/// What a sink takes. Frames of ours carry the probe's magic number, and go to the UDP port or are of EtherType 0x88B5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The UDP destination port of ours; None for EtherType 0x88B5 alone.
    pub udp_port: Option<u16>,
    /// Only frames whose outermost VLAN tag has this id.
    pub vlan: Option<u16>,
    /// Frames of this EtherType, behind up to two tags, although they are not ours.
    pub ether_type: Option<u16>,
    /// Every frame but ARP and IPv6 neighbour discovery, although they are not ours.
    pub any: bool,
}

impl Default for Match {
    fn default() -> Self {
        Self::ours(Some(DEFAULT_PORT))
    }
}

impl Match {
    /// Frames of ours and no others.
    #[must_use]
    pub const fn ours(udp_port: Option<u16>) -> Self {
        Self { udp_port, vlan: None, ether_type: None, any: false }
    }

    /// Whether frames are taken that are not ours, so that another generator's traffic can be measured.
    #[must_use]
    pub const fn takes_others(&self) -> bool {
        self.any || self.ether_type.is_some()
    }
}

const FLAG: &str = "--match";
const FORMS: &str =
    "--match 'udp port 9', l2, 'ethertype 0x0806' or any; 'vlan 100' alone or in front of one of them";
const PORT: Whole = Whole {
    flag: "--match udp port",
    least: 1,
    most: 65_535,
    why: "UDP ports have 16 bits, and 0 means none",
    remedy: FORMS,
};
const VLAN: Whole = Whole {
    flag: "--match vlan",
    least: 0,
    most: 4_094,
    why: "a VLAN id has 12 bits, and 4095 is reserved",
    remedy: FORMS,
};
const ETHER_TYPE: Whole = Whole {
    flag: "--match ethertype",
    least: 1_536,
    most: 65_535,
    why: "an EtherType has 16 bits, and below 1536 (0x0600) the field is a length",
    remedy: FORMS,
};

/// What `--match` says: `[vlan N] [udp port N | l2 | ethertype N | any]`.
///
/// # Errors
/// Any other form.
pub fn validate_match(text: &str) -> Result<Match, ConfigError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (vlan, words) = match words.as_slice() {
        ["vlan", id, rest @ ..] => (Some(VLAN.read_u16(id)?), rest),
        words => (None, words),
    };
    let matched = match words {
        [] if vlan.is_some() => Match::default(),
        ["l2"] => Match::ours(None),
        ["any"] => Match { any: true, ..Match::default() },
        ["udp", "port", port] => Match::ours(Some(PORT.read_u16(port)?)),
        ["ethertype", number] => Match { ether_type: Some(read_ether_type(number)?), ..Match::default() },
        _ => return Err(ConfigError::new(FLAG, text, "there is no such match", FORMS)),
    };
    Ok(Match { vlan, ..matched })
}

/// An EtherType as it is written: 0x0806, or decimal. Those of VLAN tags are looked behind, so no frame would be of them.
fn read_ether_type(text: &str) -> Result<u16, ConfigError> {
    const TAGS: [u16; 2] = [0x8100, 0x88A8];
    let refuse = |why| ConfigError::new(ETHER_TYPE.flag, text, why, FORMS);
    let hexadecimal =
        |digits: &str| u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    let number = match text.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits).filter(|number| u64::from(*number) >= ETHER_TYPE.least),
        None => Some(ETHER_TYPE.read_u16(text)?),
    };
    let number = number.ok_or_else(|| refuse(ETHER_TYPE.why))?;
    if TAGS.contains(&number) {
        return Err(refuse("it is a VLAN tag's, which is looked behind"));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_says_what_it_says() {
        let ours = Match::default();
        let cases = [
            ("udp port 5000", Match::ours(Some(5_000))),
            (" udp  port 9 ", ours),
            ("l2", Match::ours(None)),
            ("any", Match { any: true, ..ours }),
            ("ethertype 0x0806", Match { ether_type: Some(0x0806), ..ours }),
            ("ethertype 0x88f7", Match { ether_type: Some(0x88F7), ..ours }),
            ("ethertype 2048", Match { ether_type: Some(0x0800), ..ours }),
            ("vlan 100", Match { vlan: Some(100), ..ours }),
            ("vlan 0 any", Match { vlan: Some(0), any: true, ..ours }),
            ("vlan 4094 udp port 7", Match { vlan: Some(4_094), ..Match::ours(Some(7)) }),
            ("vlan 5 l2", Match { vlan: Some(5), ..Match::ours(None) }),
        ];
        for (text, expected) in cases {
            assert_eq!(validate_match(text), Ok(expected), "{text}");
        }
        let others = |text| validate_match(text).map(|matched| matched.takes_others());
        assert_eq!(
            (others("any"), others("ethertype 0x800"), others("vlan 7")),
            (Ok(true), Ok(true), Ok(false))
        );
    }

    #[test]
    fn any_other_form_is_refused_with_those_that_there_are() {
        for text in [
            "",
            "udp",
            "udp port",
            "udp port 9 or 10",
            "tcp port 9",
            "port 9",
            "L2",
            "udp port 0",
            "udp port x",
            "any vlan 5",
            "vlan",
            "vlan 4095",
            "vlan 5 vlan 6",
            "vlan 5 tcp",
            "ethertype",
            "ethertype 46",
            "ethertype 0x5ff",
            "ethertype 0x10000",
            "ethertype 0x",
            "ethertype 0x+806",
            "ethertype arp",
            "ethertype 0x8100",
            "ethertype 34984",
        ] {
            let error = validate_match(text).unwrap_err();
            let forms = ["udp port 9", "l2", "ethertype 0x0806", "any", "vlan 100"];
            let named = forms.iter().all(|form| error.remedy.contains(form));
            assert!(error.flag.starts_with("--match") && named, "{error}");
        }
    }
}
