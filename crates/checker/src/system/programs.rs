//! Worlds as a system to be searched: threads are the actors, and a step is one visible operation, or the local
//! instructions up to the next one.

use crate::footprint::access;
use crate::memo::audit::{Audited, UNASKED};
use crate::narrate::listener::Listener;
use crate::narrate::narrator::Narrator;
use crate::options::{Depth, Options};
use crate::refinement::Refinement;
use crate::system::actors::{ActorTable, actor_table};
use crate::system::choice::{Alternative, TIME};
use crate::system::dependency::Dependency;
use crate::system::executor::Executor;
use crate::system::horizon::Cut;
use crate::system::overlay::{Overlay, ThreadOverlay};
use crate::system::peers::{deliveries, unknown_delivery};
use crate::system::service::Service;
use crate::system::state::{NUMBERS, Snapshot, State, first_number};
use crate::system::stepper::Stepper;
use crate::system::taking::{ChoiceResult, Wrong};
use crate::system::view::View;
use crate::system::workload::Workload;
use debuginfo::DebugInfo;
use explore::Budget;
use explore::graph::{Access, Actor, FootprintSystem, Race, Reached, Step, StepContext, Taken};
use explore::system::Failure;
use kernel::host::Host;
use kernel::kernel::Output;
use kernel::signal::Recipients;
use kernel::{Kernel, Pid, Tid};
use memory::Limit;
use peer::Trouble;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use trace::{Choice, FailureKind, Fingerprint};
use world::refusal::{Cause, Refusal};
use world::{Command, Pace, StartError, World};

/// The property that every schedule says the same to strict peers.
pub const STRICT: &str = "strict";

