//! What is sent: frame size, rate, count and flows, made valid.

use super::ConfigError;
use super::headers::words;
use super::number::Whole;
use super::size_text::sizes_of;
use crate::frame::layer::Layer;
use crate::frame::layout::{Defaults, compile};
use crate::frame::probe;
use crate::frame::sizes::Sizes;
use crate::units::{FCS_BYTES, FrameSize, RATE_FORMS, RateSpec, grouped};

const FLAG_SIZE: &str = "--size";
const FLAG_RATE: &str = "--rate";

const COUNT: Whole = Whole {
    flag: "--count",
    least: 1,
    most: u64::MAX,
    why: "a run of no frames measures nothing",
    remedy: "--count 1000000, or leave it out",
};

const SEED: Whole = Whole {
    flag: "--seed",
    least: 0,
    most: u64::MAX,
    why: "a seed has 64 bits",
    remedy: "--seed 7, or leave it out for 0",
};

/// As many flows as the receiver keeps a highest sequence number for, so that reordering is judged inside a flow.
const FLOWS: Whole = Whole {
    flag: "--flows",
    least: 1,
    most: 65_536,
    why: "each frame belongs to a flow, and a sink follows 65,536 at the most",
    remedy: "--flows 1 (the default), or --flows 64 to spread over receive queues",
};

const RUN_TAG: Whole = Whole {
    flag: "--run-tag",
    least: 0,
    most: 65_535,
    why: "the tag has 16 bits in each frame",
    remedy: "--run-tag 7, or leave it out for a random one",
};

/// Lengths of the frames, FCS included, in any form that they are written in; without a text the least that holds
/// headers and probe. `seed` names the series of a range.
///
/// # Errors
/// None of the forms, below Ethernet's 64 bytes or what headers and probe need, or above [`FrameSize::MAX`].
pub fn validate_sizes(text: Option<&str>, layers: &[Layer], seed: u64) -> Result<Sizes, ConfigError> {
    let least = least_size(layers)?;
    let Some(text) = text else { return Ok(Sizes::Fixed(least)) };
    let sizes = sizes_of(text, seed, None).map_err(|fault| {
        ConfigError::new(FLAG_SIZE, text, fault.what, format!("{FLAG_SIZE} {}", fault.remedy))
    })?;
    if sizes.bounds().0 < least { Err(below_least(text, layers, least)) } else { Ok(sizes) }
}

/// The smallest frame that holds headers, probe and FCS, and that Ethernet allows.
fn least_size(layers: &[Layer]) -> Result<FrameSize, ConfigError> {
    let layout = compile(layers, &Defaults::BENCHMARK)
        .map_err(|error| ConfigError::bare("headers", error.to_string(), "fewer of them"))?;
    let bytes = u32::try_from(layout.header.len() + probe::LEN).unwrap_or(u32::MAX).saturating_add(FCS_BYTES);
    Ok(FrameSize::new(bytes).unwrap_or(FrameSize::MIN))
}

fn below_least(text: &str, layers: &[Layer], least: FrameSize) -> ConfigError {
    let (least, headers) = (least.with_fcs(), words(layers));
    let what = format!("{headers} with an 18-byte probe and the 4-byte FCS need {least} bytes");
    ConfigError::new(FLAG_SIZE, text, what, format!("{FLAG_SIZE} {least} or more"))
}

/// What names random series; None without a text.
///
/// # Errors
/// No number of 64 bits.
pub fn validate_seed(text: Option<&str>) -> Result<Option<u64>, ConfigError> {
    SEED.read_given(text)
}

/// The rate; without a text as fast as it goes.
///
/// # Errors
/// None of the known forms, zero, or above 100 % of the link.
pub fn validate_rate(text: Option<&str>) -> Result<RateSpec, ConfigError> {
    let Some(text) = text else { return Ok(RateSpec::Max) };
    let refuse = |what: String| ConfigError::new(FLAG_RATE, text, what, RATE_FORMS);
    match text.parse::<RateSpec>() {
        Ok(RateSpec::Percent(percent)) if percent.as_f64() > 100.0 => {
            Err(refuse("a link carries 100 % at the most".to_owned()))
        }
        Ok(rate) => Ok(rate),
        Err(e) => Err(refuse(e.to_string())),
    }
}

/// How many frames end the run; None without a text.
///
/// # Errors
/// Zero, or no number.
pub fn validate_count(text: Option<&str>) -> Result<Option<u64>, ConfigError> {
    COUNT.read_given(text)
}

