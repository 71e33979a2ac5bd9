//! Which cores take an interface's interrupts. Knows no NAPI setting.

use super::{InterfaceFacts, netdev, number_list};
use std::collections::BTreeSet;
use std::fs;

/// Words in the name of a vector that brings no frames.
const NO_FRAMES: [&str; 6] = ["config", "async", "mgmnt", "misc", "fdir", "ctrl"];

/// Cores that take the interface's receive and transmit interrupts, ascending; None where it has none (veth) or the
/// kernel does not say. The NAPI instances know their interrupts since Linux 6.8, where the driver tells; otherwise
/// /proc/interrupts names them.
#[must_use]
pub fn cores(facts: &InterfaceFacts) -> Option<Vec<u32>> {
    let mut irqs: Vec<u32> =
        netdev::napi_instances(facts.ifindex).iter().filter_map(|napi| napi.irq).collect();
    if irqs.is_empty() {
        // /proc/interrupts is the whole machine's: without a device below it, a name proves nothing.
        let parent = facts.parent.as_deref()?;
        irqs = named(&fs::read_to_string("/proc/interrupts").ok()?, &[parent, &facts.name]);
    }
    let cores: BTreeSet<u32> = irqs.into_iter().filter_map(affinity).flatten().collect();
    (!cores.is_empty()).then(|| cores.into_iter().collect())
}

fn affinity(irq: u32) -> Option<Vec<u32>> {
    let effective = fs::read_to_string(format!("/proc/irq/{irq}/effective_affinity_list")).ok()?;
    number_list::parse(&effective)
}

/// Interrupts in the text of /proc/interrupts whose action carries one of `names` as a word of its own:
/// "virtio2-input.0", "i40e-ens1f0-TxRx-3", "mlx5_comp0@pci:0000:81:00.0".
fn named(interrupts: &str, names: &[&str]) -> Vec<u32> {
    let of_line = |line: &str| {
        let (number, rest) = line.split_once(':')?;
        let action = rest.split_ascii_whitespace().next_back()?;
        let brings_frames = !NO_FRAMES.iter().any(|word| action.contains(word));
        let ours = brings_frames && names.iter().any(|name| has_word(action, name));
        ours.then(|| number.trim().parse().ok()).flatten()
    };
    interrupts.lines().filter_map(of_line).collect()
}

/// Whether `word` stands in `text` with no letter or digit on either side: eth1 is not in eth10-rx.
fn has_word(text: &str, word: &str) -> bool {
    let ends = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, found)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + found.len()..].chars().next());
        ends(before) && ends(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU1\n \
        24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
        37:          0          0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n \
        38:          0      12029 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n \
        39:      11742          0 PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0\n \
        40:          0          0 PCI-MSIX-0000:00:04.0   0-edge      virtio21-input.0\n \
        51:          0          0 PCI-MSIX-0000:81:00.0   1-edge      i40e-ens1f0-TxRx-0\n \
        52:          0          0 PCI-MSIX-0000:81:00.1   1-edge      i40e-ens1f01-TxRx-0\n \
        60:          0          0 PCI-MSIX-0000:c1:00.0   0-edge      mlx5_async0@pci:0000:c1:00.0\n \
        61:          0          0 PCI-MSIX-0000:c1:00.0   1-edge      mlx5_comp0@pci:0000:c1:00.0\n\
        NMI:          0          0   Non-maskable interrupts\n";

    #[test]
    fn vectors_that_bring_frames_are_found_by_device_or_name() {
        assert_eq!(named(INTERRUPTS, &["virtio2", "eth0"]), [38, 39]);
        assert_eq!(named(INTERRUPTS, &["0000:81:00.0", "ens1f0"]), [51]);
        assert_eq!(named(INTERRUPTS, &["0000:c1:00.0", "ens3"]), [61]);
        assert_eq!(named(INTERRUPTS, &["eth7"]), [0; 0]);
    }

    #[test]
    fn a_name_within_another_is_not_a_word() {
        assert!(has_word("eth1-rx-0", "eth1") && has_word("a-eth1", "eth1"));
        assert!(!has_word("eth10-rx", "eth1") && !has_word("veth1-rx", "eth1"));
    }
}
