//! Reading and writing synthetic files.

use super::item::{Item, Scope};
use super::item_of;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::{At, File, Operations, refuse};
use crate::errno::{EACCES, EINVAL, EIO, ESRCH, Errno};
use crate::files::regular;
use crate::id::Id;

/// What an open synthetic file can do.
pub static OPERATIONS: Operations =
    Operations { read, write, poll: refuse::poll, ioctl: refuse::ioctl, close: refuse::close, seek };

fn node(call: &Call<'_>, description: Id) -> Id {
    match call.description(description).file {
        File::Text(id) => id,
        other => panic!("{other:?} is no synthetic file"),
    }
}

/// Makes the text of a file.
fn make(call: &mut Call<'_>, id: Id) -> Result<Vec<u8>, Errno> {
    if let Some(Item::Uuid) = item_of(call.kernel, id) {
        let random = crate::system::random(call.kernel, call.tid, 8).try_into().expect("as many as asked");
        return Ok(super::system::uuid(u64::from_le_bytes(random)));
    }
    let (kernel, memory) = (&*call.kernel, &*call.memory);
    let nobody = Scope { pid: crate::Pid(0), tid: crate::Tid(0) };
    match item_of(kernel, id) {
        Some(Item::Text(_, make, scope)) => Ok(make(kernel, memory, scope.unwrap_or(nobody))),
        Some(Item::DescriptorText(scope, fd)) => Ok(super::process_text::descriptor(kernel, scope, fd)),
        // The process has gone since.
        _ => Err(ESRCH),
    }
}

/// The text is made when reading starts, so that all of it tells of one moment.
fn read(call: &mut Call<'_>, description: Id, len: usize, at: At) -> Result<Vec<u8>, Stop> {
    let offset = at.unwrap_or(call.description(description).offset);
    if offset == 0 || !call.kernel.files.texts.contains_key(&description) {
        let id = node(call, description);
        let text = make(call, id)?;
        call.kernel.files.texts.insert(description, text);
    }
    let text = call.kernel.files.texts.get(&description).expect("it was just made");
    let start = text.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
    let bytes = text[start..text.len().min(start.saturating_add(len))].to_vec();
    if at.is_none() {
        call.description_mut(description).offset = offset + bytes.len() as u64;
    }
    Ok(bytes)
}

/// Few files take anything; what is written to the others is refused by name.
fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    let id = node(call, description);
    let path = call.kernel.files.known.get(id).ok_or(EIO)?.path.clone();
    let shown = String::from_utf8_lossy(&path).into_owned();
    match (item_of(call.kernel, id), shown.rsplit('/').next()) {
        (Some(Item::Text(_, _, Some(scope))), Some("comm")) => rename_thread(call, scope, bytes),
        (Some(Item::Text(_, _, Some(scope))), Some("oom_score_adj")) => adjust(call, scope, bytes),
        _ => call.unsupported(format!("writing to {shown}")),
    }
}

fn rename_thread(call: &mut Call<'_>, scope: Scope, bytes: &[u8]) -> Result<usize, Stop> {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let thread = call.kernel.threads.get_mut(&scope.tid).ok_or(ESRCH)?;
    thread.name = line[..line.len().min(15)].to_vec();
    Ok(bytes.len())
}

/// Who is killed first when memory runs out: remembered, and told again. Nobody is killed; the run ends.
fn adjust(call: &mut Call<'_>, scope: Scope, bytes: &[u8]) -> Result<usize, Stop> {
    let text = std::str::from_utf8(bytes).map_err(|_| EINVAL)?;
    let number: i16 = text.trim().parse().map_err(|_| EINVAL)?;
    if !(-1000..=1000).contains(&number) {
        return Err(EINVAL.into());
    }
    let is_free = call.can(Capability::Resource);
    let (_, least) = &mut call.kernel.processes.get_mut(&scope.pid).ok_or(ESRCH)?.controls.out_of_memory;
    if number < *least && !is_free {
        return Err(EACCES.into());
    }
    let least = if is_free { number } else { *least };
    call.kernel.processes.get_mut(&scope.pid).ok_or(ESRCH)?.controls.out_of_memory = (number, least);
    Ok(bytes.len())
}

fn seek(call: &mut Call<'_>, description: Id, offset: i64, whence: u32) -> Result<u64, Stop> {
    // seq_lseek knows no end.
    if whence > 1 {
        return Err(EINVAL.into());
    }
    let target = regular::target(offset, whence, call.description(description).offset, 0)?;
    call.description_mut(description).offset = target;
    Ok(target)
}
