//! The end of what a program prints: what it says of itself before it fails.

/// Bytes that are kept.
const KEPT: usize = 2048;
/// Lines that are told.
const LINES: usize = 4;

/// The end of what a program prints.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastWords(Vec<u8>);

impl LastWords {
    /// It prints more.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
        self.0.drain(..self.0.len().saturating_sub(KEPT));
    }

    /// The last lines.
    #[must_use]
    pub fn lines(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(LINES)..].join(" / ")
    }

    /// The last lines, in a sentence.
    #[must_use]
    pub fn told(&self) -> String {
        told(&self.lines())
    }
}

/// Last lines in a sentence.
pub(crate) fn told(lines: &str) -> String {
    if lines.is_empty() { "it printed nothing".to_owned() } else { format!("its last words: {lines}") }
}
