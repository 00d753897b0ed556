//! What threads wait for at terminals.

use crate::id::{Id, Pid};

/// Something about a terminal that a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// That many bytes (or a line) can be read, or no more will come.
    Input(Id, usize),
    /// Programs can write, or nobody will read.
    OutputRoom(Id),
    /// The process is in the foreground, or the terminal no longer controls it.
    Foreground(Id, Pid),
    /// The master can read output, or there will be none.
    Output(Id),
    /// The master can write.
    InputRoom(Id),
}
