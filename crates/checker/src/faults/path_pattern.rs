//! On which files a call must be for a fault to happen to it.

use crate::system::view::View;
use kernel::descriptor::Fd;
use kernel::table::Argument;
use kernel::{Tid, table};

/// The longest path (`PATH_MAX`).
const PATH_MAX: u64 = 4096;

/// `AT_FDCWD`.
const CURRENT: i32 = -100;

/// A path, or the names at its end; `*` is any number of characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPattern(String);

impl PathPattern {
    /// Reads a pattern.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a path is meant: all of it, or from a name on.
    #[must_use]
    pub fn is_for(&self, path: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let starts = (0..path.len()).filter(|at| path[*at] == b'/').map(|at| at + 1);
        std::iter::once(0).chain(starts).any(|start| is_like(pattern, &path[start..]))
    }
}

/// Whether a text is like a pattern with stars.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skipped| is_like(rest, &text[skipped..])),
        Some((first, rest)) => text.split_first().is_some_and(|(found, text)| found == first && is_like(rest, text)),
    }
}

impl View<'_> {
    /// Whether a call is on a file that a pattern means: by a path in its arguments, or by a descriptor.
    pub(super) fn is_on(self, tid: Tid, (number, args): (u64, [u64; 6]), pattern: &PathPattern) -> bool {
        let arguments = table::row(number).map_or(&[][..], |row| row.arguments);
        let mut directory = CURRENT;
        arguments.iter().zip(args).any(|(argument, value)| match argument {
            Argument::Dir => {
                directory = value as i32;
                false
            }
            Argument::Fd => self.path_of(tid, value as Fd).is_some_and(|path| pattern.is_for(&path)),
            Argument::Path => self.path_at(tid, value, directory).is_some_and(|path| pattern.is_for(&path)),
            _ => false,
        })
    }

    /// The path of an open file.
    fn path_of(self, tid: Tid, fd: Fd) -> Option<Vec<u8>> {
        let kernel = &self.state.world.kernel;
        kernel.descriptions.get(&kernel.description_for(tid, fd)?).map(|description| description.path.clone())
    }

    /// The path that a text in memory means, from a directory on.
    fn path_at(self, tid: Tid, address: u64, directory: i32) -> Option<Vec<u8>> {
        let world = &self.state.world;
        let mut byte = [0];
        let bytes = (address..address.saturating_add(PATH_MAX)).map_while(|at| {
            world.memory.peek(world.space(tid), at, &mut byte).ok()?;
            Some(byte[0]).filter(|byte| *byte != 0)
        });
        let text: Vec<u8> = bytes.collect();
        if text.first() == Some(&b'/') {
            return Some(text);
        }
        let base = match directory {
            CURRENT => {
                let thread = world.kernel.threads.get(&tid)?;
                world.kernel.path_of(world.kernel.processes.get(&thread.pid)?.directories.working)?
            }
            fd => self.path_of(tid, fd)?,
        };
        Some([&base, &b"/"[..], &text].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_path_from_a_name_on() {
        let table = [
            ("log", "/tmp/log", true),
            ("log", "/tmp/catalog", false),
            ("*log", "/tmp/catalog", true),
            ("tmp/log", "/tmp/log", true),
            ("/tmp/log", "/tmp/log", true),
            ("/log", "/tmp/log", false),
            ("lo*", "/tmp/log.new", true),
            ("*.new", "/tmp/log.new", true),
            ("*.new", "/tmp/log", false),
        ];
        for (pattern, path, is_meant) in table {
            assert_eq!(PathPattern::new(pattern).is_for(path.as_bytes()), is_meant, "{pattern} {path}");
        }
    }
}
