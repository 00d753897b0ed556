//! `allways ls`: the saved counterexamples.

use crate::exit::Exit;
use crate::output::Output;
use crate::saved::{Entry, Saved};
use report::plain_table;
use std::time::{SystemTime, UNIX_EPOCH};

/// Lists what is saved here, broken files too.
pub fn ls(output: &Output) -> Exit {
    let saved = Saved::here();
    let entries = saved.entries();
    if entries.is_empty() {
        output.note("no counterexample is saved here");
        return Exit::Fine;
    }
    let latest = saved.latest();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut rows = vec![["id", "when", "file", "property", "steps", ""].map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| row(entry, latest.as_deref(), now)));
    output.data(&plain_table(&rows));
    Exit::Fine
}

fn row(entry: &Entry, latest: Option<&str>, now: u64) -> Vec<String> {
    let mark = if latest == Some(entry.id.as_str()) { "latest" } else { "" };
    match &entry.content {
        Ok(counterexample) => vec![
            entry.id.clone(),
            ago(now.saturating_sub(counterexample.created)),
            counterexample.system.file.clone(),
            counterexample.property.name.clone(),
            counterexample.schedule.choices.len().to_string(),
            mark.to_owned(),
        ],
        Err(error) => vec![entry.id.clone(), String::new(), format!("broken: {error}")],
    }
}

/// How long ago, in the largest unit.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
