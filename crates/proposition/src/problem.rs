//! What is wrong with a proposition, and where.

use std::fmt;

/// What is wrong with a proposition, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    pub(super) fn new(column: usize, message: impl Into<String>) -> Self {
        Self { column, message: message.into() }
    }

    /// The text with a mark at the place, and the message beside it.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        let blank: String =
            text.chars().take(self.column - 1).map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
        format!("{text}\n{blank}^ {}", self.message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for Problem {}
