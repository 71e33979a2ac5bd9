//! The modifiers of a stream made ready for the sender's loop: by kind, with the bytes that each field lies in, no
//! division, and what it adds to which checksum. Knows no probe.

mod place;
mod value;

pub use place::covering;

use super::covers::Sums;
use super::formula::{Formula, Per};
use super::layout::{Field, Sum};
use super::remainder::Remainder;
use place::Place;
use value::{List, Random, Step, Value};
use xdp_prog::table::Row;

/// Prepared modifiers, no two of which write the same bits.
#[derive(Debug, Clone, Default)]
pub struct Patches {
    steps: Vec<Patch<Step>>,
    randoms: Vec<Patch<Random>>,
    lists: Vec<Patch<List>>,
}

/// A prepared modifier.
#[derive(Debug, Clone)]
struct Patch<V> {
    value: V,
    per: Per,
    place: Place,
}

impl Patches {
    /// Prepares `formula` for `field` of frames with these checksums. In `prefix` the field becomes zero, as the
    /// constant part of the checksums counts it; or what it is in each frame, where that is always the same.
    pub fn add(&mut self, field: &Field, formula: &Formula, per: Per, sums: &[Sum], prefix: &mut [u8]) {
        let place = Place::of(field, sums);
        place.put(0, prefix);
        match formula {
            Formula::Constant(value) => drop(place.put(*value, prefix)),
            Formula::Step { base, step, count } => {
                let value = Step { base: *base, step: *step, count: Remainder::of(*count) };
                self.steps.push(Patch { value, per, place });
            }
            Formula::List(values) => {
                let count = Remainder::of(values.len().max(1) as u64);
                let value = List { values: values.clone().into_boxed_slice(), count };
                self.lists.push(Patch { value, per, place });
            }
            Formula::Random { seed, low, span } => {
                let value = Random { seed: *seed, low: *low, span: Remainder::of(*span) };
                self.randoms.push(Patch { value, per, place });
            }
        }
    }

    /// Writes the fields of the frame of `index` in `flow`, and adds them to the checksums that they are under.
    #[inline(always)]
    pub fn write<const N: usize>(&self, index: u64, flow: u64, frame: &mut [u8], sums: &mut Sums<N>) {
        self.steps.iter().for_each(|patch| patch.write(index, flow, frame, sums));
        self.randoms.iter().for_each(|patch| patch.write(index, flow, frame, sums));
        self.lists.iter().for_each(|patch| patch.write(index, flow, frame, sums));
    }

    /// The checksums over any of the fields, a bit each.
    pub fn covers(&self) -> u8 {
        let steps = self.steps.iter().map(|patch| patch.place);
        let randoms = self.randoms.iter().map(|patch| patch.place);
        let lists = self.lists.iter().map(|patch| patch.place);
        steps.chain(randoms).chain(lists).fold(0, |set, place| set | place.covers.set())
    }

    /// As rows of the tables, and the values of all lists.
    pub fn rows(&self) -> (Vec<Row>, Vec<u64>) {
        let mut lists = Vec::new();
        let mut rows: Vec<Row> = self.steps.iter().map(|patch| patch.row(&mut lists)).collect();
        rows.extend(self.randoms.iter().map(|patch| patch.row(&mut lists)));
        rows.extend(self.lists.iter().map(|patch| patch.row(&mut lists)));
        (rows, lists)
    }
}

impl<V: Value> Patch<V> {
    #[inline(always)]
    fn write<const N: usize>(&self, index: u64, flow: u64, frame: &mut [u8], sums: &mut Sums<N>) {
        let n = if self.per == Per::Frame { index } else { flow };
        let share = self.place.put(self.value.at(n), frame);
        sums.add(&self.place.covers, share);
    }

    fn row(&self, lists: &mut Vec<u64>) -> Row {
        let (kind, [a, b, c]) = self.value.row(lists);
        let Place { at, width, mask, covers, .. } = self.place;
        let [shift, word_shift] = self.place.shifts().map(u64::from);
        let per_flow = u64::from(self.per == Per::Flow);
        let (at, width) = (at as u64, width as u64);
        let covers = covers.set().into();
        [kind as u64, per_flow, at, width, shift, mask, a, b, c, covers, word_shift]
    }
}
