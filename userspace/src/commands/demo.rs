//! `demo`: sender and sink over a veth pair between two private network namespaces; no NIC needed.

use super::interrupt::Interrupt;
use super::{Failure, ground, pair};
use crate::config::DemoConfig;
use crate::private_net::{self, PrivateNet};
use crate::report::Report;
use std::num::NonZeroU32;

/// Runs `demo`.
///
/// # Errors
/// What stood in the way of the namespaces or of either end.
pub fn run(config: &DemoConfig, interrupt: &Interrupt) -> Result<Vec<Report>, Failure> {
    let net = PrivateNet::with_mtu(queues(config), mtu(config))?;
    let enter_tx = || net.a.namespace.enter();
    let enter_rx = || net.b.namespace.enter();
    pair::run(&config.tx, &config.rx, &enter_tx, &enter_rx, interrupt)
}

/// As many queues as the highest that was asked for needs; one otherwise.
fn queues(config: &DemoConfig) -> NonZeroU32 {
    let highest = config.tx.placement.queues.iter().flatten().max();
    let count = highest.map_or(1, |highest| highest.saturating_add(1));
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

/// As much as the frames need, and no less than is usual.
fn mtu(config: &DemoConfig) -> u32 {
    // As if there were no tag: a tagged frame then has room to spare.
    ground::payload(config.tx.streams.bounds().1, 0).max(private_net::DEFAULT_MTU)
}
