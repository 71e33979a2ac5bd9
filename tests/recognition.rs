//! What a sink takes: the XDP program and the inspector behind it agree, over random sinks, shapes and frames.
//!
//! scripts/fuzz.sh runs the same with other seeds (`PROPTEST_RNG_SEED`) and more cases (`PROPTEST_CASES`), for as long as
//! it is asked to.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "recognition/cases.rs"]
mod cases;

use cases::frames::{C_TAG, PORT, ethernet, ipv4, plain, probe, udp};
use cases::{Sink, any_case};
use etherparse::IpNumber;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use xsk_gen::frame::layout::HalfCheck;
use xsk_gen::frame::{Inspected, Inspector, Reason, Shape};
use xsk_gen::xdp::dry_run::{Action, DryRun, TestProgram, TestRun};
use xsk_gen::xdp::{QueueCounters, RxProgram};

const CONTROL: u16 = 0xFFFF;

fn program(sink: &Sink) -> DryRun {
    DryRun::load(TestProgram::Rx(sink.options())).expect("the verifier takes the program")
}

fn inspector(sink: &Sink) -> Inspector {
    Inspector { udp_port: sink.udp_port, verify: false, shapes: sink.shapes.clone().into(), way: sink.way }
}

/// The one sum that moved by one, the one way the frame went, and the verdict that goes with it.
fn check_books(sink: &Sink, frame: &[u8], run: &TestRun) -> Result<(), TestCaseError> {
    let QueueCounters {
        ours,
        taken,
        redirected,
        no_socket,
        counted,
        control,
        bytes,
        taken_bytes,
        no_room,
        ..
    } = run.counters;
    let len = frame.len() as u64;
    prop_assert_eq!(run.counters.frames(), 1);
    prop_assert_eq!(ours + taken, redirected + no_socket + counted + control + no_room);
    prop_assert_eq!((bytes, taken_bytes), (ours * len, taken * len));
    prop_assert_eq!(redirected, 0, "a dry run has no socket");
    prop_assert_eq!(counted == 1 || taken == 1, sink.count_only && ours + taken > control);
    let dropped = no_socket + counted + no_room == 1;
    prop_assert_eq!(run.action, if dropped { Action::Drop } else { Action::Pass });
    prop_assert_eq!(&run.bytes, frame);
    Ok(())
}

