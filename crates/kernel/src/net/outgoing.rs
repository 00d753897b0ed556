//! What a call has to send.

use super::address::Given;
use super::socket::Identity;
use crate::id::Id;

/// Something to send.
pub struct Outgoing<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Where to, if the call says so.
    pub to: Option<Given>,
    /// `MSG_*`.
    pub flags: u32,
    /// Open files to pass (`SCM_RIGHTS`), each with a reference of its own; taken out when they are on their way.
    pub rights: Vec<Id>,
    /// Whom the message shall name as its sender (`SCM_CREDENTIALS`).
    pub identity: Option<Identity>,
}
