//! Status flags in a form that is cheap to set and cheap to ask.
//!
//! An arithmetic instruction stores its result and its carries; each flag is derived from them when asked for. There is
//! no "kind of last operation", so that asking takes no branch, and every combination of flags has a representation.
//!
//! The representation is two words. `result` is the last result, sign-extended to 64 bits: zero is
//! `result == 0`, sign is its top bit, parity that of its low byte. `aux` has the carries out of
//! bit 63 (CF), into bit 63 and out of bit 3 (AF), moved to fixed places whatever the operand size
//! was; overflow is "carry in differs from carry out" of the top bit, which is the textbook
//! definition. Two more bits of `aux` flip sign and parity, so that any six bits that `popf` loads
//! can be expressed, although no single result has them (ZF and SF together, say).
//!
//! An example, `add al, 1` with `al = 0x7f`:
//!
//! ```text
//! result = sign_extend(0x80) = 0xffff_ffff_ffff_ff80   ZF = 0, SF = 1, PF = 0 (one bit set)
//! carry out of bit 7 = 0, into bit 7 = 1               CF = 0, OF = 0 xor 1 = 1
//! carry out of bit 3 = 1                               AF = 1
//! ```
//!
//! The usual alternatives lose: with the flags as bits every instruction pays for six of which most
//! are never read; with QEMU's "last operation and its operands" asking is a jump table. Layout and
//! meaning of the bits: SDM vol. 1, section 3.4.3.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::width::sign_extend;

/// Carry.
pub const CF: u64 = 1;
/// Even parity of the low byte.
pub const PF: u64 = 1 << 2;
/// Carry out of bit 3.
pub const AF: u64 = 1 << 4;
/// Zero.
pub const ZF: u64 = 1 << 6;
/// Sign.
pub const SF: u64 = 1 << 7;
/// Trap: single step.
///
/// Never set here: `popf` that would set it is refused (`stack.rs`), because every later
/// instruction would trap.
pub const TF: u64 = 1 << 8;
/// Interrupts enabled: always, in user mode.
pub const IF: u64 = 1 << 9;
/// Direction of string instructions.
pub const DF: u64 = 1 << 10;
/// Signed overflow.
pub const OF: u64 = 1 << 11;
/// Nested task.
pub const NT: u64 = 1 << 14;
/// Alignment check.
///
/// Programs toggle it to find out whether they run on an i386; one that leaves it set is executed
/// by the reference alone, which checks alignment (`lower/run.rs`).
pub const AC: u64 = 1 << 18;
/// Set when `cpuid` exists and may be toggled at will.
pub const ID: u64 = 1 << 21;
/// The six flags that arithmetic sets.
pub const STATUS: u64 = CF | PF | AF | ZF | SF | OF;

/// What is always 1 in user mode.
const FIXED: u64 = IF | 2;
/// What is kept as it was written.
///
/// The resume flag, virtual-8086 flags and the I/O privilege level read as zero in user mode on
/// Linux, and `popf` does not change them.
const KEPT: u64 = DF | NT | AC | ID;

/// `aux` bit: carry out of the top bit.
const AUX_CF: u32 = 63;
/// `aux` bit: carry into the top bit; overflow is where it differs from the carry out.
const AUX_INTO: u32 = 62;
/// `aux` bit: carry out of bit 3.
const AUX_AF: u32 = 3;
/// `aux` bit: the sign is the opposite of the result's.
const AUX_SIGN: u32 = 0;
/// `aux` bit: parity is the opposite of the result's.
const AUX_PARITY: u32 = 8;

/// The flags register.
///
/// Equality and hash are over [`Flags::bits`]; deriving them would make states differ that no
/// program can tell apart. The fields are free to differ for equal flags.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Flags {
    /// Result of the last operation, sign-extended from its size: zero, sign and parity come from it.
    pub(crate) result: u64,
    /// Carries of the last operation and corrections to what `result` says.
    pub(crate) aux: u64,
    /// Direction and the other flags that arithmetic leaves alone.
    pub(crate) kept: u64,
}

impl Default for Flags {
    fn default() -> Self {
        Flags::from_bits(0)
    }
}

impl Flags {
    /// Flags from the bits that `popfq` would load.
    pub fn from_bits(bits: u64) -> Self {
        let mut flags = Flags { result: 0, aux: 0, kept: bits & KEPT };
        flags.set_status(bits);
        flags
    }

    /// The register as `pushfq` shows it.
    pub fn bits(&self) -> u64 {
        self.status() | self.kept | FIXED
    }

    /// The six status flags as bits.
    pub fn status(&self) -> u64 {
        let pick = |on: bool, bit: u64| if on { bit } else { 0 };
        pick(self.cf(), CF)
            | pick(self.pf(), PF)
            | pick(self.af(), AF)
            | pick(self.zf(), ZF)
            | pick(self.sf(), SF)
            | pick(self.of(), OF)
    }

