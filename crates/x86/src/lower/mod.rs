//! The lowered interpreter: blocks of micro-operations, made once from decoded instructions and kept by content.

mod address;
mod build;
mod chain;
mod code;
mod fuse;
mod live;
mod map;
mod operation;
mod ops;
mod run;
mod stops;
mod translate;
mod uop;
mod width;

pub use code::Code;
pub use run::{Stop, run, run_past, settle};
pub use stops::{Stops, begins_synchronising, is_synchronising};
