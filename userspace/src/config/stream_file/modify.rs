//! Modifiers of a stream file: which field of the stack, and which values it has from frame to frame. Knows the
//! stack's fields by their layout only.

use super::layers::{flags, ip4, ip6, mac};
use super::node::{Node, Table, choices};
use crate::config::ConfigError;
use crate::frame::formula::{Formula, Modifier, Per};
use crate::frame::layer::Layer;
use crate::frame::layout::{Field, Layout, Notation};
use crate::units::grouped;
use std::net::Ipv6Addr;

/// Values of one list at the most: a table that each worker keeps.
const MAX_LIST: usize = 65_536;
/// Bits that vary at the most.
const MAX_BITS: usize = 64;

const FORM: &str = "modify = [{ field = \"udp.src_port\", inc = { from = 1024, to = 65535 } }]";
const KINDS: &str = "one of set = V, inc = { from, to, step }, dec = { from, to, step }, \
                     random = { from, to, seed } and list = [V, …]";

/// A modifier, and the field that it writes.
pub struct Modified<'l> {
    /// The modifier.
    pub modifier: Modifier,
    field: &'l Field,
    /// What the high half of an IPv6 address always is.
    prefix: Option<u64>,
}

/// One value as it is written.
struct Value {
    low: u64,
    /// The high half of an IPv6 address.
    high: u64,
}

/// The modifiers of a list. `seed` gives the seed of the nth one where it names none itself.
pub fn modifiers<'l>(
    node: &Node<'_>,
    layout: &'l Layout,
    seed: impl Fn(u64) -> u64,
) -> Result<Vec<Modified<'l>>, ConfigError> {
    let mut made: Vec<Modified<'l>> = Vec::new();
    for (nth, item) in (0..).zip(node.array(FORM)?) {
        let modified = modifier(&item, layout, seed(nth))?;
        if let Some(other) = made.iter().find(|other| overlap(other.field, modified.field)) {
            let what = format!("{} is modified twice", other.field.name);
            return Err(item.refuse(what, "one modifier a field"));
        }
        made.push(modified);
    }
    Ok(made)
}

fn overlap(a: &Field, b: &Field) -> bool {
    a.bit < b.bit + b.bits && b.bit < a.bit + a.bits
}

/// Puts the high half of IPv6 addresses that vary into the headers that they are in.
pub fn settle(layers: &mut [Layer], modified: &[Modified<'_>]) {
    for Modified { field, prefix, .. } in modified {
        let (Some(prefix), Some((header, name))) = (prefix, field.name.split_once('.')) else { continue };
        let nth = header.strip_prefix("ipv6[").and_then(|rest| rest.trim_end_matches(']').parse().ok());
        let mut headers = layers.iter_mut().filter_map(|layer| match layer {
            Layer::Ipv6(header) => Some(header),
            _ => None,
        });
        let Some(header) = headers.nth(nth.unwrap_or(1usize).saturating_sub(1)) else { continue };
        let address = Some(Ipv6Addr::from(u128::from(*prefix) << 64));
        if name == "src" { header.src = address } else { header.dst = address }
    }
}

fn modifier<'l>(node: &Node<'_>, layout: &'l Layout, seed: u64) -> Result<Modified<'l>, ConfigError> {
    let table = node.table(&["field", "per", "set", "inc", "dec", "random", "list"], FORM)?;
    let field = field(&table.need("field", FORM)?, layout)?;
    let given: Vec<Node<'_>> =
        ["set", "inc", "dec", "random", "list"].iter().filter_map(|kind| table.get(kind)).collect();
    let [_] = given[..] else {
        return Err(node.refuse(format!("{} has {} kinds of values", field.name, given.len()), KINDS));
    };
    let mut prefix = None;
    let mut read = |node: &Node<'_>| {
        let Value { low, high } = value(node, field)?;
        if *prefix.get_or_insert(high) != high {
            let what = "an IPv6 address varies in its low 64 bits only, and this one differs in the others";
            return Err(node.refuse(what, "values of one /64, or a stream for each"));
        }
        Ok(low)
    };
    let formula = formula(&table, seed, &mut read)?;
    let per = table.given("per", per)?.unwrap_or_default();
    let prefix = prefix.filter(|_| field.notation == Notation::Ipv6);
    Ok(Modified { modifier: Modifier { field: field.name.clone(), formula, per }, field, prefix })
}

fn field<'l>(node: &Node<'_>, layout: &'l Layout) -> Result<&'l Field, ConfigError> {
    let name = node.text("a field such as \"udp.src_port\"")?;
    let found = layout.field(name).ok_or_else(|| {
        let names = layout.fields.iter().map(|field| field.name.as_str());
        node.refuse(format!("the stack has no field {name}"), choices(name, names))
    })?;
    if found.bits > MAX_BITS && found.notation != Notation::Ipv6 {
        let what = format!("{name} has {} bits, and a field of more than 64 does not vary", found.bits);
        return Err(node.refuse(what, "the bytes in the header itself"));
    }
    Ok(found)
}

