//! Worlds as something to be searched: threads are the actors, and a step is one operation that others can see, or the
//! instructions up to the next one.

use super::touch::{self, Asked, Kind, Reach};
use crate::refusal::Refusal;
use crate::step::Blind;
use crate::world::{Command, Pace, StartError, World};
use explore::graph::{Actor, Race, Reached, Taken, Touch, Traced};
use explore::system::Failure;
use kernel::host::Host;
use kernel::process::State;
use kernel::{Kernel, Pid, Tid, event, time};
use memory::{Halt, Limit, Parked};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use trace::{Choice, FailureKind};
use x86::{Code, Cpu, Machine, Stops, Trap};

/// The actor that lets time pass when nobody else can move.
pub const TIME: u32 = 0;

/// Instructions of one step without anything that others can see; a loop that spins is cut here.
const RUN_MAX: u64 = 1_000_000;

/// A world put aside.
#[derive(Clone)]
pub struct Snapshot {
    kernel: Kernel,
    memory: Parked,
    cpus: Arc<BTreeMap<Tid, Cpu>>,
}

/// Programs whose schedules are to be searched.
pub struct Programs {
    world: World,
    code: Code,
    /// The processes that were started, with their names.
    pub started: Vec<(Pid, String)>,
    initial: Snapshot,
    /// Words of memory by object, for reports.
    pub words: HashMap<u64, (memory::SpaceId, u64)>,
    /// Something that is not modelled was met: no verdict can be given.
    pub refusal: Option<Refusal>,
    /// Words at which threads stop, because an earlier search saw that they race there.
    promoted: BTreeSet<(memory::SpaceId, u64)>,
    kinds: Checks,
}

/// What counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Nobody can go on.
    pub deadlock: bool,
    /// A fatal signal.
    pub crash: bool,
    /// `abort(3)`, a failed assertion.
    pub assert: bool,
    /// A started program ends with another code than 0.
    pub exit: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self { deadlock: true, crash: true, assert: true, exit: true }
    }
}

impl Programs {
    /// Loads programs into a fresh world.
    pub fn start(host: Host, limit: Limit, commands: &[Command], kinds: Checks) -> Result<Self, StartError> {
        let mut world = World::new(host, 1, limit);
        let mut started = Vec::new();
        for command in commands {
            let tid = world.start(command)?;
            let pid = world.kernel.threads.get(&tid).expect("just started").pid;
            let name = world.kernel.processes.get(&pid).map_or_else(String::new, |process| process.name.clone());
            started.push((pid, name));
        }
        world.memory.log_accesses(true);
        world.pace = Pace::NONE;
        let mut code = Code::default();
        code.stop_before(Stops { synchronising: true, ..Stops::default() });
        let initial = save(&mut world);
        Ok(Self {
            world,
            code,
            started,
            initial,
            words: HashMap::new(),
            refusal: None,
            promoted: BTreeSet::new(),
            kinds,
        })
    }

    fn load(&mut self, snapshot: &Snapshot) {
        self.world.kernel = snapshot.kernel.clone();
        self.world.memory.restore(&snapshot.memory);
        self.world.cpus = (*snapshot.cpus).clone();
        for (space, address) in &self.promoted {
            if self.world.memory.space_exists(*space) {
                self.world.memory.arm(*space, *address..*address + 8);
            }
        }
    }

    /// Makes threads stop before every access to the words of these races; whether any of them is new.
    pub fn promote(&mut self, races: &[Race]) -> bool {
        let words = races.iter().filter_map(|race| self.words.get(&race.object)).copied();
        let before = self.promoted.len();
        self.promoted.extend(words.collect::<Vec<_>>());
        self.promoted.len() > before
    }

    fn reached(&mut self) -> Reached<Snapshot> {
        self.world.kernel.output.clear();
        let actors = self.actors();
        let stuck = if actors.iter().any(|actor| actor.choices > 0) { None } else { self.stuck() };
        let fingerprint = self.world.fingerprint();
        Reached { state: save(&mut self.world), fingerprint, actors, stuck }
    }

    fn actors(&self) -> Vec<Actor> {
        let world = &self.world;
        let mut actors: Vec<Actor> = world.kernel.threads.keys().map(|tid| self.actor(*tid)).collect();
        if actors.iter().all(|actor| actor.choices == 0) && self.next_deadline().is_some() {
            actors.push(Actor { number: TIME, choices: 1, creator: TIME, patient: true, ..Actor::default() });
        }
        actors
    }

    fn actor(&self, tid: Tid) -> Actor {
        let can_move = self.world.can_move(tid);
        let awaits = if can_move { Vec::new() } else { touch::awaited(&self.world.kernel, &self.world.memory, tid) };
        Actor { number: tid.0, choices: u32::from(can_move), awaits, creator: tid.0, ..Actor::default() }
    }

    fn next_deadline(&self) -> Option<u64> {
        [time::next_deadline(&self.world.kernel), event::next_deadline(&self.world.kernel)].into_iter().flatten().min()
    }

