//! Processes of x86-64 Linux.

mod channel;
mod command;
mod connection;
mod diag;
mod flow;
mod instance;
mod limit;
mod link;
mod output;
mod passing;
mod ports;
mod probe;
mod rest;
mod supervisor;
mod sys;
mod threads;
mod unix;
mod wire;

pub use command::run;
pub use instance::Instance;
pub use link::Link;
pub use probe::probes;
pub use supervisor::supervise_if_asked;
