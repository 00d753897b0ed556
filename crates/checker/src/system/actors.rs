//! Who can move, what the others wait for, and when time passes.

use crate::footprint::access;
use crate::footprint::awaited::awaited;
use crate::libc::{self, Operation};
use crate::options::Timeouts;
use crate::system::choice::TIME;
use crate::system::choice_kind::ChoiceKind;
use crate::system::overlay::Overlay;
use crate::system::state::State;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::{Access, Actor};
use kernel::{Kernel, Tid, event, time};

/// Somebody, and when the function that it is in gives up.
pub(crate) type ActorRecord = (Actor, Option<u64>);

/// How time passes.
#[derive(Clone, Copy)]
pub(crate) struct Passing {
    /// Although somebody can move.
    may_hasten: bool,
    /// Only when nobody else can move, whatever comes.
    is_patient: bool,
    /// Somebody has read a clock, and may read it again and again.
    is_polled: bool,
    /// Somebody waits in a loop, where loops that wait are operations.
    is_spun: bool,
}

impl Passing {
    /// When nobody else can move, or all go round and read clocks.
    pub fn quiet(kernel: &Kernel, overlay: &Overlay) -> Self {
        let is_polled = overlay.reads_clock() && may_poll(kernel);
        Self { may_hasten: false, is_patient: true, is_polled, is_spun: overlay.is_spun() }
    }
}

/// Time that has passed at most because somebody reads clocks again and again.
const POLLED_MAX: u64 = 1 << 45;

/// Whether time may still pass for those who read clocks. It passes in steps that double: few are enough for any loop.
fn may_poll(kernel: &Kernel) -> bool {
    kernel.clock.now() < POLLED_MAX
}

/// The next moment for those who read clocks.
fn next_poll(kernel: &Kernel) -> u64 {
    const FIRST: u64 = 1_000_000;
    let (now, start) = (kernel.clock.now(), kernel::clock::Clock::default().now());
    now + FIRST.max(now.saturating_sub(start))
}

/// Everybody in a state.
pub(crate) struct ActorTable {
    pub actors: Vec<Actor>,
    /// Whether somebody is in a function that gives up at a certain time.
    pub is_timed: bool,
    /// Somebody who should be as before, and is not.
    pub differs: Option<Tid>,
}

