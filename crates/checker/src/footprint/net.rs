//! Calls on sockets, and those that look at many files.

use super::access::{self, Kind, reads, writes};
use super::descriptors::through_file;
use super::names::all_files;
use super::{PendingCall, sockets};
use explore::graph::Access;
use kernel::Id;
use kernel::descriptor::File;
use kernel::table::footprint::{Amount, SocketUse};

impl PendingCall<'_> {
    fn socket_at(&self, fd: i32) -> Option<Id> {
        let process = self.kernel.processes.get(&self.pid())?;
        let descriptor = process.descriptors.get(fd).ok()?;
        match self.kernel.descriptions.get(&descriptor.description)?.file {
            File::Socket(id) => Some(id),
            _ => None,
        }
    }

    /// Calls on a socket that is already there.
    pub(super) fn socket(&self, id: Id, usage: SocketUse) -> Vec<Access> {
        let length = |amount| match amount {
            Amount::Given => self.args[2],
            Amount::Any => u64::MAX,
        };
        match usage {
            SocketUse::Receive(amount) => sockets::receive(self.kernel, id, length(amount)),
            SocketUse::ReceiveMessage => sockets::receive(self.kernel, id, u64::MAX),
            SocketUse::SendTo(_) if self.path_of(self.args[4], self.args[5]).is_some() => access::everything(),
            SocketUse::Send(amount) | SocketUse::SendTo(amount) => sockets::send(self.kernel, id, length(amount)),
            SocketUse::SendMessage => access::everything(),
            SocketUse::Ask => sockets::ask(id),
            SocketUse::Any => sockets::whole(self.kernel, id),
        }
    }

    /// The path that a name of a socket is, if it is one (`unix(7)`).
    fn path_of(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        const AF_UNIX: u8 = 1;
        const LENGTH_MAX: u64 = 110;
        let mut name = vec![0; length.min(LENGTH_MAX) as usize];
        self.memory.peek(self.space(), address, &mut name).ok()?;
        let path = name.strip_prefix(&[AF_UNIX, 0])?.split(|byte| *byte == 0).next()?;
        (!path.is_empty()).then(|| path.to_vec())
    }

    pub(super) fn accept(&self) -> Vec<Access> {
        let fd = self.args[0] as i32;
        let mut accesses = vec![writes(Kind::Descriptors, u64::from(self.pid().0))];
        if self.is_alone() {
            accesses.clear();
        }
        accesses.extend(self.socket_at(fd).map_or_else(access::everything, |id| sockets::accept(self.kernel, id)));
        accesses
    }

    pub(super) fn shutdown(&self) -> Vec<Access> {
        let mut accesses =
            self.socket_at(self.args[0] as i32).map_or_else(access::everything, |id| sockets::end(self.kernel, id));
        accesses.extend(self.descriptors(false));
        accesses
    }

    /// Ports are one object for all: which socket gets a port depends on who holds it.
    pub(super) fn name_socket(&self, connects: bool) -> Vec<Access> {
        let Some(id) = self.socket_at(self.args[0] as i32) else { return access::everything() };
        let mut accesses = sockets::whole(self.kernel, id);
        accesses.push(writes(Kind::Ports, 0));
        accesses.extend(self.descriptors(false));
        match self.path_of(self.args[1], self.args[2]) {
            Some(path) if connects => accesses.extend(self.look_up(&path)),
            Some(_) => accesses.push(all_files(true)),
            None => {}
        }
        if connects {
            accesses.extend(self.kernel.net.listening().flat_map(|listener| sockets::knock(self.kernel, listener)));
        }
        accesses
    }

    /// Calls that look at many files: whatever the process has open.
    ///
    /// `poll(2)` names its descriptors in memory that other threads may change; all that the
    /// process has open is a safe superset.
    pub(super) fn look(&self) -> Vec<Access> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let mut accesses = vec![reads(Kind::Descriptors, u64::from(self.pid().0))];
        for (_, descriptor) in process.descriptors.iter() {
            let file = self.kernel.descriptions.get(&descriptor.description).map(|description| description.file);
            match file {
                Some(File::Socket(id)) => accesses.extend(sockets::look(self.kernel, id)),
                Some(File::Epoll(id)) => accesses.push(writes(Kind::File, id.0)),
                // Files are always ready.
                Some(File::Inode(_)) | None => {}
                Some(other) => accesses.extend(through_file(other)),
            }
        }
        accesses
    }
}
