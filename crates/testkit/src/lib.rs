//! Toy systems and fixtures for tests.

pub mod counters;
pub mod heavy;
pub mod monitors;
pub mod oracle;
pub mod philosophers;
pub mod programs;
pub mod random_model;

pub use counters::Counters;
pub use heavy::Heavy;
pub use monitors::random_monitor;
pub use oracle::Space;
pub use philosophers::Philosophers;
pub use programs::{Program, Shape};
