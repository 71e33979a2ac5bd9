//! Captures byte by byte, as the formats' definitions have them (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng): for
//! tests. Knows nothing of the library that reads them.

/// The order of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    fn u32(self, n: u32) -> [u8; 4] {
        if self == Self::Little { n.to_le_bytes() } else { n.to_be_bytes() }
    }

    fn u16(self, n: u16) -> [u8; 2] {
        if self == Self::Little { n.to_le_bytes() } else { n.to_be_bytes() }
    }
}

fn len(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

/// A pcap file.
pub struct Pcap {
    pub bytes: Vec<u8>,
    order: Order,
}

impl Pcap {
    pub fn new(order: Order, nanoseconds: bool) -> Self {
        Self::with(order, nanoseconds, 1)
    }

    pub fn of_link(link: u32) -> Self {
        Self::with(Order::Little, false, link)
    }

    fn with(order: Order, nanoseconds: bool, link: u32) -> Self {
        let magic = if nanoseconds { 0xA1B2_3C4D } else { 0xA1B2_C3D4 };
        let mut bytes = order.u32(magic).to_vec();
        bytes.extend([order.u16(2), order.u16(4)].concat());
        bytes.extend([0, 0, 65_535, link].iter().flat_map(|word| order.u32(*word)));
        Self { bytes, order }
    }

    /// A record at `seconds` and a fraction.
    pub fn record(mut self, seconds: u32, fraction: u32, frame: &[u8], wire_len: u32) -> Self {
        let words = [seconds, fraction, len(frame), wire_len];
        self.bytes.extend(words.iter().flat_map(|word| self.order.u32(*word)));
        self.bytes.extend(frame);
        self
    }
}

/// A pcapng file.
pub struct Ng {
    pub bytes: Vec<u8>,
    order: Order,
}

/// A block of pcapng around a body, which is padded.
pub fn ng_block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let total = order.u32(12 + len(body) + len(&padding));
    [&order.u32(kind)[..], &total, body, &padding, &total].concat()
}

impl Ng {
    pub fn new(order: Order) -> Self {
        let body = [&order.u32(0x1A2B_3C4D)[..], &order.u16(1), &order.u16(0), &[0xFF; 8]].concat();
        Self { bytes: ng_block(order, 0x0A0D_0D0A, &body), order }
    }

    fn block(mut self, kind: u32, body: &[u8]) -> Self {
        self.bytes.extend(ng_block(self.order, kind, body));
        self
    }

    /// An interface of a link type, with options by number.
    pub fn interface(self, link: u16, options: &[(u16, &[u8])]) -> Self {
        let order = self.order;
        let mut body = [&order.u16(link)[..], &[0; 2], &order.u32(65_535)].concat();
        for (code, value) in options {
            let size = u16::try_from(value.len()).unwrap();
            body.extend([&order.u16(*code)[..], &order.u16(size), value].concat());
            body.resize(body.len().next_multiple_of(4), 0);
        }
        if !options.is_empty() {
            body.extend([0; 4]);
        }
        self.block(1, &body)
    }

    /// An enhanced packet.
    pub fn packet(self, interface: u32, ticks: u64, frame: &[u8], wire_len: u32) -> Self {
        let [high, low] = [ticks >> 32, ticks & 0xFFFF_FFFF].map(|half| u32::try_from(half).unwrap());
        let words = [interface, high, low, len(frame), wire_len];
        let head: Vec<u8> = words.iter().flat_map(|word| self.order.u32(*word)).collect();
        self.block(6, &[&head, frame].concat())
    }

    /// A simple packet, which has no time.
    pub fn simple(self, frame: &[u8]) -> Self {
        let head = self.order.u32(len(frame));
        self.block(3, &[&head, frame].concat())
    }
}
