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

mod bounded;
mod fixpoint;
mod footprint_system;
mod footprint_table;
mod future;
mod graph_report;
mod inevitable;
mod kept;
mod livelock;
mod lookahead;
mod node;
mod options;
mod path;
mod presence;
mod present;
mod race;
mod report;
mod scc;
mod search;
mod state_graph;
mod workers;

pub use footprint_system::{Access, Actor, FootprintSystem, Race, Reached, Step, StepContext, Taken};
pub(crate) use footprint_table::Actors;
pub use options::{Bound, Limits, Mode, Options, Stopped};
#[doc(hidden)]
pub use options::{Filter, Parts};
pub use report::{Counts, Found, Livelock, Met, Report, SORTS, Sorts};
pub use search::{search, search_with};
pub use workers::search_with_many;
