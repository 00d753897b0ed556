//! One processor with its memory: what an instruction works on, and what can stop it.
//!
//! **Restartability.** Any access may stop an instruction: a page fault, or a watchpoint of the
//! checker ([`Trap::Memory`]). The caller then decides (signal, another thread first, let it
//! through) and runs the instruction again from the beginning. So an instruction reads all it
//! needs, writes memory, and changes registers last; one with several stores has done the first
//! ones again by then, with the same values.
//!
//! Values travel as zero-extended `u64`; sizes are in bytes (1, 2, 4, 8; 16 for SSE) everywhere,
//! never in bits, unless the name says `BITS`.

use iced_x86::{Instruction, OpKind, Register};
use memory::{Halt, Memory};

use crate::cpu::Cpu;
pub(crate) use crate::width::{mask, sign_extend};

/// Why an instruction did not complete, or what it asks of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// An access that memory refused or that is to be stopped before.
    Memory(Halt),
    /// `#DE`: division by zero or quotient too large.
    DivideError,
    /// `#UD`: no such instruction, or `ud2`.
    InvalidOpcode,
    /// A valid instruction that is not modelled.
    Unsupported,
    /// `int3`; `rip` is behind it.
    Breakpoint,
    /// `int n`; `rip` is at it.
    ///
    /// Not a trap in the processor's sense: the gate is missing or not for user mode, so it is
    /// `#GP` on the host and SIGSEGV on Linux.
    Interrupt(u8),
    /// `#GP`: non-canonical or misaligned address, reserved bits.
    ///
    /// Linux delivers SIGSEGV with `si_addr` 0: the processor does not say which address it was.
    GeneralProtection,
    /// `#SS`: a non-canonical address on the stack.
    StackFault,
    /// `#AC`: a misaligned access while the program asks for checks.
    ///
    /// Only with AC set in flags (and CR0.AM, which Linux sets); SIGBUS.
    AlignmentCheck,
    /// `#XM`: an unmasked SSE floating-point exception.
    SimdException,
    /// `#MF`: an unmasked x87 floating-point exception.
    X87Exception,
    /// An instruction for the kernel only, which Linux answers with SIGSEGV.
    Privileged,
    /// `syscall`; `rip` is behind it, `rcx` and `r11` are set.
    Syscall,
    /// An instruction that was to be stopped before ([`crate::Stops`]); `rip` is at it and nothing was done.
    Stop,
}

impl From<Halt> for Trap {
    fn from(halt: Halt) -> Self {
        Trap::Memory(halt)
    }
}

impl Trap {
    /// What the processor makes of a fault at an address that never reaches paging, being non-canonical.
    ///
    /// Memory knows no canonical addresses: it reports an unmapped page. On the processor the
    /// address never gets that far, and the fault is `#GP`, or `#SS` if the stack segment was used:
    /// SIGSEGV or SIGBUS, so the difference is visible to programs.
    pub(crate) fn settled(self, m: &Machine<'_>, i: &Instruction) -> Self {
        match self {
            Trap::Memory(Halt::Fault(fault)) if !canonical(fault.addr) => match m.is_on_stack(i, fault.addr) {
                true => Trap::StackFault,
                false => Trap::GeneralProtection,
            },
            trap => trap,
        }
    }
}

/// Whether bits 63 to 47 are all equal.
///
/// SDM vol. 1, section 3.3.7.1; 48 bits, for LA57 is not announced by `cpuid`.
pub(crate) fn canonical(addr: u64) -> bool {
    let top = addr as i64 >> 47;
    top == 0 || top == -1
}

/// One processor with its memory.
///
/// Borrowed for the length of a run and never stored: registers belong to the thread, memory to the
/// world.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The registers.
    pub cpu: &'a mut Cpu,
    /// The memory, entered into the address space of the running thread.
    pub memory: &'a mut Memory,
    /// What `rdtsc` reads: virtual time.
    ///
    /// Constant during a run. It is the world's virtual time, so `rdtsc` is as deterministic as the
    /// schedule.
    pub clock: u64,
}

/// Where a general register lives.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Number in [`Cpu::gpr`].
    pub index: usize,
    /// 8 for `ah`, `ch`, `dh`, `bh`, else 0.
    pub shift: u32,
    /// Bytes.
    pub size: usize,
}

