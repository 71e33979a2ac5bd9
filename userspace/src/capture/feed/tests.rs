//! The feeder over files: what is sent, when it is due, and what is said of the rest.

use super::super::fixture::{Ng, Order, Pcap};
use super::super::reel::Next;
use super::*;
use std::io::Write as _;

/// A frame that is known again by its first byte.
fn frame(n: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x22; len];
    bytes[0] = n;
    bytes
}

fn file(bytes: &[u8]) -> Arc<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Arc::new(file)
}

fn feeder(bytes: &[u8]) -> Feeder {
    Feeder {
        file: file(bytes),
        timing: Timing::Recorded(1.into()),
        fit: Fit { mtu: 1_500, chunk: 3_840 },
        loops: 1,
        count: None,
        queues: ONE,
    }
}

/// Every frame by the same queue.
const ONE: Queues = Queues { number: 1, flow: |_| 0 };

/// Every frame's first byte, length and due time, and the rest of what there is to know.
fn play(feeder: Feeder, most: usize) -> (Vec<(u8, usize, u64)>, Option<u64>, Tally) {
    let (reels, thread) = feeder.start().unwrap();
    let mut reel = reels.into_iter().next().unwrap();
    let (mut frames, mut end) = (Vec::new(), None);
    while frames.len() < most {
        match reel.peek() {
            Next::Frame(len, due) => {
                let mut buf = vec![0; len];
                reel.take(&mut buf);
                frames.push((buf[0], len, due.0));
            }
            Next::Waiting => thread::yield_now(),
            Next::Over(at) => {
                end = Some(at.0);
                break;
            }
        }
    }
    drop(reel);
    (frames, end, thread.join().unwrap())
}

fn three() -> Pcap {
    Pcap::new(Order::Little, true).record(5, 0, &frame(1, 60), 60).record(5, 300, &frame(2, 20), 20).record(
        5,
        1_000,
        &frame(3, 1_514),
        1_514,
    )
}

#[test]
fn frames_come_in_order_at_their_times_and_short_ones_are_padded() {
    let (frames, end, tally) = play(feeder(&three().bytes), usize::MAX);
    assert_eq!(frames, [(1, 60, 0), (2, 60, 300), (3, 1_514, 1_000)]);
    assert_eq!((end, tally.frames, tally.bytes, tally.whole), (Some(1_000), 3, 64 + 64 + 1_518, true));
}

#[test]
fn loops_keep_the_schedule_and_a_count_ends_them() {
    let looped = |loops, count| play(Feeder { loops, count, ..feeder(&three().bytes) }, usize::MAX);
    let (frames, end, tally) = looped(3, None);
    let due: Vec<u64> = frames.iter().map(|frame| frame.2).collect();
    assert_eq!(due, [0, 300, 1_000, 1_700, 2_000, 2_700, 3_400, 3_700, 4_400]);
    assert_eq!((end, tally.frames), (Some(4_400), 3));
    let (frames, end, _) = looped(0, Some(5));
    assert_eq!((frames.len(), frames[4], end), (5, (2, 60, 2_000), Some(2_000)));
    let (frames, _, tally) = looped(1, Some(2));
    assert_eq!((frames.len(), tally.whole), (2, false));
}

#[test]
fn a_capture_that_is_not_kept_loops_from_its_file() {
    let many = (0..2_000).fold(Pcap::new(Order::Big, false), |pcap, n| pcap.record(n, 0, &frame(7, 60), 60));
    let reading = |kept: &mut Option<Kept>| {
        let (used, empty) = sync_channel(2);
        let (full, filled) = sync_channel(2);
        (0..2).for_each(|_| used.send(Slab::new()).unwrap());
        let feeder = Feeder { loops: 2, ..feeder(&many.bytes) };
        let outs = vec![Out { slab: None, empty, full }];
        let table = Timetable::new(feeder.timing);
        let mut reading = Reading { feeder, table, tally: Tally::default(), outs, left: None };
        assert!(reading.first_pass(kept).is_continue());
        reading.table.again();
        let again = match kept {
            Some(kept) => reading.pass_from_memory(kept),
            None => reading.pass_from_file(|reading, record| reading.send(&record.bytes, record.at, 0)),
        };
        assert!(again.is_continue());
        let end = reading.table.end();
        reading.outs.iter_mut().for_each(|out| out.finish(end));
        (filled.try_iter().map(|slab| slab.len()).sum::<usize>(), reading.table.end())
    };
    assert_eq!(reading(&mut None), reading(&mut Some(Kept::default())));
    assert_eq!(reading(&mut None).0, 4_000);
}

