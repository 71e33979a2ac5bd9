//! `demo`: the flags of both ends, and which end each goes to.

use super::rx::SinkArgs;
use super::{
    AddressArgs, HeaderArgs, LoadArgs, OutputArgs, ProbeArgs, RxArgs, SocketArgs, TimingArgs, TxArgs,
};
use crate::config::{ConfigError, DEMO_RX, DEMO_TX, DemoConfig, validate_list};
use clap::Args;

/// What `demo` takes. Traffic and addresses go to the sending end, matching and counting to the receiving one,
/// sockets and output to both.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Of several --cores the first half sends and the rest receives. --xdp-mode is the receiving end's. --no-verify leaves \
checksums out at one end and unchecked at the other.

The word in [brackets] behind a warning or an error is its code: xsk-gen explain CODE.")]
pub struct DemoArgs {
    /// What is sent.
    #[command(flatten)]
    pub load: LoadArgs,
    /// What is done with received frames.
    #[command(flatten)]
    pub sink: SinkArgs,
    /// Which of them are timed.
    #[command(flatten)]
    pub timing: TimingArgs,
    /// What frames carry.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// What the headers are.
    #[command(flatten)]
    pub headers: HeaderArgs,
    /// From whom and to whom.
    #[command(flatten)]
    pub address: AddressArgs,
    /// Queues, cores, rings and modes.
    #[command(flatten)]
    pub sockets: SocketArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl DemoArgs {
    fn tx(&self, cores: Option<String>) -> TxArgs {
        TxArgs {
            iface: Some(DEMO_TX.to_owned()),
            sink: Some(DEMO_RX.to_owned()),
            load: self.load.clone(),
            probe: self.probe.clone(),
            headers: self.headers.clone(),
            address: self.address.clone(),
            sockets: SocketArgs { cores, xdp_mode: None, ..self.sockets.clone() },
            output: self.output.clone(),
            ..TxArgs::default()
        }
    }

    fn rx(&self, cores: Option<String>) -> RxArgs {
        // Without a word about what to take, rx takes what tx sends.
        let follow = self.sink.matches.is_none();
        let l2 = (follow && self.address.l2).then(|| "l2".to_owned());
        RxArgs {
            iface: Some(DEMO_RX.to_owned()),
            port: self.address.port.clone().filter(|_| follow),
            sink: SinkArgs { matches: self.sink.matches.clone().or(l2), ..self.sink.clone() },
            timing: self.timing.clone(),
            probe: self.probe.clone(),
            sockets: SocketArgs { cores, ..self.sockets.clone() },
            output: self.output.clone(),
            ..RxArgs::default()
        }
    }
}

/// The cores of both ends: the first half sends and the rest receives, which is the harder work. One core is shared.
fn split_cores(text: Option<&str>) -> Result<[Option<String>; 2], ConfigError> {
    let Some(text) = text else { return Ok([None, None]) };
    let cores = validate_list("--cores", text)?;
    let list = |part: &[u32]| Some(part.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    match cores.split_at(cores.len() / 2) {
        ([], rest) => Ok([list(rest), list(rest)]),
        (first, rest) => Ok([list(first), list(rest)]),
    }
}

impl TryFrom<DemoArgs> for DemoConfig {
    type Error = ConfigError;

    fn try_from(args: DemoArgs) -> Result<Self, ConfigError> {
        let [tx_cores, rx_cores] = split_cores(args.sockets.cores.as_deref())?;
        let tx: crate::config::TxConfig = args.tx(tx_cores).try_into()?;
        let mut rx = args.rx(rx_cores).into_config()?;
        rx.duration = tx.duration;
        rx.streams = Some(tx.streams.clone());
        Ok(Self { tx, rx })
    }
}
