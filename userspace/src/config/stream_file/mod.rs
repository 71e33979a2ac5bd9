//! Stream files: TOML text in, streams out, or the line at which something cannot be meant, and what to write there.
//! Knows no file system: the text is read elsewhere.

mod layers;
mod modify;
mod node;
mod size;
mod stack;

use self::node::{Node, Source, Table};
use super::{ConfigError, MAX_STREAMS, StreamPlan, StreamSet};
use crate::frame::flow;
use crate::frame::formula::hash;
use crate::frame::layer::{Ethernet, Ipv4, Layer, Udp};
use crate::frame::layout::Layout;
use crate::frame::probe;
use crate::frame::sizes::Sizes;
use crate::units::{FCS_BYTES, FrameSize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a stream can have.
const KEYS: [&str; 7] = ["name", "weight", "size", "z", "flows", "layers", "modify"];
const FORM: &str = "[[stream]] and under it layers = [{ ethernet = {} }, { ipv4 = {} }, { udp = {} }]";
/// As many flows as the receiver keeps a highest sequence number for.
const MAX_FLOWS: u64 = 65_536;
/// Bytes of a name: it stands in tables and in START.
const MAX_NAME: usize = 32;
/// Names the series of a stream's sizes; its modifiers are counted from 0.
const SERIES_OF_SIZES: u64 = u64::MAX;

/// The streams of a file. `name` is what errors call it; `seed` names all series for which the file names none.
///
/// # Errors
/// The first thing that cannot be meant: file and line, stream, what is wrong and what to write.
pub fn read_streams(name: &str, text: &str, seed: Option<u64>) -> Result<StreamSet, ConfigError> {
    let source = Source { name, text };
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        source.refuse(at, format!("it is not TOML: {}", error.message()), FORM)
    })?;
    let document = Spanned::new(document.span(), DeValue::Table(document.into_inner()));
    let root = Node::root(source, &document);
    let table = root.table(&["seed", "stream"], FORM)?;
    let own = table.number("seed", u64::MAX, "a seed has 64 bits", 0)?;
    let seed = seed.unwrap_or(own);
    StreamSet::new(streams(&table, seed)?)
        .map(|streams| streams.seeded(seed))
        .ok_or_else(|| root.refuse("the weights sum up to 0, so no stream ever sends", "weight = 1 or more"))
}

fn streams(table: &Table<'_>, seed: u64) -> Result<Vec<StreamPlan>, ConfigError> {
    let items = table.need("stream", FORM)?.array(FORM)?;
    if let Some(beyond) = items.get(MAX_STREAMS) {
        return Err(beyond.refuse(format!("{} streams; at most {MAX_STREAMS}", items.len()), "fewer streams"));
    }
    if items.is_empty() {
        return Err(table.node().refuse("there is no stream", FORM));
    }
    let mut plans: Vec<StreamPlan> = Vec::new();
    for (nth, item) in items.iter().enumerate() {
        let default = format!("stream-{}", nth + 1);
        let name = item.in_stream(&default).peek("name").map(|node| stream_name(&node)).transpose()?;
        let name = name.unwrap_or(default);
        let node = item.in_stream(&name);
        if plans.iter().any(|plan| plan.name == name) {
            return Err(node.refuse("there are two streams of this name", "another name"));
        }
        plans.push(plan(&node, name, hash(seed, nth as u64))?);
    }
    Ok(plans)
}

fn stream_name(node: &Node<'_>) -> Result<String, ConfigError> {
    const FORM: &str = "1 to 32 printable characters, such as \"web\"";
    node.read(FORM, |text| match text {
        text if text.trim().is_empty() => Err("it is empty".to_owned()),
        text if text.contains(char::is_control) => Err("it has control characters".to_owned()),
        text if text.chars().count() > MAX_NAME => Err("it is too long".to_owned()),
        text => Ok(text.to_owned()),
    })
}

fn plan(node: &Node<'_>, name: String, seed: u64) -> Result<StreamPlan, ConfigError> {
    let table = node.table(&KEYS, FORM)?;
    let placed = match table.get("layers") {
        Some(list) => layers::layers(&list)?,
        None => udp_over_ipv4().map(|layer| (layer, node.clone())).into(),
    };
    let layout = stack::layout(&placed, table.get("layers").as_ref().unwrap_or(node))?;
    let mut layers: Vec<Layer> = placed.into_iter().map(|(layer, _)| layer).collect();
    let list = table.get("modify");
    let modified = match &list {
        Some(list) => modify::modifiers(list, &layout, |nth| hash(seed, nth))?,
        None => Vec::new(),
    };
    modify::settle(&mut layers, &modified);
    Ok(StreamPlan {
        name,
        weight: table.number("weight", u64::from(u16::MAX), "weights have 16 bits", 1)?,
        sizes: sizes(&table, &layout, hash(seed, SERIES_OF_SIZES))?,
        flows: flows(&table, &layout)?,
        layers,
        modifiers: modified.into_iter().map(|modified| modified.modifier).collect(),
    })
}

/// What a stream has that names no headers.
fn udp_over_ipv4() -> [Layer; 3] {
    [Layer::Ethernet(Ethernet::default()), Layer::Ipv4(Ipv4::default()), Layer::Udp(Udp::default())]
}

/// The stream's lengths, each of which holds the headers; the least that holds a probe as well where none are stated.
fn sizes(table: &Table<'_>, layout: &Layout, seed: u64) -> Result<Sizes, ConfigError> {
    let headers = u32::try_from(layout.header.len()).unwrap_or(u32::MAX) + FCS_BYTES;
    let numbered = headers + probe::LEN as u32;
    let mtu = table.given("z", size::one)?;
    let Some(node) = table.get("size") else {
        let least = numbered.max(FrameSize::MIN.with_fcs());
        return Ok(Sizes::Fixed(FrameSize::new(least).unwrap_or(FrameSize::MAX)));
    };
    let sizes = size::sizes(&node, seed, mtu)?;
    let shortest = sizes.bounds().0.with_fcs();
    if shortest >= headers {
        return Ok(sizes);
    }
    let what =
        format!("a frame of {shortest} bytes does not hold its headers, which need {headers} with the FCS");
    Err(node
        .refuse(what, format!("{numbered} bytes or more for numbered frames, {headers} for those without")))
}

fn flows(table: &Table<'_>, layout: &Layout) -> Result<u32, ConfigError> {
    let Some(node) = table.get("flows") else { return Ok(1) };
    match node.number(MAX_FLOWS, "a sink follows 65,536 flows at the most")? {
        0 => Err(node.refuse("each frame belongs to a flow", "flows = 1 or more")),
        1 => Ok(1),
        _ if !flow::possible(layout) => {
            let what = "flows differ in IP address and port, and the headers have neither";
            Err(node.refuse(what, "flows = 1, or an IP header"))
        }
        flows => Ok(u32::try_from(flows).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
mod tests;
