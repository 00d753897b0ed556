//! What a program prints: the end of it is kept.

use crate::last_words::LastWords;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};

/// The reading end of a program's output.
pub(crate) struct Output {
    pipe: File,
    pub words: LastWords,
}

impl Output {
    /// A pipe: what is written to the second part can be drained from the first.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let pipe = File::from(OwnedFd::from(reader));
        // SAFETY: numbers only.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        Ok((Self { pipe, words: LastWords::default() }, writer.into()))
    }

    /// Reads what there is; whether there was anything. Whoever waits for room in the pipe can go on.
    pub fn drain(&mut self) -> bool {
        let (mut room, mut is_news) = ([0; 1 << 14], false);
        while let Ok(count @ 1..) = self.pipe.read(&mut room) {
            is_news = true;
            self.words.add(&room[..count]);
        }
        is_news
    }
}
