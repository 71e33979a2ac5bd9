//! Frames of ours by their bytes alone, as the XDP program is told of them: `struct xsk_gen_shape`. Knows no header.

/// Shapes that can be told.
pub const MAX_SHAPES: usize = 128;
/// Half-word checks of one shape; of more the first ones are told.
pub const MAX_CHECKS: usize = 20;
/// Headers of a shape in bytes: a check beyond never holds, and no probe begins beyond.
pub const MAX_HEADER_BYTES: usize = 512;

/// Bytes of a check, of a shape, and of all shapes.
const CHECK_BYTES: usize = 8;
const SHAPE_BYTES: usize = 4 + MAX_CHECKS * CHECK_BYTES;
/// Length of the global in bytes.
pub const SHAPES_BYTES: usize = MAX_SHAPES * SHAPE_BYTES;

/// Two bytes in network order that have a value in each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// First byte.
    pub at: u16,
    /// The bits that count.
    pub mask: u16,
    /// Their value.
    pub value: u16,
}

/// Frames of one stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// What must hold besides the probe's magic.
    pub checks: Vec<Check>,
    /// First byte of the probe.
    pub probe: u16,
}

impl Shape {
    fn to_bytes(&self) -> Vec<u8> {
        let checks = self.checks.iter().take(MAX_CHECKS);
        let told = u16::try_from(checks.len()).unwrap_or(u16::MAX);
        let numbers = [self.probe, told].into_iter();
        let numbers = numbers.chain(checks.flat_map(|check| [check.at, check.mask, check.value, 0]));
        let mut bytes: Vec<u8> = numbers.flat_map(u16::to_ne_bytes).collect();
        bytes.resize(SHAPE_BYTES, 0);
        bytes
    }
}

/// `struct xsk_gen_shape[]`, which is the whole of its section; shapes beyond [`MAX_SHAPES`] are left out.
#[must_use]
pub fn shapes_to_bytes(shapes: &[Shape]) -> Vec<u8> {
    let mut bytes: Vec<u8> = shapes.iter().take(MAX_SHAPES).flat_map(Shape::to_bytes).collect();
    bytes.resize(SHAPES_BYTES, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_written_number_by_number_and_never_longer() {
        let check = Check { at: 0x0303, mask: 0x0404, value: 0x0505 };
        let shape = Shape { checks: vec![check], probe: 0x0101 };
        let bytes = shapes_to_bytes(&[shape.clone(), shape]);
        let told = 1_u16.to_ne_bytes();
        assert_eq!(bytes[..12], [1, 1, told[0], told[1], 3, 3, 4, 4, 5, 5, 0, 0]);
        assert_eq!(bytes[SHAPE_BYTES..SHAPE_BYTES + 12], bytes[..12]);
        let endless = Shape { checks: vec![check; 99], probe: 1 };
        let bytes = shapes_to_bytes(&vec![endless; 999]);
        assert_eq!(bytes.len(), SHAPES_BYTES);
        assert_eq!(bytes[2..4], 20_u16.to_ne_bytes());
    }
}
