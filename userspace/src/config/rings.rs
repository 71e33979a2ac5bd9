//! Sizes of rings, packet memory and batches, made valid against each other.

use super::ConfigError;
use super::number::Whole;
use crate::units::{FrameSize, grouped};

/// Ring and packet memory sizes that were asked for; None leaves them to the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rings {
    /// Entries of the transmit or receive ring of each queue: a power of two.
    pub ring: Option<u32>,
    /// Chunks of packet memory a queue; at least as many as ring entries.
    pub frames: Option<u32>,
    /// Whether packet memory lies in huge pages.
    pub hugepages: bool,
}

/// Entries of a transmit ring when none are asked for: the kernel's own default for a producer ring
/// (`XSK_RING_PROD__DEFAULT_NUM_DESCS`); a longer one adds latency, not rate.
pub const DEFAULT_TX_RING: u32 = 2_048;
/// Entries of a receive ring when none are asked for: at 10 Mpps 0.8 ms of a descheduled receiver.
pub const DEFAULT_RX_RING: u32 = 8_192;
/// Frames a turn when nothing is asked for, as in DPDK's and the kernel's own examples: larger ones gain little
/// and make bursts.
pub const DEFAULT_BATCH: u32 = 64;

/// Documented limit: four rings of 65,536 entries are already 4 MiB a queue, which no cache holds.
const RING: Whole = Whole {
    flag: "--ring",
    least: 1,
    most: 65_536,
    why: "longer rings do not fit a core's cache",
    remedy: "--ring 2048, or another power of two",
};

/// Documented limit: 4,194,303 chunks of 4,096 bytes are 16 GiB a queue.
const FRAMES: Whole = Whole {
    flag: "--frames",
    least: 1,
    most: (1 << 22) - 1,
    why: "packet memory is counted in chunks a queue, 16 GiB at the most",
    remedy: "--frames 16384, or leave it out",
};

const BATCH: Whole = Whole {
    flag: "--batch",
    least: 1,
    most: 65_536,
    why: "a turn moves at least one frame, and at most a ring of them",
    remedy: "--batch 64",
};

impl Rings {
    /// Entries of a ring: those asked for, else `default`, but no more than there are chunks to fill.
    #[must_use]
    pub fn entries(&self, default: u32) -> u32 {
        let filled = self.frames.map_or(default, |chunks| 1 << chunks.max(1).ilog2());
        self.ring.unwrap_or(default.min(filled))
    }

    /// Sizes as typed.
    ///
    /// # Errors
    /// A ring that is no power of two or out of limits; fewer chunks than ring entries.
    pub fn validate(ring: Option<&str>, frames: Option<&str>, hugepages: bool) -> Result<Self, ConfigError> {
        let ring = ring.map(validate_ring).transpose()?;
        let chunks = frames.map(|text| FRAMES.read_u32(text)).transpose()?;
        match (ring, chunks, frames) {
            (Some(ring), Some(chunks), Some(text)) if chunks < ring => Err(too_few_chunks(text, ring)),
            _ => Ok(Self { ring, frames: chunks, hugepages }),
        }
    }

    /// Whether a ring (see [`Rings::entries`]) holds at least one frame of the size that is to be sent: each chunk of a
    /// frame takes an entry.
    ///
    /// # Errors
    /// A ring that is shorter, or fewer chunks.
    pub fn validate_for(&self, size: FrameSize, default: u32) -> Result<(), ConfigError> {
        let (ring, chunks) = (self.entries(default), size.chunks());
        if ring >= chunks {
            return Ok(());
        }
        let least = chunks.next_power_of_two();
        let (flag, given) = match self.ring {
            Some(ring) => (RING.flag, ring),
            None => (FRAMES.flag, self.frames.unwrap_or(ring)),
        };
        let size = grouped(size.with_fcs().into());
        let what =
            format!("a frame of {size} bytes takes {chunks} chunks, and a ring of {ring} does not hold it");
        Err(ConfigError::new(
            flag,
            &given.to_string(),
            what,
            format!("{flag} {least} or more, or leave it out"),
        ))
    }
}

