//! What a stream file cannot mean: each case with its line, its words and its remedy.

use super::*;
use proptest::prelude::*;

fn refused(text: &str) -> String {
    match read_streams("t.toml", text, None) {
        Err(error) => error.to_string(),
        Ok(set) => panic!("taken: {text}\n{set:?}"),
    }
}

/// Lines of a stream named web, which begins in line 1; the start of the message; a part of it; a part of its remedy.
const IN_A_STREAM: &[(&str, &str, &str, &str)] = &[
    ("sise = 64", "t.toml:3, stream web: ", "no key sise", "size"),
    ("name2 = 1\nsize = 64", "t.toml:3, stream web: ", "no key name2", "one of name"),
    ("size = 64.5", "t.toml:3, stream web, size: ", "a fraction, and takes a whole number", "0 to 16384"),
    ("size = 63", "t.toml:3, stream web, size: ", "64 is the shortest", "64 to 16384"),
    ("size = 16385", "t.toml:3, stream web, size: ", "above 16,384", "0 to 16384"),
    ("size = \"16385\"", "t.toml:3, stream web, size: ", "longest frame", "16384 at the most"),
    ("size = \"imix:ax\"", "t.toml:3, stream web, size: ", "no letter 'x'", "imix:aabg"),
    ("size = \"imix:z\"", "t.toml:3, stream web, size: ", "z stands for the MTU", "z = 9018"),
    ("size = []", "t.toml:3, stream web, size: ", "no sizes", "1518"),
    ("size = [64, \"a\"]", "t.toml:3, stream web, size[2]: ", "a text, and takes", "0 to"),
    ("size = [{ weight = 1 }]", "t.toml:3, stream web, size[1]: ", "size is missing", "size = 64"),
    ("size = { from = 128, to = 64 }", "t.toml:3, stream web, size: ", "begins above its end", "64 to 128"),
    (
        "size = { from = 64, to = 128, step = 0 }",
        "t.toml:3, stream web, size.step: ",
        "does not move",
        "1 or",
    ),
    (
        "size = { from = 64, to = 99, step = 1, random = 1 }",
        "t.toml:3, stream web, size.random: ",
        "random",
        "both",
    ),
    ("flows = 0", "t.toml:3, stream web, flows: ", "belongs to a flow", "flows = 1"),
    ("flows = 65537", "t.toml:3, stream web, flows: ", "above 65,536", "0 to 65536"),
    ("weight = 65536", "t.toml:3, stream web, weight: ", "16 bits", "0 to 65535"),
    ("weight = -1", "t.toml:3, stream web, weight: ", "below 0", "0 to 65535"),
    ("weight = 0", "t.toml:1: ", "sum up to 0", "weight = 1"),
    ("layers = {}", "t.toml:3, stream web, layers: ", "a table, and takes an array", "{ ethernet = {} }"),
    ("layers = []", "t.toml:3, stream web, layers: ", "begins with ethernet", "{ ethernet = {} } first"),
    ("layers = [{ ipv4 = {} }]", "t.toml:3, stream web, layers[1].ipv4: ", "begins with ethernet", "first"),
    (
        "layers = [{ etherent = {} }]",
        "t.toml:3, stream web, layers[1]: ",
        "no key etherent",
        "one of ethernet",
    ),
    (
        "layers = [{ ethernet = {}, vlan = {} }]",
        "t.toml:3, stream web, layers[1]: ",
        "not one header",
        "each",
    ),
    (
        "layers = [{ ethernet = {} },\n{ vlan = { id = 4095 } }]",
        "t.toml:4, stream web, layers[2].vlan.id: ",
        "4095 is reserved (IEEE 802.1Q)",
        "0 to 4094",
    ),
    (
        "layers = [{ ethernet = {} }, { vlan = { id = 4096 } }]",
        "t.toml:3, stream web, layers[2].vlan.id: ",
        "4095 is reserved",
        "0 to 4094",
    ),
    (
        "layers = [{ ethernet = {} }, { vlan = {} }, { vlan = {} },\n{ vlan = {} }]",
        "t.toml:4, stream web, layers[4].vlan: ",
        "2 VLAN tags at the most",
        "two",
    ),
    (
        "layers = [{ ethernet = {} }, { mpls = { label = 1048576 } }]",
        "t.toml:3, stream web, layers[2].mpls.label: ",
        "it has 20 bits",
        "0 to 1048575",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv4 = { dst = \"2001:2::1\" } }]",
        "t.toml:3, stream web, layers[2].ipv4.dst: ",
        "it is an IPv6 address",
        "198.19.0.1",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv6 = { dst = \"198.19.0.1\" } }]",
        "t.toml:3, stream web, layers[2].ipv6.dst: ",
        "it is an IPv4 address",
        "2001:2:0:8000::1",
    ),
    (
        "layers = [{ ethernet = { dst = \"02:00\" } }]",
        "t.toml:3, stream web, layers[1].ethernet.dst: ",
        "not a MAC address",
        "02:00:00:00:00:02",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv4 = {} }, { tcp = { flags = \"syn,sin\" } }]",
        "t.toml:3, stream web, layers[3].tcp.flags: ",
        "no control bit 'sin'",
        "syn,ack",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv4 = {} }, { vxlan = {} }]",
        "t.toml:3, stream web, layers[3].vxlan: ",
        "vxlan cannot follow ipv4",
        "behind ipv4 go mpls, ipv4, ipv6, udp, tcp, icmp, gre, raw",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv4 = {} }, { udp = {} }, { vxlan = {} }]",
        "t.toml:3, stream web, layers[4].vxlan: ",
        "the end of the stack cannot follow vxlan",
        "a header behind vxlan",
    ),
    (
        "layers = [{ ethernet = {} }, { raw = \"0ff\" }]",
        "t.toml:3, stream web, layers[2].raw: ",
        "pairs of hexadecimal digits",
        "00ff",
    ),
    (
        "layers = [{ ethernet = {} }, { ipv4 = {} }, { udp = {} }, { vxlan = {} }, { ethernet = {} }, { ipv6 = {} }, \
         { udp = {} }]\nsize = 100",
        "t.toml:4, stream web, size: ",
        "100 bytes does not hold its headers, which need 116",
        "134 bytes or more for numbered frames",
    ),
    (
        "layers = [{ ethernet = {} }]\nflows = 2",
        "t.toml:4, stream web, flows: ",
        "the headers have neither",
        "flows = 1",
    ),
];

