//! From whom and to whom: MACs, IPs, ports and VLAN tags, made valid against each other.

use super::ConfigError;
use super::number::Whole;
use macaddr::MacAddr6;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of a sender. None leaves the choice to the interface, and then to the defaults of this room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressing {
    /// Source MAC; the interface's own without one.
    pub src_mac: Option<MacAddr6>,
    /// Destination MAC; the sink is asked for it without one.
    pub dst_mac: Option<MacAddr6>,
    /// Source IP.
    pub src_ip: Option<IpAddr>,
    /// Destination IP, of the same family.
    pub dst_ip: Option<IpAddr>,
    /// UDP source port of the first flow.
    pub src_port: u16,
    /// UDP destination port.
    pub port: u16,
    /// VLAN ids, outermost first; at most two.
    pub vlans: Vec<u16>,
    /// Neither IP nor UDP: EtherType 0x88B5 (IEEE 802 local experimental) right behind the MACs.
    pub l2: bool,
    /// IPv6 also where no address says so.
    pub ipv6: bool,
}

/// What follows the Ethernet header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4 and UDP.
    V4,
    /// IPv6 and UDP.
    V6,
    /// The probe at once.
    L2,
}

/// UDP discard (RFC 863): a host that gets a stray frame throws it away.
pub const DEFAULT_PORT: u16 = 9;
/// Outside the privileged ports, and below the ephemeral range that a host picks from.
pub const DEFAULT_SRC_PORT: u16 = 4_242;

/// The networks set aside for benchmarks: RFC 2544 for IPv4.
const V4: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 19, 0, 1));
/// The same for IPv6, RFC 5180: the two halves of 2001:2::/48.
const V6: (Ipv6Addr, Ipv6Addr) =
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 2, 0, 0x8000, 0, 0, 0, 1));

impl Default for Addressing {
    fn default() -> Self {
        Self {
            src_mac: None,
            dst_mac: None,
            src_ip: None,
            dst_ip: None,
            src_port: DEFAULT_SRC_PORT,
            port: DEFAULT_PORT,
            vlans: Vec::new(),
            l2: false,
            ipv6: false,
        }
    }
}

impl Addressing {
    /// What follows the Ethernet header: IPv6 when it is asked for, or either address is.
    #[must_use]
    pub fn family(&self) -> Family {
        match self.src_ip.or(self.dst_ip) {
            _ if self.l2 => Family::L2,
            Some(IpAddr::V6(_)) => Family::V6,
            None if self.ipv6 => Family::V6,
            Some(IpAddr::V4(_)) | None => Family::V4,
        }
    }

    /// The source IP when neither the command line nor the interface gives one; None for `--l2`.
    #[must_use]
    pub fn default_src_ip(&self) -> Option<IpAddr> {
        match self.family() {
            Family::V4 => Some(V4.0.into()),
            Family::V6 => Some(V6.0.into()),
            Family::L2 => None,
        }
    }

    /// The destination IP when the command line gives none; None for `--l2`.
    #[must_use]
    pub fn default_dst_ip(&self) -> Option<IpAddr> {
        match self.family() {
            Family::V4 => Some(V4.1.into()),
            Family::V6 => Some(V6.1.into()),
            Family::L2 => None,
        }
    }
}

/// A UDP port.
///
/// # Errors
/// 0, above 65,535, or no number.
pub fn validate_port(flag: &'static str, text: Option<&str>, default: u16) -> Result<u16, ConfigError> {
    let why = "UDP ports have 16 bits, and 0 means none";
    let limits = Whole { flag, least: 1, most: 65_535, why, remedy: "a port such as 9 (discard) or 4242" };
    text.map_or(Ok(default), |text| limits.read_u16(text))
}

