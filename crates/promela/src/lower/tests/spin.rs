//! Our tables against those that SPIN generates, over all models we have.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use super::super::{Body, BodyKind, Collected, table};
use crate::ast::{Item, Program};
use crate::lower::element::Flow;
use crate::lower::table::Row;
use crate::parse::{ParseOptions, parse_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One state's row in a table: `(statement, flags)->target` for each entry, then the escapes.
type Rows = BTreeMap<u32, String>;

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in [root.join("models"), PathBuf::from("/usr/share/doc/spin/examples")] {
        collect(&folder, &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pml") {
            found.push(path);
        }
    }
}

/// SPIN's tables by the name of the proctype or claim; `None` if SPIN refuses the model.
fn spin_tables(model: &Path, folder: &Path) -> Option<BTreeMap<String, Rows>> {
    let output = Command::new("spin")
        .args(["-a", "-o1", "-o2", "-o3"])
        .arg(model)
        .current_dir(folder)
        .output()
        .expect("this test needs the program `spin` (package spin)");
    let table = folder.join("pan.t");
    let text = std::fs::read_to_string(&table).ok().filter(|_| output.status.success());
    let _ = std::fs::remove_file(&table);
    text.map(|text| read_tables(&text))
}

fn read_tables(text: &str) -> BTreeMap<String, Rows> {
    let mut tables: BTreeMap<String, Rows> = BTreeMap::new();
    let (mut name, mut state, mut skipping) = (String::new(), 0, false);
    for line in text.lines() {
        if let Some(rest) = line.trim().strip_prefix("/* proctype ") {
            name = rest.split_once(": ").map_or("", |(_, name)| name).trim_end_matches(" */").to_string();
            continue;
        }
        if line.contains("_NP_") {
            break;
        }
        skipping = match line.trim() {
            "#if 0" => true,
            "#endif" => false,
            _ => skipping,
        };
        let rows = tables.entry(name.clone()).or_default();
        if let Some((before, escape)) = line.split_once("->escp[") {
            let number = state_number(before);
            let target = escape.split_once("= ").map_or("", |(_, target)| target.trim_end_matches(';'));
            rows.entry(number).or_default().push_str(&format!(" ^{target}"));
            continue;
        }
        if let Some((before, call)) = line.split_once("settr(").filter(|_| !skipping) {
            if before.contains("trans[") {
                state = state_number(before);
            }
            let args: Vec<u32> = call.split(',').take(3).filter_map(|arg| arg.trim().parse().ok()).collect();
            let head = before.contains("T = trans[");
            let choice = before.contains("T->nxt");
            if let ([id, flags, target], false) = (args.as_slice(), head) {
                // The flags of a selection itself mean nothing: its options have their own.
                let flags = if choice { 0 } else { flags & 2 };
                rows.entry(state).or_default().push_str(&format!(" {id}/{flags}->{target}"));
            } else if head {
                rows.entry(state).or_default();
            }
        }
    }
    tables.remove("");
    tables
}

/// The state in `trans[ 1][23]`.
fn state_number(text: &str) -> u32 {
    let mut parts = text.split('[').skip(2);
    let digits = parts.next().and_then(|part| part.split(']').next());
    digits.and_then(|digits| digits.trim().parse().ok()).expect("a state number")
}

/// Our tables in the same form.
fn our_tables(program: &Program) -> Option<BTreeMap<String, Rows>> {
    let mut collected = Collected::default();
    collected.items(program);
    collected.stop_on_error().ok()?;
    collected.fix_jumps_named_by_formulas(program);
    let scopes = collected.names.scopes.clone();
    let parents = |scope: usize| scopes[scope].parent;
    let mut nevers = program.items.iter().filter_map(|item| match item {
        Item::Never(never) => Some(never.name.as_ref().map(|name| name.name.to_string())),
        _ => None,
    });
    let mut unnamed = 0;
    let mut tables = BTreeMap::new();
    for body in &mut collected.bodies {
        let name = match body.kind {
            BodyKind::Never => nevers.next().flatten().unwrap_or_else(|| format!("never_{unnamed}")),
            BodyKind::Trace => ":trace:".into(),
            BodyKind::Proctype(..) | BodyKind::Init(..) => {
                collected.names.proctypes[body.kind.proctype()?].name.to_string()
            }
        };
        unnamed += i32::from(matches!(body.kind, BodyKind::Never));
        let rows = rows(body, &parents);
        tables.insert(name, rows);
    }
    Some(tables)
}

