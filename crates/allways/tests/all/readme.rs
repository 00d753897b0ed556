//! Transcripts in README.md and in the manual are what the program prints. `BLESS=1` writes them anew.
//!
//! A transcript is a fenced block after `<!-- transcript: allways ... -->`. Times and memory differ from run to run and
//! from machine to machine, so what was covered is compared up to the number of workers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

const MARK: &str = "<!-- transcript: allways ";

/// Where transcripts are.
const FILES: [&str; 2] = ["README.md", "docs/cli.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &str) -> String {
    // A folder of its own, so that counterexamples are saved as they are for a reader, but not here.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("allways-readme-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("can make a folder");
    for name in LINKED {
        let _ = std::os::unix::fs::symlink(root().join(name), folder.join(name));
    }
    let stale = std::fs::File::create(folder.join("x.lock")).expect("the folder takes files");
    stale.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_067_200)).expect("a time in 2024");
    if let Some(program) = arguments.split_whitespace().find_map(|word| word.strip_prefix("./")) {
        build(&folder, program);
    }
    let steady: &[&str] = if arguments.starts_with("check ") { &["-j1"] } else { &[] };
    let mut words = shell_words(arguments).into_iter();
    let output = Command::new(env!("CARGO_BIN_EXE_allways"))
        .args(words.next())
        .args(["--color", "never"])
        .args(steady)
        .args(words)
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(&folder)
        .output()
        .expect("the binary runs");
    let _ = std::fs::remove_dir_all(&folder);
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Words as a shell takes them, as far as the manual needs it: single quotes keep blanks.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in text.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().expect("there is one").push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Folders of the repository that commands name.
const LINKED: [&str; 2] = ["models", "programs"];

/// Builds a bundled program as its reader would.
fn build(folder: &Path, name: &str) {
    let source = format!("programs/{name}.c");
    let gcc = Command::new("gcc").args(["-g", "-pthread", "-o", name, &source]).current_dir(folder).status();
    assert!(gcc.expect("gcc runs").success(), "{source} does not compile");
}

/// The same with the names of counterexamples of programs left out: they depend on the compiler and its folder.
fn unnamed(line: &str) -> String {
    let mut out = String::new();
    let mut after = "";
    for word in line.split_inclusive(' ') {
        let is_id = ["replay ", "report ", "counterexample "].contains(&after)
            && word.trim().len() >= 4
            && word.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
        out += if is_id { "ID " } else { word };
        after = word;
    }
    out.trim_end().to_owned()
}

/// Whether a line only says how long it took.
fn is_time(line: &str) -> bool {
    line.trim().strip_suffix(" s").is_some_and(|number| number.parse::<f64>().is_ok())
}

/// Leaves out what differs between two runs of the same check: memory and time, which come after the number of workers
/// and may be wrapped into a line of their own.
fn steady(text: &str) -> String {
    let mut kept = Vec::new();
    for line in text.trim_end().lines() {
        match line.find("1 worker") {
            Some(end) => kept.push(line[..end].trim_end_matches(" . ")),
            None if line.contains(" MB . ") => {}
            None => kept.push(line.trim_end()),
        }
    }
    kept.retain(|line| !line.is_empty() && !is_time(line));
    kept.into_iter().map(uncounted).map(|line| unnamed(&line)).collect::<Vec<_>>().join("\n")
}

/// The same without numbers, if it says what was covered of programs: another reduction has others.
fn uncounted(line: &str) -> String {
    let is_count = line.contains(" states . ") && !line.contains(" store") || line.contains(" steps left out ");
    let counts = is_count || line.contains(" steps executed ");
    if !counts {
        return line.to_owned();
    }
    let words = line.split(' ').filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn transcripts_are_what_the_program_prints() {
    FILES.into_iter().for_each(compare);
}

fn compare(file: &str) {
    let path = root().join(file);
    let written = std::fs::read_to_string(&path).expect("the file is there");
    let mut blessed = String::new();
    let mut rest = written.as_str();
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at);
        let (mark, after) = after.split_once("-->").expect("the mark ends");
        let command = mark[MARK.len()..].trim();
        let (fence, after) = after.split_once("```text\n").expect("a fenced block follows");
        let (block, after) = after.split_once("```").expect("the block ends");
        let printed = format!("$ allways {command}\n{}", run(command));
        if std::env::var_os("BLESS").is_none() {
            assert_eq!(steady(block), steady(&printed), "{file} differs from `allways {command}`; BLESS=1 accepts it");
        }
        blessed += &format!("{before}{mark}-->{fence}```text\n{}\n```", printed.trim_end());
        rest = after;
    }
    assert!(!blessed.is_empty(), "{file} shows no transcript");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, blessed + rest).expect("the file can be written");
    }
}

/// The words of a text that satisfy a condition, once each.
fn words(text: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    words.filter(|word| is_wanted(word)).map(str::to_owned).collect()
}

#[test]
fn the_manual_names_every_flag() {
    let manual = std::fs::read_to_string(root().join("docs/cli.md")).expect("docs/cli.md is there");
    let verbs = ["check", "run", "replay", "debug", "report", "ls", "rm", "completions", "man"];
    let helps: String = verbs.iter().map(|verb| run(&format!("{verb} --help"))).collect();
    let named = words(&manual, |_| true);
    let own = ["--help", "--version"];
    let missing: Vec<String> = words(&helps, |word| word.len() > 3 && word.starts_with("--"))
        .into_iter()
        .filter(|flag| !named.contains(flag) && !own.contains(&flag.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/cli.md does not name {missing:?}");
}

#[test]
fn the_manual_names_every_field_of_the_json_report() {
    let manual = std::fs::read_to_string(root().join("docs/cli.md")).expect("docs/cli.md is there");
    let json = run("check models/examples/mutex_naive.pml --format json");
    let fields: Vec<&str> = json.split('"').collect();
    let is_field = |pair: &[&str]| pair[1].starts_with(':');
    let fields: BTreeSet<&str> = fields.windows(2).filter(|pair| is_field(pair)).map(|pair| pair[0]).collect();
    assert!(fields.contains("verdict") && fields.contains("unreached"), "{json}");
    let named = words(&manual, |_| true);
    let missing: Vec<&str> = fields.into_iter().filter(|field| !named.contains(*field)).collect();
    assert!(missing.is_empty(), "docs/cli.md does not name {missing:?}");
}
