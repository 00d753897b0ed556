//! `open(2)` and its kin.

use super::content;
use super::inode::{Inode, Kind, S_ISGID};
use super::permission::{READ, WRITE};
use super::walk::{AT_FDCWD, Node, Place, Restriction, Walk};
use super::{base, device, seal, synthetic};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{
    Description, Fd, File, O_ACCMODE, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_LARGEFILE, O_NOATIME, O_NOCTTY,
    O_NOFOLLOW, O_PATH, O_RDONLY, O_TMPFILE, O_TRUNC, O_WRONLY,
};
use crate::errno::{E2BIG, EEXIST, EINVAL, EISDIR, ELOOP, ENOENT, ENOTDIR, ENXIO, ETXTBSY, Errno};
use crate::id::Id;
use memory::{Memory, ObjectId};

/// The bit of `O_TMPFILE` that is its own.
const TMPFILE: u32 = O_TMPFILE & !O_DIRECTORY;
/// Flags of the call that are not kept as status.
const NOT_KEPT: u32 = O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC | TMPFILE;
/// All that `O_PATH` looks at.
const WITH_PATH: u32 = O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
/// Every flag that Linux knows; `open(2)` ignores the rest.
const ALL_FLAGS: u32 = 0o37_777_703;

/// Set-group-id of a program: nobody makes one for a group that is not theirs (`inode(7)`).
const SETS_GROUP: u32 = S_ISGID | 0o010;

/// What `open(2)` was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct How {
    flags: u32,
    mode: u32,
    restriction: Restriction,
}

impl How {
    /// As `open(2)` reads its flags: what is unknown is ignored.
    fn lenient(flags: u32, mode: u32) -> Self {
        let flags = flags & ALL_FLAGS;
        let flags = if flags & O_PATH != 0 { flags & WITH_PATH } else { flags };
        Self { flags, mode: mode & 0o7777, restriction: Restriction::default() }
    }

    fn has(self, flag: u32) -> bool {
        self.flags & flag == flag
    }

    fn writes(self) -> bool {
        self.flags & O_ACCMODE != O_RDONLY
    }

    /// Permissions that opening needs.
    fn wanted(self) -> u32 {
        let by_mode = match self.flags & O_ACCMODE {
            O_RDONLY => READ,
            O_WRONLY => WRITE,
            _ => READ | WRITE,
        };
        if self.has(O_TRUNC) { by_mode | WRITE } else { by_mode }
    }

    /// Status flags of the description. `O_LARGEFILE` is always on with 64 bits, but not shown by `F_GETFL` for paths.
    fn status(self) -> u32 {
        let large = if self.has(O_PATH) { 0 } else { O_LARGEFILE };
        self.flags & !NOT_KEPT | large
    }
}

/// `open(2)`.
pub fn open(call: &mut Call<'_>) -> Result<u64, Stop> {
    let how = How::lenient(call.args[1] as u32, call.args[2] as u32);
    open_path(call, AT_FDCWD, call.args[0], how)
}

/// `openat(2)`.
pub fn openat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let how = How::lenient(call.args[2] as u32, call.args[3] as u32);
    open_path(call, call.int(0), call.args[1], how)
}

/// `creat(2)`.
pub fn creat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let how = How::lenient(O_CREAT | O_WRONLY | O_TRUNC, call.args[1] as u32);
    open_path(call, AT_FDCWD, call.args[0], how)
}

/// `RESOLVE_*`: the bits of [`Restriction`], then `RESOLVE_CACHED`.
const RESOLVE: u64 = 0x3f;

/// `openat2(2)`.
pub fn openat2(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.args[3] < 24 {
        return Err(EINVAL.into());
    }
    let extra = call.load_bytes(call.args[2].wrapping_add(24), (call.args[3] - 24).min(4096) as usize)?;
    if extra.iter().any(|byte| *byte != 0) {
        return Err(E2BIG.into());
    }
    let (flags, mode) = (call.load_u64(call.args[2])?, call.load_u64(call.args[2].wrapping_add(8))?);
    let resolve = call.load_u64(call.args[2].wrapping_add(16))?;
    let how = strict(flags, mode, resolve)?;
    open_path(call, call.int(0), call.args[1], how)
}

