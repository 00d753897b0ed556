//! Searches every schedule of real programs: footprints, reduction, memo, narration.
//!
//! [`world`] is the machine that runs programs; this crate makes it a system whose steps report their footprints, which
//! the engines of [`explore`] search.

pub mod faults;
pub mod footprint;
pub mod libc;
pub mod memo;
pub mod narrate;
pub mod options;
mod refinement;
pub mod search;
mod store_buffer;
pub mod system;

pub use faults::{Effect, Fault, FaultPlan};
pub use memo::audit::Audited;
pub use options::{BUFFERED_MAX, Checks, Depth, HORIZON, Holes, MemoryModel, Options, Timeouts};
pub use search::diagnose::Difference;
pub use search::driver::{Earlier, Engine, Outcome, awaits, search, search_by};
pub use store_buffer::StoreBuffers;
pub use system::choice_kind::ChoiceKind;
pub use system::formula::{Formula, Refutation};
pub use system::horizon::Cut;
pub use system::never::named;
pub use system::programs::{Programs, STRICT};
pub use system::schedulers::Scheduler;
pub use system::service::{Expected, Gate, Service};
pub use system::start_peer::{PeerProblem, PeerStart};
pub use system::state::Snapshot;