/// The source MAC, which must be one station's.
///
/// # Errors
/// No MAC, a multicast or broadcast address, or all zeros.
pub fn validate_src_mac(text: Option<&str>) -> Result<Option<MacAddr6>, ConfigError> {
    const FLAG: &str = "--src-mac";
    let Some((text, mac)) = read_mac(FLAG, text)? else { return Ok(None) };
    if mac.is_multicast() || mac.is_nil() {
        let what =
            "a frame comes from one station; switches drop group and zero source addresses (IEEE 802.3)";
        return Err(ConfigError::new(FLAG, text, what, "a unicast MAC such as 02:00:00:00:00:01"));
    }
    Ok(Some(mac))
}

/// The destination MAC. Multicast and broadcast are taken, since naming one is explicit.
///
/// # Errors
/// No MAC.
pub fn validate_dst_mac(text: Option<&str>) -> Result<Option<MacAddr6>, ConfigError> {
    const FLAG: &str = "--dst-mac";
    let Some((text, mac)) = read_mac(FLAG, text)? else { return Ok(None) };
    if mac.is_nil() {
        let remedy = "the sink's MAC, or leave it out: the sink is then asked for it";
        return Err(ConfigError::new(FLAG, text, "no station has the address zero", remedy));
    }
    Ok(Some(mac))
}

fn read_mac<'a>(flag: &str, text: Option<&'a str>) -> Result<Option<(&'a str, MacAddr6)>, ConfigError> {
    let Some(text) = text else { return Ok(None) };
    let refuse =
        |_| ConfigError::new(flag, text, "it is not a MAC address", "six bytes such as 02:00:00:00:00:02");
    text.parse().map(|mac| Some((text, mac))).map_err(refuse)
}

/// Source and destination IP, of one family.
///
/// # Errors
/// No IP, two families, or a source that is a group.
pub fn validate_ips(src: Option<&str>, dst: Option<&str>) -> Result<[Option<IpAddr>; 2], ConfigError> {
    let (from, to) = (read_ip("--src-ip", src)?, read_ip("--dst-ip", dst)?);
    if let (Some(from), Some(text)) = (from, src)
        && (from.is_multicast() || from == IpAddr::V4(Ipv4Addr::BROADCAST))
    {
        let what = "a packet comes from one host, never from a group (RFC 1122)";
        return Err(ConfigError::new("--src-ip", text, what, "a unicast address such as 198.18.0.1"));
    }
    if let (Some(from), Some(to), Some(text)) = (from, to, dst)
        && from.is_ipv4() != to.is_ipv4()
    {
        let what = format!("source {from} is of the other family");
        return Err(ConfigError::new("--dst-ip", text, what, "both addresses IPv4, or both IPv6"));
    }
    Ok([from, to])
}

fn read_ip(flag: &str, text: Option<&str>) -> Result<Option<IpAddr>, ConfigError> {
    let Some(text) = text else { return Ok(None) };
    let remedy = "an address such as 198.19.0.1 or 2001:2:0:8000::1, without a prefix length";
    text.parse().map(Some).map_err(|_| ConfigError::new(flag, text, "it is not an IP address", remedy))
}

/// VLAN ids, outermost first.
///
/// # Errors
/// More than two, above 4,094, or no numbers.
pub fn validate_vlans(text: Option<&str>) -> Result<Vec<u16>, ConfigError> {
    const ID: Whole = Whole {
        flag: "--vlan",
        least: 0,
        most: 4_094,
        why: "VLAN ids have 12 bits, and 4095 is reserved (IEEE 802.1Q)",
        remedy: "--vlan 100, or --vlan 200,100 with the outer tag first",
    };
    let Some(text) = text else { return Ok(Vec::new()) };
    let ids: Result<Vec<u16>, ConfigError> = text.split(',').map(|id| ID.read_u16(id.trim())).collect();
    match ids? {
        ids if ids.len() > 2 => {
            Err(ConfigError::new(ID.flag, text, "a frame takes two tags at the most", ID.remedy))
        }
        ids => Ok(ids),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
