//! One step of one thread.

use super::code::{Op, Value, Whom};
use super::machine::{Kind, Life, Program, State, object, sleepers};
use explore::graph::Access;
use explore::system::Failure;
use trace::FailureKind;

const LOCAL_MAX: usize = 64;

/// One step being taken.
pub struct Step<'a> {
    pub program: &'a Program,
    /// Which locks nobody but their holder gives back: what is done under others is a step of its own.
    pub kept: &'a [bool],
    pub state: State,
    pub me: usize,
    pub accesses: Vec<Access>,
    pub failure: Option<Failure>,
    pub progress: bool,
}

impl Step<'_> {
    pub fn access(&mut self, kind: Kind, index: usize, write: bool) {
        self.accesses.push(Access { object: object(kind, index), write, plain: matches!(kind, Kind::Word) });
    }

    fn value(&self, value: Value) -> i8 {
        match value {
            Value::Is(value) => value,
            Value::Of(register) => self.state.threads[self.me].registers[register],
        }
    }

    fn register(&mut self, register: usize) -> &mut i8 {
        &mut self.state.threads[self.me].registers[register]
    }

    pub fn take(&mut self, choice: u32) {
        if self.state.threads[self.me].is_signalled {
            return self.handle();
        }
        if let Life::Woken { mutex } = self.state.threads[self.me].life {
            self.state.threads[self.me].life = Life::Running;
            self.state.owners[mutex] = Some(self.me);
            self.access(Kind::Mutex, mutex, true);
            self.access(Kind::Wake, self.me, false);
            return self.go_on(self.kept[mutex]);
        }
        let op = self.program.threads[self.me][self.state.threads[self.me].pc].clone();
        if op.is_plain() || op.is_local() {
            return self.go_on(true);
        }
        if !self.are_mapped(&op) {
            return;
        }
        self.state.threads[self.me].pc += 1;
        self.synchronise(&op, choice);
        self.go_on(matches!(op, Op::Lock(mutex) if self.kept[mutex]));
    }

    /// Whether all pages that an operation accesses are there; it fails if not.
    fn are_mapped(&mut self, op: &Op) -> bool {
        let vars = match op {
            Op::Load { var, .. } | Op::Store { var, .. } | Op::Add { var, .. } | Op::Swap { var, .. } => vec![*var],
            Op::Await(any) => any.iter().map(|(var, ..)| *var).collect(),
            _ => Vec::new(),
        };
        vars.into_iter().all(|var| self.is_mapped(var))
    }

    fn is_mapped(&mut self, page: usize) -> bool {
        self.access(Kind::Page, page, false);
        if !self.state.mapped[page] {
            let message = format!("thread {} finds no page {page}", self.me);
            self.fail(FailureKind::Crash, message);
        }
        self.state.mapped[page]
    }

    fn fail(&mut self, kind: FailureKind, message: String) {
        self.failure = Some(Failure { kind, message, fatal: true, property: None });
        self.state.failed = true;
    }

    fn synchronise(&mut self, op: &Op, choice: u32) {
        match *op {
            Op::Load { var, into } => {
                self.access(Kind::Var, var, false);
                *self.register(into) = self.state.vars[var];
                self.progress = false;
            }
            Op::Store { var, value } => {
                self.access(Kind::Var, var, true);
                self.state.vars[var] = self.value(value);
            }
            Op::Add { var, value, old } => {
                self.access(Kind::Var, var, true);
                *self.register(old) = self.state.vars[var];
                self.state.vars[var] = self.state.vars[var].wrapping_add(value);
            }
            Op::Swap { var, expected, new, done } => {
                let now = self.state.vars[var];
                let same = now == *self.register(expected);
                self.access(Kind::Var, var, same);
                if same {
                    self.state.vars[var] = self.value(new);
                }
                *self.register(expected) = now;
                *self.register(done) = i8::from(same);
                self.progress = same;
            }
            Op::Await(ref any) => any.iter().for_each(|(var, ..)| self.access(Kind::Var, *var, false)),
            Op::Send { channel, value } => {
                self.access(Kind::Channel, channel, true);
                let value = self.value(value);
                self.state.channels[channel].push(value);
            }
            Op::Receive { channel, into } => {
                self.access(Kind::Channel, channel, true);
                *self.register(into) = self.state.channels[channel].remove(0);
            }
            Op::Spawn(child) => {
                self.access(Kind::Thread, child, true);
                self.state.threads[child].life = Life::Running;
            }
            Op::Join(other) => self.access(Kind::Thread, other, false),
            Op::Choose { into, .. } => *self.register(into) = choice as i8,
            Op::Kill(whom) => self.kill(whom),
            Op::Interrupt(thread) => self.interrupt(thread),
            Op::Unmap(page) | Op::Map(page) => {
                self.access(Kind::Page, page, true);
                self.state.mapped[page] = matches!(op, Op::Map(_));
            }
            _ => self.lock(op, choice),
        }
    }

    fn lock(&mut self, op: &Op, choice: u32) {
        match *op {
            Op::Lock(mutex) => {
                self.access(Kind::Mutex, mutex, true);
                self.state.owners[mutex] = Some(self.me);
            }
            Op::TryLock { mutex, done } => {
                let free = self.state.owners[mutex].is_none();
                self.access(Kind::Mutex, mutex, free);
                if free {
                    self.state.owners[mutex] = Some(self.me);
                }
                *self.register(done) = i8::from(free);
                self.progress = free;
            }
            Op::Unlock(mutex) | Op::Free(mutex) => self.unlock(mutex),
            Op::Sleep { queue, mutex } => {
                self.unlock(mutex);
                self.access(Kind::Queue, queue, true);
                self.state.threads[self.me].life = Life::Asleep { queue, mutex };
            }
            Op::Signal(queue) => {
                self.access(Kind::Queue, queue, true);
                let woken = sleepers(&self.state, queue).get(choice as usize).copied();
                woken.into_iter().for_each(|thread| self.wake(thread));
            }
            Op::Broadcast(queue) => {
                self.access(Kind::Queue, queue, true);
                sleepers(&self.state, queue).into_iter().for_each(|thread| self.wake(thread));
            }
            _ => unreachable!("{op:?} does not synchronise"),
        }
    }

    fn unlock(&mut self, mutex: usize) {
        self.access(Kind::Mutex, mutex, true);
        self.state.owners[mutex] = None;
    }

    fn kill(&mut self, whom: Whom) {
        let all = 0..self.state.threads.len();
        let is_meant = |thread: &usize| match whom {
            Whom::One(one) => *thread == one,
            Whom::Others => *thread != self.me,
            Whom::All => true,
        };
        all.filter(is_meant).collect::<Vec<_>>().into_iter().for_each(|thread| self.end(thread));
    }

    /// Sends a thread a signal, unless it is dead or not created yet.
    fn interrupt(&mut self, thread: usize) {
        self.access(Kind::Thread, thread, false);
        if !matches!(self.state.threads[thread].life, Life::Unborn | Life::Dead) {
            self.access(Kind::Signal, thread, true);
            self.state.threads[thread].is_signalled = true;
        }
    }

    /// The handler of the signal that waits for this thread; where the thread waits it then waits on.
    fn handle(&mut self) {
        const HANDLED: Op = Op::Store { var: 0, value: Value::Is(2) };
        self.access(Kind::Signal, self.me, true);
        self.state.threads[self.me].is_signalled = false;
        if self.are_mapped(&HANDLED) {
            self.synchronise(&HANDLED, 0);
        }
    }

    /// Ends a thread where it is; one that is dead or not created yet stays so.
    fn end(&mut self, thread: usize) {
        let life = self.state.threads[thread].life;
        let ends = !matches!(life, Life::Unborn | Life::Dead);
        self.access(Kind::Thread, thread, ends);
        // Whether it sleeps decides what is touched.
        self.access(Kind::Wake, thread, false);
        if let Life::Asleep { queue, .. } = life {
            self.access(Kind::Queue, queue, true);
        }
        if ends {
            self.state.threads[thread].life = Life::Dead;
            self.state.threads[thread].registers = [0; 4];
            self.state.threads[thread].is_signalled = false;
        }
    }

    fn wake(&mut self, thread: usize) {
        let Life::Asleep { mutex, .. } = self.state.threads[thread].life else { return };
        self.access(Kind::Wake, thread, true);
        self.state.threads[thread].life = Life::Woken { mutex };
    }

    /// Goes on to the next operation that others can see.
    fn go_on(&mut self, plain: bool) {
        for _ in 0..LOCAL_MAX {
            let thread = &self.state.threads[self.me];
            let op = self.program.threads[self.me][thread.pc].clone();
            let goes_on = thread.life == Life::Running && (op.is_local() || plain && op.is_plain());
            if !goes_on || self.failure.is_some() {
                return;
            }
            self.state.threads[self.me].pc += 1;
            self.local(&op);
        }
    }

    /// A plain access; nothing if its page is not there.
    fn word(&mut self, word: usize, write: bool) -> Option<&mut i8> {
        if !self.is_mapped(word) {
            return None;
        }
        self.access(Kind::Word, word, write);
        Some(&mut self.state.words[word])
    }

    fn local(&mut self, op: &Op) {
        match *op {
            Op::Get { word, plus, into } => {
                let word = word + plus.map_or(0, |register| *self.register(register) as usize);
                let Some(now) = self.word(word, false).copied() else { return };
                *self.register(into) = now;
            }
            Op::Put { word, value } => {
                let value = self.value(value);
                self.word(word, true).into_iter().for_each(|word| *word = value);
            }
            Op::Set { register, value } => *self.register(register) = self.value(value),
            Op::Increase { register, modulo } => {
                let now = self.register(register);
                *now = (*now + 1) % modulo;
            }
            Op::Branch { register, compare, value, to } => {
                if compare.holds(*self.register(register), value) {
                    self.state.threads[self.me].pc = to;
                }
            }
            Op::Jump(to) => self.state.threads[self.me].pc = to,
            Op::Assert { register, compare, value, message } => {
                if !compare.holds(*self.register(register), value) {
                    self.fail(FailureKind::Assert, message.to_owned());
                }
            }
            Op::End => {
                self.state.threads[self.me].pc -= 1;
                self.end(self.me);
            }
            _ => unreachable!("{op:?} is not local"),
        }
    }
}
