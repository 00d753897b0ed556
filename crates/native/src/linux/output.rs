//! What a program prints: the end of it is kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that are kept.
const KEPT: usize = 2048;
/// Lines that are told.
const LINES: usize = 4;

/// The reading end of a program's output.
pub(crate) struct Output {
    pipe: File,
    end: Vec<u8>,
}

impl Output {
    /// A pipe: what is written to the second part can be drained from the first.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let pipe = File::from(OwnedFd::from(reader));
        // SAFETY: numbers only.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        Ok((Self { pipe, end: Vec::new() }, writer.into()))
    }

    /// Reads what there is; whether there was anything. Whoever waits for room in the pipe can go on.
    pub fn drain(&mut self) -> bool {
        let (mut room, mut is_news) = ([0; 1 << 14], false);
        while let Ok(count @ 1..) = self.pipe.read(&mut room) {
            is_news = true;
            self.end.extend_from_slice(&room[..count]);
            self.end.drain(..self.end.len().saturating_sub(KEPT));
        }
        is_news
    }

    /// The last lines, in a sentence.
    pub fn told(&self) -> String {
        let words = self.last_words();
        if words.is_empty() { "it printed nothing".to_owned() } else { format!("its last words: {words}") }
    }

    /// The last lines.
    pub fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.end);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(LINES)..].join(" / ")
    }
}
