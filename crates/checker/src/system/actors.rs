//! Actors of a state: which are enabled, what the blocked ones await, and when time passes.

use crate::footprint::access;
use crate::footprint::awaited::awaited;
use crate::libc::{self, Operation};
use crate::options::Timeouts;
use crate::system::choice::TIME;
use crate::system::choice_kind::ChoiceKind;
use crate::system::dependency::Dependency;
use crate::system::overlay::Overlay;
use crate::system::state::{History, State};
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::{Access, Actor};
use kernel::{Kernel, Tid, event, time};

/// An actor, and the deadline of the timed wait that it is in.
pub(crate) type ActorRecord = (Actor, Option<u64>);

/// When time may pass.
#[derive(Clone, Copy)]
pub(crate) struct Passing {
    /// Also while another actor is enabled.
    may_hasten: bool,
    /// Only while no other actor is enabled.
    low_priority: bool,
    /// A thread has read a clock, and may poll it.
    is_polled: bool,
    /// A thread spins on a clock, where spin loops are blocking operations.
    is_spun: bool,
    /// Not at quiescence: only services are left.
    is_over: bool,
    /// Not beyond this moment.
    horizon: u64,
}

impl Passing {
    /// In a state.
    pub fn of(kernel: &Kernel, overlay: &Overlay, history: &History, workload: &Workload) -> Self {
        let is_polled = overlay.reads_clock() && may_poll(kernel);
        let (is_over, horizon) = (workload.is_over(kernel), workload.horizon());
        let low_priority = !workload.faults.may_heal() && !workload.may_ever_hasten();
        let may_hasten = workload.may_hasten(history);
        Self { may_hasten, low_priority, is_polled, is_spun: overlay.is_spun(), is_over, horizon }
    }
}

/// Time that passes at most on behalf of threads that poll clocks.
///
/// Nine hours of virtual nanoseconds, reached in some thirty doublings from a millisecond.
const POLLED_MAX: u64 = 1 << 45;

/// Whether time may still pass for threads that poll clocks. Each step doubles the time that has passed: few suffice
/// for any loop.
fn may_poll(kernel: &Kernel) -> bool {
    kernel.clock.now() < POLLED_MAX
}

/// The next time that polling threads read.
fn next_poll(kernel: &Kernel) -> u64 {
    const FIRST: u64 = 1_000_000;
    let (now, start) = (kernel.clock.now(), kernel::clock::Clock::default().now());
    now + FIRST.max(now.saturating_sub(start))
}

/// All actors of a state.
///
/// An actor that a step leaves untouched keeps its record: the record depends on the pending footprint and on the
/// awaited objects only, and an independent step writes none of them. Deadlines are not inherited, so all records are
/// computed while a timed wait is pending.
///
/// The inheritance is the main saving of a step: a world has tens of threads, of which a step
/// touches one or two.
pub(crate) struct ActorTable {
    pub actors: Vec<Actor>,
    /// Whether a thread is in a timed wait.
    pub is_timed: bool,
    /// An untouched actor whose record has changed all the same.
    pub differs: Option<Tid>,
}

