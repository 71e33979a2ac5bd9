//! What a frame costs its sender, beside the port: nothing modified, four fields with their checksums, several
//! streams. Compare rows of one run only: `cargo bench --bench frame`.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "a bench may end at the first surprise")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use xsk_gen::engine::Feed;
use xsk_gen::frame::formula::{Formula, Modifier, Per};
use xsk_gen::frame::layer::{Ethernet, Ipv4, Layer, Udp};
use xsk_gen::frame::layout::Defaults;
use xsk_gen::frame::sizes::Sizes;
use xsk_gen::frame::{Place, Stream, StreamSpec};
use xsk_gen::port::{Slot, Source};
use xsk_gen::units::FrameSize;

/// Frames an iteration, over as many chunks: a batch that stays in the first cache.
const BATCH: u32 = 64;
const MIX: [u32; 12] = [64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64];

fn spec(modifiers: Vec<Modifier>, sizes: Sizes) -> StreamSpec {
    let layers =
        vec![Layer::Ethernet(Ethernet::default()), Layer::Ipv4(Ipv4::default()), Layer::Udp(Udp::default())];
    StreamSpec {
        layers,
        defaults: Defaults::BENCHMARK,
        modifiers,
        sizes,
        flows: 1,
        place: Place::ALONE,
        run: 1,
        clock: 1,
        verify: true,
    }
}

/// An address at random, a port that counts up, a time to live that counts down, a class from a list.
fn four_fields() -> Vec<Modifier> {
    let modifier = |field: &str, formula| Modifier { field: field.to_owned(), formula, per: Per::Frame };
    vec![
        modifier("ipv4.dst", Formula::Random { seed: 7, low: 0xC613_0000, span: 65_536 }),
        modifier("udp.src_port", Formula::Step { base: 1024, step: 1, count: 64_512 }),
        modifier("ipv4.ttl", Formula::Step { base: 64, step: u64::MAX, count: 32 }),
        modifier("ipv4.dscp", Formula::List(vec![0, 10, 46])),
    ]
}

fn feed(specs: &[StreamSpec]) -> Feed {
    let streams = specs.iter().map(|spec| Stream::new(spec).unwrap()).collect();
    Feed::new(streams, (0..specs.len() as u16).collect(), BATCH)
}

fn frames(c: &mut Criterion) {
    let fixed = || Sizes::Fixed(FrameSize::MIN);
    let imix = Sizes::Pattern(MIX.iter().map(|size| FrameSize::new(*size).unwrap()).collect());
    let cases = [
        ("constant", vec![spec(Vec::new(), fixed())]),
        ("four fields", vec![spec(four_fields(), fixed())]),
        ("four fields, imix", vec![spec(four_fields(), imix)]),
        ("two streams", vec![spec(four_fields(), fixed()), spec(Vec::new(), fixed())]),
    ];
    let mut group = c.benchmark_group("frame");
    group.throughput(Throughput::Elements(BATCH.into()));
    for (name, specs) in cases {
        let mut feed = feed(&specs);
        let mut chunks = vec![[0u8; 2048]; BATCH as usize];
        group.bench_function(name, |b| {
            b.iter(|| {
                for (slot, chunk) in (0..).zip(&mut chunks) {
                    let Some(len) = feed.next_len() else { continue };
                    if let Some(buf) = chunk.get_mut(..len) {
                        feed.write(Slot(slot), black_box(buf));
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
