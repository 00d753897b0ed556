//! What the kernel keeps of terminals.

use super::settings::Settings;
use crate::id::{Id, Pid};
use crate::map::Map;
use crate::net::bytes::Bytes;
use std::collections::VecDeque;

/// How much of output a master can leave unread before programs wait, and how much input.
pub(super) const BUFFER_MAX: usize = 65_536;

/// All terminals.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Terminals {
    pub(super) all: Map<Id, Terminal>,
}

impl Terminals {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A pseudo-terminal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Terminal {
    /// The slave is `/dev/pts/` and this.
    pub(super) number: u32,
    /// The slave cannot be opened yet (`unlockpt(3)`).
    pub(super) locked: bool,
    /// The master is open.
    pub(super) has_master: bool,
    /// Open descriptions of the slave.
    pub(super) slaves: u32,
    /// The last slave was closed, and none opened since.
    pub(super) left: bool,
    /// Modes and control characters.
    pub(super) settings: Settings,
    /// `struct winsize`.
    pub(super) size: [u16; 4],
    /// The session that it controls.
    pub(super) session: Option<Pid>,
    /// The foreground process group.
    pub(super) foreground: Option<Pid>,
    /// Lines (or, without line editing, bytes) that programs can read.
    pub(super) lines: VecDeque<Line>,
    /// The line being edited.
    pub(super) edited: Vec<u8>,
    /// The next character is taken literally (`VLNEXT`).
    pub(super) literal: bool,
    /// Output is stopped (`VSTOP`).
    pub(super) stopped: bool,
    /// Column of the cursor, for tabs and erasing.
    pub(super) column: usize,
    /// What the master can read: output and echo.
    pub(super) output: Bytes,
}

/// A line of input.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Line {
    pub(super) bytes: Bytes,
    /// It was completed: by a newline, or by the end-of-file key.
    pub(super) complete: bool,
}

impl Terminal {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            locked: true,
            has_master: true,
            slaves: 0,
            left: false,
            settings: Settings::default(),
            size: [0; 4],
            session: None,
            foreground: None,
            lines: VecDeque::new(),
            edited: Vec::new(),
            literal: false,
            stopped: false,
            column: 0,
            output: Bytes::default(),
        }
    }

    /// Bytes that wait to be read, complete lines or not.
    pub(super) fn input_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.bytes.len()).sum()
    }

    /// Whether a read for so many bytes has something to give.
    pub(super) fn has_input(&self, bytes: usize) -> bool {
        if self.settings.is_canonical() {
            return self.lines.iter().any(|line| line.complete);
        }
        self.input_bytes() >= bytes.max(1)
    }

    pub(super) fn has_output_room(&self) -> bool {
        !self.stopped && self.output.len() < BUFFER_MAX
    }

    pub(super) fn has_input_room(&self) -> bool {
        self.input_bytes() + self.edited.len() < BUFFER_MAX
    }
}
