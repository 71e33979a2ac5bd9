//! The streams of a sender as they were chosen: headers, lengths, what varies, and how often each takes its turn.
//! Valid in themselves; addresses that nobody stated are the run's own. Knows no text and no interface.

use super::{Addressing, ConfigError, Headers};
use crate::frame::FrameError;
use crate::frame::formula::Modifier;
use crate::frame::layer::Layer;
use crate::frame::layout::{Defaults, Layout, compile};
use crate::frame::probe::Way;
use crate::frame::sizes::Sizes;
use crate::frame::{Shape, headers, mix, probe};
use crate::units::{FrameSize, MeanSize};
use std::ops::Range;

/// Streams of one sender at the most: what START tells of them must fit a frame that every link carries.
pub const MAX_STREAMS: usize = 64;

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPlan {
    /// Its name, distinct within the set.
    pub name: String,
    /// How often it takes its turn, beside the others' weights.
    pub weight: u32,
    /// Frame lengths, FCS included.
    pub sizes: Sizes,
    /// Flows over all workers: 1 or more.
    pub flows: u32,
    /// Headers, outermost first.
    pub layers: Vec<Layer>,
    /// Fields that differ from frame to frame.
    pub modifiers: Vec<Modifier>,
}

/// The streams of a sender, at least one; some weight is not zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSet {
    streams: Vec<StreamPlan>,
    /// What their series were named by.
    seed: u64,
}

impl StreamPlan {
    /// Where everything lies in its frames, with made-up addresses for those that are open.
    ///
    /// # Errors
    /// Headers that cannot be.
    pub fn layout(&self) -> Result<Layout, FrameError> {
        self.layout_to(None)
    }

    /// The same in a run to that UDP port.
    fn layout_to(&self, port: Option<u16>) -> Result<Layout, FrameError> {
        let open = Defaults::BENCHMARK;
        Ok(compile(&self.layers, &Defaults { dst_port: port.unwrap_or(open.dst_port), ..open })?)
    }

    /// Whether each of its frames has room for a probe.
    #[must_use]
    pub fn numbered(&self) -> bool {
        let shortest = self.sizes.bounds().0.in_memory();
        self.layout().is_ok_and(|layout| shortest >= layout.probe() + probe::LEN)
    }

    /// By what a sink knows its frames in a run to `port`, and the checksums that hold in them; None where they have no
    /// probe.
    #[must_use]
    pub fn shape(&self, port: Option<u16>) -> Option<Shape> {
        let mut layout = self.layout_to(port).ok().filter(|_| self.numbered())?;
        let bits = self.modified(&layout);
        let set = |at: usize| (at * 8..at * 8 + 16).any(|bit| bits.iter().any(|range| range.contains(&bit)));
        layout.lengths.retain(|length| !set(length.at));
        layout.sums.retain(|sum| !set(sum.at));
        Some(Shape::of(&layout, |bit| bits.iter().any(|range| range.contains(&bit))))
    }

    /// The bits that modifiers write.
    fn modified(&self, layout: &Layout) -> Vec<Range<usize>> {
        let fields = self.modifiers.iter().filter_map(|modifier| layout.field(&modifier.field));
        fields.map(|field| field.bit..field.bit + field.bits).collect()
    }

    /// Whether every sink that takes UDP to `port` knows its frames without being told.
    fn is_plain(&self, shape: &Shape, port: Option<u16>) -> bool {
        let Ok(layout) = self.layout_to(port) else { return false };
        let mut frame = layout.header.clone();
        frame.extend(probe::MAGIC.to_be_bytes());
        let found =
            headers::locate(&frame, port, Way::Forth).is_some_and(|found| found.probe == layout.probe());
        // What a sink looks at must be the same in each frame.
        found && shape.checks == Shape::of(&layout, |_| false).checks && shape.sums.len() == layout.sums.len()
    }

    /// VLAN ids behind the outermost Ethernet header, outermost first.
    #[must_use]
    pub fn vlans(&self) -> Vec<u16> {
        let tag = |layer: &Layer| if let Layer::Vlan(tag) = layer { Some(tag.id) } else { None };
        self.layers.iter().skip(1).map_while(tag).collect()
    }
}

impl StreamSet {
    /// A set of streams; None where there is none, or none that ever takes its turn.
    #[must_use]
    pub fn new(streams: Vec<StreamPlan>) -> Option<Self> {
        streams.iter().any(|stream| stream.weight > 0).then_some(Self { streams, seed: 0 })
    }

    /// The one stream of a run without a word about its headers.
    #[must_use]
    pub fn plain(address: &Addressing, sizes: Sizes, flows: u32) -> Self {
        Self::one(Headers::default().layers(address), sizes, flows)
    }

    /// The one stream that flags make.
    #[must_use]
    pub fn one(layers: Vec<Layer>, sizes: Sizes, flows: u32) -> Self {
        let (name, modifiers) = ("stream-1".to_owned(), Vec::new());
        let streams = vec![StreamPlan { name, weight: 1, sizes, flows, layers, modifiers }];
        Self { streams, seed: 0 }
    }

    /// The same streams, whose series were named by `seed`.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// What names the series of everything random in the run; 0 unless it was stated.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The streams, by number.
    #[must_use]
    pub fn streams(&self) -> &[StreamPlan] {
        &self.streams
    }

    /// The first one, from whose headers those of the control frames are taken.
    #[must_use]
    pub fn first(&self) -> Option<&StreamPlan> {
        self.streams.first()
    }

