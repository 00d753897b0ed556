//! What a peer in a world of its own prints and asks for until it is ready: what is told if it never is.

use crate::Stop;
use ::native::LastWords;
use kernel::kernel::Output;
use kernel::table::{self, Argument};
use kernel::{Tid, errno};
use std::collections::BTreeMap;
use std::path::Path;
use world::World;
use world::run::Audience;
use world::step::Observer;

/// Nobody reads what a peer prints once it is ready; it stops when the search does.
pub(crate) struct PeerAudience {
    stop: Stop,
    log: Option<StartLog>,
}

/// What a peer has printed, and what it was not shown.
///
/// Only the last file is kept: programs look for many that need not be there, and fail at the first that must.
#[derive(Default)]
struct StartLog {
    words: LastWords,
    /// The path that each thread asks for.
    asked: BTreeMap<Tid, Vec<u8>>,
    /// The last file that is on the host and was not shown.
    withheld: Option<String>,
}

impl PeerAudience {
    /// A peer is about to start.
    pub fn new(stop: Stop) -> Self {
        Self { stop, log: Some(StartLog::default()) }
    }

    /// It is ready.
    pub fn end_of_start(&mut self) {
        self.log = None;
    }

    /// What it printed, and what it was not shown.
    pub fn told(&self) -> String {
        let Some(log) = &self.log else { return String::new() };
        let withheld = log.withheld.as_ref().map(|path| {
            let folder = Path::new(path).parent().unwrap_or(Path::new("/")).display();
            format!("; it was not shown {path}\n  = help: a peer sees what the programs see, and the folder of its program: --root {folder} shows more, or `files = [\"{folder}\"]` in allways.toml")
        });
        format!("; {}{}", log.words.told(), withheld.unwrap_or_default())
    }
}

impl Observer for PeerAudience {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        let (Some(log), Some(row)) = (&mut self.log, table::row(number)) else { return };
        let Some(index) = row.arguments.iter().position(|argument| *argument == Argument::Path) else { return };
        let space = world.space(tid);
        if let Ok(path) = world.memory.read_until_nul(space, args[index], 4096) {
            log.asked.insert(tid, path);
        }
    }

    // A file that is nowhere is the peer's own affair, and its last words tell of it.
    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        let Some(log) = &mut self.log else { return };
        let Some(path) = log.asked.remove(&tid).filter(|_| result as i64 == -i64::from(errno::ENOENT.0)) else {
            return;
        };
        let Some(path) = absolute(world, tid, &path) else { return };
        if world.kernel.host.0.is_withheld(&path) {
            log.withheld = Some(String::from_utf8_lossy(&path).into_owned());
        }
    }

    fn signal(&mut self, _: &World, _: Tid, _: u8) {}
}

impl Audience for PeerAudience {
    fn output(&mut self, output: &Output) {
        if let Some(log) = &mut self.log {
            log.words.add(&output.bytes);
        }
    }

    fn wants_to_stop(&mut self) -> bool {
        (self.stop)()
    }
}

/// A path from the root: others begin where the process works.
fn absolute(world: &World, tid: Tid, path: &[u8]) -> Option<Vec<u8>> {
    if path.starts_with(b"/") {
        return Some(path.to_vec());
    }
    let thread = world.kernel.threads.get(&tid)?;
    let process = world.kernel.processes.get(&thread.pid)?;
    Some([&process.directories.working_path, &b"/"[..], path].concat())
}
