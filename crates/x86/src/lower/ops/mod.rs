//! Handlers, one file per family. Each file ends with the function that picks a handler for an instruction.

pub(super) mod alu;
pub(super) mod bits;
pub(super) mod branch;
pub(super) mod compare;
pub(super) mod fallback;
#[cfg(target_arch = "x86_64")]
pub(super) mod host;
#[cfg(not(target_arch = "x86_64"))]
#[path = "host/absent.rs"]
pub(super) mod host;
mod lanes;
pub(super) mod moves;
pub(super) mod shift;
pub(super) mod stack;
pub(super) mod string;
pub(super) mod unary;
pub(super) mod vector;
mod vector_operands;
