//! Worlds as something to be searched: threads are the actors, and a step is one operation that others can see, or the
//! instructions up to the next one.

use super::forbid::{Beside, Forbidden};
use super::knowledge::Knowledge;
use super::library::{Hooks, Library, Member, Phase, Seen};
use super::options::{Options, Timeouts};
use super::{reach, touch};
use crate::debug::DebugInfo;
use crate::refusal::Refusal;
use crate::world::{Command, Pace, StartError, World};
use explore::graph::{Actor, Race, Reached, Taken, Traced};
use explore::system::Failure;
use kernel::host::Host;
use kernel::map::{Map, Wide};
use kernel::process::State;
use kernel::{Kernel, Pid, Tid, event, signal, time};
use memory::{Limit, Parked};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use trace::{Choice, FailureKind};
use x86::{Code, Cpu, Stops};

/// The actor that lets time pass when nobody else can move.
pub const TIME: u32 = 0;

/// A world put aside.
#[derive(Clone)]
pub struct Snapshot {
    kernel: Kernel,
    memory: Parked,
    cpus: Map<Tid, Cpu>,
    library: Library,
    beside: Beside,
    /// Tells snapshots apart.
    number: u64,
}

/// Programs whose schedules are to be searched.
pub struct Programs {
    pub(super) world: World,
    /// What the C library knows, as part of the state.
    pub(super) library: Library,
    /// What else belongs to the state.
    pub(super) beside: Beside,
    /// What must never be true.
    pub(super) forbidden: Forbidden,
    /// Where its functions are.
    pub(super) hooks: Hooks,
    /// Code that stops before whatever others can see.
    pub(super) code: Code,
    /// Code inside functions that are carried out as a whole.
    pub(super) quiet: Code,
    /// Code that stops before whatever others can see, but not at functions.
    pub(super) unhooked: Code,
    /// The processes that were started, with their names.
    pub started: Vec<(Pid, String)>,
    initial: Snapshot,
    /// The snapshot that the world is as of now, if it is.
    loaded: Option<u64>,
    /// How many snapshots were made.
    saved: u64,
    /// Programs are still brought to their beginning.
    pub(super) is_starting: bool,
    /// Words of memory by object, for reports.
    pub words: HashMap<u64, Vec<(memory::SpaceId, u64)>>,
    /// Something that is not modelled was met: no verdict can be given.
    pub refusal: Option<Refusal>,
    /// What earlier steps have shown.
    pub(super) knowledge: Knowledge,
    pub(super) options: Options,
}

impl Programs {
    /// Loads programs into a fresh world.
    pub fn start(host: Host, limit: Limit, commands: &[Command], options: Options) -> Result<Self, StartError> {
        let mut world = World::new(host, 1, limit);
        let mut started = Vec::new();
        for command in commands {
            let tid = world.start(command)?;
            let pid = world.kernel.threads.get(&tid).expect("just started").pid;
            let name = world.kernel.processes.get(&pid).map_or_else(String::new, |process| process.name.clone());
            started.push((pid, name));
        }
        number_replicas(&mut started);
        world.memory.log_accesses(true);
        world.pace = Pace::NONE;
        let directory = commands.first().map_or_else(Vec::new, |command| command.directory.clone());
        let mut programs = Self {
            initial: save(&mut world, (&Library::default(), &Beside::default()), 0),
            beside: Beside::default(),
            forbidden: Forbidden::new(DebugInfo::new(world.kernel.host.clone()), directory),
            loaded: None,
            saved: 0,
            is_starting: false,
            world,
            library: Library::default(),
            hooks: Hooks::default(),
            code: Code::default(),
            quiet: Code::default(),
            unhooked: Code::default(),
            started,
            words: HashMap::new(),
            refusal: None,
            knowledge: Knowledge::default(),
            options,
        };
        programs.refresh_stops();
        programs.admit();
        Ok(programs)
    }

