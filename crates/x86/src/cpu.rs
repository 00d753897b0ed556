//! The registers of one user-mode thread.

use crate::flags::Flags;
use crate::x87::X87;

/// Number of `rax` in [`Cpu::gpr`]; the others follow in encoding order.
pub const RAX: usize = 0;
/// Number of `rcx`.
pub const RCX: usize = 1;
/// Number of `rdx`.
pub const RDX: usize = 2;
/// Number of `rbx`.
pub const RBX: usize = 3;
/// Number of `rsp`.
pub const RSP: usize = 4;
/// Number of `rbp`.
pub const RBP: usize = 5;
/// Number of `rsi`.
pub const RSI: usize = 6;
/// Number of `rdi`.
pub const RDI: usize = 7;
/// Number of `r8`.
pub const R8: usize = 8;
/// Number of `r9`.
pub const R9: usize = 9;
/// Number of `r10`.
pub const R10: usize = 10;
/// Number of `r11`.
pub const R11: usize = 11;

/// Number of the register that is always zero, counting on from the general ones.
pub(crate) const ZERO: usize = 16;
/// Number of the base of `fs`.
pub(crate) const FS_BASE: usize = 17;
/// Number of the base of `gs`.
pub(crate) const GS_BASE: usize = 18;

/// All rounding to nearest, all exceptions masked: what a new process starts with.
pub const MXCSR_DEFAULT: u32 = 0x1f80;

/// The registers of one user-mode thread: plain data, equal when the program could see no difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Cpu {
    /// General registers in encoding order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub gpr: [u64; 16],
    /// Always zero: the register that an address without base or index names. The lowered interpreter counts on the order
    /// of the fields up to here.
    #[doc(hidden)]
    pub zero: u64,
    /// Base that `fs:` adds to an address: the thread pointer on Linux.
    pub fs_base: u64,
    /// Base that `gs:` adds to an address.
    pub gs_base: u64,
    /// Address of the next instruction.
    pub rip: u64,
    /// Status flags, held so that setting them is cheap; equality is over their bits.
    pub flags: Flags,
    /// SSE control and status.
    pub mxcsr: u32,
    /// SSE registers, lane 0 in the low bits.
    pub xmm: [u128; 16],
    /// The floating-point stack.
    pub x87: X87,
}

impl Default for Cpu {
    /// The registers that Linux gives a process at `execve(2)`, but for `rip` and `rsp`.
    fn default() -> Self {
        Cpu {
            gpr: [0; 16],
            zero: 0,
            fs_base: 0,
            gs_base: 0,
            rip: 0,
            flags: Flags::default(),
            mxcsr: MXCSR_DEFAULT,
            xmm: [0; 16],
            x87: X87::default(),
        }
    }
}

impl Cpu {
    /// The flags register as `pushfq` shows it.
    pub fn rflags(&self) -> u64 {
        self.flags.bits()
    }

    /// Sets the flags register; bits that user mode cannot change are ignored.
    pub fn set_rflags(&mut self, bits: u64) {
        self.flags = Flags::from_bits(bits);
    }
}
