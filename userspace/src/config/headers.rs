//! The headers that flags ask for, as the stack of the one stream that they make. Deeper stacks are a stream file's
//! business. Knows no length.

use super::number::Whole;
use super::tcp_flags::{TCP_FLAG_FORMS, tcp_flags};
use super::{Addressing, ConfigError, Family};
use crate::frame::layer::{Ethernet, Gre, GtpU, Ipv4, Ipv6, Layer, Mpls, Tcp, Udp, Vlan, Vxlan};

/// Headers beside those that addresses ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    /// TCP with these control bits instead of UDP.
    pub tcp: Option<u16>,
    /// Labels between Ethernet and IP, outermost first.
    pub mpls: Vec<u32>,
    /// What the frame is inside of.
    pub tunnel: Option<Tunnel>,
    /// Of the outermost IP header.
    pub dscp: Option<u8>,
    /// Time to live, or hop limit, of the outermost IP header.
    pub ttl: Option<u8>,
}

/// A tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tunnel {
    /// VXLAN with this network identifier: Ethernet over UDP.
    Vxlan(u32),
    /// GRE: IP over IP.
    Gre,
    /// GTP-U with this tunnel endpoint: IP over UDP.
    GtpU(u32),
}

/// Labels of one flag at the most; no network stacks more.
const MAX_LABELS: usize = 8;

impl Headers {
    /// The stack, outermost first.
    #[must_use]
    pub fn layers(&self, address: &Addressing) -> Vec<Layer> {
        let tags = address.vlans.iter().map(|id| Layer::Vlan(Vlan { id: *id, ..Vlan::default() }));
        let labels = self.mpls.iter().map(|label| Layer::Mpls(Mpls { label: *label, ..Mpls::default() }));
        let mut layers: Vec<Layer> =
            std::iter::once(Layer::Ethernet(Ethernet::default())).chain(tags).chain(labels).collect();
        let family = address.family();
        layers.extend(self.outer_ip(family));
        match self.tunnel {
            None => {}
            Some(Tunnel::Vxlan(vni)) => layers.extend([
                Layer::Udp(Udp::default()),
                Layer::Vxlan(Vxlan { vni }),
                Layer::Ethernet(Ethernet::default()),
            ]),
            Some(Tunnel::Gre) => layers.push(Layer::Gre(Gre::default())),
            Some(Tunnel::GtpU(teid)) => {
                layers.extend([Layer::Udp(Udp::default()), Layer::GtpU(GtpU { teid, seq: None })]);
            }
        }
        if self.tunnel.is_some() {
            layers.extend(Self::default().outer_ip(family));
        }
        if family != Family::L2 {
            let tcp = |flags| Layer::Tcp(Tcp { flags, ..Tcp::default() });
            layers.push(self.tcp.map_or_else(|| Layer::Udp(Udp::default()), tcp));
        }
        layers
    }

    fn outer_ip(&self, family: Family) -> Option<Layer> {
        let dscp = self.dscp.unwrap_or(0);
        match family {
            Family::L2 => None,
            Family::V4 => {
                let default = Ipv4::default();
                Some(Layer::Ipv4(Ipv4 { dscp, ttl: self.ttl.unwrap_or(default.ttl), ..default }))
            }
            Family::V6 => {
                let default = Ipv6::default();
                Some(Layer::Ipv6(Ipv6 { dscp, hop_limit: self.ttl.unwrap_or(default.hop_limit), ..default }))
            }
        }
    }

    /// Whether a sink must be told of them to find the probe.
    #[must_use]
    pub const fn shape(&self) -> bool {
        self.tcp.is_some() || !self.mpls.is_empty() || self.tunnel.is_some()
    }
}

/// A stack in words: `Ethernet, a VLAN tag, IPv4 and UDP`.
pub(super) fn words(layers: &[Layer]) -> String {
    let mut names: Vec<String> = Vec::new();
    for group in layers.chunk_by(|a, b| a.name() == b.name()) {
        let name = group.first().map_or("", word);
        names.push(match (name, group.len()) {
            ("VLAN tag", 1) => "a VLAN tag".to_owned(),
            ("VLAN tag", _) => "two VLAN tags".to_owned(),
            (name, 1) => name.to_owned(),
            (name, count) => format!("{count} × {name}"),
        });
    }
    match names.pop() {
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
        None => "no headers".to_owned(),
    }
}

