/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* Decides what the sink takes: frames of ours that parse.h knows, those of the shapes that were told, and what else was
 * asked for. Knows the configuration; knows no map, no counter and no verdict. */
#ifndef XSK_GEN_MATCH_H
#define XSK_GEN_MATCH_H

#include "parse.h"

/* IEEE Std 802.1Q: the id in a tag's control information. */
#define VLAN_ID 0x0FFF
/* RFC 8200 and RFC 4861: ICMPv6, and its types from router solicitation to redirect. */
#define NEXT_HEADER_ICMPV6 58
#define NEIGHBOURS_FIRST 133
#define NEIGHBOURS_LAST 137

const volatile struct xsk_gen_config cfg;

/* A section of its own, so that each global is all of its map. */
SEC(".rodata.shapes")
const volatile struct xsk_gen_shape shapes[XSK_GEN_MAX_SHAPES];

/* What a callback of bpf_loop is told of a frame, and what it tells. */
struct search {
	void *data;
	void *end;
	__u64 found;
};

static __always_inline bool check_holds(const struct search *s, const volatile struct xsk_gen_check *check)
{
	const __u8 *p = s->data;
	__u32 at = check->at;

	/* A register of its own: what is known of it must be known of the one that is added. */
	asm volatile("" : "+r"(at));
	if (at > XSK_GEN_MAX_HEADER - 2)
		return false;
	p += at;
	if ((void *)(p + 2) > s->end)
		return false;
	/* Byte by byte, since the offset may be odd. */
	return (((__u32)p[0] << 8 | p[1]) & check->mask) == check->value;
}

/* Whether a whole probe of a stream begins there. Control frames come in plain stacks only. */
static __always_inline bool probe_at(const struct search *s, __u32 at)
{
	const struct xsk_gen_probe *p;

	asm volatile("" : "+r"(at));
	if (at > XSK_GEN_MAX_HEADER)
		return false;
	p = s->data + at;
	if ((void *)(p + 1) > s->end)
		return false;
	return has_magic(p, cfg.back) && !is_control(p, cfg.back);
}

/* 1 ends the loop. */
static long try_shape(__u32 index, struct search *s)
{
	const volatile struct xsk_gen_shape *shape;
	__u32 i, checks;

	if (index >= XSK_GEN_MAX_SHAPES)
		return 1;
	shape = &shapes[index];
	checks = shape->checks;
	for (i = 0; i < XSK_GEN_MAX_CHECKS; i++) {
		if (i >= checks)
			break;
		if (!check_holds(s, &shape->check[i]))
			return 0;
	}
	if (!probe_at(s, shape->probe))
		return 0;
	s->found = 1;
	return 1;
}

/* Whether one of the shapes is the frame's. A loop of the kernel's: the verifier looks at one turn of it. */
static __always_inline bool has_shape(const struct frame *f)
{
	struct search s = { .data = f->data, .end = f->end };

	bpf_loop(cfg.shapes, try_shape, &s, 0);
	return s.found;
}

/* Whether the outermost tag has that id. */
static __always_inline bool tagged(const struct frame *f, __u16 id)
{
	const struct ethhdr *eth = f->data;
	const struct vlan_tag *tag = (void *)(eth + 1);

	if ((void *)(tag + 1) > f->end)
		return false;
	if (eth->h_proto != bpf_htons(ETH_P_8021Q) && eth->h_proto != bpf_htons(ETH_P_8021AD))
		return false;
	return (bpf_ntohs(tag->tci) & VLAN_ID) == id;
}

/* ARP, and IPv6 neighbour discovery without extension headers, which it never has. */
static __always_inline bool is_neighbours(const struct frame *f, __be16 type)
{
	const struct ipv6hdr *ip = next(f);
	const __u8 *icmp_type = (void *)(ip + 1);

	if (type == bpf_htons(ETH_P_ARP))
		return true;
	if (type != bpf_htons(ETH_P_IPV6) || (void *)(icmp_type + 1) > f->end)
		return false;
	return ip->nexthdr == NEXT_HEADER_ICMPV6 && *icmp_type >= NEIGHBOURS_FIRST && *icmp_type <= NEIGHBOURS_LAST;
}

/* Whether the frame was asked for although it is none of ours. */
static __always_inline bool asked_for(struct frame *f)
{
	__be16 type = 0;

	f->at = 0;
	if (!behind_tags(f, &type, TAGS_PARSED))
		return cfg.any;
	if (cfg.any)
		return !cfg.leave_neighbours || !is_neighbours(f, type);
	return type == bpf_htons(cfg.ether_type);
}

/* What the sink does with the frame. */
static __always_inline enum what match(struct frame *f)
{
	enum what what;

	if (cfg.with_vlan && !tagged(f, cfg.vlan))
		return FOREIGN;
	what = classify(f, cfg.udp_port);
	if (what == PROBE || what == CONTROL)
		return what;
	if (cfg.shapes && has_shape(f))
		return PROBE;
	if ((cfg.any || cfg.ether_type) && asked_for(f))
		return TAKEN;
	return what;
}

#endif
