//! A session with gdb: what it has asked for so far, and what an answer is.

use crate::target::Target;
use kernel::Tid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The answer to a packet that is not understood.
pub const EMPTY: &[u8] = b"";
/// The answer to one that cannot be answered, with a number that means nothing.
pub const ERROR: &[u8] = b"E01";

/// What a packet leads to.
pub enum Reply {
    /// An answer.
    Data(Vec<u8>),
    /// The end of the session, behind this answer.
    Last(Vec<u8>),
}

impl Reply {
    pub fn ok() -> Self {
        Self::Data(b"OK".to_vec())
    }

    pub fn text(text: &str) -> Self {
        Self::Data(text.as_bytes().to_vec())
    }

    pub fn error() -> Self {
        Self::Data(ERROR.to_vec())
    }

    /// An answer, or an error.
    pub fn of(data: Option<Vec<u8>>) -> Self {
        data.map_or_else(Self::error, Self::Data)
    }
}

/// A session in progress.
pub struct Session<'t, 'p> {
    pub target: &'t mut Target<'p>,
    /// The thread that `bs` and old packets move.
    pub moved: Option<Tid>,
    /// Whether gdb understands `swbreak` and `hwbreak` in answers.
    pub tells_breaks: bool,
    /// Kinds of breakpoints by address and kind, as gdb has set them.
    pub breaks: BTreeSet<(u8, u64, u64)>,
    /// Files that gdb has opened.
    pub open: BTreeMap<u64, Arc<[u8]>>,
    /// Acknowledgements end behind this answer.
    pub ends_acknowledging: bool,
}

impl<'t, 'p> Session<'t, 'p> {
    pub fn new(target: &'t mut Target<'p>) -> Self {
        let (breaks, open) = (BTreeSet::new(), BTreeMap::new());
        Self { target, moved: None, tells_breaks: false, breaks, open, ends_acknowledging: false }
    }
}
