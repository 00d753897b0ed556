//! What a signal handler finds on its stack: the frame of `rt_sigreturn(2)`, as Linux lays it out on x86-64.
//!
//! Layout: `struct rt_sigframe` of Linux (`arch/x86/include/asm/sigframe.h`). Programs read and
//! change it (garbage collectors, `swapcontext(3)` look-alikes, stack unwinders that recognise the
//! restorer), so every field is where Linux has it.

use kernel::signal::{self, Delivery};
use memory::{Fault, Memory, SpaceId};
use x86::Cpu;

/// `ucontext_t` up to and including the kernel's signal mask.
const CONTEXT_SIZE: u64 = 304;
/// `siginfo_t`.
const INFO_SIZE: u64 = 128;
/// Return address, context, information.
const FRAME_SIZE: u64 = 8 + CONTEXT_SIZE + INFO_SIZE;
/// The image of `fxsave`.
const FLOAT_SIZE: u64 = 512;
/// Below the stack pointer, a function may use this much without asking (the x86-64 ABI's red zone).
const RED_ZONE: u64 = 128;
/// `UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS`.
const CONTEXT_FLAGS: u64 = 6;
/// User code and stack segments: `cs` 0x33, `gs` 0, `fs` 0, `ss` 0x2b.
const SEGMENTS: u64 = 0x002b_0000_0000_0033;

/// Everything that a frame is made from.
pub struct Entry<'a> {
    /// Signal, handler, mask and alternate stack.
    pub delivery: &'a Delivery,
    /// `trapno`, `err` and `cr2` of a fault.
    pub trap: (u64, u64, u64),
    /// The registers that were interrupted.
    pub cpu: &'a Cpu,
}

/// Writes the frame and gives the registers with which the handler starts.
///
/// The frame is aligned so that the handler starts as if it had been called: `rsp` is 8 below a
/// multiple of 16 (System V ABI).
pub fn enter(memory: &mut Memory, space: SpaceId, entry: &Entry<'_>) -> Result<Cpu, Fault> {
    let pointer = entry.cpu.gpr[x86::cpu::RSP];
    let top = signal::alternate_top(entry.delivery, pointer).unwrap_or(pointer.wrapping_sub(RED_ZONE));
    let float = top.wrapping_sub(FLOAT_SIZE) & !63;
    let frame = (float.wrapping_sub(FRAME_SIZE) & !15).wrapping_sub(8);
    let (context, info) = (frame + 8, frame + 8 + CONTEXT_SIZE);
    memory.write(space, float, &x86::fxsave_image(entry.cpu))?;
    memory.write(space, frame, &entry.delivery.action.restorer.to_le_bytes())?;
    memory.write(space, context, &context_bytes(entry, float))?;
    memory.write(space, info, &entry.delivery.info.to_bytes())?;
    Ok(handler_registers(entry, frame, context, info))
}

fn handler_registers(entry: &Entry<'_>, frame: u64, context: u64, info: u64) -> Cpu {
    let mut cpu = entry.cpu.clone();
    cpu.rip = entry.delivery.action.handler;
    cpu.gpr[x86::cpu::RSP] = frame;
    cpu.gpr[x86::cpu::RAX] = 0;
    cpu.gpr[x86::cpu::RDI] = u64::from(entry.delivery.info.number);
    // Linux passes all three whether the handler asked for them or not.
    cpu.gpr[x86::cpu::RSI] = info;
    cpu.gpr[x86::cpu::RDX] = context;
    const DIRECTION_TRAP_RESUME: u64 = 0x400 | 0x100 | 0x1_0000;
    let flags = cpu.rflags() & !DIRECTION_TRAP_RESUME;
    cpu.set_rflags(flags);
    cpu
}

/// The order of general registers in `struct sigcontext`, as indices of [`Cpu::gpr`].
const ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4];

