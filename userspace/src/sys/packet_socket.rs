//! A packet socket on one interface, for the few frames that do not go through AF_XDP: what a sender waits for before
//! it starts, and questions for addresses. Frames are as on the wire; knows nothing of what they mean. Source: packet(7).
#![allow(
    unsafe_code,
    reason = "sockaddr_ll, a socket filter and control messages, which no crate here offers"
)]

use super::packet_filter;
use super::packet_tag::{self, VlanTag};
use super::ready;
use super::socket_option::SocketOption;
use crate::units::Nanos;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// linux/if_packet.h: leaves frames that this host sends out of what is received. Linux 4.20.
const PACKET_IGNORE_OUTGOING: SocketOption = packet_option(23);
const PACKET_AUXDATA: SocketOption = packet_option(libc::PACKET_AUXDATA);
const PACKET_ADD_MEMBERSHIP: SocketOption = packet_option(libc::PACKET_ADD_MEMBERSHIP);
const PACKET_DROP_MEMBERSHIP: SocketOption = packet_option(libc::PACKET_DROP_MEMBERSHIP);
const SO_ATTACH_FILTER: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: libc::SO_ATTACH_FILTER };
/// Every EtherType, in network order as the kernel wants it.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();
/// EtherType of a tag whose own is not told.
const ETHERTYPE_VLAN: u16 = 0x8100;

const fn packet_option(name: c_int) -> SocketOption {
    SocketOption { level: libc::SOL_PACKET, name }
}

/// A raw packet socket bound to one interface, closed when dropped.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    ifindex: u32,
}

impl PacketSocket {
    /// A socket that receives every frame arriving on the interface (not those this host sends) and may send.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for no such interface, ENETDOWN for one that is down.
    pub fn open(ifindex: u32) -> io::Result<Self> {
        Self::open_with(ifindex, None)
    }

    /// As [`PacketSocket::open`], but receives only what may be ours: UDP to `port`, EtherType 0x88B5, and what has
    /// more than one VLAN tag. The caller still looks at each frame.
    ///
    /// # Errors
    /// As of [`PacketSocket::open`].
    pub fn open_for_ours(ifindex: u32, port: u16) -> io::Result<Self> {
        Self::open_with(ifindex, Some(&mut packet_filter::ours(port)))
    }

    /// As [`PacketSocket::open`], but receives only ARP, neighbour discovery, and what has more than one VLAN tag. The
    /// caller still looks at each frame.
    ///
    /// # Errors
    /// As of [`PacketSocket::open`].
    pub fn open_for_neighbours(ifindex: u32) -> io::Result<Self> {
        Self::open_with(ifindex, Some(&mut packet_filter::neighbours()))
    }

    fn open_with(ifindex: u32, filter: Option<&mut [libc::sock_filter]>) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // Protocol 0 receives nothing until bind, so no frame comes in past the filter or from another interface.
        // SAFETY: socket(2) takes no pointer.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just returned by socket(2), so it is open and nobody else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        PACKET_IGNORE_OUTGOING.set(fd.as_raw_fd(), &1u32)?;
        PACKET_AUXDATA.set(fd.as_raw_fd(), &1u32)?;
        if let Some(program) = filter {
            attach_filter(fd.as_raw_fd(), program)?;
        }
        bind(fd.as_raw_fd(), ifindex)?;
        Ok(Self { fd, ifindex })
    }

    /// Receives frames for other MACs too, or no longer. The kernel takes it back when the socket closes.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_promiscuous(&self, on: bool) -> io::Result<()> {
        let option = if on { PACKET_ADD_MEMBERSHIP } else { PACKET_DROP_MEMBERSHIP };
        option.set(self.fd.as_raw_fd(), &self.membership(libc::PACKET_MR_PROMISC, &[])?)
    }

    /// Receives frames for the multicast MAC too. The kernel takes it back when the socket closes.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn join(&self, group: [u8; 6]) -> io::Result<()> {
        let request = self.membership(libc::PACKET_MR_MULTICAST, &group)?;
        PACKET_ADD_MEMBERSHIP.set(self.fd.as_raw_fd(), &request)
    }

    fn membership(&self, kind: c_int, address: &[u8]) -> io::Result<libc::packet_mreq> {
        let mut mr_address = [0; 8];
        for (to, from) in mr_address.iter_mut().zip(address) {
            *to = *from;
        }
        Ok(libc::packet_mreq {
            mr_ifindex: signed_index(self.ifindex)?,
            mr_type: kind as libc::c_ushort,
            mr_alen: address.len().min(mr_address.len()) as libc::c_ushort,
            mr_address,
        })
    }

    /// The next frame into `buf`, from the destination MAC on, without FCS, its VLAN tags where the wire had them; its
    /// length, or None when nothing is there. A longer frame is cut to `buf`.
    ///
    /// # Errors
    /// ENETDOWN once when the interface goes down; what else the kernel said.
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let mut control = Control([0; CONTROL_BYTES]);
        let mut parts = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
        // SAFETY: msghdr is plain data, for which zeroes mean "absent".
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut parts;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: `message` points at `buf`, `parts` and `control`, each with its own length, all alive for the call.
        let length = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut message, 0) };
        let Ok(length) = usize::try_from(length) else { return nothing_yet(io::Error::last_os_error()) };
        Ok(Some(match tag_of(&message) {
            Some(tag) => packet_tag::insert(buf, length, tag),
            None => length,
        }))
    }

    /// Sends one frame, given from the destination MAC on and without FCS.
    ///
    /// # Errors
    /// EMSGSIZE above the MTU, ENOBUFS or EAGAIN when the queue is full, ENETDOWN, ENXIO.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length are those of `frame`, which the kernel only reads.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        match usize::try_from(sent) {
            Ok(length) if length == frame.len() => Ok(()),
            Ok(_) => Err(io::Error::other("only part of the frame was sent")),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }

    /// Sleeps until a frame is there or `timeout` has passed; whether one is. A signal ends it early.
    ///
    /// # Errors
    /// What the kernel said, EINTR left out.
    pub fn wait(&self, timeout: Nanos) -> io::Result<bool> {
        ready::readable(self.fd.as_raw_fd(), timeout)
    }
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Room for the one control message asked for, with its header and padding.
const CONTROL_BYTES: usize = 64;

