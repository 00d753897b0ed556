//! Peers behind Unix sockets: an inode leads to each.

use super::address::{Given, Name};
use super::far::{PeerId, Site};
use super::far_ends::establish_far;
use super::socket::{Identity, Kind, Stage};
use super::unix::find_inode;
use crate::call::{Call, Stop};
use crate::errno::{EINVAL, EISCONN, EPROTOTYPE, Errno};
use crate::id::Id;

/// The peer behind a name of a Unix socket, and that name.
pub fn peer_at(call: &Call<'_>, given: &Given) -> Result<Option<(PeerId, Name)>, Errno> {
    let Given::Path(path) = given else { return Ok(None) };
    let is_any = call.kernel.net.far.declared.keys().any(|site| matches!(site, Site::Socket(_)));
    if !is_any {
        return Ok(None);
    }
    let inode = find_inode(call, path)?;
    let peer = call.kernel.net.far.declared.get(&Site::Socket(inode)).copied();
    Ok(peer.map(|peer| (peer, Name::Path(path.clone(), inode))))
}

/// `connect(2)` to a peer: it always takes a connection.
pub fn connect(call: &mut Call<'_>, id: Id, peer: PeerId, name: Name) -> Result<(), Stop> {
    let socket = call.socket(id);
    match (socket.kind, socket.stage) {
        (Kind::Stream, Stage::Idle) => {}
        (Kind::Stream, Stage::Connected) => return Err(EISCONN.into()),
        (Kind::Stream, _) => return Err(EINVAL.into()),
        _ => return Err(EPROTOTYPE.into()),
    }
    let twin = call.fresh_id();
    let identity = Identity::of(call.process());
    let socket = call.socket_mut(id);
    (socket.identity, socket.remote, socket.twin) = (identity, Some(name), Some(twin));
    establish_far(call.kernel, id, peer);
    Ok(())
}
