//! Collects the lines of `--strace` while a world runs.

use crate::step::Observer;
use crate::strace::{self, Begun};
use crate::world::World;
use kernel::{Tid, table};
use std::collections::BTreeMap;

/// Collects the lines of `--strace`.
#[derive(Default)]
pub struct Tracer {
    begun: BTreeMap<Tid, Begun>,
    /// Finished lines with the process they belong to.
    pub lines: Vec<(Tid, String)>,
}

impl Observer for Tracer {
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]) {
        let space = world.space(tid);
        match table::row(number) {
            Some(row) => {
                self.begun.insert(tid, strace::begin(row, args, &mut world.memory, space));
            }
            None => self.lines.push((tid, format!("syscall_{number}(...) = ?"))),
        }
    }

    fn end(&mut self, world: &mut World, tid: Tid, result: u64) {
        let Some(begun) = self.begun.remove(&tid) else { return };
        let process = world.kernel.threads.get(&tid).and_then(|thread| world.kernel.processes.get(&thread.pid));
        let line = match process.map(|process| process.space) {
            Some(space) => begun.end(result, &mut world.memory, space),
            None => begun.unfinished(),
        };
        self.lines.push((tid, line));
    }

    fn signal(&mut self, _: &World, tid: Tid, number: u8) {
        self.lines.push((tid, format!("--- {} ---", strace::signal_name(u64::from(number)))));
    }
}

impl Tracer {
    /// Calls that have not returned, as lines.
    pub fn unfinished(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        self.lines.extend(begun.into_iter().map(|(tid, begun)| (tid, begun.unfinished())));
    }
}
