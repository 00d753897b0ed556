//! Registers that nobody will read: overwritten on all ways from an address before anybody looks.
//!
//! A function of the code from there on. Whatever is not settled after a few instructions counts as read, and so does
//! everything at a call, a return, or a jump to somewhere unknown.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register, UsedRegister,
};
use memory::{Memory, SpaceId};
use std::collections::BTreeMap;
use x86::Cpu;

/// How many instructions are looked at.
const HORIZON: usize = 48;

/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// General registers as bits, in encoding order.
type Registers = u16;

/// The registers of a thread but for those that nobody will read.
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

/// Registers that may be read on some way from an address.
fn live_at(start: u64, code: impl Fn(u64) -> Option<Instruction>) -> Registers {
    let mut factory = InstructionInfoFactory::new();
    // Nobody does without a stack pointer.
    let mut live: Registers = 1 << x86::cpu::RSP;
    let mut seen: BTreeMap<u64, Registers> = BTreeMap::new();
    let mut ways = vec![(start, !live)];
    for _ in 0..HORIZON {
        let Some((address, open)) = ways.pop() else { return live };
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
            FlowControl::Next => ways.push((instruction.next_ip(), open)),
            FlowControl::UnconditionalBranch => ways.push((instruction.near_branch_target(), open)),
            FlowControl::ConditionalBranch => {
                ways.extend([(instruction.next_ip(), open), (instruction.near_branch_target(), open)]);
            }
            _ => live |= open,
        }
    }
    ways.iter().fold(live, |live, (_, open)| live | open)
}

/// Registers that an instruction reads, and those that it overwrites whatever happens.
fn effect(used: &[UsedRegister]) -> (Registers, Registers) {
    let (mut reads, mut writes) = (0, 0);
    for used in used {
        let register = used.register();
        if !register.is_gpr() {
            continue;
        }
        let bit = 1 << (register.full_register() as u32 - Register::RAX as u32);
        match used.access() {
            // The rest of the register stays as it is.
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
