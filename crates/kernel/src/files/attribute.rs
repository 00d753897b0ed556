//! Extended attributes (`xattr(7)`): `user.`, `trusted.` and `security.` names; no access control lists.

use super::inode::{Inode, Kind};
use super::permission::{READ, WRITE};
use super::walk::{AT_FDCWD, AT_SYMLINK_NOFOLLOW, Node};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{E2BIG, EEXIST, EINVAL, ENAMETOOLONG, ENODATA, ENOENT, EOPNOTSUPP, EPERM, ERANGE, Errno};
use crate::id::Id;

const NAME_MAX: usize = 255;
const VALUE_MAX: u64 = 65536;
const CREATE: u64 = 1;
const REPLACE: u64 = 2;

/// What the first argument of a call is.
#[derive(Clone, Copy)]
enum By {
    Path,
    Link,
    Descriptor,
}

fn inode_by(call: &mut Call<'_>, by: By) -> Result<(Id, Inode), Stop> {
    let node = match by {
        By::Path => call.node_at(AT_FDCWD, call.args[0], 0)?,
        By::Link => call.node_at(AT_FDCWD, call.args[0], AT_SYMLINK_NOFOLLOW)?,
        By::Descriptor => {
            call.description_of(call.int(0))?;
            call.node_of(call.int(0))?
        }
    };
    let Node::Inode(id) = node else { return Err(EOPNOTSUPP.into()) };
    Ok((id, call.kernel.inode(id).ok_or(ENOENT)?))
}

fn name(call: &mut Call<'_>) -> Result<Vec<u8>, Stop> {
    let name = call.load_string(call.args[1], NAME_MAX + 1).map_err(|stop| match stop {
        Stop::Errno(ENAMETOOLONG) => ERANGE.into(),
        other => other,
    })?;
    if name.is_empty() { Err(ERANGE.into()) } else { Ok(name) }
}

/// Who may touch which names (`xattr(7)`). Reading what one may not see is as if there were nothing.
fn check(call: &Call<'_>, inode: &Inode, name: &[u8], wanted: u32) -> Result<(), Errno> {
    let asker = call.asker();
    let takes_user = matches!(inode.kind, Kind::Regular | Kind::Directory);
    let writes = wanted == WRITE;
    match name {
        _ if name.starts_with(b"user.") && !takes_user => Err(if writes { EPERM } else { ENODATA }),
        _ if name.starts_with(b"user.") => asker.may(inode, wanted),
        _ if name.starts_with(b"trusted.") && !asker.can(Capability::Admin) => {
            Err(if writes { EPERM } else { ENODATA })
        }
        _ if name.starts_with(b"trusted.") => Ok(()),
        _ if name.starts_with(b"security.") && !asker.can(Capability::Admin) && writes => Err(EPERM),
        _ if name.starts_with(b"security.") => Ok(()),
        _ => Err(EOPNOTSUPP),
    }
}

fn set(call: &mut Call<'_>, by: By) -> Result<u64, Stop> {
    let (address, size, flags) = (call.args[2], call.args[3], call.args[4]);
    if flags & !(CREATE | REPLACE) != 0 {
        return Err(EINVAL.into());
    }
    let name = name(call)?;
    if size > VALUE_MAX {
        return Err(E2BIG.into());
    }
    let value = call.load_bytes(address, size as usize)?;
    let (id, inode) = inode_by(call, by)?;
    check(call, &inode, &name, WRITE)?;
    super::metadata::check_attributes(call.kernel, id).map_err(|_| EOPNOTSUPP)?;
    let mut all = call.kernel.files.attributes.get(&id).cloned().unwrap_or_default();
    match all.contains_key(&name) {
        true if flags & CREATE != 0 => return Err(EEXIST.into()),
        false if flags & REPLACE != 0 => return Err(ENODATA.into()),
        _ => {}
    }
    all.insert(name, value);
    call.kernel.files.attributes.insert(id, all);
    Ok(0)
}

fn get(call: &mut Call<'_>, by: By) -> Result<u64, Stop> {
    let name = name(call)?;
    let (id, inode) = inode_by(call, by)?;
    check(call, &inode, &name, READ)?;
    let value = call.kernel.files.attributes.get(&id).and_then(|all| all.get(&name)).cloned().ok_or(ENODATA)?;
    give(call, &value, call.args[2], call.args[3])
}

/// Size 0 only asks how long it is.
fn give(call: &mut Call<'_>, value: &[u8], address: u64, size: u64) -> Result<u64, Stop> {
    if size > 0 {
        if (value.len() as u64) > size {
            return Err(ERANGE.into());
        }
        call.store(address, value)?;
    }
    Ok(value.len() as u64)
}

fn list(call: &mut Call<'_>, by: By) -> Result<u64, Stop> {
    let (id, _) = inode_by(call, by)?;
    let is_root = call.can(Capability::Admin);
    let all = call.kernel.files.attributes.get(&id).cloned().unwrap_or_default();
    let shown = all.into_keys().filter(|name| is_root || !name.starts_with(b"trusted."));
    let names: Vec<u8> = shown.flat_map(|name| name.into_iter().chain([0])).collect();
    give(call, &names, call.args[1], call.args[2])
}

fn remove(call: &mut Call<'_>, by: By) -> Result<u64, Stop> {
    let name = name(call)?;
    let (id, inode) = inode_by(call, by)?;
    check(call, &inode, &name, WRITE)?;
    let mut all = call.kernel.files.attributes.get(&id).cloned().unwrap_or_default();
    all.remove(&name).ok_or(ENODATA)?;
    call.kernel.files.attributes.insert(id, all);
    Ok(0)
}

/// `setxattr(2)`.
pub fn setxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    set(call, By::Path)
}

/// `lsetxattr(2)`.
pub fn lsetxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    set(call, By::Link)
}

/// `fsetxattr(2)`.
pub fn fsetxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    set(call, By::Descriptor)
}

/// `getxattr(2)`.
pub fn getxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    get(call, By::Path)
}

/// `lgetxattr(2)`.
pub fn lgetxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    get(call, By::Link)
}

/// `fgetxattr(2)`.
pub fn fgetxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    get(call, By::Descriptor)
}

/// `listxattr(2)`.
pub fn listxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    list(call, By::Path)
}

/// `llistxattr(2)`.
pub fn llistxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    list(call, By::Link)
}

/// `flistxattr(2)`.
pub fn flistxattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    list(call, By::Descriptor)
}

/// `removexattr(2)`.
pub fn removexattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    remove(call, By::Path)
}

/// `lremovexattr(2)`.
pub fn lremovexattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    remove(call, By::Link)
}

/// `fremovexattr(2)`.
pub fn fremovexattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    remove(call, By::Descriptor)
}
