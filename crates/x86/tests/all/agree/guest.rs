//! A processor with a little memory: code, data, stack.

use iced_x86::{Decoder, DecoderOptions};
use memory::{Backing, Limit, Mapping, Memory, Name, PAGE_SIZE, Protection, Sharing, SpaceId};
use x86::{Code, Cpu, Machine, Stop, Trap};

pub const CODE: u64 = 0x10_0000;
pub const DATA: u64 = 0x20_0000;
pub const STACK: u64 = 0x30_0000;
const SPACE: SpaceId = SpaceId(1);
const PAGES: u64 = 4;

/// A program before it starts.
#[derive(Clone)]
pub struct Start {
    pub code: Vec<u8>,
    pub data: Vec<u8>,
    pub cpu: Cpu,
    /// Whether the program may write its own code.
    pub writable: bool,
}

/// A running program.
pub struct Guest {
    pub cpu: Cpu,
    pub memory: Memory,
}

fn map(memory: &mut Memory, start: u64, protection: Protection) {
    let mapping = Mapping {
        start,
        len: PAGES * PAGE_SIZE,
        protection,
        backing: Backing::Anonymous,
        sharing: Sharing::Private,
        grows_down: false,
        name: Name::default(),
    };
    memory.map(SPACE, mapping).expect("the ranges are free");
}

impl Start {
    pub fn build(&self) -> Guest {
        let mut memory = Memory::new(Limit::default());
        memory.create_space(SPACE);
        let execute = Protection::READ_EXECUTE;
        map(&mut memory, CODE, if self.writable { execute | Protection::WRITE } else { execute });
        map(&mut memory, DATA, Protection::READ_WRITE);
        map(&mut memory, STACK, Protection::READ_WRITE);
        memory.write_forced(SPACE, CODE, &self.code).expect("code fits");
        memory.write(SPACE, DATA, &self.data).expect("data fits");
        memory.enter(SPACE);
        Guest { cpu: self.cpu.clone(), memory }
    }

    pub fn listing(&self) -> String {
        let skip = (self.cpu.rip - CODE) as usize;
        let decoder = Decoder::with_ip(64, &self.code[skip..], self.cpu.rip, DecoderOptions::NONE);
        let line = |i: iced_x86::Instruction| {
            let at = (i.ip() - CODE) as usize;
            format!("{:x} {:?} {:02x?}\n", i.ip(), i.code(), &self.code[at..at + i.len()])
        };
        decoder.into_iter().take(80).map(line).collect()
    }
}

impl Guest {
    pub fn run(&mut self, code: &mut Code, budget: u64) -> Stop {
        x86::run(Machine { cpu: &mut self.cpu, memory: &mut self.memory, clock: 7 }, code, budget)
    }

    /// What `run` should do, one instruction at a time by the reference; the cache only says which flags are dead.
    pub fn step_many(&mut self, budget: u64, code: &mut Code) -> Stop {
        let mut machine = Machine { cpu: &mut self.cpu, memory: &mut self.memory, clock: 7 };
        let mut stop = Stop { executed: 0, trap: None };
        while stop.executed < budget && stop.trap.is_none() {
            stop.trap = x86::step(&mut machine).err();
            if matches!(stop.trap, None | Some(Trap::Syscall | Trap::Breakpoint)) {
                stop.executed += 1;
            }
        }
        x86::settle(&mut machine, code);
        stop
    }

    pub fn assert_same(&mut self, other: &mut Guest, context: impl Fn() -> String) {
        assert_eq!(self.cpu, other.cpu, "{}", context());
        assert_eq!(self.memory.fingerprint(), other.memory.fingerprint(), "memory differs: {}", context());
    }
}
