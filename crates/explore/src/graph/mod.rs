//! Stateful search of systems whose steps report footprints: real programs.
//!
//! The footprint of a step is known only once it was executed. So persistent sets are found during the search, as a fixpoint
//! over the graph of explored states: every state begins with one actor, and others are added until the conditions below
//! hold everywhere. Nothing depends on the order of the search.
//!
//! For every state `s`, with en(s) its enabled actors, done(s) those whose steps are explored, and F(s) the explored future
//! (the accesses of all pending steps at `s`, of the steps explored at `s`, and of the futures of their successors),
//! if done(s) is not en(s):
//!
//! - **C0** done(s) is not empty unless en(s) is;
//! - **C1'** no explored step of `s` conflicts with an access in F of its successor of an actor outside done(s), nor, where
//!   it ends an actor, with the pending step of that actor at `s`;
//! - **C2** (properties) no explored step of `s` is visible;
//! - **C3** no cycle consists only of such states.
//!
//! Then done(s) is a persistent set: all deadlocks, failed steps and executed operations of the full graph are in the
//! explored one. `fixpoint.rs` says why each condition is needed.
//!
//! - `engine.rs`: entry points; `search.rs`: the search; `bounded.rs`: searches within a bound, without reduction;
//! - `node.rs`, `state_graph.rs`: states; `actor_table.rs`, `actor_records.rs`: their actors, and the pending footprints;
//! - `footprint_table.rs`: interned footprints; `future.rs`: interned futures; `fixpoint.rs`: the conditions;
//! - `snapshot_cache.rs`, `trial_cache.rs`: what is kept although it could be executed again;
//! - `job.rs`, `lookahead.rs`, `workers.rs`: threads that execute steps ahead of the search;
//! - `scc.rs`, `path.rs`, `inevitable.rs`, `livelock.rs`, `races.rs`, `report.rs`, `graph_report.rs`: what the graph shows;
//! - `explored.rs`: the graph as a system of its own, for properties of runs.

mod actor_records;
mod actor_table;
mod bounded;
mod components;
mod engine;
mod explored;
mod fifo_map;
mod fixpoint;
mod footprint_table;
mod future;
mod graph_context;
mod graph_report;
mod inevitable;
mod job;
mod livelock;
mod lookahead;
mod node;
mod options;
mod path;
mod races;
mod report;
mod scc;
mod search;
mod snapshot_cache;
mod state_graph;
mod trial_cache;
mod workers;

pub use crate::footprint::Access;
pub use crate::footprint_system::{Actor, FootprintSystem, Reached, Step, StepContext, Taken};
pub use crate::found::{CHOICE_KINDS, ChoiceCount, ChoiceCounts, Found, Stopped};
pub use crate::race::Race;
pub use engine::{search, search_with, search_with_many};
pub use explored::ExploredGraph;
pub use options::{Bound, Limits, Mode, Options};
#[doc(hidden)]
pub use options::{Filter, Parts};
pub use report::{Counts, Livelock, Report};
