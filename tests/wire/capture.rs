//! Captures at the far end with tcpdump and dissects with tshark, which also validates the checksums. Knows the
//! probe's layout from its definition only.

use crate::support::{End, NetLab, Running, until};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::NamedTempFile;

const DEADLINE: Duration = Duration::from_secs(30);

/// What tshark says of a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// It equals tshark's own computation.
    Good,
    /// It does not.
    Bad,
    /// The header has none, or there is no such header.
    None,
}

/// One captured frame.
#[derive(Debug)]
pub struct Packet {
    /// Bytes, without FCS.
    pub length: usize,
    /// The EtherType behind the MACs.
    pub ether_type: String,
    /// VLAN ids, outermost first.
    pub vlans: Vec<u16>,
    /// Of the IPv4 header.
    pub ip_checksum: Checksum,
    /// Of the UDP datagram.
    pub udp_checksum: Checksum,
    /// Source address and UDP port.
    pub source: String,
    /// What lies behind the innermost header.
    pub payload: Vec<u8>,
}

/// The probe: magic u16, run u16, stream u16, sequence u32, clock u16, sent u48, in network order.
const MAGIC: [u8; 2] = [0x58, 0x47];
const CONTROL_STREAM: [u8; 2] = [0xFF, 0xFF];

impl Packet {
    /// Whether it is one of the numbered frames and no control frame.
    pub fn is_probe(&self) -> bool {
        self.payload.starts_with(&MAGIC) && self.payload.get(4..6) != Some(&CONTROL_STREAM)
    }

    /// Its sequence number.
    pub fn sequence(&self) -> u32 {
        self.payload[6..10].iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }
}

/// Runs `tx` with `args` at end A and gives what arrived at end B, once `bytes` bytes of frames have.
pub fn record(lab: &NetLab, bytes: usize, args: &[&str]) -> Vec<Packet> {
    let file = NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let mut tcpdump = lab.command(End::B, "tcpdump");
    // -Z: the file belongs to root. -U: written frame by frame, so that its size tells how far it is.
    tcpdump.args(["-i", End::B.interface(), "-n", "-s", "0", "-B", "16384", "-U", "-Z", "root", "-w", path]);
    let tcpdump = Running::start(&mut tcpdump);
    until("tcpdump to listen", DEADLINE, || tcpdump.stderr().contains("listening on"));
    lab.start(End::A, "tx", args).wait(DEADLINE).expect_code(0);
    // The control frames and pcap's own headers count as well, so there may be more to come: until it grows
    // no more.
    let mut before = 0;
    until("the frames to be captured", DEADLINE, || {
        std::thread::sleep(Duration::from_millis(100));
        let now = size_of(file.path());
        std::mem::replace(&mut before, now) == now && now >= bytes
    });
    let done = tcpdump.interrupt(DEADLINE);
    assert!(done.stderr.contains("\n0 packets dropped by kernel"), "{}", done.stderr);
    dissect(&file)
}

fn size_of(path: &Path) -> usize {
    usize::try_from(path.metadata().unwrap().len()).unwrap()
}

const FIELDS: [&str; 11] = [
    "frame.len",
    "eth.type",
    "ieee8021ad.id",
    "vlan.id",
    "ip.checksum.status",
    "udp.checksum.status",
    "ip.src",
    "ipv6.src",
    "udp.srcport",
    "udp.payload",
    "data.data",
];

/// Reads a capture with tshark.
pub fn dissect(file: &NamedTempFile) -> Vec<Packet> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file.path()).args(["-n", "-T", "fields"]);
    tshark.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    // The first of several: a tag's header has an EtherType too.
    tshark.args(["-E", "occurrence=f", "-d", "udp.port==9,data"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let done = tshark.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().lines().map(packet).collect()
}

fn packet(line: &str) -> Packet {
    let fields: Vec<&str> = line.split('\t').collect();
    let [length, ether_type, outer, vlan, ip, udp, src4, src6, port, udp_payload, data] = fields[..] else {
        panic!("not {} fields: {line}", FIELDS.len())
    };
    Packet {
        length: length.parse().unwrap(),
        ether_type: ether_type.to_owned(),
        vlans: [outer, vlan].iter().filter(|id| !id.is_empty()).map(|id| id.parse().unwrap()).collect(),
        ip_checksum: checksum(ip),
        udp_checksum: checksum(udp),
        source: format!("{src4}{src6} {port}"),
        payload: bytes_of(if udp_payload.is_empty() { data } else { udp_payload }),
    }
}

/// Wireshark's values: 0 bad, 1 good, 3 not present.
fn checksum(status: &str) -> Checksum {
    match status {
        "0" => Checksum::Bad,
        "1" => Checksum::Good,
        "" | "3" => Checksum::None,
        other => panic!("tshark does not verify: status {other}"),
    }
}

/// The bytes of hexadecimal digits.
pub fn bytes_of(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// A capture file with these frames (pcap 2.4, LINKTYPE_ETHERNET).
pub fn pcap_of(frames: &[Vec<u8>]) -> NamedTempFile {
    let header: [u32; 6] = [0xA1B2_C3D4, 2 | 4 << 16, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for frame in frames {
        let length = u32::try_from(frame.len()).unwrap();
        bytes.extend([0, 0, length, length].iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(frame);
    }
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}
