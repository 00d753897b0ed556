//! Steps that were taken before, done again without being executed.
//!
//! The same step of a thread comes in thousands of states that differ only in what others did elsewhere. What decides how it
//! goes is noted once: registers, the kernel, mappings, the thread's own entry in the library, what it asks of others, and every
//! word that it looks at. Where all of that is the same, so is what it does, and even the change of the fingerprint. Where
//! debug assertions are on, every such step is executed all the same and compared.

use crate::libc::read_set::{self, Dependency};
use crate::libc::{Library, Member, living};
use crate::memo::actor_memo::Met;
use crate::memo::lru::Ways;
use crate::options::{Holes, Timeouts};
use crate::system::actors::{Everybody, Passing, everybody};
use crate::system::never::Beside;
use crate::system::programs::{NoContext, Programs, Snapshot, TIME};
use explore::graph::{Access, Actor, Reached, Step, StepContext, Taken};
use explore::system::Failure;
use kernel::kernel::Output;
use kernel::map::{Map, Wide};
use kernel::shared::Shared;
use kernel::{Kernel, Tid};
use memory::Effect;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trace::Choice;
use x86::Cpu;

/// Steps that are remembered at most: each keeps words, and may keep a kernel that nobody else has.
const STEPS_MAX: usize = 1 << 13;

/// Places that were seen at most, with steps that are remembered or without.
const PLACES_MAX: usize = 1 << 17;

/// So many steps in a row that were known, or were not, decide whether others are expected to come again.
const LUCK_MAX: i32 = 1000;

/// Where nothing comes again, so many steps are executed without looking.
const PASSED_MAX: u32 = 15;

/// Steps that were tried and may be taken soon.
const TRIED_MAX: usize = 1 << 10;

/// Steps that were taken before.
#[derive(Default)]
pub(crate) struct Remembered {
    steps: FxHashMap<u128, Ways<MemoEntry>>,
    count: usize,
    /// Kernels as threads see them that ask nothing of them.
    views: FxHashMap<(u128, Tid), u128>,
    /// How many of the last few steps were known, less those that were not.
    hit_balance: i32,
    /// Steps that were not looked up since one was.
    passed: u32,
    /// Steps that were tried, by the number of the state: most are taken soon.
    tried: FxHashMap<(u64, u32, u32), Arc<MemoEntry>>,
    /// Who threads are.
    pub met: Met,
}

/// A step that was taken before.
pub(crate) struct MemoEntry {
    memory: Effect,
    answers: Vec<(Dependency, u128)>,
    /// Registers and entries afterwards, where they changed.
    cpus: Vec<(Tid, Option<Shared<Cpu>>)>,
    members: Vec<(Tid, Option<Shared<Member>>)>,
    /// What others were before whose registers changed.
    were: Vec<(Tid, u128)>,
    /// The kernel afterwards, if it was asked for anything.
    kernel: Option<Shared<Kernel>>,
    aside: Library,
    beside: Beside,
    /// What stands for these two.
    identity: u128,
    printed: Vec<Output>,
    /// What it adds to the fingerprint.
    change: u128,
    by: Tid,
    accesses: Vec<Access>,
    progress: bool,
}

/// What stands for all that decides a step, but for memory and other threads: if it asks nothing of the kernel, or if it may.
#[derive(Clone, Copy)]
pub(crate) struct MemoKey {
    pub silent: u128,
    pub any: u128,
}

/// What a step did, as far as its state does not tell.
pub(crate) struct StepRecord<'a> {
    pub accesses: &'a [Access],
    pub progress: bool,
    pub fingerprint: u128,
    pub asked: Vec<Dependency>,
}

impl Remembered {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What stands for the kernel as a thread sees it that asks nothing of it: of the others it can tell only whether there
    /// are any. Who handles a signal that is sent to a process depends on all of its threads.
    fn view(&mut self, kernel: &Shared<Kernel>, tid: Tid) -> Option<u128> {
        let pid = kernel.threads.get(&tid)?.pid;
        let view = || {
            if kernel.processes.values().any(|process| !process.signals.pending.is_empty()) {
                return kernel.identity();
            }
            let mut own = Kernel::clone(kernel);
            own.threads.retain(|other| *other == tid);
            let threads = &mut own.processes.get_mut(&pid).expect("a thread has a process").threads;
            let others = threads.iter().find(|other| **other != tid).map(|_| Tid(0));
            *threads = others.into_iter().chain([tid]).collect();
            Wide::hash_of((own, kernel.threads.len() > 1))
        };
        if self.views.len() >= PLACES_MAX {
            self.views.clear();
        }
        Some(*self.views.entry((kernel.identity(), tid)).or_insert_with(view))
    }

