//! Colours.

/// Whether to colour text with ANSI escapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// Plain text.
    #[default]
    Never,
    /// ANSI escapes.
    Always,
}

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Something is wrong.
    Error,
    /// Something may be wrong.
    Warning,
    /// All is well.
    Good,
    /// What to read first.
    Strong,
    /// Line numbers, bars, arrows.
    Frame,
    /// What may be skipped.
    Dim,
}

/// Puts escapes around text, or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint(pub Colour);

impl Paint {
    /// The text as its role demands. Pad before painting: escapes have no width but count as characters.
    #[must_use]
    pub fn paint(self, role: Role, text: &str) -> String {
        if self.0 == Colour::Never || text.trim().is_empty() {
            return text.to_owned();
        }
        let code = match role {
            Role::Error => "1;31",
            Role::Warning => "1;33",
            Role::Good => "1;32",
            Role::Strong => "1",
            Role::Frame => "1;34",
            Role::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
