//! From one decoded instruction to one micro-operation.
//!
//! `None` always means "let the reference do it", never "skip it": a form that is forgotten here is
//! slow, not wrong. The generic fall-back executed up to 5 % of the instructions of the programs
//! that were measured.

use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

use super::address::{address, general, is_high};
use super::chain::{chain, chain_of_move};
use super::operation::{alu_operation, compare_operation, shift_operation};
use super::ops::alu::{self, Form};
use super::ops::bits::{self, Exchange};
use super::ops::stack::Pushed;
use super::ops::{branch, compare, moves, shift, stack, unary, vector};
use super::uop::{Handler, Uop};
use crate::cpu::ZERO;
use crate::integer::condition;
use crate::machine::{mask, operand_size, place};

/// A micro-operation with nothing but its place.
pub(super) fn blank(run: Handler, ip: u64) -> Uop {
    let zero = (8 * ZERO) as u8;
    Uop {
        run,
        ip,
        imm: 0,
        disp: 0,
        link: std::ptr::null(),
        d: zero,
        s: zero,
        base: zero,
        index: zero,
        shift: 0,
        extra: 0,
        left: 0,
    }
}

/// The upper half of `imm`: where a branch at `ip` goes. `None` if it is too far.
///
/// 32 bits reach everything that one linked file can jump to; a jump across more goes to the
/// reference.
pub(super) fn branch_offset(ip: u64, target: u64) -> Option<u64> {
    let offset = target.wrapping_sub(ip) as i64;
    i32::try_from(offset).ok().map(|offset| (offset as u32 as u64) << 32)
}

/// Fills in the operands of an instruction with one or two of them, and says where they are.
pub(super) fn operands(u: &mut Uop, i: &Instruction) -> Option<Form> {
    let second = if i.op_count() > 1 { Some(i.op1_kind()) } else { None };
    let immediate = || i.immediate(1) & mask(operand_size(i, 0));
    match (i.op0_kind(), second) {
        (OpKind::Register, None) => {
            u.d = general(i.op0_register())?;
            Some(Form::Register)
        }
        (OpKind::Memory, None) => Some(if address(u, i)? { Form::LoadIndexed } else { Form::Load }),
        (OpKind::Register, Some(OpKind::Register)) => {
            u.d = general(i.op0_register())?;
            u.s = general(i.op1_register())?;
            Some(Form::Register)
        }
        (OpKind::Register, Some(OpKind::Memory)) => {
            u.d = general(i.op0_register())?;
            Some(if address(u, i)? { Form::LoadIndexed } else { Form::Load })
        }
        (OpKind::Memory, Some(OpKind::Register)) => {
            u.s = general(i.op1_register())?;
            Some(if address(u, i)? { Form::StoreIndexed } else { Form::Store })
        }
        (OpKind::Register, Some(_)) => {
            u.d = general(i.op0_register())?;
            u.imm = immediate();
            Some(Form::Immediate)
        }
        (OpKind::Memory, Some(_)) => {
            u.imm = immediate();
            Some(if address(u, i)? { Form::StoreImmediateIndexed } else { Form::StoreImmediate })
        }
        _ => None,
    }
}

/// A shift of a register by an immediate below its size that is not zero, or by `cl`.
fn shifted(u: &mut Uop, i: &Instruction, op: u8, last: Option<u8>, live: bool) -> Option<Handler> {
    let size = operand_size(i, 0);
    register(u, i)?;
    let immediate = i.op1_kind() != OpKind::Register;
    if immediate {
        u.imm = i.immediate(1) & if size == 8 { 63 } else { 31 };
        if u.imm == 0 || u.imm >= 8 * size as u64 {
            return None;
        }
    }
    shift::pick(op, size, immediate, chain(u, Form::Immediate, last), live)
}

fn multiplied(u: &mut Uop, i: &Instruction, last: Option<u8>, live: bool) -> Option<Handler> {
    let form = operands(u, i)?;
    let three = i.op_count() == 3;
    if three {
        u.imm = i.immediate(2) & mask(operand_size(i, 0));
    }
    let chain = if three { chain_of_move(u, form, last) } else { chain(u, form, last) };
    unary::pick_imul(operand_size(i, 0), form, chain, three, live)
}

/// A product or quotient of `rdx:rax`; the operand is read from `s` or memory.
fn wide(u: &mut Uop, i: &Instruction, divides: bool, signed: bool) -> Option<Handler> {
    let form = operands(u, i)?;
    u.s = u.d;
    bits::pick_wide(divides, signed, operand_size(i, 0), form != Form::Register)
}

