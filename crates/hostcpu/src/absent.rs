//! Hosts that cannot execute x86-64 Linux code.

use crate::{Outcome, State};

/// Never exists here.
#[derive(Debug)]
pub enum Host {}

impl Host {
    /// Not available on this host.
    pub fn new() -> Option<Self> {
        None
    }

    /// The window's bytes.
    pub fn window(&mut self) -> &mut [u8] {
        match *self {}
    }

    /// The part of the window that can be written.
    pub fn writable(&mut self) -> &mut [u8] {
        match *self {}
    }

    /// Makes the last page read-only.
    pub fn seal(&mut self) {
        match *self {}
    }

    /// Executes `code` once.
    pub fn run(&mut self, _code: &[u8], _state: &mut State) -> Outcome {
        match *self {}
    }
}
