//! Memoized steps and actors: results that are kept with all that they depended on, and the audit that executes them again.

pub mod actor_memo;
pub mod audit;
pub mod lru;
pub mod step_memo;