    /// Whose turn it is, place by place.
    #[must_use]
    pub fn pattern(&self) -> Vec<u16> {
        mix::pattern(&self.streams.iter().map(|stream| stream.weight).collect::<Vec<_>>())
    }

    /// The shortest and the longest frame.
    #[must_use]
    pub fn bounds(&self) -> (FrameSize, FrameSize) {
        let of = |stream: &StreamPlan| stream.sizes.bounds();
        let shortest = self.streams.iter().map(|stream| of(stream).0).min().unwrap_or(FrameSize::MIN);
        (shortest, self.streams.iter().map(|stream| of(stream).1).max().unwrap_or(FrameSize::MIN))
    }

    /// The one length, where all frames have the same.
    #[must_use]
    pub fn fixed_size(&self) -> Option<FrameSize> {
        let (shortest, longest) = self.bounds();
        (shortest == longest).then_some(shortest)
    }

    /// The mean length of their frames, as their weights mix them.
    #[must_use]
    pub fn mean(&self) -> MeanSize {
        // Exact to a 65,536th of a byte, and small enough for rates of any link.
        const UNIT: u128 = 1 << 16;
        let (mut frames, mut bytes) = (0u128, 0u128);
        for stream in &self.streams {
            let (weight, mean) = (u128::from(stream.weight), stream.sizes.mean());
            frames += weight;
            bytes += weight * u128::from(mean.bytes) * UNIT / u128::from(mean.frames.max(1));
        }
        let mean = bytes / frames.max(1);
        match self.fixed_size() {
            Some(size) => size.into(),
            None => MeanSize { frames: UNIT as u64, bytes: u64::try_from(mean).unwrap_or(u64::MAX) },
        }
    }

    /// The shapes that a sink which takes UDP to `port` must be told: of the streams that are not plain. A sink that
    /// takes no UDP has said so, and is not told of plain streams over it either.
    #[must_use]
    pub fn shapes(&self, port: Option<u16>) -> Vec<Shape> {
        let port = port.or(Some(Defaults::BENCHMARK.dst_port));
        let told = |plan: &StreamPlan| plan.shape(port).filter(|shape| !plan.is_plain(shape, port));
        let mut shapes: Vec<Shape> = self.streams.iter().filter_map(told).collect();
        shapes.dedup();
        shapes
    }

    /// The same as they come back from a reflector.
    #[must_use]
    pub fn shapes_back(&self, port: Option<u16>) -> Vec<Shape> {
        let back = |plan: &StreamPlan| {
            let shape = plan.shape(port).filter(|shape| !plan.is_plain(shape, port))?;
            Some(shape.turned(&plan.layout_to(port).ok()?.header))
        };
        let mut shapes: Vec<Shape> = self.streams.iter().filter_map(back).collect();
        shapes.dedup();
        shapes
    }

    /// Flows of each stream.
    #[must_use]
    pub fn flows(&self) -> Vec<u32> {
        self.streams.iter().map(|stream| stream.flows).collect()
    }
}

/// Refuses streams that nobody could know when they come back.
///
/// # Errors
/// One whose shortest frame has no room for a probe.
pub fn validate_numbered(streams: &StreamSet) -> Result<(), ConfigError> {
    let unnumbered = |plan: &&StreamPlan| plan.weight > 0 && !plan.numbered();
    streams.streams().iter().find(unnumbered).map_or(Ok(()), |plan| {
        let what = format!(
            "the shortest frames of stream {} have no room for a probe, so none is known when it comes back",
            plan.name
        );
        Err(ConfigError::bare(
            "--round-trip",
            what,
            "a larger size, as --dry-run tells it; or leave --round-trip out",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(weight: u32, size: u32) -> StreamPlan {
        let size = Sizes::Fixed(FrameSize::new(size).unwrap());
        let plain = StreamSet::plain(&Addressing::default(), size, 1);
        StreamPlan { weight, ..plain.streams()[0].clone() }
    }

    #[test]
    fn the_mean_is_weighted() {
        let imix = StreamSet::new(vec![stream(7, 64), stream(4, 594), stream(1, 1518)]).unwrap();
        let mean = imix.mean();
        assert!((mean.bytes_a_frame() - 4342.0 / 12.0).abs() < 1e-4, "{mean:?}");
        let sizes = [(64, 7), (594, 4), (1518, 1)].into_iter();
        let sizes = sizes.flat_map(|(size, n)| std::iter::repeat_n(FrameSize::new(size).unwrap(), n));
        assert_eq!(Sizes::Pattern(sizes.collect()).mean(), MeanSize { frames: 12, bytes: 4342 });
        assert_eq!((imix.bounds().1.with_fcs(), imix.fixed_size()), (1518, None));
    }

    #[test]
    fn a_set_has_someone_whose_turn_it_is() {
        assert_eq!(StreamSet::new(vec![]), None);
        assert_eq!(StreamSet::new(vec![stream(0, 64)]), None);
    }

    #[test]
    fn a_stream_is_numbered_where_its_shortest_frame_holds_a_probe() {
        assert!(stream(1, 64).numbered());
        let vlan = Addressing { vlans: vec![1], ..Addressing::default() };
        let size = Sizes::Fixed(FrameSize::MIN);
        let bare = StreamSet::plain(&vlan, size.clone(), 1);
        assert!(!bare.streams()[0].numbered());
        assert!(
            validate_numbered(&bare).is_err()
                && validate_numbered(&StreamSet::plain(&Addressing::default(), size, 1)).is_ok()
        );
    }
}