/// The place of a general register; `None` for any other register.
///
/// iced numbers registers in the order of their encodings within each size, which the ranges below
/// count on.
pub(crate) fn place(register: Register) -> Option<Place> {
    let number = register as usize;
    let within = |first: Register, last: Register| {
        (number >= first as usize && number <= last as usize).then(|| number - first as usize)
    };
    let at = |index: usize, size: usize| Place { index, shift: 0, size };
    if let Some(index) = within(Register::RAX, Register::R15) {
        return Some(at(index, 8));
    }
    if let Some(index) = within(Register::EAX, Register::R15D) {
        return Some(at(index, 4));
    }
    if let Some(index) = within(Register::AX, Register::R15W) {
        return Some(at(index, 2));
    }
    // Encoding order: al cl dl bl, ah ch dh bh, spl bpl sil dil, r8l ...
    match within(Register::AL, Register::R15L)? {
        low @ 0..4 => Some(at(low, 1)),
        high @ 4..8 => Some(Place { index: high - 4, shift: 8, size: 1 }),
        rest => Some(at(rest - 4, 1)),
    }
}

/// Number of an SSE register.
pub(crate) fn xmm_index(register: Register) -> usize {
    register as usize - Register::XMM0 as usize
}

/// Bytes that operand `op` has, for register, immediate and memory operands.
///
/// Immediates have the size they are extended to, not the bytes they take in the instruction.
pub(crate) fn operand_size(i: &Instruction, op: u32) -> usize {
    match i.op_kind(op) {
        OpKind::Register => i.op_register(op).size(),
        OpKind::Memory => i.memory_size().size(),
        OpKind::Immediate8 => 1,
        OpKind::Immediate16 | OpKind::Immediate8to16 => 2,
        OpKind::Immediate32 | OpKind::Immediate8to32 => 4,
        _ => 8,
    }
}

