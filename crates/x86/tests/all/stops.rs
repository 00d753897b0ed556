//! A run stops before every instruction that others can see, and goes on from there when told to.

use memory::{Limit, Mapping, Memory, Protection, SpaceId};
use x86::{Code, Cpu, Machine, Stops, Trap, run, run_past};

/// inc eax; lock inc dword [rbx]; inc eax; xchg [rbx], ecx; inc eax; syscall; jmp to the start
const PROGRAM: &[u8] = &[0xff, 0xc0, 0xf0, 0xff, 0x03, 0xff, 0xc0, 0x87, 0x0b, 0xff, 0xc0, 0x0f, 0x05, 0xeb, 0xf1];
const START: u64 = 0x1000;
const DATA: u64 = 0x3000;

fn machine() -> (Memory, Cpu) {
    let mut memory = Memory::new(Limit::default());
    let space = SpaceId(1);
    memory.create_space(space);
    memory.map(space, Mapping::anonymous(START, 0x1000, Protection::READ_EXECUTE)).unwrap();
    memory.map(space, Mapping::anonymous(DATA, 0x1000, Protection::READ_WRITE)).unwrap();
    memory.write_forced(space, START, PROGRAM).unwrap();
    memory.enter(space);
    let mut cpu = Cpu { rip: START, ..Cpu::default() };
    cpu.gpr[x86::cpu::RBX] = DATA;
    (memory, cpu)
}

fn stops(stops: Stops) -> Vec<(u64, u64)> {
    let (mut memory, mut cpu) = machine();
    let mut code = Code::default();
    code.stop_before(stops);
    let mut seen = Vec::new();
    // Twice around, so that linked blocks are met, too.
    while seen.len() < 8 {
        let stop = run(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code, 1000);
        assert_eq!(stop.trap, Some(Trap::Stop));
        seen.push((cpu.rip - START, cpu.gpr[x86::cpu::RAX] & 0xffff_ffff));
        let past = run_past(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code);
        assert_eq!(past.executed, 1);
        assert!(matches!(past.trap, None | Some(Trap::Syscall)));
    }
    seen
}

#[test]
fn a_run_stops_before_locked_instructions_and_syscalls() {
    let all = Stops { synchronising: true, ..Stops::default() };
    let expected = [(2, 1), (7, 2), (11, 3), (2, 4), (7, 5), (11, 6), (2, 7), (7, 8)];
    assert_eq!(stops(all), expected);
}

#[test]
fn a_run_stops_before_chosen_addresses() {
    let (mut memory, mut cpu) = machine();
    let mut code = Code::default();
    code.stop_before(Stops { addresses: [START + 9].into(), ..Stops::default() });
    let stop = run(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code, 1000);
    assert_eq!((stop.trap, stop.executed, cpu.rip), (Some(Trap::Stop), 4, START + 9));
}