const fn word(layer: &Layer) -> &'static str {
    match layer {
        Layer::Ethernet(_) => "Ethernet",
        Layer::Vlan(_) => "VLAN tag",
        Layer::Mpls(_) => "MPLS",
        Layer::Ipv4(_) => "IPv4",
        Layer::Ipv6(_) => "IPv6",
        Layer::Udp(_) => "UDP",
        Layer::Tcp(_) => "TCP",
        Layer::Icmp(_) => "ICMP",
        Layer::Icmpv6(_) => "ICMPv6",
        Layer::Arp(_) => "ARP",
        Layer::Gre(_) => "GRE",
        Layer::Vxlan(_) => "VXLAN",
        Layer::GtpU(_) => "GTP-U",
        Layer::Raw(_) => "raw bytes",
    }
}

/// TCP's control bits.
///
/// # Errors
/// A word that is none of them.
pub fn validate_tcp(text: Option<&str>) -> Result<Option<u16>, ConfigError> {
    const FLAG: &str = "--tcp";
    let Some(text) = text else { return Ok(None) };
    let refuse = |word| {
        let what = format!("there is no control bit '{word}'");
        ConfigError::new(FLAG, text, what, format!("--tcp syn, or other {TCP_FLAG_FORMS}"))
    };
    tcp_flags(text).map(Some).map_err(refuse)
}

/// MPLS labels, outermost first.
///
/// # Errors
/// None, too many, or one that has no 20 bits.
pub fn validate_mpls(text: Option<&str>) -> Result<Vec<u32>, ConfigError> {
    const LABEL: Whole = Whole {
        flag: "--mpls",
        least: 0,
        most: (1 << 20) - 1,
        why: "labels have 20 bits (RFC 3032)",
        remedy: "--mpls 16, or --mpls 16,17 with the outer label first",
    };
    let Some(text) = text else { return Ok(Vec::new()) };
    let labels = text.split(',').map(|label| LABEL.read_u32(label.trim())).collect::<Result<Vec<_>, _>>()?;
    if labels.len() > MAX_LABELS {
        let what = format!("{} labels; at most {MAX_LABELS} here", labels.len());
        return Err(ConfigError::new(LABEL.flag, text, what, "fewer labels, or a file with --stream"));
    }
    Ok(labels)
}

/// The tunnel that flags ask for.
///
/// # Errors
/// Two of them, or an identifier that does not fit.
pub fn validate_tunnel(
    vxlan: Option<&str>,
    gre: bool,
    gtpu: Option<&str>,
) -> Result<Option<Tunnel>, ConfigError> {
    const VNI: Whole = Whole {
        flag: "--vxlan",
        least: 0,
        most: (1 << 24) - 1,
        why: "network identifiers have 24 bits (RFC 7348)",
        remedy: "--vxlan 77",
    };
    const TEID: Whole = Whole {
        flag: "--gtpu",
        least: 0,
        most: u32::MAX as u64,
        why: "tunnel endpoint identifiers have 32 bits (3GPP TS 29.281)",
        remedy: "--gtpu 77",
    };
    let asked = [
        vxlan
            .map(|text| VNI.read_u32(text).map(Tunnel::Vxlan))
            .transpose()?
            .map(|tunnel| ("--vxlan", tunnel)),
        gre.then_some(("--gre", Tunnel::Gre)),
        gtpu.map(|text| TEID.read_u32(text).map(Tunnel::GtpU)).transpose()?.map(|tunnel| ("--gtpu", tunnel)),
    ];
    let mut asked = asked.into_iter().flatten();
    match (asked.next(), asked.next()) {
        (Some((first, _)), Some((second, _))) => {
            let what = format!("{first} is a tunnel already, and flags make one");
            Err(ConfigError::bare(
                second,
                what,
                "one of them, or a file with --stream for a tunnel in a tunnel",
            ))
        }
        (tunnel, _) => Ok(tunnel.map(|(_, tunnel)| tunnel)),
    }
}

/// Differentiated services codepoint.
///
/// # Errors
/// Above 63, or no number.
pub fn validate_dscp(text: Option<&str>) -> Result<Option<u8>, ConfigError> {
    let why = "codepoints have 6 bits (RFC 2474)";
    let remedy = "--dscp 46 (expedited forwarding)";
    byte(text, Whole { flag: "--dscp", least: 0, most: 63, why, remedy })
}

