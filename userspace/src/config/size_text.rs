//! Frame lengths as a person writes them: one, a list, a range, or an Internet mix. Knows no header: whether they
//! hold one is said where it is known.

use crate::frame::mix;
use crate::frame::sizes::Sizes;
use crate::units::{FrameSize, grouped};

/// The simple Internet mix, as traffic generators have it: 7 short, 4 middle, 1 long.
const IMIX: [(u32, u32); 3] = [(64, 7), (594, 4), (1_518, 1)];

/// Letters of a genome (RFC 6985, section 4); `z` is the MTU, which nobody but the user knows.
const GENOME: [(char, u32); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1_024),
    ('f', 1_280),
    ('g', 1_518),
    ('h', 2_112),
    ('i', 9_000),
    ('j', 16_000),
];

/// Lengths of one list at the most: a table that is kept for each worker.
pub const MAX_PATTERN: usize = mix::MAX_PATTERN as usize;

/// What is wrong with a length, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeFault {
    /// What is wrong.
    pub what: String,
    /// What to write.
    pub remedy: String,
}

impl SizeFault {
    /// A fault in words.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// What a person may write.
const FORMS: &str = "64, 64,512,1518 (a list), 64-1518 (a range), imix, or imix:aabg (RFC 6985)";

/// One length, FCS included.
///
/// # Errors
/// Shorter than Ethernet allows, or longer than any that is built.
pub fn frame_size(bytes: u64) -> Result<FrameSize, SizeFault> {
    let (least, most) = (FrameSize::MIN.with_fcs(), FrameSize::MAX.with_fcs());
    let size = u32::try_from(bytes).ok().and_then(FrameSize::new);
    size.ok_or_else(|| {
        if bytes < u64::from(least) {
            let what = "the size includes the 4-byte FCS, and 64 is the shortest Ethernet frame";
            return SizeFault::new(what, format!("{least} to {most}; 64 is 60 bytes in packet memory"));
        }
        let longest = grouped(most.into());
        SizeFault::new(
            format!("the longest frame has {longest} bytes with its FCS"),
            format!("{most} at the most"),
        )
    })
}

/// Lengths in any of the forms. `seed` names the series of a range, `mtu` is what `z` stands for in a genome.
///
/// # Errors
/// None of the forms, or a length that is none.
pub fn sizes_of(text: &str, seed: u64, mtu: Option<FrameSize>) -> Result<Sizes, SizeFault> {
    match text.split_once(':') {
        None if text == "imix" => weighted(&IMIX),
        Some(("imix", letters)) => genome(letters, mtu),
        _ => match text.split_once('-').filter(|(from, _)| !from.is_empty()) {
            Some((from, to)) => uniform(number(from)?, number(to)?, seed),
            None => pattern(&text.split(',').map(number).collect::<Result<Vec<_>, _>>()?),
        },
    }
}

fn number(text: &str) -> Result<FrameSize, SizeFault> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.trim() {
        text if !digits(text) => {
            Err(SizeFault::new("it is not a whole number, nor another form of sizes", FORMS))
        }
        // What is all digits and does not fit is too large.
        text => frame_size(text.parse().unwrap_or(u64::MAX)),
    }
}

/// Lengths in their order, again and again.
///
/// # Errors
/// None, or too many.
pub fn pattern(sizes: &[FrameSize]) -> Result<Sizes, SizeFault> {
    match sizes {
        [] => Err(SizeFault::new("a list of no sizes is no size", FORMS)),
        [size] => Ok(Sizes::Fixed(*size)),
        sizes if sizes.len() > MAX_PATTERN => Err(too_many(sizes.len())),
        sizes => Ok(Sizes::Pattern(sizes.to_vec())),
    }
}

fn too_many(count: usize) -> SizeFault {
    let (count, most) = (grouped(count as u64), grouped(mix::MAX_PATTERN));
    let what = format!("the pattern would have {count} frames before it repeats; at most {most}");
    SizeFault::new(what, "fewer sizes, or weights with a common divisor")
}

/// Uniform between both, each included.
///
/// # Errors
/// A range that begins above its end.
pub fn uniform(from: FrameSize, to: FrameSize, seed: u64) -> Result<Sizes, SizeFault> {
    ordered(from, to)?;
    Ok(Sizes::Uniform { from, to, seed })
}

/// From the one to the other in steps.
///
/// # Errors
/// A range that begins above its end.
pub fn sweep(from: FrameSize, to: FrameSize, step: u32) -> Result<Sizes, SizeFault> {
    ordered(from, to)?;
    Ok(Sizes::Sweep { from, to, step })
}

