//! Executes programs: a step is one operation that synchronises, or a run of plain accesses; taking a lock includes the run
//! that follows.

use super::code::Op;
use super::step::Step;
use explore::graph::{Access, Actor, FootprintSystem, Reached, Step as Stepped, StepContext, Taken};
use explore::system::Failure;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trace::{Choice, FailureKind};

/// Threads of the program that exist from the start; others are spawned.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
    pub born: usize,
    pub vars: Vec<i8>,
    pub words: Vec<i8>,
    pub mutexes: usize,
    pub queues: usize,
    pub channels: usize,
    pub capacity: usize,
    /// Times that time may pass when nobody else can move; each adds one to the first variable.
    pub ticks: u32,
    /// Whether all variables are visible.
    pub watched: bool,
}

/// The actor that lets time pass.
pub const TIME: u32 = 1000;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Life {
    Unborn,
    Running,
    Asleep { queue: usize, mutex: usize },
    Woken { mutex: usize },
    Dead,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    pub pc: usize,
    pub registers: [i8; 4],
    pub life: Life,
    /// Whether a signal waits for it.
    pub is_signalled: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub vars: Vec<i8>,
    pub words: Vec<i8>,
    pub owners: Vec<Option<usize>>,
    /// Pages that are there: each has one variable and one word.
    pub mapped: Vec<bool>,
    pub channels: Vec<Vec<i8>>,
    pub threads: Vec<Thread>,
    /// Times that time may still pass.
    pub ticks: u32,
    /// A failed assertion stays failed.
    pub failed: bool,
}

pub struct Machine {
    pub program: Program,
    creators: Vec<u32>,
    /// Mutexes that nobody but their owner gives back, in no schedule: only those are held in the sense of [`Actor::holds`].
    pub kept: Vec<bool>,
    /// Whether threads send each other signals: then each step reads whether one is there.
    has_signals: bool,
    /// Whether [`Actor::interrupts`] says that a signal may end a wait.
    pub tells_interrupts: bool,
    /// Steps executed, and what an expensive step costs.
    pub executed: Arc<AtomicU64>,
    pub cost: u32,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Var = 1,
    Word,
    Mutex,
    Queue,
    Channel,
    /// Whether a thread is there: each of its steps reads it, and a step that ends it writes it.
    Thread,
    /// Whether a page is there: each access to what is on it reads it.
    Page,
    /// Whether a signal waits for a thread: each of its steps reads it, who sends one and the handler write it.
    Signal,
    /// That a thread was woken: who wakes it writes it; it reads it when it takes its lock again, and so does who ends it.
    Wake,
    World,
}

pub fn object(kind: Kind, index: usize) -> u64 {
    ((kind as u64) << 32) | index as u64
}

impl State {
    /// Whether all threads have ended.
    pub fn is_over(&self) -> bool {
        self.threads.iter().all(|thread| matches!(thread.life, Life::Dead | Life::Unborn))
    }
}

impl Machine {
    pub fn new(program: Program) -> Self {
        let mut creators: Vec<u32> = (0..program.threads.len() as u32).collect();
        for (creator, ops) in program.threads.iter().enumerate() {
            for op in ops {
                if let Op::Spawn(child) = op {
                    creators[*child] = creator as u32;
                }
            }
        }
        let frees =
            |mutex: usize| program.threads.iter().flatten().any(|op| matches!(op, Op::Free(freed) if *freed == mutex));
        let kept = (0..program.mutexes).map(|mutex| !frees(mutex)).collect();
        let has_signals = program.threads.iter().flatten().any(|op| matches!(op, Op::Interrupt(_)));
        Self { program, creators, kept, has_signals, tells_interrupts: true, executed: Arc::default(), cost: 0 }
    }

