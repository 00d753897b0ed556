//! Lowered code outlives forks, snapshots and rewriting, and never shows.

use memory::{AccessKind, Cause, Fault, Halt, Limit, Mapping, Memory, PAGE_SIZE, Protection, SpaceId, VisibleAccess};
use x86::cpu::{RAX, RBX, RCX};
use x86::{Code, Cpu, Machine, Stop, Trap};

const PARENT: SpaceId = SpaceId(1);
const CHILD: SpaceId = SpaceId(2);
const START: u64 = 0x1_0000;
const DATA: u64 = 0x2_0000;
/// Where [`PROGRAM`] holds what it adds.
const ADDEND: u64 = START + 2;

/// add eax, 5; dec ecx; jne to the start; syscall
const PROGRAM: &[u8] = &[0x83, 0xc0, 0x05, 0xff, 0xc9, 0x75, 0xf9, 0x0f, 0x05];

fn load(memory: &mut Memory, space: SpaceId, program: &[u8], protection: Protection) {
    memory.map(space, Mapping::anonymous(START, 2 * PAGE_SIZE, protection)).expect("free");
    memory.map(space, Mapping::anonymous(DATA, PAGE_SIZE, Protection::READ_WRITE)).expect("free");
    memory.write_forced(space, START, program).expect("mapped");
}

fn memory(program: &[u8], protection: Protection) -> Memory {
    let mut memory = Memory::new(Limit::default());
    memory.create_space(PARENT);
    load(&mut memory, PARENT, program, protection);
    memory
}

fn cpu() -> Cpu {
    let mut cpu = Cpu { rip: START, ..Cpu::default() };
    cpu.gpr[RCX] = 10;
    cpu.gpr[RBX] = DATA;
    cpu
}

fn run(memory: &mut Memory, space: SpaceId, code: &mut Code, cpu: &mut Cpu) -> Stop {
    memory.enter(space);
    x86::run(Machine { cpu, memory, clock: 0 }, code, 1000)
}

/// What ten rounds add up to.
fn sum(memory: &mut Memory, space: SpaceId, code: &mut Code) -> u64 {
    let mut cpu = cpu();
    assert_eq!(run(memory, space, code, &mut cpu), Stop { executed: 31, trap: Some(Trap::Syscall) });
    cpu.gpr[RAX]
}

#[test]
fn a_fork_runs_the_same_code_until_one_of_the_two_changes_it() {
    let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
    let mut code = Code::new();
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
    memory.fork_space(PARENT, CHILD).expect("room");
    assert_eq!(sum(&mut memory, CHILD, &mut code), 50);
    memory.write_forced(CHILD, ADDEND, &[7]).expect("mapped");
    assert_eq!(sum(&mut memory, CHILD, &mut code), 70);
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
}

#[test]
fn undoing_a_change_of_code_brings_its_meaning_back() {
    let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
    let mut code = Code::new();
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
    let mark = memory.mark();
    memory.write_forced(PARENT, ADDEND, &[9]).expect("mapped");
    assert_eq!(sum(&mut memory, PARENT, &mut code), 90);
    memory.undo_to(mark);
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
    memory.write_forced(PARENT, ADDEND, &[1]).expect("mapped");
    assert_eq!(sum(&mut memory, PARENT, &mut code), 10);
}

#[test]
fn a_parked_state_runs_its_own_code_when_restored() {
    let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
    let mut code = Code::new();
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
    let snapshot = memory.snapshot();
    memory.write_forced(PARENT, ADDEND, &[2]).expect("mapped");
    assert_eq!(sum(&mut memory, PARENT, &mut code), 20);
    memory.restore(&snapshot);
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
}

#[test]
fn a_space_filled_anew_runs_what_is_there_now() {
    let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
    let mut code = Code::new();
    assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
    memory.clear_space(PARENT);
    let mut other = PROGRAM.to_vec();
    other[2] = 3;
    load(&mut memory, PARENT, &other, Protection::READ_EXECUTE);
    assert_eq!(sum(&mut memory, PARENT, &mut code), 30);
}

