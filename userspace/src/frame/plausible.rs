//! Whether a control message can be one of a sender's: what it says ends in Reports and on terminals. Knows
//! no run.

use super::control::{Control, ControlError, End, Start};
use super::probe::MAX_SPACES;
use crate::units::FrameSize;
use macaddr::MacAddr6;

/// Streams of one sender at the most.
const MAX_STREAMS: usize = 64;
/// The mean of the longest frames.
const MAX_MEAN: f64 = FrameSize::MAX.with_fcs() as f64;
/// Longest name of a run.
const MAX_ID: usize = 64;
/// Longest plan.
const MAX_PLAN: usize = 200;

/// Refuses what no sender says.
///
/// # Errors
/// [`ControlError::Malformed`] naming the field.
pub fn check(control: Control) -> Result<Control, ControlError> {
    let wrong = match &control {
        Control::Start(start) => start_field(start),
        Control::End(end) => end_field(end),
        Control::Hello(_) | Control::Here(_) | Control::Heard | Control::Learn => None,
    };
    match wrong {
        Some(field) => Err(ControlError::Malformed(format!("{field} cannot be right"))),
        None => Ok(control),
    }
}

/// The field of a START that cannot be right.
fn start_field(start: &Start) -> Option<&'static str> {
    let is_mac = |text: &str| text.parse::<MacAddr6>().is_ok();
    let named =
        (1..=MAX_ID).contains(&start.id.len()) && start.id.bytes().all(|byte| byte.is_ascii_graphic());
    let plan = |plan: &String| {
        (1..=MAX_PLAN).contains(&plan.len())
            && plan.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    };
    let checks = [
        ("id", named),
        ("size_bytes", start.size_bytes.is_none_or(|size| FrameSize::new(size).is_some())),
        ("mean_bytes", (60.0..=MAX_MEAN).contains(&start.mean_bytes)),
        ("rate_pps", start.rate_pps.is_none_or(|rate| rate.is_finite() && rate >= 0.0)),
        ("burst", start.spacing.burst >= 1),
        ("plan", start.spacing.plan.as_ref().is_none_or(plan)),
        (
            "flows",
            (1..=MAX_STREAMS).contains(&start.flows.len()) && start.flows.iter().all(|flows| *flows > 0),
        ),
        ("spaces", (1..=MAX_SPACES).contains(&start.spaces)),
        ("src_mac", is_mac(&start.addresses.src_mac)),
        ("dst_mac", is_mac(&start.addresses.dst_mac)),
    ];
    checks.into_iter().find(|(_, right)| !right).map(|(field, _)| field)
}

/// The field of an END that cannot be right.
fn end_field(end: &End) -> Option<&'static str> {
    // As many as its spaces need, each of which is in one part.
    if end.part >= end.parts || usize::from(end.parts) > usize::from(MAX_SPACES).div_ceil(End::SPACES_A_PART)
    {
        return Some("part");
    }
    let all = end.spaces.iter().all(|total| total.space < MAX_SPACES && total.completed <= total.built);
    (!all).then_some("spaces")
}

#[cfg(test)]
mod tests {
    use super::super::addresses::Addresses;
    use super::super::control::SpaceTotal;
    use super::super::reference::v4_stack;
    use super::super::spacing::Spacing;
    use super::*;

    fn start() -> Start {
        Start {
            id: "3f2a-0007".to_owned(),
            started_unix_ns: 1,
            size_bytes: Some(64),
            mean_bytes: 64.0,
            rate_pps: None,
            spacing: Spacing::default(),
            count: None,
            duration_ns: None,
            flows: vec![1],
            spaces: 1,
            l3_offset: Some(14),
            seed: 0,
            batch: 64,
            verify: true,
            addresses: Addresses::of(&v4_stack()),
        }
    }

    #[test]
    fn a_start_with_a_field_that_no_sender_writes_is_refused() {
        type Spoil = fn(&mut Start);
        assert_eq!(check(Control::Start(start())), Ok(Control::Start(start())));
        let spoils: [Spoil; 13] = [
            |start| start.id = "\u{1b}[2J".to_owned(),
            |start| start.id = String::new(),
            |start| start.size_bytes = Some(0),
            |start| start.mean_bytes = f64::NAN,
            |start| start.rate_pps = Some(-1.0),
            |start| start.spacing.burst = 0,
            |start| start.spacing.plan = Some("\u{1b}[2J".to_owned()),
            |start| start.spacing.plan = Some("x".repeat(201)),
            |start| start.flows = vec![0],
            |start| start.flows = Vec::new(),
            |start| start.spaces = u16::MAX,
            |start| start.addresses.src_mac = "\u{1b}]0;x".to_owned(),
            |start| start.addresses.dst_mac = "x".repeat(400),
        ];
        for (case, spoil) in spoils.into_iter().enumerate() {
            let mut spoilt = start();
            spoil(&mut spoilt);
            assert!(check(Control::Start(spoilt)).is_err(), "{case}");
        }
    }

    #[test]
    fn an_end_that_contradicts_itself_is_refused() {
        let end = |part, completed| End {
            part,
            parts: 1,
            spaces: vec![SpaceTotal { space: 0, built: 5, completed }],
            device_drops: None,
            duration_ns: 1,
            age_ns: None,
            shortfall: None,
        };
        assert!(check(Control::End(end(0, 5))).is_ok());
        assert!(check(Control::End(end(1, 5))).is_err());
        assert!(check(Control::End(end(0, 6))).is_err());
    }
}
