//! The way of a command line into the configuration: which end of a demo gets what, and what is contradictory.

use crate::cli::{Cli, Command};
use crate::config::{ConfigError, DemoConfig, Match, RxConfig, StreamSet, TxConfig, XdpChoice, XskChoice};
use crate::frame::layer::Layer;
use crate::frame::sizes::Sizes;
use crate::units::{FrameSize, Nanos, RateSpec};
use clap::{CommandFactory, Parser};
use std::num::NonZeroU32;

fn parse(line: &str) -> Command {
    Cli::try_parse_from(line.split_whitespace()).unwrap().command
}

fn tx(flags: &str) -> Result<TxConfig, ConfigError> {
    match parse(&format!("xsk-gen tx --iface a {flags}")) {
        Command::Tx(args) => (*args).try_into(),
        other => panic!("{other:?}"),
    }
}

fn rx(flags: &str) -> Result<RxConfig, ConfigError> {
    match parse(&format!("xsk-gen rx {flags}")) {
        Command::Rx(args) => (*args).try_into(),
        other => panic!("{other:?}"),
    }
}

fn demo(flags: &str) -> Result<DemoConfig, ConfigError> {
    match parse(&format!("xsk-gen demo {flags}")) {
        Command::Demo(args) => (*args).try_into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clap_finds_no_fault_with_the_structs() {
    Cli::command().debug_assert();
}

#[test]
fn tx_without_flags_is_the_documented_default() {
    let config = tx("").unwrap();
    assert_eq!(
        (config.streams.fixed_size().unwrap(), config.rate, config.batch, config.streams.flows()[0]),
        (FrameSize::MIN, RateSpec::Max, 64, 1)
    );
    assert_eq!((config.count, config.duration), (None, Some(Nanos(10_000_000_000))));
    assert_eq!((config.address.port, config.address.src_port), (9, 4_242));
    assert_eq!((config.wait_link, config.settle), (Nanos(10_000_000_000), Nanos(0)));
    assert!(config.verify && config.modes.need_wakeup && config.modes.busy_poll.is_none());
    assert_eq!(tx("--count 5").unwrap().duration, None);
}

#[test]
fn rx_without_flags_is_the_documented_default() {
    let config = rx("").unwrap();
    assert_eq!((config.iface, config.count, config.duration, config.idle_timeout), (None, None, None, None));
    assert_eq!((config.matches, config.batch), (Match::ours(Some(9)), 64));
    assert!(config.verify && !config.count_only && !config.promisc);
}

#[test]
fn every_flag_of_tx_arrives() {
    let config = tx(
        "--size 128 --rate 1.5Mpps --duration 2m --flows 64 --batch 32 --ring 1024 --frames 4096 --hugepages \
                     --xdp-mode native --xsk-mode zerocopy --busy-poll --no-need-wakeup --no-verify --run-tag 7 \
                     --queues 0-1 --cores 2,3 --vlan 200,100 --dst-ip 2001:2:0:8000::1 --settle 500ms --sink b",
    );
    let config = config.unwrap();
    assert_eq!(
        (config.streams.fixed_size().unwrap().with_fcs(), config.rate),
        (128, RateSpec::Pps(1_500_000.into()))
    );
    assert_eq!(
        (config.rings.ring, config.rings.frames, config.rings.hugepages),
        (Some(1024), Some(4096), true)
    );
    assert_eq!((config.modes.xdp, config.modes.xsk), (XdpChoice::Native, XskChoice::ZeroCopy));
    assert!(config.modes.busy_poll == Some(64) && !config.modes.need_wakeup && !config.verify);
    assert_eq!((config.placement.queues, config.placement.cores), (Some(vec![0, 1]), Some(vec![2, 3])));
    assert_eq!((config.address.vlans, config.run_tag), (vec![200, 100], Some(7)));
    assert_eq!((config.settle, config.sink.as_deref()), (Nanos::from_millis(500), Some("b")));
}

#[test]
fn each_end_of_a_demo_gets_its_own() {
    let config = demo(
        "--size 128 --count 9 --duration 3 --rate 1kpps --count-only --xdp-mode generic --run-tag 3 --json",
    );
    let DemoConfig { tx, rx } = config.unwrap();
    assert_eq!((tx.iface.as_str(), rx.iface.as_deref()), ("xg0", Some("xg1")));
    assert_eq!((tx.count, rx.count, rx.count_only), (Some(9), None, true));
    assert_eq!((tx.duration, rx.duration), (Some(Nanos(3_000_000_000)), Some(Nanos(3_000_000_000))));
    assert_eq!((tx.modes.xdp, rx.modes.xdp), (XdpChoice::Auto, XdpChoice::Generic));
    assert_eq!((tx.run_tag, rx.run_tag), (Some(3), Some(3)));
    assert!(tx.output.json && rx.output.json);
}

#[test]
fn flags_of_headers_make_one_stream() {
    let layers = |flags: &str| -> Vec<&'static str> {
        let config = tx(flags).unwrap();
        let [stream] = config.streams.streams() else { panic!("{config:?}") };
        stream.layers.iter().map(Layer::name).collect()
    };
    assert_eq!(layers("--ipv6 --tcp syn --vlan 1"), ["ethernet", "vlan", "ipv6", "tcp"]);
    assert_eq!(layers("--mpls 16,17 --gre"), ["ethernet", "mpls", "mpls", "ipv4", "gre", "ipv4", "udp"]);
    let sizes = tx("--size 64-1518 --seed 7").unwrap().streams.streams()[0].sizes.clone();
    assert!(matches!(sizes, Sizes::Uniform { seed: 7, .. }), "{sizes:?}");
}

#[test]
fn a_sink_is_told_of_headers_that_are_not_plain() {
    let told = |flags: &str| rx(flags).unwrap().streams.map(|set| set.streams()[0].layers.len());
    assert_eq!((told(""), told("--ipv6"), told("--tcp syn")), (None, None, Some(3)));
    assert_eq!((told("--vxlan 5 --ipv6"), told("--gtpu 1"), told("--mpls 16")), (Some(7), Some(6), Some(4)));
    let demo_told = |flags: &str| !demo(flags).unwrap().rx.streams.unwrap().shapes(Some(9)).is_empty();
    assert!(!demo_told("--vlan 2,1 --ipv6 --flows 9 --size imix:bcd") && !demo_told("--l2"));
    assert!(demo_told("--tcp syn") && demo_told("--gre"));
}

#[test]
fn a_stream_file_goes_to_both_ends() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "[[stream]]\nname = \"a\"\nsize = \"64-99\"\n[[stream]]\nlayers = [{ ethernet = {} }, { mpls = {} }]\n";
    std::fs::write(file.path(), text).unwrap();
    let flag = format!("--stream {}", file.path().display());
    let (sent, heard) = (tx(&flag).unwrap().streams, rx(&flag).unwrap().streams.unwrap());
    let names = |set: &StreamSet| set.streams().iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(&sent), &sent), (vec!["a".to_owned(), "stream-2".to_owned()], &heard));
    assert_eq!(demo(&flag).unwrap().rx.streams, Some(heard.clone()));
    assert_ne!(tx(&format!("{flag} --seed 1")).unwrap().streams, heard);
    std::fs::write(file.path(), b"\xff").unwrap();
    assert_eq!(tx(&flag).unwrap_err().what, "it is no text");
}

