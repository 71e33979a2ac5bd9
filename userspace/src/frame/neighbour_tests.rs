//! Tests of ARP and neighbour discovery: bytes by hand, and what is read back.

use super::*;
use proptest::prelude::*;

const US: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 1);
const THEM: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 2);

fn at(mac: MacAddr6, ip: &str) -> Station {
    Station { mac, ip: ip.parse().unwrap() }
}

fn any_tags() -> impl Strategy<Value = Vec<Tag>> {
    let protocol = prop::sample::select(vec![0x8100u16, 0x88A8]);
    prop::collection::vec((protocol, any::<u16>()), 0..3)
        .prop_map(|tags| tags.into_iter().map(|(protocol, control)| Tag { protocol, control }).collect())
}

/// Two unicast addresses of one family.
fn any_ips() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    let four = (any::<u16>(), any::<u16>()).prop_map(|(a, b)| {
        let ip = |low: u16| IpAddr::from([192, 0, (low >> 8) as u8, low as u8]);
        (ip(a | 1), ip(b & !1))
    });
    let six = (any::<u64>(), any::<u64>()).prop_map(|(a, b)| {
        let ip = |low: u64| IpAddr::V6(((0x2001_0db8u128 << 96) | u128::from(low)).into());
        (ip(a | 1), ip(b & !1))
    });
    prop_oneof![four, six]
}

#[test]
fn an_arp_request_byte_by_byte() {
    let question = question(at(US, "192.0.2.1"), "192.0.2.2".parse().unwrap(), &tags(&[100])).unwrap();
    #[rustfmt::skip]
    let expected = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  2, 0, 0, 0, 0, 1,  0x81, 0x00, 0, 100,  0x08, 0x06,
        0, 1,  8, 0,  6, 4,  0, 1,  2, 0, 0, 0, 0, 1,  192, 0, 2, 1,  0, 0, 0, 0, 0, 0,  192, 0, 2, 2,
        // Up to 60 bytes.
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(question, expected);
}

#[test]
fn a_solicitation_byte_by_byte() {
    let question = question(at(US, "2001:db8::1"), "2001:db8::aabb:ccdd".parse().unwrap(), &[]).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x33, 0x33, 0xff, 0xbb, 0xcc, 0xdd,  2, 0, 0, 0, 0, 1,  0x86, 0xdd,
        0x60, 0, 0, 0,  0, 32,  58,  255,
        0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
        0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xbb, 0xcc, 0xdd,
        // The complement of 2001 + db8 + 1 + ff02 + 1 + ffbb + ccdd + 20 + 3a (pseudo-header)
        // + 8700 + 2001 + db8 + aabb + ccdd + 101 + 200 + 1 = 52902, folded 2907
        135, 0, 0xd6, 0xf8,  0, 0, 0, 0,
        0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd,
        1, 1, 2, 0, 0, 0, 0, 1,
    ];
    assert_eq!(question, expected);
}

#[test]
fn two_tags_are_a_service_and_a_customer_tag() {
    let outer = Tag { protocol: 0x88A8, control: 7 };
    assert_eq!(tags(&[7, 8]), [outer, Tag { protocol: 0x8100, control: 8 }]);
    assert_eq!(tags(&[7]), [Tag { protocol: 0x8100, control: 7 }]);
}

#[test]
fn an_announcement_is_no_question() {
    for ip in ["192.0.2.1", "2001:db8::1"] {
        let us = at(US, ip);
        let heard = read(&announcement(us, &[]).unwrap()).unwrap();
        assert_eq!(heard.said, Said::Answer(us));
    }
}

#[test]
fn families_do_not_mix() {
    let (four, six) = (at(US, "192.0.2.1"), at(US, "2001:db8::1"));
    assert_eq!(question(four, six.ip, &[]), None);
    assert_eq!(question(six, four.ip, &[]), None);
    assert_eq!(answer(four, (THEM, Some(six.ip)), &[]), None);
}

#[test]
fn a_question_without_an_address_is_answered_to_all() {
    let heard = |ip: &str| read(&answer(at(US, ip), (THEM, None), &[]).unwrap()).unwrap();
    assert_eq!(heard("192.0.2.1").said, Said::Answer(at(US, "192.0.2.1")));
    assert_eq!(heard("2001:db8::1").said, Said::Answer(at(US, "2001:db8::1")));
    let frame = answer(at(US, "2001:db8::1"), (THEM, None), &[]).unwrap();
    assert_eq!(frame[..6], [0x33, 0x33, 0, 0, 0, 1]);
    // Neither router nor solicited, but override.
    assert_eq!(frame[14 + 40 + 4], 0b0010_0000);
}

#[test]
fn what_passed_a_router_or_was_damaged_is_not_believed() {
    let good = answer(at(US, "2001:db8::1"), (THEM, Some("2001:db8::2".parse().unwrap())), &[]).unwrap();
    assert!(read(&good).is_some());
    let changed = |at: usize| {
        let mut frame = good.clone();
        frame[at] ^= 1;
        read(&frame)
    };
    assert_eq!(changed(14 + 7), None, "hop limit");
    assert_eq!(changed(14 + 40 + 30), None, "checksum");
    let group = answer(at(MacAddr6::broadcast(), "192.0.2.1"), (THEM, None), &[]).unwrap();
    assert_eq!(read(&group), None, "a group is no station");
}

#[test]
fn a_network_is_its_ids() {
    let frame = |tags: &[Tag]| question(at(US, "192.0.2.1"), "192.0.2.2".parse().unwrap(), tags).unwrap();
    let priority = read(&frame(&[Tag { protocol: 0x8100, control: 5 << 13 }])).unwrap();
    assert!(priority.is_in(&[]) && priority.is_in(&[0]) && !priority.is_in(&[1]));
    let tagged = read(&frame(&[Tag { protocol: 0x8100, control: 5 << 13 | 100 }])).unwrap();
    assert!(tagged.is_in(&[100]) && !tagged.is_in(&[]) && !tagged.is_in(&[100, 1]));
}

proptest! {
    #[test]
    fn a_question_is_read_as_it_was_meant((ip, target) in any_ips(), tags in any_tags()) {
        let frame = question(Station { mac: US, ip }, target, &tags).unwrap();
        let said = Said::Question { target, mac: US, ip: Some(ip) };
        prop_assert!(frame.len() >= 60);
        prop_assert_eq!(read(&frame), Some(Heard { tags, said }));
    }

    #[test]
    fn so_is_an_answer((ip, to) in any_ips(), tags in any_tags()) {
        let us = Station { mac: US, ip };
        let frame = answer(us, (THEM, Some(to)), &tags).unwrap();
        prop_assert_eq!(&frame[..6], THEM.as_bytes());
        prop_assert_eq!(read(&frame), Some(Heard { tags, said: Said::Answer(us) }));
    }

    #[test]
    fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }
}