impl View<'_> {
    /// When time may pass in this state.
    pub(crate) fn passing(self) -> Passing {
        Passing::of(&self.state.world.kernel, &self.state.overlay, &self.state.history, self.workload)
    }

    /// The record of a thread.
    pub(crate) fn actor_record(&self, tid: Tid) -> ActorRecord {
        let operation = self.pending_operation(tid);
        let deadline = operation.and_then(|operation| operation.deadline(self.state.seen()));
        (self.actor(tid, operation.as_ref()), deadline)
    }

    /// Whether time may pass early in this state: a deadline is pending, or a clock is polled.
    pub(crate) fn is_timed(&self) -> bool {
        let may_hasten = self.may_hasten() || self.workload.faults.may_hasten();
        may_hasten && self.next_moment().is_some()
    }

    /// Whether a deadline is pending, before or behind the horizon.
    pub(crate) fn has_deadline(&self) -> bool {
        self.next_deadline().is_some()
    }

    /// What the clock shows next: a deadline, or what threads that poll clocks wait for.
    pub(crate) fn next_moment(&self) -> Option<u64> {
        let next = self.next_deadline().filter(|next| *next <= self.workload.horizon());
        let polled = next_poll(&self.state.world.kernel);
        next.or(Some(polled).filter(|_| self.state.overlay.reads_clock()))
    }

    fn next_deadline(&self) -> Option<u64> {
        next_deadline(&self.state.world.kernel, self.deadlines())
    }

    /// What a step of a thread may change of whether time can pass early, and how far: whether a deadline is pending at
    /// all, whether the thread polls a clock, and the deadlines of the thread and its process. Nothing where time never
    /// passes early.
    pub(crate) fn timing(&self, tid: Tid) -> Option<(bool, bool, Vec<u64>)> {
        if !self.workload.may_ever_hasten() {
            return None;
        }
        let kernel = &self.state.world.kernel;
        let thread = kernel.threads.get(&tid);
        let waits = thread.and_then(|thread| thread.wait.as_ref()?.deadline);
        let operation = thread.and_then(|_| self.pending_operation(tid)?.deadline(self.state.seen()));
        let timers = thread.into_iter().flat_map(|thread| time::alarms(kernel, thread.pid));
        let own = waits.into_iter().chain(operation).chain(timers).chain(event::next_deadline(kernel));
        let polls = self.state.overlay.thread(tid).is_some_and(|overlay| overlay.reads_clock);
        Some((self.is_timed(), polls, own.collect()))
    }

    /// Whether a timer that fires early may send a thread a signal.
    pub(crate) fn may_be_alarmed(&self, tid: Tid) -> bool {
        let kernel = &self.state.world.kernel;
        let may_hasten = self.may_hasten() || self.workload.faults.may_hasten();
        may_hasten && kernel.threads.get(&tid).is_some_and(|thread| time::has_alarm(kernel, thread.pid))
    }

    /// Deadlines of the library functions that threads are in.
    fn deadlines(&self) -> impl Iterator<Item = u64> {
        let operations = self.state.world.kernel.threads.keys().filter_map(|tid| self.pending_operation(*tid));
        operations.filter_map(|operation| operation.deadline(self.state.seen()))
    }

    /// The synchronising function that a thread is about to perform, or is blocked in.
    pub(crate) fn pending_operation(&self, tid: Tid) -> Option<Operation> {
        let hook = self.hook(tid).filter(|hook| hook.function.synchronises())?;
        Some(self.operation(tid, hook))
    }

    pub(crate) fn actor(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let mut actor = self.enabled_or_blocked(tid, operation);
        if actor.choices == 0 {
            actor.interrupts = self.state.interrupts(tid);
            actor.awaits.extend(&actor.interrupts);
        }
        actor.redundant = actor.choices > 0 && self.state.is_redundant(tid);
        actor
    }

    /// The choices of an enabled thread, or what a blocked one awaits.
    ///
    /// In this order: a pause, a gate, a spin loop, the store buffer, a library function, anything else. A blocked actor must
    /// name all that could enable it; too little here is a missed wake-up for the reduction.
    fn enabled_or_blocked(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let can_move = self.state.world.can_move(tid);
        if self.state.is_paused(tid) {
            return Actor { awaits: vec![access::object(access::Kind::World, 0, 0)], ..self.actor_base(tid) };
        }
        if self.waits_for_disk(tid) {
            return Actor { awaits: vec![access::object(access::Kind::World, 0, 0)], ..self.actor_base(tid) };
        }
        if let Some(gate) = self.gate(tid) {
            return Actor { awaits: vec![gate], ..self.actor_base(tid) };
        }
        if let Some(awaits) = self.state.spin_awaits(tid) {
            return Actor { awaits, ..self.actor_base(tid) };
        }
        if let Some(drained) = self.awaited_drain(tid).filter(|_| can_move) {
            let awaits = operation.map_or_else(Vec::new, |operation| self.decides_fence(operation));
            return Actor { awaits: [vec![drained], awaits].concat(), ..self.actor_base(tid) };
        }
        if let Some(operation) = operation.filter(|_| can_move) {
            let seen = self.state.seen();
            let (choices, kind) = self.alternatives_at(tid, operation);
            let mut awaits = if choices == 0 { operation.awaits(seen) } else { Vec::new() };
            if choices == 0 {
                let words = operation.awaited_words(seen).into_iter();
                awaits.extend(words.flat_map(|address| self.state.parts_of(operation.space, address)));
            }
            let is_kept = operation.wants(seen).is_none_or(|lock| self.executor.refinement.is_kept(lock));
            let blocker = operation.behind(seen).filter(|_| choices == 0 && is_kept);
            // The holder may end without releasing the lock.
            awaits.extend(blocker.and_then(|holder| self.state.life(holder)));
            let blocked_by = blocker.map(|tid| tid.0);
            // A step between two breakpoints may also release the lock that it acquires.
            let takes = operation.takes(seen).filter(|_| !self.workload.options.only_breaks && is_kept);
            let choice_kind = kind.map_or(0, |kind| kind as u8);
            return Actor { choices, choice_kind, awaits, blocked_by, takes, ..self.actor_base(tid) };
        }
        let awaits = match can_move {
            true => Vec::new(),
            false => awaited(&self.state.world.kernel, &self.state.world.memory, tid),
        };
        let (choices, kind) = if can_move { self.alternatives_elsewhere(tid) } else { (0, None) };
        let choice_kind = kind.map_or(0, |kind| kind as u8);
        Actor { choices, choice_kind, awaits, ..self.actor_base(tid) }
    }

    /// Objects that decide whether an operation waits for the stores of its thread: `pthread_join(3)` does so only while the other
    /// thread lives.
    fn decides_fence(&self, operation: &Operation) -> Vec<u64> {
        let seen = self.state.seen();
        let words = operation.awaited_words(seen).into_iter();
        let words = words.flat_map(|address| self.state.parts_of(operation.space, address));
        let accesses = operation.accesses(seen).into_iter().map(|access| access.object);
        operation.awaits(seen).into_iter().chain(words).chain(accesses).collect()
    }

    /// The part of a thread's actor that does not depend on its next operation.
    fn actor_base(&self, tid: Tid) -> Actor {
        let held = self.state.overlay.thread(tid).map_or(&[][..], |overlay| &overlay.holds);
        let holds = held.iter().copied().filter(|lock| self.executor.refinement.is_kept(*lock)).collect();
        Actor { number: tid.0, creator: self.state.creator(tid), holds, ..Actor::default() }
    }

    /// Whether time may pass while another actor is enabled, without a fault.
    pub(crate) fn may_hasten(&self) -> bool {
        self.workload.may_hasten(&self.state.history)
    }
}