/// As `openat2(2)` reads its arguments: what is unknown or does not fit together is an error.
///
/// openat2(2) was made because open(2) ignores unknown flags: here they are errors.
fn strict(flags: u64, mode: u64, resolve: u64) -> Result<How, Errno> {
    let creates = flags as u32 & (O_CREAT | TMPFILE) != 0;
    let both = resolve & 0x8 != 0 && resolve & 0x10 != 0;
    let path_only = flags as u32 & O_PATH == 0 || flags as u32 & !WITH_PATH == 0;
    if flags & !u64::from(ALL_FLAGS) != 0 || resolve & !RESOLVE != 0 || both || !path_only {
        return Err(EINVAL);
    }
    if mode & !0o7777 != 0 || (mode != 0 && !creates) {
        return Err(EINVAL);
    }
    let restriction = Restriction {
        no_mounts: resolve & 0x1 != 0,
        no_jumps: resolve & 0x2 != 0 || resolve & 0x4 != 0,
        no_links: resolve & 0x4 != 0,
        beneath: resolve & 0x8 != 0,
        in_root: resolve & 0x10 != 0,
    };
    Ok(How { restriction, ..How::lenient(flags as u32, mode as u32) })
}

/// The descriptor's number is looked for before the file, as Linux does: `EMFILE` wins over
/// `ENOENT`, and nothing is created if there is no number.
fn open_path(call: &mut Call<'_>, dir: Fd, address: u64, how: How) -> Result<u64, Stop> {
    check(how)?;
    let path = call.load_path(address)?;
    call.process().descriptors.free(0, call.descriptor_limit())?;
    let place = find(call, dir, &path, how)?;
    if how.has(O_TMPFILE) {
        return open_unnamed(call, &place, how);
    }
    let node = match place.node {
        Some(node) => existing(call, &place, node, how)?,
        None => Node::Inode(create(call, &place, how)?),
    };
    let path = shown_path(call.kernel, &place, node);
    open_node(call, node, how, path)
}

fn check(how: How) -> Result<(), Errno> {
    let is_odd = how.has(O_CREAT | O_DIRECTORY) && !how.has(O_TMPFILE);
    let half = how.flags & TMPFILE != 0 && (!how.has(O_DIRECTORY) || !how.writes());
    if is_odd || half { Err(EINVAL) } else { Ok(()) }
}

fn find(call: &Call<'_>, dir: Fd, path: &[u8], how: How) -> Result<Place, Errno> {
    let follow = !how.has(O_NOFOLLOW) && !how.has(O_CREAT | O_EXCL);
    let is_bounded = how.restriction.in_root || how.restriction.beneath;
    let start = if is_bounded { call.start(dir, b".")? } else { call.start(dir, path)? };
    Walk::new(call.kernel, call.pid, call.asker(), follow).restricted(how.restriction, start).go(start, path)
}

/// Whether what exists may be opened so.
///
/// Truncation comes last: an open that fails has not emptied the file.
fn existing(call: &mut Call<'_>, place: &Place, node: Node, how: How) -> Result<Node, Stop> {
    if how.has(O_CREAT | O_EXCL) {
        return Err(EEXIST.into());
    }
    let Node::Inode(id) = node else {
        return if how.has(O_DIRECTORY) { Err(ENOTDIR.into()) } else { Ok(node) };
    };
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    let is_directory = inode.is_directory();
    if is_directory && (how.has(O_CREAT) || how.writes()) {
        return Err(EISDIR.into());
    }
    if (how.has(O_DIRECTORY) || place.slash) && !is_directory {
        return Err(ENOTDIR.into());
    }
    if how.has(O_PATH) {
        return Ok(node);
    }
    if inode.is_link() {
        return Err(ELOOP.into());
    }
    call.asker().may(&inode, how.wanted())?;
    if how.has(O_NOATIME) {
        call.asker().owns(&inode)?;
    }
    if inode.kind == Kind::Regular && how.wanted() & WRITE != 0 && super::is_running(call.kernel, id) {
        return Err(ETXTBSY.into());
    }
    if how.has(O_TRUNC) && inode.kind == Kind::Regular {
        let length = content::length(call.kernel, call.memory, id);
        seal::check_resize(call.kernel, id, length, 0)?;
        content::resize(call.kernel, call.memory, id, 0)?;
        super::notify::modified(call.kernel, id);
    }
    Ok(node)
}

/// Makes a regular file where there was none.
fn create(call: &mut Call<'_>, place: &Place, how: How) -> Result<Id, Stop> {
    if !how.has(O_CREAT) {
        return Err(ENOENT.into());
    }
    if place.slash {
        return Err(EISDIR.into());
    }
    call.create_entry(place, Kind::Regular, how.mode)
}

