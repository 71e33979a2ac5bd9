//! Formulas without divisions, each kind a type of its own: the sender's loop asks none which kind it is. Knows no
//! field.

use crate::frame::formula::hash;
use crate::frame::remainder::Remainder;
use xdp_prog::table::Kind;

/// A value as a function of a number.
pub trait Value {
    /// The value at `n`.
    fn at(&self, n: u64) -> u64;
    /// The kind and the numbers a, b and c of its row; values of a list go behind those that are there.
    fn row(&self, lists: &mut Vec<u64>) -> (Kind, [u64; 3]);
}

/// `base + (n mod count) × step`.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub base: u64,
    pub step: u64,
    pub count: Remainder,
}

/// `values[n mod their number]`.
#[derive(Debug, Clone)]
pub struct List {
    pub values: Box<[u64]>,
    pub count: Remainder,
}

/// `low + hash(seed, n) mod span`.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    pub seed: u64,
    pub low: u64,
    pub span: Remainder,
}

impl Value for Step {
    #[inline(always)]
    fn at(&self, n: u64) -> u64 {
        self.base.wrapping_add(self.count.take(n).wrapping_mul(self.step))
    }

    fn row(&self, _lists: &mut Vec<u64>) -> (Kind, [u64; 3]) {
        (Kind::Step, [self.base, self.step, self.count.modulus()])
    }
}

impl Value for List {
    #[inline(always)]
    fn at(&self, n: u64) -> u64 {
        self.values.get(self.count.take(n) as usize).copied().unwrap_or(0)
    }

    fn row(&self, lists: &mut Vec<u64>) -> (Kind, [u64; 3]) {
        let at = lists.len() as u64;
        lists.extend_from_slice(&self.values);
        (Kind::List, [at, 0, self.count.modulus()])
    }
}

impl Value for Random {
    #[inline(always)]
    fn at(&self, n: u64) -> u64 {
        self.low.wrapping_add(self.span.take(hash(self.seed, n)))
    }

    fn row(&self, _lists: &mut Vec<u64>) -> (Kind, [u64; 3]) {
        (Kind::Random, [self.low, self.seed, self.span.modulus()])
    }
}
