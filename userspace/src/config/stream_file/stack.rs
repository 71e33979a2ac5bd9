//! Whether headers can stand one behind the other and what they are as bytes; what cannot be is told at the header
//! that is at fault. Knows no length and no modifier.

use super::node::Node;
use crate::config::ConfigError;
use crate::frame::layer::{Arp, Echo, Ethernet, Gre, GtpU, Ipv4, Ipv6, Layer, Mpls, Tcp, Udp, Vlan, Vxlan};
use crate::frame::layout::{Defaults, Layout, StackError, compile};

/// The layout of headers, with made-up addresses where none are stated.
pub fn layout(layers: &[(Layer, Node<'_>)], whole: &Node<'_>) -> Result<Layout, ConfigError> {
    let stack: Vec<Layer> = layers.iter().map(|(layer, _)| layer.clone()).collect();
    let error = match compile(&stack, &Defaults::BENCHMARK) {
        Ok(layout) => return Ok(layout),
        Err(error) => error,
    };
    let (count, error) = first_fault(&stack).unwrap_or((stack.len(), error));
    let node = count.checked_sub(1).and_then(|at| layers.get(at)).map_or(whole, |(_, node)| node);
    let before = stack.get(..count.saturating_sub(1)).unwrap_or_default();
    Err(node.refuse(error.to_string(), remedy(&error, before)))
}

/// The shortest beginning of the list that cannot be, and why.
fn first_fault(stack: &[Layer]) -> Option<(usize, StackError)> {
    (0..=stack.len()).skip(1).find_map(|count| match compile(stack.get(..count)?, &Defaults::BENCHMARK) {
        Err(error) if count == stack.len() || !is_open(&error) => Some((count, error)),
        _ => None,
    })
}

/// Whether only the end of the list is wrong: a header that must have another behind it.
fn is_open(error: &StackError) -> bool {
    matches!(error, StackError::Order { layer, .. } if *layer == END)
}

/// How the end of a list stands in a [`StackError::Order`].
const END: &str = "the end of the stack";

fn remedy(error: &StackError, before: &[Layer]) -> String {
    match error {
        StackError::NoEthernet => "{ ethernet = {} } first".to_owned(),
        StackError::Order { layer, behind } if *layer == END => format!("a header behind {behind}"),
        StackError::Order { behind, .. } => format!("behind {behind} go {}", followers(before).join(", ")),
        StackError::Tags => "two { vlan = … } at the most behind one ethernet".to_owned(),
        StackError::Value { .. } => "a value in that range".to_owned(),
        StackError::TooMany { .. } => "fewer of them".to_owned(),
    }
}

/// The names of the headers that can stand behind these.
fn followers(before: &[Layer]) -> Vec<&'static str> {
    let all = [
        Layer::Ethernet(Ethernet::default()),
        Layer::Vlan(Vlan::default()),
        Layer::Mpls(Mpls::default()),
        Layer::Ipv4(Ipv4::default()),
        Layer::Ipv6(Ipv6::default()),
        Layer::Udp(Udp::default()),
        Layer::Tcp(Tcp::default()),
        Layer::Icmp(Echo::default()),
        Layer::Icmpv6(Echo::default()),
        Layer::Arp(Arp::default()),
        Layer::Gre(Gre::default()),
        Layer::Vxlan(Vxlan::default()),
        Layer::GtpU(GtpU::default()),
        Layer::Raw(vec![0]),
    ];
    let may_follow = |next: &Layer| {
        let longer: Vec<Layer> = before.iter().chain([next]).cloned().collect();
        compile(&longer, &Defaults::BENCHMARK).map_or_else(|error| is_open(&error), |_| true)
    };
    let names: Vec<_> = all.iter().filter(|next| may_follow(next)).map(Layer::name).collect();
    if names.is_empty() { vec!["no headers"] } else { names }
}