/// Programs whose schedules are to be searched.
///
/// **Invariant:** between two calls of the engine the state is some saved one (`loaded`) or
/// garbage; `load` restores before each step, and does nothing if the state is that one already,
/// which is the usual case in a depth-first search.
pub struct Programs {
    pub(crate) state: State,
    pub(crate) executor: Executor,
    pub(crate) workload: Workload,
    pub(crate) initial: Snapshot,
    /// The number of the snapshot that the state equals now, if it equals one.
    pub(crate) loaded: Option<u64>,
    /// The number of the newest snapshot.
    pub(crate) saved: u64,
    /// Programs are being loaded: no schedule has begun.
    pub(crate) is_starting: bool,
    /// An operation that is not modelled: no verdict can be given.
    pub refusal: Option<Refusal>,
    /// How many steps and states failed so far, known ones included.
    pub failures: Arc<AtomicU64>,
    /// What the horizon has ended.
    pub cut: Arc<Mutex<Cut>>,
    /// What the last step wrote to the standard streams.
    pub printed: Vec<Output>,
    /// Collects events while a schedule is narrated.
    pub(crate) listener: Listener,
    /// Debug information, between two narrations.
    pub(crate) info: Option<Box<DebugInfo>>,
    /// How many results were memoized or inherited, and how many of them were audited.
    pub audited: Audited,
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
        let workload = Workload::start(&mut world, all, options)?;
        let mut programs = Self::new(world, workload, Executor::default(), None);
        programs.executor.refresh_stops();
        programs.admit();
        Ok(programs)
    }

    /// Another worker for the same search: snapshots of one can be restored by the other.
    ///
    /// Workers share snapshots, hooks and the initial state; code caches and memory are their own.
    pub(crate) fn for_worker(&self) -> Self {
        let host = &self.state.world.kernel.host;
        let world = World::new(host.clone(), 1, self.state.world.memory.limit());
        let workload = self.workload.for_worker(host.clone());
        let worker = Self::new(world, workload, self.executor.for_worker(), Some(self.initial.clone()));
        Self { failures: Arc::clone(&self.failures), cut: Arc::clone(&self.cut), ..worker }
    }

    fn new(mut world: World, workload: Workload, executor: Executor, initial: Option<Snapshot>) -> Self {
        world.memory.log_accesses(true);
        world.pace = Pace::NONE;
        let mut state = State::new(world);
        Self {
            initial: initial.unwrap_or_else(|| state.save(0)),
            state,
            executor,
            workload,
            loaded: None,
            saved: first_number(),
            is_starting: false,
            refusal: None,
            failures: Arc::default(),
            cut: Arc::default(),
            printed: Vec::new(),
            listener: Listener::default(),
            info: None,
            audited: Audited::default(),
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { state: &self.state, executor: &self.executor, workload: &self.workload }
    }

    pub(crate) fn stepper(&mut self) -> Stepper<'_> {
        let Self { state, executor, workload, listener, is_starting, .. } = self;
        Stepper { state, executor, workload, listener, is_starting: *is_starting }
    }

    pub(crate) fn narrator(&mut self) -> Narrator<'_> {
        let Self { state, executor, workload, listener, .. } = self;
        Narrator { view: View { state, executor, workload }, listener }
    }

    /// The processes that were started, with their names.
    #[must_use]
    pub fn started(&self) -> &[(Pid, String)] {
        &self.workload.started
    }

    /// Words of memory by object, for reports.
    #[must_use]
    pub fn words(&self) -> &FxHashMap<u64, Vec<(memory::SpaceId, u64)>> {
        &self.executor.words
    }

    /// Creates the overlay of the first thread of each process, and the initial snapshot.
    fn admit(&mut self) {
        let tids: Vec<Tid> = self.state.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let phase = self.stepper().first_phase(tid);
            *self.state.overlay.thread_mut(tid) = ThreadOverlay { phase, ..ThreadOverlay::default() };
        }
        self.state.overlay.end_prefix();
        self.begin();
        self.workload.watch_disk(&mut self.state);
        self.state.world.kernel.output.clear();
        self.state.world.kernel.ended.clear();
        self.initial = self.save();
    }

    /// Brings every program to the beginning of its own code. Loading is no part of any schedule: it reads files and
    /// maps them, and commutes with the loading of other programs.
    ///
    /// Loading a program reads its files and maps them, in its own space: it commutes with all
    /// other loading, so one order is enough.
    fn begin(&mut self) {
        self.is_starting = true;
        let tids: Vec<Tid> = self.state.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let before = self.save();
            while self.state.starts(tid)
                && self.state.world.can_move(tid)
                && self.refusal.is_none()
                && !self.workload.options.budget.is_spent()
            {
                let refusal = self.stepper().advance(tid, Alternative::Run).err();
                refusal
                    .into_iter()
                    .filter(|refusal| refusal.cause != Cause::Spent)
                    .for_each(|refusal| self.refuse(refusal));
            }
            if !self.state.world.kernel.threads.contains_key(&tid) {
                // It ends before its own code begins: then loading is part of its schedules.
                self.loaded = None;
                self.load(&before);
                self.state.begin_early(tid);
            }
        }
        self.is_starting = false;
    }

    /// Saves the state.
    pub(crate) fn save(&mut self) -> Snapshot {
        let number = self.next_number();
        self.loaded = Some(number);
        self.state.save(number)
    }

    /// The number of a new snapshot.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.saved += 1;
        assert!(!self.saved.is_multiple_of(NUMBERS), "a worker's snapshot numbers are used up");
        self.saved
    }

    /// Restores a state, to take a step from it.
    ///
    /// # Panics If the state was changed since it was saved: then some step went around the
    /// savepoints.
    pub(crate) fn load(&mut self, snapshot: &Snapshot) {
        self.executor.catch_up();
        match self.loaded.take() == Some(snapshot.number) {
            true => {
                assert!(self.state.is_restored(snapshot), "the loaded state has changed since it was saved");
                // Savepoints are of a step: those of the steps that led here would be kept as long as the search goes on ahead.
                self.state.world.memory.forget_marks();
            }
            false => self.state.restore(snapshot),
        }
        // Also where nothing had to be restored: the step before may have created a process.
        self.executor.arm(&mut self.state);
    }

    /// Restores a state, to read it.
    pub(crate) fn become_state(&mut self, snapshot: &Snapshot) {
        self.load(snapshot);
        self.loaded = Some(snapshot.number);
    }

    /// Makes every access to the words of these races a visible operation. Whether the search has to restart, because
    /// of that or because its steps have refined the abstraction.
    ///
    /// The end of a round: everything that steps have shown, merged. If it grew, all states are
    /// void.
    pub fn promote(&mut self, races: &[Race]) -> bool {
        self.executor.refine(races)
    }

    /// Executables and libraries that programs map at their beginning, with fingerprints of their contents.
    pub fn files(&mut self) -> BTreeMap<String, String> {
        self.become_state(&self.initial.clone());
        let mut files = BTreeMap::new();
        let spaces = self.workload.started.iter().filter_map(|(pid, _)| self.state.world.kernel.processes.get(pid));
        for process in spaces.filter(|process| self.state.world.memory.space_exists(process.space)) {
            for mapping in self.state.world.memory.mappings(process.space) {
                if let (memory::Name::Path(path), memory::Backing::Object { id, .. }) =
                    (&mapping.name, &mapping.backing)
                    && mapping.protection.contains(memory::Protection::EXECUTE)
                {
                    let content = self.state.world.memory.object_content(*id);
                    files.entry(path.to_string()).or_insert(Fingerprint::new().with(&content).to_string());
                }
            }
        }
        files
    }

    /// The refinement as plain data, to be kept with a schedule: it decides where steps begin and end.
    #[must_use]
    pub fn learnt(&self) -> trace::KnowledgeRef {
        self.executor.refinement.exported()
    }

    /// Takes over the refinement of another search, so that steps begin and end where they did there.
    pub fn know(&mut self, known: &trace::KnowledgeRef) {
        self.executor.set_refinement(Refinement::imported(known));
        self.loaded = None;
    }

    /// Whether functions of the C library are summarised, where they are recognised.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.workload.options.depth
    }

    /// How many words have watchpoints, because threads race there.
    #[must_use]
    pub fn promoted(&self) -> usize {
        self.executor.refinement.promoted.len()
    }

    /// What the search may use.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.workload.options.budget
    }

    /// Sets what the search may use from now on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.workload.options.budget = budget;
        // Debug information was read within the old budget.
        self.info = None;
    }

    /// Whether the budget is spent: no more steps are taken.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.workload.options.budget.is_spent()
    }

    /// A flag that is set once the abstraction was refined: the present round is void.
    pub(crate) fn staleness(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.executor.refinement.has_grown)
    }

    /// Fingerprint of the state, or of the variables that users match states by.
    ///
    /// 128 bits of a sum over memory, threads and kernel, or of the variables that the user named
    /// (`--match`), which is an abstraction that may merge states and is reported as such.
    pub(crate) fn fingerprint(&mut self) -> u128 {
        let whole = self.state.fingerprint();
        self.workload.abstraction(&self.state).unwrap_or(whole)
    }

    /// The state as it is now, saved. Actors in `untouched` (number and choices) keep their records of the state
    /// before.
    pub(crate) fn reached(
        &mut self,
        fingerprint: u128,
        (before, untouched): (&Snapshot, &[(u32, u32)]),
    ) -> Reached<Snapshot> {
        let ActorTable { actors, is_timed, .. } = self.actors(before.is_timed, untouched);
        let can_move = |actor: &Actor| actor.choices > 0 && !actor.is_fault;
        let stuck = if actors.iter().any(can_move) { None } else { self.stuck() };
        let valuation = if self.workload.formulas.is_empty() { 0 } else { self.workload.valuation(&self.state) };
        let state = Snapshot { is_timed, valuation, ..self.save() };
        Reached { state, fingerprint, actors, stuck, valuation }
    }

    /// The failure of a state in which no actor is enabled.
    pub(crate) fn stuck_in(&mut self, state: &Snapshot) -> Option<Failure> {
        self.become_state(state);
        self.stuck()
    }

    /// Keeps the first refusal, with its call stack.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        if self.refusal.is_none() {
            self.refusal = Some(debuginfo::stack::with_frames(refusal, &self.state.world));
        }
    }
}

