// Puts an interface behind VLAN tags, in both directions: what comes in must carry them, and is handed to the kernel
// without; what goes out gets them. Needs no VLAN interface, and so works on kernels that have none. OUTER is the id of
// the outermost tag, INNER that of a second one or 0.

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SEC(name) __attribute__((section(name), used))
#define IN_NETWORK_ORDER(n) ((__be16)((((n) & 0xff) << 8) | ((n) >> 8)))

static long (*push)(struct __sk_buff *skb, __be16 protocol, __u16 control) = (void *)BPF_FUNC_skb_vlan_push;
static long (*pop)(struct __sk_buff *skb) = (void *)BPF_FUNC_skb_vlan_pop;

static __attribute__((always_inline)) int take(struct __sk_buff *skb, int protocol, int id)
{
	if (!skb->vlan_present || (skb->vlan_tci & 0xfff) != id)
		return 0;
	if (skb->vlan_proto != IN_NETWORK_ORDER(protocol))
		return 0;
	return pop(skb) == 0;
}

SEC("in") int from_wire(struct __sk_buff *skb)
{
	if (!take(skb, INNER ? 0x88a8 : 0x8100, OUTER))
		return TC_ACT_SHOT;
	if (INNER && !take(skb, 0x8100, INNER))
		return TC_ACT_SHOT;
	// A tag too many is not of this network.
	return skb->vlan_present ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("out") int to_wire(struct __sk_buff *skb)
{
	if (INNER && push(skb, IN_NETWORK_ORDER(0x8100), INNER))
		return TC_ACT_SHOT;
	if (push(skb, IN_NETWORK_ORDER(INNER ? 0x88a8 : 0x8100), OUTER))
		return TC_ACT_SHOT;
	return TC_ACT_OK;
}

char terms[] SEC("license") = "GPL";