#[test]
fn a_dry_run_needs_no_interface() {
    let Command::Tx(args) = parse("xsk-gen tx --dry-run --rate 1kpps") else { panic!() };
    assert_eq!(TxConfig::try_from(*args).unwrap().iface, "");
}

#[test]
fn a_demo_receives_what_it_sends() {
    let matches = |flags: &str| demo(flags).unwrap().rx.matches.udp_port;
    assert_eq!(matches(""), Some(9));
    assert_eq!(matches("--port 5000"), Some(5_000));
    assert_eq!(matches("--l2"), None);
    assert_eq!(matches("--port 5000 --match l2"), None);
}

#[test]
fn what_is_timed_goes_to_the_receiving_end() {
    let timing = |flags: &str| (rx(flags).unwrap().timing, demo(flags).unwrap().rx.timing);
    let (every, hundredth) = (NonZeroU32::new(1), NonZeroU32::new(100));
    assert_eq!(timing(""), (every, every));
    assert_eq!(timing("--latency-sample 1/100"), (hundredth, hundredth));
    assert_eq!(timing("--no-latency"), (None, None));
    assert!(rx("--no-latency --latency-sample 2").is_err());
}

#[test]
fn a_demo_shares_out_its_cores() {
    let cores = |list: &str| {
        let config = demo(&format!("--cores {list}")).unwrap();
        (config.tx.placement.cores.unwrap(), config.rx.placement.cores.unwrap())
    };
    assert_eq!(cores("1"), (vec![1], vec![1]));
    assert_eq!(cores("0,1"), (vec![0], vec![1]));
    assert_eq!(cores("0-4"), (vec![0, 1], vec![2, 3, 4]));
    assert_eq!(demo("--cores 0,0").unwrap_err().flag, "--cores 0,0");
}

#[test]
fn flags_without_effect_are_refused() {
    let flag = |error: ConfigError| error.flag;
    assert_eq!(tx("--l2 --dst-ip 198.19.0.1").map_err(flag).err().as_deref(), Some("--dst-ip"));
    assert_eq!(tx("--l2 --port 9").map_err(flag).err().as_deref(), Some("--port"));
    assert_eq!(rx("--match l2 --port 9").map_err(flag).err().as_deref(), Some("--port"));
    assert_eq!(rx("--count-only --xsk-mode zerocopy").map_err(flag).err().as_deref(), Some("--xsk-mode"));
    let sample = rx("--count-only --latency-sample 9").map_err(flag);
    assert_eq!(sample.err().as_deref(), Some("--latency-sample"));
    assert!(rx("--count-only --no-verify --xsk-mode auto").is_ok());
    assert!(demo("--count-only --ring 1024").unwrap().rx.rings.ring.is_some());
}
