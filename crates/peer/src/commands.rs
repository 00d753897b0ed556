//! Commands of the user that keep the state of a native peer, and bring it back before it is started again.

use ::native::{Problem, Spec};
use std::path::{Path, PathBuf};

/// What stands for the folder of a checkpoint.
pub const PLACE: &str = "{place}";

/// Commands of the user, as words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commands {
    /// Keeps the state of the peer in a folder, which is there and empty.
    pub save: Vec<String>,
    /// Brings it back from there. The peer does not run meanwhile.
    pub restore: Vec<String>,
}

/// Folders of checkpoints. They go with this.
pub(crate) struct Folders {
    root: PathBuf,
    count: usize,
}

impl Folders {
    /// For a peer.
    pub fn of(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("allways-peer-{}-{name}", std::process::id()));
        Self { root, count: 0 }
    }

    /// A new folder.
    pub fn next(&mut self) -> std::io::Result<PathBuf> {
        self.count += 1;
        let folder = self.root.join(self.count.to_string());
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        if self.count > 0 {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

/// Runs one of the commands where the peer works.
pub(crate) fn run(words: &[String], folder: &Path, spec: &Spec) -> Result<(), Problem> {
    let folder = folder.to_string_lossy();
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.replace(PLACE, &folder).into_bytes()).collect();
    ::native::run(&words, &spec.environment, &spec.directory, spec.patience)
}
