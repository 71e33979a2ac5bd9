//! `tx --dry-run`: the streams of a sender and their first frames, without an interface and without a privilege; and
//! the frames that it would send, as a capture file. Sends nothing.

mod capture;
mod shown;
mod text;
mod values;

use self::shown::Shown;
use super::{Failure, tell};
use crate::config::{StreamPlan, TxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::frame::layout::Defaults;
use crate::frame::{FrameError, Place, Stream, StreamSpec};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;

/// Frames that `--write` writes unless `--count` says otherwise: enough to look at, and quickly opened.
const DEFAULT_FRAMES: u64 = 1_000;

/// Prints the streams of `config`, and writes their first frames to a file.
///
/// # Errors
/// What writing to `out` gives; findings are told here.
pub fn run(config: &TxConfig, write: Option<&Path>, out: &mut impl Write) -> io::Result<ExitCode> {
    let specs = specs(config);
    let shown = match specs
        .iter()
        .zip(config.streams.streams())
        .map(|(spec, plan)| Shown::of(plan, spec))
        .collect()
    {
        Ok(shown) => shown,
        Err(error) => return Ok(fail(&Failure::Failed(vec![unbuildable(&error)]))),
    };
    if let Some(path) = write
        && let Err(failure) = capture(config, &specs, path)
    {
        return Ok(fail(&failure));
    }
    print(&shown, config.output.json, out)?;
    Ok(ExitCode::SUCCESS)
}

fn print(shown: &Vec<Shown>, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, shown)?;
        return writeln!(out);
    }
    shown.iter().try_for_each(|stream| text::write(stream, out))
}

fn fail(failure: &Failure) -> ExitCode {
    tell(failure.findings());
    ExitCode::from(failure.exit_code())
}

fn unbuildable(error: &FrameError) -> Finding {
    Finding::new(Code::System, Severity::Fail, "the stream", "its frames cannot be built")
        .why(error.to_string())
        .remedy("other headers, sizes or fields in --stream FILE")
}

/// The streams of the only worker, whose addresses are made up where none are stated.
fn specs(config: &TxConfig) -> Vec<StreamSpec> {
    let (defaults, plans) = (defaults(config), config.streams.streams());
    let streams = u16::try_from(plans.len()).unwrap_or(u16::MAX);
    let spec = |(stream, plan): (u16, &StreamPlan)| StreamSpec {
        layers: plan.layers.clone(),
        defaults,
        modifiers: plan.modifiers.clone(),
        sizes: plan.sizes.clone(),
        flows: plan.flows,
        place: Place { worker: 0, workers: 1, stream, streams },
        run: config.run_tag.unwrap_or(0),
        clock: 0,
        verify: config.verify,
    };
    (0..).zip(plans).map(spec).collect()
}

fn defaults(config: &TxConfig) -> Defaults {
    let (address, made_up) = (&config.address, Defaults::BENCHMARK);
    let v4 = |ip: Option<IpAddr>| if let Some(IpAddr::V4(ip)) = ip { Some(ip) } else { None };
    let v6 = |ip: Option<IpAddr>| if let Some(IpAddr::V6(ip)) = ip { Some(ip) } else { None };
    Defaults {
        src_mac: address.src_mac.unwrap_or(made_up.src_mac),
        dst_mac: address.dst_mac.unwrap_or(made_up.dst_mac),
        v4: (v4(address.src_ip).unwrap_or(made_up.v4.0), v4(address.dst_ip).unwrap_or(made_up.v4.1)),
        v6: (v6(address.src_ip).unwrap_or(made_up.v6.0), v6(address.dst_ip).unwrap_or(made_up.v6.1)),
        src_port: address.src_port,
        dst_port: address.port,
    }
}

/// Writes the file of `--write`.
fn capture(config: &TxConfig, specs: &[StreamSpec], path: &Path) -> Result<(), Failure> {
    let streams: Result<Vec<Stream>, FrameError> = specs.iter().map(Stream::new).collect();
    let streams = streams.map_err(|error| Failure::Failed(vec![unbuildable(&error)]))?;
    let frames = config.count.unwrap_or(DEFAULT_FRAMES);
    capture::write(path, streams, config.streams.pattern(), frames)
}
