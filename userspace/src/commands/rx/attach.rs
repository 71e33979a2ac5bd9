//! The program and the sockets of a sink: attached and bound in the best mode that can be had.

use crate::commands::attaching::{Place, patiently};
use crate::commands::placement::Seat;
use crate::commands::sockets::{self, Memory, Sockets, Wanted};
use crate::commands::{Failure, Interrupt};
use crate::config::{Modes, XdpChoice, XskChoice};
use crate::finding::{Code, Finding, Severity};
use crate::host::{InterfaceFacts, XdpFeatures, drivers, machine};
use crate::report::{XdpModeUsed, XskModeUsed};
use crate::xdp::{AttachMode, RxProgram};
use crate::xsk::{self, XskRx};

/// An attached program.
pub struct Attached {
    /// The program.
    pub program: RxProgram,
    /// How it is attached.
    pub mode: AttachMode,
    /// What was not as it could have been.
    pub notes: Vec<Finding>,
    /// Programs of others that were taken off for it; the user has been told.
    pub replaced: Vec<Finding>,
}

/// Attaches the program: in the driver where that is known to redirect or nothing is known, else in the stack.
///
/// # Errors
/// When it can be attached in no mode that is allowed.
pub fn attach(
    modes: Modes,
    facts: &InterfaceFacts,
    mut program: RxProgram,
    interrupt: &Interrupt,
) -> Result<Attached, Failure> {
    let place = Place::new(facts, modes.replace, interrupt);
    let (mut notes, mut replaced) = (Vec::new(), Vec::new());
    for mode in modes_to_try(modes.xdp, facts) {
        match patiently(place, &mut replaced, || program.attach(facts.ifindex, &facts.name, mode)) {
            Ok(()) => {
                if mode == AttachMode::Generic && modes.xdp == XdpChoice::Auto && notes.is_empty() {
                    notes.push(generic(facts, &no_redirect(facts)));
                }
                return Ok(Attached { program, mode, notes, replaced });
            }
            Err(finding) if mode == AttachMode::Native && falls_back(modes.xdp, &finding) => {
                notes.push(generic(facts, &finding.what));
            }
            Err(finding) => return Err(finding.into()),
        }
    }
    Err(Finding::new(Code::NativeRefused, Severity::Fail, facts.name.clone(), "no XDP mode is left to try")
        .into())
}

fn modes_to_try(choice: XdpChoice, facts: &InterfaceFacts) -> Vec<AttachMode> {
    // Where the kernel does not tell, the table may know; where it claims to redirect, it is tried, and
    // watched.
    let redirects = match facts.xdp_features {
        Some(features) => features.contains(XdpFeatures::REDIRECT),
        None => useless(facts).is_none(),
    };
    match choice {
        XdpChoice::Native => vec![AttachMode::Native],
        XdpChoice::Generic => vec![AttachMode::Generic],
        XdpChoice::Auto if redirects => vec![AttachMode::Native, AttachMode::Generic],
        XdpChoice::Auto => vec![AttachMode::Generic],
    }
}

fn useless(facts: &InterfaceFacts) -> Option<String> {
    facts.driver.as_deref().and_then(drivers::note)?.useless()
}

fn no_redirect(facts: &InterfaceFacts) -> String {
    useless(facts).unwrap_or_else(|| "the driver does not advertise redirect to AF_XDP".to_owned())
}

/// An interface that someone else holds, or a missing privilege, is not mended by another mode.
fn falls_back(choice: XdpChoice, finding: &Finding) -> bool {
    choice == XdpChoice::Auto
        && !matches!(finding.code, Code::XdpOccupied | Code::CapabilityMissing | Code::InterfaceGone)
}

fn generic(facts: &InterfaceFacts, why: &str) -> Finding {
    let driver = facts.driver.as_deref().unwrap_or("the driver");
    let on = format!("{} ({driver})", facts.name);
    Finding::new(Code::GenericXdp, Severity::Warn, on, "generic XDP is used")
        .why(format!(
            "{why}; frames take the way through socket buffers, so a figure is the stack's, not the NIC's"
        ))
        .remedy("--xdp-mode native to insist; a driver with native XDP for the NIC's own figure")
}

/// Ports of the sink, one a seat.
pub struct Ports {
    /// The ports.
    pub ports: Vec<XskRx>,
    /// The mode of their sockets.
    pub mode: XskModeUsed,
    /// What they have.
    pub memory: Memory,
    /// What was not as it could have been.
    pub notes: Vec<Finding>,
}

/// Opens a socket a seat and tells the program of it.
///
/// # Errors
/// When a socket cannot be had in any mode that is allowed.
pub fn bind(wanted: &Wanted<'_>, seats: &[Seat], attached: &mut Attached) -> Result<Ports, Failure> {
    let mut wanted = wanted.clone();
    if attached.mode == AttachMode::Generic && wanted.modes.xsk == XskChoice::Auto {
        // Zero-copy needs the program in the driver.
        wanted.modes.xsk = XskChoice::Copy;
    }
    let Sockets { opened, mode, memory, notes } = sockets::open(&wanted, seats)?;
    let mut ports = Vec::with_capacity(opened.len());
    for (opened, seat) in opened.into_iter().zip(seats) {
        let mut port = opened.into_rx().map_err(|error| unfilled(wanted.iface, *seat, &error))?;
        if let Some(budget) = wanted.modes.busy_poll {
            sockets::prefer_busy_poll(wanted.iface, port.fd(), budget)?;
            port.busy_polling(true);
        }
        port.stamped(attached.program.stamps().then(machine::monotonic_offset_ns));
        attached.program.set_socket(seat.queue, &port.fd())?;
        ports.push(port);
    }
    Ok(Ports { ports, mode, memory, notes })
}

fn unfilled(iface: &str, seat: Seat, error: &xsk::OpenError) -> Finding {
    Finding::new(Code::NoMemory, Severity::Fail, format!("{iface} queue {}", seat.queue), error.to_string())
        .why("every chunk must be on the fill ring before frames arrive")
        .remedy("fewer chunks with --frames")
}

/// How the program of a sink is attached, as the Report has it.
pub const fn mode_used(mode: AttachMode) -> XdpModeUsed {
    match mode {
        AttachMode::Native => XdpModeUsed::Native,
        AttachMode::Generic => XdpModeUsed::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(driver: &str, features: Option<XdpFeatures>) -> Vec<AttachMode> {
        let facts = InterfaceFacts {
            driver: Some(driver.to_owned()),
            xdp_features: features,
            ..crate::host::fixture::facts("eth0", 2)
        };
        modes_to_try(XdpChoice::Auto, &facts)
    }

    #[test]
    fn a_driver_known_to_drop_redirects_is_not_tried_unless_its_kernel_claims_otherwise() {
        let native = vec![AttachMode::Native, AttachMode::Generic];
        assert_eq!(auto("ixgbevf", None), vec![AttachMode::Generic]);
        assert_eq!(auto("ixgbevf", Some(XdpFeatures::BASIC)), vec![AttachMode::Generic]);
        assert_eq!(auto("ixgbevf", Some(XdpFeatures::BASIC | XdpFeatures::REDIRECT)), native.clone());
        assert_eq!((auto("unheard-of", None), auto("hv_netvsc", None)), (native.clone(), native));
        assert_eq!(auto("unheard-of", Some(XdpFeatures::BASIC)), vec![AttachMode::Generic]);
    }
}
