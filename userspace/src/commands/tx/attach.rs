//! The sockets of a sender, and the program that some drivers want beside them.

use crate::commands::Failure;
use crate::commands::attaching::patiently;
use crate::commands::placement::Seat;
use crate::commands::sockets::{self, Sockets, Wanted};
use crate::config::{XdpChoice, XskChoice};
use crate::host::InterfaceFacts;
use crate::report::{XdpModeUsed, XskModeUsed};
use crate::xdp::{AttachMode, PassProgram};

/// A program that passes everything, and how it is attached.
pub struct Attached {
    /// The program.
    pub program: PassProgram,
    mode: AttachMode,
}

/// Opens the sockets. Zero-copy needs a program in the driver on most NICs (Intel's activate their XDP rings only
/// then; virtio and others refuse the first frame without), so one is attached for the try and taken off again where
/// copy mode, which needs none, is what can be had. A mode that was demanded is attached and stays.
///
/// # Errors
/// When a demanded mode, or no socket at all, can be had.
pub fn open(
    wanted: &Wanted<'_>,
    facts: &InterfaceFacts,
    seats: &[Seat],
) -> Result<(Sockets, Option<Attached>), Failure> {
    let demanded = match wanted.modes.xdp {
        XdpChoice::Auto => None,
        XdpChoice::Native => Some(AttachMode::Native),
        XdpChoice::Generic => Some(AttachMode::Generic),
    };
    let mut program = match demanded {
        Some(mode) => Some(attach(facts, mode)?),
        None if wanted.modes.xsk == XskChoice::ZeroCopy => Some(attach(facts, AttachMode::Native)?),
        None if tries_zero_copy(wanted) => attach(facts, AttachMode::Native).ok(),
        None => None,
    };
    let sockets = sockets::open(wanted, seats)?;
    if sockets.mode == XskModeUsed::Copy && demanded.is_none() {
        program = None;
    }
    Ok((sockets, program))
}

fn tries_zero_copy(wanted: &Wanted<'_>) -> bool {
    wanted.modes.xsk == XskChoice::Auto && wanted.zero_copy_advertised != Some(false)
}

fn attach(facts: &InterfaceFacts, mode: AttachMode) -> Result<Attached, Failure> {
    let mut program = PassProgram::load()?;
    patiently(|| program.attach(facts.ifindex, &facts.name, mode))?;
    Ok(Attached { program, mode })
}

/// How the program of a sender is attached.
pub fn mode_used(attached: Option<&Attached>) -> XdpModeUsed {
    match attached.map(|attached| attached.mode) {
        None => XdpModeUsed::None,
        Some(AttachMode::Native) => XdpModeUsed::Native,
        Some(AttachMode::Generic) => XdpModeUsed::Generic,
    }
}
