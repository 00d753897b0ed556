//! Runs one case on the host and in the interpreter.

use std::fmt::Write as _;

use hostcpu::{CODE, Host, Outcome, PAGE, State, WINDOW, WINDOW_LEN, WRITABLE};
use iced_x86::{Code, FastFormatter, Mnemonic};
use memory::{Halt, Limit, Mapping, Memory, Protection, SpaceId};
use x86::{Cpu, Machine, Trap};

use crate::host::compare::{self, hide_pointers};
use crate::host::encode::{Case, build};
use crate::host::numbers::{Style, extended, integer, vector};
use crate::host::random::Random;
use crate::host::state;

const SPACE: SpaceId = SpaceId(1);
/// Bytes around the target that each case fills anew.
const FRESH: usize = 64;

/// What came of the cases of one form.
#[derive(Default)]
pub struct Report {
    pub agreed: u32,
    pub differed: u32,
    pub first: Option<String>,
}

/// The two processors with equal memories.
pub struct Bench {
    host: Host,
    memory: Memory,
    code: x86::Code,
}

/// Our two ways to execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interpreter {
    Reference,
    Lowered,
}

impl Bench {
    pub fn new(mut host: Host) -> Self {
        let mut memory = Memory::new(Limit { mappings: 16, ..Limit::pages(64) });
        memory.create_space(SPACE);
        let (read, write) = (Protection::READ, Protection::READ | Protection::WRITE);
        map(&mut memory, CODE & !(PAGE - 1), PAGE, Protection::READ | Protection::EXECUTE);
        map(&mut memory, WINDOW, WRITABLE as u64, write);
        map(&mut memory, WINDOW + WRITABLE as u64, PAGE, read);
        memory.write_forced(SPACE, CODE & !(PAGE - 1), &[0xcc; PAGE as usize]).expect("the code page is mapped");
        let mut random = Random::new(0);
        for byte in host.window() {
            *byte = random.next() as u8;
        }
        let content = host.window().to_vec();
        host.seal();
        memory.write_forced(SPACE, WINDOW, &content).expect("the window is mapped");
        memory.enter(SPACE);
        Self { host, memory, code: x86::Code::default() }
    }

    /// Runs so many cases of a form.
    pub fn exercise(&mut self, code: Code, cases: u32, random: &mut Random) -> Report {
        let mut report = Report::default();
        for n in 0..cases {
            if n % 1000 == 0 {
                self.code = x86::Code::default();
            }
            let style = Style::any(random);
            let mut before = state::any(random, style);
            let Some(case) = build(random, code, &mut before) else { continue };
            self.prepare(random, style, &case, &mut before);
            match self.run(&case, &before) {
                None => report.agreed += 1,
                Some(text) => {
                    report.differed += 1;
                    report.first.get_or_insert(text);
                }
            }
        }
        report
    }

    /// Fresh bytes where the operand is, and what single instructions need there to be interesting.
    fn prepare(&mut self, random: &mut Random, style: Style, case: &Case, state: &mut State) {
        let mut bytes: Vec<u8> = (0..FRESH / 16).flat_map(|_| vector(random, style).to_le_bytes()).collect();
        if case.instruction.memory_size().size() == 10 {
            bytes[..16].copy_from_slice(&extended(random).to_le_bytes());
        }
        match case.instruction.mnemonic() {
            Mnemonic::Ldmxcsr if random.percent(80) => bytes[..4].copy_from_slice(&state::mxcsr(random).to_le_bytes()),
            Mnemonic::Fxrstor | Mnemonic::Fxrstor64 if random.percent(90) => {
                bytes[24..28].copy_from_slice(&state::mxcsr(random).to_le_bytes());
            }
            Mnemonic::Fbld => bytes[..10].iter_mut().for_each(|b| *b = (*b % 10) | ((*b >> 4) % 10) << 4),
            Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b if random.percent(60) => {
                expected(case, state, &mut bytes);
            }
            Mnemonic::Div | Mnemonic::Idiv if random.percent(60) => {
                state.gpr[2] = if random.percent(50) { 0 } else { (state.gpr[0] as i64 >> 63) as u64 };
            }
            _ => {}
        }
        self.put(case.target, &bytes);
        // What the stack holds: no trap or alignment flag for popf to load.
        let top = (integer(random) & !0x4_0100).to_le_bytes();
        self.put(state.gpr[4], &top);
    }

    /// Writes to both memories, as far as they can be written.
    fn put(&mut self, addr: u64, bytes: &[u8]) {
        let Some(start) = addr.checked_sub(WINDOW).map(|offset| offset as usize) else { return };
        if start >= WRITABLE {
            return;
        }
        let bytes = &bytes[..bytes.len().min(WRITABLE - start)];
        self.host.writable()[start..start + bytes.len()].copy_from_slice(bytes);
        self.memory.write(SPACE, addr, bytes).expect("inside the window");
    }

