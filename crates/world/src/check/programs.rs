//! Worlds as something to be searched: threads are the actors, and a step is one operation that others can see, or the
//! instructions up to the next one.

use super::choosing::Choosing;
use super::forbid::{Beside, Forbidden};
use super::knowledge::Knowledge;
use super::library::{Flavour, Hooks, Library, Member, Operation, Phase, Seen};
use super::options::{Depth, Options, Timeouts};
use super::points::Points;
use super::service::{Expected, Service, Started};
use super::story::Listener;
use super::{advance, reach, touch};
use crate::debug::DebugInfo;
use crate::refusal::Refusal;
use crate::world::{Command, Pace, StartError, World};
use explore::graph::{Actor, IsKnown, Race, Reached, Step, Taken, Touch, Traced};
use explore::system::Failure;
use kernel::host::Host;
use kernel::kernel::Output;
use kernel::map::{Map, Wide};
use kernel::process::State;
use kernel::shared::Shared;
use kernel::{Kernel, Pid, Tid, event, signal, time};
use memory::{Limit, Parked};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trace::{Choice, FailureKind, Fingerprint};
use x86::{Code, Cpu, Stops};

/// The actor that lets time pass when nobody else can move.
pub const TIME: u32 = 0;

/// A world put aside.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) kernel: Shared<Kernel>,
    pub(super) memory: Parked,
    cpus: Map<Tid, Cpu>,
    library: Library,
    beside: Beside,
    /// Tells snapshots apart.
    number: u64,
}

/// What came of somebody's move.
#[derive(Default)]
struct Moved {
    touches: Vec<Touch>,
    misuse: Option<&'static str>,
    assertion: Option<String>,
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
    /// What they wait for, and how they are expected to end.
    pub(super) services: Vec<Started>,
    pub(super) initial: Snapshot,
    /// Executables and libraries, with fingerprints of their contents.
    pub files: BTreeMap<String, String>,
    /// The snapshot that the world is as of now, if it is.
    pub(super) loaded: Option<u64>,
    /// How many snapshots were made.
    pub(super) saved: u64,
    /// Programs are still brought to their beginning.
    pub(super) is_starting: bool,
    /// Words of memory by object, for reports.
    pub words: FxHashMap<u64, Vec<(memory::SpaceId, u64)>>,
    /// Something that is not modelled was met: no verdict can be given.
    pub refusal: Option<Refusal>,
    /// How many steps and states failed so far, whether or not they were met before.
    pub failures: Arc<AtomicU64>,
    /// What the last step wrote to the standard streams.
    pub printed: Vec<Output>,
    /// What users want to be looked at besides.
    pub(super) points: Points,
    /// Hears what happens while a story is told.
    pub(super) listener: Listener,
    /// Accesses to memory, on their way to be noted.
    pub(super) log: Vec<memory::Logged>,
    /// What earlier steps have shown.
    pub(super) knowledge: Knowledge,
    pub(super) options: Options,
}

impl Programs {
    /// Loads programs into a fresh world.
    pub fn start(host: Host, limit: Limit, commands: &[Command], options: Options) -> Result<Self, StartError> {
        let services: Vec<Service> = commands.iter().cloned().map(Service::new).collect();
        Self::start_services(host, limit, &services, options)
    }

    /// Loads services into a fresh world.
    pub fn start_services(host: Host, limit: Limit, all: &[Service], options: Options) -> Result<Self, StartError> {
        let mut world = World::new(host, 1, limit);
        world.kernel.input.bytes = options.input.clone();
        let (mut started, mut services) = (Vec::new(), Vec::new());
        for service in all {
            let tid = world.start(&service.command)?;
            let pid = world.kernel.threads.get(&tid).expect("just started").pid;
            let own = world.kernel.processes.get(&pid).map_or_else(String::new, |process| process.name.clone());
            started.push((pid, if service.name.is_empty() { own } else { service.name.clone() }));
            services.push(Started { pid, after: service.after.clone(), expected: service.expected });
        }
        number_replicas(&mut started);
        world.memory.log_accesses(true);
        world.pace = Pace::NONE;
        let directory = all.first().map_or_else(Vec::new, |service| service.command.directory.clone());
        let mut programs = Self {
            initial: save(&mut world, (&Library::default(), &Beside::default()), 0),
            beside: Beside::default(),
            forbidden: Forbidden::new(DebugInfo::new(world.kernel.host.clone()), directory),
            files: BTreeMap::new(),
            loaded: None,
            saved: numbers(),
            is_starting: false,
            world,
            library: Library::default(),
            hooks: Hooks::default(),
            code: Code::default(),
            quiet: Code::default(),
            unhooked: Code::default(),
            started,
            services,
            words: FxHashMap::default(),
            refusal: None,
            failures: Arc::default(),
            printed: Vec::new(),
            points: Points::default(),
            listener: Listener::default(),
            log: Vec::new(),
            knowledge: Knowledge::default(),
            options,
        };
        programs.refresh_stops();
        programs.admit();
        programs.files = programs.mapped_files();
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
    pub(super) fn save(&mut self) -> Snapshot {
        self.saved += 1;
        self.loaded = Some(self.saved);
        save(&mut self.world, (&self.library, &self.beside), self.saved)
    }

    /// Makes threads stop where they have to.
    pub(super) fn refresh_stops(&mut self) {
        let addresses = self.hooks.addresses().clone();
        self.code.stop_before(Stops { synchronising: true, addresses: addresses.clone() });
        self.quiet.stop_before(Stops { synchronising: false, addresses });
        self.unhooked.stop_before(Stops { synchronising: true, addresses: BTreeSet::new() });
    }

    pub(super) fn seen(&self) -> Seen<'_> {
        let World { kernel, memory, cpus, .. } = &self.world;
        Seen { kernel, memory, cpus, library: &self.library }
    }