fn per(node: &Node<'_>) -> Result<Per, ConfigError> {
    node.read("per = \"frame\" or per = \"flow\"", |text| match text {
        "frame" => Ok(Per::Frame),
        "flow" => Ok(Per::Flow),
        other => Err(format!("there is no {other} to count by")),
    })
}

/// A value in the notation of its field.
fn value(node: &Node<'_>, field: &Field) -> Result<Value, ConfigError> {
    let low = match field.notation {
        Notation::Mac => mac(node)?.as_bytes().iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
        Notation::Ipv4 => u32::from(ip4(node)?).into(),
        Notation::Ipv6 => {
            let bits = u128::from(ip6(node)?);
            // Both halves have 64 bits.
            return Ok(Value { low: bits as u64, high: (bits >> 64) as u64 });
        }
        Notation::Hex if is_flags(field) => flags(node)?.into(),
        Notation::Decimal | Notation::Hex | Notation::Bytes => {
            let most = u64::MAX >> (MAX_BITS - field.bits.clamp(1, MAX_BITS));
            node.number(most, &format!("{} has {} bits", field.name, field.bits))?
        }
    };
    Ok(Value { low, high: 0 })
}

/// Whether it is TCP's field of control bits, which may be named.
fn is_flags(field: &Field) -> bool {
    field.name.starts_with("tcp") && field.name.ends_with(".flags")
}

type Read<'r> = &'r mut dyn FnMut(&Node<'_>) -> Result<u64, ConfigError>;

fn formula(table: &Table<'_>, seed: u64, read: Read<'_>) -> Result<Formula, ConfigError> {
    if let Some(node) = table.get("set") {
        return read(&node).map(Formula::Constant);
    }
    if let Some(node) = table.get("list") {
        return list(&node, read);
    }
    if let Some(node) = table.get("inc") {
        let (from, to, step) = steps(&node, read)?;
        if from > to {
            return Err(
                node.refuse("the range begins above its end", "the lower end as from, or dec to count down")
            );
        }
        return Ok(Formula::Step { base: from, step, count: places(to - from, step) });
    }
    if let Some(node) = table.get("dec") {
        let (from, to, step) = steps(&node, read)?;
        if from < to {
            return Err(
                node.refuse("the range begins below its end", "the upper end as from, or inc to count up")
            );
        }
        return Ok(Formula::Step { base: from, step: step.wrapping_neg(), count: places(from - to, step) });
    }
    random(&table.need("random", KINDS)?, seed, read)
}

/// How many values a way of `span` in steps of `step` has, both ends included; 0 for 2^64 of them.
const fn places(span: u64, step: u64) -> u64 {
    (span / step).wrapping_add(1)
}

fn steps(node: &Node<'_>, read: Read<'_>) -> Result<(u64, u64, u64), ConfigError> {
    const RANGE: &str = "{ from = 1, to = 9 }, and step = 2 where it is not 1";
    let table = node.table(&["from", "to", "step"], RANGE)?;
    let (from, to) = (read(&table.need("from", RANGE)?)?, read(&table.need("to", RANGE)?)?);
    match table.get("step").map(|step| (step.number(u64::MAX, "it has 64 bits"), step)) {
        None => Ok((from, to, 1)),
        Some((Ok(0), step)) => Err(step.refuse("a step of 0 does not move", "step = 1 or more, or set")),
        Some((step, _)) => Ok((from, to, step?)),
    }
}

fn random(node: &Node<'_>, seed: u64, read: Read<'_>) -> Result<Formula, ConfigError> {
    const RANGE: &str = "{ from = 1, to = 9 }, and seed = 7 for a series of its own";
    let table = node.table(&["from", "to", "seed"], RANGE)?;
    let (low, to) = (read(&table.need("from", RANGE)?)?, read(&table.need("to", RANGE)?)?);
    if low > to {
        return Err(node.refuse("the range begins above its end", "the lower end as from"));
    }
    let seed = table.number("seed", u64::MAX, "a seed has 64 bits", seed)?;
    Ok(Formula::Random { seed, low, span: places(to - low, 1) })
}

fn list(node: &Node<'_>, read: Read<'_>) -> Result<Formula, ConfigError> {
    let items = node.array("list = [1, 2, 3]")?;
    if items.is_empty() {
        return Err(node.refuse("a list of no values gives none", "list = [1, 2, 3]"));
    }
    if items.len() > MAX_LIST {
        let (count, most) = (grouped(items.len() as u64), grouped(MAX_LIST as u64));
        return Err(node.refuse(format!("{count} values; at most {most}"), "a shorter list, inc or random"));
    }
    items.iter().map(read).collect::<Result<_, _>>().map(Formula::List)
}
