//! What a state holds beside variables, for a reader who stands in it: threads, locks, descriptors, what is in flight, files.
//!
//! Nothing is executed and nothing is guessed: all of it is read off the kernel's maps, with the names that narration has given.

use super::narrator::Narrator;
use kernel::descriptor::{Description, Fd, File};
use kernel::files::{self, Kind};
use kernel::id::Id;
use kernel::net::address::{Endpoint, Name};
use kernel::net::socket::{Socket, Stage};
use kernel::process::State as Life;
use kernel::{Kernel, Pid, Process, Tid};
use memory::Memory;
use std::collections::BTreeMap;
use trace::{
    Bytes, ChannelState, FileContent, FileState, Inventory, LockState, OpenDescriptor, OpenFile, SocketState,
    ThreadState, WaitReason,
};

/// Files that are told: a program may have changed thousands, and nobody reads more.
const FILES_MAX: usize = 200;
/// Messages, or pieces of a stream, that are told of one channel.
const PACKETS_MAX: usize = 20;

/// Who can receive from a file: the process and its descriptor.
type Receivers = BTreeMap<File, (Pid, Fd)>;

impl Narrator<'_> {
    /// What this state holds.
    pub(super) fn inventory(&mut self) -> Inventory {
        Inventory {
            threads: self.thread_states(),
            locks: self.lock_states(),
            descriptors: self.open_descriptors(),
            channels: self.channel_states(),
            files: self.file_states(),
        }
    }

    /// Processes in the order of their numbers, each with its threads. One that has ended and was not waited for still counts.
    fn thread_states(&mut self) -> Vec<ThreadState> {
        let processes = self.view.state.world.kernel.processes.values();
        let tids = processes.flat_map(|process| match process.threads.is_empty() {
            true => vec![Tid(process.pid.0)],
            false => self.in_order(process),
        });
        let tids: Vec<Tid> = tids.collect();
        let state = |tid: Tid| {
            let stack = if self.lives(tid) { self.place(tid).stack } else { Vec::new() };
            let ending = (!self.lives(tid)).then(|| self.ending(tid));
            ThreadState { thread: self.listener.thread_ref(tid), stack, ending }
        };
        tids.into_iter().map(state).collect()
    }

    /// The threads of a process by their names, the first one first: T2 before T10. Their numbers are hashes.
    fn in_order(&self, process: &Process) -> Vec<Tid> {
        let mut tids: Vec<Tid> = process.threads.iter().copied().collect();
        let name = |tid: &Tid| self.listener.thread(*tid);
        tids.sort_by_cached_key(|tid| (tid.0 != process.pid.0, name(tid).len(), name(tid)));
        tids
    }

    fn lives(&self, tid: Tid) -> bool {
        self.view.state.world.kernel.threads.contains_key(&tid)
    }

    /// Locks that are held, then those that somebody waits for without one that is known to hold them. Locks of different
    /// processes may have one name: they are told apart by their holders.
    fn lock_states(&mut self) -> Vec<LockState> {
        let holders = self.view.state.holders();
        let mut locks: Vec<LockState> = holders.iter().map(|(lock, tid)| self.held_lock(*lock, *tid)).collect();
        let since = self.listener.context.held.clone();
        let tids: Vec<Tid> = self.view.state.world.kernel.threads.keys().copied().collect();
        for tid in tids {
            let (WaitReason::Lock { name, holder, since }, _) =
                self.wait_reason(tid, &|object| since.get(&object).copied())
            else {
                continue;
            };
            let waiter = self.listener.thread_ref(tid);
            let is_meant = |lock: &&mut LockState| lock.name == name && lock.holder.as_ref() == Some(&holder);
            match locks.iter_mut().find(is_meant) {
                Some(lock) => lock.waiters.push(waiter),
                None => locks.push(LockState { name, holder: Some(holder), since, waiters: vec![waiter] }),
            }
        }
        locks.sort_by(|one, other| one.name.cmp(&other.name));
        locks
    }

    fn held_lock(&self, lock: u64, holder: Tid) -> LockState {
        let context = &self.listener.context;
        LockState {
            name: context.objects.get(&lock).cloned().unwrap_or_else(|| "a lock".to_owned()),
            holder: Some(self.listener.thread_ref(holder)),
            since: context.held.get(&lock).copied(),
            waiters: Vec::new(),
        }
    }

    /// Every descriptor of every process that lives.
    fn open_descriptors(&self) -> Vec<OpenDescriptor> {
        let kernel = &self.view.state.world.kernel;
        let open =
            alive(kernel).flat_map(|process| process.descriptors.iter().map(move |(fd, entry)| (process, fd, entry)));
        let told = open.filter_map(|(process, number, entry)| {
            let description = kernel.descriptions.get(&entry.description)?;
            let process = self.listener.thread(Tid(process.pid.0));
            Some(OpenDescriptor { process, number, file: self.open_file(description) })
        });
        told.collect()
    }

    fn open_file(&self, description: &Description) -> OpenFile {
        let net = &self.view.state.world.kernel.net;
        let path = self.below(&String::from_utf8_lossy(&description.path));
        match description.file {
            File::Inode(_) => OpenFile::File { path, offset: description.offset },
            File::PipeReader(id) => OpenFile::Pipe { is_reader: true, number: pipe_number(id) },
            File::PipeWriter(id) => OpenFile::Pipe { is_reader: false, number: pipe_number(id) },
            File::Socket(id) => match net.sockets.get(&id) {
                Some(socket) => OpenFile::Socket(socket_state(socket, net.backlog(id).0)),
                None => OpenFile::Other(path),
            },
            _ => OpenFile::Other(path),
        }
    }

    /// Pipes and sockets that hold something. What nobody can receive any more is left out: it is gone with its receiver.
    fn channel_states(&self) -> Vec<ChannelState> {
        let kernel = &self.view.state.world.kernel;
        let receivers = receivers(kernel);
        let receiver = |file: &[File]| {
            let (pid, fd) = file.iter().find_map(|file| receivers.get(file))?;
            Some((self.listener.thread(Tid(pid.0)), *fd))
        };
        let sockets = kernel.net.sockets.keys().map(|id| {
            let packets = kernel.net.in_flight(*id).take(PACKETS_MAX).map(beginning).collect();
            ChannelState { receiver: receiver(&[File::Socket(*id)]), packets }
        });
        let pipes = kernel.pipes.iter().map(|(id, pipe)| {
            let packets = pipe.content().take(PACKETS_MAX).map(beginning).collect();
            ChannelState { receiver: receiver(&[File::PipeReader(*id), File::PipeBoth(*id)]), packets }
        });
        sockets.chain(pipes).filter(|channel| !channel.packets.is_empty()).collect()
    }

    /// Names that lead to something else than on the host, and files of the host with another content.
    fn file_states(&self) -> Vec<FileState> {
        let world = &self.view.state.world;
        let (kernel, memory) = (&world.kernel, &world.memory);
        let mut files: BTreeMap<Vec<u8>, FileContent> = BTreeMap::new();
        for (directory, changes) in kernel.files.directories.iter() {
            let Some(folder) = kernel.path_of(*directory) else { continue };
            for (name, inode) in &changes.entries {
                let path = files::base::join(&folder, name);
                files.insert(path, inode.map_or(FileContent::Removed, |inode| content(kernel, memory, inode)));
            }
        }
        for (inode, _) in kernel.files.inodes.iter().filter(|(_, inode)| inode.kind == Kind::Regular) {
            if let Some(base) = kernel.files.known.get(*inode) {
                files.entry(base.path.clone()).or_insert_with(|| content(kernel, memory, *inode));
            }
        }
        let told = files.into_iter().take(FILES_MAX);
        told.map(|(path, content)| FileState { path: self.below(&String::from_utf8_lossy(&path)), content }).collect()
    }
}