/// Modifiers of a plain stream, in line 3.
const MODIFIERS: &[(&str, &str, &str, &str)] = &[
    ("field = \"udp.src_prt\", set = 1", ".field: ", "no field udp.src_prt", "one of udp.src_port"),
    ("field = \"vlan.id\", set = 1", ".field: ", "no field vlan.id", "more: tx --stream FILE --dry-run"),
    ("field = \"ipv4[2].src\", set = \"198.18.0.1\"", ".field: ", "no field ipv4[2].src", "ipv4.src"),
    ("field = \"ipv4.ttl\"", ": ", "has 0 kinds of values", "one of set = V"),
    ("field = \"ipv4.ttl\", set = 1, list = [1]", ": ", "has 2 kinds of values", "one of set = V"),
    ("field = \"ipv4.ttl\", inc = { from = 9, to = 5 }", ".inc: ", "begins above its end", "dec"),
    ("field = \"ipv4.ttl\", dec = { from = 5, to = 9 }", ".dec: ", "begins below its end", "inc"),
    ("field = \"ipv4.ttl\", random = { from = 5, to = 1 }", ".random: ", "begins above its end", "lower end"),
    ("field = \"ipv4.ttl\", inc = { from = 5 }", ".inc: ", "to is missing", "from = 1, to = 9"),
    (
        "field = \"ipv4.ttl\", inc = { from = 5, to = 9, step = 0 }",
        ".inc.step: ",
        "does not move",
        "step = 1",
    ),
    ("field = \"ipv4.ttl\", set = 256", ".set: ", "256 is above 255; ipv4.ttl has 8 bits", "0 to 255"),
    ("field = \"ipv4.ttl\", set = \"198.18.0.1\"", ".set: ", "a text, and takes a whole number", "0 to 255"),
    ("field = \"ipv4.src\", set = 1", ".set: ", "a whole number, and takes a text", "198.19.0.1"),
    ("field = \"ipv4.src\", set = \"2001:2::1\"", ".set: ", "it is an IPv6 address", "198.19.0.1"),
    ("field = \"ipv4.ttl\", list = []", ".list: ", "no values", "[1, 2, 3]"),
    ("field = \"ipv4.ttl\", list = 1", ".list: ", "takes an array", "[1, 2, 3]"),
    ("field = \"ipv4.ttl\", set = 1, per = \"packet\"", ".per: ", "no packet to count by", "per = \"frame\""),
];