fn pushed(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    if i.stack_pointer_increment() != -8 {
        return None;
    }
    match i.op0_kind() {
        OpKind::Register => {
            u.s = general(i.op0_register())?;
            Some(stack::pick_push(Pushed::Register))
        }
        OpKind::Memory => {
            address(u, i)?;
            Some(stack::pick_push(Pushed::Memory))
        }
        _ => {
            u.imm = i.immediate(0);
            Some(stack::pick_push(Pushed::Immediate))
        }
    }
}

fn popped(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    if i.stack_pointer_increment() != 8 || i.op0_kind() != OpKind::Register {
        return None;
    }
    u.d = general(i.op0_register())?;
    Some(stack::pop::<false>)
}

/// `lea` with a 16-bit destination is rare and keeps upper bits: the reference does it.
fn lea(u: &mut Uop, i: &Instruction, last: Option<u8>) -> Option<Handler> {
    // A segment does not count here.
    if matches!(i.memory_segment(), Register::FS | Register::GS) || operand_size(i, 0) < 4 {
        return None;
    }
    u.d = general(i.op0_register())?;
    let indexed = address(u, i)?;
    let form = if indexed { Form::LoadIndexed } else { Form::Load };
    Some(moves::pick_lea(operand_size(i, 0), indexed, chain(u, form, last)))
}

/// A move of a condition: `cmovcc` or `setcc`.
fn conditional(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    u.extra = condition(i);
    let form = operands(u, i)?;
    match i.op_count() {
        1 if form == Form::Register => Some(moves::pick_set(u.extra)),
        1 => None,
        _ => moves::pick_cmov(operand_size(i, 0), form),
    }
}

/// Whether the first operand is a register that handlers cannot write.
fn writes_high(i: &Instruction) -> bool {
    i.op_count() > 0 && i.op0_kind() == OpKind::Register && is_high(i.op0_register())
}

/// The micro-operation for an instruction that goes on with the next. `None` if there is none but the reference.
///
/// `live` says whether the flags are live, `last` which register the micro-operation before has written.
pub(super) fn translate(i: &Instruction, live: bool, last: Option<u8>) -> Option<Uop> {
    let mut u = blank(moves::nothing, i.ip());
    if let Some(op) = compare_operation(i.mnemonic()) {
        let form = operands(&mut u, i)?;
        u.run = compare::pick(op, operand_size(i, 0), form);
        return Some(u);
    }
    if writes_high(i) {
        return None;
    }
    u.run = vector::translate(&mut u, i).or_else(|| integer(&mut u, i, live, last))?;
    Some(u)
}

