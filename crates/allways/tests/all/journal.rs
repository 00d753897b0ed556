//! Searches that last: killed anywhere and gone on with, and journals that nobody can go on from.

use crate::folder::{Folder, Told, says};
use crate::limits::{ended, started, used};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Five processes that count to N, so that there are many interleavings; `{}` is what each says of a count.
const COUNTERS: &str = "byte a[5];\n\
    active [5] proctype P() { do :: d_step { a[_pid] < N -> a[_pid]++ } {} :: a[_pid] == N -> break od }\n\
    ltl reached { <> (a[0] == N) }\n";
/// Nothing, up to eight: 160 thousand states.
const FINE: (&str, &str) = ("8", "");
/// What is wrong in the end, up to four: 100 thousand.
const WRONG: (&str, &str) = ("4", "; assert(a[0] + a[1] + a[2] + a[3] + a[4] != 17)");
/// The same up to three, for a search that takes longer.
const SMALL: (&str, &str) = ("3", "; assert(a[0] + a[1] + a[2] + a[3] + a[4] != 13)");
const SAFETY: [&str; 3] = ["--check", "deadlock,assert,runtime", "--keep-going"];

fn folder(name: &str, (most, says): (&str, &str)) -> Folder {
    Folder::with(&format!("journal-{name}"), "m.pml", COUNTERS.replace("{}", says).replace('N', most))
}

fn run(folder: &Folder, arguments: &[&[&str]]) -> Told {
    folder.run(&arguments.concat())
}

/// What a report must have in common with that of a check that nobody stopped.
fn essence(told: &Told) -> Value {
    let mut report: Value =
        serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("no report: {}{}", told.out, told.err));
    let fields = ["verdict", "complete", "properties", "states", "steps", "matched", "depth_max"];
    let mut all: Value = fields.iter().map(|field| ((*field).to_owned(), report[*field].take())).collect();
    all["unreached"] = report["coverage"]["unreached"].take();
    all
}

/// Sends a signal to a check once it has worked for a while (hundredths of a second), unless it has ended before.
fn signalled(folder: &Folder, arguments: &[&str], (signal, after): (&str, u64)) -> Told {
    let mut child = started(folder, arguments);
    while child.try_wait().expect("can be asked").is_none() {
        if used(&child) >= after {
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
            assert!(sent.success());
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    ended(child)
}

/// Checks a model, is killed so many times, and goes on until it comes to its end.
fn killed_often(folder: &Folder, options: &[&str], kills: u64) -> Told {
    let limits = ["--format", "json", "--journal-every", "1ms"];
    let begin = [&["check", "m.pml", "--journal", "j"], options, &limits].concat();
    let mut seed = 88_172_645_463_325_252_u64;
    for kill in 0..kills {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // Somebody else's number of workers each time.
        let jobs = if kill % 2 == 0 { "2" } else { "1" };
        let go_on = [&["check", "--resume", "j", "-j", jobs], &limits[..]].concat();
        let arguments = if folder.0.join("j").exists() { &go_on } else { &begin };
        let told = signalled(folder, arguments, ("-KILL", 2 + seed % 24));
        if told.code != Some(-9) {
            return told;
        }
    }
    run(folder, &[&["check", "--resume", "j", "-j", "2"], &limits])
}

#[test]
fn a_check_that_was_killed_at_twenty_moments_ends_as_one_that_nobody_stopped() {
    for (name, jobs, says) in [("holds", "1", FINE), ("violated", "2", WRONG)] {
        let folder = folder(name, says);
        let options = [&SAFETY[..], &["-j", jobs]].concat();
        let expected = run(&folder, &[&["check", "m.pml", "--format", "json", "--no-save"], &options]);
        let told = killed_often(&folder, &options, 20);
        assert_eq!(essence(&told), essence(&expected), "{}", told.err);
        assert_eq!(told.code, expected.code);
        if says == WRONG {
            let id = essence(&told)["properties"][1]["counterexample"].as_str().expect("it is violated").to_owned();
            assert_eq!(folder.run(&["replay", &id]).code, Some(1), "it shows again");
        }
        assert!(!left_behind(&folder), "nothing is left of those that were killed");
    }
}

/// Whether there is a file that a process which was killed had begun to write.
fn left_behind(folder: &Folder) -> bool {
    let there = fs::read_dir(&folder.0).expect("it is there").flatten();
    there.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".new"))
}

#[test]
fn properties_of_whole_runs_that_are_decided_are_not_searched_again() {
    let folder = folder("ltl", SMALL);
    let options = ["--store", "fp128", "--order", "dfs"];
    let expected = run(&folder, &[&["check", "m.pml", "--format", "json", "--no-save"], &options]);
    let told = killed_often(&folder, &options, 4);
    assert_eq!(essence(&told), essence(&expected), "{}", told.err);
    // All is decided now: the report is given again, and nothing is searched.
    let again = run(&folder, &[&["check", "--resume", "j", "--format", "json"]]);
    assert_eq!(essence(&again), essence(&expected), "{}", again.err);
}

