//! Random programs: two to four threads over a few variables, words, locks, queues and channels.

use super::code::Compare::{Differs, Equal};
use super::code::{Code, Op, Value, Whom};
use super::machine::Program;
use explore::random::Random;

const VARS: usize = 2;
const WORDS: usize = 2;
const MUTEXES: usize = 2;

/// A random program, and whether its schedules all end.
pub fn program(seed: u64) -> (Program, bool) {
    let mut random = Random::new(seed);
    let count = 2 + random.below(3);
    let spawned = usize::from(count > 2 && random.chance(1, 3));
    let cyclic = random.chance(1, 2);
    // Half of the programs are well-behaved, as far as threads go.
    let harms: Vec<_> = HARMS.iter().copied().filter(|_| random.chance(1, 4)).collect();
    let mut writer = Writer { random, cyclic, count, harms, held: Vec::new(), used: 0 };
    let length = if count == 4 { 2 } else { 3 };
    let threads: Vec<_> =
        (0..count).map(|index| writer.thread(length, (index == 0 && spawned > 0).then_some(count - 1))).collect();
    let program = Program {
        threads,
        born: count - spawned,
        vars: vec![0; VARS],
        words: vec![0; WORDS],
        mutexes: MUTEXES,
        queues: MUTEXES,
        channels: 1,
        capacity: 1,
        watched: false,
        ticks: if writer.random.chance(1, 4) { 1 } else { 0 },
    };
    (program, !cyclic)
}

/// What a thread can do to others who did not ask for it.
#[derive(Clone, Copy)]
enum Harm {
    /// Ends them.
    Ends,
    /// Frees locks that they hold.
    Frees,
    /// Takes pages away that they use.
    Unmaps,
    /// Sends them signals.
    Interrupts,
}

const HARMS: [Harm; 4] = [Harm::Ends, Harm::Frees, Harm::Unmaps, Harm::Interrupts];

struct Writer {
    random: Random,
    cyclic: bool,
    count: usize,
    harms: Vec<Harm>,
    held: Vec<usize>,
    used: usize,
}

impl Writer {
    fn thread(&mut self, length: usize, child: Option<usize>) -> Vec<Op> {
        let mut code = Code::default();
        if let Some(child) = child {
            code.op(Op::Spawn(child));
        }
        let start = code.here();
        let length = length + self.random.below(2);
        self.block(&mut code, length, 2);
        let loops = self.cyclic && self.random.chance(1, 3);
        if loops {
            code.op(Op::Jump(start));
        } else if let Some(child) = child.filter(|_| self.random.chance(1, 2)) {
            code.op(Op::Join(child));
        }
        if self.random.chance(1, 2) {
            self.assert(&mut code);
        }
        code.done()
    }

    fn block(&mut self, code: &mut Code, length: usize, depth: usize) {
        for _ in 0..length {
            match self.random.below(18) {
                0..=2 if depth > 0 => self.locked(code, depth),
                3 if depth > 0 => self.tried(code, depth),
                4 if depth > 0 => self.branch(code, depth),
                5 if self.cyclic => self.spin(code),
                6 => self.assert(code),
                7 | 8 if !self.harms.is_empty() => {
                    let op = self.harm();
                    code.op(op);
                }
                _ => {
                    let op = self.simple();
                    code.op(op);
                }
            }
        }
    }

    fn value(&mut self) -> Value {
        if self.random.chance(1, 3) { Value::Of(0) } else { Value::Is(self.random.below(3) as i8) }
    }

    fn simple(&mut self) -> Op {
        let (var, word) = (self.random.below(VARS), self.random.below(WORDS));
        match self.random.below(16) {
            0 | 1 => Op::Load { var, into: 0 },
            2 | 3 => Op::Store { var, value: self.value() },
            4 if !self.cyclic => Op::Add { var, value: 1, old: 0 },
            4 | 5 => Op::Swap { var, expected: 0, new: self.value(), done: 1 },
            6 | 7 => Op::Get { word, plus: None, into: 0 },
            8 | 9 => Op::Put { word, value: self.value() },
            10 => Op::Await(vec![(
                var,
                if self.random.chance(1, 2) { Equal } else { Differs },
                self.random.below(2) as i8,
            )]),
            11 => Op::Send { channel: 0, value: self.value() },
            12 => Op::Receive { channel: 0, into: 0 },
            13 => Op::Signal(self.random.below(MUTEXES)),
            14 => Op::Broadcast(self.random.below(MUTEXES)),
            _ => Op::Choose { below: 2, into: 0 },
        }
    }

    fn harm(&mut self) -> Op {
        match self.harms[self.random.below(self.harms.len())] {
            Harm::Ends => Op::Kill(match self.random.below(4) {
                0 => Whom::Others,
                1 => Whom::All,
                _ => Whom::One(self.random.below(self.count)),
            }),
            Harm::Frees => Op::Free(self.random.below(MUTEXES)),
            Harm::Unmaps if self.random.chance(1, 3) => Op::Map(self.random.below(WORDS)),
            Harm::Unmaps => Op::Unmap(self.random.below(WORDS)),
            Harm::Interrupts => Op::Interrupt(self.random.below(self.count)),
        }
    }

    fn assert(&mut self, code: &mut Code) {
        const MESSAGES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        let (compare, value) = (if self.random.chance(1, 2) { Equal } else { Differs }, self.random.below(3) as i8);
        let message = MESSAGES[self.used % MESSAGES.len()];
        self.used += 1;
        if self.random.chance(1, 2) {
            code.op(Op::Assert { register: 0, compare, value, message });
        }
    }

    fn locked(&mut self, code: &mut Code, depth: usize) {
        let mutex = self.random.below(MUTEXES);
        if self.held.contains(&mutex) {
            return;
        }
        code.op(Op::Lock(mutex));
        self.held.push(mutex);
        let length = 1 + self.random.below(2);
        self.block(code, length, depth - 1);
        if self.random.chance(1, 4) {
            code.op(Op::Sleep { queue: mutex, mutex });
        } else if self.random.chance(1, 3) {
            code.op(Op::Signal(mutex));
        }
        self.held.pop();
        code.op(Op::Unlock(mutex));
    }

    fn tried(&mut self, code: &mut Code, depth: usize) {
        let mutex = self.random.below(MUTEXES);
        if self.held.contains(&mutex) {
            return;
        }
        code.op(Op::TryLock { mutex, done: 1 });
        let failed = code.branch(1, Equal, 0);
        self.held.push(mutex);
        self.block(code, 1, depth - 1);
        self.held.pop();
        code.op(Op::Unlock(mutex));
        code.land(failed);
    }

    fn branch(&mut self, code: &mut Code, depth: usize) {
        let skip = code.branch(0, Differs, self.random.below(2) as i8);
        self.block(code, 1, depth - 1);
        code.land(skip);
    }

    fn spin(&mut self, code: &mut Code) {
        let top = code.here();
        code.op(Op::Load { var: self.random.below(VARS), into: 0 });
        code.op(Op::Branch { register: 0, compare: Equal, value: self.random.below(2) as i8, to: top });
    }
}