/// Distinct pairs of source address and port; 1 without a text.
///
/// # Errors
/// Zero, above 65,536, no number, or more than one flow of frames that have neither address nor port.
pub fn validate_flows(text: Option<&str>, l2: bool, src_port: u16) -> Result<u32, ConfigError> {
    let Some(text) = text else { return Ok(1) };
    let flows = FLOWS.read_u32(text)?;
    if l2 && flows > 1 {
        let what = format!(
            "flows differ in IP address and port, and --l2 has neither, so {} cannot be told apart",
            grouped(flows.into())
        );
        return Err(ConfigError::new(FLOWS.flag, text, what, "leave out --l2, or --flows"));
    }
    let ports = 1 + u32::from(u16::MAX) - u32::from(src_port);
    if flows > ports && !l2 {
        let what =
            format!("each flow has a source port of its own, and from {src_port} on there are {ports}");
        return Err(ConfigError::new(
            FLOWS.flag,
            text,
            what,
            format!("--flows {ports} at the most, or a lower --src-port"),
        ));
    }
    Ok(flows)
}

/// The run's tag as it stands in each frame; None without a text.
///
/// # Errors
/// Above 65,535, or no number.
pub fn validate_run_tag(text: Option<&str>) -> Result<Option<u16>, ConfigError> {
    text.map(|text| RUN_TAG.read_u16(text)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Addressing, Headers};

    fn what<T: std::fmt::Debug>(result: Result<T, ConfigError>) -> String {
        result.unwrap_err().to_string()
    }

    fn size(text: Option<&str>, vlans: usize, ipv6: bool) -> Result<Sizes, ConfigError> {
        let address = Addressing { vlans: vec![1; vlans], ipv6, ..Addressing::default() };
        validate_sizes(text, &Headers::default().layers(&address), 0)
    }

    fn fixed(size: u32) -> Result<Sizes, ConfigError> {
        Ok(Sizes::Fixed(FrameSize::new(size).unwrap()))
    }

    #[test]
    fn sizes_below_ethernet_say_that_the_fcs_counts() {
        for text in ["0", "59", "60", "63"] {
            let message = what(size(Some(text), 0, false));
            assert!(message.starts_with(&format!("--size {text}: ")), "{message}");
            assert!(message.contains("4-byte FCS") && message.contains("64 to 16384"), "{message}");
        }
        let message = what(size(Some("16385"), 0, false));
        assert!(
            message.contains("16,384 bytes") && message.contains("--size 16384 at the most"),
            "{message}"
        );
        assert_eq!((size(Some("64"), 0, false), size(Some("16384"), 0, false)), (fixed(64), fixed(16_384)));
    }

    #[test]
    fn sizes_below_the_headers_say_the_minimum() {
        let message = what(size(Some("71"), 2, false));
        assert!(message.contains("need 72 bytes") && message.contains("two VLAN tags"), "{message}");
        assert_eq!(size(Some("72"), 2, false), fixed(72));
        assert!(what(size(Some("imix"), 0, true)).contains("need 84 bytes"));
        assert!(what(size(Some("68-70,71"), 2, false)).starts_with("--size 68-70,71: "));
    }

    #[test]
    fn the_least_size_is_the_sum_of_the_headers() {
        for (vlans, v4, v6) in [(0, 64, 84), (1, 68, 88), (2, 72, 92)] {
            assert_eq!((size(None, vlans, false), size(None, vlans, true)), (fixed(v4), fixed(v6)));
        }
    }

    #[test]
    fn rates_are_refused_with_the_forms() {
        assert_eq!(validate_rate(None), Ok(RateSpec::Max));
        assert!(validate_rate(Some("100%")).is_ok());
        for text in ["0pps", "101%", "100.000000001%", "10", "fast", "1.5bps"] {
            let message = what(validate_rate(Some(text)));
            assert!(
                message.starts_with(&format!("--rate {text}: ")) && message.contains("1.5Mpps"),
                "{message}"
            );
        }
    }

    #[test]
    fn flows_and_tags_have_limits() {
        assert_eq!(validate_flows(Some("65535"), false, 1), Ok(65_535));
        assert_eq!(validate_flows(Some("1"), true, 9), Ok(1));
        for (text, l2, src_port) in
            [("0", false, 1), ("65537", false, 1), ("2", true, 1), ("10", false, 65_533)]
        {
            assert!(what(validate_flows(Some(text), l2, src_port)).starts_with("--flows"));
        }
        assert_eq!(
            (validate_run_tag(Some("0")), validate_run_tag(Some("65535"))),
            (Ok(Some(0)), Ok(Some(65_535)))
        );
        assert!(what(validate_run_tag(Some("65536"))).contains("16 bits"));
        assert!(what(validate_count(Some("0"))).contains("--count 0"));
        assert_eq!(validate_count(Some("18446744073709551615")), Ok(Some(u64::MAX)));
        let message = what(validate_count(Some("18446744073709551616")));
        assert!(message.contains("too large; it takes 1 to 18,446,744,073,709,551,615"), "{message}");
    }
}
