//! gdb's remote protocol: one row for each kind of packet.
//!
//! "gdb Remote Serial Protocol" in gdb's manual says what each packet means. What is not answered, gdb does without.

mod execution;
mod files;
mod monitor;
mod packet;
mod queries;
mod registers;
mod serve;
mod session;
mod state;
mod text;

pub use serve::{Connection, serve};
