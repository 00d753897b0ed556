//! Searches until no refinement is left, with any of the engines and any number of workers.

pub mod diagnose;
pub mod driver;
mod formulas;
mod sampled_refinement;
pub mod worker;
