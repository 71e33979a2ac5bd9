// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* Makes a frame of a stream inside the kernel, from the tables that the sender in userspace works with. The packet
 * that comes in holds any frame of the stream, or its template. Knows no interface. */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "layouts.h"
#include "table.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define MEASURED 0x8000
#define SENT_MASK ((1ULL << 48) - 1)

const volatile struct xsk_gen_table table;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xsk_gen_which);
} which SEC(".maps");

/* Values of all lists, one behind the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lists SEC(".maps");

/* What differs, by checksum. */
struct sums {
	__u64 sum[XSK_GEN_MAX_SUMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sums);
} scratch SEC(".maps");

static __always_inline __u64 rest(__u64 n, __u64 modulus)
{
	return modulus ? n % modulus : n;
}

/* The n-th output of SplitMix64. */
static __always_inline __u64 hash(__u64 seed, __u64 n)
{
	__u64 z = seed + (n + 1) * 0x9E3779B97F4A7C15ULL;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static __always_inline __u64 value(const volatile struct xsk_gen_row *row, __u64 n)
{
	__u64 *listed;
	__u32 at;

	switch (row->kind) {
	case XSK_GEN_STEP:
		return row->a + rest(n, row->c) * row->b;
	case XSK_GEN_LIST:
		at = row->a + rest(n, row->c);
		listed = bpf_map_lookup_elem(&lists, &at);
		return listed ? *listed : 0;
	default:
		return row->a + rest(hash(row->b, n), row->c);
	}
}

/* The byte at `at`; null past the end. */
static __always_inline __u8 *byte(struct xdp_md *ctx, __u64 at)
{
	__u8 *p;

	at &= XSK_GEN_MAX_OFFSET - 1;
	/* Otherwise clang keeps a sum with data_end from one byte to the next, which the verifier forbids. */
	asm volatile("" : "+r"(at));
	p = (void *)(long)ctx->data + at;
	return (void *)(p + 1) > (void *)(long)ctx->data_end ? NULL : p;
}

/* The bytes at..at + width as one number, and back. False past the end. */
static __always_inline bool get(struct xdp_md *ctx, __u64 at, __u64 width, __u64 *number)
{
	__u64 n = 0;
	__u8 *p;
	int i;

	for (i = 0; i < 8 && i < width; i++) {
		p = byte(ctx, at + i);
		if (!p)
			return false;
		n = n << 8 | *p;
	}
	*number = n;
	return true;
}

static __always_inline bool put(struct xdp_md *ctx, __u64 at, __u64 width, __u64 number)
{
	__u8 *p;
	int i;

	for (i = 0; i < 8 && i < width; i++) {
		p = byte(ctx, at + i);
		if (!p)
			return false;
		*p = number >> ((width - 1 - i) * 8 & 63);
	}
	return true;
}

static __always_inline void add(struct sums *sums, __u64 covers, __u64 share)
{
	int i;

	for (i = 0; i < XSK_GEN_MAX_SUMS; i++)
		if (covers & 1 << i)
			sums->sum[i] += share;
}

/* A sum in 16 bits (RFC 1071). */
static __always_inline __u16 fold(__u64 sum)
{
	sum = (sum >> 32) + (sum & 0xFFFFFFFF);
	sum = (sum >> 16) + (sum & 0xFFFF);
	sum = (sum >> 16) + (sum & 0xFFFF);
	return (sum >> 16) + (sum & 0xFFFF);
}

static __always_inline bool fields(struct xdp_md *ctx, const struct xsk_gen_which *w, struct sums *sums)
{
	__u64 bits, kept;
	int i;

	for (i = 0; i < XSK_GEN_MAX_ROWS && i < table.rows; i++) {
		const volatile struct xsk_gen_row *row = &table.row[i];

		bits = value(row, row->per_flow ? w->flow : w->index) << (row->shift & 63) & row->mask;
		if (!get(ctx, row->at, row->width, &kept))
			return false;
		if (!put(ctx, row->at, row->width, (kept & ~row->mask) | bits))
			return false;
		bits = (bits >> 32) + (bits & 0xFFFFFFFF);
		add(sums, row->covers, bits << (row->word_shift & 63));
	}
	return true;
}

static __always_inline bool probe(struct xdp_md *ctx, const struct xsk_gen_which *w, struct sums *sums)
{
	__u64 at = table.probe_at, phase = w->measured ? MEASURED : 0, sent = w->sent & SENT_MASK;

	if (at == XSK_GEN_NOWHERE)
		return true;
	add(sums, table.probe_covers, ((w->seq & 0xFFFFFFFF) + sent + phase) << (table.probe_word_shift & 63));
	return put(ctx, at, 2, XSK_GEN_MAGIC) && put(ctx, at + 2, 2, table.run) &&
	       put(ctx, at + 4, 2, table.space | phase) && put(ctx, at + 6, 4, w->seq) &&
	       put(ctx, at + 10, 2, table.clock) && put(ctx, at + 12, 6, sent);
}

static __always_inline bool lengths(struct xdp_md *ctx, struct sums *sums)
{
	__u64 len = ctx->data_end - ctx->data, length;
	int i;

	for (i = 0; i < XSK_GEN_MAX_FOLLOWS && i < table.follows; i++) {
		const volatile struct xsk_gen_follows *f = &table.follow[i];

		length = len - f->minus;
		if (f->at != XSK_GEN_NOWHERE && !put(ctx, f->at, 2, length))
			return false;
		add(sums, f->covers, length);
	}
	return true;
}

static __always_inline bool checksums(struct xdp_md *ctx, struct sums *sums)
{
	int i;

	for (i = 0; i < XSK_GEN_MAX_SUMS && i < table.checks; i++) {
		const volatile struct xsk_gen_sum *check = &table.check[i];
		__u16 field = ~fold(check->constant + sums->sum[check->own & (XSK_GEN_MAX_SUMS - 1)]);

		if (!field && check->never_zero)
			field = 0xFFFF;
		if (!put(ctx, check->at, 2, field))
			return false;
		add(sums, check->covers, field);
	}
	return true;
}

SEC("xdp")
int xsk_gen_build(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct xsk_gen_which *w = bpf_map_lookup_elem(&which, &zero);
	struct sums *sums = bpf_map_lookup_elem(&scratch, &zero);

	if (!w || !sums)
		return XDP_ABORTED;
	__builtin_memset(sums, 0, sizeof(*sums));
	if (!fields(ctx, w, sums) || !probe(ctx, w, sums) || !lengths(ctx, sums) || !checksums(ctx, sums))
		return XDP_ABORTED;
	return XDP_TX;
}
