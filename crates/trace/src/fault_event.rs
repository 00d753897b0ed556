//! Faults of programs, as traces tell them.

use crate::Bytes;
use serde::{Deserialize, Serialize};

/// What happens to programs although none of them does it; or what such a fault had left to come.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultEvent {
    /// A program is killed.
    Kill(String),
    /// A program is killed, and its command is started again.
    Restart(String),
    /// A program stands still.
    Pause(String),
    /// A program that stood still goes on.
    Resume(String),
    /// The connection between two programs is reset.
    Reset([String; 2]),
    /// A datagram that was delayed arrives.
    Arrival(Bytes),
}
