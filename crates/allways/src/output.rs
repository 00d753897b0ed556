//! Data to stdout, messages and progress to stderr.

use crate::args::{Shared, When};
use report::{Colour, Detail, Layout, Paint, Role, Signs};
use std::cell::Cell;
use std::io::{IsTerminal, Write};

/// Columns when nobody knows how many there are.
const WIDTH: usize = 100;

/// Where everything that is printed goes through.
pub struct Output {
    /// How data on stdout is laid out.
    pub layout: Layout,
    /// Colours of messages on stderr.
    paint: Paint,
    quiet: bool,
    /// Whether something could not be printed.
    has_failed: Cell<bool>,
}

impl Output {
    /// As flags, environment and terminal want it.
    pub fn new(shared: &Shared) -> Self {
        let colour =
            |is_terminal: bool| if wants_colour(shared.color, is_terminal) { Colour::Always } else { Colour::Never };
        let layout = Layout {
            width: columns(),
            colour: colour(std::io::stdout().is_terminal()),
            signs: if shared.ascii || !speaks_utf8() { Signs::Ascii } else { Signs::Unicode },
            detail: if shared.verbose > 0 { Detail::Full } else { Detail::Folded },
        };
        Self {
            layout,
            paint: Paint(colour(std::io::stderr().is_terminal())),
            quiet: shared.quiet,
            has_failed: Cell::default(),
        }
    }

    /// Prints data. A reader that went away (`| head`) is no error of ours; a full disk is one to be told.
    pub fn data(&self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
            && !self.has_failed.replace(true)
        {
            self.warn(&format!("cannot print everything: {error}"));
        }
    }

    /// Whether something could not be printed: then a script must not take the exit code for the answer.
    pub fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Says that something is wrong.
    pub fn error(&self, text: &str) {
        self.message(Role::Error, "error", text);
    }

    /// Says that something may be wrong.
    pub fn warn(&self, text: &str) {
        self.message(Role::Warning, "warning", text);
    }

    /// Says something that a quiet user does not want to hear.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            stderr(&format!("{text}\n"));
        }
    }

    /// Prints a text that is already laid out, such as diagnostics.
    pub fn raw_message(&self, text: &str) {
        stderr(text);
    }

    fn message(&self, role: Role, word: &str, text: &str) {
        stderr(&format!("{}: {text}\n", self.paint.paint(role, word)));
    }

    /// Whether messages are coloured.
    pub fn message_colour(&self) -> Colour {
        self.paint.0
    }

    /// Whether the user wants to hear only what matters.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }
}

/// Writes to stderr; if that is closed there is nobody to tell.
pub fn stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn wants_colour(when: When, is_terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|&columns| columns > 0);
    asked
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
        .unwrap_or(WIDTH)
        .clamp(40, 400)
}

/// Whether the terminal shows more than ASCII. Without any setting it most likely does.
fn speaks_utf8() -> bool {
    let setting =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()));
    match setting {
        None => true,
        Some(setting) => {
            let setting = setting.to_ascii_lowercase();
            setting.contains("utf") || !(setting == "c" || setting == "posix" || setting.contains("8859"))
        }
    }
}
