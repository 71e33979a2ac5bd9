// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* The programs of xsk_gen.bpf.c for one device alone: they ask its driver what it knows of a frame. An object of its own,
 * since kernel functions are bound to a device when a program is loaded, and not every loader can. */
#define XSK_GEN_METADATA
#include "xsk_gen.bpf.c"
