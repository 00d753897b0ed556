//! Guest instructions per second: `cargo run --release -p x86 --example mips [rounds]`.
//!
//! Small C programs are compiled by gcc, run natively for comparison and then inside. The last column says how many times
//! slower than native that is.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use memory::{Backing, Limit, Mapping, Memory, Name, PAGE_SIZE, Protection, Sharing, SpaceId};
use x86::{Code, Cpu, Machine, Trap};

const WORKLOADS: [&str; 6] = ["integer", "memory", "sse", "branches", "hash", "float"];
const SPACE: SpaceId = SpaceId(1);
const STACK: u64 = 0x7000_0000;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3);
    println!("{:10} {:>14} {:>8} {:>10}", "workload", "instructions", "MIPS", "x native");
    let mut product = 1.0;
    for (number, name) in WORKLOADS.iter().enumerate() {
        let path = compile(number + 1);
        let native = (0..rounds).map(|_| run_native(&path)).fold(f64::MAX, f64::min);
        let (instructions, seconds) =
            (0..rounds).map(|_| run_inside(&path)).min_by(|a, b| a.1.total_cmp(&b.1)).expect("a round");
        let mips = instructions as f64 / seconds / 1e6;
        product *= mips;
        println!("{name:10} {instructions:>14} {mips:>8.0} {:>10.1}", seconds / native);
    }
    println!("geometric mean {:.0} MIPS", product.powf(1.0 / WORKLOADS.len() as f64));
    for budget in [1, 10, 100, 1000] {
        println!("{budget:>5} instructions at a time: {:.0} ns for each stop", stop_cost(&compile(4), budget));
    }
}

/// Nanoseconds of a run of `budget` instructions.
fn stop_cost(path: &Path, budget: u64) -> f64 {
    // Enough for a clock that moves in milliseconds.
    let count = 20_000_000 / (budget + 10);
    let (mut cpu, mut memory) = start(path);
    let mut code = Code::new();
    let mut run = |budget| x86::run(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code, budget);
    run(3_000_000);
    let mut stops = || (0..count).for_each(|_| assert_eq!(run(budget).trap, None));
    // Once to lower the code at all the places where it stops.
    stops();
    let start = cpu_seconds();
    stops();
    (cpu_seconds() - start) * 1e9 / count as f64
}

fn compile(work: usize) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mips/guest.c");
    let output = std::env::temp_dir().join(format!("mips-{}-{work}", std::process::id()));
    let status = Command::new("gcc")
        .args([
            "-O2",
            "-static",
            "-nostdlib",
            "-ffreestanding",
            "-fno-stack-protector",
            "-fno-tree-loop-distribute-patterns",
        ])
        .args(["-fno-tree-vectorize", "-fno-pie", "-no-pie", &format!("-DWORK={work}"), "-o"])
        .args([&output, &source])
        .status()
        .expect("gcc is installed");
    assert!(status.success(), "gcc compiles {}", source.display());
    output
}

fn run_native(path: &Path) -> f64 {
    let start = Instant::now();
    Command::new(path).status().expect("the program runs");
    start.elapsed().as_secs_f64()
}

/// Time that this thread has run, whatever else the machine does meanwhile.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).expect("a number comes first");
    nanoseconds / 1e9
}

fn word(bytes: &[u8], at: usize, size: usize) -> u64 {
    (0..size).rev().fold(0, |sum, n| sum << 8 | u64::from(bytes[at + n]))
}

fn map(memory: &mut Memory, start: u64, end: u64, protection: Protection) {
    let (start, end) = (start / PAGE_SIZE * PAGE_SIZE, end.next_multiple_of(PAGE_SIZE));
    let (backing, sharing, name) = (Backing::Anonymous, Sharing::Private, Name::None);
    let mapping = Mapping { start, len: end - start, protection, backing, sharing, grows_down: false, name };
    memory.map(SPACE, mapping).expect("the range is free");
}

/// The loadable segments of an ELF file; its entry.
fn load(memory: &mut Memory, elf: &[u8]) -> u64 {
    let (table, count) = (word(elf, 32, 8) as usize, word(elf, 56, 2) as usize);
    for header in (0..count).map(|n| table + 56 * n).filter(|header| word(elf, *header, 4) == 1) {
        let field = |at: usize| word(elf, header + at, 8);
        let (offset, addr, in_file, in_memory) = (field(8) as usize, field(16), field(32) as usize, field(40));
        let flags = word(elf, header + 4, 4);
        let executable = if flags & 1 != 0 { Protection::EXECUTE } else { Protection::NONE };
        let writable = if flags & 2 != 0 { Protection::WRITE } else { Protection::NONE };
        map(memory, addr, addr + in_memory, Protection::READ | executable | writable);
        memory.write_forced(SPACE, addr, &elf[offset..offset + in_file]).expect("just mapped");
    }
    word(elf, 24, 8)
}

fn start(path: &Path) -> (Cpu, Memory) {
    let mut memory = Memory::new(Limit::default());
    memory.create_space(SPACE);
    let elf = std::fs::read(path).expect("gcc wrote it");
    let mut cpu = Cpu { rip: load(&mut memory, &elf), ..Cpu::default() };
    map(&mut memory, STACK, STACK + 0x10_0000, Protection::READ_WRITE);
    cpu.gpr[x86::cpu::RSP] = STACK + 0xf_0000;
    memory.enter(SPACE);
    (cpu, memory)
}

fn run_inside(path: &Path) -> (u64, f64) {
    let (mut cpu, mut memory) = start(path);
    let mut code = Code::new();
    let start = cpu_seconds();
    let stop = x86::run(Machine { cpu: &mut cpu, memory: &mut memory, clock: 0 }, &mut code, u64::MAX);
    let seconds = cpu_seconds() - start;
    assert_eq!(code.bounces(), 0, "every handler ends in a jump");
    assert_eq!(stop.trap, Some(Trap::Syscall), "{:x}", cpu.rip);
    let native = Command::new(path).status().expect("the program runs").code();
    assert_eq!(native, Some(cpu.gpr[x86::cpu::RDI] as i32), "the same result as native");
    (stop.executed, seconds)
}
