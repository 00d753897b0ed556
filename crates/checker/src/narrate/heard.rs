//! An event of a step, as it was heard.

use super::files::Use;
use kernel::Tid;
use trace::{EventKind, Location};

/// Something that a thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeardEvent {
    /// Who.
    pub tid: Tid,
    /// What.
    pub kind: EventKind,
    /// The source line, if it is known.
    pub location: Option<Location>,
    /// Functions at work, innermost first.
    pub stack: Vec<String>,
    /// Files that it used.
    pub uses: Vec<Use>,
    /// It is about something that nobody else can know of.
    pub is_private: bool,
    /// A library did it before or behind the author's own code.
    pub is_runtime: bool,
}

impl HeardEvent {
    pub(super) fn new(tid: Tid, kind: EventKind) -> Self {
        let (stack, uses) = (Vec::new(), Vec::new());
        Self { tid, kind, location: None, stack, uses, is_private: false, is_runtime: false }
    }
}
