//! Kernel side of xsk-gen.
