//! Search of systems whose steps tell what they touch: real programs.
//!
//! What a thread will do next is not written down anywhere; it is known once it was done. So the reduction is found while
//! searching: a fixpoint over the graph of explored states. Every state begins with one actor; another is added wherever the
//! explored future shows that it could come first and matter (condition C1'), and no cycle may go on without somebody (C3).
//! Nothing depends on the order of the search.
//!
//! For every explored state `s` whose actors were not all taken:
//!
//! - **C0** some actor is taken at `s`, if any can move;
//! - **C1'** no step taken at `s` conflicts with anything that an actor not taken at `s` may do in the explored future behind
//!   that step, or is about to do there;
//! - **C3** no cycle consists of such states only.
//!
//! Then every deadlock, failed step and executed operation of the whole graph is found in the explored one.

mod future;
mod node;
mod path;
mod race;
mod search;
mod touch;

pub use search::{Found, Limits, Mode, Report, search};

use crate::system::Failure;
use trace::Choice;

/// A system whose steps tell what they touch.
///
/// Independent steps must commute bit for bit: two steps of different actors that touch no common object with a write lead
/// to the same fingerprint in either order.
pub trait Traced {
    /// One configuration, cheap to keep.
    type State: Clone;

    /// Where everything starts.
    fn initial(&mut self) -> Reached<Self::State>;

    /// Takes a choice; nothing if there is none such.
    fn step(&mut self, state: &Self::State, choice: Choice) -> Option<Taken<Self::State>>;
}

/// A state that was reached.
#[derive(Clone, Debug)]
pub struct Reached<S> {
    /// The state.
    pub state: S,
    /// What stands for it.
    pub fingerprint: u128,
    /// Everybody who exists there.
    pub actors: Vec<Actor>,
    /// What is wrong with it if nobody can move; nothing if the system may end there.
    pub stuck: Option<Failure>,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken<S> {
    /// Where it led.
    pub reached: Reached<S>,
    /// What it touched.
    pub touches: Vec<Touch>,
    /// What went wrong on the way.
    pub failure: Option<Failure>,
}

/// Somebody in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// Its number, the same in every state and every order of creation.
    pub number: u32,
    /// How many choices it has; 0 if it waits.
    pub choices: u32,
    /// What it waits for: objects whose change may let it go on.
    pub awaits: Vec<u64>,
    /// Who must move first, if that is known: the holder of the lock that it waits for.
    pub behind: Option<u32>,
    /// Who created it; itself if it was there from the start.
    pub creator: u32,
}

/// Something that a step touched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Touch {
    /// What: a word of memory, a pipe, a lock.
    pub object: u64,
    /// Whether it may have been changed.
    pub write: bool,
    /// Whether by a plain access to memory, which must not happen at the same time as another's.
    pub plain: bool,
}

/// Two accesses that must not happen at the same time, and can.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Race {
    /// The word.
    pub object: u64,
    /// Whether both accesses are plain; otherwise one synchronises, and the word may be meant to be used like that.
    pub plain: bool,
    /// One actor and whether it writes.
    pub one: (u32, bool),
    /// The other.
    pub other: (u32, bool),
}