impl Machine<'_> {
    /// The value of a general register, zero-extended; segment selectors are those that Linux gives to 64-bit programs.
    ///
    /// Selectors: Linux gives 64-bit programs `cs` 0x33 and `ss` 0x2b (`__USER_CS`, `__USER_DS`);
    /// the others are null.
    pub fn register(&self, register: Register) -> u64 {
        match place(register) {
            Some(p) => (self.cpu.gpr[p.index] >> p.shift) & mask(p.size),
            None => match register {
                Register::CS => 0x33,
                Register::SS => 0x2b,
                Register::RIP => self.cpu.rip,
                _ => 0,
            },
        }
    }

    /// Sets a general register: 32-bit writes clear the upper half, 16- and 8-bit ones keep the rest.
    ///
    /// SDM vol. 1, section 3.4.1.1: a 32-bit result is zero-extended into the whole register.
    /// Narrower ones are merged.
    pub fn set_register(&mut self, register: Register, value: u64) {
        let Some(p) = place(register) else { return };
        let whole = &mut self.cpu.gpr[p.index];
        *whole = match p.size {
            8 => value,
            4 => value & mask(4),
            size => *whole & !(mask(size) << p.shift) | (value & mask(size)) << p.shift,
        };
    }

    /// The address that the memory operand names, segment base included.
    pub fn address(&self, i: &Instruction) -> u64 {
        let base = match i.memory_segment() {
            Register::FS => self.cpu.fs_base,
            Register::GS => self.cpu.gs_base,
            _ => 0,
        };
        base.wrapping_add(self.offset(i))
    }

    /// The address so many bytes from the memory operand, wrapped as the address size says.
    ///
    /// For operands beyond the first element (`bt` with a register offset, images): the segment
    /// base is added after wrapping, as the processor does.
    pub(crate) fn address_plus(&self, i: &Instruction, bytes: u64) -> u64 {
        let offset = self.offset(i);
        let moved = offset.wrapping_add(bytes);
        let wrapped = if address_is_32_bits(i) { moved & mask(4) } else { moved };
        self.address(i).wrapping_sub(offset).wrapping_add(wrapped)
    }

    /// The address that the memory operand names, without the segment base: what `lea` computes.
    ///
    /// The 32-bit address size (prefix 67h) wraps the *sum*, before a segment base is added.
    pub fn offset(&self, i: &Instruction) -> u64 {
        let (base, index) = (i.memory_base(), i.memory_index());
        // iced has already added rip to the displacement.
        if matches!(base, Register::RIP | Register::EIP) {
            return i.memory_displacement64();
        }
        let mut sum = i.memory_displacement64();
        if base != Register::None {
            sum = sum.wrapping_add(self.register(base));
        }
        if index != Register::None {
            sum = sum.wrapping_add(self.register(index).wrapping_mul(u64::from(i.memory_index_scale())));
        }
        if address_is_32_bits(i) { sum & mask(4) } else { sum }
    }

    /// Whether `i` reaches `addr` through the stack segment: by a memory operand with that segment, or by pushing and popping.
    ///
    /// `rsp` or `rbp` as base selects the stack segment unless a prefix says otherwise; iced has
    /// already put that into `memory_segment`.
    fn is_on_stack(&self, i: &Instruction, addr: u64) -> bool {
        let has_operand = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory);
        let by_operand = has_operand && (!i.is_stack_instruction() || self.address(i) == addr);
        if by_operand { i.memory_segment() == Register::SS } else { i.is_stack_instruction() }
    }

    /// With the alignment flag set, accesses must be aligned to their size; of wide ones no two processors think alike.
    ///
    /// SDM vol. 3, "Alignment Check Exception (#AC)". 16-byte accesses with AC set differ between
    /// processors, so they end the run as unsupported instead of being guessed.
    fn check_alignment(&self, addr: u64, size: usize) -> Result<(), Trap> {
        if !self.cpu.flags.ac() || addr.is_multiple_of(size as u64) {
            return Ok(());
        }
        Err(if size > 8 { Trap::Unsupported } else { Trap::AlignmentCheck })
    }

    /// Reads an integer operand of at most 8 bytes: zero-extended registers and memory, sign-extended immediates.
    pub fn read(&mut self, i: &Instruction, op: u32) -> Result<u64, Trap> {
        match i.op_kind(op) {
            OpKind::Register => Ok(self.register(i.op_register(op))),
            OpKind::Memory => self.load(self.address(i), i.memory_size().size()),
            _ => Ok(i.immediate(op)),
        }
    }

    /// Writes an integer operand of at most 8 bytes.
    pub fn write(&mut self, i: &Instruction, op: u32, value: u64) -> Result<(), Trap> {
        match i.op_kind(op) {
            OpKind::Memory => self.store(self.address(i), i.memory_size().size(), value),
            _ => {
                self.set_register(i.op_register(op), value);
                Ok(())
            }
        }
    }

    /// Loads 1, 2, 4 or 8 bytes, zero-extended.
    pub fn load(&mut self, addr: u64, size: usize) -> Result<u64, Trap> {
        self.check_alignment(addr, size)?;
        Ok(match size {
            1 => u64::from(self.memory.load_u8(addr)?),
            2 => u64::from(self.memory.load_u16(addr)?),
            4 => u64::from(self.memory.load_u32(addr)?),
            _ => self.memory.load_u64(addr)?,
        })
    }

    /// Stores the low 1, 2, 4 or 8 bytes of `value`.
    pub fn store(&mut self, addr: u64, size: usize, value: u64) -> Result<(), Trap> {
        self.check_alignment(addr, size)?;
        match size {
            1 => self.memory.store_u8(addr, value as u8)?,
            2 => self.memory.store_u16(addr, value as u16)?,
            4 => self.memory.store_u32(addr, value as u32)?,
            _ => self.memory.store_u64(addr, value)?,
        }
        Ok(())
    }

    /// Loads 16 bytes.
    pub fn load_u128(&mut self, addr: u64) -> Result<u128, Trap> {
        self.check_alignment(addr, 16)?;
        Ok(self.memory.load_u128(addr)?)
    }

    /// Stores 16 bytes.
    pub fn store_u128(&mut self, addr: u64, value: u128) -> Result<(), Trap> {
        self.check_alignment(addr, 16)?;
        Ok(self.memory.store_u128(addr, value)?)
    }

    /// Loads 16 bytes that must be aligned, as `movaps` and most SSE memory operands ask: `#GP` otherwise.
    pub fn load_aligned(&mut self, addr: u64) -> Result<u128, Trap> {
        if !addr.is_multiple_of(16) {
            return Err(Trap::GeneralProtection);
        }
        self.load_u128(addr)
    }

    /// Stores 16 bytes that must be aligned.
    pub fn store_aligned(&mut self, addr: u64, value: u128) -> Result<(), Trap> {
        if !addr.is_multiple_of(16) {
            return Err(Trap::GeneralProtection);
        }
        self.store_u128(addr, value)
    }
}

/// Without base and index only the size of the displacement tells: `[disp32]` with prefix 67h.
fn address_is_32_bits(i: &Instruction) -> bool {
    let (base, index) = (i.memory_base(), i.memory_index());
    match (base, index) {
        (Register::None, Register::None) => i.memory_displ_size() == 4,
        (Register::None, index) => index.size() == 4,
        (base, _) => base.size() == 4,
    }
}