impl View<'_> {
    /// How time passes in this state.
    pub(crate) fn passing(self) -> Passing {
        let is_patient = self.workload.options.timeouts == Timeouts::Quiet;
        let quiet = Passing::quiet(&self.state.world.kernel, &self.state.overlay);
        Passing { may_hasten: self.may_hasten(), is_patient, ..quiet }
    }

    /// Somebody, and when the function that it is in gives up.
    pub(crate) fn actor_record(&self, tid: Tid) -> ActorRecord {
        let operation = self.pending_operation(tid);
        let deadline = operation.and_then(|operation| operation.deadline(self.state.seen()));
        (self.actor(tid, operation.as_ref()), deadline)
    }

    /// Whether anybody waits for a time to come, or looks at clocks, where that decides whether time can pass early.
    pub(crate) fn is_timed(&self) -> bool {
        let is_awaited = || next_deadline(&self.state.world.kernel, self.deadlines()).is_some();
        self.may_hasten() && (self.state.overlay.reads_clock() || is_awaited())
    }

    /// What decides whether time can pass early, and how far, as far as a thread has to do with it: whether anybody waits for
    /// it, and the deadlines of the thread and its process. Nothing where time never passes early.
    pub(crate) fn timing(&self, tid: Tid) -> Option<(bool, Vec<u64>)> {
        if self.workload.options.timeouts == Timeouts::Quiet {
            return None;
        }
        let kernel = &self.state.world.kernel;
        let thread = kernel.threads.get(&tid);
        let waits = thread.and_then(|thread| thread.wait.as_ref()?.deadline);
        let operation = thread.and_then(|_| self.pending_operation(tid)?.deadline(self.state.seen()));
        let timers = thread.into_iter().flat_map(|thread| time::alarms(kernel, thread.pid));
        let own = waits.into_iter().chain(operation).chain(timers).chain(event::next_deadline(kernel));
        Some((self.is_timed(), own.collect()))
    }

    /// Whether time that passes early may send a thread a signal.
    pub(crate) fn may_be_alarmed(&self, tid: Tid) -> bool {
        let kernel = &self.state.world.kernel;
        self.may_hasten() && kernel.threads.get(&tid).is_some_and(|thread| time::has_alarm(kernel, thread.pid))
    }

    /// When the functions that threads are in give up.
    fn deadlines(&self) -> impl Iterator<Item = u64> {
        let operations = self.state.world.kernel.threads.keys().filter_map(|tid| self.pending_operation(*tid));
        operations.filter_map(|operation| operation.deadline(self.state.seen()))
    }

    /// The synchronising function that a thread is at, if it is at one.
    pub(crate) fn pending_operation(&self, tid: Tid) -> Option<Operation> {
        let hook = self.hook(tid).filter(|hook| hook.function.synchronises())?;
        Some(self.operation(tid, hook))
    }

    pub(crate) fn actor(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let mut actor = self.moving(tid, operation);
        if actor.choices == 0 {
            actor.interrupts = self.state.interrupts(tid);
            actor.awaits.extend(&actor.interrupts);
        }
        actor.redundant = actor.choices > 0 && self.state.looked_early(tid);
        actor
    }

    /// What a thread can do, and what it waits for if it cannot.
    pub(crate) fn moving(&self, tid: Tid, operation: Option<&Operation>) -> Actor {
        let can_move = self.state.world.can_move(tid);
        if let Some(gate) = self.gate(tid) {
            return Actor { awaits: vec![gate], ..self.nobody(tid) };
        }
        if let Some(awaits) = self.state.spun(tid) {
            return Actor { awaits, ..self.nobody(tid) };
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
            let behind = operation.behind(seen).filter(|_| choices == 0 && is_kept);
            // Whoever holds the lock may end without giving it back.
            awaits.extend(behind.and_then(|holder| self.state.life(holder)));
            let behind = behind.map(|tid| tid.0);
            // A longer step may also give it back.
            let takes = operation.takes(seen).filter(|_| !self.workload.options.only_breaks && is_kept);
            let choice_kind = kind.map_or(0, |kind| kind as u8);
            return Actor { choices, choice_kind, awaits, blocked_by: behind, takes, ..self.nobody(tid) };
        }
        let awaits = match can_move {
            true => Vec::new(),
            false => awaited(&self.state.world.kernel, &self.state.world.memory, tid),
        };
        let (choices, kind) = if can_move { self.alternatives_elsewhere(tid) } else { (0, None) };
        let choice_kind = kind.map_or(0, |kind| kind as u8);
        Actor { choices, choice_kind, awaits, ..self.nobody(tid) }
    }

    /// What is known of a thread whatever it does.
    pub(crate) fn nobody(&self, tid: Tid) -> Actor {
        let held = self.state.overlay.thread(tid).map_or(&[][..], |overlay| &overlay.holds);
        let holds = held.iter().copied().filter(|lock| self.executor.refinement.is_kept(*lock)).collect();
        Actor { number: tid.0, creator: self.state.creator(tid), holds, ..Actor::default() }
    }

    /// Whether time may pass although somebody can move.
    pub(crate) fn may_hasten(&self) -> bool {
        matches!(self.workload.options.timeouts, Timeouts::Any(most) if self.state.history.hastened < most)
    }
}

impl State {
    /// What ends any wait: signals. Whatever concerns everybody may send one; so may the end of a child.
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

    /// The life of a thread, as those see it who wait for its end.
    fn life(&self, tid: Tid) -> Option<u64> {
        let cpu = self.world.cpus.get(&tid)?;
        Some(libc::thread(self.world.space(tid), cpu.fs_base))
    }

    /// Who made a thread; itself if it was there from the start.
    pub(crate) fn creator(&self, tid: Tid) -> u32 {
        self.overlay.thread(tid).and_then(|overlay| overlay.creator).unwrap_or(tid).0
    }
}