#[test]
fn code_that_may_no_longer_be_executed_faults() {
    for protection in [Protection::READ, Protection::NONE] {
        let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
        let mut code = Code::new();
        assert_eq!(sum(&mut memory, PARENT, &mut code), 50);
        memory.protect(PARENT, START, PAGE_SIZE, protection).expect("mapped");
        let fault = Fault { addr: START, access: AccessKind::Execute, cause: Cause::Protected };
        let stop = run(&mut memory, PARENT, &mut code, &mut cpu());
        assert_eq!(stop, Stop { executed: 0, trap: Some(Trap::Memory(Halt::Fault(fault))) });
    }
}

#[test]
fn a_loop_that_rewrites_its_own_addend_sees_each_new_value() {
    // add eax, 5; inc byte [rip - 7]; dec ecx; jne to the start; syscall
    let program = [0x83, 0xc0, 0x05, 0xfe, 0x05, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x75, 0xf3, 0x0f, 0x05];
    let mut memory = memory(&program, Protection::READ_EXECUTE | Protection::WRITE);
    let mut cpu = cpu();
    let stop = run(&mut memory, PARENT, &mut Code::new(), &mut cpu);
    assert_eq!(stop, Stop { executed: 41, trap: Some(Trap::Syscall) });
    assert_eq!(cpu.gpr[RAX], (5..15).sum::<u64>());
}

#[test]
fn a_run_stops_before_an_armed_page_with_nothing_done() {
    // mov eax, 1; add [rbx], eax; inc eax; syscall
    let program = [0xb8, 1, 0, 0, 0, 0x01, 0x03, 0xff, 0xc0, 0x0f, 0x05];
    let mut memory = memory(&program, Protection::READ_EXECUTE);
    let (mut cpu, mut code) = (cpu(), Code::new());
    memory.arm(PARENT, DATA..DATA + 8);
    let touch = VisibleAccess { addr: DATA, size: 4, access: AccessKind::Read };
    let before = Stop { executed: 1, trap: Some(Trap::Memory(Halt::Visible(touch))) };
    assert_eq!(run(&mut memory, PARENT, &mut code, &mut cpu), before);
    assert_eq!((cpu.rip, cpu.gpr[RAX]), (START + 5, 1));
    memory.pass_armed(true);
    assert_eq!(run(&mut memory, PARENT, &mut code, &mut cpu), Stop { executed: 3, trap: Some(Trap::Syscall) });
    assert_eq!(memory.read_u32(PARENT, DATA), Ok(1));
}

#[test]
fn a_repeated_copy_stops_at_the_byte_that_faults_and_goes_on_from_there() {
    // rep movsb; syscall
    let mut memory = memory(&[0xf3, 0xa4, 0x0f, 0x05], Protection::READ_EXECUTE);
    let (mut cpu, mut code) = (cpu(), Code::new());
    cpu.gpr[x86::cpu::RSI] = DATA;
    cpu.gpr[x86::cpu::RDI] = DATA + PAGE_SIZE - 4;
    let stop = run(&mut memory, PARENT, &mut code, &mut cpu);
    let fault = Fault { addr: DATA + PAGE_SIZE, access: AccessKind::Write, cause: Cause::Unmapped };
    assert_eq!(stop, Stop { executed: 4, trap: Some(Trap::Memory(Halt::Fault(fault))) });
    assert_eq!((cpu.rip, cpu.gpr[RCX]), (START, 6));
    memory.map(PARENT, Mapping::anonymous(DATA + PAGE_SIZE, PAGE_SIZE, Protection::READ_WRITE)).expect("free");
    let stop = run(&mut memory, PARENT, &mut code, &mut cpu);
    assert_eq!(stop, Stop { executed: 7, trap: Some(Trap::Syscall) });
}

/// Rust does not promise that a call in tail position is a jump; release builds count on it for speed.
#[cfg(not(debug_assertions))]
#[test]
fn the_stack_of_the_host_does_not_grow_with_the_instructions_executed() {
    let mut memory = memory(PROGRAM, Protection::READ_EXECUTE);
    let (mut cpu, mut code) = (cpu(), Code::new());
    cpu.gpr[RCX] = 1_000_000;
    memory.enter(PARENT);
    let stop = x86::run(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code, u64::MAX);
    assert_eq!(stop.executed, 3_000_001);
    assert_eq!(code.bounces(), 0);
}
