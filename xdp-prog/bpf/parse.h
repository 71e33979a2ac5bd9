/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* Decides what a frame is, from its headers alone. Knows no map, no counter and no verdict. */
#ifndef XSK_GEN_PARSE_H
#define XSK_GEN_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "layouts.h"

/* Tags that a frame of ours may carry: 802.1ad outside, 802.1Q inside. */
#define TAGS_PARSED 2
/* Further tags that are stepped over only to say that a frame of ours was passed because of them. */
#define TAGS_PEEKED 2
/* IPv6 extension headers stepped over, for the same reason. */
#define EXTENSIONS_PEEKED 3
/* RFC 791: more fragments, and the offset, in iphdr.frag_off. */
#define IPV4_MORE_FRAGMENTS 0x2000
#define IPV4_FRAGMENT_OFFSET 0x1FFF
/* RFC 8200, 4.5: the offset in the fragment header; the three bits below it are not part of it. */
#define IPV6_FRAGMENT_OFFSET 0xFFF8
/* A UDP length that nothing contradicts. */
#define ANY_LENGTH 0xFFFFFFFF

enum what {
	FOREIGN,
	MALFORMED,
	UNSUPPORTED,
	PROBE,
	CONTROL,
	TAKEN, /* not ours, but asked for; never said here */
};

struct frame {
	void *data;
	void *end;   /* of the first buffer, which need not hold the whole frame */
	__u32 len;   /* of the whole frame, without FCS */
	__u32 at;    /* offset of the next header */
	bool beyond; /* something was stepped over that no frame of ours may carry */
	bool back;   /* probes are looked for that come back from a reflector */
};

/* IEEE Std 802.1Q: what follows the tag's own EtherType. */
struct vlan_tag {
	__be16 tci;
	__be16 type;
};

/* RFC 8200: the part that hop-by-hop, routing, destination and fragment headers have in common. */
struct extension {
	__u8 next;
	__u8 words; /* 8 octets each, the first not counted; reserved in the fragment header */
	__be16 offset_and_flags;
	__u32 rest;
};

static __always_inline void *next(const struct frame *f)
{
	return f->data + f->at;
}

/* Whether the first buffer holds a header of so many bytes. */
static __always_inline bool holds(const struct frame *f, __u32 size)
{
	return next(f) + size <= f->end;
}

/* A header that the first buffer does not hold: the frame is cut, or the driver put the header elsewhere. */
static __always_inline enum what cut(const struct frame *f, __u32 size)
{
	return f->at + size > f->len ? MALFORMED : UNSUPPORTED;
}

/* Whether a probe is one that goes the way that is looked for; what a reflector sent back has the magic in the stream's
 * place. */
static __always_inline bool has_magic(const struct xsk_gen_probe *p, bool back)
{
	return (back ? p->stream : p->magic) == bpf_htons(XSK_GEN_MAGIC);
}

static __always_inline bool is_control(const struct xsk_gen_probe *p, bool back)
{
	return (back ? p->magic : p->stream) == bpf_htons(XSK_GEN_CONTROL_STREAM);
}

static __always_inline enum what probe(const struct frame *f)
{
	const struct xsk_gen_probe *p = next(f);

	if (!holds(f, sizeof(*p)))
		return f->at + sizeof(*p) > f->len ? FOREIGN : UNSUPPORTED;
	if (!has_magic(p, f->back))
		return FOREIGN;
	return is_control(p, f->back) ? CONTROL : PROBE;
}

/* room: bytes of IP payload from here on. */
static __always_inline enum what udp(struct frame *f, __u32 room, __u16 port)
{
	const struct udphdr *u = next(f);
	__u32 len;

	if (!holds(f, sizeof(*u)))
		return cut(f, sizeof(*u));
	len = bpf_ntohs(u->len);
	if (len < sizeof(*u) || len > room)
		return MALFORMED;
	if (!port || (f->back ? u->source : u->dest) != bpf_htons(port))
		return FOREIGN;
	if (f->beyond)
		return UNSUPPORTED;
	/* What lies behind the datagram is padding, whatever it looks like. */
	if (len < sizeof(*u) + sizeof(struct xsk_gen_probe))
		return FOREIGN;
	f->at += sizeof(*u);
	return probe(f);
}

