//! Addresses that are looked for, and addresses that are answered for, made valid. Knows no neighbour.

use super::ConfigError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses that a sink answers for at the most: it goes through them for each question.
const MOST_ANSWERED: usize = 16;

/// Whether the destination's MAC is to be looked up; `dst_mac` and `l2` say that those flags were given.
///
/// # Errors
/// A destination MAC or `--l2` beside it, no destination IP, or one that no single station has.
pub fn validate_resolve(
    resolve: bool,
    dst_ip: Option<IpAddr>,
    dst_mac: bool,
    l2: bool,
) -> Result<bool, ConfigError> {
    if !resolve {
        return Ok(false);
    }
    let others = [("--dst-mac", dst_mac), ("--l2", l2)];
    let because = "--resolve finds the MAC of --dst-ip by itself";
    super::validate_without(&others, because, "leave out --resolve, or this flag")?;
    let Some(ip) = dst_ip else {
        let what = "it finds the MAC of a destination IP, and none is named";
        return Err(ConfigError::bare("--resolve", what, "--dst-ip 198.51.100.2 beside it"));
    };
    match unfit(ip) {
        None => Ok(true),
        Some(what) => Err(ConfigError::new("--dst-ip", &ip.to_string(), what, instead(ip))),
    }
}

/// The addresses to answer for.
///
/// # Errors
/// No addresses, too many, one twice, or one that no single station has.
pub fn validate_answer(text: Option<&str>) -> Result<Vec<IpAddr>, ConfigError> {
    const FORM: &str = "--answer 198.51.100.2, or --answer 198.51.100.2,2001:db8::2";
    let Some(text) = text else { return Ok(Vec::new()) };
    let refuse = |what: String| Err(ConfigError::new("--answer", text, what, FORM));
    let mut ips: Vec<IpAddr> = Vec::new();
    for word in text.split(',').map(str::trim) {
        let Ok(ip) = word.parse() else { return refuse(format!("'{word}' is not an IP address")) };
        if let Some(what) = unfit(ip) {
            return refuse(format!("{ip}: {what}"));
        }
        if ips.contains(&ip) {
            return refuse(format!("{ip} is named twice"));
        }
        ips.push(ip);
    }
    if ips.len() > MOST_ANSWERED {
        return refuse(format!("a sink answers for {MOST_ANSWERED} addresses at the most"));
    }
    Ok(ips)
}

/// Why no single station of a link has this address; None where one can.
fn unfit(ip: IpAddr) -> Option<&'static str> {
    if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        Some("a group is no station that has a MAC of its own")
    } else if ip.is_unspecified() {
        Some("the unspecified address is nobody's")
    } else if ip.is_loopback() {
        Some("a loopback address is never on a link")
    } else {
        None
    }
}

/// What to type instead: the MAC of a group follows from its address (RFC 1112, RFC 2464).
fn instead(ip: IpAddr) -> String {
    let mac = match ip {
        IpAddr::V4(Ipv4Addr::BROADCAST) => "ff:ff:ff:ff:ff:ff".to_owned(),
        IpAddr::V4(ip) if ip.is_multicast() => {
            let [_, a, b, c] = ip.octets();
            format!("01:00:5e:{:02x}:{b:02x}:{c:02x}", a & 0x7f)
        }
        IpAddr::V6(ip) if ip.is_multicast() => group_mac(ip),
        _ => return "--dst-ip with the address of a station, such as 198.51.100.2".to_owned(),
    };
    format!("--dst-mac {mac} instead of --resolve")
}

fn group_mac(ip: Ipv6Addr) -> String {
    let [.., a, b, c, d] = ip.octets();
    format!("33:33:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(ip: Option<&str>) -> Result<bool, ConfigError> {
        validate_resolve(true, ip.map(|ip| ip.parse().unwrap()), false, false)
    }

    #[test]
    fn only_a_station_can_be_found() {
        assert_eq!((resolve(Some("192.0.2.1")), resolve(Some("fe80::1"))), (Ok(true), Ok(true)));
        assert_eq!(validate_resolve(false, None, true, true), Ok(false));
        assert_eq!(resolve(None).unwrap_err().flag, "--resolve");
        for (ip, remedy) in [
            ("224.129.2.3", "--dst-mac 01:00:5e:01:02:03"),
            ("255.255.255.255", "--dst-mac ff:ff:ff:ff:ff:ff"),
            ("ff02::1:2", "--dst-mac 33:33:00:01:00:02"),
            ("::", "--dst-ip"),
            ("127.0.0.1", "--dst-ip"),
        ] {
            let error = resolve(Some(ip)).unwrap_err();
            assert!(error.flag == format!("--dst-ip {ip}") && error.remedy.contains(remedy), "{error}");
        }
    }

    #[test]
    fn what_is_found_is_not_stated() {
        let ip = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
        assert_eq!(validate_resolve(true, ip, true, false).unwrap_err().flag, "--dst-mac");
        assert_eq!(validate_resolve(true, ip, false, true).unwrap_err().flag, "--l2");
    }

    #[test]
    fn a_sink_answers_for_sixteen_at_the_most() {
        let list = |n: u8| (1..=n).map(|n| format!("192.0.2.{n}")).collect::<Vec<_>>().join(",");
        assert_eq!(validate_answer(None), Ok(Vec::new()));
        assert_eq!(validate_answer(Some("192.0.2.1, 2001:db8::1")).map(|ips| ips.len()), Ok(2));
        assert_eq!(validate_answer(Some(&list(16))).map(|ips| ips.len()), Ok(16));
        for text in [&list(17), "", "192.0.2.1,", "router", "192.0.2.1,192.0.2.1", "ff02::1", "0.0.0.0"] {
            assert!(validate_answer(Some(text)).unwrap_err().flag.starts_with("--answer"), "{text}");
        }
    }
}