fn integer(u: &mut Uop, i: &Instruction, live: bool, last: Option<u8>) -> Option<Handler> {
    let size = if i.op_count() > 0 { operand_size(i, 0) } else { 0 };
    if let Some(op) = alu_operation(i.mnemonic()) {
        let form = operands(u, i)?;
        return Some(alu::pick(op, size, form, chain(u, form, last), live));
    }
    if let Some(op) = shift_operation(i.mnemonic()) {
        return shifted(u, i, op, last, live);
    }
    match i.mnemonic() {
        Mnemonic::Mov if is_general(i) => {
            let form = operands(u, i)?;
            Some(moves::pick_mov(size, form, chain_of_move(u, form, last)))
        }
        Mnemonic::Movzx if size >= 4 => {
            let form = operands(u, i)?;
            moves::pick_movzx(operand_size(i, 1), form, chain_of_move(u, form, last))
        }
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            let form = operands(u, i)?;
            moves::pick_movsx(operand_size(i, 1), size, form, chain_of_move(u, form, last))
        }
        Mnemonic::Lea => lea(u, i, last),
        Mnemonic::Push => pushed(u, i),
        Mnemonic::Pop => popped(u, i),
        Mnemonic::Leave if i.code() == Code::Leaveq => Some(stack::leave::<false>),
        Mnemonic::Inc => unary::pick_step(alu::ADD, size, operands(u, i)?, live),
        Mnemonic::Dec => unary::pick_step(alu::SUB, size, operands(u, i)?, live),
        Mnemonic::Neg => register(u, i).map(|()| unary::pick_negation(true, size)),
        Mnemonic::Not => register(u, i).map(|()| unary::pick_negation(false, size)),
        Mnemonic::Imul if i.op_count() > 1 => multiplied(u, i, last, live),
        Mnemonic::Imul => wide(u, i, false, true),
        Mnemonic::Mul => wide(u, i, false, false),
        Mnemonic::Div => wide(u, i, true, false),
        Mnemonic::Idiv => wide(u, i, true, true),
        Mnemonic::Bsf => bits::pick_scan(bits::FORWARD, size, operands(u, i)?),
        Mnemonic::Bsr => bits::pick_scan(bits::REVERSE, size, operands(u, i)?),
        Mnemonic::Tzcnt => bits::pick_scan(bits::TRAILING, size, operands(u, i)?),
        Mnemonic::Popcnt => bits::pick_scan(bits::ONES, size, operands(u, i)?),
        Mnemonic::Bt => bits::pick_test(bits::KEEP, size, operands(u, i)?),
        Mnemonic::Bts => bits::pick_test(bits::SET, size, operands(u, i)?),
        Mnemonic::Btr => bits::pick_test(bits::RESET, size, operands(u, i)?),
        Mnemonic::Btc => bits::pick_test(bits::FLIP, size, operands(u, i)?),
        Mnemonic::Xchg => bits::pick_exchange(Exchange::Swap, size, operands(u, i)?),
        Mnemonic::Xadd => bits::pick_exchange(Exchange::Add, size, operands(u, i)?),
        Mnemonic::Cmpxchg => bits::pick_exchange(Exchange::SwapIfEqual, size, operands(u, i)?),
        Mnemonic::Bswap if size >= 4 => register(u, i).map(|()| unary::pick_swap(size)),
        Mnemonic::Cdq => Some(unary::pick_spread(4)),
        Mnemonic::Cqo => Some(unary::pick_spread(8)),
        Mnemonic::Cwde => Some(unary::pick_widen(4)),
        Mnemonic::Cdqe => Some(unary::pick_widen(8)),
        Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause => Some(moves::nothing),
        _ if i.condition_code() != ConditionCode::None => conditional(u, i),
        _ => None,
    }
}

/// The only operand is a general register.
fn register(u: &mut Uop, i: &Instruction) -> Option<()> {
    if i.op0_kind() != OpKind::Register {
        return None;
    }
    u.d = general(i.op0_register())?;
    Some(())
}

/// Not to or from a segment register.
fn is_general(i: &Instruction) -> bool {
    (0..i.op_count()).all(|op| i.op_kind(op) != OpKind::Register || place(i.op_register(op)).is_some())
}

/// Whether `i` is a conditional jump on flags.
pub(super) fn is_jcc(i: &Instruction) -> bool {
    i.is_jcc_short_or_near()
}

/// A conditional jump alone.
pub(super) fn jump_if(i: &Instruction) -> Option<Uop> {
    let mut u = blank(branch::pick_conditional(condition(i)), i.ip());
    u.imm = branch_offset(i.ip(), i.near_branch_target())?;
    Some(u)
}

/// From the end of a block that was cut off to the next.
pub(super) fn fall_through(next: u64) -> Uop {
    blank(branch::jump, next)
}

/// A jump, call or return that ends a block. `written` is the register that the micro-operation before has written.
pub(super) fn last(i: &Instruction, written: Option<u8>) -> Option<Uop> {
    let mut u = blank(branch::jump, i.ip());
    match i.mnemonic() {
        Mnemonic::Jmp | Mnemonic::Call => {}
        Mnemonic::Ret => {
            u.run = branch::ret::<false>;
            u.imm = if i.op_count() == 1 { u64::from(i.immediate16()) } else { 0 };
            return Some(u);
        }
        _ => return None,
    }
    u.extra = i.len() as u8;
    let call = i.mnemonic() == Mnemonic::Call;
    match i.op0_kind() {
        OpKind::NearBranch64 => {
            u.imm = branch_offset(i.ip(), i.near_branch_target())?;
            u.run = if call { branch::call::<false> } else { branch::jump };
        }
        OpKind::Register if i.op0_register().size() == 8 => {
            u.s = general(i.op0_register())?;
            u.run = branch::pick_indirect(call, written == Some(u.s));
        }
        OpKind::Memory if i.memory_size().size() == 8 && !crate::generic::is_far(i.code()) => {
            address(&mut u, i)?;
            u.run = branch::pick_loaded(call);
        }
        _ => return None,
    }
    Some(u)
}
