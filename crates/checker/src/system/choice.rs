//! Alternatives of an actor in a state. Engines number them from 0; only this file gives a number its meaning.
//!
//! Numbers are what schedules hold, so their meaning must follow from the state alone: 0 is the
//! plain step, further ones are other outcomes of the same operation (how much a read returns, who
//! is woken). POSIX lets a signal wake "at least one" waiter and does not say which; each is tried.

use crate::faults::{CallFault, Healing, is_fault};
use crate::libc::Operation;
use crate::store_buffer::drained_thread;
use crate::system::choice_kind::ChoiceKind;
use crate::system::peers::is_delivery;
use crate::system::view::View;
use kernel::call::Deviation;
use kernel::{Id, Tid, signal};
use trace::Choice;

/// The number of the actor that lets time pass.
///
/// No thread has this number: threads' numbers have five digits.
pub const TIME: u32 = 0;

/// One alternative of an actor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Alternative {
    /// A thread takes its next step. A read returns all that is available; a signal wakes the first sleeper.
    #[default]
    Run,
    /// A read returns so many bytes.
    ShortRead(u64),
    /// A fault happens to the syscall.
    Fail(CallFault),
    /// A signal at a condition variable wakes this thread.
    Wake(Tid),
    /// Time passes to the next deadline.
    TimePasses,
    /// A fault happens, by its number: that one of its alternatives.
    Fault(u16, u32),
    /// What a fault has left to come happens.
    Heal(Healing),
    /// The oldest buffered store of a thread reaches memory.
    Drain(Tid),
    /// Answers of a peer come to a connection; or one of those to a flow of datagrams, by its number among them.
    Deliver(Id, u32),
}

impl Alternative {
    /// How the first syscall of the step deviates; a step deviates once.
    pub fn take_deviation(&mut self) -> Deviation {
        match *self {
            Self::ShortRead(most) => {
                *self = Self::Run;
                Deviation { most: Some(most), ..Deviation::default() }
            }
            Self::Fail(fault) => {
                *self = Self::Run;
                fault.deviation()
            }
            _ => Deviation::default(),
        }
    }

    /// The fault that happens to the call of the step, for the report.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Fail(fault) => Some(fault.effect.word().to_owned()),
            _ => None,
        }
    }

    /// The thread that the first signal of the step wakes, if it is not the first sleeper.
    pub fn take_wake(&mut self) -> Option<Tid> {
        match *self {
            Self::Wake(tid) => {
                *self = Self::Run;
                Some(tid)
            }
            _ => None,
        }
    }
}

impl View<'_> {
    /// What a choice means in this state; nothing if the actor has no such alternative.
    pub(crate) fn alternative(self, choice: Choice) -> Option<Alternative> {
        let Choice { actor, index } = choice;
        if actor == TIME {
            return Some(Alternative::TimePasses);
        }
        if is_fault(actor) {
            return self.fault_alternative(choice);
        }
        if let Some(tid) = drained_thread(actor) {
            return (!self.state.buffered(tid).is_empty()).then_some(Alternative::Drain(tid));
        }
        if is_delivery(actor) {
            return self.connection_of(actor).map(|end| Alternative::Deliver(end, index));
        }
        if index == 0 {
            return Some(Alternative::Run);
        }
        match self.wakes(Tid(actor)) {
            Some(sleepers) => sleepers.get(index as usize).map(|tid| Alternative::Wake(*tid)),
            None => {
                let reads = self.short_reads(Tid(actor)).into_iter().map(Alternative::ShortRead);
                let faults = self.call_faults(Tid(actor)).into_iter().map(Alternative::Fail);
                reads.chain(faults).nth(index as usize - 1)
            }
        }
    }

    /// The sleepers of which a thread wakes one next, if it is at a function that does so.
    fn wakes(self, tid: Tid) -> Option<Vec<Tid>> {
        let operation = self.pending_operation(tid)?;
        Some(operation.wakes(self.state.seen()))
    }

    /// How many alternatives a thread at a library function has, and of which kind.
    pub(crate) fn alternatives_at(self, tid: Tid, operation: &Operation) -> (u32, Option<ChoiceKind>) {
        if signal::is_deliverable(&self.state.world.kernel, tid) {
            return (1, None);
        }
        let seen = self.state.seen();
        let count = u32::from(operation.is_enabled(seen)).max(operation.wakes(seen).len() as u32);
        (count, (count > 1).then_some(ChoiceKind::Wakes))
    }

    /// The same for an enabled thread anywhere else.
    pub(crate) fn alternatives_elsewhere(self, tid: Tid) -> (u32, Option<ChoiceKind>) {
        let (reads, faults) = (self.short_reads(tid).len() as u32, self.call_faults(tid).len() as u32);
        let kind = match (reads, faults) {
            (0, 0) => self.state.competes(tid).then_some(ChoiceKind::Accepts),
            (_, 0) => Some(ChoiceKind::Reads),
            _ => Some(ChoiceKind::Faults),
        };
        (1 + reads + faults, kind)
    }
}
