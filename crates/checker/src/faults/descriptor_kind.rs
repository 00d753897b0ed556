//! On what kind of descriptor a call must be for a fault to happen to it: what users write as `on=socket`.

use kernel::descriptor::File;

/// What a descriptor refers to, as far as faults tell it apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DescriptorKind {
    /// A file or directory.
    File,
    /// A pipe or FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A terminal.
    Terminal,
    /// Standard input, output or error, where it was not redirected.
    Standard,
    /// A message queue.
    Queue,
}

/// Kinds by their words.
const KINDS: [(&str, DescriptorKind); 6] = [
    ("file", DescriptorKind::File),
    ("pipe", DescriptorKind::Pipe),
    ("socket", DescriptorKind::Socket),
    ("terminal", DescriptorKind::Terminal),
    ("stdio", DescriptorKind::Standard),
    ("queue", DescriptorKind::Queue),
];

impl DescriptorKind {
    /// The words of all kinds.
    pub fn words() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(word, _)| *word)
    }

    /// The kind of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    /// The kind of what a descriptor refers to, if faults tell it apart.
    #[must_use]
    pub fn of(file: &File) -> Option<Self> {
        Some(match file {
            File::Inode(_) | File::Text(_) => Self::File,
            File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_) => Self::Pipe,
            File::Socket(_) => Self::Socket,
            File::PtyMaster(_) | File::Terminal(_) => Self::Terminal,
            File::Console(_) => Self::Standard,
            File::MessageQueue(_) => Self::Queue,
            _ => return None,
        })
    }
}
