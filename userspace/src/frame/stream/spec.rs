//! What a stream is, as its sender chooses it. Knows no bytes.

use crate::frame::FrameError;
use crate::frame::formula::Modifier;
use crate::frame::layer::Layer;
use crate::frame::layout::Defaults;
use crate::frame::probe;
use crate::frame::sizes::Sizes;

/// What a stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// Headers, outermost first.
    pub layers: Vec<Layer>,
    /// What they leave open.
    pub defaults: Defaults,
    /// Fields that differ from frame to frame.
    pub modifiers: Vec<Modifier>,
    /// Frame lengths. Where the shortest does not hold a probe behind the headers, no frame has one.
    pub sizes: Sizes,
    /// Flows over all workers, see [`crate::frame::flow_of`].
    pub flows: u32,
    /// Whose frames they are.
    pub place: Place,
    /// Tag of the run.
    pub run: u16,
    /// Name of the clock that times are read from.
    pub clock: u16,
    /// Whether UDP checksums are computed. Without it the field is 0, "no checksum", over IPv4 (RFC 768);
    /// over IPv6 it is computed all the same, since receivers must discard 0 there (RFC 8200, section 8.1).
    /// The probe is always written: frames are recognised and counted by it.
    pub verify: bool,
}

/// One of a sender's workers, and one of its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The worker.
    pub worker: u16,
    /// How many workers there are.
    pub workers: u16,
    /// The stream.
    pub stream: u16,
    /// How many streams there are.
    pub streams: u16,
}

impl Place {
    /// The only stream of the only worker.
    pub const ALONE: Self = Self { worker: 0, workers: 1, stream: 0, streams: 1 };

    /// The number of its sequence space.
    ///
    /// # Errors
    /// A worker or stream that is none, or more spaces than a probe can name.
    pub fn space(self) -> Result<u16, FrameError> {
        let space = u32::from(self.worker) * u32::from(self.streams) + u32::from(self.stream);
        let spaces = u32::from(self.workers) * u32::from(self.streams);
        let right = self.worker < self.workers && self.stream < self.streams;
        match u16::try_from(space) {
            Ok(space) if right && spaces <= u32::from(probe::MAX_SPACES) => Ok(space),
            _ => Err(FrameError::Space { space, spaces }),
        }
    }
}
