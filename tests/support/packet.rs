//! A packet socket with the kernel's receive times, and a reading of the probe that is the tests' own: what frames say
//! and when they came, without any code of xsk-gen. Knows nothing of who sends.

use nix::ifaddrs::getifaddrs;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    SockaddrLike as _, bind, recvmsg, send, setsockopt, socket,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Half a second of 100,000 frames a second, so that a thread that waits for its core loses nothing.
const BUFFER_BYTES: usize = 64 << 20;
/// Longer than the longest frame of the tests.
const FRAME_BYTES: usize = 2_048;
/// Where the probe stands in a plain frame: behind Ethernet (14), IPv4 (20) and UDP (8).
const PROBE_AT: usize = 42;
/// Where the source port stands, which is what tells flows apart.
const SOURCE_PORT_AT: usize = 34;
/// The stream field of a control frame.
const CONTROL: u16 = 0xFFFF;

/// A probe as it stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// UDP source port: the flow.
    pub flow: u16,
    /// Whether it is a control frame; its number is then none.
    pub control: bool,
    /// Number in its sequence space.
    pub seq: u32,
    /// The sender's CLOCK_MONOTONIC in ns; 48 bits, so until 78 hours after the start of the machine.
    pub sent_ns: u64,
}

/// The probe of a plain IPv4 frame to UDP port 9; None for any other frame.
pub fn probe_of(frame: &[u8]) -> Option<Probe> {
    let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let long_enough = frame.len() >= PROBE_AT + 18;
    let ours =
        long_enough && word(12) == 0x0800 && frame[23] == 17 && word(36) == 9 && word(PROBE_AT) == 0x5847;
    ours.then(|| {
        let words =
            |from: usize, to: usize| (from..to).step_by(2).fold(0, |sum, at| sum << 16 | u64::from(word(at)));
        Probe {
            flow: word(SOURCE_PORT_AT),
            control: word(PROBE_AT + 4) == CONTROL,
            seq: u32::try_from(words(PROBE_AT + 6, PROBE_AT + 10)).unwrap(),
            sent_ns: words(PROBE_AT + 12, PROBE_AT + 18),
        }
    })
}

/// A clock's time in ns.
fn read_clock(clock: ClockId) -> i64 {
    in_ns(clock_gettime(clock).unwrap())
}

fn in_ns(time: TimeSpec) -> i64 {
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

/// How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, in ns: of several readings the one that was least interrupted.
fn wall_ahead() -> i64 {
    let reading = |_| {
        let before = read_clock(ClockId::CLOCK_MONOTONIC);
        let wall = read_clock(ClockId::CLOCK_REALTIME);
        let after = read_clock(ClockId::CLOCK_MONOTONIC);
        (after - before, wall - (before + after) / 2)
    };
    (0..50).map(reading).min().unwrap().1
}

/// A socket that receives every frame of one interface, and sends through it. Its own frames do not come back to it.
pub struct Tap {
    socket: OwnedFd,
}

impl Tap {
    /// On an interface of the namespace of that name.
    pub fn open(netns: &str, interface: &'static str) -> Self {
        let netns = format!("/run/netns/{netns}");
        // A thread of its own: it does not come back from the namespace.
        let open = thread::spawn(move || {
            setns(File::open(netns).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
            let of_packets = (AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_NONBLOCK);
            let socket = socket(of_packets.0, of_packets.1, of_packets.2, SockProtocol::EthAll).unwrap();
            setsockopt(&socket, RcvBufForce, &BUFFER_BYTES).unwrap();
            setsockopt(&socket, ReceiveTimestampns, &true).unwrap();
            let address = link_address(interface);
            // Its protocol is 0, which keeps that of the socket.
            bind(socket.as_raw_fd(), &address).unwrap();
            socket
        });
        Self { socket: open.join().unwrap() }
    }

    /// The file descriptor, to wait for several.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends a frame; false when the interface takes none.
    pub fn send(&self, frame: &[u8]) -> bool {
        send(self.socket.as_raw_fd(), frame, MsgFlags::empty()).is_ok()
    }

    /// The next frame, its length and when the kernel had it, in ns of CLOCK_REALTIME; None when there is none.
    pub fn receive(&self, buffer: &mut [u8; FRAME_BYTES]) -> Option<(usize, i64)> {
        let mut space = nix::cmsg_space!(TimeSpec);
        let mut slices = [IoSliceMut::new(buffer)];
        let fd = self.socket.as_raw_fd();
        // An error is that of an interface that went down: there is nothing to be read then either.
        let message = recvmsg::<LinkAddr>(fd, &mut slices, Some(&mut space), MsgFlags::empty()).ok()?;
        let time = message.cmsgs().unwrap().find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => Some(in_ns(time)),
            _ => None,
        });
        Some((message.bytes, time.expect("a receive time")))
    }
}

/// A buffer for [`Tap::receive`].
pub fn buffer() -> [u8; FRAME_BYTES] {
    [0; FRAME_BYTES]
}

fn link_address(interface: &str) -> LinkAddr {
    let of_interface = |address: nix::ifaddrs::InterfaceAddress| {
        let link = address.address?.as_link_addr().copied()?;
        (address.interface_name == interface && link.family() == Some(AddressFamily::Packet)).then_some(link)
    };
    getifaddrs().unwrap().find_map(of_interface).unwrap_or_else(|| panic!("no {interface}"))
}

/// A probe and when it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// What it says.
    pub probe: Probe,
    /// When the kernel had it, in ns of CLOCK_MONOTONIC.
    pub at_ns: i64,
}

/// A thread that writes down every arrival at an interface.
pub struct Recorder {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Arrival>>,
}

impl Recorder {
    /// Begins at once.
    pub fn start(netns: &str, interface: &'static str) -> Self {
        let tap = Tap::open(netns, interface);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        Self { stop, thread: thread::spawn(move || record(&tap, &told)) }
    }

    /// What has arrived, control frames left out, in the order of arrival.
    pub fn finish(self) -> Vec<Arrival> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn record(tap: &Tap, stop: &AtomicBool) -> Vec<Arrival> {
    let ahead = wall_ahead();
    let mut arrivals = Vec::new();
    let mut buffer = buffer();
    loop {
        // Read before the queue is emptied, so that what came before the end is not left out.
        let last = stop.load(Ordering::Relaxed);
        while let Some((length, at)) = tap.receive(&mut buffer) {
            let probe = probe_of(&buffer[..length]).filter(|probe| !probe.control);
            arrivals.extend(probe.map(|probe| Arrival { probe, at_ns: at - ahead }));
        }
        if last {
            return arrivals;
        }
        let mut waited = [PollFd::new(tap.socket.as_fd(), PollFlags::POLLIN)];
        // Errors are of an interface that went down.
        let _ = poll(&mut waited, PollTimeout::from(10u8));
    }
}

/// From each arrival to the next, in ns.
pub fn gaps_ns(arrivals: &[Arrival]) -> Vec<f64> {
    arrivals.windows(2).map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64).collect()
}

/// The middle value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
