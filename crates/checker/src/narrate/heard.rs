//! An event of a step, as it was heard.

use super::files::Use;
use kernel::Tid;
use trace::Location;

/// Something that a thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeardEvent {
    /// Who.
    pub tid: Tid,
    /// What, in words.
    pub text: String,
    /// The source line, if it is known.
    pub location: Option<Location>,
    /// Functions at work, innermost first.
    pub stack: Vec<String>,
    /// A signal was delivered.
    pub is_signal: bool,
    /// Files that it used.
    pub uses: Vec<Use>,
    /// It is about something that nobody else can know of.
    pub is_private: bool,
}

impl HeardEvent {
    pub(super) fn new(tid: Tid, text: String) -> Self {
        let (stack, uses) = (Vec::new(), Vec::new());
        Self { tid, text, location: None, stack, is_signal: false, uses, is_private: false }
    }
}
