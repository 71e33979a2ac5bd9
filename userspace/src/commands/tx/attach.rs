//! The sockets of a sender, and the program that some drivers want beside them.

use crate::commands::attaching::{Place, patiently};
use crate::commands::placement::Seat;
use crate::commands::sockets::{self, Sockets, Wanted};
use crate::commands::{Failure, Interrupt, refused_socket};
use crate::config::{XdpChoice, XskChoice};
use crate::finding::{Code, Finding, Severity};
use crate::host::InterfaceFacts;
use crate::report::{XdpModeUsed, XskModeUsed};
use crate::xdp::{AttachMode, PassProgram};
use crate::xsk::BindMode;

/// A program that passes everything, and how it is attached.
pub struct Attached {
    /// The program.
    pub program: PassProgram,
    mode: AttachMode,
}

/// Opens the sockets. Zero-copy needs a program in the driver on most NICs (Intel's activate their XDP rings
/// only then; virtio and others refuse the first frame without), so one is attached for the try and taken off
/// again where copy mode, which needs none, is what can be had. A mode that was demanded is attached and
/// stays. Programs of others that were taken off are noted in `replaced`; the user has been told.
///
/// # Errors
/// When a demanded mode, or no socket at all, can be had.
pub fn open(
    wanted: &Wanted<'_>,
    facts: &InterfaceFacts,
    seats: &[Seat],
    replaced: &mut Vec<Finding>,
    interrupt: &Interrupt,
) -> Result<(Sockets, Option<Attached>), Failure> {
    if let (XskChoice::ZeroCopy, Some(_)) = (wanted.modes.xsk, wanted.too_few_chunks) {
        let finding = refused_socket::no_multi_buffer(wanted, wanted.iface.to_owned(), BindMode::ZeroCopy);
        return Err(finding.into());
    }
    let demanded = match wanted.modes.xdp {
        XdpChoice::Auto => None,
        XdpChoice::Native => Some(AttachMode::Native),
        XdpChoice::Generic => Some(AttachMode::Generic),
    };
    let mut attach = |mode| attach(Place::new(facts, wanted.modes.replace, interrupt), facts, mode, replaced);
    let (mut program, held) = match demanded {
        Some(mode) => (Some(attach(mode)?), None),
        None if wanted.modes.xsk == XskChoice::ZeroCopy => (Some(attach(AttachMode::Native)?), None),
        None if tries_zero_copy(wanted) => match attach(AttachMode::Native) {
            Ok(attached) => (Some(attached), None),
            Err(refused) => (None, Some(refused).filter(|refused| refused.code == Code::XdpOccupied)),
        },
        None => (None, None),
    };
    let mut sockets = sockets::open(wanted, seats)?;
    if sockets.mode == XskModeUsed::Copy && demanded.is_none() {
        program = None;
        sockets.notes.extend(held.map(|refused| without_program(&refused)));
    }
    Ok((sockets, program))
}

fn tries_zero_copy(wanted: &Wanted<'_>) -> bool {
    wanted.modes.xsk == XskChoice::Auto && wanted.zero_copy_advertised != Some(false)
}

fn attach(
    place: Place<'_>,
    facts: &InterfaceFacts,
    mode: AttachMode,
    replaced: &mut Vec<Finding>,
) -> Result<Attached, Finding> {
    let mut program = PassProgram::load()?;
    patiently(place, replaced, || program.attach(facts.ifindex, &facts.name, mode))?;
    Ok(Attached { program, mode })
}

/// Copy mode, beside a program of someone else that may be why.
fn without_program(refused: &Finding) -> Finding {
    Finding::new(
        Code::CopyMode,
        Severity::Info,
        refused.on.clone(),
        "zero-copy was tried without an XDP program of ours",
    )
    .why(format!("most drivers offer it only with one, and the interface is held: {}", refused.what))
    .remedy("stop what holds the interface, or --replace to have it taken off")
}

/// How the program of a sender is attached.
pub fn mode_used(attached: Option<&Attached>) -> XdpModeUsed {
    match attached.map(|attached| attached.mode) {
        None => XdpModeUsed::None,
        Some(AttachMode::Native) => XdpModeUsed::Native,
        Some(AttachMode::Generic) => XdpModeUsed::Generic,
    }
}
