//! Our preprocessor and gcc's make the same tokens of every model at hand.

use promela::lex::{Token, TokenKind, scan};
use promela::parse::{HostFiles, ParseOptions};
use promela::preprocess::preprocess;
use promela::source::{FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::process::Command;

fn models() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let folders = ["micro", "av"].map(|name| ours.join(name));
    let examples =
        ["", "LTL", "Book_1991", "Exercises"].map(|name| Path::new("/usr/share/doc/spin/examples/Examples").join(name));
    let files = folders.iter().chain(&examples).filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> =
        files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "pml")).collect();
    found.sort();
    assert!(found.len() > 100, "the models are missing");
    found
}

/// gcc's tokens, each with whether a line ended before it.
fn gcc(model: &Path) -> Vec<(String, bool)> {
    let run = Command::new("gcc").args(["-std=gnu99", "-E", "-x", "c"]).arg(model).output();
    let output = run.expect("gcc must be installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kept: String =
        text.lines().map(|line| if line.starts_with("# ") { "\n" } else { line }.to_string() + "\n").collect();
    shown(&scan(&kept, FileId(0)).expect("gcc closes comments"))
}

fn shown(tokens: &[Token]) -> Vec<(String, bool)> {
    let tokens = tokens.iter().filter(|token| token.kind != TokenKind::End);
    tokens.map(|token| (token.text.to_string(), token.newline)).collect()
}

#[test]
fn the_tokens_are_gccs() {
    let mut wrong = Vec::new();
    for model in models() {
        let mut sources = SourceMap::default();
        let made = preprocess(&model, &HostFiles, &ParseOptions::default(), &mut sources);
        let ours = shown(&made.expect("the model can be preprocessed").tokens);
        let theirs = gcc(&model);
        if let Some(at) = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at)) {
            wrong.push(format!("{}: token {at}: {:?}, but gcc {:?}", model.display(), ours.get(at), theirs.get(at)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