impl Workload {
    /// Whether time may pass while another actor is enabled, without a fault.
    fn may_hasten(&self, history: &History) -> bool {
        matches!(self.options.timeouts, Timeouts::Any(most) if history.hastened < most)
    }

    /// Whether time may ever pass while another actor is enabled.
    pub(crate) fn may_ever_hasten(&self) -> bool {
        self.options.timeouts != Timeouts::Quiet || self.faults.may_hasten()
    }
}

impl State {
    /// Objects whose write may end any wait of a thread, by a signal: the whole world, and the end of a child if
    /// `SIGCHLD` has a handler.
    ///
    /// A signal may end any wait. Who sends one touches the world or the process, so these two
    /// objects stand for all senders.
    pub(crate) fn interrupts(&self, tid: Tid) -> Vec<u64> {
        const SIGCHLD: usize = 17;
        const SIG_IGN: u64 = 1;
        let thread = self.world.kernel.threads.get(&tid).expect("it waits");
        let action =
            self.world.kernel.processes.get(&thread.pid).map(|process| process.signals.actions[SIGCHLD].handler);
        let of_children = action.filter(|handler| *handler > SIG_IGN);
        let of_children = of_children.map(|_| access::object(access::Kind::Process, u64::from(thread.pid.0), 0));
        std::iter::once(access::object(access::Kind::World, 0, 0)).chain(of_children).collect()
    }

    /// The object that the end of a thread writes, and that a join reads.
    pub(crate) fn life(&self, tid: Tid) -> Option<u64> {
        let (base, space) = (self.world.cpus.get(&tid)?.fs_base, self.world.space(tid));
        // Which thread has that storage depends on whose stacks were free.
        self.overlay.note(Dependency::Base(base, space));
        Some(libc::thread(space, base))
    }

    /// The creator of a thread; itself if it was there from the start.
    pub(crate) fn creator(&self, tid: Tid) -> u32 {
        self.overlay.thread(tid).and_then(|overlay| overlay.creator).unwrap_or(tid).0
    }
}

