//! From an executable file to memory that can run: what Linux does in `execve(2)`.

pub mod elf;
pub mod script;
pub mod stack;

use elf::{Elf, ElfError, Segment};
use kernel::errno::{EACCES, EINVAL, ELIBBAD, ELOOP, ENOEXEC, ENOMEM};
use kernel::process::Image;
use kernel::{Errno, Id, Kernel, Pid, files};
use memory::{Backing, Mapping, Memory, Name, PAGE_SIZE, Protection, Sharing, SpaceId};
use stack::Auxiliary;
use std::fmt;

/// Where position-independent programs go: the address that gdb's users know, as with randomisation off.
const PROGRAM_BASE: u64 = 0x5555_5555_4000;
/// Mappings are placed downwards from here.
pub const MAPPINGS_TOP: u64 = 0x7fff_f7ff_f000;
/// The stack ends here.
const STACK_TOP: u64 = 0x7fff_ffff_f000;
/// What a stack has beyond its content at first.
const STACK_ROOM: u64 = 0x20000;
/// How many interpreters may interpret each other.
pub const SCRIPT_DEPTH: usize = 5;

/// What to run.
pub struct Request<'a> {
    /// The file.
    pub inode: Id,
    /// Its path, as given.
    pub path: &'a [u8],
    /// Arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Environment.
    pub environment: Vec<Vec<u8>>,
    /// On whose behalf paths are looked up.
    pub pid: Pid,
    /// Sixteen bytes for `AT_RANDOM`.
    pub random: [u8; 16],
}

/// A program in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// Address of the first instruction.
    pub entry: u64,
    /// The stack pointer.
    pub stack_pointer: u64,
    /// Where the heap begins.
    pub heap: u64,
    /// What `/proc/self` tells about it.
    pub image: Image,
}

/// Why a program cannot be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// The file itself is not right.
    Elf(ElfError),
    /// The interpreter that the file names is not there, or not right.
    Interpreter(Vec<u8>, Errno),
    /// Built for instructions beyond those that are modelled.
    Isa(&'static str),
    /// Anything else.
    Errno(Errno),
}

