//! Memory against a naive one, and against Linux.

mod basics;
mod effect;
mod limit;
mod linux;
mod naive;
mod random;
mod unchanged;
mod watch;