/// A step without context: no state is known, no actor is untouched.
pub(crate) struct NoContext;

impl StepContext for NoContext {
    fn is_known(&self, _: u128, _: bool) -> bool {
        false
    }
}

impl FootprintSystem for Programs {
    type State = Snapshot;

    fn is_audited(&mut self) -> bool {
        // Without that option tests compare whole searches instead.
        self.workload.options.audit.is_some() && self.is_due()
    }

    fn covers(&self, inherited: &[Access], own: &[Access]) -> bool {
        // Closing one of many descriptors is a read of their count, closing one of the last two is a write.
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
        self.executor.needs_refinement(race)
    }

    fn step_with(&mut self, state: &Snapshot, choice: Choice, around: &mut dyn StepContext) -> Option<Step<Snapshot>> {
        if self.workload.options.budget.is_spent() {
            return None;
        }
        self.executor.catch_up();
        if let Some(step) = self.prefix_step(state, choice, around) {
            return Some(step);
        }
        let begun = self.executor.instructions;
        let step = self.execute(state, choice, around, false)?.step;
        self.keep_prefix_step((state, choice), &step, self.executor.instructions - begun);
        Some(step)
    }
}

/// An executed step, and what it read of other threads if that was recorded.
pub(crate) struct Executed {
    pub step: Step<Snapshot>,
    pub reads: Vec<Dependency>,
}

