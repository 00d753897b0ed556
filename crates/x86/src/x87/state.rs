//! The x87 register file as plain data: eight 80-bit registers, control, status, tags, and where the last fault was.

use crate::softfloat::F80;

/// The control word after `fninit`: everything masked, 64-bit precision, round to nearest.
const CONTROL_INITIAL: u16 = 0x037f;
/// Exception flags and the stack fault flag in the status word.
const EXCEPTIONS: u16 = 0x3f;
/// "Error summary" and "busy": set while an unmasked exception waits to be reported.
const SUMMARY: u16 = 0x8080;

/// The x87 floating-point unit, whose registers MMX shares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct X87 {
    /// Rounding, precision and exception masks.
    pub control: u16,
    /// Flags and condition codes; bits 11 to 13 (the top of the stack) live in `top`.
    status: u16,
    /// Which register is ST(0).
    top: u8,
    /// One bit for each physical register: is it in use?
    ///
    /// Kept in this short form, which `fxsave` has; the two-bit tags of `fnstenv` are derived from
    /// the contents.
    pub used: u8,
    /// The physical registers R0 to R7.
    pub registers: [F80; 8],
    /// Opcode of the last instruction that left an unmasked exception.
    ///
    /// This and the two pointers move only on such an instruction: a processor may do so (CPUID's FDP_EXCPTN_ONLY, AMD for all
    /// three), and states that differ in nothing else stay equal.
    pub last_opcode: u16,
    /// Address of that instruction.
    pub last_instruction: u64,
    /// Address of its memory operand.
    pub last_data: u64,
}

impl Default for X87 {
    fn default() -> Self {
        Self {
            control: CONTROL_INITIAL,
            status: 0,
            top: 0,
            used: 0,
            registers: [F80::ZERO; 8],
            last_opcode: 0,
            last_instruction: 0,
            last_data: 0,
        }
    }
}

impl X87 {
    /// `fninit`: everything but the registers' contents goes back to its first value.
    pub fn initialise(&mut self) {
        *self = Self { registers: self.registers, ..Self::default() };
    }

    /// The control word as it can be: bit 6 always reads one, bits 13 to 15 zero.
    pub fn set_control(&mut self, control: u16) {
        self.control = control & 0x1f7f | 0x40;
        self.summarise();
    }

    /// The status word, with the top of the stack in it.
    pub fn status(&self) -> u16 {
        self.status | u16::from(self.top) << 11
    }

    /// Replaces the status word; the summary bits follow from flags and masks.
    pub fn set_status(&mut self, status: u16) {
        self.top = (status >> 11 & 7) as u8;
        self.status = status & !0x3800;
        self.summarise();
    }

    /// Sets exception flags (and, with bit 6, the stack fault flag).
    pub fn raise(&mut self, flags: u16) {
        self.status |= flags;
        self.summarise();
    }

    /// `fnclex`.
    pub fn clear_exceptions(&mut self) {
        self.status &= !(EXCEPTIONS | 0x40 | SUMMARY);
    }

    /// Exception flags among `flags` that the control word does not mask.
    pub fn unmasked(&self, flags: u16) -> u16 {
        flags & EXCEPTIONS & !self.control
    }

    /// Does an exception wait to be reported by the next waiting instruction?
    pub fn pending(&self) -> bool {
        self.status & 0x80 != 0
    }

    /// **Invariant:** ES and B are set exactly while an unmasked exception flag is; whoever changes
    /// flags or masks calls this.
    fn summarise(&mut self) {
        let waiting = self.unmasked(self.status) != 0;
        self.status = self.status & !SUMMARY | if waiting { SUMMARY } else { 0 };
    }

    /// Condition codes C0, C1, C2, C3 as bits 8, 9, 10 and 14.
    pub fn set_codes(&mut self, which: u16, value: u16) {
        self.status = self.status & !which | value & which;
    }

    /// The physical number of ST(i).
    pub fn physical(&self, i: u8) -> usize {
        usize::from((self.top + i) & 7)
    }

    /// ST(i), whether in use or not.
    pub fn st(&self, i: u8) -> F80 {
        self.registers[self.physical(i)]
    }

    /// Is ST(i) empty?
    pub fn empty(&self, i: u8) -> bool {
        self.used & 1 << self.physical(i) == 0
    }

    /// Writes ST(i) and marks it used.
    pub fn set_st(&mut self, i: u8, value: F80) {
        let r = self.physical(i);
        self.registers[r] = value;
        self.used |= 1 << r;
    }

    /// Marks ST(i) empty.
    pub fn free(&mut self, i: u8) {
        self.used &= !(1 << self.physical(i));
    }

    /// Moves the top of the stack by `by` places (+1 pops, -1 pushes), leaving tags alone.
    pub fn rotate(&mut self, by: i8) {
        self.top = self.top.wrapping_add_signed(by) & 7;
    }

    /// The tag word in its full form: two bits a register, 0 valid, 1 zero, 2 special, 3 empty.
    pub fn tag_word(&self) -> u16 {
        (0..8).rev().fold(0, |word, r| word << 2 | self.tag(r))
    }

    fn tag(&self, r: usize) -> u16 {
        let value = self.registers[r];
        let exponent = value.exponent();
        match () {
            () if self.used & 1 << r == 0 => 3,
            () if exponent == 0 && value.significand == 0 => 1,
            () if exponent == 0 || exponent == 0x7fff || value.significand >> 63 == 0 => 2,
            () => 0,
        }
    }

    /// Takes a full tag word; only "empty or not" is remembered.
    pub fn set_tag_word(&mut self, word: u16) {
        self.used = (0..8).fold(0, |used, r| used | u8::from(word >> (2 * r) & 3 != 3) << r);
    }

    /// The MMX register `r`.
    pub fn mm(&self, r: usize) -> u64 {
        self.registers[r].significand
    }

    /// ST(0) is R0 from now on.
    pub fn reset_top(&mut self) {
        self.top = 0;
    }

    /// What every MMX instruction but `emms` does to the stack: top 0, all in use.
    pub fn enter_mmx(&mut self) {
        self.top = 0;
        self.used = 0xff;
    }

    /// Writes the MMX register `r`; sign and exponent become all ones.
    pub fn set_mm(&mut self, r: usize, value: u64) {
        self.registers[r] = F80 { sign_exponent: 0xffff, significand: value };
    }
}
