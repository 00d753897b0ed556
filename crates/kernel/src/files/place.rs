//! What a path leads to.

use crate::errno::{EACCES, ENOENT, Errno};
use crate::id::Id;

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// An inode.
    Inode(Id),
    /// An open description that is no inode, through `/proc/self/fd`.
    Open(Id),
}

/// Where a path ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The directory of the last name.
    pub parent: Id,
    /// The last name; empty if the path ends in a dot, dots, the root, or a jump of `/proc`.
    pub name: Vec<u8>,
    /// What is there.
    pub node: Option<Node>,
    /// Whether the path ends in a slash, so that only a directory will do.
    pub slash: bool,
    /// Whether the last name was `..`.
    pub dots: bool,
}

impl Place {
    /// The inode that is there; `ENOENT` if there is none.
    pub fn inode(&self) -> Result<Id, Errno> {
        match self.node {
            Some(Node::Inode(id)) => Ok(id),
            Some(Node::Open(_)) => Err(EACCES),
            None => Err(ENOENT),
        }
    }
}