impl Programs {
    /// Executes a step. Records its read set on demand: words of memory in the memory itself, other threads in the
    /// result.
    ///
    /// What is compared before and behind a step (gates, timing, recipients of signals,
    /// propositions) are the facts that depend on several actors at once: a change of one of them
    /// is an access of this step, though it made none.
    pub(crate) fn execute(
        &mut self,
        state: &Snapshot,
        choice: Choice,
        around: &mut dyn StepContext,
        notes_reads: bool,
    ) -> Option<Executed> {
        let tid = Tid(choice.actor);
        self.load(state);
        // What propositions read decides nothing about a step that does not change it.
        let (before, support) = (self.valuation(), self.workload.support(&self.state));
        if notes_reads {
            self.state.begin_notes(tid);
        }
        let gates = self.view().gates();
        let timing = self.view().timing(tid);
        let recipients = Recipients::of(&self.state.world.kernel);
        let result = self.take_choice(state, choice);
        let timing_behind = self.view().timing(tid);
        let reads = self.state.end_notes();
        let ChoiceResult { mut accesses, wrong } = result?;
        accesses.extend(self.stepper().gate_accesses(tid, &gates));
        if timing != timing_behind {
            accesses.push(Access { object: access::deadlines(), write: true, plain: false });
        }
        // The masks of other threads decide which thread handles a signal: a step that changes the recipient conflicts
        // with all.
        if recipients.differ(&Recipients::of(&self.state.world.kernel)) {
            accesses.extend(access::everything());
        }
        // A step that only reads is no progress.
        let progress = accesses.iter().any(access::changes);
        self.take_output();
        let after = self.valuation();
        if self.workload.faults.are_deferred(&self.state.history) && self.workload.faults.may_begin(after) {
            self.state.history.may_fault = true;
            accesses.extend(access::everything());
        }
        let has_changed = self.workload.support(&self.state) != support;
        let visible = self.workload.is_observed(&accesses, has_changed);
        if visible {
            accesses.push(Access { object: access::observed(), write: true, plain: false });
        }
        let failure = self.failed(choice.actor, wrong, (before, after));
        let fingerprint = self.fingerprint();
        let is_fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        let reached = match around.is_known(fingerprint, is_fatal) {
            true => Reached::known(fingerprint),
            false => self.reached(fingerprint, (state, &around.untouched(&accesses))).map(Some),
        };
        let step = Taken { failure, progress, visible, ..Taken::new(reached, accesses) };
        Some(Executed { step, reads })
    }

    /// Which propositions hold. None does while it is not known what they read on a disk.
    fn valuation(&mut self) -> u64 {
        if self.view().is_unsettled() { 0 } else { self.workload.valuation(&self.state) }
    }