/// Processes that have not ended.
fn alive(kernel: &Kernel) -> impl Iterator<Item = &Process> {
    kernel.processes.values().filter(|process| !matches!(process.state, Life::Zombie(_)))
}

/// Who can receive from which file: of several the one with the lowest numbers.
fn receivers(kernel: &Kernel) -> Receivers {
    let mut receivers = Receivers::new();
    for process in alive(kernel) {
        for (fd, entry) in process.descriptors.iter() {
            if let Some(description) = kernel.descriptions.get(&entry.description) {
                receivers.entry(description.file).or_insert((process.pid, fd));
            }
        }
    }
    receivers
}

/// The number that `/proc/PID/fd` shows of a pipe.
fn pipe_number(id: Id) -> u64 {
    id.0 >> 24
}

fn socket_state(socket: &Socket, waiting: usize) -> SocketState {
    let kind = match (socket.is_tcp(), socket.is_udp()) {
        (true, _) => "TCP",
        (_, true) => "UDP",
        _ => "Unix",
    };
    SocketState {
        kind,
        local: socket.local.as_ref().map(address),
        remote: socket.remote.as_ref().map(address),
        backlog: (socket.stage == Stage::Listening).then_some(waiting),
    }
}

fn address(name: &Name) -> String {
    match name {
        Name::Inet(Endpoint { ip, port }) => match ip.to_ipv4_mapped() {
            Some(ip) => format!("{ip}:{port}"),
            None => format!("[{ip}]:{port}"),
        },
        Name::Path(path, _) => String::from_utf8_lossy(path).into_owned(),
        Name::Abstract(name) => format!("@{}", String::from_utf8_lossy(name)),
    }
}

/// What an inode holds.
fn content(kernel: &Kernel, memory: &Memory, inode: Id) -> FileContent {
    match kernel.inode(inode).map(|inode| inode.kind) {
        Some(Kind::Regular) => {
            let start = files::read_at(kernel, memory, inode, 0, Bytes::KEPT);
            FileContent::Regular(Bytes::beginning_with(&start, files::length(kernel, memory, inode)))
        }
        Some(Kind::Directory) => FileContent::Directory,
        Some(Kind::Link(target)) => FileContent::Link(String::from_utf8_lossy(&target).into_owned()),
        Some(_) => FileContent::Special,
        None => FileContent::Removed,
    }
}

fn beginning(bytes: &[u8]) -> Bytes {
    Bytes::beginning_with(bytes, bytes.len() as u64)
}
