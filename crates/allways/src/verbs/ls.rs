//! `allways ls`: the saved counterexamples.

use crate::args::{ListFormat, LsArgs};
use crate::exit::Exit;
use crate::output::Output;
use crate::report_files::now;
use crate::saved::{Entry, Saved};
use report::{Listed, list_json, plain_table};

/// Lists what is saved here, broken files too.
pub fn ls(args: &LsArgs, output: &Output) -> Exit {
    let saved = Saved::here();
    let (entries, latest) = (saved.entries(), saved.latest());
    match args.format {
        ListFormat::Json => {
            let listed: Vec<Listed> = entries.into_iter().map(listed).collect();
            output.data(&list_json(&listed, latest.as_deref()));
        }
        ListFormat::Text if entries.is_empty() => output.note("no counterexample is saved here"),
        ListFormat::Text => output.data(&table(&entries, latest.as_deref())),
    }
    Exit::Fine
}

/// As `report` takes it: it reads no files.
fn listed(entry: Entry) -> Listed {
    Listed { id: entry.id, content: entry.content.map_err(|error| error.to_string()) }
}

/// The list for people: what to look at, and what to type.
fn table(entries: &[Entry], latest: Option<&str>) -> String {
    let now = now();
    let mut rows = vec![["id", "when", "file", "property", "steps", ""].map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| row(entry, latest, now)));
    plain_table(&rows)
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
