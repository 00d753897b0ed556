//! The open files of a process, as `/proc/PID/fd` shows them.

use super::item::Scope;
use crate::Kernel;
use crate::descriptor::File;
use crate::files::inode::Inode;
use crate::files::place::Node;
use crate::id::Id;

/// What a descriptor of a process refers to.
pub fn description(kernel: &Kernel, scope: Scope, fd: i32) -> Option<Id> {
    let process = kernel.processes.get(&scope.pid)?;
    process.descriptors.get(fd).ok().map(|descriptor| descriptor.description)
}

/// What following a link to a description leads to.
pub fn node(kernel: &Kernel, description: Id) -> Node {
    match kernel.descriptions.get(&description).map(|open| open.file) {
        Some(File::Inode(id) | File::Text(id)) => Node::Inode(id),
        _ => Node::Open(description),
    }
}

/// How `/proc/PID/fd` shows a description (`proc(5)`).
pub fn shown(kernel: &Kernel, description: Id) -> Vec<u8> {
    let Some(open) = kernel.descriptions.get(&description) else { return Vec::new() };
    let number = |id: Id| id.0 >> 24;
    match open.file {
        File::Inode(id) => shown_inode(kernel, id, &open.path),
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) if kernel.inode(id).is_none() => {
            format!("pipe:[{}]", number(id)).into_bytes()
        }
        File::Console(stream) => format!("pipe:[{}]", stream as u64 + 1).into_bytes(),
        File::Socket(id) => format!("socket:[{}]", number(id)).into_bytes(),
        File::Event(_) => b"anon_inode:[eventfd]".to_vec(),
        File::Timer(_) => b"anon_inode:[timerfd]".to_vec(),
        File::Signal(_) => b"anon_inode:[signalfd]".to_vec(),
        File::Epoll(_) => b"anon_inode:[eventpoll]".to_vec(),
        File::Inotify(_) => b"anon_inode:inotify".to_vec(),
        File::Process(_) => b"anon_inode:[pidfd]".to_vec(),
        _ => open.path.clone(),
    }
}

fn shown_inode(kernel: &Kernel, id: Id, path: &[u8]) -> Vec<u8> {
    let inode = kernel.inode(id);
    if inode.as_ref().is_some_and(Inode::is_directory)
        && let Some(path) = kernel.path_of(id)
    {
        return path;
    }
    let is_gone = inode.is_none_or(|inode| inode.links == 0);
    if is_gone && !path.ends_with(b" (deleted)") { [path, b" (deleted)"].concat() } else { path.to_vec() }
}
