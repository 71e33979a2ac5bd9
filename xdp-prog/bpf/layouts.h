/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* What the XDP programs and userspace share: the probe, the counters and the configuration. src/lib.rs says the same
 * in Rust, and its tests read this file to prove it. Knows neither frames nor verdicts. */
#ifndef XSK_GEN_LAYOUTS_H
#define XSK_GEN_LAYOUTS_H

#include <linux/types.h>
#include <stddef.h>

/* "XG": the first two bytes of a probe. */
#define XSK_GEN_MAGIC 0x5847
/* IEEE Std 802: local experimental EtherType 1; the probe stands right behind it. */
#define XSK_GEN_ETHERTYPE 0x88B5
/* The stream of a control frame; no sequence space bears this number. */
#define XSK_GEN_CONTROL_STREAM 0xFFFF
/* Receive queues that the maps hold unless userspace asks for another number. */
#define XSK_GEN_MAX_QUEUES 256

/* Network order, right behind the UDP header or the EtherType. On its way back from a reflector magic and stream have
 * changed places. */
struct xsk_gen_probe {
	__be16 magic;
	__be16 run;
	__be16 stream;
	__be32 seq;
	__be16 clock;
	__u8 sent[6];
} __attribute__((packed));

_Static_assert(sizeof(struct xsk_gen_probe) == 18, "a probe fits a 64-byte IPv4 frame exactly");

/* Index of each counter in a queue's row. Two sums hold:
 *   frames       = ours + taken + passed + malformed + unsupported
 *   ours + taken = redirected + no_socket + counted + control + no_room
 * Of taken there are only frames that were redirected or counted: one without a socket is passed, and counts as that.
 * Hashed and untimed are of the frames that were stamped by a program that is bound to its device. */
enum xsk_gen_counter {
	XSK_GEN_OURS,
	XSK_GEN_REDIRECTED,
	XSK_GEN_NO_SOCKET,
	XSK_GEN_COUNTED,
	XSK_GEN_CONTROL,
	XSK_GEN_PASSED,
	XSK_GEN_MALFORMED,
	XSK_GEN_UNSUPPORTED,
	XSK_GEN_BYTES,
	XSK_GEN_TAKEN,
	XSK_GEN_TAKEN_BYTES,
	XSK_GEN_NO_ROOM,
	XSK_GEN_HASHED,
	XSK_GEN_UNTIMED,
	XSK_GEN_COUNTERS /* how many there are */
};

/* One row of the counters map: one receive queue on one CPU. */
struct xsk_gen_queue {
	__u64 counter[XSK_GEN_COUNTERS];
};

_Static_assert(sizeof(struct xsk_gen_queue) == 14 * sizeof(__u64), "userspace reads a row as [u64; 14]");

/* Shapes that can be told: userspace has a stream file's, each with its outermost tag and without. */
#define XSK_GEN_MAX_SHAPES 128
/* Half-word checks of one shape. */
#define XSK_GEN_MAX_CHECKS 20
/* Headers of a shape in bytes: no check reaches beyond, and no probe begins beyond. */
#define XSK_GEN_MAX_HEADER 512

/* The only thing in .rodata, so that every loader can write it as fourteen bytes. Numbers are in host order. */
struct xsk_gen_config {
	__u16 udp_port;        /* destination port of ours; 0: no UDP is ours */
	__u16 ether_type;      /* take frames of this EtherType, behind up to two tags; 0: none */
	__u16 vlan;            /* where with_vlan: take only frames whose outermost tag has this id */
	__u16 shapes;          /* how many of the shapes are told */
	__u8 count_only;       /* 1: count and drop here, redirect nothing */
	__u8 any;              /* 1: take every frame */
	__u8 with_vlan;        /* 1: vlan is asked for */
	__u8 leave_neighbours; /* 1: any leaves ARP and IPv6 neighbour discovery to the stack */
	__u8 stamp;            /* 1: a frame that goes to a socket has struct xsk_gen_stamp in front of it, without exception */
	__u8 back;             /* 1: ours are probes that a reflector sent back: udp_port is where they come from, and magic and stream have changed places */
};

_Static_assert(sizeof(struct xsk_gen_config) == 14, "userspace writes fourteen bytes");
_Static_assert(offsetof(struct xsk_gen_config, count_only) == 8, "userspace writes the flags from 8 on");

/* In front of each frame that is sent to a socket, where stamp is set; host order. Nothing in it tells it from a frame: that
 * it is there is certain, since a frame that has no room for it goes to no socket. */
struct xsk_gen_stamp {
	__u64 xdp_ns; /* when the program saw the frame: CLOCK_MONOTONIC of the initial time namespace */
	__u64 nic_ns; /* when the NIC received it; 0: not known */
};

_Static_assert(sizeof(struct xsk_gen_stamp) == 16, "userspace strips sixteen bytes");

/* Two bytes of a frame in network order, and what they must be. */
struct xsk_gen_check {
	__u16 at;    /* first byte; even or odd */
	__u16 mask;  /* the bits that count */
	__u16 value; /* their value */
	__u16 pad;   /* 0 */
};

/* Frames of one stack that parse.h does not know. */
struct xsk_gen_shape {
	__u16 probe;  /* first byte of the probe */
	__u16 checks; /* how many of the checks are told */
	struct xsk_gen_check check[XSK_GEN_MAX_CHECKS];
};

_Static_assert(sizeof(struct xsk_gen_shape) == 164, "userspace writes 164 bytes a shape");

#endif
