//! Why a model cannot be used.

use promela::diagnostic;
use report::Colour;

/// Why a model cannot be used; the text is ready to be printed.
pub enum LoadError {
    /// The model is wrong.
    Input(String),
    /// The model is fine, but uses what we do not support.
    Unsupported(String),
}

/// Whether diagnostics are painted.
pub fn paint(colour: Colour) -> diagnostic::Colour {
    match colour {
        Colour::Always => diagnostic::Colour::Always,
        Colour::Never => diagnostic::Colour::Never,
    }
}