#[test]
fn what_cannot_be_sent_is_counted_by_its_reason() {
    let pcap = three()
        .record(6, 0, &frame(4, 60), 1_000)
        .record(7, 0, &frame(5, 1_515), 1_515)
        .record(8, 0, &frame(6, 9), 9)
        .record(2, 0, &frame(7, 60), 60);
    let (frames, _, tally) = play(Feeder { loops: 2, ..feeder(&pcap.bytes) }, usize::MAX);
    let order: Vec<u8> = frames.iter().map(|frame| frame.0).collect();
    assert_eq!(order, [1, 2, 3, 7, 1, 2, 3, 7]);
    assert_eq!((tally.snapped, tally.above_mtu, tally.foreign, tally.left_out()), (1, 1, 1, 3));
    assert_eq!((tally.back, tally.untimed, tally.broken), (1, 0, None));
    let jumbo = Fit { mtu: 9_000, chunk: 3_840 };
    let pcap = three().record(6, 0, &frame(4, 3_841), 3_841);
    let (_, _, tally) = play(Feeder { fit: jumbo, ..feeder(&pcap.bytes) }, usize::MAX);
    assert_eq!((tally.frames, tally.above_chunk), (3, 1));
}

#[test]
fn a_cut_capture_is_sent_as_far_as_it_is_whole() {
    let bytes = three().bytes;
    let (frames, end, tally) = play(feeder(&bytes[..bytes.len() - 1]), usize::MAX);
    assert_eq!((frames.len(), end), (2, Some(300)));
    assert_eq!((tally.broken, tally.whole), (Some(CaptureError::Cut(3)), true));
}

#[test]
fn an_endless_loop_over_nothing_ends() {
    let nothing = Pcap::new(Order::Little, true).record(5, 0, &frame(1, 60), 99);
    let (frames, end, tally) = play(Feeder { loops: 0, ..feeder(&nothing.bytes) }, usize::MAX);
    assert_eq!((frames.len(), end, tally.snapped), (0, Some(0), 1));
}

#[test]
fn a_sender_that_ends_ends_the_reader() {
    let endless = Feeder { loops: 0, timing: Timing::Max, ..feeder(&three().bytes) };
    let (frames, end, _) = play(endless, 1_000_000);
    assert_eq!((frames.len(), end), (1_000_000, None));
}

#[test]
fn a_look_tells_what_cannot_be_sent() {
    let folder = tempfile::tempdir().unwrap();
    let look_at = |bytes: &[u8]| {
        let path = folder.path().join("capture");
        fs::write(&path, bytes).unwrap();
        look(&path)
    };
    assert_eq!(look_at(&three().bytes), Ok(()));
    assert_eq!(look_at(b""), Err(CaptureError::Empty));
    assert_eq!(look_at(&Pcap::new(Order::Little, false).bytes), Err(CaptureError::NoFrame));
    assert_eq!(look_at(&three().bytes[..30]), Err(CaptureError::Cut(1)));
    let sll = Ng::new(Order::Little).interface(113, &[]).packet(0, 1, &frame(1, 60), 60);
    assert_eq!(look_at(&sll.bytes), Err(CaptureError::LinkType("LINUX_SLL".to_owned())));
    assert_eq!(look(folder.path()), Err(CaptureError::NoFile));
    assert_eq!(
        look(&folder.path().join("none")),
        Err(CaptureError::Io("No such file or directory".to_owned()))
    );
}

/// What each of several queues sends, by first byte and due time; taken in turn, as several senders would.
fn play_all(feeder: Feeder) -> Vec<Vec<(u8, u64)>> {
    let (mut reels, thread) = feeder.start().unwrap();
    let mut seen = vec![Vec::new(); reels.len()];
    let mut over = vec![None; reels.len()];
    while over.iter().any(Option::is_none) {
        for ((reel, seen), over) in reels.iter_mut().zip(&mut seen).zip(&mut over) {
            match reel.peek() {
                Next::Frame(len, due) => {
                    let mut buf = vec![0; len];
                    reel.take(&mut buf);
                    seen.push((buf[0], due.0));
                }
                Next::Waiting => thread::yield_now(),
                Next::Over(at) => *over = Some(at),
            }
        }
    }
    assert!(over.iter().all(|end| *end == over[0]), "{over:?}");
    thread.join().unwrap();
    seen
}

#[test]
fn the_frames_of_a_flow_leave_by_one_queue_in_their_order_and_at_their_times() {
    let numbers = [4u8, 1, 2, 3, 7, 5, 8, 6];
    let pcap = (0u32..)
        .zip(numbers)
        .fold(Pcap::new(Order::Little, true), |pcap, (at, n)| pcap.record(5, at * 100, &frame(n, 60), 60));
    let by_first = Queues { number: 3, flow: |frame| u64::from(frame[0]) };
    let expected = |queue: u8, times: u64| -> Vec<(u8, u64)> {
        let pass = (0u64..).zip(numbers).filter(|(_, n)| n % 3 == queue);
        // The last gap is that of the capture's end.
        (0..times).flat_map(|time| pass.clone().map(move |(at, n)| (n, time * 800 + at * 100))).collect()
    };
    for loops in [1, 3] {
        let seen = play_all(Feeder { queues: by_first, loops, ..feeder(&pcap.bytes) });
        assert_eq!(seen, [0, 1, 2].map(|queue| expected(queue, loops)));
    }
    let some = play_all(Feeder { queues: by_first, loops: 0, count: Some(13), ..feeder(&pcap.bytes) });
    assert_eq!(some.iter().map(Vec::len).sum::<usize>(), 13);
    let alone = Queues { number: 4, flow: |_| 6 };
    let seen = play_all(Feeder { queues: alone, ..feeder(&pcap.bytes) });
    assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 8, 0]);
}
