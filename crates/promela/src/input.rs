//! What `STDIN` gives in a simulation.
//!
//! SPIN's `STDIN` is a channel for simulation only: what a user types cannot be enumerated, so a
//! check refuses models that read it before it begins.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Characters from outside, read when they are first asked for and then kept.
///
/// A state holds how many of them were read, so the same characters come again whenever a schedule is gone through again.
///
/// Shared by clones of a model and locked for one character: a simulation has one thread, a replay
/// may walk back and ask again.
#[derive(Clone)]
pub struct Input(Arc<Mutex<Typed>>);

struct Typed {
    source: Box<dyn Read + Send>,
    seen: Vec<u8>,
    ended: bool,
}

impl Input {
    /// The characters of a source.
    pub fn new(source: impl Read + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Typed { source: Box::new(source), seen: Vec::new(), ended: false })))
    }

    /// The character at a position; waits for it. `None` if the input ends before.
    #[must_use]
    pub fn character(&self, position: usize) -> Option<u8> {
        let mut typed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while typed.seen.len() <= position && !typed.ended {
            typed.read();
        }
        typed.seen.get(position).copied()
    }

    /// Whether somebody asked for more than there is.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ended
    }
}

impl Typed {
    /// One character at a time: whoever types sees an answer to each line.
    fn read(&mut self) {
        let mut character = [0];
        match self.source.read(&mut character) {
            Ok(1) => self.seen.push(character[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => self.ended = true,
        }
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Input")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_again_and_the_end_is_known_once_it_was_reached() {
        let input = Input::new(&b"ab"[..]);
        assert_eq!((input.character(1), input.character(0), input.has_ended()), (Some(b'b'), Some(b'a'), false));
        assert_eq!((input.character(2), input.character(1), input.has_ended()), (None, Some(b'b'), true));
    }
}