/// A file without a name, for `linkat(2)` to name later.
fn open_unnamed(call: &mut Call<'_>, place: &Place, how: How) -> Result<u64, Stop> {
    let directory = place.inode()?;
    let inode = call.kernel.inode(directory).ok_or(ENOENT)?;
    if !inode.is_directory() {
        return Err(ENOTDIR.into());
    }
    call.asker().may_change(call.kernel, directory)?;
    let id = call.create_inode(directory, Kind::Regular, how.mode)?;
    call.kernel.inode_mut(id)?.links = 0;
    if !how.has(O_EXCL) {
        call.kernel.files.unnamed.insert(id);
    }
    let path = call.kernel.path_of(directory).unwrap_or_default();
    let name = format!("#{}", call.kernel.inode(id).ok_or(ENOENT)?.number);
    let path = [base::join(&path, name.as_bytes()).as_slice(), b" (deleted)"].concat();
    let description = Description::new(File::Inode(id), how.status() & !O_DIRECTORY, path);
    Ok(call.install(description, how.has(O_CLOEXEC))? as u64)
}

/// The absolute path by which something was opened.
fn shown_path(kernel: &Kernel, place: &Place, node: Node) -> Vec<u8> {
    match node {
        Node::Open(description) => {
            kernel.descriptions.get(&description).map(|open| open.path.clone()).unwrap_or_default()
        }
        Node::Inode(id) if place.name.is_empty() => kernel.shown_inode(id),
        Node::Inode(_) => base::join(&kernel.path_of(place.parent).unwrap_or_default(), &place.name),
    }
}

impl Kernel {
    /// The path of an inode that was reached without a name: a directory's own, or that of who has it open.
    fn shown_inode(&self, id: Id) -> Vec<u8> {
        if self.inode(id).is_some_and(|inode| inode.is_directory()) {
            return self.path_of(id).unwrap_or_default();
        }
        let open = self.descriptions.values().find(|open| open.file == File::Inode(id));
        open.map(|open| open.path.clone()).unwrap_or_default()
    }
}

fn open_node(call: &mut Call<'_>, node: Node, how: How, path: Vec<u8>) -> Result<u64, Stop> {
    let file = match node {
        Node::Inode(id) => file_of(call, id, how)?,
        Node::Open(description) if how.has(O_PATH) => Some(call.description(description).file),
        Node::Open(description) => reopen(call, description, how)?,
    };
    let Some(file) = file else {
        // Terminals and FIFOs have their own way of opening.
        return special(call, node, how, path);
    };
    let description = Description::new(file, how.status(), path);
    let fd = call.install(description, how.has(O_CLOEXEC))?;
    if let (File::Inode(id), false) = (file, how.has(O_PATH)) {
        super::notify::opened(call.kernel, id);
    }
    Ok(fd as u64)
}

/// What an inode is when it is open; nothing if it needs more than a description.
fn file_of(call: &Call<'_>, id: Id, how: How) -> Result<Option<File>, Errno> {
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    if how.has(O_PATH) {
        return Ok(Some(File::Inode(id)));
    }
    Ok(match inode.kind {
        Kind::Regular | Kind::Directory => Some(File::Inode(id)),
        Kind::Text => Some(File::Text(id)),
        Kind::Character(number) if device::is_known(number) => Some(File::Device(number)),
        Kind::Character(_) | Kind::Fifo => None,
        Kind::Block(_) | Kind::Socket => return Err(ENXIO),
        Kind::Link(_) | Kind::Magic => return Err(ELOOP),
    })
}

/// Opens again what is already open, through `/proc/self/fd`.
fn reopen(call: &Call<'_>, description: Id, _: How) -> Result<Option<File>, Errno> {
    match call.description(description).file {
        file @ (File::Console(_) | File::Device(_)) => Ok(Some(file)),
        File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_) | File::Terminal(_) => Ok(None),
        _ => Err(ENXIO),
    }
}

/// Opens FIFOs and terminals.
fn special(call: &mut Call<'_>, node: Node, how: How, path: Vec<u8>) -> Result<u64, Stop> {
    let close_on_exec = how.has(O_CLOEXEC);
    match node {
        Node::Inode(id) => match call.kernel.inode(id).ok_or(ENOENT)?.kind {
            Kind::Fifo => crate::pipe::open_fifo(call, id, how.status(), path, close_on_exec),
            Kind::Character(device::PTMX) => crate::terminal::open_master(call, how.flags, path),
            Kind::Character(device::TTY) => crate::terminal::open_controlling(call, how.flags, path),
            Kind::Character(number) => match number.checked_sub(synthetic::SLAVE_DEVICE) {
                Some(number @ 0..=0xff) => crate::terminal::open_slave(call, number, how.flags, path),
                _ => Err(ENXIO.into()),
            },
            _ => Err(ENXIO.into()),
        },
        Node::Open(description) => match call.description(description).file {
            File::PipeReader(pipe) | File::PipeWriter(pipe) | File::PipeBoth(pipe) => {
                crate::pipe::open_fifo(call, pipe, how.status(), path, close_on_exec)
            }
            File::Terminal(id) => {
                let number = crate::terminal::number(call.kernel, id).ok_or(ENXIO)?;
                crate::terminal::open_slave(call, number, how.flags, path)
            }
            _ => Err(ENXIO.into()),
        },
    }
}

