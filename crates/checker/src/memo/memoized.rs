//! Programs whose steps are memoized: a wrapper that executes a step only if no entry has its read set.
//!
//! Where an audit is due, a memoized step is executed all the same and compared.
//!
//! **Invariant:** the search cannot tell a memoized step from an executed one: same fingerprint, accesses, output, actors. So the memo
//! may be emptied, switched off or full at any time, and each worker has its own.
//! **Invariant:** an entry is valid for one version of the executor: a new hook or watchpoint moves the ends of steps, and a grown
//! refinement their footprints. Then all entries go.
//! **Invariant:** only steps without failure and refusal are memoized; the others are executed, for what they say is needed once.
//!
//! Example, two of eight philosophers: the step "lock fork 3" of philosopher 3 reads its registers,
//! the words of the mutex and who holds it. In all states where these are the same, thousands of
//! them, it is executed once; afterwards it is a lookup and an addition to the fingerprint.
//! Decision 13 has the measurements, decision 12 what did not work (pages instead of words).

use super::actor_memo::ActorMemo;
use super::key::{Keys, MemoKey};
use super::step_memo::{MemoEntry, StepMemo};
use crate::system::actors::{ActorRecord, ActorTable, Passing, actor_table};
use crate::system::choice::TIME;
use crate::system::programs::{Executed, NoContext, Programs};
use crate::system::state::Snapshot;
use explore::graph::{Access, Actor, FootprintSystem, Race, Reached, Step, StepContext, Taken};
use kernel::Tid;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trace::Choice;

/// Programs with memoized steps and actors. It lives for one round of a search: entries are valid for one refinement.
pub struct Memoized<'a> {
    programs: &'a mut Programs,
    memo: Memo,
}

#[derive(Default)]
struct Memo {
    keys: Keys,
    steps: StepMemo,
    actors: ActorMemo,
    /// The version of the executor that entries were made with.
    version: u64,
    /// Steps that were applied and not executed.
    hits: u64,
}

impl<'a> Memoized<'a> {
    /// Programs whose steps are memoized from now on.
    pub fn new(programs: &'a mut Programs) -> Self {
        Self { programs, memo: Memo::default() }
    }

