/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* A stream as plain tables: the numbers from which both the sender in userspace and a program inside the kernel make
 * the same frame. src/table.rs says the same in Rust. Knows no header and no packet. */
#ifndef XSK_GEN_TABLE_H
#define XSK_GEN_TABLE_H

#include <linux/types.h>

#define XSK_GEN_MAX_ROWS 16
#define XSK_GEN_MAX_FOLLOWS 16
#define XSK_GEN_MAX_SUMS 8
/* Offsets in the frame are below this, so that a mask bounds them. */
#define XSK_GEN_MAX_OFFSET 1024
/* No such place in the frame. */
#define XSK_GEN_NOWHERE (~0ULL)

enum xsk_gen_kind {
	XSK_GEN_STEP,   /* a + (n mod c) * b; c 0: n as it is */
	XSK_GEN_LIST,   /* list[a + n mod c] */
	XSK_GEN_RANDOM, /* a + hash(b, n) mod c; c 0: the hash as it is */
};

/* A field that differs from frame to frame. */
struct xsk_gen_row {
	__u64 kind;
	__u64 per_flow;   /* n is the flow; otherwise the index */
	__u64 at;         /* first byte that the field has bits in */
	__u64 width;      /* how many bytes, 1 to 8 */
	__u64 shift;      /* of the value in them */
	__u64 mask;       /* the field's bits in them */
	__u64 a, b, c;
	__u64 covers;     /* checksums over it, a bit each */
	__u64 word_shift; /* of its bytes in a checksum's words */
};

/* A u16 that is the frame's length less a constant. */
struct xsk_gen_follows {
	__u64 at; /* or nowhere: it only counts in a pseudo-header */
	__u64 minus;
	__u64 covers;
};

/* A checksum, innermost first. */
struct xsk_gen_sum {
	__u64 at;
	__u64 constant; /* sum of what is the same in each frame */
	__u64 never_zero;
	__u64 own;      /* its number */
	__u64 covers;   /* checksums over it */
};

struct xsk_gen_table {
	__u64 rows, follows, checks;
	__u64 probe_at; /* or nowhere */
	__u64 probe_covers, probe_word_shift;
	__u64 run, space, clock;
	struct xsk_gen_row row[XSK_GEN_MAX_ROWS];
	struct xsk_gen_follows follow[XSK_GEN_MAX_FOLLOWS];
	struct xsk_gen_sum check[XSK_GEN_MAX_SUMS];
};

/* Which frame. */
struct xsk_gen_which {
	__u64 seq, index, flow;
	__u64 sent;     /* ns */
	__u64 measured; /* the phase */
};

#endif
