//! Terminals: pseudo-terminals with line editing, echo, signals from keys and job control (`termios(3)`, `pty(7)`).
//!
//! A pair has a master, where a terminal emulator or a server like dropbear sits, and a slave, which looks like a terminal
//! to programs. What is written to the master is input and goes through the line discipline; what programs write goes
//! through output processing to the master.

mod discipline;
mod ioctl;
mod job;
mod master;
mod output;
pub(crate) mod request;
mod settings;
mod slave;
pub(crate) mod state;

use crate::call::{Call, Stop};
use crate::descriptor::{Description, File, O_ACCMODE, O_CLOEXEC, O_NOCTTY, O_NONBLOCK};
use crate::errno::{EIO, ENXIO};
use crate::id::Id;
use crate::table::syscall::Row;
use crate::{Kernel, event};

pub use job::{controlling, session_ended};
pub use master::OPERATIONS as MASTER;
pub use request::Request;
pub use slave::OPERATIONS as SLAVE;
pub use state::{Terminal, Terminals};

/// The calls of this family: none, all goes through files.
pub const ROWS: &[Row] = &[];

/// Whether what a thread waits for is there.
#[must_use]
pub fn holds(kernel: &Kernel, request: Request) -> bool {
    let (Request::Input(id, _)
    | Request::OutputRoom(id)
    | Request::Foreground(id, _)
    | Request::Output(id)
    | Request::InputRoom(id)) = request;
    let Some(terminal) = kernel.terminals.all.get(&id) else { return true };
    match request {
        Request::Input(_, bytes) => !terminal.has_master || terminal.has_input(bytes),
        Request::OutputRoom(_) => !terminal.has_master || terminal.has_output_room(),
        Request::Foreground(_, pid) => !job::is_background(kernel, id, pid),
        Request::Output(_) => terminal.left || !terminal.output.is_empty(),
        Request::InputRoom(_) => terminal.has_input_room(),
    }
}

/// Opens `/dev/ptmx`: a new pair.
pub fn open_master(call: &mut Call<'_>, flags: u32, path: Vec<u8>) -> Result<u64, Stop> {
    let id = call.fresh_id();
    let taken = |number: &u32| call.kernel.terminals.all.values().any(|terminal| terminal.number == *number);
    let number = (0..).find(|number| !taken(number)).ok_or(EIO)?;
    let description = Description::new(File::PtyMaster(id), flags & (O_ACCMODE | O_NONBLOCK), path);
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    call.kernel.terminals.all.insert(id, Terminal::new(number));
    Ok(fd as u64)
}

/// Opens `/dev/pts/` and a number.
pub fn open_slave(call: &mut Call<'_>, number: u32, flags: u32, path: Vec<u8>) -> Result<u64, Stop> {
    let id = find(call.kernel, number).ok_or(ENXIO)?;
    open_terminal(call, id, flags, path)
}

/// Opens a terminal; a session leader without one gets it as its controlling terminal, unless it asked not to.
fn open_terminal(call: &mut Call<'_>, id: Id, flags: u32, path: Vec<u8>) -> Result<u64, Stop> {
    let terminal = call.kernel.terminals.all.get(&id).ok_or(ENXIO)?;
    if terminal.locked || !terminal.has_master {
        return Err(EIO.into());
    }
    let description = Description::new(File::Terminal(id), flags & (O_ACCMODE | O_NONBLOCK), path);
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    let terminal = terminal_mut(call.kernel, id);
    terminal.slaves += 1;
    terminal.left = false;
    if flags & O_NOCTTY == 0 {
        job::adopt(call.kernel, call.pid, id);
    }
    Ok(fd as u64)
}

/// Opens `/dev/tty`: the caller's controlling terminal.
pub fn open_controlling(call: &mut Call<'_>, flags: u32, path: Vec<u8>) -> Result<u64, Stop> {
    let id = controlling(call.kernel, call.pid).ok_or(ENXIO)?;
    open_terminal(call, id, flags | O_NOCTTY, path)
}

/// The numbers of all slaves, for `/dev/pts`.
#[must_use]
pub fn numbers(kernel: &Kernel) -> Vec<u32> {
    // The name goes with the master, however many still use the slave.
    let named = kernel.terminals.all.values().filter(|terminal| terminal.has_master);
    let mut numbers: Vec<u32> = named.map(|terminal| terminal.number).collect();
    numbers.sort_unstable();
    numbers
}

/// The number of a terminal, for its path and device number.
#[must_use]
pub fn number(kernel: &Kernel, id: Id) -> Option<u32> {
    kernel.terminals.all.get(&id).map(|terminal| terminal.number)
}

fn find(kernel: &Kernel, number: u32) -> Option<Id> {
    kernel.terminals.all.iter().find(|(_, terminal)| terminal.number == number).map(|(id, _)| *id)
}

/// The terminal of a description, master or slave.
fn of_description(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::PtyMaster(id) | File::Terminal(id) => Some(id),
        _ => None,
    }
}

fn terminal_mut(kernel: &mut Kernel, id: Id) -> &mut Terminal {
    kernel.terminals.all.get_mut(&id).expect("an open terminal exists")
}

/// A terminal that neither side has open is gone.
fn drop_if_unused(kernel: &mut Kernel, id: Id) {
    if kernel.terminals.all.get(&id).is_some_and(|terminal| !terminal.has_master && terminal.slaves == 0) {
        kernel.terminals.all.remove(&id);
    }
}

/// Tells whoever waits for events of the slave, or of the master.
fn wake_slave(kernel: &mut Kernel, id: Id, events: u16) {
    event::wake(kernel, File::Terminal(id), events);
}

fn wake_master(kernel: &mut Kernel, id: Id, events: u16) {
    event::wake(kernel, File::PtyMaster(id), events);
}
