//! The registers of one user-mode thread.
//!
//! A thread's registers are part of every state, so two rules hold for all fields. They are plain
//! data: no pointer, no cache, nothing of the host. And equality is what the program could notice:
//! [`Flags`] compares its bits, not the operands they are derived from, so that two threads which
//! computed the same flags in different ways have the same fingerprint.

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
///
/// The lowered interpreter computes `base + index << shift + displacement` for every address, and
/// adding this register is cheaper than asking whether there is a base or an index.
pub(crate) const ZERO: usize = 16;
/// Number of the base of `fs`.
pub(crate) const FS_BASE: usize = 17;
/// Number of the base of `gs`.
pub(crate) const GS_BASE: usize = 18;

/// All rounding to nearest, all exceptions masked: what a new process starts with.
///
/// SDM vol. 1, section 10.2.3. A program may unmask exceptions with `ldmxcsr`, and then gets `#XM`.
pub const MXCSR_DEFAULT: u32 = 0x1f80;

/// The registers of one user-mode thread: plain data, equal when the program could see no difference.
///
/// `#[repr(C)]`, because micro-operations name general registers by their byte offset in this
/// struct (`8 * number`): `gpr`, `zero`, `fs_base` and `gs_base` are its first nineteen words, in
/// this order. Moving a field breaks `lower` silently, and no type would notice.
///
/// Segment selectors are not stored: in 64-bit mode only the bases of `fs` and `gs` matter, and
/// Linux gives every program the same selectors.
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
    ///
    /// Everything else is zero, as the System V ABI for x86-64 lets a kernel do; `rdx`, which the
    /// ABI reserves for a function to be registered with `atexit(3)`, is zero on Linux, too.
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
    ///
    /// `popf` in user mode changes neither the interrupt flag nor the privilege level, and raises
    /// no fault when asked to (SDM vol. 2, POPF).
    pub fn set_rflags(&mut self, bits: u64) {
        self.flags = Flags::from_bits(bits);
    }
}
