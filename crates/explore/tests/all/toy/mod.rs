//! Small concurrent programs whose steps report footprints: the systems on which the engines are compared.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod classics;
pub mod code;
pub mod generate;
pub mod machine;
mod step;

pub use machine::{Machine, Program};
