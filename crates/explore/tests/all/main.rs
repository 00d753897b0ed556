//! The engines against each other, on small systems.

mod differential;
mod engines;
mod graph;
mod sample;
mod search;
mod stateless;
mod toy;
