//! The parser accepts what SPIN accepts and refuses what SPIN calls a syntax error, on every model at hand.

use promela::diagnostic::{Colour, render_all};
use promela::parse::{FailureKind, ParseOptions, parse_file};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The operator `X` is refused by Debian's SPIN, which is built without it; we have it.
const WITH_NEXT: [&str; 2] = ["patterns.pml", "ltl_next.pml"];

fn models() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut found = Vec::new();
    collect(&ours, &mut found);
    collect(Path::new("/usr/share/doc/spin/examples"), &mut found);
    found.sort();
    assert!(found.len() > 100, "the models are missing: {}", found.len());
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "pml") {
            found.push(path);
        }
    }
}

/// What SPIN thinks of a model.
#[derive(Debug, PartialEq)]
enum Opinion {
    Accepted,
    SyntaxError(String),
    /// Well-formed, but wrong for a reason that only later phases see.
    OtherError(String),
}

fn spin(model: &Path, folder: &Path) -> Opinion {
    let path = std::fs::canonicalize(model).expect("the model exists");
    let run = Command::new("spin").arg("-a").arg(path).current_dir(folder).output();
    let output = run.expect("spin must be installed: apt-get install spin");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("syntax error") {
        Opinion::SyntaxError(text)
    } else if output.status.success() {
        Opinion::Accepted
    } else {
        Opinion::OtherError(text)
    }
}

#[test]
fn the_parser_agrees_with_spin_on_every_model() {
    let folder = std::env::temp_dir().join(format!("promela-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for spin's files");
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for model in models() {
        let opinion = spin(&model, &folder);
        let ours = parse_file(&model, &ParseOptions::default());
        let told = match &ours {
            Ok(_) => String::new(),
            Err(failure) if failure.kind == FailureKind::Unsupported => String::new(),
            Err(failure) => render_all(&failure.diagnostics, &failure.sources, Colour::Never),
        };
        accepted += usize::from(told.is_empty());
        let next = WITH_NEXT.iter().any(|name| model.ends_with(name));
        match &opinion {
            Opinion::Accepted if !told.is_empty() => wrong.push(format!("{}: refused\n{told}", model.display())),
            Opinion::SyntaxError(text) if told.is_empty() && !next => {
                wrong.push(format!("{}: accepted, but spin says\n{text}", model.display()));
            }
            _ => {}
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{} models differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accepted > 100, "only {accepted} models were accepted");
}
