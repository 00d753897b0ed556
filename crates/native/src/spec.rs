//! What is started.

use crate::address::Address;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is started, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The program and its arguments. A name without a slash is looked for in `PATH`.
    pub command: Vec<Vec<u8>>,
    /// Its whole environment: `NAME=VALUE`.
    pub environment: Vec<Vec<u8>>,
    /// The folder that it is started in. Every instance works in this very folder: what it writes there stays.
    pub directory: PathBuf,
    /// Where it listens, or what it connects to.
    pub address: Address,
    /// Which of the two.
    pub role: Role,
    /// Which time it sees.
    pub clock: Clock,
    /// Which network and which processes it sees.
    pub network: Network,
    /// How long it may take to listen, and to come to rest after each message.
    pub patience: Duration,
}

/// Which side opens connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// We do: the program listens.
    #[default]
    Server,
    /// The program does: we listen, on the network that it sees.
    Client,
}

/// Which time a program sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// Time stands still, at the same date in every instance.
    #[default]
    Virtual,
    /// The host's.
    Real,
}

/// Which network and which processes a program sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Network {
    /// Its own, where the system allows it.
    #[default]
    Own,
    /// The host's.
    Host,
}

impl Spec {
    /// The file of the program; nothing if there is none in `PATH`.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        find_program(&self.command, &self.environment, &self.directory)
    }
}

/// The file of the program of a command; nothing if there is none in the `PATH` of its environment.
#[must_use]
pub fn find_program(command: &[Vec<u8>], environment: &[Vec<u8>], directory: &Path) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(command.first()?));
    if name.components().count() > 1 || name.is_absolute() {
        return Some(directory.join(name));
    }
    let path = environment.iter().find_map(|setting| setting.strip_prefix(b"PATH=")).unwrap_or(b"/usr/bin:/bin");
    let folders = path.split(|byte| *byte == b':').map(|folder| directory.join(OsStr::from_bytes(folder)));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A duration in words.
#[must_use]
pub fn in_words(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{} ms", time.as_millis()),
    }
}
