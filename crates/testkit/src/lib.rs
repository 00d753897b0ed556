//! Toy systems and fixtures for tests: systems small enough to spell out, random programs, monitors and Promela models
//! to meet cases that nobody thought of, and an [`oracle`] that decides by enumeration what the engine decides by
//! cleverness.

pub mod counters;
pub mod erased;
pub mod heavy;
pub mod monitors;
pub mod oracle;
pub mod philosophers;
pub mod programs;
pub mod random_model;

pub use counters::Counters;
pub use erased::Erased;
pub use heavy::Heavy;
pub use monitors::random_monitor;
pub use oracle::Space;
pub use philosophers::Philosophers;
pub use programs::{Program, Shape};
