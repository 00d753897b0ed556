//! Calls that ask about a path: `access(2)`, `readlink(2)`.

use super::inode::Kind;
use super::permission::{Asker, EXECUTE, READ, WRITE};
use super::stat::at_flags;
use super::synthetic;
use super::walk::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, Node, Walk};
use crate::call::{Call, Stop};
use crate::descriptor::Fd;
use crate::errno::{EINVAL, ENOENT};

/// `faccessat2(2)`: ask with the effective ids.
const AT_EACCESS: u32 = 0x200;

/// `access(2)`.
pub fn access(call: &mut Call<'_>) -> Result<u64, Stop> {
    check_access(call, AT_FDCWD, call.args[0], call.args[1], 0)
}

/// `faccessat(2)`: the kernel's own has no flags.
pub fn faccessat(call: &mut Call<'_>) -> Result<u64, Stop> {
    check_access(call, call.int(0), call.args[1], call.args[2], 0)
}

/// `faccessat2(2)`.
pub fn faccessat2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[3], AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)?;
    check_access(call, call.int(0), call.args[1], call.args[2], flags)
}

fn check_access(call: &mut Call<'_>, dir: Fd, address: u64, wanted: u64, flags: u32) -> Result<u64, Stop> {
    let wanted = wanted as u32;
    if wanted & !(READ | WRITE | EXECUTE) != 0 {
        return Err(EINVAL.into());
    }
    let credentials = &call.process().credentials;
    let asker = if flags & AT_EACCESS != 0 { Asker::effective(credentials) } else { Asker::real(credentials) };
    let path = call.load_path(address)?;
    let node = if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        call.node_of(dir)?
    } else {
        let start = call.start(dir, &path)?;
        let mut walk = Walk::new(call.kernel, call.pid, asker.clone(), flags & AT_SYMLINK_NOFOLLOW == 0);
        walk.go(start, &path)?.node.ok_or(ENOENT)?
    };
    if let Node::Inode(id) = node {
        let inode = call.kernel.inode(id).ok_or(ENOENT)?;
        asker.may(&inode, wanted)?;
    }
    Ok(0)
}

/// `readlink(2)`.
pub fn readlink(call: &mut Call<'_>) -> Result<u64, Stop> {
    read_link(call, AT_FDCWD, call.args[0], call.args[1], call.args[2])
}

/// `readlinkat(2)`.
pub fn readlinkat(call: &mut Call<'_>) -> Result<u64, Stop> {
    read_link(call, call.int(0), call.args[1], call.args[2], call.args[3])
}

fn read_link(call: &mut Call<'_>, dir: Fd, address: u64, buffer: u64, size: u64) -> Result<u64, Stop> {
    if (size as i32) <= 0 {
        return Err(EINVAL.into());
    }
    let path = call.load_path(address)?;
    let node = match path.as_slice() {
        // An empty path means the descriptor itself, which must be a link (`readlinkat(2)`).
        b"" if dir != AT_FDCWD => call.node_of(dir)?,
        _ => call.walk(dir, &path, false)?.node.ok_or(ENOENT)?,
    };
    let Node::Inode(id) = node else { return Err(EINVAL.into()) };
    let text = match call.kernel.inode(id).ok_or(ENOENT)?.kind {
        Kind::Link(target) => target.to_vec(),
        Kind::Magic => synthetic::link_text(call.kernel, call.pid, id)?,
        _ if path.is_empty() => return Err(ENOENT.into()),
        _ => return Err(EINVAL.into()),
    };
    let text = &text[..text.len().min(size as usize)];
    call.store(buffer, text)?;
    Ok(text.len() as u64)
}