    /// What stands for all that decides what a thread does, but for memory and other threads.
    pub fn place_of(&mut self, state: &Snapshot, choice: Choice) -> Option<MemoKey> {
        let tid = Tid(choice.actor);
        let (cpu, member) = (state.cpus.shared(&tid)?, state.library.shared(tid)?);
        let view = self.view(&state.kernel, tid)?;
        let parts = [cpu.identity(), member.identity(), state.memory.layout_fingerprint(), state.aside];
        let silent = Wide::hash_of_few((choice.actor, choice.index, parts, view));
        Some(MemoKey { silent, any: silent.rotate_left(1) ^ state.kernel.identity() })
    }

    /// Whether it is worth while to look: where nothing comes again, only now and then.
    fn is_worth_a_look(&mut self) -> bool {
        self.passed = if self.hit_balance > -LUCK_MAX || self.passed >= PASSED_MAX { 0 } else { self.passed + 1 };
        self.passed == 0
    }

    /// Notes that a step was tried.
    fn try_out(&mut self, at: (u64, u32, u32), known: &Arc<MemoEntry>) {
        if self.tried.len() >= TRIED_MAX {
            self.tried.clear();
        }
        self.tried.insert(at, Arc::clone(known));
    }

    /// Notes whether a step was known.
    fn note_luck(&mut self, is_known: bool) {
        let more = if is_known { 1 } else { -1 };
        self.hit_balance = (self.hit_balance + more).clamp(-LUCK_MAX, LUCK_MAX);
    }

    /// A step that fits.
    fn find(&mut self, key: u128, state: &Snapshot, holes: Holes) -> Option<Arc<MemoEntry>> {
        self.steps.get_mut(&key)?.find(|known| known.fits(state, holes)).cloned()
    }

    fn add(&mut self, key: u128, known: MemoEntry) {
        if self.count >= STEPS_MAX {
            self.clear();
        }
        self.count += self.steps.entry(key).or_default().add(known);
    }
}

impl Programs {
    /// Whether steps may be done again without being executed: nobody listens, and nothing is asked about states that steps
    /// do not tell.
    fn may_remember(&self, choice: Choice) -> bool {
        choice.actor != TIME
            && !self.is_starting
            && self.options.timeouts == Timeouts::Quiet
            && self.listener.info.is_none()
            && self.points.matched.is_empty()
            && self.forbidden.is_empty()
            && self.refusal.is_none()
            && !self.world.memory.is_patched()
    }

    /// A step that was taken before, and would go the same way; or where it is to be looked for.
    pub(crate) fn recall(
        &mut self,
        state: &Snapshot,
        choice: Choice,
        is_trial: bool,
    ) -> Result<Arc<MemoEntry>, Option<MemoKey>> {
        if self.refinement.has_grown.load(Ordering::Relaxed) {
            // Earlier steps were seen too coarsely.
            self.remembered.clear();
            return Err(None);
        }
        let at = (state.number, choice.actor, choice.index);
        if let Some(known) = self.remembered.tried.remove(&at) {
            self.remembered.note_luck(true);
            return Ok(known);
        }
        let may_look = self.may_remember(choice) && self.remembered.is_worth_a_look();
        let place = may_look.then(|| self.remembered.place_of(state, choice)).flatten().ok_or(None)?;
        let holes = self.options.holes;
        let mut find = |key| self.remembered.find(key, state, holes);
        let known = find(place.silent).or_else(|| find(place.any));
        self.remembered.note_luck(known.is_some());
        if let Some(known) = known.as_ref().filter(|_| is_trial) {
            self.remembered.try_out(at, known);
        }
        known.ok_or(Some(place))
    }

    /// Whether a step is to be remembered: the place was seen before, and not too often in other ways, or steps are likely to
    /// come again.
    pub(crate) fn is_worth(&mut self, place: MemoKey) -> bool {
        let is_likely = self.remembered.hit_balance > 0;
        if self.remembered.steps.len() >= PLACES_MAX {
            self.remembered.clear();
        }
        let steps = &mut self.remembered.steps;
        let is_seen = steps.contains_key(&place.silent);
        let is_full =
            steps.entry(place.silent).or_default().is_full() || steps.get(&place.any).is_some_and(Ways::is_full);
        is_likely || is_seen && !is_full
    }

