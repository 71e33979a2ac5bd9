/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* What the device knows of a frame: when it received it, and its RSS hash. Knows neither frames nor verdicts.
 * Source: Documentation/networking/xdp-rx-metadata.rst. */
#ifndef XSK_GEN_METADATA_H
#define XSK_GEN_METADATA_H

#include "layouts.h"

#ifdef XSK_GEN_METADATA

/* enum xdp_rss_hash_type of include/net/xdp.h, which is no user header: 0 is that of a frame which was not hashed, or by
 * nothing of its headers. */
enum xdp_rss_hash_type { XDP_RSS_TYPE_NONE = 0 };

extern int bpf_xdp_metadata_rx_timestamp(const struct xdp_md *ctx, __u64 *timestamp) __ksym;
extern int bpf_xdp_metadata_rx_hash(const struct xdp_md *ctx, __u32 *hash, enum xdp_rss_hash_type *rss_type) __ksym;

/* The device's time of receipt; 0 where it has none for this frame, which is counted. Some drivers answer 0 for that, and
 * others an error. */
static __always_inline __u64 read_metadata(struct xdp_md *ctx, struct xsk_gen_queue *q)
{
	enum xdp_rss_hash_type type = XDP_RSS_TYPE_NONE;
	__u64 ns = 0;
	__u32 hash;

	if (!bpf_xdp_metadata_rx_hash(ctx, &hash, &type) && type != XDP_RSS_TYPE_NONE)
		q->counter[XSK_GEN_HASHED]++;
	if (bpf_xdp_metadata_rx_timestamp(ctx, &ns))
		ns = 0;
	if (!ns)
		q->counter[XSK_GEN_UNTIMED]++;
	return ns;
}

#else

static __always_inline __u64 read_metadata(struct xdp_md *ctx, struct xsk_gen_queue *q)
{
	return 0;
}

#endif

#endif
