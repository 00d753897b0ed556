//! Worlds as something to be searched: threads are the actors, and a step is one operation that others can see, or the
//! instructions up to the next one.

use super::step;
use crate::footprint::access;
use crate::libc::{Flavour, Hooks, Library, Member, Seen};
use crate::memo::audit::Audited;
use crate::memo::step_memo::{MemoKey, Remembered, StepRecord};
use crate::narrate::Listener;
use crate::options::{Depth, Options};
use crate::refinement::Refinement;
use crate::system::actors::Everybody;
use crate::system::never::{Beside, Forbidden};
use crate::system::points::Points;
use crate::system::service::{Service, Started};
use debuginfo::DebugInfo;
use explore::Budget;
use explore::graph::{Access, FootprintSystem, Race, Reached, Step, StepContext, Taken};
use explore::system::Failure;
use kernel::call::Deviation;
use kernel::host::Host;
use kernel::kernel::Output;
use kernel::map::{Map, Wide};
use kernel::shared::Shared;
use kernel::{Kernel, Pid, Tid, signal};
use memory::Limit;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trace::{Choice, FailureKind, Fingerprint};
use world::fingerprint::FACTORS;
use world::refusal::{Cause, Refusal};
use world::{Command, Pace, StartError, World};
use x86::{Code, Cpu, Stops};

/// The actor that lets time pass when nobody else can move.
pub const TIME: u32 = 0;

/// A world put aside.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) kernel: Shared<Kernel>,
    pub(crate) memory: memory::Snapshot,
    pub(crate) cpus: Map<Tid, Cpu>,
    pub(crate) library: Library,
    pub(crate) beside: Beside,
    /// What stands for what the library knows beside threads, and for what else belongs to the state.
    pub(crate) aside: u128,
    /// What stands for all of it.
    pub(crate) fingerprint: u128,
    /// Somebody may be in a function that gives up at a certain time.
    pub(crate) is_timed: bool,
    /// Tells snapshots apart.
    pub(crate) number: u64,
}

impl Snapshot {
    /// What stands for each of its parts, for comparison.
    pub(crate) fn parts(&self) -> [u128; 6] {
        let memory = [self.memory.fingerprint(), self.memory.layout_fingerprint()];
        [self.kernel.identity(), memory[0], memory[1], self.cpus.sum(), self.library.sum(), self.aside]
    }
}

/// What came of somebody's move.
#[derive(Default)]
struct Moved {
    accesses: Vec<Access>,
    misuse: Option<&'static str>,
    assertion: Option<String>,
}

