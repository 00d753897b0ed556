//! Memoized steps and actors: results kept with all that they depended on, and the audit that computes them again.
//!
//! [`memoized::Memoized`] wraps [`crate::Programs`]: a search runs with or without it, and finds the same.

pub mod actor_memo;
pub mod audit;
pub mod key;
pub mod lru;
pub mod memoized;
mod prefix_steps;
pub mod step_memo;