fn check(text: &str, start: &str, what: &str, remedy: &str) {
    let message = refused(text);
    let (said, tried) = message.split_once("\n  try: ").unwrap();
    assert!(said.starts_with(&format!("--stream {start}")), "{text}\n{message}");
    assert!(said.contains(what) && tried.contains(remedy), "{text}\n{message}");
}

#[test]
fn a_stream_that_cannot_be_is_refused_at_its_line() {
    for (lines, start, what, remedy) in IN_A_STREAM {
        check(&format!("[[stream]]\nname = \"web\"\n{lines}"), start, what, remedy);
    }
}

#[test]
fn a_modifier_that_cannot_be_is_refused_at_its_line() {
    for (line, start, what, remedy) in MODIFIERS {
        let start = format!("t.toml:3, stream stream-1, modify[1]{start}");
        check(&format!("[[stream]]\nmodify = [\n{{ {line} }}]"), &start, what, remedy);
    }
}

#[test]
fn a_field_is_modified_once() {
    let text =
        "[[stream]]\nmodify = [{ field = \"ipv4.ttl\", set = 1 },\n{ field = \"ipv4[1].ttl\", set = 2 }]";
    check(
        text,
        "t.toml:3, stream stream-1, modify[2]: ",
        "ipv4.ttl is modified twice",
        "one modifier a field",
    );
}

#[test]
fn an_address_of_ipv6_varies_in_its_low_half() {
    let with = |values: &str| {
        format!(
            "[[stream]]\nlayers = [{{ ethernet = {{}} }}, {{ ipv6 = {{}} }}]\nmodify = [{{ field = \"ipv6.src\", {values} }}]"
        )
    };
    for values in
        ["list = [\"2001:2::1\", \"2001:3::1\"]", "inc = { from = \"2001:2::\", to = \"2001:2:0:1::\" }"]
    {
        check(&with(values), "t.toml:3, stream stream-1, modify[1]", "low 64 bits only", "one /64");
    }
}

#[test]
fn a_field_of_many_bytes_does_not_vary() {
    let text = "[[stream]]\nlayers = [{ ethernet = {} }, { raw = \"000102030405060708\" }]\n\
                modify = [{ field = \"raw.bytes\", set = 1 }]";
    check(text, "t.toml:3, stream stream-1, modify[1].field: ", "has 72 bits", "in the header itself");
}

#[test]
fn a_list_is_bounded() {
    let list = vec!["1"; 65_537].join(",");
    let text = format!("[[stream]]\nmodify = [{{ field = \"ipv4.ttl\", list = [{list}] }}]");
    check(
        &text,
        "t.toml:2, stream stream-1, modify[1].list: ",
        "65,537 values; at most 65,536",
        "inc or random",
    );
    let text = format!("[[stream]]\nsize = [{}]", vec!["64"; 65_537].join(","));
    check(&text, "t.toml:2, stream stream-1, size: ", "65537 sizes", "size = 64");
}