fn ordered(from: FrameSize, to: FrameSize) -> Result<(), SizeFault> {
    if from <= to {
        return Ok(());
    }
    let (from, to) = (from.with_fcs(), to.with_fcs());
    let what = format!("the range {from} to {to} begins above its end");
    Err(SizeFault::new(what, format!("{to} to {from}: the shorter one first")))
}

/// Each length as often as its weight says, spread evenly.
///
/// # Errors
/// A length that is none, no weight at all, or a pattern that would be too long.
pub fn weighted(sizes: &[(u32, u32)]) -> Result<Sizes, SizeFault> {
    let lengths = sizes.iter().map(|(size, _)| frame_size((*size).into())).collect::<Result<Vec<_>, _>>()?;
    let weights: Vec<u32> = sizes.iter().map(|(_, weight)| *weight).collect();
    let divisor = weights.iter().fold(0, |divisor, weight| gcd(divisor, *weight)).max(1);
    let total: u64 = weights.iter().map(|weight| u64::from(weight / divisor)).sum();
    if total > mix::MAX_PATTERN {
        return Err(too_many(usize::try_from(total).unwrap_or(usize::MAX)));
    }
    if total == 0 {
        return Err(SizeFault::new(
            "the weights sum up to 0, so no size ever comes",
            "a weight of 1 or more",
        ));
    }
    let order = mix::pattern(&weights);
    pattern(&order.iter().filter_map(|at| lengths.get(usize::from(*at)).copied()).collect::<Vec<_>>())
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The lengths of a genome, letter by letter (RFC 6985, section 4).
fn genome(letters: &str, mtu: Option<FrameSize>) -> Result<Sizes, SizeFault> {
    let of = |letter: char| match GENOME.iter().find(|(name, _)| *name == letter) {
        Some((_, bytes)) => frame_size((*bytes).into()),
        None if letter == 'z' => mtu.ok_or_else(|| {
            SizeFault::new(
                "z stands for the MTU, which is not stated",
                "imix without z, or z = 9018 beside it in a stream file",
            )
        }),
        None => {
            let what = format!("there is no letter '{}' in RFC 6985", letter.escape_default());
            Err(SizeFault::new(what, "letters from a (64) to j (16000), and z (the MTU), such as imix:aabg"))
        }
    };
    pattern(&letters.chars().map(of).collect::<Result<Vec<_>, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str) -> Vec<u32> {
        match sizes_of(text, 0, FrameSize::new(9_018)).unwrap() {
            Sizes::Pattern(sizes) => sizes.into_iter().map(FrameSize::with_fcs).collect(),
            Sizes::Fixed(size) => vec![size.with_fcs()],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_forms_are_what_they_say() {
        assert_eq!((lengths("64"), lengths("64,512, 1518")), (vec![64], vec![64, 512, 1518]));
        assert_eq!(lengths("imix:aabgz"), [64, 64, 128, 1518, 9018]);
        assert_eq!(lengths("imix:j"), [16_000]);
        let imix = lengths("imix");
        let count = |size| imix.iter().filter(|other| **other == size).count();
        assert_eq!((imix.len(), count(64), count(594), count(1518)), (12, 7, 4, 1));
        let (from, to) = (FrameSize::MIN, FrameSize::new(1518).unwrap());
        assert_eq!(sizes_of("64-1518", 7, None), Ok(Sizes::Uniform { from, to, seed: 7 }));
    }

    #[test]
    fn what_is_no_size_is_refused_with_a_reason() {
        let table = [
            ("", "not a whole number"),
            ("big", "not a whole number"),
            ("-1", "not a whole number"),
            ("64.0", "not a whole number"),
            ("64,", "not a whole number"),
            ("IMIX", "not a whole number"),
            ("63", "4-byte FCS"),
            ("99999999999999999999999", "16,384 bytes"),
            ("64,16385", "16,384 bytes"),
            ("1518-64", "begins above its end"),
            ("imix:", "a list of no sizes"),
            ("imix:ak", "no letter 'k'"),
        ];
        for (text, what) in table {
            let fault = sizes_of(text, 0, None).unwrap_err();
            assert!(fault.what.contains(what), "{text}: {fault:?}");
        }
        assert!(sizes_of("imix:az", 0, None).unwrap_err().what.contains("the MTU"));
        assert!(weighted(&[(64, 65_537), (65, 1)]).unwrap_err().what.contains("65,538 frames"));
        assert_eq!(weighted(&[(64, 0)]).unwrap_err().remedy, "a weight of 1 or more");
    }
}