    /// Sets the six status flags from bits.
    ///
    /// Total: each of the 64 combinations has exactly this representation, and [`Flags::status`]
    /// gives it back (the tests go through all of them).
    pub fn set_status(&mut self, bits: u64) {
        // With a zero result: sign 0, parity even; whatever differs goes into the corrections.
        let zero = bits & ZF != 0;
        let result = u64::from(!zero);
        let odd = result; // parity of 1 is odd, of 0 even
        let parity_flag = u64::from(bits & PF != 0);
        self.result = result;
        let cf = u64::from(bits & CF != 0);
        let into = cf ^ u64::from(bits & OF != 0);
        self.aux = cf << AUX_CF
            | into << AUX_INTO
            | u64::from(bits & AF != 0) << AUX_AF
            | u64::from(bits & SF != 0) << AUX_SIGN
            | ((parity_flag ^ 1) ^ odd) << AUX_PARITY;
    }

    /// Replaces the status flags named in `mask` by those in `bits`.
    ///
    /// Slower than the functions below, which know what they set: for instructions that touch
    /// single flags, and for clearing dead flags where a run stops.
    pub fn replace(&mut self, mask: u64, bits: u64) {
        let status = self.status() & !mask | bits & mask;
        self.set_status(status);
    }

    /// Carry.
    #[inline(always)]
    pub fn cf(&self) -> bool {
        (self.aux as i64) < 0
    }

    /// Zero.
    #[inline(always)]
    pub fn zf(&self) -> bool {
        self.result == 0
    }

    /// Sign.
    #[inline(always)]
    pub fn sf(&self) -> bool {
        ((self.result >> 63) ^ self.aux) & 1 != 0
    }

    /// Overflow.
    #[inline(always)]
    pub fn of(&self) -> bool {
        (self.aux ^ (self.aux << 1)) >> 63 != 0
    }

    /// Even parity of the low byte.
    #[inline(always)]
    pub fn pf(&self) -> bool {
        ((self.result as u8).count_ones() ^ (self.aux >> AUX_PARITY) as u32) & 1 == 0
    }

    /// Carry out of bit 3.
    #[inline(always)]
    pub fn af(&self) -> bool {
        self.aux >> AUX_AF & 1 != 0
    }

    /// Direction of string instructions: true is downwards.
    #[inline(always)]
    pub fn df(&self) -> bool {
        self.kept & DF != 0
    }

    /// Whether accesses must be aligned.
    #[inline(always)]
    pub fn ac(&self) -> bool {
        self.kept & AC != 0
    }

    /// Sets the direction flag.
    pub fn set_df(&mut self, down: bool) {
        self.kept = if down { self.kept | DF } else { self.kept & !DF };
    }

    /// Sets the carry and nothing else.
    ///
    /// The carry into the top bit moves along with it, because overflow is the difference of both
    /// and must stay what it was (`inc`, `dec`, `stc`, `bt`).
    #[inline(always)]
    pub fn set_cf(&mut self, carry: bool) {
        let overflow = self.of();
        let top = u64::from(carry) << AUX_CF | u64::from(carry ^ overflow) << AUX_INTO;
        self.aux = self.aux & !(3 << AUX_INTO) | top;
    }

    /// After `and`, `or`, `xor`, `test`: no carries. `result` is sign-extended.
    #[inline(always)]
    pub fn logic(&mut self, result: u64) {
        self.result = result;
        self.aux = 0;
    }

    /// After an operation whose result and carry vector (bit i: carry out of bit i) are known.
    ///
    /// The top two carries of the operand size are moved to bits 63 and 62; what lies below them is
    /// cut off, or a narrow operation would leave bits that mean sign and parity corrections.
    #[inline(always)]
    pub fn carries<const BITS: u32>(&mut self, result: u64, carries: u64) {
        self.result = result;
        self.aux = (carries << (64 - BITS)) & (3 << AUX_INTO) | carries & (1 << AUX_AF);
    }

    /// After `a + b` (+ carry) `= result`; all values sign- or zero-extended, `result` sign-extended.
    ///
    /// The carry out of bit i of a sum is the majority of a, b and the carry in; with the result at
    /// hand it is `(a & b) | ((a | b) & !result)`, for all bits at once, and whether a carry came
    /// in at the bottom does not matter. Bits above `BITS` in the operands have no influence, since
    /// only the bits at the operand's top are kept.
    #[inline(always)]
    pub fn add<const BITS: u32>(&mut self, a: u64, b: u64, result: u64) {
        self.carries::<BITS>(result, (a & b) | ((a | b) & !result));
    }