/// Programs whose schedules are to be searched.
pub struct Programs {
    pub(crate) world: World,
    /// What the C library knows, as part of the state.
    pub(crate) library: Library,
    /// What else belongs to the state.
    pub(crate) beside: Beside,
    /// What must never be true.
    pub(crate) forbidden: Forbidden,
    /// Where its functions are.
    pub(crate) hooks: Hooks,
    /// Code that stops before whatever others can see.
    pub(crate) code: Code,
    /// Code inside functions that are carried out as a whole.
    pub(crate) quiet: Code,
    /// Code that stops before whatever others can see, but not at functions.
    pub(crate) unhooked: Code,
    /// The processes that were started, with their names.
    pub started: Vec<(Pid, String)>,
    /// What they wait for, and how they are expected to end.
    pub(crate) services: Vec<Started>,
    pub(crate) initial: Snapshot,
    /// The snapshot that the world is as of now, if it is.
    pub(crate) loaded: Option<u64>,
    /// How many snapshots were made.
    pub(crate) saved: u64,
    /// Programs are still brought to their beginning.
    pub(crate) is_starting: bool,
    /// Words of memory by object, for reports.
    pub words: FxHashMap<u64, Vec<(memory::SpaceId, u64)>>,
    /// Something that is not modelled was met: no verdict can be given.
    pub refusal: Option<Refusal>,
    /// How many steps and states failed so far, whether or not they were met before.
    pub failures: Arc<AtomicU64>,
    /// What the last step wrote to the standard streams.
    pub printed: Vec<Output>,
    /// What users want to be looked at besides.
    pub(crate) points: Points,
    /// Hears what happens while a story is told.
    pub(crate) listener: Listener,
    /// What binaries say about themselves, between two stories.
    pub(crate) info: Option<Box<DebugInfo>>,
    /// Accesses to memory, on their way to be noted.
    pub(crate) log: Vec<memory::Logged>,
    /// What earlier steps have shown.
    pub(crate) refinement: Refinement,
    /// Steps that were taken before.
    pub(crate) remembered: Remembered,
    /// How many results were memoized or inherited, and how many of them were audited.
    pub audited: Audited,
    pub(crate) options: Options,
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
            info: None,
            log: Vec::new(),
            refinement: Refinement::default(),
            remembered: Remembered::default(),
            audited: Audited::default(),
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
        self.world.kernel.ended.clear();
        self.initial = self.save();
    }

    /// Brings every program to the beginning of its own code. What the loader does before is no part of any schedule: it
    /// reads files and maps them, and in which order programs are started changes nothing.
    fn begin(&mut self) {
        self.is_starting = true;
        let tids: Vec<Tid> = self.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let before = self.save();
            while self.starts(tid)
                && self.world.can_move(tid)
                && self.refusal.is_none()
                && !self.options.budget.is_spent()
            {
                let refusal = self.advance(tid, 0, Deviation::default()).err();
                refusal
                    .into_iter()
                    .filter(|refusal| refusal.cause != Cause::Spent)
                    .for_each(|refusal| self.refuse(refusal));
            }
            if !self.world.kernel.threads.contains_key(&tid) {
                // It fails before that: then all of it is looked at.
                self.loaded = None;
                self.load(&before);
                self.begin_early(tid);
            }
        }
        self.is_starting = false;
    }

    /// Puts the world aside.
    pub(crate) fn save(&mut self) -> Snapshot {
        self.saved += 1;
        self.loaded = Some(self.saved);
        save(&mut self.world, (&self.library, &self.beside), self.saved)
    }

    /// Makes threads stop where they have to.
    pub(crate) fn refresh_stops(&mut self) {
        self.remembered.clear();
        let addresses = self.hooks.addresses().clone();
        self.code.stop_before(Stops { synchronising: true, addresses: addresses.clone() });
        self.quiet.stop_before(Stops { synchronising: false, addresses });
        self.unhooked.stop_before(Stops { synchronising: true, addresses: BTreeSet::new() });
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        let World { kernel, memory, cpus, .. } = &self.world;
        Seen { kernel, memory, cpus, library: &self.library }
    }

    /// Takes over what others have found of where functions are.
    fn catch_up(&mut self) {
        if self.hooks.catch_up() {
            self.refresh_stops();
        }
    }

    pub(crate) fn load(&mut self, snapshot: &Snapshot) {
        self.catch_up();
        if self.loaded.take() != Some(snapshot.number) {
            self.restore(snapshot);
        }
        // Also where nothing had to be restored: the step before may have made a new process.
        for (space, address) in &self.refinement.promoted {
            if self.world.memory.space_exists(*space) {
                self.world.memory.arm(*space, *address..*address + 4);
            }
        }
        for (space, range) in self.refinement.discarded() {
            if self.world.memory.space_exists(*space) {
                self.world.memory.arm(*space, range.clone());
            }
        }
    }

    /// Makes the world a state to be looked at.
    pub(crate) fn become_state(&mut self, snapshot: &Snapshot) {
        self.load(snapshot);
        self.loaded = Some(snapshot.number);
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
        self.refinement.promote(words.flatten().copied());
        let has_grown = self.refinement.has_grown.swap(false, Ordering::Relaxed);
        if has_grown {
            self.refinement.begin_round();
            self.remembered.clear();
        }
        has_grown
    }

    /// Executables and libraries that programs map at their beginning, with fingerprints of their contents.
    pub fn files(&mut self) -> BTreeMap<String, String> {
        self.become_state(&self.initial.clone());
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
        self.refinement.exported()
    }

    /// Makes steps begin and end where another search had them.
    pub fn know(&mut self, known: &trace::KnowledgeRef) {
        self.refinement = Refinement::imported(known);
        self.remembered.clear();
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
        self.refinement.promoted.len()
    }

    /// The C libraries whose functions were recognised, by name; none where their instructions were executed as they stand.
    #[must_use]
    pub fn libraries(&self) -> Vec<&'static str> {
        self.hooks.flavours().into_iter().map(Flavour::name).collect()
    }

    /// What may be used.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.options.budget
    }

    /// What may be used from now on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.options.budget = budget;
        // What it has read before was read within the old one.
        self.info = None;
    }

    /// Whether nothing is left of what may be used: no step is taken any more.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.options.budget.is_spent()
    }

    /// Tells whether something was learnt that makes the present search useless.
    pub(crate) fn staleness(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.refinement.has_grown)
    }

    /// What stands for the state that the world is in.
    pub(crate) fn fingerprint(&mut self) -> u128 {
        let whole = whole(&mut self.world, &self.library, aside(&self.library, &self.beside));
        self.abstraction().unwrap_or(whole)
    }

    /// The world as a state, in which those are as they were before who are named with how many choices they have.
    pub(crate) fn reached(
        &mut self,
        fingerprint: u128,
        (before, untouched): (&Snapshot, &[(u32, u32)]),
    ) -> Reached<Snapshot> {
        let Everybody { actors, is_timed, .. } = self.actors(before.is_timed, untouched);
        let stuck = if actors.iter().any(|actor| actor.choices > 0) { None } else { self.stuck() };
        self.failures.fetch_add(u64::from(stuck.is_some()), Ordering::Relaxed);
        Reached { state: Snapshot { is_timed, ..self.save() }, fingerprint, actors, stuck }
    }

    /// Lets somebody move in the world that is loaded; nothing if it cannot.
    fn moved(&mut self, state: &Snapshot, choice: Choice) -> Option<Moved> {
        if choice.actor == TIME {
            return Some(Moved { accesses: self.pass_time(), ..Moved::default() });
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
                Some(Moved { accesses: step.accesses, misuse: step.misuse, assertion: step.assertion })
            }
            // Half a step is none: nothing that it has done is believed.
            Err(refusal) if refusal.cause == Cause::Spent => None,
            Err(refusal) => {
                self.refuse(refusal);
                Some(Moved { accesses: access::everything(), ..Moved::default() })
            }
        }
    }

    /// Keeps the first refusal, with the call stack of where it was met.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        if self.refusal.is_none() {
            self.refusal = Some(debuginfo::stack::with_frames(refusal, &self.world));
        }
    }

    /// Takes a step of a thread; any choice but the first makes a read return less than there is.
    fn advance_shortly(&mut self, tid: Tid, index: u32) -> Result<step::Step, Refusal> {
        let most = index.checked_sub(1).and_then(|index| self.short_reads(tid).get(index as usize).copied());
        self.advance(tid, index, Deviation { most })
    }
}

