//! What a step asks of other threads' entries, noted while somebody wants to know.
//!
//! The questions are asked deep inside of what functions mean, of a library that is part of a state: a list of this host thread
//! is the only place that they all can reach.

use super::{Library, Member};
use kernel::Tid;
use kernel::map::Wide;
use memory::SpaceId;
use std::cell::{Cell, RefCell};

/// A question about other threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dependency {
    /// Everything about a thread.
    Member(Tid),
    /// Who sleeps at an object.
    Sleepers(u64),
    /// Who holds a lock.
    Holder(u64),
    /// Whose stack an address is in, but for that of a thread.
    StackOf(u64, Tid),
    /// Whether blocks are on their way back to their owners.
    Buried,
    /// Everything about everybody.
    Everybody,
    /// Whose local storage is there in a space; the answer is not the library's.
    Base(u64, SpaceId),
}

thread_local! {
    /// Who moves; 0 if nobody wants to know what it asks.
    static MOVER: Cell<u32> = const { Cell::new(0) };
    static ASKED: RefCell<Vec<Dependency>> = const { RefCell::new(Vec::new()) };
}

/// Questions of a thread about others are noted from now on.
pub fn listen_to(mover: Tid) {
    MOVER.set(mover.0);
    ASKED.with_borrow_mut(Vec::clear);
}

/// What was asked since; nothing is noted any more.
pub fn heard() -> Vec<Dependency> {
    MOVER.set(0);
    ASKED.take()
}

/// Notes a question.
#[inline]
pub fn note(question: Dependency) {
    if MOVER.get() != 0 && question != Dependency::Member(Tid(MOVER.get())) {
        ASKED.with_borrow_mut(|asked| asked.push(question));
    }
}

impl Library {
    /// What stands for the answer to a question.
    #[must_use]
    pub fn answer(&self, question: Dependency) -> u128 {
        match question {
            Dependency::Member(tid) => self.members.shared(&tid).map_or(0, kernel::shared::Shared::identity),
            Dependency::Sleepers(object) => match self.sleeping(object) {
                sleepers if sleepers.is_empty() => 0,
                sleepers => Wide::hash_of(sleepers),
            },
            Dependency::Holder(object) => self.holding(object).map_or(0, |tid| u128::from(tid.0)),
            Dependency::StackOf(address, but) => self.on_stack(address, but).map_or(0, |tid| u128::from(tid.0)),
            Dependency::Buried => u128::from(self.is_burying()),
            Dependency::Everybody => self.sum(),
            Dependency::Base(..) => 0,
        }
    }

    pub(super) fn sleeping(&self, object: u64) -> Vec<Tid> {
        let sleeps = |member: &Member| member.asleep.is_some_and(|asleep| asleep.object == object && !asleep.woken);
        self.members.iter().filter(|(_, member)| sleeps(member)).map(|(tid, _)| *tid).collect()
    }

    pub(super) fn holding(&self, object: u64) -> Option<Tid> {
        let holds = |member: &Member| member.holds.binary_search(&object).is_ok();
        self.members.iter().find(|(_, member)| holds(member)).map(|(tid, _)| *tid)
    }

    pub(super) fn on_stack(&self, address: u64, but: Tid) -> Option<Tid> {
        let holds = |member: &Member| member.stack.is_some_and(|(low, high)| (low..high).contains(&address));
        self.members.iter().find(|(tid, member)| **tid != but && holds(member)).map(|(tid, _)| *tid)
    }

    pub(super) fn is_burying(&self) -> bool {
        !self.buried.is_empty() || self.members.values().any(|member| !member.buried.is_empty())
    }
}