    /// Notes from now on what a thread looks at.
    pub(crate) fn begin_notes(&mut self, tid: Tid) {
        self.world.memory.record_reads();
        read_set::listen_to(tid);
    }

    /// No more is noted; what was asked.
    pub(crate) fn end_notes(&mut self) -> Vec<Dependency> {
        self.world.memory.stop_recording();
        read_set::heard()
    }

    /// How a memoized step differs from what was executed.
    pub(crate) fn redone_differs(
        &mut self,
        state: &Snapshot,
        known: &MemoEntry,
        taken: &Step<Snapshot>,
    ) -> Option<&'static str> {
        let (loaded, printed) = (self.loaded, self.printed.clone());
        let after = self.save();
        let redone = self.redo(state, known, &mut NoContext);
        let prints_same = self.printed == printed;
        self.load(&after);
        (self.loaded, self.printed) = (loaded, printed);
        // Whoever stays as it was is not told again.
        let actors =
            taken.reached.state.is_some() && taken.reached.actors.iter().all(|actor| !actor.unchanged || actor.audited);
        let everybody =
            |reached: &Reached<Option<Snapshot>>| -> Vec<Actor> { reached.actors.iter().map(unmarked).collect() };
        let differences = [
            (taken.failure.is_some(), "a memoized step fails"),
            (redone.reached.fingerprint != taken.reached.fingerprint, "a memoized step leads elsewhere"),
            (redone.accesses != taken.accesses, "a memoized step has another footprint"),
            (redone.progress != taken.progress, "a memoized step is progress, or is none"),
            (!prints_same, "a memoized step prints something else"),
            (redone.reached.new_state().parts() != after.parts(), "a memoized step leads to another state"),
            (actors && everybody(&taken.reached) != everybody(&redone.reached), "others differ after a memoized step"),
            (actors && taken.reached.stuck != redone.reached.stuck, "a memoized step leads to the end, or does not"),
        ];
        differences.into_iter().find(|(is_different, _)| *is_different).map(|(_, what)| what)
    }

    /// Remembers a step that was taken from a state to the one that the world is in.
    pub(crate) fn remember(
        &mut self,
        place: MemoKey,
        (tid, before): (Tid, &Snapshot),
        after: &Snapshot,
        deed: &StepRecord<'_>,
    ) {
        // What others make of being disturbed is not noted.
        let is_quiet = before.library.disturbed(tid, deed.accesses).is_empty();
        let Some(space) = space_of(before, tid).filter(|_| is_quiet) else { return };
        let Some(memory) = self.world.memory.effect(space, &before.memory, &after.memory) else { return };
        // Whoever asks the kernel for anything needs it to itself.
        let is_silent = after.kernel.is_same(&before.kernel);
        let members = after.library.differing(&before.library);
        let cpus: Vec<Tid> = after.cpus.differing(&before.cpus).into_iter().copied().collect();
        let others = members.iter().filter(|other| **other != tid).map(|other| Dependency::Member(*other));
        let questions = deed.asked.iter().copied().chain(others).collect();
        let known = MemoEntry {
            memory,
            answers: answers_in(before, questions),
            were: cpus.iter().filter(|other| **other != tid).map(|other| (*other, cpu_of(before, *other))).collect(),
            cpus: cpus.into_iter().map(|tid| (tid, after.cpus.shared(&tid).cloned())).collect(),
            members: members.into_iter().map(|tid| (tid, after.library.shared(tid).cloned())).collect(),
            kernel: (!is_silent).then(|| after.kernel.clone()),
            aside: after.library.without_members(),
            identity: after.aside,
            beside: after.beside.clone(),
            printed: self.printed.clone(),
            change: deed.fingerprint.wrapping_sub(before.fingerprint),
            by: tid,
            accesses: deed.accesses.to_vec(),
            progress: deed.progress,
        };
        self.remembered.add(if is_silent { place.silent } else { place.any }, known);
    }

    /// Does a step again.
    pub(crate) fn redo(&mut self, state: &Snapshot, known: &MemoEntry, around: &mut dyn StepContext) -> Step<Snapshot> {
        let fingerprint = state.fingerprint.wrapping_add(known.change);
        let reached = match around.is_trial() || around.is_known(fingerprint, false) {
            true => Reached::known(fingerprint),
            false => self.reached_again(state, known, &around.untouched(&known.accesses)).map(Some),
        };
        self.printed.clone_from(&known.printed);
        Taken { progress: known.progress, ..Taken::new(reached, known.accesses.clone()) }
    }

    /// What a step makes of a state, in which those are as they were before who are named. The world becomes that state only
    /// if something is to be told of it that is not known.
    fn reached_again(&mut self, state: &Snapshot, known: &MemoEntry, untouched: &[(u32, u32)]) -> Reached<Snapshot> {
        let fingerprint = state.fingerprint.wrapping_add(known.change);
        let memory = self.world.memory.apply(&state.memory, &known.memory);
        self.saved += 1;
        let (aside, number) = (known.identity, self.saved);
        let mut after = Snapshot { memory, aside, fingerprint, number, ..state.clone() };
        known.put(&mut after.kernel, &mut after.cpus, (&mut after.library, &mut after.beside));
        if after.memory.is_delta_large() {
            self.load(&after);
            return self.reached(fingerprint, (state, untouched));
        }
        let before = (state.is_timed, untouched);
        let passing = Passing::quiet(&after.kernel, &after.library);
        let due = self.due(before.1);
        let Everybody { actors, is_timed, differs } =
            everybody(&after.kernel, before, passing, (&due, &mut |tid| self.meet(&after, tid)));
        self.note_not_as_before(differs);
        let stuck = if actors.iter().any(|actor| actor.choices > 0) { None } else { self.stuck_in(&after) };
        Reached { state: Snapshot { is_timed, ..after }, fingerprint, actors, stuck }
    }

    /// What is wrong with a state in which nobody can move.
    fn stuck_in(&mut self, state: &Snapshot) -> Option<Failure> {
        self.become_state(state);
        let stuck = self.stuck();
        self.failures.fetch_add(u64::from(stuck.is_some()), Ordering::Relaxed);
        stuck
    }
}

