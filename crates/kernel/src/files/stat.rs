//! `stat(2)`, `statx(2)`, `statfs(2)`.

use super::base;
use super::content;
use super::file_system::{DEVICE_DEV, DEVICE_FILES, DEVICE_PROC, DEVICE_SYS, device_of};
use super::inode::{Inode, Kind, S_IFCHR, S_IFIFO, S_IFSOCK};
use super::walk::{AT_EMPTY_PATH, AT_FDCWD, AT_NO_AUTOMOUNT, AT_SYMLINK_NOFOLLOW, Node};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::File;
use crate::errno::{EINVAL, ENOENT, Errno};
use crate::id::Id;
use memory::Memory;

/// Of pipes.
const DEVICE_PIPES: u32 = 0xd;
/// Of sockets.
const DEVICE_SOCKETS: u32 = 0x8;
/// Of everything else that has no place in the tree.
const DEVICE_ANONYMOUS: u32 = 0xe;

/// What `stat(2)` tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    device: u32,
    special: u32,
    mode: u32,
    inode: Inode,
    size: u64,
}

/// What `stat(2)` tells about a node.
pub fn status(kernel: &Kernel, memory: &Memory, node: Node) -> Result<Status, Errno> {
    match node {
        Node::Inode(id) => of_inode(kernel, memory, id).ok_or(ENOENT),
        Node::Open(description) => Ok(of_open(kernel, memory, description)),
    }
}

fn of_inode(kernel: &Kernel, memory: &Memory, id: Id) -> Option<Status> {
    let inode = kernel.inode(id)?;
    let size = match &inode.kind {
        Kind::Regular => content::length(kernel, memory, id),
        Kind::Directory if device_of(kernel, id) == DEVICE_FILES => 4096,
        Kind::Link(target) => target.len() as u64,
        Kind::Magic => 64,
        _ => 0,
    };
    Some(Status { device: device_of(kernel, id), special: inode.device(), mode: inode.full_mode(), inode, size })
}

/// What is open but has no place in the tree.
fn of_open(kernel: &Kernel, memory: &Memory, description: Id) -> Status {
    let file = kernel.descriptions.get(&description).expect("it is open").file;
    let (device, mode, special, id) = match file {
        File::Inode(id) | File::Text(id) => match of_inode(kernel, memory, id) {
            Some(status) => return status,
            None => (DEVICE_ANONYMOUS, 0o600, 0, id),
        },
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => match of_inode(kernel, memory, id) {
            Some(status) => return status,
            None => (DEVICE_PIPES, S_IFIFO | 0o600, 0, id),
        },
        File::Console(stream) => (DEVICE_PIPES, S_IFIFO | 0o600, 0, Id((stream as u64 + 1) << 24)),
        File::Socket(id) => (DEVICE_SOCKETS, S_IFSOCK | 0o777, 0, id),
        File::Device(number) => match base::device(kernel, number).and_then(|id| of_inode(kernel, memory, id)) {
            Some(status) => return status,
            None => (DEVICE_DEV, S_IFCHR | 0o666, number, Id(u64::from(number) << 24)),
        },
        File::Terminal(id) => {
            let number = crate::terminal::number(kernel, id).unwrap_or(0);
            let node = base::find(kernel, format!("/dev/pts/{number}").as_bytes());
            match node.and_then(|id| of_inode(kernel, memory, id)) {
                Some(status) => return status,
                None => (DEVICE_DEV, S_IFCHR | 0o620, super::synthetic::SLAVE_DEVICE + number, id),
            }
        }
        File::PtyMaster(id) => {
            match base::device(kernel, super::device::PTMX).and_then(|id| of_inode(kernel, memory, id)) {
                Some(status) => return status,
                None => (DEVICE_DEV, S_IFCHR | 0o666, super::device::PTMX, id),
            }
        }
        File::Event(id)
        | File::Timer(id)
        | File::Signal(id)
        | File::Epoll(id)
        | File::Inotify(id)
        | File::MessageQueue(id) => (DEVICE_ANONYMOUS, 0o600, 0, id),
        File::Process(pid) => (DEVICE_ANONYMOUS, 0o600, 0, Id(u64::from(pid.0) << 24)),
    };
    let mut inode = Inode::new(Kind::Text, mode & 0o7777, (0, 0), id, 0);
    inode.number = id.0 >> 24;
    Status { device, special, mode, inode, size: 0 }
}

impl Status {
    fn blocks(&self) -> u64 {
        // Long links take a block of their own.
        let takes_blocks = matches!(self.inode.kind, Kind::Regular | Kind::Directory) || self.size > 59;
        if takes_blocks { self.size.div_ceil(4096) * 8 } else { 0 }
    }

