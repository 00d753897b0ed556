//! Runtimes that schedule inside of the kernel's threads.
//!
//! Go's runtime runs goroutines on threads, and CPython lets one thread run at a time until another one's wait for the
//! interpreter lock times out. The search chooses among the kernel's threads: which of these schedules a runtime would
//! take is up to the runtime, so a verdict names it as a bound.

use memory::{Backing, Memory, ObjectId, Protection, SpaceId};
use object::{Object, ObjectSymbol};
use std::collections::{BTreeSet, HashMap};

/// A runtime that schedules inside of the kernel's threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scheduler {
    /// Go's goroutines.
    Go,
    /// CPython's threads under its interpreter lock.
    CPython,
}

/// The schedulers of programs that have started threads.
#[derive(Clone, Default)]
pub(crate) struct Schedulers {
    files: HashMap<ObjectId, Option<Scheduler>>,
    pub found: BTreeSet<Scheduler>,
}

impl Schedulers {
    /// Looks for a scheduler in the code of an address space.
    pub fn look(&mut self, memory: &Memory, space: SpaceId) {
        let code = memory.mappings(space).filter(|mapping| mapping.protection.contains(Protection::EXECUTE));
        for mapping in code {
            if let Backing::Object { id, .. } = mapping.backing {
                self.found.extend(*self.files.entry(id).or_insert_with(|| scheduler_in(&memory.object_content(id))));
            }
        }
    }
}

/// The scheduler that is in an executable file. What is looked for stays in stripped ones.
fn scheduler_in(bytes: &[u8]) -> Option<Scheduler> {
    const GO: [&str; 2] = [".go.buildinfo", ".note.go.buildid"];
    let file = object::File::parse(bytes).ok()?;
    let defines = |name| file.dynamic_symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
    match () {
        () if GO.iter().any(|name| file.section_by_name(name).is_some()) => Some(Scheduler::Go),
        () if defines("PyEval_SaveThread") => Some(Scheduler::CPython),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "what is installed here is no guest's file")]
    fn the_interpreter_has_a_scheduler_and_a_shell_has_none() {
        let found = |path: &str| scheduler_in(&std::fs::read(path).expect("it is installed"));
        assert_eq!((found("/usr/bin/python3"), found("/bin/sh")), (Some(Scheduler::CPython), None));
        assert_eq!(scheduler_in(b"no program"), None);
    }
}