/// The program and the inspector say the same of a frame.
fn check_agreement(sink: &Sink, frame: &[u8], run: &TestRun) -> Result<(), TestCaseError> {
    let inspected = inspector(sink).inspect(frame);
    let counters = run.counters;
    let in_vlan = sink.is_in_vlan(frame);
    if counters.ours == 1 {
        prop_assert!(in_vlan && inspected != Inspected::Rejected(Reason::NotOurs), "taken in error");
    }
    match inspected {
        Inspected::Probe { .. } => {
            prop_assert_eq!((counters.ours, counters.control), (u64::from(in_vlan), 0), "a probe");
        }
        Inspected::Control { .. } => {
            prop_assert_eq!((counters.ours, counters.control), (u64::from(in_vlan), u64::from(in_vlan)));
        }
        Inspected::Rejected(_) => {}
    }
    // Without a socket what was asked for passes, unless it is only counted.
    let asked_for = counters.ours == 0 && in_vlan && sink.wants(frame);
    prop_assert_eq!(counters.taken == 1, asked_for && sink.count_only);
    if asked_for && !sink.count_only {
        prop_assert_eq!(counters.passed, 1, "passed for want of a socket");
    }
    Ok(())
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_program_and_the_inspector_agree_on_every_frame_of_every_sink() {
    let config = Config { failure_persistence: None, ..Config::default() };
    // The same cases each time, unless others are asked for.
    let rng_seed = if config.rng_seed == RngSeed::Random { RngSeed::Fixed(7) } else { config.rng_seed };
    let mut runner = TestRunner::new(Config { rng_seed, ..config });
    let outcome = runner.run(&any_case(), |(sink, frames)| {
        let mut program = program(&sink);
        for frame in frames {
            let run = program.run(&frame).expect("the kernel runs the program");
            let checked =
                check_books(&sink, &frame, &run).and_then(|()| check_agreement(&sink, &frame, &run));
            prop_assert!(checked.is_ok(), "{:?}\n{:02x?}\n{:?}", checked, frame, run);
        }
        Ok(())
    });
    outcome.unwrap();
}

/// What a sink counts of a frame.
fn counted(sink: &Sink, frame: &[u8]) -> QueueCounters {
    program(sink).run(frame).expect("the kernel runs the program").counters
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn as_many_shapes_as_there_can_be_are_taken_and_the_last_one_is_asked() {
    let check = |at, value| HalfCheck { at, mask: u16::MAX, value };
    let shape = |last: u16| Shape {
        checks: (0..19).map(|n| check(14 + 2 * n, 0)).chain([check(480, last)]).collect(),
        probe: 512,
        sums: Vec::new(),
        end: None,
    };
    let sink = Sink { shapes: (0..200).map(shape).collect(), ..Sink::PLAIN };
    let frame = |last: u16, stream| {
        let mut frame = vec![0; 512];
        frame[480..482].copy_from_slice(&last.to_be_bytes());
        frame.extend(probe(stream));
        frame
    };
    RxProgram::load(&sink.options()).expect("the loader of a real sink takes them as well");
    for (last, ours) in [(0, 1), (127, 1), (128, 0), (500, 0)] {
        assert_eq!(counted(&sink, &frame(last, 1)).ours, ours, "{last}");
        let frame = frame(last, 1);
        assert_eq!(matches!(inspector(&sink).inspect(&frame), Inspected::Probe { .. }), ours == 1, "{last}");
    }
    assert_eq!(counted(&sink, &frame(5, CONTROL)).ours, 0, "a control frame comes in a plain stack");
    assert_eq!(counted(&sink, &frame(5, 1)[..529]).ours, 0, "a probe that is cut");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_limits_of_a_shape_are_the_same_on_both_sides() {
    let nothing = |at| HalfCheck { at, mask: u16::MAX, value: 0 };
    let failing = HalfCheck { at: 20, mask: u16::MAX, value: 1 };
    let twenty_and_one = [vec![nothing(20); 20], vec![failing]].concat();
    let cases = [
        ("the last bytes of the longest headers", vec![nothing(510)], 512, true),
        ("a byte beyond them", vec![nothing(511)], 512, false),
        ("all beyond them", vec![nothing(512)], 0, false),
        ("a probe beyond them", Vec::new(), 513, false),
        ("a probe at the first byte", Vec::new(), 0, true),
        ("a check too many", twenty_and_one, 512, true),
        ("a check that fails", vec![failing], 512, false),
        ("a value outside the mask", vec![HalfCheck { mask: 0, ..failing }], 512, false),
    ];
    for (name, checks, at, ours) in cases {
        let shape = Shape { checks, probe: at, sums: Vec::new(), end: None };
        let sink = Sink { shapes: vec![shape], ..Sink::PLAIN };
        let mut frame = vec![0; 600];
        frame[at..at + 18].copy_from_slice(&probe(1));
        assert_eq!(counted(&sink, &frame).ours == 1, ours, "{name}");
        assert_eq!(matches!(inspector(&sink).inspect(&frame), Inspected::Probe { .. }), ours, "{name}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn within_a_vlan_nothing_else_is_taken_not_even_control_frames() {
    let tagged = |stream| {
        let ip = ipv4(IpNumber::UDP, &udp(PORT, &probe(stream)), |_| ());
        let mut frame = ethernet(&[C_TAG], 0x0800, &ip);
        // Priority and drop eligibility are no part of the id.
        frame[14..16].copy_from_slice(&0xF064_u16.to_be_bytes());
        frame
    };
    let vlan = |id| Sink { vlan: Some(id), any: true, count_only: true, ..Sink::PLAIN };
    for stream in [1, CONTROL] {
        assert_eq!(counted(&vlan(100), &tagged(stream)).ours, 1);
        for (sink, frame) in [(vlan(200), tagged(stream)), (vlan(100), plain(&probe(stream)))] {
            assert_eq!(counted(&sink, &frame), QueueCounters { passed: 1, ..QueueCounters::default() });
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_is_asked_for_is_counted_apart_from_ours() {
    let sink = Sink { any: true, count_only: true, ..Sink::PLAIN };
    let (lldp, arp) = (ethernet(&[], 0x88CC, &[0; 60]), ethernet(&[C_TAG], 0x0806, &[0; 28]));
    let taken = QueueCounters { taken: 1, taken_bytes: 74, counted: 1, ..QueueCounters::default() };
    assert_eq!(counted(&sink, &lldp), taken);
    assert_eq!(counted(&sink, &arp).passed, 1, "neighbours are the stack's");
    let of_arp = Sink { any: false, ether_type: Some(0x0806), ..sink };
    assert_eq!(counted(&of_arp, &arp).taken, 1, "unless they are asked for by name");
    assert_eq!(counted(&of_arp, &lldp).passed, 1);
}