    /// Enters the first threads of all processes.
    fn admit(&mut self) {
        let tids: Vec<Tid> = self.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let phase = self.first_phase(tid);
            *self.library.member_mut(tid) = Member { phase, ..Member::default() };
        }
        self.begin();
        self.world.kernel.output.clear();
        self.initial = self.save();
    }

    /// Brings every program to the beginning of its own code. What the loader does before is no part of any schedule: it
    /// reads files and maps them, and in which order programs are started changes nothing.
    fn begin(&mut self) {
        self.is_starting = true;
        let tids: Vec<Tid> = self.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let starts = |programs: &Self| {
                let member = programs.library.member(tid);
                programs.world.can_move(tid) && member.is_some_and(|member| member.phase == Phase::Starting)
            };
            while starts(self) && self.refusal.is_none() {
                if let Err(refusal) = self.advance(tid, 0) {
                    self.refusal = Some(refusal);
                }
            }
        }
        self.is_starting = false;
    }

    /// Puts the world aside.
    fn save(&mut self) -> Snapshot {
        self.saved += 1;
        self.loaded = Some(self.saved);
        save(&mut self.world, (&self.library, &self.beside), self.saved)
    }

    /// Makes threads stop where they have to.
    pub(super) fn refresh_stops(&mut self) {
        let addresses = self.hooks.addresses.clone();
        self.code.stop_before(Stops { synchronising: true, addresses: addresses.clone() });
        self.quiet.stop_before(Stops { synchronising: false, addresses });
        self.unhooked.stop_before(Stops { synchronising: true, addresses: BTreeSet::new() });
    }

    pub(super) fn seen(&self) -> Seen<'_> {
        let World { kernel, memory, cpus, .. } = &self.world;
        Seen { kernel, memory, cpus, library: &self.library }
    }

    fn load(&mut self, snapshot: &Snapshot) {
        if self.loaded.take() != Some(snapshot.number) {
            self.restore(snapshot);
        }
        // Also where nothing had to be restored: the step before may have made a new process.
        for (space, address) in &self.knowledge.promoted {
            if self.world.memory.space_exists(*space) {
                self.world.memory.arm(*space, *address..*address + 4);
            }
        }
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.world.kernel = snapshot.kernel.clone();
        self.world.memory.restore(&snapshot.memory);
        self.world.cpus = snapshot.cpus.clone();
        self.library = snapshot.library.clone();
        self.beside = snapshot.beside.clone();
    }

    /// Makes threads stop before every access to the words of these races; whether the search has to begin anew, because of
    /// that or because it has shown that earlier steps were seen too coarsely.
    pub fn promote(&mut self, races: &[Race]) -> bool {
        let words = races.iter().filter_map(|race| self.words.get(&race.object));
        self.knowledge.promote(words.flatten().copied());
        self.knowledge.has_grown.take()
    }

    /// Tells whether something was learnt that makes the present search useless.
    pub(super) fn staleness(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.knowledge.has_grown)
    }

    fn reached(&mut self) -> Reached<Snapshot> {
        self.take_output();
        let actors = self.actors();
        let stuck = if actors.iter().any(|actor| actor.choices > 0) { None } else { self.stuck() };
        let fingerprint = self.world.fingerprint().wrapping_add(Wide::hash_of((&self.library, &self.beside)));
        Reached { state: self.save(), fingerprint, actors, stuck }
    }

    fn actors(&self) -> Vec<Actor> {
        let world = &self.world;
        let mut actors: Vec<Actor> = world.kernel.threads.keys().map(|tid| self.actor(*tid)).collect();
        let is_quiet = actors.iter().all(|actor| actor.choices == 0);
        if (is_quiet || self.may_hasten()) && self.next_deadline().is_some() {
            let patient = !self.may_hasten();
            actors.push(Actor { number: TIME, choices: 1, creator: TIME, patient, ..Actor::default() });
        }
        actors
    }

    fn actor(&self, tid: Tid) -> Actor {
        let can_move = self.world.can_move(tid);
        if let Some(awaits) = self.spun(tid) {
            return Actor { awaits, ..self.nobody(tid) };
        }
        let hook = self.hook(tid).filter(|hook| can_move && hook.function.synchronises());
        if let Some(hook) = hook {
            let (operation, seen) = (self.operation(tid, hook), self.seen());
            let choices = match signal::is_deliverable(&self.world.kernel, tid) {
                true => 1,
                false => operation.choices(seen),
            };
            let awaits = if choices == 0 { operation.awaits(seen) } else { Vec::new() };
            let behind = operation.behind(seen).filter(|_| choices == 0).map(|tid| tid.0);
            let takes = operation.takes(seen);
            return Actor { choices, awaits, behind, takes, ..self.nobody(tid) };
        }
        let awaits = if can_move { Vec::new() } else { reach::awaited(&self.world.kernel, &self.world.memory, tid) };
        Actor { choices: u32::from(can_move), awaits, ..self.nobody(tid) }
    }

    /// What is known of a thread whatever it does.
    fn nobody(&self, tid: Tid) -> Actor {
        let holds = self.library.member(tid).map_or_else(Vec::new, |member| member.holds.clone());
        Actor { number: tid.0, creator: self.creator(tid), holds, ..Actor::default() }
    }

    /// Who made a thread; itself if it was there from the start.
    fn creator(&self, tid: Tid) -> u32 {
        self.library.member(tid).and_then(|member| member.creator).unwrap_or(tid).0
    }

    fn next_deadline(&self) -> Option<u64> {
        let kernel = &self.world.kernel;
        let deadlines = [time::next_deadline(kernel), event::next_deadline(kernel), self.library_deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// When the first of the functions that threads wait in gives up.
    fn library_deadline(&self) -> Option<u64> {
        let deadline = |tid: &Tid| {
            let hook = self.hook(*tid).filter(|hook| hook.function.synchronises())?;
            self.operation(*tid, hook).deadline(self.seen())
        };
        self.world.kernel.threads.keys().filter_map(deadline).min()
    }

    fn stuck(&self) -> Option<Failure> {
        let waiting: Vec<String> = self.world.kernel.threads.keys().map(|tid| self.waits(*tid)).collect();
        if waiting.is_empty() || !self.options.checks.deadlock {
            return None;
        }
        let message = format!("nobody can go on: {}", waiting.join("; "));
        Some(Failure { kind: FailureKind::Deadlock, message, fatal: true })
    }

    fn waits(&self, tid: Tid) -> String {
        let thread = self.world.kernel.threads.get(&tid).expect("it waits");
        let process = self.world.kernel.processes.get(&thread.pid).map_or("", |process| &process.name);
        if let Some(hook) = self.hook(tid).filter(|hook| hook.function.synchronises()) {
            return format!("{process}/{} waits in {}", tid.0, hook.function.name());
        }
        let call = thread.call.and_then(|(number, _)| kernel::table::row(number)).map_or("?", |row| row.name);
        format!("{process}/{} waits in {call}", tid.0)
    }

    /// Whether time may pass although somebody can move.
    fn may_hasten(&self) -> bool {
        matches!(self.options.timeouts, Timeouts::Any(most) if self.beside.hastened < most)
    }

    /// Lets time pass to the next moment at which something happens.
    fn pass_time(&mut self) -> Vec<explore::graph::Touch> {
        if self.world.kernel.threads.keys().any(|tid| self.actor(*tid).choices > 0) {
            self.beside.hastened += 1;
        }
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
            0 if self.options.checks.exit && status != 0 && self.started.iter().any(|(pid, _)| *pid == process.pid) => {
                failure(FailureKind::Exit, format!("{name} ends with exit code {}", status >> 8))
            }
            SIGABRT if self.options.checks.assert => failure(FailureKind::Assert, format!("{name} is aborted")),
            0 | SIGABRT | SIGKILL => None,
            _ if self.options.checks.crash => failure(FailureKind::Crash, format!("{name} is ended by {told}")),
            _ => None,
        }
    }

    fn misused(&self, actor: u32, what: &str) -> Option<Failure> {
        let message = format!("thread {actor}: {what}");
        self.options.checks.misuse.then_some(Failure { kind: FailureKind::Misuse, message, fatal: false })
    }

    fn ended(&self) -> Vec<Pid> {
        let processes = self.world.kernel.processes.values();
        processes.filter(|process| matches!(process.state, State::Zombie(_))).map(|process| process.pid).collect()
    }
}

