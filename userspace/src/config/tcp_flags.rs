//! TCP's control bits by name. Knows no header.

/// Each name and its bit (RFC 9293, section 3.1; NS: RFC 3540).
const NAMES: [(&str, u16); 9] = [
    ("fin", 1),
    ("syn", 1 << 1),
    ("rst", 1 << 2),
    ("psh", 1 << 3),
    ("ack", 1 << 4),
    ("urg", 1 << 5),
    ("ece", 1 << 6),
    ("cwr", 1 << 7),
    ("ns", 1 << 8),
];

/// What a person may write.
pub const TCP_FLAG_FORMS: &str =
    "names from fin, syn, rst, psh, ack, urg, ece, cwr and ns, such as \"syn,ack\"";

/// The bits that `text` names, separated by commas.
///
/// # Errors
/// The first word that is no name.
pub fn tcp_flags(text: &str) -> Result<u16, String> {
    text.split(',').try_fold(0, |bits, word| {
        let word = word.trim();
        let named = NAMES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
        named.map(|(_, bit)| bits | bit).ok_or_else(|| word.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_header() {
        assert_eq!((tcp_flags("syn"), tcp_flags("SYN, ack")), (Ok(2), Ok(0x12)));
        assert_eq!(tcp_flags("fin,syn,rst,psh,ack,urg,ece,cwr,ns"), Ok(0x1FF));
        assert_eq!((tcp_flags(""), tcp_flags("syn,ak")), (Err(String::new()), Err("ak".to_owned())));
    }
}