impl Call<'_> {
    /// Makes an inode that belongs to the caller, for a name in a directory.
    pub fn create_inode(&mut self, directory: Id, kind: Kind, mode: u32) -> Result<Id, Errno> {
        let parent = self.kernel.inode(directory).ok_or(ENOENT)?;
        // A removed directory takes no new names.
        if parent.links == 0 {
            return Err(ENOENT);
        }
        let inherits = parent.mode & S_ISGID != 0;
        let asker = self.asker();
        let gid = if inherits { parent.gid } else { asker.gid };
        let is_link = matches!(kind, Kind::Link(_));
        let asked = mode;
        let mut mode = if is_link { 0o777 } else { mode & 0o7777 & !self.process().directories.mask };
        if inherits && kind == Kind::Directory {
            mode |= S_ISGID;
        } else if inherits && asked & SETS_GROUP == SETS_GROUP && !asker.may_set_group(gid) {
            mode &= !S_ISGID;
        }
        let id = self.fresh_id();
        let now = self.kernel.clock.real();
        if kind == Kind::Regular {
            self.memory.create_object(ObjectId(id.0), 0);
        }
        self.kernel.files.inodes.insert(id, Inode::new(kind, mode, (asker.uid, gid), id, now));
        Ok(id)
    }

    /// Makes an inode and its name.
    pub fn create_entry(&mut self, place: &Place, kind: Kind, mode: u32) -> Result<Id, Stop> {
        self.asker().may_change(self.kernel, place.parent)?;
        // /proc and /sys have no way to create: to them it is as if the name could not be.
        super::namespace::check_changeable(self.kernel, place.parent).map_err(|_| ENOENT)?;
        let is_directory = kind == Kind::Directory;
        let id = self.create_inode(place.parent, kind, mode)?;
        self.kernel.set_entry(place.parent, &place.name, Some(id));
        super::disk::note_made(self.kernel, id);
        if is_directory {
            self.kernel.directory_mut(id).place = Some((place.parent, place.name.clone()));
            self.kernel.inode_mut(place.parent)?.links += 1;
        }
        super::notify::created(self.kernel, place.parent, &place.name, is_directory);
        Ok(id)
    }
}

/// Puts a file in place before anything runs; see [`super::create_file`].
pub fn place_file(kernel: &mut Kernel, memory: &mut Memory, path: &[u8], mode: u32, bytes: &[u8]) -> Result<Id, Errno> {
    let (directory, last) = folder_of(kernel, path, (0, 0))?;
    let id = put(kernel, (directory, last), Kind::Regular, mode & 0o7777, (0, 0));
    let object = ObjectId(id.0);
    if memory.object_exists(object) {
        memory.drop_object(object);
    }
    memory.create_object_over(object, bytes.into());
    Ok(id)
}

/// Puts a socket in place before anything runs; see [`super::create_socket`].
pub fn place_socket(kernel: &mut Kernel, path: &[u8]) -> Result<Id, Errno> {
    let place = folder_of(kernel, path, (0, 0))?;
    Ok(put(kernel, place, Kind::Socket, 0o777, (0, 0)))
}

/// The directory of a path and the name in it; directories that are not there are made, with this owner.
pub fn folder_of<'a>(kernel: &mut Kernel, path: &'a [u8], owner: (u32, u32)) -> Result<(Id, &'a [u8]), Errno> {
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
    let (last, before) = names.split_last().ok_or(EISDIR)?;
    let mut directory = base::root();
    for name in before {
        directory = match kernel.lookup(directory, name) {
            Some(_) => kernel.resolve(directory.into(), name, true)?,
            None => put(kernel, (directory, name), Kind::Directory, 0o755, owner),
        };
        if !kernel.inode(directory).is_some_and(|inode| inode.is_directory()) {
            return Err(ENOTDIR);
        }
    }
    Ok((directory, last))
}

fn put(kernel: &mut Kernel, (directory, name): (Id, &[u8]), kind: Kind, mode: u32, owner: (u32, u32)) -> Id {
    let id = name.iter().fold(directory.child(1), |id, byte| id.child(u64::from(*byte)));
    let is_directory = kind == Kind::Directory;
    let inode = Inode::new(kind, mode, owner, id, kernel.clock.real());
    kernel.files.inodes.insert(id, inode);
    kernel.set_entry(directory, name, Some(id));
    if is_directory {
        kernel.directory_mut(id).place = Some((directory, name.to_vec()));
    }
    id
}
