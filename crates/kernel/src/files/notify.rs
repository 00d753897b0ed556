//! What changes in the tree, for those who watch it (`inotify(7)`).

use crate::Kernel;
use crate::id::Id;

/// A file's content has changed.
pub fn modified(_: &mut Kernel, _: Id) {}

/// A name was created in a directory.
pub fn created(_: &mut Kernel, _: Id, _: &[u8], _: bool) {}