impl From<Errno> for LoadError {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<ElfError> for LoadError {
    fn from(error: ElfError) -> Self {
        Self::Elf(error)
    }
}

impl LoadError {
    /// What `execve(2)` returns for it.
    #[must_use]
    pub fn errno(&self) -> Errno {
        match self {
            Self::Elf(ElfError::Malformed(_)) => EINVAL,
            Self::Elf(_) => ENOEXEC,
            Self::Interpreter(_, errno) | Self::Errno(errno) => *errno,
            Self::Isa(_) => ENOEXEC,
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(error) => error.fmt(f),
            Self::Interpreter(path, errno) => {
                write!(f, "its interpreter {} cannot be used: {errno}", String::from_utf8_lossy(path))
            }
            Self::Isa(level) => write!(f, "it was built for {level} processors, whose instructions are not modelled"),
            Self::Errno(errno) => errno.fmt(f),
        }
    }
}

/// Loads a program, or the interpreter of a script, into an empty address space.
pub fn load(
    kernel: &mut Kernel,
    memory: &mut Memory,
    space: SpaceId,
    mut request: Request<'_>,
) -> Result<Loaded, LoadError> {
    let mut path = request.path.to_vec();
    for _ in 0..SCRIPT_DEPTH {
        let start = beginning(kernel, memory, request.inode)?;
        let Some(script) = script::parse(&start) else {
            return load_elf(kernel, memory, space, &request, &path);
        };
        let script_path = std::mem::replace(&mut path, script.interpreter.clone());
        let inode = files::resolve(kernel, request.pid, &script.interpreter, true)
            .map_err(|errno| LoadError::Interpreter(script.interpreter.clone(), errno))?;
        request.inode = inode;
        let rest = request.arguments.into_iter().skip(1);
        let front = [Some(script.interpreter), script.argument, Some(script_path)];
        request.arguments = front.into_iter().flatten().chain(rest).collect();
    }
    Err(ELOOP.into())
}

/// The interpreter that a file names by its first bytes: that of a script, or of a dynamically linked program.
pub fn interpreter(start: &[u8]) -> Result<Option<Vec<u8>>, ElfError> {
    match script::parse(start) {
        Some(script) => Ok(Some(script.interpreter)),
        None => Elf::parse(start).map(|elf| elf.interpreter),
    }
}

/// Not even root executes a file that nobody may execute, nor a directory (`execve(2)`, `EACCES`).
fn check_executable(kernel: &Kernel, inode: Id) -> Result<(), Errno> {
    let inode = kernel.inode(inode).ok_or(EACCES)?;
    let is_executable = inode.kind == files::Kind::Regular && inode.mode & 0o111 != 0;
    if is_executable { Ok(()) } else { Err(EACCES) }
}

/// The first bytes of a file that may be executed.
fn beginning(kernel: &mut Kernel, memory: &mut Memory, inode: Id) -> Result<Vec<u8>, LoadError> {
    check_executable(kernel, inode)?;
    let (object, length) = files::content(kernel, memory, inode).map_err(|_| EACCES)?;
    let mut bytes = vec![0; length.min(4096) as usize];
    let read = memory.read_object(object, 0, &mut bytes);
    bytes.truncate(read);
    Ok(bytes)
}

/// A file that is to be mapped.
struct Binary {
    elf: Elf,
    object: memory::ObjectId,
    base: u64,
    path: Vec<u8>,
}

fn open(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, inode: Id, path: &[u8]) -> Result<Binary, LoadError> {
    check_executable(kernel, inode)?;
    // Mappings are named by the whole path, whatever way the file was named.
    let path = files::real_path(kernel, pid, path).unwrap_or_else(|| path.to_vec());
    let (object, length) = files::content(kernel, memory, inode).map_err(|_| EACCES)?;
    // Headers lie in the first pages of every file that a linker makes.
    let mut bytes = vec![0; length.min(1 << 20) as usize];
    let read = memory.read_object(object, 0, &mut bytes);
    bytes.truncate(read);
    let elf = Elf::parse(&bytes)?;
    match elf.isa_needed {
        needed if needed & 8 != 0 => Err(LoadError::Isa("x86-64-v4")),
        needed if needed & 4 != 0 => Err(LoadError::Isa("x86-64-v3")),
        _ => Ok(Binary { elf, object, base: 0, path }),
    }
}

fn load_elf(
    kernel: &mut Kernel,
    memory: &mut Memory,
    space: SpaceId,
    request: &Request<'_>,
    path: &[u8],
) -> Result<Loaded, LoadError> {
    let mut program = open(kernel, memory, request.pid, request.inode, path)?;
    let (first, _) = program.elf.extent();
    if program.elf.relocatable {
        program.base = (PROGRAM_BASE & !(program.elf.alignment() - 1)).wrapping_sub(first);
    }
    map_binary(memory, space, &program)?;
    let entry = program.base.wrapping_add(program.elf.entry);
    let interpreter = load_interpreter(kernel, memory, space, request.pid, &program.elf)?;
    let credentials = &kernel.processes.get(&request.pid).ok_or(EINVAL)?.credentials;
    let ids = [credentials.user[0], credentials.user[1], credentials.group[0], credentials.group[1]];
    let auxiliary = Auxiliary {
        headers: program.base.wrapping_add(program.elf.headers_address),
        header_count: u64::from(program.elf.headers),
        interpreter_base: interpreter.as_ref().map_or(0, |binary| binary.base),
        entry,
        ids,
    };
    let stack = stack::lay_out(STACK_TOP, path, &request.arguments, &request.environment, &auxiliary, request.random);
    map_stack(memory, space, stack.bytes.len() as u64, program.elf.executable_stack)?;
    memory.write(space, stack.pointer, &stack.bytes).map_err(|_| ENOMEM)?;
    Ok(Loaded {
        entry: interpreter.map_or(entry, |binary| binary.base.wrapping_add(binary.elf.entry)),
        stack_pointer: stack.pointer,
        heap: program.base.wrapping_add(program.elf.extent().1),
        image: Image {
            inode: Some(request.inode),
            path: files::real_path(kernel, request.pid, path).unwrap_or_else(|| path.to_vec()),
            arguments: request.arguments.clone(),
            environment: request.environment.clone(),
            auxiliary: stack.auxiliary,
        },
    })
}

fn load_interpreter(
    kernel: &mut Kernel,
    memory: &mut Memory,
    space: SpaceId,
    pid: Pid,
    program: &Elf,
) -> Result<Option<Binary>, LoadError> {
    let Some(path) = &program.interpreter else { return Ok(None) };
    let wrong = |errno: Errno| LoadError::Interpreter(path.clone(), errno);
    let inode = files::resolve(kernel, pid, path, true).map_err(wrong)?;
    let mut binary = open(kernel, memory, pid, inode, path).map_err(|error| match error {
        LoadError::Elf(_) => wrong(ELIBBAD),
        other => wrong(other.errno()),
    })?;
    let (first, last) = binary.elf.extent();
    if binary.elf.relocatable {
        let place = memory.find_gap(space, last - first, 0, MAPPINGS_TOP).ok_or(ENOMEM)?;
        binary.base = place.wrapping_sub(first);
    }
    map_binary(memory, space, &binary)?;
    Ok(Some(binary))
}

fn map_binary(memory: &mut Memory, space: SpaceId, binary: &Binary) -> Result<(), LoadError> {
    binary.elf.segments.iter().try_for_each(|segment| map_segment(memory, space, binary, segment))
}

fn page_down(address: u64) -> u64 {
    address & !(PAGE_SIZE - 1)
}

fn page_up(address: u64) -> u64 {
    page_down(address + PAGE_SIZE - 1)
}

/// Maps the file's pages, clears the rest of the last one, and adds zero pages up to the segment's end.
fn map_segment(memory: &mut Memory, space: SpaceId, binary: &Binary, segment: &Segment) -> Result<(), LoadError> {
    let start = binary.base.wrapping_add(segment.address);
    let (file_end, end) = (start.wrapping_add(segment.file_size), start.wrapping_add(segment.size));
    let protection = protection(segment.flags);
    if segment.file_size > 0 {
        let backing = Backing::Object { id: binary.object, offset: page_down(segment.offset) };
        let length = page_up(file_end) - page_down(start);
        map(memory, space, page_down(start), length, protection, backing, &binary.path)?;
    }
    let filled = if segment.file_size > 0 { page_up(file_end) } else { page_down(start) };
    if end > file_end && filled > file_end && segment.file_size > 0 {
        let zeros = vec![0; (filled - file_end) as usize];
        memory.write_forced(space, file_end, &zeros).map_err(|_| ENOMEM)?;
    }
    if page_up(end) > filled {
        map(memory, space, filled, page_up(end) - filled, protection, Backing::Anonymous, b"")?;
    }
    Ok(())
}

fn map(
    memory: &mut Memory,
    space: SpaceId,
    start: u64,
    len: u64,
    protection: Protection,
    backing: Backing,
    path: &[u8],
) -> Result<(), LoadError> {
    let name = if path.is_empty() { Name::None } else { Name::Path(String::from_utf8_lossy(path).into()) };
    let mapping = Mapping { start, len, protection, backing, sharing: Sharing::Private, grows_down: false, name };
    memory.map(space, mapping).map_err(|_| LoadError::Errno(ENOMEM))
}

/// The stack begins with what it holds and some room, and grows from there.
fn map_stack(memory: &mut Memory, space: SpaceId, used: u64, executable: bool) -> Result<(), LoadError> {
    let len = page_up(used) + STACK_ROOM;
    let protection = protection(6 | u32::from(executable));
    let mapping =
        Mapping { grows_down: true, name: Name::Stack, ..Mapping::anonymous(STACK_TOP - len, len, protection) };
    memory.map(space, mapping).map_err(|_| LoadError::Errno(ENOMEM))
}

/// Protection of `PF_*` flags.
fn protection(flags: u32) -> Protection {
    let bits = [(4, Protection::READ), (2, Protection::WRITE), (1, Protection::EXECUTE)];
    let set = bits.into_iter().filter(|(bit, _)| flags & bit != 0);
    set.fold(Protection::NONE, |all, (_, protection)| all.union(protection))
}