/* A later fragment of a UDP datagram shows no port, so it may be ours. */
static __always_inline enum what later_fragment(__u8 protocol, __u16 port)
{
	return protocol == IPPROTO_UDP && port ? UNSUPPORTED : FOREIGN;
}

static __always_inline enum what ipv4(struct frame *f, __u16 port)
{
	const struct iphdr *ip = next(f);
	__u32 header_len, total, fragment;

	if (!holds(f, sizeof(*ip)))
		return cut(f, sizeof(*ip));
	header_len = ip->ihl * 4;
	total = bpf_ntohs(ip->tot_len);
	if (ip->version != 4 || header_len < sizeof(*ip) || total < header_len || f->at + total > f->len)
		return MALFORMED;
	if (ip->protocol != IPPROTO_UDP)
		return FOREIGN;
	fragment = bpf_ntohs(ip->frag_off);
	if (fragment & IPV4_FRAGMENT_OFFSET)
		return later_fragment(IPPROTO_UDP, port);
	f->at += header_len;
	if (!(fragment & IPV4_MORE_FRAGMENTS))
		return udp(f, total - header_len, port);
	f->beyond = true;
	/* The UDP length of a first fragment speaks of the whole datagram. */
	return udp(f, ANY_LENGTH, port);
}

static __always_inline enum what ipv6(struct frame *f, __u16 port)
{
	const struct ipv6hdr *ip = next(f);
	__u32 room, i;
	bool first_fragment = false;
	__u8 protocol;

	if (!holds(f, sizeof(*ip)))
		return cut(f, sizeof(*ip));
	room = bpf_ntohs(ip->payload_len);
	protocol = ip->nexthdr;
	if (ip->version != 6 || f->at + sizeof(*ip) + room > f->len)
		return MALFORMED;
	f->at += sizeof(*ip);
#pragma unroll
	for (i = 0; i < EXTENSIONS_PEEKED; i++) {
		const struct extension *e = next(f);
		__u32 size = sizeof(*e);

		if (protocol != IPPROTO_HOPOPTS && protocol != IPPROTO_ROUTING &&
		    protocol != IPPROTO_DSTOPTS && protocol != IPPROTO_FRAGMENT)
			break;
		if (!holds(f, sizeof(*e)))
			return cut(f, sizeof(*e));
		if (protocol != IPPROTO_FRAGMENT)
			size *= e->words + 1;
		else if (e->offset_and_flags & bpf_htons(IPV6_FRAGMENT_OFFSET))
			return later_fragment(e->next, port);
		else
			first_fragment = true;
		if (size > room)
			return MALFORMED;
		protocol = e->next;
		room -= size;
		f->at += size;
		f->beyond = true;
	}
	if (protocol != IPPROTO_UDP)
		return FOREIGN;
	return udp(f, first_fragment ? ANY_LENGTH : room, port);
}

/* Steps over the Ethernet header and so many tags at the most; false where they are cut. */
static __always_inline bool behind_tags(struct frame *f, __be16 *type, __u32 most)
{
	const struct ethhdr *eth = next(f);
	__u32 i;

	if (!holds(f, sizeof(*eth)))
		return false;
	*type = eth->h_proto;
	f->at += sizeof(*eth);
#pragma unroll
	for (i = 0; i < most; i++) {
		const struct vlan_tag *tag = next(f);

		if (*type != bpf_htons(ETH_P_8021Q) && *type != bpf_htons(ETH_P_8021AD))
			break;
		if (!holds(f, sizeof(*tag)))
			return false;
		*type = tag->type;
		f->at += sizeof(*tag);
		f->beyond = i >= TAGS_PARSED;
	}
	return true;
}

/* What the frame is; port: the UDP port that ours go to, or come back from, 0 for none. */
static __always_inline enum what classify(struct frame *f, __u16 port)
{
	__be16 type;

	if (!behind_tags(f, &type, TAGS_PARSED + TAGS_PEEKED))
		return cut(f, f->at ? sizeof(struct vlan_tag) : ETH_HLEN);
	if (type == bpf_htons(ETH_P_IP))
		return ipv4(f, port);
	if (type == bpf_htons(ETH_P_IPV6))
		return ipv6(f, port);
	if (type != bpf_htons(XSK_GEN_ETHERTYPE))
		return FOREIGN;
	return f->beyond ? UNSUPPORTED : probe(f);
}

#endif