    fn stuck(&self) -> Option<Failure> {
        let waiting: Vec<String> = self.world.kernel.threads.keys().map(|tid| self.waits(*tid)).collect();
        if waiting.is_empty() || !self.kinds.deadlock {
            return None;
        }
        let message = format!("nobody can go on: {}", waiting.join("; "));
        Some(Failure { kind: FailureKind::Deadlock, message, fatal: true })
    }

    fn waits(&self, tid: Tid) -> String {
        let thread = self.world.kernel.threads.get(&tid).expect("it waits");
        let process = self.world.kernel.processes.get(&thread.pid).map_or("", |process| &process.name);
        let call = thread.call.and_then(|(number, _)| kernel::table::row(number)).map_or("?", |row| row.name);
        format!("{process}/{} waits in {call}", tid.0)
    }

    /// Takes a step of a thread in the world that is loaded.
    ///
    /// It is one operation that others can see, or the instructions up to the next one. Alone in the world, a thread goes on
    /// until it is not, or waits.
    fn advance(&mut self, tid: Tid) -> Result<Vec<Touch>, Refusal> {
        let mut touches = Vec::new();
        let space = self.world.space(tid);
        self.world.memory.enter(space);
        self.world.memory.take_log();
        let mut is_fresh = true;
        loop {
            let waited = self.call_touches(tid);
            if let Some(waited) = waited {
                touches.extend(waited);
            }
            let redone = self.is_waiting(tid);
            if !self.world.settle(tid, &mut Blind)? || redone && !self.is_alone() {
                break;
            }
            let stop = self.world.execute_instructions(tid, &mut self.code, RUN_MAX);
            self.note_accesses(tid, &mut touches);
            is_fresh &= stop.executed == 0;
            let goes_on = match stop.trap {
                None => false,
                Some(Trap::Stop) => self.at_stop(tid, is_fresh, &mut touches)?,
                Some(Trap::Memory(Halt::Visible(touch))) => self.at_armed(tid, touch, is_fresh, &mut touches)?,
                Some(trap) => self.world.handle(tid, &trap, &mut Blind).map(|()| true)?,
            };
            is_fresh = false;
            if !goes_on {
                break;
            }
        }
        self.note_accesses(tid, &mut touches);
        touches.push(Touch { object: touch::object(Kind::World, 0, 0), write: false, plain: false });
        Ok(touches)
    }

    fn is_waiting(&self, tid: Tid) -> bool {
        self.world.kernel.threads.get(&tid).is_some_and(|thread| thread.wait.is_some())
    }

    /// What to do before something that others may see; whether the step goes on.
    fn at_stop(&mut self, tid: Tid, is_fresh: bool, touches: &mut Vec<Touch>) -> Result<bool, Refusal> {
        let reach = self.reach_of_stop(tid);
        let is_visible = reach != Some(Reach::Nothing);
        if is_visible && !is_fresh && !self.is_alone() {
            return Ok(false);
        }
        self.pass(tid, reach, touches)?;
        Ok(!is_visible || self.is_alone())
    }

    /// Whether nobody else is there to see anything.
    fn is_alone(&self) -> bool {
        self.world.kernel.threads.len() == 1
    }

    fn call_touches(&self, tid: Tid) -> Option<Vec<Touch>> {
        let (number, args) = self.world.kernel.threads.get(&tid)?.call?;
        let asked = Asked { kernel: &self.world.kernel, memory: &self.world.memory, tid, number, args };
        match asked.reach() {
            Reach::Nothing => Some(Vec::new()),
            Reach::Objects(touches) => Some(touches),
        }
    }

    /// What to do before an access to a page with promoted words; whether the step goes on.
    fn at_armed(
        &mut self,
        tid: Tid,
        touch: memory::Touch,
        is_fresh: bool,
        touches: &mut Vec<Touch>,
    ) -> Result<bool, Refusal> {
        let space = self.world.space(tid);
        let words = touch.addr >> 3..=(touch.addr + u64::from(touch.size.max(1)) - 1) >> 3;
        let is_visible = words.into_iter().any(|word| self.promoted.contains(&(space, word << 3)));
        if is_visible && !is_fresh && !self.is_alone() {
            return Ok(false);
        }
        let first = touches.len();
        let passed = self.pass(tid, None, touches);
        // Only a promoted word synchronises; others in the same page are as plain as before.
        touches[first..].iter_mut().for_each(|touch| touch.plain = !is_visible);
        passed?;
        Ok(!is_visible || self.is_alone())
    }

