//! A form becomes bytes: operands are chosen at random from what the form allows.

use hostcpu::{CODE, INSTRUCTION_MAX, State};
use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, Instruction, Mnemonic, OpCodeOperandKind as Kind, OpKind, Register,
};

use crate::host::numbers::integer;
use crate::host::random::Random;
use crate::host::state::{inside, target};

/// One instruction, and where its memory operand is meant to be.
pub struct Case {
    pub instruction: Instruction,
    pub bytes: Vec<u8>,
    pub target: u64,
}

/// Builds an instruction of the form; address registers in `state` are set so that it reaches its target.
pub fn build(random: &mut Random, code: Code, state: &mut State) -> Option<Case> {
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    let info = code.op_code();
    let mut place = inside(random);
    for op in 0..info.op_count() {
        if operand(random, &mut instruction, op, info.op_kind(op))? {
            place = address(random, &mut instruction, state);
        }
    }
    prefixes(random, &mut instruction, state, place);
    let mut encoder = Encoder::new(64);
    encoder.encode(&instruction, CODE).ok()?;
    let bytes = encoder.take_buffer();
    let decoded = Decoder::with_ip(64, &bytes, CODE, DecoderOptions::NONE).decode();
    let same = decoded.code() == code && decoded.len() == bytes.len() && bytes.len() <= INSTRUCTION_MAX;
    same.then_some(Case { instruction: decoded, bytes, target: place })
}

/// Sets one operand; true if it is in memory and needs an address.
fn operand(random: &mut Random, i: &mut Instruction, op: u32, kind: Kind) -> Option<bool> {
    let register = |i: &mut Instruction, random: &mut Random, from: Register, count: u64| {
        i.set_op_kind(op, OpKind::Register);
        i.set_op_register(op, from + random.below(count) as u32);
        false
    };
    let either = |i: &mut Instruction, random: &mut Random| {
        let memory = random.percent(60);
        if memory {
            i.set_op_kind(op, OpKind::Memory);
        }
        memory
    };
    Some(match kind {
        Kind::r8_or_mem => either(i, random) || register(i, random, Register::AL, 20),
        Kind::r16_or_mem => either(i, random) || register(i, random, Register::AX, 16),
        Kind::r32_or_mem => either(i, random) || register(i, random, Register::EAX, 16),
        Kind::r64_or_mem => either(i, random) || register(i, random, Register::RAX, 16),
        Kind::mm_or_mem => either(i, random) || register(i, random, Register::MM0, 8),
        Kind::xmm_or_mem => either(i, random) || register(i, random, Register::XMM0, 16),
        Kind::mem | Kind::mem_mib | Kind::mem_mpx => {
            i.set_op_kind(op, OpKind::Memory);
            true
        }
        Kind::mem_offs => {
            i.set_op_kind(op, OpKind::Memory);
            i.set_memory_displ_size(8);
            i.set_memory_displacement64(target(random, 8));
            false
        }
        Kind::r8_reg | Kind::r8_opcode => register(i, random, Register::AL, 20),
        Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => register(i, random, Register::AX, 16),
        Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => register(i, random, Register::EAX, 16),
        Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => register(i, random, Register::RAX, 16),
        Kind::mm_reg | Kind::mm_rm => register(i, random, Register::MM0, 8),
        Kind::xmm_reg | Kind::xmm_rm => register(i, random, Register::XMM0, 16),
        Kind::sti_opcode => register(i, random, Register::ST0, 8),
        Kind::st0 => register(i, random, Register::ST0, 1),
        Kind::al => register(i, random, Register::AL, 1),
        Kind::cl => register(i, random, Register::CL, 1),
        Kind::ax => register(i, random, Register::AX, 1),
        Kind::dx => register(i, random, Register::DX, 1),
        Kind::eax => register(i, random, Register::EAX, 1),
        Kind::rax => register(i, random, Register::RAX, 1),
        Kind::fs => register(i, random, Register::FS, 1),
        Kind::gs => register(i, random, Register::GS, 1),
        Kind::seg_reg => register(i, random, Register::ES, 6),
        _ => return fixed(random, i, op, kind),
    })
}