impl MemoEntry {
    /// Makes of a state what the step makes of it, but for memory.
    fn put(
        &self,
        kernel: &mut Shared<Kernel>,
        cpus: &mut Map<Tid, Cpu>,
        (library, beside): (&mut Library, &mut Beside),
    ) {
        if let Some(after) = &self.kernel {
            *kernel = after.clone();
        }
        for (tid, cpu) in &self.cpus {
            match cpu {
                Some(cpu) => drop(cpus.put(*tid, cpu.clone())),
                None => drop(cpus.remove(tid)),
            }
        }
        self.members.iter().for_each(|(tid, member)| library.put(*tid, member.clone()));
        library.know_aside(&self.aside);
        *beside = self.beside.clone();
    }

    /// Whether a step would find what it found.
    fn fits(&self, state: &Snapshot, holes: Holes) -> bool {
        (holes.memo || state.memory.satisfies(&self.memory))
            && state.library.disturbed(self.by, &self.accesses).is_empty()
            && self.were.iter().all(|(tid, known)| cpu_of(state, *tid) == *known)
            && are_answers_in(state, &self.answers)
    }
}

/// The answers that a state gives, to each question once.
pub(crate) fn answers_in(state: &Snapshot, mut questions: Vec<Dependency>) -> Vec<(Dependency, u128)> {
    questions.sort_unstable();
    questions.dedup();
    questions.into_iter().map(|question| (question, answer(state, question))).collect()
}

/// Whether a state gives the same answers.
pub(crate) fn are_answers_in(state: &Snapshot, answers: &[(Dependency, u128)]) -> bool {
    answers.iter().all(|(question, known)| answer(state, *question) == *known)
}

/// What stands for the answer to a question.
fn answer(state: &Snapshot, question: Dependency) -> u128 {
    let living = |space, base| living(&state.kernel, &state.cpus, space, base);
    match question {
        Dependency::Base(base, space) => living(space, base).map_or(0, |tid| u128::from(tid.0)),
        _ => state.library.answer(question),
    }
}

fn cpu_of(state: &Snapshot, tid: Tid) -> u128 {
    state.cpus.shared(&tid).map_or(0, Shared::identity)
}

/// The space that a thread is in.
pub(crate) fn space_of(state: &Snapshot, tid: Tid) -> Option<memory::SpaceId> {
    let thread = state.kernel.threads.get(&tid)?;
    state.kernel.processes.get(&thread.pid).map(|process| process.space)
}

/// Somebody, whether or not it is said to be as before.
fn unmarked(actor: &Actor) -> Actor {
    Actor { unchanged: false, audited: false, ..actor.clone() }
}
