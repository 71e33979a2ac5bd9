//! Flags about headers and stream files: what the streams of a sender are, and what a sink must know of them. The
//! file is read here; what is in it is the configuration's business.

use super::{AddressArgs, LoadArgs};
use crate::config::{
    Addressing, ConfigError, Headers, StreamSet, read_streams, validate_dscp, validate_flows, validate_mpls,
    validate_seed, validate_sizes, validate_tcp, validate_ttl, validate_tunnel, validate_without,
};
use crate::sys::words::words;
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a stream file at the most: 64 streams of long lists, and far from what would fill the memory.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What the headers of frames are; both ends are told the same.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Headers")]
pub struct HeaderArgs {
    /// Streams from a TOML file: any headers, sizes and fields that vary; tx and rx take the same file
    ///
    /// See examples/ in the repository, and `tx --stream FILE --dry-run` for what comes of one.
    #[arg(long, value_name = "FILE")]
    pub stream: Option<PathBuf>,
    /// IPv6, from 2001:2::1 to 2001:2:0:8000::1 unless addresses are stated
    #[arg(long)]
    pub ipv6: bool,
    /// TCP instead of UDP, with these control bits: syn, or syn,ack; no connection is made
    #[arg(long, value_name = "FLAGS")]
    pub tcp: Option<String>,
    /// Frames inside VXLAN with this network identifier: Ethernet, IP and UDP port 4789 outside
    #[arg(long, value_name = "VNI", allow_negative_numbers = true)]
    pub vxlan: Option<String>,
    /// MPLS labels between Ethernet and IP, the outer one first: 16 or 16,17
    #[arg(long, value_name = "LABELS", allow_negative_numbers = true)]
    pub mpls: Option<String>,
    /// IP packets inside GRE
    #[arg(long)]
    pub gre: bool,
    /// IP packets inside GTP-U with this tunnel endpoint identifier: IP and UDP port 2152 outside
    #[arg(long, value_name = "TEID", allow_negative_numbers = true)]
    pub gtpu: Option<String>,
}

impl HeaderArgs {
    /// What a sender sends.
    pub(super) fn of_sender(
        &self,
        load: &LoadArgs,
        args: &AddressArgs,
        address: &Addressing,
    ) -> Result<StreamSet, ConfigError> {
        let stated = validate_seed(load.seed.as_deref())?;
        if let Some(path) = &self.stream {
            self.validate_file_alone(load, args)?;
            return read_file(path, stated);
        }
        let headers = Headers {
            dscp: validate_dscp(args.dscp.as_deref())?,
            ttl: validate_ttl(args.ttl.as_deref())?,
            ..self.headers()?
        };
        self.validate_l2(args)?;
        let layers = headers.layers(address);
        let seed = stated.unwrap_or(0);
        let sizes = validate_sizes(load.size.as_deref(), &layers, seed)?;
        let flows = validate_flows(load.flows.as_deref(), address.l2, address.src_port)?;
        Ok(StreamSet::one(layers, sizes, flows).seeded(seed))
    }

    /// What a sink must know; None where the probes lie behind plain headers. It is told the headers with every number of
    /// VLAN tags, whose ids it does not look at.
    pub(super) fn of_sink(&self) -> Result<Option<StreamSet>, ConfigError> {
        if let Some(path) = &self.stream {
            self.validate_file_alone(&LoadArgs::default(), &AddressArgs::default())?;
            return read_file(path, None).map(Some);
        }
        let headers = self.headers()?;
        if !headers.shape() {
            return Ok(None);
        }
        let tagged = |vlans: &[u16]| {
            let address = Addressing { ipv6: self.ipv6, vlans: vlans.to_vec(), ..Addressing::default() };
            let layers = headers.layers(&address);
            let sizes = validate_sizes(None, &layers, 0)?;
            Ok(StreamSet::one(layers, sizes, 1).streams().to_vec())
        };
        let plans: Result<Vec<_>, ConfigError> = [&[][..], &[0], &[0, 0]].into_iter().map(tagged).collect();
        Ok(StreamSet::new(plans?.concat()))
    }

    fn headers(&self) -> Result<Headers, ConfigError> {
        Ok(Headers {
            tcp: validate_tcp(self.tcp.as_deref())?,
            mpls: validate_mpls(self.mpls.as_deref())?,
            tunnel: validate_tunnel(self.vxlan.as_deref(), self.gre, self.gtpu.as_deref())?,
            ..Headers::default()
        })
    }

    /// The flags of headers that were given.
    fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("--ipv6", self.ipv6),
            ("--tcp", self.tcp.is_some()),
            ("--vxlan", self.vxlan.is_some()),
            ("--mpls", self.mpls.is_some()),
            ("--gre", self.gre),
            ("--gtpu", self.gtpu.is_some()),
        ]
    }

    fn validate_file_alone(&self, load: &LoadArgs, args: &AddressArgs) -> Result<(), ConfigError> {
        let others = [
            ("--vlan", args.vlan.is_some()),
            ("--l2", args.l2),
            ("--dscp", args.dscp.is_some()),
            ("--ttl", args.ttl.is_some()),
            ("--size", load.size.is_some()),
            ("--flows", load.flows.is_some()),
        ];
        let because = "--stream says it in its file, stream by stream";
        validate_without(&[&self.given()[..], &others].concat(), because, "either --stream or this flag")
    }

    fn validate_l2(&self, args: &AddressArgs) -> Result<(), ConfigError> {
        let others = [("--dscp", args.dscp.is_some()), ("--ttl", args.ttl.is_some())];
        let given = if args.l2 { [&self.given()[..], &others].concat() } else { Vec::new() };
        validate_without(
            &given,
            "--l2 frames have no headers behind Ethernet",
            "leave out --l2, or this flag",
        )
    }
}

fn read_file(path: &Path, seed: Option<u64>) -> Result<StreamSet, ConfigError> {
    let name = path.display().to_string();
    let refuse =
        |what: String| ConfigError::new("--stream", &name, what, "a TOML file such as those in examples/");
    let mut text = Vec::new();
    let file = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text));
    if let Err(error) = file {
        return Err(refuse(format!("it cannot be read: {}", words(&error))));
    }
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(refuse(format!("it is longer than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    let text = String::from_utf8(text).map_err(|_| refuse("it is no text".to_owned()))?;
    read_streams(&name, &text, seed)
}
