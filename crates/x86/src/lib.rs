//! User-mode x86-64: decode, lower, execute. Knows no operating system.
//!
//! Three layers, each an optimisation of the one before and tested against it:
//!
//! - `generic.rs` and the families: the reference meaning of each instruction form, as functions in
//!   tables. Compared with the host's processor.
//! - `lower/`: blocks of micro-operations with tail calls, cached by the content of their pages.
//!   Compared with the reference on whole programs.
//! - `lower/ops/host/`: SSE by the host's own SSE, since bits of NaNs and exception flags are then
//!   right by construction.
//!
//! A JIT was measured in a trial and left out: in the checker's loop, where steps have a few
//! hundred instructions, it would gain at most 1.1 to 1.8 times, and an instruction must run some
//! 15,000 times to repay its compilation. Why programs run in an emulator at all is decision 8.
//!
//! Memory is always asked (`memory` crate): that is where watchpoints, permissions, access logs and
//! copy-on-write are, so neither layer knows what a visible operation is beyond [`Stops`].
//! Sequential consistency follows from running one thread at a time: fences and `lock` prefixes
//! need no code.

mod control;
pub mod cpu;
pub mod flags;
mod generic;
mod image;
mod integer;
mod lower;
mod machine;
mod nop_and_privileged;
mod row;
mod softfloat;
mod sse;
mod stack;
mod string;
mod system;
mod text;
mod width;
mod x87;

pub use cpu::Cpu;
pub use flags::Flags;
pub use generic::{step, supported};
pub use image::{fxrestore_image, fxsave_image};
pub use lower::{Code, Stop, Stops, begins_synchronising, is_synchronising, run, run_past, settle};
pub use machine::{Machine, Trap};
pub use text::instruction_text;
pub use x87::X87;

use iced_x86::Instruction;

/// The reference semantics of one instruction form.
///
/// It computes its addresses, accesses memory, and only then changes registers, so that a stopped instruction can be
/// restarted. The caller has already moved `rip` behind the instruction and moves it back on a trap.
pub type Generic = fn(&mut Machine<'_>, &Instruction) -> Result<(), Trap>;
