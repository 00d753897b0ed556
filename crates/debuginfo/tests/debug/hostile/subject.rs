//! Any bytes as an executable file: loaded, run for a while, looked at. Shared with the fuzz target `elf_load`.

use debuginfo::stack;
use kernel::host::{Host, HostEntry, HostFiles};
use memory::Limit;
use std::path::Path;
use std::sync::Arc;
use world::step::Blind;
use world::{Command, World, doctor};
use x86::Code;

/// A host that has one file, the program.
struct OneFile(Arc<[u8]>);

const PROGRAM: &[u8] = b"/program";

impl HostFiles for OneFile {
    fn entry(&self, path: &[u8]) -> Option<HostEntry> {
        let (mode, size) = match path {
            b"/" => (0o040_755, 4096),
            PROGRAM => (0o100_755, self.0.len() as u64),
            _ => return None,
        };
        Some(HostEntry { mode, uid: 0, gid: 0, size, links: 1, inode: 7, modified: 0, target: Vec::new() })
    }

    fn list(&self, path: &[u8]) -> Vec<Vec<u8>> {
        if path == b"/" { vec![PROGRAM[1..].to_vec()] } else { Vec::new() }
    }

    fn content(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        (path == PROGRAM).then(|| Arc::clone(&self.0))
    }
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was not started.
    Refused,
    /// It ran.
    Ran,
}

/// Nothing about a file may panic, run for ever, or take memory without end.
pub fn survive(bytes: &[u8]) -> Fate {
    let _ = doctor::examine_bytes(Path::new("/program"), bytes);
    let mut world = World::new(Host(Arc::new(OneFile(bytes.into()))), 1, Limit::bytes(16 << 20));
    let command =
        Command { arguments: vec![PROGRAM.to_vec()], environment: Vec::new(), directory: b"/".to_vec(), user: None };
    let Ok(tid) = world.start(&command) else { return Fate::Refused };
    let mut code = Code::default();
    // A refusal and a fatal signal are as good as an end.
    if world.advance(tid, &mut code, 3000, &mut Blind).is_ok() {
        let _ = stack::frames(&world, tid);
    }
    Fate::Ran
}
