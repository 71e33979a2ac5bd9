//! Choices made valid, or refused with a remedy. Knows no command-line parser and no fact about the machine: what
//! is refused here is refused everywhere.

mod address;
mod condition;
mod error;
mod headers;
mod load;
mod matching;
mod modes;
mod number;
mod output;
mod placement;
mod plan;
mod recording;
mod replay;
mod resolving;
mod rings;
mod runs;
mod size_text;
mod spacing;
mod stream_file;
mod stream_plan;
mod tcp_flags;
mod time;
mod timing;

pub use address::{
    Addressing, DEFAULT_PORT, DEFAULT_SRC_PORT, Family, validate_dst_mac, validate_ips, validate_port,
    validate_src_mac, validate_vlans,
};
pub use condition::{Bound, Condition, Relation, Subject, validate_for_sender};
pub use error::{ConfigError, validate_without};
pub use headers::{
    Headers, Tunnel, validate_dscp, validate_mpls, validate_tcp, validate_ttl, validate_tunnel,
};
pub use load::{
    validate_count, validate_flows, validate_rate, validate_run_tag, validate_seed, validate_sizes,
};
pub use matching::{Match, validate_match};
pub use modes::{DEFAULT_BUSY_POLL, Modes, XdpChoice, XskChoice, validate_busy_poll};
pub use output::Output;
pub use placement::{Placement, validate_list, validate_placement};
pub use plan::{Asked, RatePlan, Step};
pub use recording::{Recording, Written};
pub use replay::Replay;
pub use resolving::{validate_answer, validate_resolve};
pub use rings::{DEFAULT_BATCH, DEFAULT_RX_RING, DEFAULT_TX_RING, Rings, validate_batch};
pub use runs::{
    DEFAULT_DURATION, DEFAULT_WAIT_LINK, DEMO_RX, DEMO_TX, DemoConfig, Out, Role, RxConfig, TxConfig,
    sending_time, validate_iface, validate_out, validate_sink,
};
pub use spacing::{Spacing, validate_spacing};
pub use stream_file::read_streams;
pub use stream_plan::{MAX_STREAMS, StreamPlan, StreamSet, validate_numbered};
pub use time::{LEAST_INTERVAL, validate_interval, validate_span, validate_wait};
pub use timing::{TimestampChoice, validate_timestamps, validate_timing};