/// Control messages start at a header, so the buffer is aligned like one.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

fn nothing_yet(error: io::Error) -> io::Result<Option<usize>> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}

fn bind(fd: RawFd, ifindex: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: ALL_PROTOCOLS,
        sll_ifindex: signed_index(ifindex)?,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: pointer and length are those of `address`, which outlives the call and is only read.
    let result = unsafe { libc::bind(fd, (&raw const address).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn attach_filter(fd: RawFd, program: &mut [libc::sock_filter]) -> io::Result<()> {
    let header = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // The kernel copies the program while `program` is alive.
    SO_ATTACH_FILTER.set(fd, &header)
}

/// The index as packet sockets write it; 0 would mean "any interface".
fn signed_index(ifindex: u32) -> io::Result<c_int> {
    match c_int::try_from(ifindex) {
        Ok(index) if index > 0 => Ok(index),
        _ => Err(io::Error::from_raw_os_error(libc::ENODEV)),
    }
}

/// The tag that the kernel took out, from the auxiliary data of a received message.
fn tag_of(message: &libc::msghdr) -> Option<VlanTag> {
    // SAFETY: `message` was filled by recvmsg, so its control pointer and length describe valid messages.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    let is_auxdata = header.cmsg_level == libc::SOL_PACKET && header.cmsg_type == libc::PACKET_AUXDATA;
    // SAFETY: arithmetic on sizes only.
    let whole = unsafe { libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as u32) } as usize;
    if !is_auxdata || (header.cmsg_len as usize) < whole {
        return None;
    }
    // SAFETY: the message is PACKET_AUXDATA and long enough for it; read unaligned, since nothing promises more.
    let data = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
    let told = |flag: u32| data.tp_status & flag != 0;
    let protocol = if told(libc::TP_STATUS_VLAN_TPID_VALID) { data.tp_vlan_tpid } else { ETHERTYPE_VLAN };
    told(libc::TP_STATUS_VLAN_VALID).then_some(VlanTag { protocol, control: data.tp_vlan_tci })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interface_is_never_any_interface() {
        assert_eq!(signed_index(0).unwrap_err().raw_os_error(), Some(libc::ENODEV));
        assert_eq!(signed_index(u32::MAX).unwrap_err().raw_os_error(), Some(libc::ENODEV));
        assert_eq!(signed_index(7).unwrap(), 7);
    }

    #[test]
    fn nothing_there_is_no_error() {
        for errno in [libc::EAGAIN, libc::EINTR] {
            assert_eq!(nothing_yet(io::Error::from_raw_os_error(errno)).unwrap(), None);
        }
        assert!(nothing_yet(io::Error::from_raw_os_error(libc::ENETDOWN)).is_err());
    }
}