    /// How many steps were applied instead of being executed since the memo was last emptied.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.memo.hits
    }

    /// Whether a step may be memoized: its entry would keep all that it does.
    ///
    /// What an entry could not keep: time, choices that depend on named variables, code that was patched, what is not durable, and
    /// whether time may pass early as a fault.
    fn is_memoizable(&self, choice: Choice) -> bool {
        let Programs { workload, refusal, state, .. } = &*self.programs;
        choice.actor != TIME
            && !workload.faults.may_hasten()
            && workload.points.matched.is_empty()
            && workload.faults.disk().is_none()
            && refusal.is_none()
            && !state.world.memory.is_patched()
    }

    /// An entry that fits, or the key to add one under.
    ///
    /// A lookup that misses costs about as much as a short step, hence `pays`.
    fn look_up(&mut self, state: &Snapshot, choice: Choice, is_trial: bool) -> Result<Arc<MemoEntry>, Option<MemoKey>> {
        let executor = &self.programs.executor;
        let has_grown = executor.refinement.has_grown.load(Ordering::Relaxed);
        if has_grown || self.memo.version != executor.version {
            // Steps may begin or end elsewhere now: all entries are void.
            self.memo = Memo { version: executor.version, ..Memo::default() };
        }
        if has_grown {
            return Err(None);
        }
        let at = (state.number, choice.actor, choice.index);
        if let Some(entry) = self.memo.steps.take_tried(at) {
            return Ok(entry);
        }
        let may_look = self.is_memoizable(choice) && self.memo.steps.pays();
        let key = may_look.then(|| self.memo.keys.of(state, choice)).flatten().ok_or(None)?;
        let entry = self.memo.steps.find(key, state, self.programs.workload.options.holes).ok_or(Some(key))?;
        if is_trial {
            self.memo.steps.keep_tried(at, &entry);
        }
        Ok(entry)
    }

    /// Executes a step, and memoizes it under a key.
    fn execute_as(
        &mut self,
        key: Option<MemoKey>,
        state: &Snapshot,
        choice: Choice,
        around: &mut dyn StepContext,
    ) -> Option<Step<Snapshot>> {
        let key = key.filter(|key| self.memo.steps.is_wanted(*key));
        let begun = self.programs.executor.instructions;
        let executed = self.programs.execute(state, choice, around, key.is_some())?;
        let instructions = self.programs.executor.instructions - begun;
        self.programs.keep_prefix_step((state, choice), &executed.step, instructions);
        // A step that changes nothing that propositions depend on does so wherever its entry fits.
        let is_clean = executed.step.failure.is_none() && !executed.step.visible && self.programs.refusal.is_none();
        if let Some(key) = key.filter(|_| is_clean) {
            self.memoize(key, Tid(choice.actor), state, &executed);
        }
        Some(executed.step)
    }

    fn memoize(&mut self, key: MemoKey, tid: Tid, state: &Snapshot, executed: &Executed) {
        let after = executed.step.reached.state.clone().unwrap_or_else(|| self.programs.save());
        if let Some(entry) = MemoEntry::new(self.programs, tid, (state, &after), executed) {
            self.memo.steps.add(key, entry);
        }
    }

    /// Takes a memoized step.
    ///
    /// A trial or a known successor needs no state at all: the fingerprint is a sum, and the step's
    /// part of it is in the entry.
    fn apply(&mut self, state: &Snapshot, entry: &MemoEntry, around: &mut dyn StepContext) -> Step<Snapshot> {
        self.memo.hits += 1;
        let fingerprint = entry.fingerprint_after(state);
        let reached = match around.is_trial() || around.is_known(fingerprint, false) {
            true => Reached::known(fingerprint),
            false => self.reached(state, entry, &around.untouched(&entry.accesses)).map(Some),
        };
        self.programs.printed.clone_from(&entry.printed);
        Taken { progress: entry.progress, ..Taken::new(reached, entry.accesses.clone()) }
    }

    /// The state that a memoized step leads to. Untouched actors keep their records. The state is restored only if
    /// something that is not memoized is to be computed of it.
    fn reached(&mut self, state: &Snapshot, entry: &MemoEntry, untouched: &[(u32, u32)]) -> Reached<Snapshot> {
        let after = entry.apply(self.programs, state);
        let fingerprint = after.fingerprint;
        if after.memory.is_delta_large() {
            self.programs.load(&after);
            return self.programs.reached(fingerprint, (state, untouched));
        }
        let passing = (
            Passing::of(&after.kernel, &after.overlay, &after.history, &self.programs.workload),
            self.programs.environment_in(&after.kernel, &after.overlay),
        );
        let due = self.programs.due(untouched);
        let before = (state.is_timed, untouched);
        let ActorTable { mut actors, is_timed, differs } =
            actor_table(&after.kernel, before, passing, (&due, &mut |tid| self.actor(&after, tid)));
        self.programs.note_changed(differs);
        actors.extend(self.programs.workload.fault_actors(&after.kernel, &after.history));
        let is_stuck = actors.iter().all(|actor| actor.choices == 0 || actor.is_fault);
        let stuck = if is_stuck { self.programs.stuck_in(&after) } else { None };
        let valuation = after.valuation;
        Reached { state: Snapshot { is_timed, ..after }, fingerprint, actors, stuck, valuation }
    }

    /// The record of an actor. The state is restored only if the record is not memoized.
    fn actor(&mut self, state: &Snapshot, tid: Tid) -> ActorRecord {
        let key = self.memo.keys.of(state, Choice { actor: tid.0, index: 0 });
        let known = key.and_then(|key| self.memo.actors.find(key, state));
        if let Some(known) = known.as_ref()
            && !self.programs.is_due()
        {
            return known.clone();
        }
        self.programs.become_state(state);
        self.programs.state.begin_notes(tid);
        let record = self.programs.view().actor_record(tid);
        let reads = self.programs.state.end_notes();
        match (known, key) {
            (Some(known), _) if known != record => {
                self.programs.note_difference(tid, "a thread is not who it was in the same place");
            }
            (None, Some(key)) => {
                self.memo.actors.add(key, self.programs, (tid, state), (&record, reads));
            }
            _ => {}
        }
        record
    }

    /// How a memoized step differs from the executed one.
    ///
    /// Its footprint may be larger: a block that is freed counts as accessed in words and in bytes until it is known in which
    /// (`note_loss`).
    ///
    /// Everything that a search can see of a step is compared; a difference is a bug of the checker
    /// and never a verdict about the program.
    fn difference(&mut self, state: &Snapshot, entry: &MemoEntry, taken: &Step<Snapshot>) -> Option<&'static str> {
        let (loaded, printed) = (self.programs.loaded, self.programs.printed.clone());
        let after = self.programs.save();
        let applied = self.apply(state, entry, &mut NoContext);
        let prints_same = self.programs.printed == printed;
        self.programs.load(&after);
        (self.programs.loaded, self.programs.printed) = (loaded, printed);
        // Of unchanged actors only the numbers are set.
        let actors =
            taken.reached.state.is_some() && taken.reached.actors.iter().all(|actor| !actor.unchanged || actor.audited);
        let unmarked =
            |reached: &Reached<Option<Snapshot>>| -> Vec<Actor> { reached.actors.iter().map(unmarked).collect() };
        let differences = [
            (taken.failure.is_some(), "a memoized step fails"),
            (applied.reached.fingerprint != taken.reached.fingerprint, "a memoized step leads elsewhere"),
            (!contains(&applied.accesses, &taken.accesses), "a memoized step has another footprint"),
            (taken.visible, "a memoized step changes what propositions depend on"),
            (applied.progress != taken.progress, "a memoized step is progress, or is none"),
            (!prints_same, "a memoized step prints something else"),
            (applied.reached.new_state().parts() != after.parts(), "a memoized step leads to another state"),
            (actors && unmarked(&taken.reached) != unmarked(&applied.reached), "others differ after a memoized step"),
            (actors && taken.reached.stuck != applied.reached.stuck, "a memoized step leads to the end, or does not"),
        ];
        differences.into_iter().find(|(is_different, _)| *is_different).map(|(_, what)| what)
    }
}

