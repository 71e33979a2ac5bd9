// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* The XDP programs: what becomes of a frame, and which counter says so. Which frames are taken is match.h's, what the device
 * knows of one metadata.h's. */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "layouts.h"
#include "match.h"
#include "metadata.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* AF_XDP sockets by receive queue. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, XSK_GEN_MAX_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks SEC(".maps");

/* Counters by receive queue; per CPU, so that counting takes no lock. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XSK_GEN_MAX_QUEUES);
	__type(key, __u32);
	__type(value, struct xsk_gen_queue);
} counters SEC(".maps");

/* Control frames that no socket can have go to the stack, where the sink's packet socket finds them. */
static __always_inline int pass_control(struct xsk_gen_queue *q)
{
	q->counter[XSK_GEN_CONTROL]++;
	return XDP_PASS;
}

/* Puts the times in front of a frame that a socket is to have. False where there is no room: XDP leaves 256 bytes of it, and
 * other programs may have used them. */
static __always_inline bool stamp(struct xdp_md *ctx, struct xsk_gen_queue *q)
{
	struct xsk_gen_stamp *at;
	/* First: some drivers keep what they know in front of the frame. */
	__u64 nic_ns = read_metadata(ctx, q);

	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*at)))
		return false;
	at = (void *)(long)ctx->data;
	if ((void *)(at + 1) > (void *)(long)ctx->data_end)
		return false;
	at->xdp_ns = bpf_ktime_get_ns();
	at->nic_ns = nic_ns;
	return true;
}

/* Our own test traffic never loads the stack: a probe that has no socket is dropped, and counted as that. */
static __always_inline int to_socket(struct xdp_md *ctx, struct xsk_gen_queue *q, __u32 queue, enum what what)
{
	/* The flags say what to return when the map has no such entry: one look-up instead of two. */
	int verdict = bpf_redirect_map(&xsks, queue, XDP_DROP);

	if (verdict == XDP_REDIRECT && (!cfg.stamp || stamp(ctx, q))) {
		q->counter[XSK_GEN_REDIRECTED]++;
		return verdict;
	}
	if (what == CONTROL)
		return pass_control(q);
	q->counter[verdict == XDP_REDIRECT ? XSK_GEN_NO_ROOM : XSK_GEN_NO_SOCKET]++;
	return XDP_DROP;
}

static __always_inline int count_only(struct xsk_gen_queue *q, enum what what)
{
	if (what == CONTROL)
		return pass_control(q);
	q->counter[XSK_GEN_COUNTED]++;
	return XDP_DROP;
}

/* What is not ours is taken because it was asked for: counted and dropped, or sent to a socket. Nobody else's frame is
 * dropped for want of one. */
static __always_inline int take(struct xdp_md *ctx, struct xsk_gen_queue *q, __u32 queue, __u32 len)
{
	int verdict = XDP_DROP;

	if (!cfg.count_only) {
		verdict = bpf_redirect_map(&xsks, queue, XDP_PASS);
		if (verdict != XDP_REDIRECT || (cfg.stamp && !stamp(ctx, q))) {
			q->counter[XSK_GEN_PASSED]++;
			return XDP_PASS;
		}
	}
	q->counter[cfg.count_only ? XSK_GEN_COUNTED : XSK_GEN_REDIRECTED]++;
	q->counter[XSK_GEN_TAKEN]++;
	q->counter[XSK_GEN_TAKEN_BYTES] += len;
	return verdict;
}

/* Takes what is ours, and what else was asked for, off the interface; the rest passes as if no program were there. */
SEC("xdp.frags")
int xsk_gen_rx(struct xdp_md *ctx)
{
	__u32 queue = ctx->rx_queue_index;
	struct frame f = {
		.data = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
		.len = bpf_xdp_get_buff_len(ctx),
		.back = cfg.back,
	};
	struct xsk_gen_queue *q = bpf_map_lookup_elem(&counters, &queue);
	enum what what;

	/* A queue beyond the maps: userspace makes them as large as the device can have queues. */
	if (!q)
		return XDP_PASS;
	what = match(&f);
	switch (what) {
	case PROBE:
	case CONTROL:
		q->counter[XSK_GEN_OURS]++;
		q->counter[XSK_GEN_BYTES] += f.len;
		return cfg.count_only ? count_only(q, what) : to_socket(ctx, q, queue, what);
	case TAKEN:
		return take(ctx, q, queue, f.len);
	case FOREIGN:
		q->counter[XSK_GEN_PASSED]++;
		break;
	case MALFORMED:
		q->counter[XSK_GEN_MALFORMED]++;
		break;
	case UNSUPPORTED:
		q->counter[XSK_GEN_UNSUPPORTED]++;
		break;
	}
	return XDP_PASS;
}

/* For drivers that set up zero-copy transmit only while a program is attached. */
SEC("xdp.frags")
int xsk_gen_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}