    /// `struct stat` of x86-64.
    fn old_layout(&self) -> Vec<u8> {
        let inode = &self.inode;
        let mut words = Words::default();
        words.u64(self.device.into()).u64(inode.number).u64(inode.links.into());
        words.u32(self.mode).u32(inode.uid).u32(inode.gid).u32(0);
        words.u64(self.special.into()).u64(self.size).u64(4096).u64(self.blocks());
        for time in [inode.accessed, inode.modified, inode.changed] {
            words.u64(time / 1_000_000_000).u64(time % 1_000_000_000);
        }
        words.u64(0).u64(0).u64(0);
        words.0
    }

    /// `struct statx`.
    fn new_layout(&self) -> Vec<u8> {
        let inode = &self.inode;
        let mut words = Words::default();
        // STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID
        words.u32(0x1fff).u32(4096).u64(0).u32(inode.links).u32(inode.uid).u32(inode.gid).u32(self.mode);
        words.u64(inode.number).u64(self.size).u64(self.blocks()).u64(0);
        for time in [inode.accessed, inode.created, inode.changed, inode.modified] {
            words.u64(time / 1_000_000_000).u32((time % 1_000_000_000) as u32).u32(0);
        }
        for number in [self.special, self.device] {
            words.u32(number >> 8 & 0xfff).u32(number & 0xff | number >> 12 & 0xfff00);
        }
        words.u64(mount_of(self.device));
        words.0.resize(256, 0);
        words.0
    }
}

fn mount_of(device: u32) -> u64 {
    match device {
        DEVICE_PROC => 22,
        DEVICE_SYS => 23,
        DEVICE_DEV => 24,
        _ => 21,
    }
}

/// A structure of the guest, field by field.
#[derive(Default)]
pub struct Words(pub Vec<u8>);

impl Words {
    /// A 32-bit field.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A 64-bit field.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
}

fn store_status(call: &mut Call<'_>, node: Node, address: u64) -> Result<u64, Stop> {
    let bytes = status(call.kernel, call.memory, node)?.old_layout();
    call.store(address, &bytes)?;
    Ok(0)
}

/// `stat(2)`.
pub fn stat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    store_status(call, node, call.args[1])
}

/// `lstat(2)`.
pub fn lstat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], AT_SYMLINK_NOFOLLOW)?;
    store_status(call, node, call.args[1])
}

/// `fstat(2)`.
pub fn fstat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_or_path(call.int(0))?;
    store_status(call, Node::Open(description), call.args[1])
}

/// `newfstatat(2)`.
pub fn newfstatat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[3], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH)?;
    let node = call.node_at(call.int(0), call.args[1], flags)?;
    store_status(call, node, call.args[2])
}

/// `AT_STATX_FORCE_SYNC` and `AT_STATX_DONT_SYNC`.
const STATX_SYNC: u32 = 0x6000;

/// `statx(2)`.
pub fn statx(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[2], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | STATX_SYNC)?;
    // STATX__RESERVED, and both ways to synchronise at once.
    if call.args[3] & 0x8000_0000 != 0 || flags & STATX_SYNC == STATX_SYNC {
        return Err(EINVAL.into());
    }
    let node = call.node_at(call.int(0), call.args[1], flags)?;
    let bytes = status(call.kernel, call.memory, node)?.new_layout();
    call.store(call.args[4], &bytes)?;
    Ok(0)
}

/// `AT_*` flags; `EINVAL` for those that the call does not take.
pub fn at_flags(argument: u64, known: u32) -> Result<u32, Errno> {
    let flags = argument as u32;
    if flags & !known != 0 { Err(EINVAL) } else { Ok(flags) }
}

/// Pages that a file system reports as its size.
const BLOCKS: u64 = 1 << 20;
/// `ST_VALID | ST_NOATIME`.
const MOUNT_FLAGS: u64 = 0x20 | 0x400;

/// `statfs(2)`.
pub fn statfs(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    store_file_system(call, node)
}

/// `fstatfs(2)`.
pub fn fstatfs(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_or_path(call.int(0))?;
    store_file_system(call, Node::Open(description))
}

fn store_file_system(call: &mut Call<'_>, node: Node) -> Result<u64, Stop> {
    let device = status(call.kernel, call.memory, node)?.device;
    // Content lives in memory, so the tree is a tmpfs to whoever asks.
    let (magic, blocks) = match device {
        DEVICE_PROC => (0x9fa0, 0),
        DEVICE_SYS => (0x6265_6572, 0),
        DEVICE_PIPES => (0x5049_5045, 0),
        DEVICE_SOCKETS => (0x534f_434b, 0),
        DEVICE_ANONYMOUS => (0x0904_1934, 0),
        _ => (0x0102_1994, BLOCKS),
    };
    let mut words = Words::default();
    words.u64(magic).u64(4096).u64(blocks).u64(blocks / 2).u64(blocks / 2).u64(blocks).u64(blocks / 2);
    words.u64(u64::from(device)).u64(255).u64(4096).u64(MOUNT_FLAGS).u64(0).u64(0).u64(0).u64(0);
    call.store(call.args[1], &words.0)?;
    Ok(0)
}