    /// The failure of the executed step. One is told of each step; propositions that became true besides are noted.
    fn failed(
        &mut self,
        actor: u32,
        Wrong { misuse, assertion, contradiction }: Wrong,
        (before, after): (u64, u64),
    ) -> Option<Failure> {
        let ended = self.state.take_ended();
        let asserted =
            assertion.map(|message| Failure { kind: FailureKind::Assert, message, fatal: true, property: None });
        let is_strict =
            |message| Failure { kind: FailureKind::Never, message, fatal: true, property: Some(STRICT.to_owned()) };
        let failure = asserted
            .or_else(|| contradiction.map(is_strict))
            .or_else(|| self.workload.failure(&ended, &self.state.history))
            .or_else(|| self.workload.misused(actor, misuse?));
        let new = self.workload.forbidden.newly_true(before, after);
        self.workload.forbidden.mask(if failure.is_some() { new } else { new & new.wrapping_sub(1) });
        let failure = failure.or_else(|| self.workload.forbidden_failure(new));
        self.failures.fetch_add(u64::from(failure.is_some()), Ordering::Relaxed);
        failure
    }
}

impl Programs {
    /// Whether a memoized or inherited result is to be audited.
    pub(crate) fn is_due(&mut self) -> bool {
        let one_in = self.workload.options.audit.or(cfg!(debug_assertions).then_some(UNASKED));
        one_in.is_some_and(|one_in| self.audited.is_due(one_in))
    }

    /// A memoized or inherited result differs from the computed one: no verdict of this search can be trusted.
    ///
    /// In tests a panic, so that the failing program is at hand; with `--audit` a refusal, so that
    /// the user gets no verdict.
    pub(crate) fn note_difference(&mut self, tid: Tid, what: &str) {
        // Results from before a refinement may differ, and the search restarts anyway.
        if self.executor.refinement.has_grown.load(Ordering::Relaxed) {
            return;
        }
        assert!(self.workload.options.audit.is_some(), "{tid:?}: {what}");
        let refusal = Refusal { cause: Cause::Differs, ..Refusal::new(&self.state.world, tid, what.to_owned()) };
        self.refuse(refusal);
    }
}

impl Programs {
    /// All actors of the state as it is now.
    pub(crate) fn actors(&mut self, was_timed: bool, untouched: &[(u32, u32)]) -> ActorTable {
        let due = self.due(untouched);
        let environment = self.environment_in(&self.state.world.kernel.clone(), &self.state.overlay.clone());
        let passing = self.view().passing();
        let mut actor_table = actor_table(
            &self.state.world.kernel,
            (was_timed, untouched),
            (passing, environment),
            (&due, &mut |tid| self.view().actor_record(tid)),
        );
        actor_table.actors.extend(self.view().fault_actors());
        self.note_changed(actor_table.differs);
        actor_table
    }

    /// Actors of a state that move before time does, and are no threads: they deliver what peers say, and take stores to memory.
    pub(crate) fn environment_in(&mut self, kernel: &Kernel, overlay: &Overlay) -> Vec<Actor> {
        let mut actors = self.deliveries_in(kernel);
        actors.extend(self.executor.drain_actors(overlay));
        actors.iter_mut().for_each(|actor| actor.is_environment = true);
        actors
    }

    /// Delivery actors of a state. A peer that cannot be asked is a refusal.
    fn deliveries_in(&mut self, kernel: &Kernel) -> Vec<Actor> {
        if kernel.net.far.is_unused() {
            return Vec::new();
        }
        deliveries(kernel, &self.workload.peers).unwrap_or_else(|trouble| {
            if trouble != Trouble::Stopped {
                let tid = kernel.threads.keys().next().copied().unwrap_or(Tid(TIME));
                let cause = if matches!(trouble, Trouble::Fails(_)) { Cause::Unmodelled } else { Cause::Peer };
                self.refuse(Refusal { cause, ..Refusal::new(&self.state.world, tid, trouble.to_string()) });
            }
            // A state whose deliveries are not known is not a deadlock: an actor without alternatives stands for them.
            vec![unknown_delivery()]
        })
    }

    /// Untouched actors that are computed all the same, for the audit.
    pub(crate) fn due(&mut self, untouched: &[(u32, u32)]) -> Vec<u32> {
        untouched.iter().filter(|_| self.is_due()).map(|(number, _)| *number).collect()
    }

    pub(crate) fn note_changed(&mut self, differs: Option<Tid>) {
        if let Some(tid) = differs {
            self.note_difference(tid, "a step has changed a thread that it does not conflict with");
        }
    }
}
