//! Commands of the user that keep the state of a native peer, and bring it back before it is started again.

use ::native::{Problem, Spec};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
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

/// Folders of checkpoints, in one that nobody else may enter. They go with this.
#[derive(Default)]
pub(crate) struct Folders {
    root: Option<PathBuf>,
    count: usize,
}

impl Folders {
    /// A new folder.
    pub fn next(&mut self) -> io::Result<PathBuf> {
        let root = match &self.root {
            Some(root) => root,
            None => self.root.insert(new_root(&std::env::temp_dir(), random_name)?),
        };
        self.count += 1;
        let folder = root.join(self.count.to_string());
        fs::create_dir(&folder)?;
        Ok(folder)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        if let Some(root) = &self.root {
            let _ = fs::remove_dir_all(root);
        }
    }
}

/// Makes a folder of a new name. Everybody may write where it lies: what is there under that name is not ours, and not followed.
fn new_root(parent: &Path, mut name: impl FnMut() -> String) -> io::Result<PathBuf> {
    loop {
        let root = parent.join(name());
        match fs::DirBuilder::new().mode(0o700).create(&root) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| root),
        }
    }
}

/// A name that nobody guesses: the keys of a hasher are random.
fn random_name() -> String {
    format!("allways-peer-{}-{:016x}", std::process::id(), RandomState::new().hash_one(()))
}

/// Runs one of the commands where the peer works.
pub(crate) fn run(words: &[String], folder: &Path, spec: &Spec, stop: &dyn Fn() -> bool) -> Result<(), Problem> {
    let folder = folder.to_string_lossy();
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.replace(PLACE, &folder).into_bytes()).collect();
    ::native::run(&words, spec, stop)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "it is about folders of the host")]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn folders_are_new_and_nobody_elses() {
        let mut folders = Folders::default();
        let (one, two) = (folders.next().expect("a folder"), folders.next().expect("another one"));
        assert!(one != two && one.is_dir() && two.is_dir());
        let root = one.parent().expect("it lies in one").to_owned();
        assert_eq!(fs::metadata(&root).expect("it is there").permissions().mode() & 0o777, 0o700);
        let other = Folders::default().next().expect("a folder");
        assert_ne!(other.parent(), Some(&*root), "names are not used twice");
        drop(folders);
        assert!(!root.exists());
    }

    #[test]
    fn a_folder_or_link_that_is_there_is_not_used() {
        let mut all = Folders::default();
        let (parent, elsewhere) = (all.next().expect("a folder"), all.next().expect("another one"));
        fs::create_dir(parent.join("taken")).expect("a folder");
        symlink(&elsewhere, parent.join("link")).expect("a link");
        let mut names = ["taken", "link", "free"].into_iter();
        let root = new_root(&parent, || names.next().expect("the third one will do").to_owned());
        assert_eq!(root.ok(), Some(parent.join("free")));
    }
}