#[test]
fn headers_are_bounded() {
    let deep = "{ ipv4 = {} }, ".repeat(24);
    let text = format!("[[stream]]\nlayers = [{{ ethernet = {{}} }}, {deep}]");
    check(&text, "t.toml:2, stream stream-1, layers: ", "25 headers; at most 24", "fewer");
    let text = format!("[[stream]]\nlayers = [{{ ethernet = {{}} }}, {{ raw = \"{}\" }}]", "00".repeat(499));
    check(&text, "t.toml:2, stream stream-1, layers[2].raw: ", "bytes of headers: 513; at most 512", "fewer");
}

#[test]
fn what_is_no_set_of_streams_is_refused() {
    check("[[stream]\n", "t.toml:1: ", "it is not TOML", "[[stream]]");
    check("[[stream]]\n\nsize = ", "t.toml:3: ", "it is not TOML", "[[stream]]");
    check("[[stream]]\nsize = 64\nsize = 65", "t.toml:3: ", "it is not TOML: duplicate key", "[[stream]]");
    check("", "t.toml:1: ", "stream is missing", "[[stream]]");
    check("stream = []", "t.toml:1: ", "there is no stream", "[[stream]]");
    check("[stream]\nsize = 64", "t.toml:1, stream: ", "a table, and takes an array", "[[stream]]");
    check("\nsteam = 1", "t.toml:2: ", "no key steam", "one of stream");
    check("seed = -1\n[[stream]]", "t.toml:1, seed: ", "below 0", "0 to");
    check(&"[[stream]]\n".repeat(65), "t.toml:65, stream[65]: ", "65 streams; at most 64", "fewer");
    let twice = "[[stream]]\nname = \"a\"\n[[stream]]\nname = \"a\"";
    check(twice, "t.toml:3, stream a: ", "two streams of this name", "another name");
    check(
        "[[stream]]\n[[stream]]\nname = \"stream-1\"",
        "t.toml:2, stream stream-1: ",
        "two streams",
        "another",
    );
    let idle = "[[stream]]\nweight = 0\n[[stream]]\nweight = 0";
    check(idle, "t.toml:1: ", "sum up to 0", "weight = 1");
    for name in ["", " ", "a\\u001b", &"x".repeat(33)] {
        let text = format!("[[stream]]\nname = \"{name}\"");
        check(&text, "t.toml:2, stream stream-1, name: ", "it ", "1 to 32 printable characters");
    }
}

#[test]
fn no_text_moves_the_terminal() {
    let message = read_streams("a\u{1b}b", "[[stream]]\n\"\\u001b\" = 1", None).unwrap_err().to_string();
    assert!(!message.contains('\u{1b}'), "{message:?}");
    assert!(!refused("x = \"\u{1b}\"").contains('\u{1b}'));
}

/// A file with every kind of thing in it, to be spoilt.
const WHOLE: &str = include_str!("../../../../examples/mixed.toml");
/// What stands where something else stood.
const PIECES: [&str; 12] = [
    "",
    "0",
    "-1",
    "99999999999999999999",
    "1.5",
    "\"\"",
    "[]",
    "{}",
    "true",
    "vxlan = {}",
    "ipv6",
    "\u{1b}",
];

proptest! {
    #[test]
    fn a_spoilt_file_is_read_or_refused_at_a_line_of_it(
        at in 0..WHOLE.len(), length in 0usize..12, piece in 0..PIECES.len(),
    ) {
        let end = (at + length).min(WHOLE.len());
        let text = format!("{}{}{}", &WHOLE[..at], PIECES[piece], &WHOLE[end..]);
        if let Err(error) = read_streams("t.toml", &text, None) {
            let line = error.flag.strip_prefix("--stream t.toml:").unwrap().split(',').next().unwrap();
            prop_assert!(line.parse::<usize>().unwrap() <= text.lines().count() + 1, "{}", error);
            prop_assert!(!error.to_string().contains('\u{1b}'), "{}", error);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read_streams("t.toml", &text, None);
        let _ = crate::config::size_text::sizes_of(&text, 0, None);
    }
}