#[test]
fn a_search_that_memory_time_or_the_user_ended_goes_on() {
    let folder = folder("limits", FINE);
    let expected = run(&folder, &[&["check", "m.pml", "--format", "json"], &SAFETY]);
    let begin = run(&folder, &[&["check", "m.pml", "--journal", "j", "--mem", "2M"], &SAFETY]);
    says(&begin, 3, &["memory ran out"]);
    says(&run(&folder, &[&["check", "--resume", "j", "--mem", "3M"]]), 3, &["memory ran out"]);
    let told = run(&folder, &[&["check", "--resume", "j", "--mem", "1G", "--format", "json"]]);
    assert_eq!(essence(&told), essence(&expected), "{}", told.err);
    let told = signalled(&folder, &[&["check", "m.pml", "--journal", "k"], &SAFETY[..]].concat(), ("-INT", 15));
    if told.code == Some(130) {
        let before = fs::metadata(folder.0.join("k")).expect("it was written").len();
        assert!(before > 10_000, "the search is in it: {before} bytes");
    }
    let told = run(&folder, &[&["check", "--resume", "k", "--format", "json"]]);
    assert_eq!(essence(&told), essence(&expected), "{}", told.err);
}

#[test]
fn a_full_disk_costs_one_warning_and_no_journal() {
    let folder = folder("full", FINE);
    let expected = run(&folder, &[&["check", "m.pml", "--format", "json"], &SAFETY]);
    // As if the disk were full after a few kilobytes: with the signal ignored, write(2) fails with EFBIG.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let arguments = ["-c", script, "sh", env!("CARGO_BIN_EXE_allways"), "check", "m.pml", "--journal", "j"];
    let limited = Command::new("sh")
        .args(arguments)
        .args(["--journal-every", "1ms", "--format", "json", "--no-save"])
        .args(SAFETY)
        .current_dir(&folder.0)
        .output();
    let told = Told::new(limited.expect("a shell runs"));
    assert_eq!(essence(&told), essence(&expected), "{}", told.err);
    assert_eq!(told.err.matches("warning: cannot write the journal j").count(), 1, "{}", told.err);
    assert!(!left_behind(&folder));
    let told = run(&folder, &[&["check", "--resume", "j", "--format", "json"]]);
    assert_eq!(essence(&told), essence(&expected), "the old journal is whole: {}", told.err);
}

#[test]
fn a_journal_that_nobody_can_go_on_from_is_refused_and_stays() {
    let folder = folder("refused", FINE);
    says(&run(&folder, &[&["check", "m.pml", "--journal", "j", "--mem", "2M"], &SAFETY]), 3, &["memory ran out"]);
    let whole = fs::read(folder.0.join("j")).expect("it was written");
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let half = whole[..whole.len() / 2].to_vec();
    let files: [(&str, Vec<u8>, &str); 6] = [
        ("torn", half, "ends in the middle"),
        ("empty", Vec::new(), "no journal of allways"),
        ("other", b"something else entirely, of some length".to_vec(), "no journal of allways"),
        ("version", changed(16), "another version of allways wrote it"),
        ("damaged", changed(whole.len() / 2), "checksum"),
        ("longer", [&whole[..], b"more"].concat(), "damaged"),
    ];
    for (name, bytes, why) in files {
        fs::write(folder.0.join(name), &bytes).expect("can be written");
        folder.run(&["check", "--resume", name]).refused(2, &["cannot go on from", why]);
        assert_eq!(fs::read(folder.0.join(name)).expect("it is there"), bytes, "{name} stays");
    }
    symlink(folder.0.join("j"), folder.0.join("link")).expect("can be made");
    let odd = [("/dev/null", "regular"), (".", "folder"), ("nowhere", "No such file"), ("link", "link")];
    for (path, why) in odd {
        folder.run(&["check", "--resume", path]).refused(2, &[why]);
        if Path::new(path).exists() || path == "link" {
            folder.run(&["check", "m.pml", "--journal", path]).refused(2, &[why]);
        }
    }
}

#[test]
fn a_journal_is_of_one_model_one_set_of_options_and_one_name() {
    let folder = folder("other", FINE);
    let begin = [&["check", "m.pml", "--journal", "j", "--mem", "2M", "-DN=1"], &SAFETY[..]].concat();
    says(&folder.run(&begin), 3, &["memory ran out"]);
    folder.run(&begin).refused(2, &["there is j already", "--resume j"]);
    let others: [&[&str]; 4] = [&["--store", "fp64"], &["m.pml"], &["--order", "dfs"], &["--depth", "9"]];
    for other in others {
        let told = folder.run(&[&["check", "--resume", "j"], other].concat());
        told.refused(2, &["it is of another check: allways check m.pml", "leave it out here"]);
    }
    // The whole command again is no contradiction; then it is the file that is another one.
    let same = [&["check", "m.pml", "--resume", "j", "-DN=1", "--mem", "2M"], &SAFETY[..]].concat();
    says(&folder.run(&same), 3, &["memory ran out"]);
    fs::write(folder.0.join("m.pml"), COUNTERS.replace("{}", "").replace('N', "7")).expect("can be written");
    folder.run(&["check", "--resume", "j"]).refused(2, &["m.pml has changed since"]);
    folder.run(&["check", "m.pml", "--journal", "k", "--order", "random"]).refused(2, &["--order bfs"]);
    folder.run(&["check", "m.pml", "--journal-every", "1s"]).refused(2, &["goes with `--journal`"]);
    folder.run(&["check", "--journal", "k", "--", "true"]).refused(2, &["`--journal` is for models"]);
    assert!(!folder.0.join("k").exists());
}