/// An actor without the marks of how it was computed.
fn unmarked(actor: &Actor) -> Actor {
    Actor { unchanged: false, audited: false, ..actor.clone() }
}

impl FootprintSystem for Memoized<'_> {
    type State = Snapshot;

    fn initial(&mut self) -> Reached<Snapshot> {
        self.programs.initial()
    }

    fn step(&mut self, state: &Snapshot, choice: Choice) -> Option<Taken<Snapshot>> {
        let taken = self.step_with(state, choice, &mut NoContext)?;
        Some(taken.map(|state| state.expect("nothing is known")))
    }

    fn step_with(&mut self, state: &Snapshot, choice: Choice, around: &mut dyn StepContext) -> Option<Step<Snapshot>> {
        if self.programs.is_spent() {
            return None;
        }
        self.programs.executor.catch_up();
        if let Some(step) = self.programs.prefix_step(state, choice, around) {
            return Some(step);
        }
        let entry = match self.look_up(state, choice, around.is_trial()) {
            Ok(entry) => entry,
            Err(key) => return self.execute_as(key, state, choice, around),
        };
        if !self.programs.is_due() {
            return Some(self.apply(state, &entry, around));
        }
        let taken = self.execute_as(None, state, choice, around)?;
        if let Some(what) = self.difference(state, &entry, &taken) {
            self.programs.note_difference(Tid(choice.actor), what);
        }
        // The audit must not change what the search sees: a trial has no state.
        let reached = if around.is_trial() { Reached::known(taken.reached.fingerprint) } else { taken.reached };
        Some(Taken { reached, ..taken })
    }

    fn needs_refinement(&self, race: &Race) -> bool {
        self.programs.needs_refinement(race)
    }

    fn is_audited(&mut self) -> bool {
        self.programs.is_audited()
    }

    fn covers(&self, inherited: &[Access], own: &[Access]) -> bool {
        self.programs.covers(inherited, own)
    }

    fn differs(&mut self, actor: u32, what: &str) {
        self.programs.differs(actor, what);
    }
}

/// Whether a footprint has all accesses of another one.
fn contains(all: &[Access], some: &[Access]) -> bool {
    some.iter().all(|access| all.contains(access))
}
