//! Repeated copies and fills: each iteration counts as one instruction and can be the last of a run.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use iced_x86::{Code, Instruction, OpKind, Register};

use crate::cpu::{RAX, RCX, RDI, RSI};
use crate::lower::uop::{Careful, Handler, handler};
use crate::lower::width::Width;

/// What one iteration adds to a pointer.
#[inline(always)]
unsafe fn step<T: Width>(x: Careful) -> u64 {
    if x.cpu().flags.df() { T::BYTES.wrapping_neg() } else { T::BYTES }
}

/// What comes after an iteration.
enum After {
    Another,
    Next,
    /// The budget is used up.
    Leave,
}

/// Counts an iteration.
///
/// The iteration itself was paid for at entry or below; another one is paid for only if the budget
/// has one left.
#[inline(always)]
unsafe fn count(x: Careful) -> After {
    let left = x.cpu().gpr[RCX].wrapping_sub(1);
    x.cpu().gpr[RCX] = left;
    if left == 0 {
        return After::Next;
    }
    let exec = &mut *x.exec;
    if exec.budget == 0 {
        x.cpu().rip = x.uop().ip;
        return After::Leave;
    }
    exec.budget -= 1;
    After::Another
}

handler! {
    /// `rep movs`.
    fn copy[T: Width](x: true) {
        if x.cpu().gpr[RCX] == 0 {
            return x.next();
        }
        let step = step::<T>(x);
        loop {
            let Ok(value) = x.load::<T>(x.cpu().gpr[RSI]) else { return x.stopped() };
            if x.store::<T>(x.cpu().gpr[RDI], value).is_err() {
                return x.stopped();
            }
            x.cpu().gpr[RSI] = x.cpu().gpr[RSI].wrapping_add(step);
            x.cpu().gpr[RDI] = x.cpu().gpr[RDI].wrapping_add(step);
            match count(x) {
                After::Another => {}
                After::Next => return x.next(),
                After::Leave => return std::ptr::null(),
            }
        }
    }
}

handler! {
    /// `rep stos`.
    fn fill[T: Width](x: true) {
        if x.cpu().gpr[RCX] == 0 {
            return x.next();
        }
        let step = step::<T>(x);
        loop {
            if x.store::<T>(x.cpu().gpr[RDI], x.cpu().gpr[RAX]).is_err() {
                return x.stopped();
            }
            x.cpu().gpr[RDI] = x.cpu().gpr[RDI].wrapping_add(step);
            match count(x) {
                After::Another => {}
                After::Next => return x.next(),
                After::Leave => return std::ptr::null(),
            }
        }
    }
}

/// The handler for a repeated string instruction, if it has one.
pub(in crate::lower) fn pick(i: &Instruction) -> Option<Handler> {
    let narrow = |op: u32| matches!(i.op_kind(op), OpKind::MemorySegESI | OpKind::MemoryESEDI);
    if narrow(0) || narrow(1) || matches!(i.memory_segment(), Register::FS | Register::GS) {
        return None;
    }
    Some(match i.code() {
        Code::Movsb_m8_m8 => copy::<u8>,
        Code::Movsw_m16_m16 => copy::<u16>,
        Code::Movsd_m32_m32 => copy::<u32>,
        Code::Movsq_m64_m64 => copy::<u64>,
        Code::Stosb_m8_AL => fill::<u8>,
        Code::Stosw_m16_AX => fill::<u16>,
        Code::Stosd_m32_EAX => fill::<u32>,
        Code::Stosq_m64_RAX => fill::<u64>,
        _ => return None,
    })
}