    /// Executes the instruction that a thread was stopped before.
    fn pass(&mut self, tid: Tid, reach: Option<Reach>, touches: &mut Vec<Touch>) -> Result<(), Refusal> {
        let cpu = self.world.cpus.get_mut(&tid).expect("it runs");
        let machine = Machine { cpu, memory: &mut self.world.memory, clock: self.world.kernel.clock.now() };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.code);
        self.world.memory.pass_armed(false);
        match stop.trap {
            Some(Trap::Syscall) => {
                self.world.call(tid, &mut Blind)?;
                if let Some(Reach::Objects(objects)) = reach {
                    touches.extend(objects);
                }
                Ok(())
            }
            None => {
                let first = touches.len();
                self.note_accesses(tid, touches);
                touches[first..].iter_mut().for_each(|touch| touch.plain = false);
                Ok(())
            }
            Some(trap) => self.world.handle(tid, &trap, &mut Blind),
        }
    }

    /// What the syscall that a thread is about to make touches; nothing if it is about to do something else.
    fn reach_of_stop(&mut self, tid: Tid) -> Option<Reach> {
        let space = self.world.space(tid);
        let cpu = &self.world.cpus[&tid];
        let mut bytes = [0; 2];
        self.world.memory.peek(space, cpu.rip, &mut bytes).ok()?;
        if bytes != [0x0f, 0x05] {
            return None;
        }
        let gpr = &cpu.gpr;
        let args = [gpr[7], gpr[6], gpr[2], gpr[10], gpr[8], gpr[9]];
        let asked = Asked { kernel: &self.world.kernel, memory: &self.world.memory, tid, number: gpr[0], args };
        Some(asked.reach())
    }

    /// Turns logged accesses into touches: those that another thread or process could make, too.
    fn note_accesses(&mut self, tid: Tid, touches: &mut Vec<Touch>) {
        let log = self.world.memory.take_log();
        if !self.world.kernel.threads.contains_key(&tid) {
            return;
        }
        let space = self.world.space(tid);
        let alone = self.shares_nothing(space);
        for logged in log {
            let Some(mapping) = self.world.memory.mapping_at(space, logged.addr) else { continue };
            let is_shared = mapping.sharing == memory::Sharing::Shared;
            if (alone && !is_shared) || !mapping.protection.contains(memory::Protection::WRITE) {
                continue;
            }
            let last = logged.addr + u64::from(logged.size.max(1)) - 1;
            for granule in logged.addr >> 3..=last >> 3 {
                let touched = touch::word(&self.world.memory, space, granule << 3, logged.write, Kind::Word);
                self.words.entry(touched.object).or_insert((space, granule << 3));
                touches.push(touched);
            }
        }
    }

    /// Whether one thread alone uses an address space.
    fn shares_nothing(&self, space: memory::SpaceId) -> bool {
        let users = self.world.kernel.processes.values().filter(|process| process.space == space);
        users.map(|process| process.threads.len()).sum::<usize>() <= 1
    }

    /// Lets time pass to the next moment at which something happens.
    fn pass_time(&mut self) -> Vec<Touch> {
        if let Some(next) = self.next_deadline() {
            self.world.kernel.clock.advance_to(next);
            time::expire(&mut self.world.kernel, &mut self.world.memory);
        }
        touch::everything()
    }

    /// What went wrong with a process that has just ended.
    fn failure(&self, ended_before: &[Pid]) -> Option<Failure> {
        let ended = self.world.kernel.processes.values().find_map(|process| match process.state {
            State::Zombie(status) if !ended_before.contains(&process.pid) => Some((process, status)),
            _ => None,
        });
        let (process, status) = ended?;
        let signal = status & 0x7f;
        let name = &process.name;
        const SIGABRT: i32 = 6;
        const SIGKILL: i32 = 9;
        let told = crate::strace::signal_name(signal as u64);
        let failure = |kind, message| Some(Failure { kind, message, fatal: true });
        match signal {
            0 if self.kinds.exit && status != 0 && self.started.iter().any(|(pid, _)| *pid == process.pid) => {
                failure(FailureKind::Exit, format!("{name} ends with exit code {}", status >> 8))
            }
            SIGABRT if self.kinds.assert => failure(FailureKind::Assert, format!("{name} is aborted")),
            0 | SIGABRT | SIGKILL => None,
            _ if self.kinds.crash => failure(FailureKind::Crash, format!("{name} is ended by {told}")),
            _ => None,
        }
    }

    fn ended(&self) -> Vec<Pid> {
        let processes = self.world.kernel.processes.values();
        processes.filter(|process| matches!(process.state, State::Zombie(_))).map(|process| process.pid).collect()
    }
}

fn save(world: &mut World) -> Snapshot {
    Snapshot { kernel: world.kernel.clone(), memory: world.memory.park(), cpus: Arc::new(world.cpus.clone()) }
}

impl Traced for Programs {
    type State = Snapshot;

    fn initial(&mut self) -> Reached<Snapshot> {
        let initial = self.initial.clone();
        self.load(&initial);
        self.reached()
    }

    fn step(&mut self, state: &Snapshot, choice: Choice) -> Option<Taken<Snapshot>> {
        self.load(state);
        let ended = self.ended();
        let touches = if choice.actor == TIME {
            Ok(self.pass_time())
        } else {
            let tid = Tid(choice.actor);
            if !self.world.can_move(tid) {
                return None;
            }
            self.advance(tid)
        };
        let touches = touches.unwrap_or_else(|refusal| {
            self.refusal.get_or_insert(refusal);
            touch::everything()
        });
        let failure = self.failure(&ended);
        Some(Taken { failure, ..Taken::new(self.reached(), touches) })
    }
}
