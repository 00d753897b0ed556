//! User-mode x86-64: decode, lower, execute; no operating system.
