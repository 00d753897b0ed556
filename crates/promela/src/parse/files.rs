//! What a model is read from: its files, and what is given beside them.

use std::path::{Path, PathBuf};

/// What is given beside the file.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// `-DNAME` or `-DNAME=value`: the name and its value (without one it is `1`).
    pub defines: Vec<(String, Option<String>)>,
    /// `-UNAME`.
    pub undefines: Vec<String>,
    /// Where `#include` looks after the including file's folder.
    pub include_dirs: Vec<PathBuf>,
}

/// Where included files come from; tests supply them from memory.
pub trait Reader {
    /// The bytes of a file.
    ///
    /// # Errors
    /// When there is no such file or it cannot be read.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// Reads files from the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostFiles;

impl Reader for HostFiles {
    #[allow(clippy::disallowed_methods, reason = "models are files that users name")]
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
