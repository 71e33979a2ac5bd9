// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* The far end of the transmit rows: takes every frame at the earliest point, so that the sender is what is measured. */
#include <linux/bpf.h>

__attribute__((section("xdp"), used)) int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] __attribute__((section("license"), used)) = "Dual MIT/GPL";