    /// After `a - b` (- borrow) `= result`.
    ///
    /// Borrows instead of carries: the sum of `!a`-like terms, see [`Flags::add`]. The carry flag
    /// of a subtraction is the borrow on x86 (ARM has its complement).
    #[inline(always)]
    pub fn sub<const BITS: u32>(&mut self, a: u64, b: u64, result: u64) {
        self.carries::<BITS>(result, (!a & b) | ((!a | b) & result));
    }

    /// [`Flags::add`] for a size known only at run time, in bytes.
    pub(crate) fn add_sized(&mut self, a: u64, b: u64, result: u64, size: usize) {
        match size {
            1 => self.add::<8>(a, b, sign_extend(result, 1)),
            2 => self.add::<16>(a, b, sign_extend(result, 2)),
            4 => self.add::<32>(a, b, sign_extend(result, 4)),
            _ => self.add::<64>(a, b, result),
        }
    }

    /// [`Flags::sub`] for a size known only at run time, in bytes.
    pub(crate) fn sub_sized(&mut self, a: u64, b: u64, result: u64, size: usize) {
        match size {
            1 => self.sub::<8>(a, b, sign_extend(result, 1)),
            2 => self.sub::<16>(a, b, sign_extend(result, 2)),
            4 => self.sub::<32>(a, b, sign_extend(result, 4)),
            _ => self.sub::<64>(a, b, result),
        }
    }

    /// Sets result and exact carry and overflow, with the adjust flag clear: shifts and multiplications.
    ///
    /// The adjust flag is undefined after shifts and multiplications (SDM vol. 2); processors clear
    /// it, and the tests against the host's processor say so.
    #[inline(always)]
    pub fn shifted(&mut self, result: u64, carry: bool, overflow: bool) {
        self.result = result;
        self.aux = u64::from(carry) << AUX_CF | u64::from(carry ^ overflow) << AUX_INTO;
    }

    /// After a multiplication: sign and parity of the low half, zero clear.
    ///
    /// SDM vol. 2 calls SF, ZF, AF and PF undefined; what is done here is what the tested Intel
    /// processors do, so that a program which looks at them anyway sees the same as on the host.
    #[inline(always)]
    pub fn multiplied(&mut self, low: u64, overflow: bool) {
        // A bit that is neither in the low byte nor the sign keeps the result from being zero.
        self.shifted(low | 0x100, overflow, overflow);
    }

    /// Sets carry and overflow and leaves the rest: rotations.
    #[inline(always)]
    pub fn rotated(&mut self, carry: bool, overflow: bool) {
        let top = u64::from(carry) << AUX_CF | u64::from(carry ^ overflow) << AUX_INTO;
        self.aux = self.aux & !(3 << AUX_INTO) | top;
    }

    /// Whether condition `code` (the low four bits of a `jcc` opcode) holds.
    ///
    /// Conditions come in pairs that negate each other (SDM vol. 1, appendix B.1): the upper three
    /// bits choose the pair, the lowest bit negates.
    #[inline(always)]
    pub fn condition(&self, code: u8) -> bool {
        let holds = match code >> 1 & 7 {
            0 => self.of(),
            1 => self.cf(),
            2 => self.zf(),
            3 => self.cf() || self.zf(),
            4 => self.sf(),
            5 => self.pf(),
            6 => self.sf() != self.of(),
            _ => self.zf() || self.sf() != self.of(),
        };
        holds != (code & 1 != 0)
    }
}

impl PartialEq for Flags {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Flags {}

impl Hash for Flags {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:#x})", self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_flags_survives_a_round_trip() {
        for pattern in 0..64u64 {
            let bit = |i: u32, flag: u64| if pattern >> i & 1 != 0 { flag } else { 0 };
            let bits = bit(0, CF) | bit(1, PF) | bit(2, AF) | bit(3, ZF) | bit(4, SF) | bit(5, OF);
            assert_eq!(Flags::from_bits(bits | DF).bits(), bits | DF | FIXED);
        }
    }

    #[test]
    fn setting_the_carry_leaves_the_overflow() {
        for bits in [0, OF, CF, OF | CF] {
            let mut flags = Flags::from_bits(bits);
            flags.set_cf(bits & CF == 0);
            assert_eq!(flags.status(), bits ^ CF);
        }
    }

    #[test]
    fn an_eight_bit_addition_sets_all_six_flags() {
        let mut flags = Flags::default();
        flags.add::<8>(0x7f, 0x01, 0x80u8 as i8 as u64);
        assert_eq!(flags.status(), AF | SF | OF);
        flags.add::<8>(0xff, 0x01, 0);
        assert_eq!(flags.status(), AF | CF | ZF | PF);
    }
}