/// Where the numbers of a worker's snapshots begin: no two workers give the same.
pub(crate) fn numbers() -> u64 {
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

/// What stands for what the library knows beside threads, and for what else belongs to a state.
fn aside(library: &Library, beside: &Beside) -> u128 {
    Wide::hash_of((library.aside(), beside))
}

/// What stands for a whole state.
fn whole(world: &mut World, library: &Library, aside: u128) -> u128 {
    let (aside, members) = (aside.wrapping_mul(FACTORS[3]), library.sum().wrapping_mul(FACTORS[2]));
    world.fingerprint().wrapping_add(members).wrapping_add(aside)
}

fn save(world: &mut World, (library, beside): (&Library, &Beside), number: u64) -> Snapshot {
    let aside = aside(library, beside);
    Snapshot {
        fingerprint: whole(world, library, aside),
        is_timed: true,
        aside,
        kernel: world.kernel.clone(),
        memory: world.memory.snapshot(),
        cpus: world.cpus.clone(),
        library: library.clone(),
        beside: beside.clone(),
        number,
    }
}

/// Nothing is known around a step.
pub(crate) struct NoContext;

impl StepContext for NoContext {
    fn is_known(&self, _: u128, _: bool) -> bool {
        false
    }
}

impl FootprintSystem for Programs {
    type State = Snapshot;

    fn is_audited(&mut self) -> bool {
        // Where nobody has asked, what comes of the search is compared by tests.
        self.options.audit.is_some() && self.is_due()
    }

    fn covers(&self, inherited: &[Access], own: &[Access]) -> bool {
        // Who closes one of many descriptors only counts them, as long as there are many; that counts as reading.
        let counts = |access: &Access| access::kind(access.object) == access::Kind::File;
        let is_covered = |own: &Access| {
            let found = inherited.binary_search_by_key(&own.object, |access| access.object);
            found.is_ok_and(|at| {
                let inherited = &inherited[at];
                inherited.plain == own.plain && (inherited.write || !own.write || counts(own))
            })
        };
        own.iter().all(is_covered)
    }

    fn differs(&mut self, actor: u32, what: &str) {
        self.note_difference(Tid(actor), what);
    }

    fn initial(&mut self) -> Reached<Snapshot> {
        let initial = self.initial.clone();
        self.load(&initial);
        self.take_output();
        let fingerprint = self.fingerprint();
        self.reached(fingerprint, (&initial, &[]))
    }

    fn step(&mut self, state: &Snapshot, choice: Choice) -> Option<Taken<Snapshot>> {
        let taken = self.step_with(state, choice, &mut NoContext)?;
        Some(taken.map(|state| state.expect("nothing is known")))
    }

    fn needs_refinement(&self, race: &Race) -> bool {
        let mut places = self.words.get(&race.object).into_iter().flatten();
        places.any(|place| !self.refinement.is_promoted(*place))
    }

    fn step_with(&mut self, state: &Snapshot, choice: Choice, around: &mut dyn StepContext) -> Option<Step<Snapshot>> {
        if self.options.budget.is_spent() {
            return None;
        }
        self.catch_up();
        let known = self.recall(state, choice, around.is_trial());
        if let Ok(known) = &known
            && !self.is_due()
        {
            return Some(self.redo(state, known, around));
        }
        let place = known.as_ref().err().copied().flatten().filter(|place| self.is_worth(*place));
        let taken = self.execute(state, choice, around, place)?;
        let Ok(known) = known else { return Some(taken) };
        if let Some(what) = self.redone_differs(state, &known, &taken) {
            self.note_difference(Tid(choice.actor), what);
        }
        // As without the comparison.
        let reached = if around.is_trial() { Reached::known(taken.reached.fingerprint) } else { taken.reached };
        Some(Taken { reached, ..taken })
    }
}

impl Programs {
    /// Executes a step, and remembers it if its place is given.
    fn execute(
        &mut self,
        state: &Snapshot,
        choice: Choice,
        around: &mut dyn StepContext,
        place: Option<MemoKey>,
    ) -> Option<Step<Snapshot>> {
        self.load(state);
        if place.is_some() {
            self.begin_notes(Tid(choice.actor));
        }
        let (before, gates) = (self.valuation(), self.gates());
        let timing = self.timing(Tid(choice.actor));
        let several = signal::shared(&self.world.kernel);
        let recipients = signal::recipients(&self.world.kernel, &several);
        let moved = self.moved(state, choice);
        let asked = self.end_notes();
        let Moved { mut accesses, misuse, assertion } = moved?;
        accesses.extend(self.gate_accesses(Tid(choice.actor), &gates));
        if timing != self.timing(Tid(choice.actor)) {
            accesses.push(Access { object: access::deadlines(), write: true, plain: false });
        }
        // Another's mask decides who handles a signal: whoever handles one, or could, looks at everything.
        if recipients != signal::recipients(&self.world.kernel, &several) {
            accesses.extend(access::everything());
        }
        // Whoever only looks does not get on.
        let progress = accesses.iter().any(access::changes);
        self.take_output();
        let ended = self.take_ended();
        let after = self.valuation();
        let failed = assertion.map(|message| Failure { kind: FailureKind::Assert, message, fatal: true });
        let failure = failed.or_else(|| self.failure(&ended)).or_else(|| self.forbidden_failure(before, after));
        let failure = failure.or_else(|| self.misused(choice.actor, misuse?));
        self.failures.fetch_add(u64::from(failure.is_some()), Ordering::Relaxed);
        let fingerprint = self.fingerprint();
        let is_fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        let reached = match around.is_known(fingerprint, is_fatal) {
            true => Reached::known(fingerprint),
            false => self.reached(fingerprint, (state, &around.untouched(&accesses))).map(Some),
        };
        if let Some(place) = place.filter(|_| failure.is_none() && self.refusal.is_none()) {
            let after = reached.state.clone().unwrap_or_else(|| self.save());
            let deed = StepRecord { asked, accesses: &accesses, progress, fingerprint };
            self.remember(place, (Tid(choice.actor), state), &after, &deed);
        }
        Some(Taken { failure, progress, visible: before != after, ..Taken::new(reached, accesses) })
    }
}