fn rows(body: &mut Body<'_>, parents: &dyn Fn(usize) -> Option<usize>) -> Rows {
    let mut report = Vec::new();
    let table = table::Table::build(&mut body.flow, parents, &mut report);
    let rows = table.rows;
    assert!(report.is_empty(), "{report:?}");
    let mut found = Rows::new();
    for (number, row) in rows.iter().enumerate() {
        let Some(element) = body.flow.elements.iter().find(|element| element.number as usize == number) else {
            continue;
        };
        // SPIN has no table for the inside of a d_step.
        if element.d_step.is_none() && !matches!(row, Row::None) {
            found.insert(number as u32, describe(&body.flow, element.id, row));
        }
    }
    found
}

fn describe(flow: &Flow<'_>, id: u32, row: &Row) -> String {
    let flag = |atomic: bool| if atomic { 2 } else { 0 };
    match row {
        Row::None => String::new(),
        Row::Choice(options) => options.iter().map(|option| format!(" {id}/0->{option}")).collect(),
        Row::Steps(steps) => {
            let mut text = String::new();
            for step in steps {
                text.push_str(&format!(" {}/{}->{}", flow.elements[step.element].id, flag(step.atomic), step.target));
                step.escapes.iter().for_each(|escape| text.push_str(&format!(" ^{escape}")));
            }
            text
        }
    }
}

#[test]
fn tables_are_those_of_spin_on_every_model() {
    let folder = std::env::temp_dir().join(format!("allways-lower-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for SPIN's output");
    let (mut compared, mut problems) = (0, Vec::new());
    for model in corpus() {
        let Ok(parsed) = parse_file(&model, &ParseOptions::default()) else { continue };
        let Some(theirs) = spin_tables(&model, &folder) else { continue };
        let Some(ours) = our_tables(&parsed.program) else {
            problems.push(format!("{}: we refuse what SPIN accepts", model.display()));
            continue;
        };
        compared += 1;
        // Generated without complaint, but then refused by the verifier itself: two `else` in one state.
        let refused = model.ends_with("else_two.pml");
        if let Err(told) = crate::lower::lower(&parsed.program, &parsed.sources) {
            let text = crate::diagnostic::render_all(&told, &parsed.sources, crate::diagnostic::Colour::Never);
            problems.extend((!refused).then(|| format!("{}: SPIN accepts it\n{text}", model.display())));
        }
        problems.extend(ours.iter().filter_map(|(name, rows)| differ(&model, name, rows, theirs.get(name)?)));
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(compared > 100, "only {compared} models were compared");
}

fn differ(model: &Path, name: &str, ours: &Rows, theirs: &Rows) -> Option<String> {
    let states = ours.keys().chain(theirs.keys());
    let empty = String::new();
    let mut lines: Vec<String> = states
        .filter(|state| ours.get(state).unwrap_or(&empty) != theirs.get(state).unwrap_or(&empty))
        .map(|state| {
            format!(
                "  {state}: ours{} SPIN's{}",
                ours.get(state).unwrap_or(&empty),
                theirs.get(state).unwrap_or(&empty)
            )
        })
        .collect();
    lines.dedup();
    lines.truncate(6);
    (!lines.is_empty()).then(|| format!("{} {name}:\n{}", model.display(), lines.join("\n")))
}