/// Immediates, branch targets and implied addresses.
fn fixed(random: &mut Random, i: &mut Instruction, op: u32, kind: Kind) -> Option<bool> {
    let value = integer(random);
    match kind {
        Kind::imm8 if op > 0 && i.op_kind(op - 1) == OpKind::Immediate16 => {
            i.set_op_kind(op, OpKind::Immediate8_2nd);
            i.set_immediate8_2nd(value as u8 & 3);
        }
        Kind::imm8 => {
            i.set_op_kind(op, OpKind::Immediate8);
            i.set_immediate8(value as u8);
        }
        Kind::imm8_const_1 => {
            i.set_op_kind(op, OpKind::Immediate8);
            i.set_immediate8(1);
        }
        Kind::imm8sex16 => set(i, op, OpKind::Immediate8to16, value as i8 as u64),
        Kind::imm8sex32 => set(i, op, OpKind::Immediate8to32, value as i8 as u64),
        Kind::imm8sex64 => set(i, op, OpKind::Immediate8to64, value as i8 as u64),
        Kind::imm16 => set(i, op, OpKind::Immediate16, value as u16 as u64),
        Kind::imm32 => set(i, op, OpKind::Immediate32, value as u32 as u64),
        Kind::imm32sex64 => set(i, op, OpKind::Immediate32to64, value as i32 as u64),
        Kind::imm64 => set(i, op, OpKind::Immediate64, value),
        Kind::br64_1 | Kind::br64_4 => {
            i.set_op_kind(op, OpKind::NearBranch64);
            let distance = 20 + random.below(80);
            i.set_near_branch64(if random.percent(50) { CODE + distance } else { CODE - distance });
        }
        Kind::seg_rSI => i.set_op_kind(op, OpKind::MemorySegRSI),
        Kind::es_rDI => i.set_op_kind(op, OpKind::MemoryESRDI),
        Kind::seg_rDI => i.set_op_kind(op, OpKind::MemorySegRDI),
        Kind::seg_rBX_al => {
            i.set_op_kind(op, OpKind::Memory);
            i.set_memory_base(Register::RBX);
            i.set_memory_index(Register::AL);
        }
        _ => return None,
    }
    Some(false)
}

fn set(i: &mut Instruction, op: u32, kind: OpKind, value: u64) {
    i.set_op_kind(op, kind);
    i.set_immediate_u64(op, value);
}

/// Chooses an addressing mode and gives its registers values; returns where it leads.
fn address(random: &mut Random, i: &mut Instruction, state: &mut State) -> u64 {
    let size = i.memory_size().size() as u64;
    let place = target(random, size);
    // An exchange locks by itself.
    let place = if i.mnemonic() == Mnemonic::Xchg { place & !15 } else { place };
    let low = place < 1 << 31;
    match random.below(10) {
        0 if low => {
            i.set_memory_displ_size(4);
            i.set_memory_displacement64(place);
        }
        1 if low => {
            i.set_memory_base(Register::RIP);
            i.set_memory_displ_size(8);
            i.set_memory_displacement64(place);
        }
        2 if low => registers(random, i, state, place, Register::EAX),
        _ => registers(random, i, state, place, Register::RAX),
    }
    place
}

/// Base, perhaps an index, and a displacement that add up to `place`; `first` chooses 32- or 64-bit registers.
fn registers(random: &mut Random, i: &mut Instruction, state: &mut State, place: u64, first: Register) {
    let base = random.below(16);
    let index = random.below(16);
    let scale = random.pick(&[1, 2, 4, 8]);
    let (displacement, displ_size) = match random.below(3) {
        0 => (0, 0),
        1 => (random.next() as i8 as u64, 1),
        _ => (random.below(1 << 20), first.size() as u32),
    };
    i.set_memory_base(first + base as u32);
    i.set_memory_displ_size(displ_size);
    i.set_memory_displacement64(if first == Register::EAX { displacement & 0xffff_ffff } else { displacement });
    let mut rest = place.wrapping_sub(displacement);
    if index != 4 && index != base && random.percent(50) {
        i.set_memory_index(first + index as u32);
        i.set_memory_index_scale(scale);
        let value = random.pick(&[0, 1, 2, 3, u64::MAX, 100]);
        state.gpr[index as usize] = value;
        rest = rest.wrapping_sub(value.wrapping_mul(scale.into()));
    }
    // The upper half of a 32-bit address register does not count.
    state.gpr[base as usize] = if first == Register::EAX { rest & 0xffff_ffff | random.next() << 32 } else { rest };
}

fn prefixes(random: &mut Random, i: &mut Instruction, state: &mut State, place: u64) {
    let info = i.code().op_code();
    let to_memory = i.op0_kind() == OpKind::Memory;
    // Not across cache lines: Linux makes whoever does that wait.
    if info.can_use_lock_prefix() && to_memory && place.is_multiple_of(16) && random.percent(20) {
        i.set_has_lock_prefix(true);
    }
    let repeats = info.can_use_rep_prefix() || info.can_use_repne_prefix();
    if repeats && i.code().is_string_instruction() && random.percent(60) {
        if info.can_use_repne_prefix() && random.percent(50) {
            i.set_has_repne_prefix(true);
        } else {
            i.set_has_rep_prefix(true);
        }
        state.gpr[1] = random.below(40);
    }
    // A bit string may start far from its address: not too far.
    let bits = matches!(i.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
    if bits && to_memory && i.op1_kind() == OpKind::Register && random.percent(80) {
        let number = i.op1_register().full_register() as u32 - Register::RAX as u32;
        let in_address = [i.memory_base(), i.memory_index()].map(Register::full_register);
        if !in_address.contains(&i.op1_register().full_register()) {
            state.gpr[number as usize] = random.below(4000).wrapping_sub(2000);
        }
    }
}