/// Time to live, or hop limit.
///
/// # Errors
/// Above 255, or no number.
pub fn validate_ttl(text: Option<&str>) -> Result<Option<u8>, ConfigError> {
    byte(
        text,
        Whole { flag: "--ttl", least: 0, most: 255, why: "it has 8 bits", remedy: "--ttl 64 (the default)" },
    )
}

fn byte(text: Option<&str>, whole: Whole) -> Result<Option<u8>, ConfigError> {
    Ok(whole.read_given(text)?.and_then(|value| u8::try_from(value).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::layout::{Defaults, compile};

    fn names(headers: &Headers, address: &Addressing) -> Vec<&'static str> {
        let layers = headers.layers(address);
        compile(&layers, &Defaults::BENCHMARK).unwrap();
        layers.iter().map(Layer::name).collect()
    }

    #[test]
    fn stacks_are_what_their_flags_say() {
        let plain = Addressing::default();
        let tagged = Addressing { vlans: vec![1], ipv6: true, ..Addressing::default() };
        let vxlan = Headers { tunnel: Some(Tunnel::Vxlan(7)), tcp: Some(2), ..Headers::default() };
        let inner = ["udp", "vxlan", "ethernet", "ipv6", "tcp"];
        assert_eq!(names(&vxlan, &tagged), [&["ethernet", "vlan", "ipv6"], &inner[..]].concat());
        let gtpu = Headers { tunnel: Some(Tunnel::GtpU(7)), mpls: vec![16, 17], ..Headers::default() };
        let labels = ["ethernet", "mpls", "mpls", "ipv4", "udp", "gtpu", "ipv4", "udp"];
        assert_eq!(names(&gtpu, &plain), labels);
        let gre = Headers { tunnel: Some(Tunnel::Gre), dscp: Some(46), ttl: Some(3), ..Headers::default() };
        assert_eq!(names(&gre, &plain), ["ethernet", "ipv4", "gre", "ipv4", "udp"]);
        let ip = |at: usize| match &gre.layers(&plain)[at] {
            Layer::Ipv4(ip) => (ip.dscp, ip.ttl),
            other => panic!("{other:?}"),
        };
        assert_eq!((ip(1), ip(3)), ((46, 3), (0, 64)), "the outermost one has them");
        let l2 = Addressing { l2: true, ..Addressing::default() };
        assert_eq!(names(&Headers::default(), &l2), ["ethernet"]);
    }

    #[test]
    fn flags_that_cannot_be_meant_are_refused() {
        assert_eq!(validate_tunnel(Some("1"), true, None).unwrap_err().flag, "--gre");
        assert_eq!(validate_tunnel(Some("16777216"), false, None).unwrap_err().flag, "--vxlan 16777216");
        assert_eq!(validate_tunnel(None, false, Some("4294967296")).unwrap_err().flag, "--gtpu 4294967296");
        assert_eq!(validate_tunnel(None, false, Some("9")), Ok(Some(Tunnel::GtpU(9))));
        assert_eq!(validate_mpls(Some("16, 1048575")), Ok(vec![16, 1_048_575]));
        assert_eq!(validate_mpls(Some("1048576")).unwrap_err().flag, "--mpls 1048576");
        assert!(validate_mpls(Some("1,2,3,4,5,6,7,8,9")).unwrap_err().what.contains("9 labels"));
        assert!(validate_tcp(Some("sin")).unwrap_err().remedy.contains("--tcp syn"));
        assert_eq!(validate_dscp(Some("64")).unwrap_err().flag, "--dscp 64");
        assert_eq!(validate_ttl(Some("256")).unwrap_err().flag, "--ttl 256");
    }

    #[test]
    fn stacks_in_words() {
        let two = Addressing { vlans: vec![1, 2], ..Addressing::default() };
        assert_eq!(words(&Headers::default().layers(&two)), "Ethernet, two VLAN tags, IPv4 and UDP");
        let labels = Headers { mpls: vec![1, 2], ..Headers::default() };
        assert_eq!(words(&labels.layers(&Addressing::default())), "Ethernet, 2 × MPLS, IPv4 and UDP");
        assert_eq!(words(&[Layer::Ethernet(Ethernet::default())]), "Ethernet");
    }
}
