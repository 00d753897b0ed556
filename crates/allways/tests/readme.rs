//! Transcripts in README.md are what the program prints. `BLESS=1` writes them anew.
//!
//! A transcript is a fenced block after `<!-- transcript: allways ... -->`. Times and memory differ from run to run and
//! from machine to machine, so the line with what was covered is compared up to the number of workers.

use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "<!-- transcript: allways ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_allways"))
        .args(arguments.split_whitespace())
        .args(["--no-save", "--color", "never", "-j1"])
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(root())
        .output()
        .expect("the binary runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Leaves out what differs between two runs of the same check.
fn steady(text: &str) -> String {
    let steady = |line: &str| match line.find(" . 1 worker") {
        Some(end) => line[..end].to_owned(),
        None => line.trim_end().to_owned(),
    };
    text.trim_end().lines().map(steady).collect::<Vec<_>>().join("\n")
}

#[test]
fn transcripts_are_what_the_program_prints() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md is there");
    let mut blessed = String::new();
    let mut rest = readme.as_str();
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at);
        let (mark, after) = after.split_once("-->").expect("the mark ends");
        let command = mark[MARK.len()..].trim();
        let (fence, after) = after.split_once("```text\n").expect("a fenced block follows");
        let (block, after) = after.split_once("```").expect("the block ends");
        let printed = format!("$ allways {command}\n{}", run(command));
        if std::env::var_os("BLESS").is_none() {
            assert_eq!(
                steady(block),
                steady(&printed),
                "README.md differs from `allways {command}`; BLESS=1 accepts it"
            );
        }
        blessed += &format!("{before}{mark}-->{fence}```text\n{}\n```", printed.trim_end());
        rest = after;
    }
    assert!(!blessed.is_empty(), "README.md shows no transcript");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, blessed + rest).expect("README.md can be written");
    }
}
