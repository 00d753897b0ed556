//! The sockets behind descriptors.

use super::socket::Socket;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, File};
use crate::errno::ENOTSOCK;
use crate::id::Id;

/// The socket of a description.
#[must_use]
pub fn of_description(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::Socket(id) => Some(id),
        _ => None,
    }
}

impl Call<'_> {
    /// The description and the socket behind a descriptor; `ENOTSOCK` if it is another kind of file.
    pub fn socket_of(&self, fd: Fd) -> Result<(Id, Id), Stop> {
        let description = self.description_of(fd)?;
        let socket = of_description(self.kernel, description).ok_or(ENOTSOCK)?;
        Ok((description, socket))
    }

    /// A socket.
    ///
    /// # Panics If the id is no open socket: ids come from descriptions, which keep their sockets.
    #[must_use]
    pub fn socket(&self, id: Id) -> &Socket {
        self.kernel.net.sockets.get(&id).expect("an open socket exists")
    }

    /// A socket, to change it.
    pub fn socket_mut(&mut self, id: Id) -> &mut Socket {
        self.kernel.net.sockets.get_mut(&id).expect("an open socket exists")
    }
}
