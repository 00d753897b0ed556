//! A timeline over a trace: marks, forwards, backwards.
//!
//! **Invariant:** nothing is believed that was not executed here. A trace is told by taking its choices again; a
//! counterexample that does not show its failure again is a [`Mismatch`], never a report.

mod confirm;
mod one_run;
mod run;
mod shorten;
mod system;
mod timeline;

pub use confirm::{Witness, confirm, confirm_finite, is_weakly_fair};
pub use one_run::one_run;
pub use run::{Mismatch, Run, introduce, run};
pub use shorten::{Budget, Candidate, Shows, fails_with, shorten};
pub use system::{Explained, Label, ModelReplay, Replayable, Stepped};
pub use timeline::{Timeline, Told};
