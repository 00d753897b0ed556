//! The machine against the host: programs, calls of the kernel.

mod contained;
mod debian;
mod determinism;
mod inside;
mod kernel;