impl Stepper<'_> {
    /// Advances the clock to the next deadline, or for polling threads. Early, if somebody can move.
    pub(crate) fn pass_time(&mut self) -> Vec<Access> {
        let tids = || self.state.world.kernel.threads.keys();
        let can_move = |tid: &Tid| self.view().actor(*tid, self.view().pending_operation(*tid).as_ref()).choices > 0;
        let is_ahead = self.view().next_moment().is_some_and(|next| next > self.state.world.kernel.clock.now());
        let may_drain = !self.state.overlay.buffers().all(|(_, buffer)| buffer.is_empty());
        let hastens = is_ahead && self.view().may_hasten() && (may_drain || tids().any(can_move));
        self.state.history.hastened += u32::from(hastens);
        self.let_time_pass()
    }

    /// The same whoever can move.
    pub(crate) fn let_time_pass(&mut self) -> Vec<Access> {
        let (next, pending) = (self.view().next_moment(), self.pending_signals());
        self.state.note_time_passed();
        if let Some(next) = next {
            self.state.world.kernel.clock.advance_to(next);
            time::expire(&mut self.state.world.kernel, &mut self.state.world.memory);
        }
        // Else it has passed where nobody could move: a handler interrupts a wait.
        if self.workload.may_ever_hasten() {
            self.note_sent(None, &pending);
        }
        access::everything()
    }
}

/// The earliest pending deadline: of a timer, or of a library function that a thread waits in.
fn next_deadline(kernel: &Kernel, of_functions: impl Iterator<Item = u64>) -> Option<u64> {
    let now = kernel.clock.now();
    let of_functions = of_functions.filter(|next| *next > now).min();
    [time::next_deadline(kernel), event::next_deadline(kernel), of_functions].into_iter().flatten().min()
}

/// All actors. Those in `untouched` (number and choices) keep their previous record unless a timed wait was pending.
/// The others are computed, and so are those in `due`, for the audit.
pub(crate) fn actor_table(
    kernel: &Kernel,
    (was_timed, untouched): (bool, &[(u32, u32)]),
    (passing, environment): (Passing, Vec<Actor>),
    (due, compute): (&[u32], &mut dyn FnMut(Tid) -> ActorRecord),
) -> ActorTable {
    let mut actors = Vec::with_capacity(kernel.threads.len() + 1);
    let (mut deadlines, mut differs) = (Vec::new(), None);
    for tid in kernel.threads.keys().copied() {
        let inherited = untouched.iter().find(|(number, _)| *number == tid.0);
        if let Some((number, choices)) = inherited.filter(|_| !was_timed && !due.contains(&tid.0)) {
            actors.push(Actor { number: *number, choices: *choices, unchanged: true, ..Actor::default() });
            continue;
        }
        let (actor, deadline) = compute(tid);
        let is_changed = |(_, choices): &(u32, u32)| !was_timed && deadline.is_some() || *choices != actor.choices;
        differs = differs.or_else(|| inherited.is_some_and(is_changed).then_some(tid));
        deadlines.extend(deadline);
        actors.push(Actor { unchanged: inherited.is_some(), audited: true, ..actor });
    }
    actors.extend(environment);
    let is_timed = !deadlines.is_empty();
    let is_quiet = actors.iter().all(|actor| actor.choices == 0);
    let is_awaited = next_deadline(kernel, deadlines.into_iter()).is_some_and(|next| next <= passing.horizon);
    actors.extend(time_actor(is_awaited, is_quiet, passing));
    ActorTable { actors, is_timed, differs }
}

/// Time as an actor, if a deadline is pending or may have been pending earlier.
fn time_actor(is_awaited: bool, is_quiet: bool, passing: Passing) -> Option<Actor> {
    let Passing { may_hasten, low_priority, is_polled, is_spun, is_over, .. } = passing;
    let time = Actor { number: TIME, creator: TIME, conflicts_with_all: true, ..Actor::default() };
    if !is_awaited && !is_polled {
        // Time could have passed before the last deadline was over: it stays an actor, blocked until a step sets
        // another.
        return may_hasten.then(|| Actor { awaits: vec![access::deadlines()], ..time });
    }
    if is_quiet && is_over {
        return None;
    }
    // Time does not resolve a deadlock: at quiescence it passes for deadlines and for threads that spin on a clock.
    let may_pass = is_quiet && (is_awaited || is_spun) || may_hasten;
    let choice_kind = if is_quiet { 0 } else { ChoiceKind::Timeouts as u8 };
    Some(Actor { choices: u32::from(may_pass), choice_kind, low_priority, on_quiescence: !may_pass, ..time })
}
