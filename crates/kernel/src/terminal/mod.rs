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
mod settings;
mod slave;

use crate::call::{Call, Stop};
use crate::descriptor::{Description, File, O_ACCMODE, O_CLOEXEC, O_NOCTTY, O_NONBLOCK};
use crate::errno::{EIO, ENXIO};
use crate::id::{Id, Pid};
use crate::map::Map;
use crate::net::Bytes;
use crate::table::syscall::Row;
use crate::{Kernel, event};
use settings::Settings;
use std::collections::VecDeque;

pub use job::{controlling, session_ended};
pub use master::OPERATIONS as MASTER;
pub use slave::OPERATIONS as SLAVE;

/// The calls of this family: none, all goes through files.
pub const ROWS: &[Row] = &[];

/// How much of output a master can leave unread before programs wait, and how much input.
const BUFFER_MAX: usize = 65_536;

/// All terminals.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Terminals {
    all: Map<Id, Terminal>,
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
    number: u32,
    /// The slave cannot be opened yet (`unlockpt(3)`).
    locked: bool,
    /// The master is open.
    has_master: bool,
    /// Open descriptions of the slave.
    slaves: u32,
    /// The last slave was closed, and none opened since.
    left: bool,
    /// Modes and control characters.
    settings: Settings,
    /// `struct winsize`.
    size: [u16; 4],
    /// The session that it controls.
    session: Option<Pid>,
    /// The foreground process group.
    foreground: Option<Pid>,
    /// Lines (or, without line editing, bytes) that programs can read.
    lines: VecDeque<Line>,
    /// The line being edited.
    edited: Vec<u8>,
    /// The next character is taken literally (`VLNEXT`).
    literal: bool,
    /// Output is stopped (`VSTOP`).
    stopped: bool,
    /// Column of the cursor, for tabs and erasing.
    column: usize,
    /// What the master can read: output and echo.
    output: Bytes,
}

/// A line of input.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Line {
    bytes: Bytes,
    /// It was completed: by a newline, or by the end-of-file key.
    complete: bool,
}

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

impl Terminal {
    fn new(number: u32) -> Self {
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
    fn input_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.bytes.len()).sum()
    }

    /// Whether a read for so many bytes has something to give.
    fn has_input(&self, bytes: usize) -> bool {
        if self.settings.is_canonical() {
            return self.lines.iter().any(|line| line.complete);
        }
        self.input_bytes() >= bytes.max(1)
    }

    fn has_output_room(&self) -> bool {
        !self.stopped && self.output.len() < BUFFER_MAX
    }

    fn has_input_room(&self) -> bool {
        self.input_bytes() + self.edited.len() < BUFFER_MAX
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
