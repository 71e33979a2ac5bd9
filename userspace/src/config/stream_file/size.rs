//! Frame lengths of a stream file: a number, a text, a list or a table. Knows no header.

use super::node::Node;
use crate::config::ConfigError;
use crate::config::size_text::{
    MAX_PATTERN, SizeFault, frame_size, pattern, sizes_of, sweep, uniform, weighted,
};
use crate::frame::sizes::Sizes;
use crate::units::FrameSize;

const FORMS: &str = "size = 64, \"imix\", \"imix:aabg\", \"64-1518\", [64, 128], [{ size = 64, weight = 7 }, …], \
                     { from = 64, to = 1518, step = 64 } or { from = 64, to = 1518, random = 7 }";

/// Weighted sizes at the most: beyond it a list without weights does as well.
const MAX_WEIGHTED: usize = 1_024;

/// The lengths that `node` says. `seed` names the series where the file names none, `mtu` is what `z` stands for.
pub fn sizes(node: &Node<'_>, seed: u64, mtu: Option<FrameSize>) -> Result<Sizes, ConfigError> {
    if let Some(text) = node.as_text() {
        return told(node, sizes_of(text, seed, mtu));
    }
    if node.is_array() {
        return list(node);
    }
    if node.is_table() {
        return range(node);
    }
    one(node).map(Sizes::Fixed)
}

/// One length, FCS included.
pub fn one(node: &Node<'_>) -> Result<FrameSize, ConfigError> {
    let most = u64::from(FrameSize::MAX.with_fcs());
    let why = "the size includes the 4-byte FCS, and longer frames are not built";
    told(node, frame_size(node.number(most, why)?))
}

fn told<T>(node: &Node<'_>, result: Result<T, SizeFault>) -> Result<T, ConfigError> {
    result.map_err(|fault| node.refuse(fault.what, fault.remedy))
}

fn list(node: &Node<'_>) -> Result<Sizes, ConfigError> {
    let items = node.array(FORMS)?;
    if !items.iter().any(Node::is_table) {
        if items.len() > MAX_PATTERN {
            return Err(node.refuse(format!("{} sizes; at most {MAX_PATTERN}", items.len()), FORMS));
        }
        let sizes = items.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        return told(node, pattern(&sizes));
    }
    if items.len() > MAX_WEIGHTED {
        let what = format!("{} sizes with weights; at most {MAX_WEIGHTED}", items.len());
        return Err(node.refuse(what, "fewer sizes, or a list without weights"));
    }
    let weigh = |item: &Node<'_>| {
        let table = item.table(&["size", "weight"], "{ size = 64, weight = 7 }")?;
        let size = one(&table.need("size", "size = 64")?)?;
        let weight = table.number("weight", u64::from(u16::MAX), "weights have 16 bits", 1)?;
        Ok((size.with_fcs(), weight))
    };
    told(node, weighted(&items.iter().map(weigh).collect::<Result<Vec<_>, ConfigError>>()?))
}

fn range(node: &Node<'_>) -> Result<Sizes, ConfigError> {
    let table = node.table(&["from", "to", "step", "random"], FORMS)?;
    let from = one(&table.need("from", FORMS)?)?;
    let to = one(&table.need("to", FORMS)?)?;
    match (table.get("step"), table.get("random")) {
        (Some(_), Some(random)) => {
            Err(random.refuse("a sweep in steps is not random", "step or random, not both"))
        }
        (step, None) => told(node, sweep(from, to, step.map_or(Ok(1), |step| self::step(&step))?)),
        (None, Some(random)) => told(node, uniform(from, to, random.number(u64::MAX, "a seed has 64 bits")?)),
    }
}

fn step(node: &Node<'_>) -> Result<u32, ConfigError> {
    match node.number(FrameSize::MAX.with_fcs().into(), "no sweep is longer")? {
        0 => Err(node.refuse("a sweep without a step does not move", "step = 1 or more")),
        step => Ok(u32::try_from(step).unwrap_or(u32::MAX)),
    }
}