/// Programs of the same name are told apart by numbers: `name.1`, `name.2`.
fn number_replicas(started: &mut [(Pid, String)]) {
    let names: Vec<String> = started.iter().map(|(_, name)| name.clone()).collect();
    for (index, (_, name)) in started.iter_mut().enumerate() {
        if names.iter().filter(|other| **other == *name).count() > 1 {
            let before = names[..index].iter().filter(|other| **other == *name).count();
            *name = format!("{name}.{}", before + 1);
        }
    }
}

fn save(world: &mut World, (library, beside): (&Library, &Beside), number: u64) -> Snapshot {
    Snapshot {
        kernel: world.kernel.clone(),
        memory: world.memory.park(),
        cpus: world.cpus.clone(),
        library: library.clone(),
        beside: beside.clone(),
        number,
    }
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
        let before = self.valuation();
        let mut vain = false;
        let (touches, misuse, assertion) = if choice.actor == TIME {
            (self.pass_time(), None, None)
        } else {
            let tid = Tid(choice.actor);
            if !self.world.can_move(tid) {
                return None;
            }
            match self.advance(tid, choice.index) {
                Ok(step) => {
                    if self.options.awaits {
                        vain = self.ends_spin(&step);
                        self.follow_spin(&step);
                    }
                    (step.touches, step.misuse, step.assertion)
                }
                Err(refusal) => {
                    self.refusal.get_or_insert(refusal);
                    (touch::everything(), None, None)
                }
            }
        };
        // Whoever only looks does not get on.
        let progress = touches.iter().any(|touch| touch.write);
        let reached = self.reached();
        let after = self.valuation();
        let failed = assertion.map(|message| Failure { kind: FailureKind::Assert, message, fatal: true });
        let failure = failed.or_else(|| self.failure(&ended)).or_else(|| self.forbidden_failure(before, after));
        let failure = failure.or_else(|| self.misused(choice.actor, misuse?));
        Some(Taken { failure, progress, vain, visible: before != after, ..Taken::new(reached, touches) })
    }
}
