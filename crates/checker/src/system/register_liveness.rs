//! Register liveness: a register is dead at an address if all paths from there overwrite it before they read it.
//!
//! It is a function of the code alone. What is undecided after a few instructions counts as live, and so does every
//! register at a call, a return, or an indirect jump.
//!
//! Used only where positions of a thread are compared with each other (spin loops): a loop that
//! leaves its last flag in a register is the same loop whatever was there. Not used for
//! fingerprints, whose dead parts are flags (`x86`) and stacks.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register, UsedRegister,
};
use memory::{Memory, SpaceId};
use std::collections::BTreeMap;
use x86::Cpu;

/// How many instructions are analysed.
///
/// An iteration of a spin loop is shorter.
const HORIZON: usize = 48;

/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// General registers as bits, in encoding order.
type Registers = u16;

/// The registers of a thread, the dead ones zeroed.
pub(crate) fn without_dead(memory: &Memory, space: SpaceId, cpu: &Cpu) -> Cpu {
    let mut cpu = cpu.clone();
    let live = live_at(cpu.rip, |address| instruction(memory, space, address));
    for (number, register) in cpu.gpr.iter_mut().enumerate().filter(|(number, _)| live & 1 << number == 0) {
        debug_assert_ne!(number, x86::cpu::RSP);
        *register = 0;
    }
    cpu
}

fn instruction(memory: &Memory, space: SpaceId, address: u64) -> Option<Instruction> {
    let mut bytes = [0; INSTRUCTION_MAX];
    // The last instruction of a mapping may be shorter.
    let length =
        (1..=INSTRUCTION_MAX).rev().find(|length| memory.peek(space, address, &mut bytes[..*length]).is_ok())?;
    let mut decoder = Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE);
    Some(decoder.decode()).filter(|instruction| !instruction.is_invalid())
}

/// Registers that may be live at an address.
///
/// A worklist over paths, with the registers that are still undecided on each; what a path
/// overwrites leaves the set, what it reads is live.
fn live_at(start: u64, code: impl Fn(u64) -> Option<Instruction>) -> Registers {
    let mut factory = InstructionInfoFactory::new();
    // The stack pointer is always live.
    let mut live: Registers = 1 << x86::cpu::RSP;
    let mut seen: BTreeMap<u64, Registers> = BTreeMap::new();
    let mut worklist = vec![(start, !live)];
    for _ in 0..HORIZON {
        let Some((address, open)) = worklist.pop() else { return live };
        let known = seen.entry(address).or_default();
        let open = open & !*known & !live;
        *known |= open;
        if open == 0 {
            continue;
        }
        let Some(instruction) = code(address) else { return !0 };
        let (reads, writes) = effect(factory.info(&instruction).used_registers());
        live |= open & reads;
        let open = open & !(reads | writes);
        match instruction.flow_control() {
            FlowControl::Next => worklist.push((instruction.next_ip(), open)),
            FlowControl::UnconditionalBranch => worklist.push((instruction.near_branch_target(), open)),
            FlowControl::ConditionalBranch => {
                worklist.extend([(instruction.next_ip(), open), (instruction.near_branch_target(), open)]);
            }
            _ => live |= open,
        }
    }
    worklist.iter().fold(live, |live, (_, open)| live | open)
}

/// Registers that an instruction may read, and those that it always overwrites.
fn effect(used: &[UsedRegister]) -> (Registers, Registers) {
    let (mut reads, mut writes) = (0, 0);
    for used in used {
        let register = used.register();
        if !register.is_gpr() {
            continue;
        }
        let bit = 1 << (register.full_register() as u32 - Register::RAX as u32);
        match used.access() {
            // A write of 8 or 16 bits leaves the rest of the register live.
            OpAccess::Write if register.is_gpr32() || register.is_gpr64() => writes |= bit,
            OpAccess::Write | OpAccess::None | OpAccess::CondWrite | OpAccess::NoMemAccess => {}
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite => reads |= bit,
        }
    }
    (reads, writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use x86::cpu::{RAX, RBX, RCX, RDX};

    /// Which of these are dead at the beginning of some code.
    fn dead(code: &[u8], among: &[usize]) -> Vec<usize> {
        let decode = |address: u64| {
            let rest = code.get(address as usize..).filter(|rest| !rest.is_empty())?;
            Some(Decoder::with_ip(64, rest, address, DecoderOptions::NONE).decode())
        };
        let live = live_at(0, decode);
        among.iter().copied().filter(|number| live & 1 << number == 0).collect()
    }

    #[test]
    fn what_a_loop_overwrites_before_it_looks_is_dead() {
        // again: mov eax,[rbx]; test eax,eax; je out; mov eax,[rcx]; cmp eax,edx; je again; out: ret
        let code = [0x8b, 0x03, 0x85, 0xc0, 0x74, 0x06, 0x8b, 0x01, 0x39, 0xd0, 0x74, 0xf4, 0xc3];
        assert_eq!(dead(&code, &[RAX, RBX, RCX, RDX]), [RAX]);
    }

    #[test]
    fn what_is_used_behind_a_loop_is_not_dead() {
        // jmp look; again: mov eax,ecx; look: mov edx,[rbx]; test edx,edx; je again; cdqe; ret
        let code = [0xeb, 0x02, 0x89, 0xc8, 0x8b, 0x13, 0x85, 0xd2, 0x74, 0xf8, 0x48, 0x98, 0xc3];
        assert_eq!(dead(&code, &[RAX, RBX, RCX, RDX]), [RDX]);
    }

    #[test]
    fn a_part_that_is_overwritten_leaves_the_rest() {
        // mov al,1; mov ecx,eax; ret
        assert_eq!(dead(&[0xb0, 0x01, 0x89, 0xc1, 0xc3], &[RAX, RCX]), [RCX]);
        // cmovz eax,ecx; ret
        assert_eq!(dead(&[0x0f, 0x44, 0xc1, 0xc3], &[RAX, RCX]), [0; 0]);
    }

    #[test]
    fn what_is_not_settled_counts_as_read() {
        // call; mov eax,1; ret
        assert_eq!(dead(&[0xe8, 0, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xc3], &[RAX]), [0; 0]);
        // nops without end
        assert_eq!(dead(&[0x90; 200], &[RAX]), [0; 0]);
    }
}
