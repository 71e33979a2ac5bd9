//! Both ends in one process: a sender and a sink on two interfaces of this host, with joint books.

use super::Failure;
use super::interrupt::Interrupt;
use super::placement;
use super::privileges::{self, Needs};
use super::rx::{Sink, UntilEnd};
use super::tx::{KnownPeer, Sender};
use crate::config::{DEFAULT_RX_RING, Match, Role, RxConfig, TimestampChoice, TxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::host::{InterfaceFacts, process};
use crate::report::Report;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::thread;

/// What brings the calling thread to where one end's interface is.
pub type Enter<'e> = &'e (dyn Fn() -> Result<(), Finding> + Sync);

/// Runs `tx --sink`.
///
/// # Errors
/// What stood in the way of either end, or ended it without a Report.
pub fn on_this_host(config: &TxConfig, sink: &str, interrupt: &Interrupt) -> Result<Vec<Report>, Failure> {
    two_interfaces(&config.iface, sink)?;
    let rx = sink_of(config, sink);
    run(config, &rx, &|| Ok(()), &|| Ok(()), interrupt)
}

/// Refuses one interface under two names: a port does not receive what it sends.
///
/// # Errors
/// That, with the code of a choice of interface; or an interface that is not there.
fn two_interfaces(iface: &str, sink: &str) -> Result<(), Finding> {
    let (first, second) = (InterfaceFacts::read(iface)?, InterfaceFacts::read(sink)?);
    if first.ifindex != second.ifindex {
        return Ok(());
    }
    let what = format!("{iface} and {sink} are two names of the interface {}", first.name);
    Err(Finding::new(Code::InterfaceChoice, Severity::Fail, format!("--sink {sink}"), what)
        .why("a port does not receive what it sends, so the sink must be another interface")
        .remedy("the port at the other end of the cable, or leave --sink out"))
}

/// The sink that goes with a sender: everything that both ends share is the sender's choice.
fn sink_of(config: &TxConfig, iface: &str) -> RxConfig {
    RxConfig {
        role: Role::Sink,
        out: None,
        iface: Some(iface.to_owned()),
        placement: crate::config::Placement::default(),
        rings: crate::config::Rings { ring: None, frames: None, hugepages: config.rings.hugepages },
        modes: config.modes,
        count: None,
        duration: None,
        idle_timeout: None,
        count_only: false,
        recording: None,
        verify: config.verify,
        timing: Some(NonZeroU32::MIN),
        timestamps: TimestampChoice::default(),
        matches: Match::ours((!config.address.l2).then_some(config.address.port)),
        streams: Some(config.streams.clone()),
        answer: Vec::new(),
        promisc: false,
        run_tag: config.run_tag,
        // Its ring is the default one, whatever the sender's is.
        batch: config.batch.min(DEFAULT_RX_RING),
        wait_link: config.wait_link,
        output: config.output.clone(),
    }
}

/// Runs both ends, each on a thread of its own that enters its place first: the sink, then the sender, then the
/// sink until the sender's END. Reports are `[tx, rx]`.
///
/// # Errors
/// What stood in the way of either end; the other is ended.
pub fn run(
    tx: &TxConfig,
    rx: &RxConfig,
    enter_tx: Enter<'_>,
    enter_rx: Enter<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Report>, Failure> {
    let result = Needs::of(&tx.output);
    let (mut tx, mut rx) = (tx.clone(), rx.clone());
    // What comes of both is one result, which the caller delivers.
    (tx.output.output, rx.output.output) = (None, None);
    share_cores(&mut tx, &mut rx);
    let (tx_cores, rx_cores) = (tx.placement.cores.as_deref(), rx.placement.cores.as_deref());
    let one_core = placement::on_one_core(tx_cores.unwrap_or_default(), rx_cores.unwrap_or_default());
    let until_end = UntilEnd::default();
    let (ready, peer) = channel();
    thread::scope(|scope| {
        let sink = scope.spawn(|| receive(&rx, enter_rx, ready, until_end.clone(), interrupt));
        let (tx, end) = (&tx, &until_end);
        let sender = scope.spawn(move || {
            let sent = send(tx, enter_tx, &peer, end, interrupt);
            if !matches!(sent, Ok(Some(_))) {
                end.abandoned.store(true, Relaxed);
            }
            sent
        });
        // Both have what they need; this thread waits for them.
        let kept = privileges::reduce(result, || true);
        let sent = sender.join().unwrap_or_else(|_| Err(panicked()));
        let received = sink.join().unwrap_or_else(|_| Err(panicked()));
        // A sink that did not open is why the sender did not start.
        match (sent?, received?) {
            (Some(mut tx), rx) => {
                tx.findings.extend(one_core);
                tx.findings.extend(kept);
                Ok(std::iter::once(tx).chain(rx).collect())
            }
            (None, rx) => Ok(rx),
        }
    })
}

fn receive(
    config: &RxConfig,
    enter: Enter<'_>,
    ready: Channel<Option<KnownPeer>>,
    until_end: UntilEnd,
    interrupt: &Interrupt,
) -> Result<Vec<Report>, Failure> {
    enter()?;
    let sink = Sink::open(config, interrupt)?;
    // A sender that is gone has failed and says so itself.
    let _ = ready.send(sink.peer());
    sink.run(interrupt, Some(until_end))
}

/// Sends once the sink is ready; None when it never is.
fn send(
    config: &TxConfig,
    enter: Enter<'_>,
    sink: &Receiver<Option<KnownPeer>>,
    end: &UntilEnd,
    interrupt: &Interrupt,
) -> Result<Option<Report>, Failure> {
    enter()?;
    let Ok(peer) = sink.recv() else { return Ok(None) };
    Sender::open(config, peer, interrupt)?.run(interrupt, Some(&end.told)).map(Some)
}

/// Divides the cores, where the configuration has not done so: two ends that spin on one core would measure the scheduler.
fn share_cores(tx: &mut TxConfig, rx: &mut RxConfig) {
    if rx.placement.cores.is_some() {
        return;
    }
    let cores = tx.placement.cores.clone().unwrap_or_else(process::allowed_cores);
    let (first, second) = placement::share(&cores);
    (tx.placement.cores, rx.placement.cores) = (Some(first), Some(second));
}

fn panicked() -> Failure {
    let what = "a thread ended unexpectedly";
    Failure::Failed(vec![
        Finding::new(Code::System, Severity::Fail, "xsk-gen", what)
            .remedy("please report it with the command line"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{SocketArgs, TxArgs};

    #[test]
    fn a_turn_of_the_sink_is_no_longer_than_its_own_ring() {
        let long = Some("16384".to_owned());
        let sockets = SocketArgs { ring: long.clone(), batch: long, ..SocketArgs::default() };
        let config =
            TxConfig::try_from(TxArgs { iface: Some("v0".to_owned()), sockets, ..TxArgs::default() })
                .unwrap();
        assert_eq!((config.batch, sink_of(&config, "v1").batch), (16_384, DEFAULT_RX_RING));
    }
}
