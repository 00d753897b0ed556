//! Objects of accesses: words of memory, locks, and kernel objects, each as a number.
//!
//! Numbers and not structures, because the engine compares millions of them: four bits of kind, and
//! a hash of the rest. Two different objects that collide only add a conflict, which costs
//! interleavings and no verdict; so 60 bits are plenty.

use explore::graph::Access;
use kernel::{Id, Pid, Tid};
use memory::{Backing, Memory, Sharing, SpaceId};

/// Kinds of objects; an object is a kind and a number.
///
/// At most sixteen, for the low four bits of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The whole world: read by every step, written by those that may access anything.
    World,
    /// Four bytes of private memory.
    Word,
    /// Four bytes of memory that processes share, or of a file.
    SharedWord,
    /// The mappings of an address space.
    Space,
    /// The descriptors of a process.
    Descriptors,
    /// Names in the file system: all of them, an entry, or all entries of a directory.
    Names,
    /// One file's content and attributes.
    Inode,
    /// A pipe, socket pair, event counter: anything that descriptors refer to.
    File,
    /// Ports and names of sockets.
    Ports,
    /// A process: its life, signals and children.
    Process,
    /// A set of System V semaphores, or a queue.
    Ipc,
    /// The waiters of a futex word.
    Futex,
    /// A lock or semaphore of the C library.
    Lock,
    /// A condition variable or barrier of the C library.
    Condition,
    /// The life of a thread.
    Thread,
    /// One byte of memory, of a word that is accessed byte by byte.
    Byte,
}

/// The number of an object.
///
/// The kind survives hashing: reports and refinement ask for it.
#[must_use]
pub fn object(kind: Kind, one: u64, two: u64) -> u64 {
    let mixed = Id(one).child(two).0;
    mixed << 4 | kind as u64
}

/// Parts of the signal masks of a process: a thread writes its own part, a sender of a signal reads all.
const MASKS: u32 = 8;

fn mask_part(pid: Pid, part: u32, write: bool) -> Access {
    Access { object: object(Kind::Process, u64::from(pid.0), u64::from(2 + part)), write, plain: false }
}

/// The write of a thread to its own signal mask.
#[must_use]
pub fn changes_mask(pid: Pid, tid: Tid) -> Access {
    mask_part(pid, tid.0 % MASKS, true)
}

/// Reads of the signal masks of all threads of a process.
pub fn masks(pid: Pid) -> impl Iterator<Item = Access> {
    (0..MASKS).map(move |part| mask_part(pid, part, false))
}

/// The kind of an object.
#[must_use]
pub fn kind(object: u64) -> Kind {
    const KINDS: [Kind; 16] = [
        Kind::World,
        Kind::Word,
        Kind::SharedWord,
        Kind::Space,
        Kind::Descriptors,
        Kind::Names,
        Kind::Inode,
        Kind::File,
        Kind::Ports,
        Kind::Process,
        Kind::Ipc,
        Kind::Futex,
        Kind::Lock,
        Kind::Condition,
        Kind::Thread,
        Kind::Byte,
    ];
    KINDS[(object & 15) as usize]
}

/// Whether an object is a part of memory.
#[must_use]
pub fn is_memory(object: u64) -> bool {
    matches!(kind(object), Kind::Word | Kind::SharedWord | Kind::Byte)
}

/// All names in the file system: read by every syscall on files.
pub const ALL_NAMES: u64 = Kind::Names as u64;

/// The bit by which the object of a directory differs from that of an entry.
const LISTING: u64 = 16;

/// A name in a directory as an object.
#[must_use]
pub fn entry(directory: Id, name: &[u8]) -> u64 {
    let mixed = name.iter().fold(directory, |id, byte| id.child(u64::from(*byte)));
    mixed.child(0).0 << 5 | Kind::Names as u64
}

/// All names of a directory as one object. A listing writes it, and a change of a name reads it: changes of different
/// names are independent of each other, and each conflicts with a listing.
///
/// "Changes read, looks write", as decision 1 has it for models: making `a` and making `b` in one
/// directory commute, `getdents64(2)` sees both.
#[must_use]
pub fn listing(directory: Id) -> u64 {
    directory.child(0).0 << 5 | LISTING | Kind::Names as u64
}

/// Whether an access may have changed its object.
#[must_use]
pub fn changes(access: &Access) -> bool {
    access.write && !(kind(access.object) == Kind::Names && access.object & LISTING != 0)
}

pub(crate) fn reads(kind: Kind, one: u64) -> Access {
    Access { object: object(kind, one, 0), write: false, plain: false }
}

pub(crate) fn writes(kind: Kind, one: u64) -> Access {
    Access { object: object(kind, one, 0), write: true, plain: false }
}

/// The footprint of steps that may access anything.
///
/// Every step reads the world, so writing it conflicts with every other step.
#[must_use]
pub fn everything() -> Vec<Access> {
    vec![writes(Kind::World, 0)]
}

/// The pending deadlines as an object: where time may pass early, they enable it.
#[must_use]
pub fn deadlines() -> u64 {
    object(Kind::World, 1, 0)
}

/// What propositions depend on, as one object: steps that change it keep their order.
#[must_use]
pub fn observed() -> u64 {
    object(Kind::World, 5, 0)
}

/// What is not durable, where power may fail, as one object: changes of files keep their order.
#[must_use]
pub fn disk() -> u64 {
    object(Kind::World, 6, 0)
}

/// A word of memory as an object.
///
/// The object of shared memory is the place in the file or object, not the address: processes map
/// it where they like.
#[must_use]
pub fn word(memory: &Memory, space: SpaceId, address: u64, write: bool, as_kind: Kind) -> Access {
    let plain = as_kind == Kind::Word;
    let object = match memory.mapping_at(space, address) {
        Some(mapping) if mapping.sharing == Sharing::Shared => match mapping.backing {
            Backing::Object { id, offset } => {
                let at = (address - mapping.start + offset) >> 2;
                object(if plain { Kind::SharedWord } else { as_kind }, id.0, at)
            }
            Backing::Anonymous => object(as_kind, space.0, address >> 2),
        },
        _ => object(as_kind, space.0, address >> 2),
    };
    Access { object, write, plain }
}