fn validate_ring(text: &str) -> Result<u32, ConfigError> {
    let ring = RING.read_u32(text)?;
    if ring.is_power_of_two() {
        return Ok(ring);
    }
    let (below, above) = (ring.next_power_of_two() / 2, ring.next_power_of_two());
    let what = "the kernel takes powers of two only, since entries are found by a mask";
    Err(ConfigError::new(RING.flag, text, what, format!("--ring {below} or --ring {above}")))
}

fn too_few_chunks(text: &str, ring: u32) -> ConfigError {
    let what = format!("a ring of {ring} entries needs as many chunks to be full");
    ConfigError::new(FRAMES.flag, text, what, format!("--frames {ring} or more, or leave it out"))
}

/// Frames a turn at the most; without a text 64, or the ring where that is shorter.
///
/// # Errors
/// Zero, or more than the ring (see [`Rings::entries`]) holds.
pub fn validate_batch(text: Option<&str>, rings: &Rings, default_ring: u32) -> Result<u32, ConfigError> {
    let ring = rings.entries(default_ring);
    let Some(text) = text else { return Ok(DEFAULT_BATCH.min(ring)) };
    let batch = BATCH.read_u32(text)?;
    if batch > ring {
        let what = format!("the ring has {ring} entries, so a turn cannot move more");
        let remedy = format!("--batch {ring} or less, or a longer --ring");
        return Err(ConfigError::new(BATCH.flag, text, what, remedy));
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_powers_of_two() {
        let ring = |text| Rings::validate(Some(text), None, false);
        assert_eq!(ring("65536").map(|r| r.ring), Ok(Some(65_536)));
        assert!(ring("1000").unwrap_err().remedy.contains("--ring 512 or --ring 1024"));
        for text in ["0", "131072", "-8", "4k"] {
            assert_eq!(ring(text).unwrap_err().flag, format!("--ring {text}"));
        }
    }

    #[test]
    fn packet_memory_fills_the_ring() {
        assert!(Rings::validate(Some("2048"), Some("2048"), true).is_ok());
        assert!(
            Rings::validate(Some("2048"), Some("2047"), true).unwrap_err().remedy.contains("--frames 2048")
        );
        assert!(Rings::validate(None, Some("4194303"), false).is_ok());
        for text in ["0", "4194304"] {
            assert!(Rings::validate(None, Some(text), false).is_err());
        }
    }

    #[test]
    fn a_ring_holds_a_frame_of_the_size() {
        let of = |ring, frames, size| {
            let rings = Rings { ring, frames, hugepages: false };
            rings.validate_for(FrameSize::new(size).unwrap(), DEFAULT_TX_RING)
        };
        assert_eq!(of(None, None, 16_384), Ok(()));
        assert_eq!(of(Some(1), Some(1), 3_844), Ok(()));
        assert_eq!((of(Some(2), None, 7_684), of(Some(4), Some(4), 9_018)), (Ok(()), Ok(())));
        let short = of(Some(2), Some(64), 9_018).unwrap_err();
        assert_eq!(short.flag, "--ring 2");
        assert!(short.what.contains("3 chunks") && short.remedy.contains("--ring 4"), "{short:?}");
        // Three chunks fill a ring of two.
        let few = of(None, Some(3), 9_018).unwrap_err();
        assert!(few.flag == "--frames 3" && few.remedy.contains("--frames 4"), "{few:?}");
    }

    #[test]
    fn a_batch_fits_the_ring() {
        let short = Rings { ring: Some(32), ..Rings::default() };
        assert_eq!(validate_batch(None, &short, DEFAULT_TX_RING), Ok(32));
        assert_eq!(validate_batch(None, &Rings::default(), DEFAULT_TX_RING), Ok(64));
        assert_eq!(validate_batch(Some("2048"), &Rings::default(), DEFAULT_TX_RING), Ok(2_048));
        assert!(
            validate_batch(Some("33"), &short, DEFAULT_TX_RING).unwrap_err().remedy.contains("--batch 32")
        );
        let few = Rings { frames: Some(48), ..Rings::default() };
        assert_eq!(validate_batch(None, &few, DEFAULT_TX_RING), Ok(32), "48 chunks fill a ring of 32");
        assert!(validate_batch(Some("33"), &few, DEFAULT_TX_RING).is_err());
        assert!(validate_batch(Some("2049"), &Rings::default(), DEFAULT_TX_RING).is_err());
        assert!(validate_batch(Some("0"), &Rings::default(), DEFAULT_TX_RING).is_err());
    }
}
