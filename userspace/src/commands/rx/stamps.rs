//! Who takes the times at which frames arrive: the XDP program, the NIC through it where its driver offers that, or nobody.
//! Decides which program is loaded, and says afterwards what came of it.

use super::attach::Attached;
use crate::config::{Role, RxConfig, TimestampChoice};
use crate::finding::{Code, Finding, Severity};
use crate::host::{InterfaceFacts, RxMetadata};
use crate::report::{TimestampSource, Timestamps};
use crate::xdp::{AttachMode, QueueCounters, RxOptions, RxProgram};

/// Whether frames are stamped at all.
pub fn stamps(config: &RxConfig) -> bool {
    unstamped(config).is_none()
}

/// Why no frame is.
fn unstamped(config: &RxConfig) -> Option<&'static str> {
    match config.timestamps {
        _ if config.count_only => Some("--count-only counts in the XDP program and times no frame"),
        _ if config.role == Role::Reflector => Some("a reflector sends back the frame alone"),
        TimestampChoice::Off => Some("--timestamps off"),
        _ => None,
    }
}

/// Why the NIC is not asked for times.
fn not_asked(choice: TimestampChoice, facts: &InterfaceFacts) -> Option<String> {
    let driver = facts.driver.as_deref().unwrap_or("the driver");
    match (choice, facts.rx_metadata) {
        (TimestampChoice::Xdp | TimestampChoice::Off, _) => Some("--timestamps xdp".to_owned()),
        // Never by trying: what a driver does not advertise may succeed and mean nothing.
        (_, None) => {
            Some(format!("the kernel does not tell whether {driver} gives receive times to XDP programs"))
        }
        (_, Some(metadata)) if !metadata.contains(RxMetadata::TIMESTAMP) => {
            Some(format!("{driver} does not advertise receive times for XDP programs"))
        }
        (TimestampChoice::Auto, _) if driver == "veth" => Some(
            "veth hands on the times of other NICs, and has none of its own; --timestamps nic asks for them"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The program, with one that asks the driver beside it where that is to be had.
///
/// # Errors
/// What stands in the way of either; of the second only where it is demanded.
pub fn load(config: &RxConfig, facts: &InterfaceFacts, options: &RxOptions) -> Result<RxProgram, Finding> {
    let demanded = config.timestamps == TimestampChoice::Nic;
    if !stamps(config) {
        return RxProgram::load(options);
    }
    match not_asked(config.timestamps, facts) {
        None => RxProgram::load_with_metadata(options, facts.ifindex),
        Some(why) if demanded => Err(absent(facts, Severity::Fail, "times of the NIC cannot be had", why)),
        Some(_) => RxProgram::load(options),
    }
}

/// What is said once the program is attached, where the NIC was to be asked and cannot be.
///
/// # Errors
/// It was demanded.
pub fn check(
    config: &RxConfig,
    facts: &InterfaceFacts,
    attached: &Attached,
) -> Result<Option<Finding>, Finding> {
    if config.timestamps == TimestampChoice::Nic && !attached.program.reads_metadata() {
        let why = not_read(attached);
        return Err(absent(facts, Severity::Fail, "times of the NIC cannot be had", why));
    }
    let refused = attached.program.metadata_refused();
    Ok(refused.map(|_| {
        let what = "the driver offers receive times, and the program that asks for them was refused";
        absent(facts, Severity::Info, what, not_read(attached))
    }))
}

/// Why the program that is attached does not ask the driver, although that was wanted.
fn not_read(attached: &Attached) -> String {
    match attached.program.metadata_refused() {
        Some(refused) => format!("the program bound to the device was refused: {refused}"),
        None => "generic XDP does not know what the NIC knows".to_owned(),
    }
}

/// No frame bore a time of the NIC, although they were demanded.
pub fn none_came(
    config: &RxConfig,
    facts: &InterfaceFacts,
    attached: &Attached,
    xdp: &QueueCounters,
) -> Option<Finding> {
    let demanded = config.timestamps == TimestampChoice::Nic && attached.program.reads_metadata();
    (demanded && xdp.redirected > 0 && timed(xdp) == 0).then(|| {
        let what = format!("none of {} frames bore a time of the NIC", xdp.redirected);
        absent(
            facts,
            Severity::Warn,
            what,
            "the device takes no times now, or has none to give: veth has those of other NICs alone",
        )
    })
}

fn absent(
    facts: &InterfaceFacts,
    severity: Severity,
    what: impl Into<String>,
    why: impl Into<String>,
) -> Finding {
    let on = &facts.name;
    Finding::new(Code::NicTimesAbsent, severity, on.clone(), what).why(why).remedy(match severity {
        Severity::Warn => format!("`hwstamp_ctl -i {on} -r 1` (of linuxptp) where `ethtool -T {on}` lists hardware-receive and the filter all"),
        Severity::Info => "nothing has to be done; --timestamps xdp does not try it".to_owned(),
        Severity::Fail => "leave --timestamps out: the XDP program takes the times then".to_owned(),
    })
}

/// Frames that bore a time of the NIC.
const fn timed(xdp: &QueueCounters) -> u64 {
    xdp.redirected.saturating_sub(xdp.untimed)
}

/// Who took the times of a run.
pub fn used(
    config: &RxConfig,
    facts: &InterfaceFacts,
    attached: &Attached,
    xdp: &QueueCounters,
) -> Timestamps {
    let of = |source, why: String| Timestamps { source, why };
    if let Some(why) = unstamped(config) {
        return of(TimestampSource::None, why.to_owned());
    }
    if attached.program.reads_metadata() {
        let source = if timed(xdp) > 0 { TimestampSource::Nic } else { TimestampSource::Xdp };
        return of(source, format!("{} of {} frames bore a time of the NIC", timed(xdp), xdp.redirected));
    }
    let generic = (attached.mode == AttachMode::Generic).then(|| not_read(attached));
    let why = not_asked(config.timestamps, facts).or(generic).unwrap_or_else(|| not_read(attached));
    of(TimestampSource::Xdp, why)
}

/// Counters that only the program has which asks the driver.
pub fn counters(attached: &Attached, xdp: &QueueCounters) -> Vec<(String, u64)> {
    let named = [("xdp.rx_hashed", xdp.hashed), ("xdp.rx_timestamp_absent", xdp.untimed)];
    let read = attached.program.reads_metadata();
    named.into_iter().filter(|_| read).map(|(name, n)| (name.to_owned(), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture;

    fn why(choice: TimestampChoice, driver: &str, rx_metadata: Option<RxMetadata>) -> Option<String> {
        let driver = Some(driver.to_owned());
        not_asked(choice, &InterfaceFacts { driver, rx_metadata, ..fixture::facts("e0", 2) })
    }

    #[test]
    fn the_nic_is_asked_where_its_driver_advertises_times_and_veth_on_demand() {
        use TimestampChoice::{Auto, Nic, Xdp};
        let all = Some(RxMetadata::all());
        assert_eq!((why(Auto, "mlx5_core", all), why(Nic, "mlx5_core", all)), (None, None));
        assert!(why(Xdp, "mlx5_core", all).is_some());
        assert!(why(Auto, "veth", all).unwrap().contains("other NICs") && why(Nic, "veth", all).is_none());
        for choice in [Auto, Nic] {
            assert!(why(choice, "tun", None).unwrap().contains("does not tell"));
            let without = why(choice, "tun", Some(RxMetadata::HASH)).unwrap();
            assert!(without.contains("tun does not advertise"), "{without}");
        }
    }

    #[test]
    fn frames_without_a_time_are_told_from_those_with_one() {
        let xdp = QueueCounters { redirected: 10, untimed: 4, ..QueueCounters::default() };
        assert_eq!(timed(&xdp), 6);
        let finding = absent(&fixture::facts("e0", 2), Severity::Warn, "none", "off");
        assert_eq!(finding.code, Code::NicTimesAbsent);
        assert!(finding.remedy.contains("hwstamp_ctl -i e0"), "{finding}");
    }
}
