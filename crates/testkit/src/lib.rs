//! Toy systems and fixtures for tests.

pub mod counters;
pub mod heavy;
pub mod philosophers;

pub use counters::Counters;
pub use heavy::Heavy;
pub use philosophers::Philosophers;

pub mod random_model;