    fn op<'a>(&'a self, thread: &Thread, index: usize) -> &'a Op {
        &self.program.threads[index][thread.pc]
    }

    fn choices(&self, state: &State, index: usize) -> u32 {
        let thread = &state.threads[index];
        match thread.life {
            Life::Running | Life::Asleep { .. } | Life::Woken { .. } if thread.is_signalled => return 1,
            Life::Unborn | Life::Dead | Life::Asleep { .. } => return 0,
            Life::Woken { mutex } => return u32::from(state.owners[mutex].is_none()),
            Life::Running => {}
        }
        let can = match self.op(thread, index) {
            Op::Lock(mutex) => state.owners[*mutex].is_none(),
            Op::Await(any) => {
                any.iter().any(|(var, compare, value)| !state.mapped[*var] || compare.holds(state.vars[*var], *value))
            }
            Op::Send { channel, .. } => state.channels[*channel].len() < self.program.capacity,
            Op::Receive { channel, .. } => !state.channels[*channel].is_empty(),
            Op::Join(other) => state.threads[*other].life == Life::Dead,
            Op::Signal(queue) => return (sleepers(state, *queue).len() as u32).max(1),
            Op::Choose { below, .. } => return *below,
            _ => true,
        };
        u32::from(can)
    }

    fn actor(&self, state: &State, index: usize) -> Actor {
        let thread = &state.threads[index];
        let choices = self.choices(state, index);
        let mut actor = Actor { number: index as u32, choices, creator: self.creators[index], ..Actor::default() };
        let held = (0..state.owners.len()).filter(|mutex| self.kept[*mutex] && state.owners[*mutex] == Some(index));
        actor.holds = held.map(|mutex| object(Kind::Mutex, mutex)).collect();
        let lock = match (thread.life, self.op(thread, index)) {
            _ if thread.is_signalled => None,
            (Life::Woken { mutex }, _) => Some(mutex),
            (Life::Running, Op::Lock(mutex)) => Some(*mutex),
            _ => None,
        };
        actor.takes = lock.filter(|mutex| self.kept[*mutex]).map(|mutex| object(Kind::Mutex, mutex));
        if choices > 0 {
            return actor;
        }
        // A blocked thread can be ended, too.
        actor.awaits = vec![object(Kind::Thread, index)];
        let signal = self.has_signals.then(|| object(Kind::Signal, index));
        actor.awaits.extend(signal);
        actor.interrupts = signal.into_iter().filter(|_| self.tells_interrupts).collect();
        if let Some(mutex) = lock {
            let owner = state.owners[mutex];
            actor.awaits.push(object(Kind::Mutex, mutex));
            actor.awaits.extend(owner.map(|owner| object(Kind::Thread, owner)));
            // A holder that is dead, or that waits for itself, never releases the lock: another thread has to.
            let moves = |owner: &usize| *owner != index && state.threads[*owner].life != Life::Dead;
            actor.blocked_by = owner.filter(|owner| self.kept[mutex] && moves(owner)).map(|owner| owner as u32);
            return actor;
        }
        match (thread.life, self.op(thread, index)) {
            (Life::Asleep { queue, .. }, _) => actor.awaits.push(object(Kind::Queue, queue)),
            (_, Op::Await(any)) => {
                let both = |var: usize| [object(Kind::Var, var), object(Kind::Page, var)];
                actor.awaits.extend(any.iter().flat_map(|(var, ..)| both(*var)));
            }
            (_, Op::Send { channel, .. } | Op::Receive { channel, .. }) => {
                actor.awaits.push(object(Kind::Channel, *channel));
            }
            (_, Op::Join(other)) => {
                actor.blocked_by = Some(*other as u32).filter(|_| state.threads[*other].life != Life::Unborn);
                actor.awaits.push(object(Kind::Thread, *other));
            }
            _ => {}
        }
        actor
    }

    fn pass_time(&self, mut state: State) -> Taken<State> {
        state.ticks -= 1;
        state.vars[0] += 1;
        let access = |kind, index| Access { object: object(kind, index), write: true, plain: false };
        Taken::new(self.reached(state), vec![access(Kind::World, 0), access(Kind::Var, 0)])
    }

    fn reached(&self, state: State) -> Reached<State> {
        let present = |index: &usize| !matches!(state.threads[*index].life, Life::Unborn | Life::Dead);
        let all = 0..state.threads.len();
        let mut actors: Vec<Actor> = all.filter(present).map(|index| self.actor(&state, index)).collect();
        if state.ticks > 0 && actors.iter().all(|actor| actor.choices == 0) && !actors.is_empty() {
            actors.push(Actor { number: TIME, choices: 1, creator: TIME, low_priority: true, ..Actor::default() });
        }
        let is_stuck = actors.iter().all(|actor| actor.choices == 0) && !actors.is_empty();
        let stuck = is_stuck.then(|| {
            let places: Vec<_> = state.threads.iter().map(|thread| thread.pc).collect();
            Failure { kind: FailureKind::Deadlock, message: format!("{places:?}"), fatal: true, property: None }
        });
        let valuation = state.vars.iter().enumerate().fold(0, |all, (bit, var)| all | u64::from(*var != 0) << bit);
        Reached { fingerprint: fingerprint(&state), state, actors, stuck, valuation }
    }
}

