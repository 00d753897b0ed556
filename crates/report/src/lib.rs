//! What the user reads: text, JSON, SPIN's closing lines, and what dashboards and viewers of traces take.
//!
//! **Invariant:** pure functions from plain data to text. Nothing here reads a file, knows the time or asks the terminal;
//! whoever prints passes sources, width and colour in.

mod counterexample;
mod escape;
mod events;
mod fit;
mod fold;
mod formats;
mod inventory;
mod json;
mod lanes;
mod list;
mod messages;
mod number;
mod page;
mod paint;
mod programs;
mod progress;
mod robustness;
mod snippet;
mod spin;
mod summary;
mod table;
mod unreached;
mod verdicts;

pub use counterexample::{counterexample_text, trace_text};
pub use events::{disk_notes, event_text, mistaken_notes, waiting_text};
pub use formats::{Findings, Paths, github, junit, perfetto, sarif, shiviz, trace_dot};
pub use inventory::{Group, inventory_groups};
pub use json::{counterexample_json, summary_json};
pub use list::{Listed, list_json};
pub use number::{bytes, count, limit, short_count, span};
pub use page::{Page, files_of, files_of_trace, live_html, page_html, trace_json};
pub use paint::{Colour, Paint, Role};
pub use progress::{Progress, progress_line};
pub use robustness::{
    Cell, CutSet, FaultRow, PropertyRow, Robustness, Searched, compare_html, compare_json, compare_text,
    fault_tree_dot, fault_tree_psa, robustness_html, robustness_json, robustness_text,
};
pub use snippet::Sources;
pub use spin::spin_text;
pub use summary::{
    Choices, Covered, End, Outcome, Programs, Property, PropertyVerdict, Statement, Summary, Trail, Unreached, Verdict,
};
pub use table::plain_table;
pub use verdicts::summary_text;

/// How texts are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to colour.
    pub colour: Colour,
    /// Which signs to draw with.
    pub signs: Signs,
    /// How much to show.
    pub detail: Detail,
}

/// Which signs to draw with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signs {
    /// Arrows and lines.
    Unicode,
    /// What every terminal and log file shows.
    Ascii,
}

/// How much to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// What matters; the rest is folded and counted.
    Folded,
    /// Every step.
    Full,
}

impl Layout {
    /// For a file or a pipe.
    pub const PLAIN: Self = Self { width: 100, colour: Colour::Never, signs: Signs::Unicode, detail: Detail::Folded };
}
