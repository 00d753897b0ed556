//! Why a text is not a formula.

use std::fmt;

/// Why a text is not a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset in the formula's text.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
    /// What to write instead, where we can guess.
    pub hint: Option<String>,
}

impl ParseError {
    pub(crate) fn new(offset: usize, message: impl Into<String>, hint: &str) -> ParseError {
        let hint = (!hint.is_empty()).then(|| hint.to_string());
        ParseError { offset, message: message.into(), hint }
    }

    pub(crate) fn moved(self, by: usize) -> ParseError {
        ParseError { offset: self.offset + by, ..self }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at offset {}", self.message, self.offset)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, " ({hint})"))
    }
}

impl std::error::Error for ParseError {}
