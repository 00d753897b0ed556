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
mod traced;

pub use search::{Found, Limits, Mode, Report, search};
pub use traced::{Actor, Race, Reached, Taken, Touch, Traced};
