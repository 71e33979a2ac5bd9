#!/usr/bin/env python3
"""swap_sockets.py PID MAP: puts the two AF_XDP sockets of process PID into each other's entry of the XSKMAP with that id.

The kernel then refuses every frame that the program redirects (xsk_rcv_check: another queue's), and no counter of the
sockets tells, as with a driver that drops what is redirected.
"""
import ctypes
import os
import platform
import socket
import struct
import sys

AF_XDP = 44
PIDFD_GETFD = 438
BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
BPF_MAP_UPDATE_ELEM, BPF_MAP_GET_FD_BY_ID = 2, 14

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return call(BPF, command, buffer, len(attributes))


def xdp_sockets(pid):
    """Duplicates of its AF_XDP sockets, in the order in which they were made."""
    pidfd = os.pidfd_open(pid)
    for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int):
        if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
            fd = call(PIDFD_GETFD, pidfd, int(name), 0)
            # Named, since Python would ask the socket for its address, and AF_XDP has none.
            with socket.socket(AF_XDP, socket.SOCK_RAW, 0, fileno=os.dup(fd)) as copy:
                if copy.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN) == AF_XDP:
                    yield fd


def main():
    pid, map_id = int(sys.argv[1]), int(sys.argv[2])
    xsks = bpf(BPF_MAP_GET_FD_BY_ID, struct.pack("=III", map_id, 0, 0))
    first, second = xdp_sockets(pid)
    for queue, fd in enumerate((second, first)):
        key, value = ctypes.c_uint32(queue), ctypes.c_uint32(fd)
        pointers = (ctypes.addressof(key), ctypes.addressof(value))
        bpf(BPF_MAP_UPDATE_ELEM, struct.pack("=IxxxxQQQ", xsks, *pointers, 0))


if __name__ == "__main__":
    main()
