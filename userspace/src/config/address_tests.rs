//! Addresses: sizes against the standards' own sums, families, and what is refused.

use super::*;

fn with(ip: Option<&str>, vlans: usize, l2: bool) -> Addressing {
    Addressing {
        dst_ip: ip.map(|ip| ip.parse().unwrap()),
        vlans: vec![1; vlans],
        l2,
        ..Addressing::default()
    }
}

#[test]
fn defaults_are_the_benchmark_networks_of_the_family() {
    let ips = |a: &Addressing| [a.default_src_ip(), a.default_dst_ip()].map(|ip| ip.map(|ip| ip.to_string()));
    let text = |a: &str, b: &str| [Some(a.to_owned()), Some(b.to_owned())];
    assert_eq!(ips(&with(None, 0, false)), text("198.18.0.1", "198.19.0.1"));
    assert_eq!(ips(&with(Some("fe80::1"), 0, false)), text("2001:2::1", "2001:2:0:8000::1"));
    assert_eq!(ips(&with(None, 0, true)), [None, None]);
    let v6 = Addressing { ipv6: true, ..Addressing::default() };
    assert_eq!(ips(&v6), text("2001:2::1", "2001:2:0:8000::1"));
}

#[test]
fn a_group_is_a_destination_and_never_a_source() {
    for mac in ["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "33-33-00-00-00-01"] {
        assert!(validate_dst_mac(Some(mac)).unwrap().unwrap().is_multicast());
        assert_eq!(validate_src_mac(Some(mac)).unwrap_err().flag, format!("--src-mac {mac}"));
    }
    assert!(validate_src_mac(Some("00:00:00:00:00:00")).is_err());
    assert_eq!(validate_src_mac(Some("02:00:00:00:00:01")), Ok(Some(MacAddr6::new(2, 0, 0, 0, 0, 1))));
    for ip in ["224.0.0.1", "255.255.255.255", "ff02::1"] {
        assert!(validate_ips(Some(ip), None).is_err(), "{ip}");
        assert!(validate_ips(None, Some(ip)).is_ok(), "{ip}");
    }
}

#[test]
fn texts_that_are_no_addresses_are_refused() {
    for mac in ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "zz:00:00:00:00:01", "02:00:00:00:00:01\n"] {
        assert!(validate_dst_mac(Some(mac)).is_err(), "{mac}");
    }
    for ip in ["", "198.18.0", "198.18.0.1/24", "2001:2:::1", "localhost"] {
        assert_eq!(validate_ips(None, Some(ip)).unwrap_err().what, "it is not an IP address");
    }
    assert!(validate_ips(Some("198.18.0.1"), Some("2001:2::1")).unwrap_err().what.contains("other family"));
}

#[test]
fn tags_stand_outermost_first() {
    assert_eq!(validate_vlans(None), Ok(vec![]));
    assert_eq!(validate_vlans(Some("200,100")), Ok(vec![200, 100]));
    assert_eq!(validate_vlans(Some("0, 4094")), Ok(vec![0, 4_094]));
    for text in ["4095", "1,2,3", "", "1,", "a", "-1"] {
        assert!(validate_vlans(Some(text)).unwrap_err().flag.starts_with("--vlan "), "{text}");
    }
}

#[test]
fn ports_have_sixteen_bits() {
    assert_eq!(validate_port("--port", None, DEFAULT_PORT), Ok(9));
    assert_eq!(validate_port("--port", Some("65535"), DEFAULT_PORT), Ok(65_535));
    for text in ["0", "65536", "-1", "http"] {
        assert_eq!(validate_port("--port", Some(text), 9).unwrap_err().flag, format!("--port {text}"));
    }
}
