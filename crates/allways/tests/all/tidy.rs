//! Rules about the text of the repository that no compiler knows.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines beyond which a file has more than one idea. Comments are not counted here and below: who explains is not punished.
const LINES_MAX: usize = 560;
/// Lines of the longest function: a ratchet, which only falls.
const FUNCTION_MAX: usize = 56;
/// Fields of the largest struct: a ratchet, too.
const FIELDS_MAX: usize = 24;
/// Comment lines for every thousand lines of code in the crates: a ratchet that only rises.
const COMMENTS_MIN: usize = 200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// Every text file that belongs to the repository.
fn files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for part in ["crates", "docs", "benches", "ci", "fuzz", "models", ".ci"] {
        collect(&root().join(part), &mut found);
    }
    for entry in fs::read_dir(root()).expect("the root can be read").flatten() {
        // In a worktree of git `.git` is a file.
        if entry.path().is_file() && entry.file_name() != ".git" {
            read(&entry.path(), &mut found);
        }
    }
    assert!(found.len() > 50, "the repository has more files than {}", found.len());
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != ".allways" && name != "corpus" && name != "artifacts" {
            collect(&path, found);
        } else if path.is_file() {
            read(&path, found);
        }
    }
}

fn read(path: &Path, found: &mut Vec<(PathBuf, String)>) {
    if let Ok(text) = fs::read_to_string(path) {
        found.push((path.to_owned(), text));
    }
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}

fn offenders(offends: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let files = files();
    let found = files.iter().filter(|(path, text)| offends(path, text));
    found.map(|(path, _)| path.strip_prefix(root()).unwrap_or(path).display().to_string()).collect()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Lines that are no comments.
fn length<'a>(lines: impl IntoIterator<Item = &'a str>) -> usize {
    lines.into_iter().filter(|line| !is_comment(line)).count()
}

#[test]
fn no_file_is_too_long_to_have_one_idea() {
    let long = offenders(|path, text| is_rust(path) && length(text.lines()) >= LINES_MAX);
    assert!(long.is_empty(), "files of {LINES_MAX} lines or more, comments not counted: {long:?}");
}

/// Whether a file is code of a crate, tests in it included.
fn is_in_a_crate(path: &Path) -> bool {
    let parts: Vec<_> = path.strip_prefix(root()).unwrap_or(path).iter().collect();
    is_rust(path) && parts.len() > 3 && parts[0] == "crates" && parts[2] == "src"
}

#[test]
fn the_code_is_commented() {
    let (mut all, mut crates) = ((0, 0), std::collections::BTreeMap::<String, (usize, usize)>::new());
    for (path, text) in files().into_iter().filter(|(path, _)| is_in_a_crate(path)) {
        let name = path.strip_prefix(root().join("crates")).ok().and_then(|path| path.iter().next());
        let of_crate = crates.entry(name.unwrap_or_default().to_string_lossy().into_owned()).or_default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            for (comments, code) in [&mut all, &mut *of_crate] {
                *(if is_comment(line) { comments } else { code }) += 1;
            }
        }
    }
    let (comments, code) = all;
    let per_thousand = |(comments, code): (usize, usize)| 1000 * comments / code.max(1);
    let mut worst: Vec<_> = crates.into_iter().map(|(name, lines)| (per_thousand(lines), name)).collect();
    worst.sort();
    worst.truncate(5);
    assert!(code > 50_000, "the crates have more than {code} lines of code");
    assert!(
        per_thousand(all) >= COMMENTS_MIN,
        "{comments} comment lines for {code} lines of code are {} for a thousand, and were {COMMENTS_MIN}: say at what you \
         added which invariant it keeps, why it is that way, or where it comes from (CONTRIBUTING.md); fewest have {worst:?}",
        per_thousand(all)
    );
}

/// Code that is no test: name of the file, lines.
fn code() -> Vec<(String, Vec<String>)> {
    let is_source = |path: &Path| is_rust(path) && path.components().any(|part| part.as_os_str() == "src");
    let sources = files().into_iter().filter(|(path, _)| is_source(path));
    let own = |text: String| text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    sources.map(|(path, text)| (path.display().to_string(), own(text).lines().map(str::to_owned).collect())).collect()
}

