//! How an x87 instruction begins and ends: waiting exceptions, stack faults, flags, unmasked responses.
//!
//! Masked response: a default result (NaN, infinity, denormal) is written and a flag set. Unmasked:
//! operands stay where they are, the flag is set, and nothing is written or popped; for overflow
//! and underflow in a register the wrapped result is (SDM vol. 1, section 8.5).

use iced_x86::{Instruction, OpKind, Register};

use super::X87;
use crate::machine::{Machine, Trap};
use crate::softfloat::{
    BEFORE, DENORMAL, Env, F32, F64, F80, Float, Format, INEXACT, INVALID, OVERFLOW, Real, UNDERFLOW, exact_integer,
};

/// The stack fault flag of the status word.
const STACK_FAULT: u16 = 0x40;
/// Condition code 1: rounded up, or the direction of a stack fault.
const C1: u16 = 0x200;

/// Does the instruction pop the stack, and how often?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pop {
    None,
    Once,
    Twice,
}

/// Which way the stack went wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// An empty register was read.
    Underflow,
    /// A used register would have been pushed onto.
    Overflow,
}

/// One instruction in progress.
pub(super) struct Work {
    pub env: Env,
    fault: Option<Fault>,
    /// Unmasked exceptions that leave the destination alone.
    stops: u8,
    /// Does C1 stay, unless the stack is at fault?
    keeps_c1: bool,
}

impl Work {
    /// Starts a waiting instruction: an exception that is still unreported comes first.
    pub fn begin(m: &Machine<'_>) -> Result<Self, Trap> {
        ready(m)?;
        Ok(Self { env: Env::from_control(m.cpu.x87.control), fault: None, stops: BEFORE, keeps_c1: false })
    }

    /// The instruction rounds nothing and says so by leaving C1 alone.
    pub fn keeping_c1(self) -> Self {
        Self { keeps_c1: true, ..self }
    }

    /// A denormal operand does not keep the instruction from giving its result (`fld`).
    pub fn despite_denormals(self) -> Self {
        Self { stops: BEFORE & !DENORMAL, ..self }
    }

    /// The result of a stack fault.
    fn faulty(&mut self, fault: Fault) -> Float {
        self.fault = Some(fault);
        self.env.invalid()
    }

    /// An empty register was read.
    pub fn underflow(&mut self) -> Float {
        self.faulty(Fault::Underflow)
    }

    /// Notes that a push finds no room.
    pub fn check_room(&mut self, x: &X87) -> bool {
        let room = x.empty(7);
        if !room {
            self.faulty(Fault::Overflow);
        }
        room
    }

    /// The flags for the status word.
    fn status(&self) -> u16 {
        u16::from(self.env.flags) | if self.fault.is_some() { STACK_FAULT } else { 0 }
    }

    /// Will the destination be written? Not if an operand's exception is unmasked.
    pub fn gives_result(&self) -> bool {
        self.env.unmasked() & self.stops == 0
    }

    /// Will a result in memory be written? Overflow and underflow leave it alone too.
    pub fn gives_stored_result(&self) -> bool {
        self.env.unmasked() & (self.stops | OVERFLOW | UNDERFLOW) == 0
    }

    /// Sets flags and C1, then, if there is a result, lets `then` write it.
    ///
    /// `then` is called at most once and only after flags are set, so a result is never written
    /// without its flags.
    pub fn finish(mut self, m: &mut Machine<'_>, i: &Instruction, then: impl FnOnce(&mut X87)) {
        let gives = self.gives_result();
        if !gives {
            // The operation stopped before there was anything to round.
            self.env.flags &= BEFORE;
            self.env.up = false;
        }
        self.report(m, i);
        if gives {
            then(&mut m.cpu.x87);
        }
    }

    /// As `finish`, for a result that went to memory.
    pub fn finish_store(mut self, m: &mut Machine<'_>, i: &Instruction, then: impl FnOnce(&mut X87)) {
        let gives = self.gives_stored_result();
        if !gives {
            // Nothing was rounded into place.
            self.env.flags &= !INEXACT;
            self.env.up = false;
        }
        self.finish(m, i, |x| {
            if gives {
                then(x);
            }
        });
    }

    fn report(&self, m: &mut Machine<'_>, i: &Instruction) {
        let up = match self.fault {
            None => self.env.up,
            Some(fault) => fault == Fault::Overflow,
        };
        if self.fault.is_some() || !self.keeps_c1 {
            m.cpu.x87.set_codes(C1, if up { C1 } else { 0 });
        }
        m.cpu.x87.raise(self.status());
        if self.env.unmasked() != 0 {
            remember(m, i);
        }
    }
}

/// A waiting instruction reports what is pending.
pub(super) fn ready(m: &Machine<'_>) -> Result<(), Trap> {
    if m.cpu.x87.pending() { Err(Trap::X87Exception) } else { Ok(()) }
}

