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

/* Network order, right behind the UDP header or the EtherType. */
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
 *   frames = ours + passed + malformed + unsupported
 *   ours   = redirected + no_socket + counted + control */
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
	XSK_GEN_COUNTERS /* how many there are */
};

/* One row of the counters map: one receive queue on one CPU. */
struct xsk_gen_queue {
	__u64 counter[XSK_GEN_COUNTERS];
};

_Static_assert(sizeof(struct xsk_gen_queue) == 9 * sizeof(__u64), "userspace reads a row as [u64; 9]");

/* The only thing in .rodata, so that every loader can write it as four bytes. */
struct xsk_gen_config {
	__u16 udp_port;   /* destination port of ours, host order; 0: no UDP is ours */
	__u8 count_only;  /* 1: count and drop here, redirect nothing */
	__u8 reserved;    /* 0 */
};

_Static_assert(sizeof(struct xsk_gen_config) == 4, "userspace writes four bytes");
_Static_assert(offsetof(struct xsk_gen_config, count_only) == 2, "userspace writes count_only at 2");

#endif
