//! System calls that no crate gives in the form needed here: one small file a call. With `xsk` the only room where
//! `unsafe` may stand. Errors are plain [`std::io::Error`]s; rooms above turn them into findings or port errors.

pub mod bpf_link;
pub mod clock;
pub mod driver_info;
pub mod huge_page;
pub mod mtu;
pub mod packet_filter;
pub mod packet_socket;
mod packet_tag;
mod ready;
mod socket_option;
pub mod termination;
pub mod tsc;
pub mod words;
pub mod xdp_socket;