/// The items that begin with one of these words, each from its first line to the brace that closes it.
fn items<'a>(lines: &'a [String], begins: &'a dyn Fn(&str) -> bool) -> impl Iterator<Item = &'a [String]> {
    lines.iter().enumerate().filter(|(_, line)| begins(line.trim_start())).filter_map(move |(first, line)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let head = lines[first..].iter().position(|line| line.ends_with(['{', ';', '}', ',']))?;
        lines[first + head].ends_with('{').then_some(())?;
        let length = lines[first..].iter().position(|line| *line == format!("{indent}}}"))?;
        Some(&lines[first..=first + length])
    })
}

/// Whether a line begins an item: `pub(crate) const fn name`.
fn begins(line: &str, word: &str) -> bool {
    let modifiers = ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "extern", "\"C\""];
    line.split(' ').find(|part| !modifiers.contains(part)) == Some(word)
}

#[test]
fn functions_and_types_do_not_grow() {
    let (mut functions, mut types) = (Vec::new(), Vec::new());
    let is_field = |line: &&String| {
        let name = line.strip_prefix("    ").unwrap_or_default().trim_start_matches("pub(crate) ");
        let name = name.trim_start_matches("pub(super) ").trim_start_matches("pub ");
        name.split_once(": ")
            .is_some_and(|(name, _)| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
    };
    let size = |item: &[String]| length(item.iter().map(String::as_str));
    for (file, lines) in code() {
        functions
            .extend(items(&lines, &|line| begins(line, "fn")).map(|item| (size(item), file.clone(), item[0].clone())));
        let structs = items(&lines, &|line| begins(line, "struct"));
        types.extend(structs.map(|item| (item.iter().filter(is_field).count(), file.clone(), item[0].clone())));
    }
    assert!(functions.len() > 5_000 && types.len() > 500, "{} functions, {} types", functions.len(), types.len());
    let long: Vec<_> = functions.iter().filter(|(length, ..)| *length > FUNCTION_MAX).collect();
    assert!(long.is_empty(), "longer than {FUNCTION_MAX} lines, comments not counted: {long:?}");
    let large: Vec<_> = types.iter().filter(|(fields, ..)| *fields > FIELDS_MAX).collect();
    assert!(large.is_empty(), "more than {FIELDS_MAX} fields: {large:?}");
    assert!(
        functions.iter().any(|(length, ..)| *length == FUNCTION_MAX),
        "the longest function is shorter now: say so"
    );
    assert!(types.iter().any(|(fields, ..)| *fields == FIELDS_MAX), "the largest type is smaller now: say so");
}

#[test]
fn nothing_is_left_to_do_in_the_code() {
    // Put together here, so that this file does not accuse itself.
    let words =
        [["to", "do!("].concat(), ["unimple", "mented!("].concat(), ["db", "g!("].concat(), ["#[ig", "nore"].concat()];
    let unfinished = offenders(|path, text| is_rust(path) && words.iter().any(|word| text.contains(word.as_str())));
    assert!(unfinished.is_empty(), "unfinished: {unfinished:?}");
}

/// Whether a text has a path that begins so; `/proc/self/root` goes on with another path's words.
fn names(text: &str, place: &str) -> bool {
    let goes_on = |before: char| before.is_alphanumeric() || before == '$';
    text.match_indices(place).any(|(at, _)| !text[..at].ends_with(goes_on))
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let places =
        [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/ho", "me/"].concat(), ["../sha", "red"].concat()];
    let private = offenders(|_, text| places.iter().any(|place| names(text, place)));
    assert!(private.is_empty(), "private paths in {private:?}");
}

/// Paths in backticks that lead into the repository.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |word: &&str| {
        let folders = ["crates/", "programs/", "models/", "benches/", "ci/", "scripts/", "docs/", "fuzz/"];
        folders.iter().any(|folder| word.starts_with(folder))
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter))
    };
    text.split('`').skip(1).step_by(2).filter(is_path)
}

#[test]
fn documents_name_no_file_that_is_gone() {
    let mut gone = Vec::new();
    for (path, text) in files().iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "md")) {
        let is_history = path.ends_with("CHANGELOG.md");
        for named in named_paths(text).filter(|named| !is_history && !root().join(named).exists()) {
            gone.push(format!("{} in {}", named, path.strip_prefix(root()).unwrap_or(path).display()));
        }
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

#[test]
fn every_crate_says_what_it_is() {
    let silent = offenders(|path, text| path.ends_with("src/lib.rs") && !text.starts_with("//!"));
    assert!(silent.is_empty(), "crates without a description: {silent:?}");
}