fn context_bytes(entry: &Entry<'_>, float: u64) -> Vec<u8> {
    let (base, size, flags) = entry.delivery.alternate_stack;
    let mut words = vec![CONTEXT_FLAGS, 0, base, u64::from(flags), size];
    words.extend(ORDER.map(|register| entry.cpu.gpr[register]));
    let (trap, error, address) = entry.trap;
    words.extend([entry.cpu.rip, entry.cpu.rflags(), SEGMENTS, error, trap, entry.delivery.mask_saved, address, float]);
    words.extend([0; 8]);
    words.push(entry.delivery.mask_saved);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What `rt_sigreturn(2)` brings back.
pub struct Restored {
    /// The registers.
    pub cpu: Cpu,
    /// The signal mask.
    pub mask: u64,
    /// `sigaltstack(2)`: base, size, flags.
    pub alternate_stack: (u64, u64, u32),
}

/// Reads the frame that a handler returns to; `rsp` points just above the return address.
///
/// A handler may have changed anything in the frame. Flags go through `set_rflags`, which ignores
/// what user mode cannot set; segments are ignored.
pub fn restore(memory: &mut Memory, space: SpaceId, cpu: &Cpu) -> Result<Restored, Fault> {
    let context = cpu.gpr[x86::cpu::RSP];
    let mut bytes = [0; CONTEXT_SIZE as usize];
    memory.read(space, context, &mut bytes)?;
    let word = |index: usize| u64::from_le_bytes(bytes[8 * index..8 * index + 8].try_into().expect("eight bytes"));
    let mut restored = cpu.clone();
    for (place, register) in ORDER.into_iter().enumerate() {
        restored.gpr[register] = word(5 + place);
    }
    restored.rip = word(21);
    restored.set_rflags(word(22));
    let float = word(28);
    if float != 0 {
        let mut image = [0; FLOAT_SIZE as usize];
        memory.read(space, float, &mut image)?;
        x86::fxrestore_image(&mut restored, &image);
    }
    let alternate_stack = (word(2), word(4), word(3) as u32);
    Ok(Restored { cpu: restored, mask: word(37), alternate_stack })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::process::{Action, SignalInfo};
    use kernel::signal::Interrupted;
    use memory::{Limit, Mapping, Protection};

    #[test]
    fn a_handler_that_returns_at_once_changes_nothing() {
        let space = SpaceId(1);
        let mut memory = Memory::new(Limit::default());
        memory.create_space(space);
        let mapping = Mapping::anonymous(0x10000, 0x10000, Protection::READ_WRITE);
        memory.map(space, mapping).unwrap();
        let mut cpu = Cpu { gpr: std::array::from_fn(|index| index as u64 * 0x1111), ..Cpu::default() };
        cpu.gpr[x86::cpu::RSP] = 0x1f000;
        cpu.rip = 0x40_1234;
        cpu.xmm[3] = 77;
        cpu.set_rflags(0x246);
        let action = Action { handler: 0x40_5000, restorer: 0x40_6000, flags: 4, mask: 0 };
        let info = SignalInfo { number: 10, ..SignalInfo::default() };
        let delivery = Delivery {
            info,
            action,
            mask_saved: 0x55,
            mask_after: 0,
            interrupted: Interrupted::Nothing,
            alternate_stack: (0, 0, 2),
        };
        let entry = Entry { delivery: &delivery, trap: (0, 0, 0), cpu: &cpu };
        let mut inside = enter(&mut memory, space, &entry).unwrap();
        assert_eq!((inside.rip, inside.gpr[x86::cpu::RDI], inside.gpr[x86::cpu::RSP] % 16), (0x40_5000, 10, 8));
        // The handler's `ret` pops the return address.
        inside.gpr[x86::cpu::RSP] += 8;
        let back = restore(&mut memory, space, &inside).unwrap();
        assert!(back.cpu == cpu);
        assert_eq!((back.mask, back.alternate_stack), (0x55, (0, 0, 2)));
    }
}