    /// One case; a description if one of the interpreters differs from the host.
    fn run(&mut self, case: &Case, before: &State) -> Option<String> {
        let mut after = before.clone();
        let outcome = self.host.run(&case.bytes, &mut after);
        let mut bytes = [0xcc; 16];
        bytes[..case.bytes.len()].copy_from_slice(&case.bytes);
        self.memory.write_forced(SPACE, CODE, &bytes).expect("the code page is mapped");
        let mark = self.memory.mark();
        let mut differences = vec![];
        for interpreter in [Interpreter::Lowered, Interpreter::Reference] {
            self.memory.undo_to(mark);
            let (cpu, trap) = self.interpret(interpreter, before);
            self.forget_pointers(case);
            let mut found =
                compare::states(case, outcome, &after, &cpu, trap.as_ref(), interpreter == Interpreter::Lowered);
            self.compare_memory(&mut found);
            differences.extend(found.into_iter().map(|text| format!("{interpreter:?}: {text}")));
        }
        self.memory.forget_marks();
        (!differences.is_empty()).then(|| describe(case, before, &differences))
    }

    fn interpret(&mut self, interpreter: Interpreter, before: &State) -> (Cpu, Option<Trap>) {
        let mut cpu = Cpu::default();
        cpu.gpr.copy_from_slice(&before.gpr);
        cpu.set_rflags(before.rflags);
        cpu.rip = CODE;
        x86::fxrestore_image(&mut cpu, &before.fx);
        // A repeated string instruction takes one step for each iteration.
        for _ in 0..100 {
            let mut machine = Machine { cpu: &mut cpu, memory: &mut self.memory, clock: 0 };
            let trap = match interpreter {
                Interpreter::Reference => x86::step(&mut machine).err(),
                Interpreter::Lowered => x86::run(machine, &mut self.code, 1).trap,
            };
            if trap.is_some() {
                return (cpu, trap);
            }
            if cpu.rip != CODE {
                break;
            }
        }
        (cpu, None)
    }

    /// Images of the x87 hold pointers that are not modelled alike: see `X87::last_opcode`.
    fn forget_pointers(&mut self, case: &Case) {
        for (offset, len) in hide_pointers(case.instruction.code()) {
            self.put(case.target.wrapping_add(offset), &vec![0; len]);
        }
    }

    fn compare_memory(&mut self, differences: &mut Vec<String>) {
        let mut ours = vec![0; WRITABLE];
        self.memory.peek(SPACE, WINDOW, &mut ours).expect("the window is mapped");
        let theirs = self.host.writable();
        if ours == theirs {
            return;
        }
        let at = ours.iter().zip(theirs.iter()).position(|(a, b)| a != b).unwrap_or(0);
        let end = (at + 16).min(WRITABLE);
        differences.push(format!(
            "memory at {:#x}: host {:02x?}, here {:02x?}",
            WINDOW + at as u64,
            &theirs[at..end],
            &ours[at..end]
        ));
        let theirs = theirs.to_vec();
        self.memory.write(SPACE, WINDOW, &theirs).expect("the window is mapped");
    }
}

fn map(memory: &mut Memory, start: u64, len: u64, protection: Protection) {
    memory.map(SPACE, Mapping::anonymous(start, len, protection)).expect("room for the mapping");
}

/// Makes a compare-and-exchange succeed.
fn expected(case: &Case, state: &State, bytes: &mut [u8]) {
    let (a, d) = (state.gpr[0].to_le_bytes(), state.gpr[2].to_le_bytes());
    let half = if case.instruction.mnemonic() == Mnemonic::Cmpxchg8b { 4 } else { 8 };
    bytes[..half].copy_from_slice(&a[..half]);
    if case.instruction.mnemonic() != Mnemonic::Cmpxchg {
        bytes[half..2 * half].copy_from_slice(&d[..half]);
    }
}

fn describe(case: &Case, before: &State, differences: &[String]) -> String {
    let mut text = String::new();
    FastFormatter::new().format(&case.instruction, &mut text);
    let mut out = format!("\n{text}   {:02x?}  {:?}\n", case.bytes, case.instruction.code());
    let _ = writeln!(out, "  before: gpr {:x?} flags {:#x} target {:#x}", before.gpr, before.rflags, case.target);
    let _ = writeln!(out, "  before: fx {}", compare::image_text(&before.fx));
    for difference in differences {
        let _ = writeln!(out, "  {difference}");
    }
    out
}

/// The signal that Linux sends for a trap, with its address.
pub fn outcome_of(trap: Option<&Trap>) -> Outcome {
    let Some(trap) = trap else { return Outcome::Done };
    let (number, address) = match trap {
        Trap::Memory(Halt::Fault(fault)) => (11, fault.addr),
        Trap::DivideError | Trap::SimdException | Trap::X87Exception => (8, CODE),
        Trap::InvalidOpcode => (4, CODE),
        Trap::Breakpoint => (5, 0),
        Trap::StackFault | Trap::AlignmentCheck => (7, 0),
        Trap::GeneralProtection | Trap::Privileged | Trap::Interrupt(_) => (11, 0),
        Trap::Memory(_) | Trap::Unsupported | Trap::Syscall | Trap::Stop => (0, 0),
    };
    Outcome::Signal { number, address }
}

/// Bytes of the window, for tests that look at all of it.
const _: () = assert!(WINDOW_LEN == WRITABLE + PAGE as usize);