pub fn sleepers(state: &State, queue: usize) -> Vec<usize> {
    let asleep =
        |index: &usize| matches!(state.threads[*index].life, Life::Asleep { queue: other, .. } if other == queue);
    (0..state.threads.len()).filter(asleep).collect()
}

fn fingerprint(state: &State) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        state.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

impl FootprintSystem for Machine {
    type State = State;

    fn initial(&mut self) -> Reached<State> {
        let program = &self.program;
        let life = |index| if index < program.born { Life::Running } else { Life::Unborn };
        let thread = |index| Thread { pc: 0, registers: [0; 4], life: life(index), is_signalled: false };
        let state = State {
            vars: program.vars.clone(),
            words: program.words.clone(),
            owners: vec![None; program.mutexes],
            mapped: vec![true; program.vars.len().max(program.words.len())],
            channels: vec![Vec::new(); program.channels],
            threads: (0..program.threads.len()).map(thread).collect(),
            ticks: program.ticks,
            failed: false,
        };
        self.reached(state)
    }

    fn step(&mut self, state: &State, choice: Choice) -> Option<Taken<State>> {
        self.executed.fetch_add(1, Relaxed);
        if choice.actor == TIME {
            return Some(self.pass_time(state.clone()));
        }
        let me = choice.actor as usize;
        if choice.index >= self.choices(state, me) {
            return None;
        }
        for _ in 0..self.cost {
            std::hint::black_box(fingerprint(state));
        }
        let (state, accesses) = (state.clone(), Vec::new());
        let (program, kept) = (&self.program, &*self.kept);
        let mut step = Step { program, kept, state, me, accesses, failure: None, progress: true };
        step.access(Kind::Thread, me, false);
        if self.has_signals {
            step.access(Kind::Signal, me, false);
        }
        step.take(choice.index);
        if step.program.ticks > 0 {
            step.access(Kind::World, 0, false);
        }
        let (state, accesses, failure, progress) = (step.state, step.accesses, step.failure, step.progress);
        let visible = self.program.watched
            && accesses.iter().any(|access| access.write && access.object >> 32 == Kind::Var as u64);
        Some(Taken { failure, progress, visible, ..Taken::new(self.reached(state), accesses) })
    }

    /// Known states are left out, so that an engine that uses one panics.
    fn step_with(&mut self, state: &State, choice: Choice, around: &mut dyn StepContext) -> Option<Stepped<State>> {
        let mut taken = self.step(state, choice)?.map(Some);
        let (fingerprint, fatal) = (taken.reached.fingerprint, taken.is_fatal());
        if around.is_known(fingerprint, fatal) {
            return Some(Taken { reached: Reached::known(fingerprint), ..taken });
        }
        for (number, choices) in around.untouched(&taken.accesses) {
            let left = taken.reached.actors.iter_mut().filter(|actor| actor.number == number && number != TIME);
            left.for_each(|actor| {
                assert_eq!(actor.choices, choices, "{number} was changed");
                actor.unchanged = true;
            });
        }
        Some(taken)
    }
}
