//! How a peer is driven, as its user says.

use crate::checkpoint::Strategy;
use crate::commands::Commands;
use crate::framing::Framing;
use crate::ignore::Ignore;
use ::native::Clock;
use std::time::Duration;

/// How a peer is driven.
#[derive(Clone, Debug)]
pub struct Terms {
    /// At which places of the conversation its state is kept: in a world of its own, or by commands.
    pub strategy: Strategy,
    /// Which time it sees, on the host.
    pub clock: Clock,
    /// What of its answers may differ when it is told the same again, on the host.
    pub ignore: Ignore,
    /// How long it may take to listen, and to come to rest after a message: in a world of its own, of that world's time.
    pub patience: Duration,
    /// How its state is kept and brought back, on the host; otherwise it is told again what it was told.
    pub commands: Option<Commands>,
    /// Whether every schedule has to say the same to it.
    pub is_strict: bool,
    /// How messages to it are told apart, if they are.
    pub framing: Option<Framing>,
    /// Whether messages from it may come in any order.
    pub is_unordered: bool,
    /// Whether each connection has a conversation of its own.
    pub is_independent: bool,
}

impl Default for Terms {
    fn default() -> Self {
        let (strategy, clock, ignore) = (Strategy::default(), Clock::default(), Ignore::default());
        Self {
            strategy,
            clock,
            ignore,
            patience: Duration::from_secs(10),
            commands: None,
            is_strict: false,
            framing: None,
            is_unordered: false,
            is_independent: false,
        }
    }
}
