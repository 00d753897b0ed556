//! The directories `/proc/PID` and what their links lead to.

use super::descriptors::description;
use super::item::{Item, Jump, Make, Scope, Spot};
use super::{memory_text, process_text};
use crate::Kernel;
use crate::errno::{ENOENT, Errno};
use crate::files::place::Node;
use crate::files::standard::root;
use crate::id::{Pid, Tid};
use std::collections::BTreeSet;

/// Texts of a process or thread: name, permissions, maker.
const TEXTS: &[(&str, u32, Make)] = &[
    ("auxv", 0o400, process_text::auxiliary),
    ("cgroup", 0o444, process_text::control_group),
    ("cmdline", 0o444, process_text::command_line),
    ("comm", 0o644, process_text::name),
    ("environ", 0o400, process_text::environment),
    ("io", 0o400, process_text::transfers),
    ("limits", 0o444, process_text::limits),
    ("loginuid", 0o644, process_text::login),
    ("maps", 0o444, memory_text::maps),
    ("mountinfo", 0o444, process_text::mount_details),
    ("mounts", 0o444, process_text::mounts),
    ("oom_score", 0o444, process_text::zero),
    ("oom_score_adj", 0o644, process_text::out_of_memory),
    ("personality", 0o400, process_text::personality),
    ("sessionid", 0o444, process_text::login),
    ("setgroups", 0o644, process_text::set_groups),
    ("smaps", 0o444, memory_text::details),
    ("smaps_rollup", 0o444, memory_text::summary),
    ("stat", 0o444, process_text::stat),
    ("statm", 0o444, memory_text::pages),
    ("status", 0o444, process_text::status),
    ("syscall", 0o400, process_text::current_call),
    ("wchan", 0o444, process_text::wait_channel),
    ("gid_map", 0o644, process_text::id_map),
    ("uid_map", 0o644, process_text::id_map),
];

/// Links of a process.
const LINKS: &[(&str, Spot)] = &[("cwd", Spot::Working), ("exe", Spot::Executable), ("root", Spot::Root)];

/// What is at `/proc/NUMBER/rest`.
pub fn item(kernel: &Kernel, number: u32, rest: &[&str]) -> Option<Item> {
    let pid = Pid(number);
    let scope = if kernel.processes.contains_key(&pid) {
        Scope { pid, tid: Tid(number) }
    } else {
        // A thread has a directory of its own that no listing shows.
        Scope { pid: kernel.threads.get(&Tid(number))?.pid, tid: Tid(number) }
    };
    match rest {
        ["task"] => Some(Item::Directory(Some(scope))),
        ["task", tid, rest @ ..] => {
            let tid = Tid(tid.parse().ok()?);
            let belongs = kernel.processes.get(&pid)?.threads.contains(&tid);
            belongs.then(|| inside(kernel, Scope { pid, tid }, rest))?
        }
        _ => inside(kernel, scope, rest),
    }
}

fn inside(kernel: &Kernel, scope: Scope, rest: &[&str]) -> Option<Item> {
    match rest {
        [] | ["fd" | "fdinfo" | "net"] => Some(Item::Directory(Some(scope))),
        ["fd", number] => open_descriptor(kernel, scope, number).map(|fd| Item::Descriptor(scope, fd)),
        ["fdinfo", number] => open_descriptor(kernel, scope, number).map(|fd| Item::DescriptorText(scope, fd)),
        [name] => {
            let text = TEXTS.iter().find(|row| row.0 == *name).map(|row| Item::Text(row.1, row.2, Some(scope)));
            text.or_else(|| LINKS.iter().find(|row| row.0 == *name).map(|row| Item::Place(scope, row.1)))
        }
        _ => None,
    }
}

fn open_descriptor(kernel: &Kernel, scope: Scope, number: &str) -> Option<i32> {
    let fd: i32 = number.parse().ok()?;
    description(kernel, scope, fd).map(|_| fd)
}

/// Names in a directory of a process.
pub fn list(kernel: &Kernel, scope: Scope, rest: &[&str]) -> BTreeSet<Vec<u8>> {
    let Some(process) = kernel.processes.get(&scope.pid) else { return BTreeSet::new() };
    match rest {
        ["task"] => process.threads.iter().map(|tid| tid.0.to_string().into_bytes()).collect(),
        [.., "fd" | "fdinfo"] => process.descriptors.iter().map(|(fd, _)| fd.to_string().into_bytes()).collect(),
        [.., "net"] => BTreeSet::new(),
        _ => {
            let texts = TEXTS.iter().map(|row| row.0).chain(LINKS.iter().map(|row| row.0));
            let task = if rest.is_empty() { Some("task") } else { None };
            texts.chain(["fd", "fdinfo"]).chain(task).map(|name| name.as_bytes().to_vec()).collect()
        }
    }
}

/// Where a link of a process leads.
pub fn spot(kernel: &Kernel, scope: Scope, spot: Spot) -> Result<Jump, Errno> {
    let process = kernel.processes.get(&scope.pid).ok_or(ENOENT)?;
    let inode = match spot {
        Spot::Root => root(),
        Spot::Working => process.directories.working,
        Spot::Executable => process.image.inode.ok_or(ENOENT)?,
    };
    Ok(Jump::Node(Node::Inode(inode)))
}

/// The text of a link of a process.
pub fn spot_text(kernel: &Kernel, scope: Scope, spot: Spot) -> Result<Vec<u8>, Errno> {
    let process = kernel.processes.get(&scope.pid).ok_or(ENOENT)?;
    let working = process.directories.working;
    let gone = || [process.directories.working_path.as_slice(), b" (deleted)"].concat();
    Ok(match spot {
        Spot::Root => b"/".to_vec(),
        Spot::Working => kernel.path_of(working).unwrap_or_else(gone),
        Spot::Executable if process.image.path.is_empty() => return Err(ENOENT),
        Spot::Executable => process.image.path.clone(),
    })
}
