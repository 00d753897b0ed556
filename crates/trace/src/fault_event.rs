//! Faults of programs, as traces tell them.

use crate::{Bytes, Location};
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
    /// The network between a program and all others is down.
    Partition(String),
    /// It is up again.
    Reconnect(String),
    /// A signal is sent to a program.
    Signal {
        /// Its name, such as `SIGTERM`.
        signal: String,
        /// The program.
        program: String,
    },
    /// The connection between two programs is reset.
    Reset([String; 2]),
    /// A datagram that was delayed arrives.
    Arrival(Bytes),
    /// Time passes although somebody could move: so many nanoseconds.
    Early(u64),
    /// The real-time clock is set forward or back: by so many nanoseconds.
    Clock(i64),
    /// Power fails: all programs end at once.
    PowerLoss,
    /// What is on the disk behind it.
    Disk(DiskEvent),
}

/// What of the changes that were not durable is on the disk, and what is not.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiskEvent {
    /// What has reached it.
    pub reached: Vec<DiskChange>,
    /// What has not.
    pub lost: Vec<DiskChange>,
}

/// A change of files that was not durable when power failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiskChange {
    /// What it changed.
    pub what: DiskWhat,
    /// The call that made it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The line of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The directory or file whose `fsync(2)` would have made it durable.
    pub by_sync_of: String,
}

/// What a change of files is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskWhat {
    /// A name was made.
    Made(String),
    /// A name was removed.
    Removed(String),
    /// A name became another.
    Renamed([String; 2]),
    /// A file got another length.
    Size {
        /// Which one.
        file: String,
        /// Its length before.
        from: u64,
        /// Its length since.
        to: u64,
    },
    /// Bytes of a file were written.
    Bytes {
        /// Which one.
        file: String,
        /// Where they begin.
        offset: u64,
        /// How many there are.
        count: u64,
    },
}
