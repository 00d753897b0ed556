//! User-mode x86-64: decode, lower, execute. Knows no operating system.

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
pub use lower::{Code, Stop, Stops, is_synchronising, run, run_past, settle};
pub use machine::{Machine, Trap};
pub use text::instruction_text;
pub use x87::X87;

use iced_x86::Instruction;

/// The reference semantics of one instruction form.
///
/// It computes its addresses, accesses memory, and only then changes registers, so that a stopped instruction can be
/// restarted. The caller has already moved `rip` behind the instruction and moves it back on a trap.
pub type Generic = fn(&mut Machine<'_>, &Instruction) -> Result<(), Trap>;
