//! Worlds as something to be searched: every schedule of real programs.

mod actors;
mod advance;
mod allocation;
mod armed;
mod callback;
mod calls;
mod choosing;
mod dead;
pub mod driver;
mod failing;
mod forbid;
mod hooked;
mod knowledge;
pub mod library;
mod memory_touch;
mod met;
pub mod options;
mod points;
pub mod programs;
pub mod races;
pub mod reach;
mod remembered;
pub mod service;
mod spin;
pub mod story;
pub mod touch;
mod twin;
mod ways;

pub use choosing::Choosing;
pub use driver::{Engine, Outcome, awaits, search, search_by};
pub use forbid::named;
pub use options::{Checks, Depth, Options, Timeouts};
pub use programs::{Programs, Snapshot};
pub use service::{Expected, Gate, Service};
