//! One instruction on the host's own processor, as the oracle of tests.
//!
//! [`Host::run`] loads every register from a [`State`], executes the given bytes once, and stores every register back, or says
//! which signal came. The bytes lie at [`CODE`]; they may touch the window at [`WINDOW`], and nothing else near it is mapped, so
//! that wild addresses fault. Only on x86-64 Linux; elsewhere [`Host::new`] gives nothing.
//!
//! The bytes run with the rights of this process: it is the caller's duty not to pass `syscall` and the like.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[path = "native.rs"]
mod host;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[path = "absent.rs"]
mod host;

pub use host::Host;

/// Bytes in a page.
pub const PAGE: u64 = 4096;
/// Where the instruction starts: in the middle of a page that is otherwise full of `int3`.
pub const CODE: u64 = 0x1234_5800;
/// The first byte of the window, below 2 GiB so that every kind of address reaches it.
pub const WINDOW: u64 = 0x2345_6000;
/// Bytes of the window that can be written.
pub const WRITABLE: usize = 2 * PAGE as usize;
/// Bytes of the window; the last page can only be read.
pub const WINDOW_LEN: usize = 3 * PAGE as usize;
/// The longest instruction.
pub const INSTRUCTION_MAX: usize = 15;

/// Registers before and after; the layout is known to the assembly that loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct State {
    /// General registers in encoding order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub gpr: [u64; 16],
    /// The flags register. Trap and alignment flags must be clear.
    pub rflags: u64,
    /// Address of the next instruction; only an output.
    pub rip: u64,
    /// The image of `fxsave64`: x87, MXCSR and XMM registers.
    pub fx: [u8; 512],
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The instruction completed; `rip` is where it went.
    Done,
    /// It raised a signal.
    Signal {
        /// Its number.
        number: i32,
        /// The address that the kernel reports with it.
        address: u64,
    },
}
