//! Programs as a system to be searched: its state, its actors, its steps.

pub mod actors;
pub mod choice;
pub mod choice_kind;
pub mod executor;
pub mod failures;
pub mod never;
pub mod overlay;
pub mod points;
pub mod programs;
pub mod read_set;
pub mod register_liveness;
mod savepoint;
pub mod service;
pub mod spin;
pub mod startup;
pub mod state;
pub mod step;
pub mod stepper;
pub mod syscalls;
pub mod view;
pub mod watchpoint;
pub mod workload;
