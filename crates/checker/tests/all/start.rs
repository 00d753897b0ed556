//! Programs at their beginning.

use checker::{Options, Programs};
use kernel::host::Host;
use memory::Limit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use world::Command;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};

/// Starts the executable `program` of a folder, to be searched.
pub fn search_of(folder: &Path, options: Options) -> Programs {
    search_with(folder, &["./program"], options)
}

/// Starts a command in a folder, to be searched.
pub fn search_with(folder: &Path, arguments: &[&str], options: Options) -> Programs {
    let mut roots: Vec<_> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(folder.to_owned());
    let command = Command {
        arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        environment: vec![b"LD_BIND_NOW=1".to_vec()],
        directory: folder.as_os_str().as_bytes().to_vec(),
        user: None,
    };
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    Programs::start(host, Limit::default(), &[command], options).expect("it starts")
}