/// Records which instruction left an unmasked exception.
fn remember(m: &mut Machine<'_>, i: &Instruction) {
    let data = if i.op_kind(0) == OpKind::Memory { m.address(i) } else { 0 };
    m.cpu.x87.last_instruction = i.ip();
    m.cpu.x87.last_data = data;
    m.cpu.x87.last_opcode = opcode(m, i);
}

/// The eleven bits that identify an x87 instruction: the low three of the first byte, and the second.
///
/// D8h to DFh, behind any prefixes; the three low bits and the second byte are what `fnstenv` shows
/// as FOP.
fn opcode(m: &mut Machine<'_>, i: &Instruction) -> u16 {
    let mut bytes = [0; 16];
    if m.memory.fetch(i.ip(), &mut bytes).is_err() {
        return 0;
    }
    let first = bytes.iter().position(|byte| byte & 0xf8 == 0xd8).unwrap_or(0).min(14);
    u16::from(bytes[first] & 7) << 8 | u16::from(bytes[first + 1])
}

/// Number of a stack register.
pub(super) fn index(register: Register) -> u8 {
    (register as usize - Register::ST0 as usize) as u8 & 7
}

/// The stack register that operand `op` names; ST(0) if it names none.
pub(super) fn stack_operand(i: &Instruction, op: u32) -> u8 {
    if op < i.op_count() && i.op_kind(op) == OpKind::Register { index(i.op_register(op)) } else { 0 }
}

/// ST(i), if not empty.
pub(super) fn value(x: &X87, i: u8) -> Option<Float> {
    (!x.empty(i)).then(|| x.st(i).unpack())
}

/// The number that the last operand names: memory of any format, or a stack register that may be empty.
pub(super) fn source(m: &mut Machine<'_>, i: &Instruction) -> Result<Option<Float>, Trap> {
    let last = i.op_count().saturating_sub(1);
    if i.op_count() > 0 && i.op_kind(last) == OpKind::Memory {
        return load(m, i).map(Some);
    }
    Ok(value(&m.cpu.x87, stack_operand(i, last)))
}

fn load(m: &mut Machine<'_>, i: &Instruction) -> Result<Float, Trap> {
    use iced_x86::MemorySize;
    let addr = m.address(i);
    Ok(match i.memory_size() {
        MemorySize::Float32 => F32(m.load(addr, 4)? as u32).unpack(),
        MemorySize::Float64 => F64(m.load(addr, 8)?).unpack(),
        MemorySize::Int16 => exact_integer(m.load(addr, 2)? as i16 as i64),
        MemorySize::Int32 => exact_integer(m.load(addr, 4)? as i32 as i64),
        MemorySize::Int64 => exact_integer(m.load(addr, 8)? as i64),
        _ => load_extended(m, addr)?.unpack(),
    })
}

/// Whether memory is about to be read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
}

/// Tries the first field and the last byte of an image before anything else happens: that is where a processor reports a
/// fault.
pub(super) fn touch_ends(m: &mut Machine<'_>, addr: u64, field: u64, len: u64, touch: Touch) -> Result<(), Trap> {
    for (at, size) in [(addr, field as usize), (addr.wrapping_add(len - 1), 1)] {
        let bytes = m.load(at, size)?;
        if touch == Touch::Write {
            m.store(at, size, bytes)?;
        }
    }
    Ok(())
}

/// Ten bytes.
pub(super) fn load_extended(m: &mut Machine<'_>, addr: u64) -> Result<F80, Trap> {
    let significand = m.load(addr, 8)?;
    let sign_exponent = m.load(addr.wrapping_add(8), 2)? as u16;
    Ok(F80 { sign_exponent, significand })
}

/// Ten bytes.
pub(super) fn store_extended(m: &mut Machine<'_>, addr: u64, value: F80) -> Result<(), Trap> {
    m.store(addr, 8, value.significand)?;
    m.store(addr.wrapping_add(8), 2, value.sign_exponent.into())
}

impl X87 {
    /// How results are rounded: the precision field chooses the bits, exponents stay those of 80-bit numbers.
    pub(super) fn format(&self) -> Format {
        let precision = match self.control >> 8 & 3 {
            0 => 24,
            2 => 53,
            _ => 64,
        };
        Format { precision, ..F80::FORMAT }
    }

    /// Pops so many registers.
    pub(super) fn pop(&mut self, pop: Pop) {
        for _ in 0..pop as u8 {
            self.free(0);
            self.rotate(1);
        }
    }

    /// Pushes.
    pub(super) fn push(&mut self, value: F80) {
        self.rotate(-1);
        self.set_st(0, value);
    }
}

/// A push that may find no room: then the default NaN is pushed, unless that exception is unmasked.
pub(super) fn push(m: &mut Machine<'_>, i: &Instruction, mut work: Work, value: impl FnOnce(&mut Work) -> F80) {
    let room = work.check_room(&m.cpu.x87);
    let value = if room { value(&mut work) } else { F80::pack(Float::INDEFINITE) };
    debug_assert!(room || work.env.flags & INVALID != 0);
    work.finish(m, i, |x| x.push(value));
}