    pub(super) fn load(&mut self, snapshot: &Snapshot) {
        if self.hooks.catch_up() {
            self.refresh_stops();
        }
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
        self.knowledge.has_grown.swap(false, Ordering::Relaxed)
    }

    /// Executable files that programs map at their beginning, with fingerprints of their contents.
    fn mapped_files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let spaces = self.started.iter().filter_map(|(pid, _)| self.world.kernel.processes.get(pid));
        for process in spaces.filter(|process| self.world.memory.space_exists(process.space)) {
            for mapping in self.world.memory.mappings(process.space) {
                if let (memory::Name::Path(path), memory::Backing::Object { id, .. }) =
                    (&mapping.name, &mapping.backing)
                    && mapping.protection.contains(memory::Protection::EXECUTE)
                {
                    let mut content = vec![0; self.world.memory.object_len(*id) as usize];
                    self.world.memory.read_object(*id, 0, &mut content);
                    files.entry(path.to_string()).or_insert(Fingerprint::new().with(&content).to_string());
                }
            }
        }
        files
    }

    /// What the search has learnt, to be kept with a schedule: without it steps would begin and end elsewhere.
    #[must_use]
    pub fn learnt(&self) -> trace::KnowledgeRef {
        self.knowledge.exported()
    }

    /// Makes steps begin and end where another search had them.
    pub fn know(&mut self, known: &trace::KnowledgeRef) {
        self.knowledge = Knowledge::imported(known);
        self.loaded = None;
    }

    /// How deep into the C library the search looks, where that is recognised.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.options.depth
    }

    /// How many words of memory threads stop at, because they race there.
    #[must_use]
    pub fn promoted(&self) -> usize {
        self.knowledge.promoted.len()
    }

    /// The C libraries whose functions were recognised, by name; none where their instructions were executed as they stand.
    #[must_use]
    pub fn libraries(&self) -> Vec<&'static str> {
        self.hooks.flavours().into_iter().map(Flavour::name).collect()
    }

    /// Tells whether something was learnt that makes the present search useless.
    pub(super) fn staleness(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.knowledge.has_grown)
    }

    /// What stands for the state that the world is in.
    fn fingerprint(&mut self) -> u128 {
        let whole = self.world.fingerprint().wrapping_add(Wide::hash_of((&self.library, &self.beside)));
        self.abstraction().unwrap_or(whole)
    }

    fn reached(&mut self, fingerprint: u128) -> Reached<Snapshot> {
        let actors = self.actors();
        let stuck = if actors.iter().any(|actor| actor.choices > 0) { None } else { self.stuck() };
        self.failures.fetch_add(u64::from(stuck.is_some()), Ordering::Relaxed);
        Reached { state: self.save(), fingerprint, actors, stuck }
    }

    /// Lets somebody move in the world that is loaded; nothing if it cannot.
    fn moved(&mut self, state: &Snapshot, choice: Choice) -> Option<Moved> {
        if choice.actor == TIME {
            return Some(Moved { touches: self.pass_time(), ..Moved::default() });
        }
        let tid = Tid(choice.actor);
        if !self.world.can_move(tid) {
            return None;
        }
        match self.advance_shortly(tid, choice.index) {
            Ok(step) => {
                if self.options.awaits {
                    self.follow_spin(&step, state);
                }
                Some(Moved { touches: step.touches, misuse: step.misuse, assertion: step.assertion })
            }
            Err(refusal) => {
                self.refusal.get_or_insert(refusal);
                Some(Moved { touches: touch::everything(), ..Moved::default() })
            }
        }
    }

    fn actors(&self) -> Vec<Actor> {
        let at: Vec<(Tid, Option<Operation>)> =
            self.world.kernel.threads.keys().map(|tid| (*tid, self.pending_operation(*tid))).collect();
        let mut actors: Vec<Actor> = at.iter().map(|(tid, operation)| self.actor(*tid, operation.as_ref())).collect();
        let is_quiet = actors.iter().all(|actor| actor.choices == 0);
        if self.next_deadline(at.iter().filter_map(|(_, operation)| operation.as_ref())).is_some() {
            let may_pass = is_quiet || self.may_hasten();
            let patient = self.options.timeouts == Timeouts::Quiet;
            let choices = u32::from(may_pass);
            let sort = if is_quiet { 0 } else { Choosing::Timeouts as u8 };
            let last = !may_pass;
            actors.push(Actor { number: TIME, choices, sort, creator: TIME, patient, last, ..Actor::default() });
        }
        actors
    }

    /// The synchronising function that a thread is at, if it is at one.
    fn pending_operation(&self, tid: Tid) -> Option<Operation> {
        let hook = self.hook(tid).filter(|hook| hook.function.synchronises())?;
        Some(self.operation(tid, hook))
    }

    fn actor(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let mut actor = self.moving(tid, operation);
        if actor.choices == 0 {
            actor.alarms = self.alarms(tid);
            actor.awaits.extend(&actor.alarms);
        }
        actor.vain = actor.choices > 0 && self.looked_early(tid);
        actor
    }

    /// What ends any wait: signals. Whatever concerns everybody may send one; so may the end of a child.
    fn alarms(&self, tid: Tid) -> Vec<u64> {
        const SIGCHLD: usize = 17;
        const SIG_IGN: u64 = 1;
        let thread = self.world.kernel.threads.get(&tid).expect("it waits");
        let action =
            self.world.kernel.processes.get(&thread.pid).map(|process| process.signals.actions[SIGCHLD].handler);
        let of_children = action.filter(|handler| *handler > SIG_IGN);
        let of_children = of_children.map(|_| touch::object(touch::Kind::Process, u64::from(thread.pid.0), 0));
        std::iter::once(touch::object(touch::Kind::World, 0, 0)).chain(of_children).collect()
    }

    /// What a thread can do, and what it waits for if it cannot.
    fn moving(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let can_move = self.world.can_move(tid);
        if let Some(gate) = self.gate(tid) {
            return Actor { awaits: vec![gate], ..self.nobody(tid) };
        }
        if let Some(awaits) = self.spun(tid) {
            return Actor { awaits, ..self.nobody(tid) };
        }
        if let Some(operation) = operation.filter(|_| can_move) {
            let seen = self.seen();
            let choices = match signal::is_deliverable(&self.world.kernel, tid) {
                true => 1,
                false => operation.choices(seen),
            };
            let awaits = if choices == 0 { operation.awaits(seen) } else { Vec::new() };
            let behind = operation.behind(seen).filter(|_| choices == 0).map(|tid| tid.0);
            // A longer step may also give it back.
            let takes = operation.takes(seen).filter(|_| !self.options.only_breaks);
            let sort = if choices > 1 { Choosing::Wakes as u8 } else { 0 };
            return Actor { choices, sort, awaits, behind, takes, ..self.nobody(tid) };
        }
        let awaits = match can_move {
            true => Vec::new(),
            false => reach::awaited(&self.world.kernel, &self.world.memory, tid, self.was_shared(tid)),
        };
        let choices = if can_move { 1 + self.short_reads(tid).len() as u32 } else { 0 };
        let sort = match choices {
            0 => 0,
            1 if self.competes(tid) => Choosing::Accepts as u8,
            1 => 0,
            _ => Choosing::Reads as u8,
        };
        Actor { choices, sort, awaits, ..self.nobody(tid) }
    }

    /// Takes a step of a thread; any choice but the first makes a read return less than there is.
    fn advance_shortly(&mut self, tid: Tid, index: u32) -> Result<advance::Step, Refusal> {
        let short = index.checked_sub(1).and_then(|index| self.short_reads(tid).get(index as usize).copied());
        if short.is_none() {
            return self.advance(tid, index);
        }
        self.world.kernel.short = short;
        let advanced = self.advance(tid, index);
        self.world.kernel.short = None;
        advanced
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

    /// When something happens by itself: a timer, or the first of the functions that threads wait in gives up.
    fn next_deadline<'a>(&self, operations: impl Iterator<Item = &'a Operation>) -> Option<u64> {
        let kernel = &self.world.kernel;
        let now = kernel.clock.now();
        let library =
            operations.filter_map(|operation| operation.deadline(self.seen())).filter(|next| *next > now).min();
        [time::next_deadline(kernel), event::next_deadline(kernel), library].into_iter().flatten().min()
    }

    fn stuck(&self) -> Option<Failure> {
        let waiting: Vec<String> = self.world.kernel.threads.keys().map(|tid| self.waits(*tid)).collect();
        if self.world.kernel.threads.keys().all(|tid| self.may_stay(*tid)) || !self.options.checks.deadlock {
            return None;
        }
        let message = format!("nobody can go on: {}", waiting.join("; "));
        Some(Failure { kind: FailureKind::Deadlock, message, fatal: true })
    }

    fn waits(&self, tid: Tid) -> String {
        let thread = self.world.kernel.threads.get(&tid).expect("it waits");
        let process = self.world.kernel.processes.get(&thread.pid).map_or("", |process| &process.name);
        if self.gate(tid).is_some() {
            return format!("{process}/{} is never started", tid.0);
        }
        if self.spun(tid).is_some() {
            return format!("{process}/{} looks again and again, and nothing changes", tid.0);
        }
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
    fn pass_time(&mut self) -> Vec<Touch> {
        let tids = || self.world.kernel.threads.keys();
        let can_move = |tid: &Tid| self.actor(*tid, self.pending_operation(*tid).as_ref()).choices > 0;
        let operations: Vec<Operation> = tids().filter_map(|tid| self.pending_operation(*tid)).collect();
        let next = self.next_deadline(operations.iter());
        let is_ahead = next.is_some_and(|next| next > self.world.kernel.clock.now());
        let hastens = is_ahead && self.may_hasten() && tids().any(can_move);
        self.beside.hastened += u32::from(hastens);
        self.excuse();
        if let Some(next) = next {
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
            0 if self.options.checks.exit
                && self.expected(process.pid).is_some_and(|expected| !expected.allows(status >> 8)) =>
            {
                let but = match self.expected(process.pid) {
                    Some(Expected::Running) => ", but should go on running".to_owned(),
                    Some(Expected::Code(code)) => format!(" instead of {code}"),
                    _ => String::new(),
                };
                failure(FailureKind::Exit, format!("{name} ends with exit code {}{but}", status >> 8))
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

/// Where the numbers of a worker's snapshots begin: no two workers give the same.
pub(super) fn numbers() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1 << 40, Ordering::Relaxed)
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
        self.take_output();
        let fingerprint = self.fingerprint();
        self.reached(fingerprint)
    }

    fn step(&mut self, state: &Snapshot, choice: Choice) -> Option<Taken<Snapshot>> {
        let taken = self.step_unless(state, choice, &|_, _| false)?;
        Some(taken.map(|state| state.expect("nothing is known")))
    }

    fn is_news(&self, race: &Race) -> bool {
        let mut places = self.words.get(&race.object).into_iter().flatten();
        places.any(|place| !self.knowledge.is_promoted(*place))
    }

    fn step_unless(&mut self, state: &Snapshot, choice: Choice, known: &IsKnown<'_>) -> Option<Step<Snapshot>> {
        self.load(state);
        let (ended, before, gates) = (self.ended(), self.valuation(), self.gates());
        let Moved { mut touches, misuse, assertion } = self.moved(state, choice)?;
        touches.extend(self.gate_touches(Tid(choice.actor), &gates));
        // Whoever only looks does not get on.
        let progress = touches.iter().any(touch::changes);
        self.take_output();
        let after = self.valuation();
        let failed = assertion.map(|message| Failure { kind: FailureKind::Assert, message, fatal: true });
        let failure = failed.or_else(|| self.failure(&ended)).or_else(|| self.forbidden_failure(before, after));
        let failure = failure.or_else(|| self.misused(choice.actor, misuse?));
        self.failures.fetch_add(u64::from(failure.is_some()), Ordering::Relaxed);
        let fingerprint = self.fingerprint();
        let is_fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        let reached = match known(fingerprint, is_fatal) {
            true => Reached::known(fingerprint),
            false => self.reached(fingerprint).map(Some),
        };
        Some(Taken { failure, progress, visible: before != after, ..Taken::new(reached, touches) })
    }
}