impl Stepper<'_> {
    /// Lets time pass to the next moment at which something happens.
    pub(crate) fn pass_time(&mut self) -> Vec<Access> {
        let tids = || self.state.world.kernel.threads.keys();
        let can_move = |tid: &Tid| self.view().actor(*tid, self.view().pending_operation(*tid).as_ref()).choices > 0;
        let next = next_deadline(&self.state.world.kernel, self.view().deadlines());
        let is_ahead = next.is_some_and(|next| next > self.state.world.kernel.clock.now());
        let polled = next_poll(&self.state.world.kernel);
        let next = next.or(Some(polled).filter(|_| self.state.overlay.reads_clock()));
        let hastens = (is_ahead || next == Some(polled)) && self.view().may_hasten() && tids().any(can_move);
        self.state.history.hastened += u32::from(hastens);
        self.state.excuse();
        if let Some(next) = next {
            self.state.world.kernel.clock.advance_to(next);
            time::expire(&mut self.state.world.kernel, &mut self.state.world.memory);
        }
        access::everything()
    }
}

/// When something happens by itself: a timer, or the first of the functions that threads wait in gives up.
fn next_deadline(kernel: &Kernel, of_functions: impl Iterator<Item = u64>) -> Option<u64> {
    let now = kernel.clock.now();
    let overlay = of_functions.filter(|next| *next > now).min();
    [time::next_deadline(kernel), event::next_deadline(kernel), overlay].into_iter().flatten().min()
}

/// Everybody; those who are named with how many choices they have are as they were, when somebody was in a function that
/// gives up at a certain time, or nobody was. The others are told, and so are those who are due to be compared.
pub(crate) fn actor_table(
    kernel: &Kernel,
    (was_timed, untouched): (bool, &[(u32, u32)]),
    passing: Passing,
    (due, tell): (&[u32], &mut dyn FnMut(Tid) -> ActorRecord),
) -> ActorTable {
    let mut actors = Vec::with_capacity(kernel.threads.len() + 1);
    let (mut deadlines, mut differs) = (Vec::new(), None);
    for tid in kernel.threads.keys().copied() {
        let stays = untouched.iter().find(|(number, _)| *number == tid.0);
        if let Some((number, choices)) = stays.filter(|_| !was_timed && !due.contains(&tid.0)) {
            actors.push(Actor { number: *number, choices: *choices, unchanged: true, ..Actor::default() });
            continue;
        }
        let (actor, deadline) = tell(tid);
        let is_changed = |(_, choices): &(u32, u32)| !was_timed && deadline.is_some() || *choices != actor.choices;
        differs = differs.or_else(|| stays.is_some_and(is_changed).then_some(tid));
        deadlines.extend(deadline);
        actors.push(Actor { unchanged: stays.is_some(), audited: true, ..actor });
    }
    let is_timed = !deadlines.is_empty();
    let is_quiet = actors.iter().all(|actor| actor.choices == 0);
    let is_awaited = next_deadline(kernel, deadlines.into_iter()).is_some();
    actors.extend(time_itself(is_awaited, is_quiet, passing));
    ActorTable { actors, is_timed, differs }
}

/// Time, if somebody waits for it or it could have passed.
fn time_itself(is_awaited: bool, is_quiet: bool, passing: Passing) -> Option<Actor> {
    let Passing { may_hasten, is_patient, is_polled, is_spun } = passing;
    let time = Actor { number: TIME, creator: TIME, ..Actor::default() };
    if !is_awaited && !is_polled {
        // It could have passed before the last deadline was over.
        return may_hasten.then(|| Actor { awaits: vec![access::deadlines()], ..time });
    }
    // Those who wait for nothing but others do not wait for time.
    let may_pass = is_quiet && (is_awaited || is_spun) || may_hasten;
    let sort = if is_quiet { 0 } else { ChoiceKind::Timeouts as u8 };
    Some(Actor {
        choices: u32::from(may_pass),
        choice_kind: sort,
        low_priority: is_patient,
        on_quiescence: !may_pass,
        ..time
    })
}
