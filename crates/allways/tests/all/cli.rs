//! The command line as scripts and people meet it.

use crate::folder::{Folder, Told};
use std::fs;
use std::process::Command;

#[test]
fn help_names_every_verb_and_the_exit_codes() {
    let told = Folder::new("help").run(&["--help"]);
    assert_eq!(told.code, Some(0));
    for verb in ["check", "run", "replay", "report", "ls", "rm", "completions", "Exit codes"] {
        assert!(told.out.contains(verb), "{verb} is missing in: {}", told.out);
    }
}

#[test]
fn a_wrong_flag_or_verb_is_a_usage_error_with_a_suggestion() {
    let folder = Folder::new("flag");
    folder.run(&["check", "a.pml", "--reducton", "off"]).refused(2, &["--reducton", "--reduction"]);
    folder.run(&["chek", "a.pml"]).refused(2, &["chek", "check"]);
    folder.run(&["check", "a.pml", "--check", "deadlok"]).refused(2, &["deadlok", "deadlock"]);
    folder.run(&["check", "a.pml", "--store", "tre"]).refused(2, &["tre", "tree"]);
}

#[test]
fn a_wrong_size_or_time_says_how_to_write_it() {
    let folder = Folder::new("units");
    folder.run(&["check", "a.pml", "--mem", "8X"]).refused(2, &["8X", "8G"]);
    folder.run(&["check", "a.pml", "--time", "soon"]).refused(2, &["soon", "10m"]);
    folder.run(&["check", "a.pml", "--depth", "0"]).refused(2, &["--depth"]);
    folder.run(&["check", "a.pml", "-j", "0"]).refused(2, &["--jobs"]);
}

#[test]
fn nothing_to_check_is_an_exit_code_of_its_own() {
    Folder::new("nothing").run(&["check"]).refused(4, &["nothing to check", "allways check FILE.pml"]);
}

#[test]
fn a_missing_file_is_named_with_its_neighbours() {
    let folder = Folder::with("missing", "bank.pml", "active proctype main() { skip }\n");
    folder.run(&["check", "bnak.pml"]).refused(2, &["bnak.pml", "No such file", "bank.pml"]);
    folder.run(&["run", "bnak.pml"]).refused(2, &["bnak.pml", "No such file"]);
    let empty = Folder::new("missing-alone");
    empty.run(&["check", "nosuch.pml"]).refused(2, &["nosuch.pml", "no model is in this folder", "give the path"]);
    empty.run(&["check", "no/such.pml"]).refused(2, &["no/such.pml", "there is no folder `no`"]);
}

#[test]
fn a_directory_an_empty_file_and_a_huge_one_are_refused() {
    let folder = Folder::with("odd", "empty.pml", " \n\t\n");
    folder.run(&["check", "."]).refused(2, &["is a directory", "empty.pml"]);
    folder.run(&["check", "empty.pml"]).refused(2, &["is empty", "active proctype"]);
    let huge = fs::File::create(folder.0.join("huge.pml")).expect("can make a file");
    huge.set_len(100 << 20).expect("can be sparse");
    folder.run(&["check", "huge.pml"]).refused(2, &["too large", "100 MB"]);
    folder.run(&["check", "/dev/zero"]).refused(2, &["is a device", "name a file"]);
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    let folder = Folder::with("binary", "binary.pml", b"byte x;\n\xff\xfe");
    folder.run(&["check", "binary.pml"]).refused(2, &["binary.pml:2"]);
    fs::write(folder.0.join("zero.pml"), b"byte x;\0").expect("can write a file");
    folder.run(&["check", "zero.pml"]).refused(2, &["not text"]);
}

#[test]
fn without_counterexamples_the_verbs_say_so() {
    let folder = Folder::new("none");
    folder.run(&["replay"]).refused(2, &["no counterexample is saved here", "allways check"]);
    folder.run(&["report", "7f3a"]).refused(2, &["no counterexample `7f3a`", "allways ls"]);
    folder.run(&["rm", "7f3a"]).refused(2, &["no counterexample `7f3a`"]);
    folder.run(&["rm"]).refused(2, &["CX"]);
    folder.run(&["ls"]).refused(0, &["no counterexample is saved here"]);
}

#[test]
fn a_broken_counterexample_is_listed_and_refused() {
    let folder = Folder::new("broken");
    let place = folder.0.join(".allways/7f3a");
    fs::create_dir_all(&place).expect("can make a folder");
    fs::write(place.join("counterexample.json"), "{\"version\": 1").expect("can write a file");
    fs::write(folder.0.join(".allways/latest"), "7f3a\n").expect("can write a file");
    let told = folder.run(&["ls"]);
    assert!(
        told.code == Some(0) && told.out.contains("7f3a") && told.out.contains("ends in the middle"),
        "{}",
        told.out
    );
    folder.run(&["replay"]).refused(2, &["7f3a", "ends in the middle"]);
    folder.run(&["report", "7f3"]).refused(2, &["ends in the middle"]);
    folder.run(&["rm", "--all"]).refused(0, &["removed 7f3a"]);
    folder.run(&["ls"]).refused(0, &["no counterexample"]);
}

#[test]
fn completions_and_the_manual_name_the_verbs() {
    let folder = Folder::new("shell");
    for shell in ["bash", "zsh", "fish"] {
        let told = folder.run(&["completions", shell]);
        assert!(told.code == Some(0) && told.out.contains("replay"), "{shell}");
    }
    let manual = folder.run(&["man"]);
    assert!(manual.code == Some(0) && manual.out.contains(".TH allways"));
}

/// Two processes that each take what the other needs.
const DEADLOCK: &str = "bool a, b;
active proctype left() { atomic { !a -> a = true }; atomic { !b -> b = true }; a = false; b = false }
active proctype right() { atomic { !b -> b = true }; atomic { !a -> a = true }; b = false; a = false }
";

/// Says hello twice, in either order.
const HELLO: &str = "active [2] proctype hello() { printf(\"hello from %d\\n\", _pid) }\n";

#[test]
fn a_deadlock_is_found_saved_replayed_reported_and_removed() {
    let folder = Folder::with("deadlock", "locks.pml", DEADLOCK);
    let found = folder.run(&["check", "locks.pml"]);
    assert_eq!(found.code, Some(1), "{}", found.err);
    for word in ["error[deadlock]", "locks.pml:2:", "left:0 waits for", "confirmed by replay", "allways replay "] {
        assert!(found.out.contains(word), "`{word}` is missing in: {}", found.out);
    }
    assert!(found.out.ends_with("violated: 1 of 2 properties\n"), "the last line is the verdict: {}", found.out);

    let replayed = folder.run(&["replay"]);
    assert_eq!(replayed.code, Some(1));
    assert!(found.out.starts_with(&replayed.out), "replay shows the same: {}", replayed.out);
    let part = folder.run(&["replay", "--to", "1"]);
    assert!(part.code == Some(0) && part.out.contains("after step 1 of 2:"), "{}", part.out);
    folder.run(&["replay", "--to", "99"]).refused(2, &["step 99 does not exist"]);

    let listed = folder.run(&["ls"]).out;
    let id = listed.lines().nth(1).and_then(|line| line.split(' ').next()).expect("an id").to_owned();
    assert!(listed.contains("locks.pml") && listed.contains("deadlock") && listed.contains("latest"), "{listed}");
    let json = folder.run(&["report", &id, "--format", "json"]);
    let read: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((read["id"].as_str(), read["property"]["kind"].as_str()), (Some(id.as_str()), Some("deadlock")));
    assert!(folder.run(&["report", "-o", "report.txt"]).out.is_empty());
    let report = fs::read_to_string(folder.0.join("report.txt")).expect("the report is there");
    assert_eq!(report, replayed.out);
    let guided = folder.run(&["run", "locks.pml", "--schedule", &id, "-p"]);
    assert!(guided.code == Some(1) && guided.err.contains("invalid end state"), "{}", guided.err);
    assert_eq!(folder.run(&["rm", &id]).code, Some(0));
    folder.run(&["ls"]).refused(0, &["no counterexample"]);
}

#[test]
fn finding_the_same_again_gives_it_the_same_name() {
    let folder = Folder::with("again", "locks.pml", DEADLOCK);
    let (first, second) = (folder.run(&["check", "locks.pml", "-j1"]), folder.run(&["check", "locks.pml", "-j1"]));
    let name = |told: &Told| told.out.lines().find(|line| line.starts_with("replay")).map(str::to_owned);
    assert_eq!(name(&first), name(&second));
    assert_eq!(folder.run(&["ls"]).out.lines().count(), 2);
}

#[test]
fn a_model_that_changed_is_noticed_by_replay() {
    let folder = Folder::with("changed", "locks.pml", DEADLOCK);
    folder.run(&["check", "locks.pml", "-q"]);
    fs::write(folder.0.join("locks.pml"), DEADLOCK.replace("a = false; b = false", "skip; skip")).expect("can write");
    let told = folder.run(&["replay"]);
    assert!(told.code == Some(1) && told.err.contains("has changed since"), "{}", told.err);
    fs::write(folder.0.join("locks.pml"), HELLO).expect("can write");
    let told = folder.run(&["replay"]);
    assert!(told.code == Some(3) && told.err.contains("does not show its failure"), "{}", told.err);
}

#[test]
fn scripts_get_one_object_and_tools_get_the_lines_of_spin() {
    let folder = Folder::with("formats", "locks.pml", DEADLOCK);
    let json = folder.run(&["check", "locks.pml", "--format", "json", "--keep-going", "--reduction", "off"]);
    assert_eq!((json.code, json.err.as_str()), (Some(1), ""));
    let read: serde_json::Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!((read["verdict"].as_str(), read["complete"].as_bool()), (Some("violated"), Some(true)));
    let names = ["properties", "states", "steps", "traces", "depth_max", "seconds", "cpu_seconds", "memory_bytes"];
    for name in names.iter().chain(&["store_bytes", "not_controlled", "coverage", "warnings"]) {
        assert!(!read[*name].is_null(), "{name} is missing in {}", json.out);
    }
    let spin = folder.run(&["check", "locks.pml", "--format", "spin"]);
    assert!(spin.out.contains("errors: 1") && spin.out.contains(" states, stored"), "{}", spin.out);
}

#[test]
fn what_holds_exits_with_zero_and_says_within_which_bound() {
    let folder = Folder::with("holds", "hello.pml", HELLO);
    let told = folder.run(&["check", "hello.pml", "-q"]);
    assert_eq!((told.code, told.out.as_str(), told.err.as_str()), (Some(0), "holds: 2 of 2 properties\n", ""));
    let bounded = folder.run(&["check", "hello.pml", "-q", "--depth", "1"]);
    assert!(bounded.code == Some(0) && bounded.out.contains("within the bound"), "{}", bounded.out);
}

#[test]
fn a_folder_that_cannot_be_written_changes_no_verdict() {
    let folder = Folder::with("readonly", "locks.pml", DEADLOCK);
    // A file where the folder should be works for root, too.
    fs::write(folder.0.join(".allways"), "in the way").expect("can write a file");
    let told = folder.run(&["check", "locks.pml"]);
    assert_eq!(told.code, Some(1));
    assert!(told.err.contains("cannot save") && told.err.contains("--no-save"), "{}", told.err);
    assert!(told.out.contains("error[deadlock]"), "{}", told.out);
    assert_eq!(folder.run(&["check", "locks.pml", "--no-save"]).err, "");
}

#[test]
fn a_simulation_repeats_with_its_seed_and_prints_what_the_model_prints() {
    let folder = Folder::with("simulate", "hello.pml", HELLO);
    let (first, second) =
        (folder.run(&["run", "hello.pml", "--seed", "7"]), folder.run(&["run", "hello.pml", "--seed", "7"]));
    assert_eq!((first.code, &first.out), (Some(0), &second.out));
    assert_eq!(first.out.matches("hello from").count(), 2, "{}", first.out);
    let seeds: Vec<String> =
        (0..20).map(|seed| folder.run(&["run", "hello.pml", "--seed", &seed.to_string()]).out).collect();
    assert!(seeds.iter().any(|out| *out != first.out), "twenty seeds give one order");
    let steps = folder.run(&["run", "hello.pml", "--seed", "7", "-p"]);
    assert!(steps.out.contains("hello.pml:1") && steps.out.contains("hello:0"), "{}", steps.out);
}

#[test]
fn a_person_can_choose_go_back_and_leave() {
    let folder = Folder::with("hand", "hello.pml", HELLO);
    let mut child = Command::new(env!("CARGO_BIN_EXE_allways"))
        .args(["run", "hello.pml", "--interactive"])
        .current_dir(&folder.0)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, b"1\nb\nseven\n2\nq\n").expect("it reads");
    drop(input);
    let told = Told::new(child.wait_with_output().expect("it ends"));
    assert!(told.code == Some(0) && told.err.contains("choose 1-2, b to go back, q to leave"), "{}", told.err);
    let said: Vec<&str> = told.out.lines().filter(|line| line.starts_with("hello from")).collect();
    assert_eq!(said, ["hello from 1", "hello from 0"], "the first was taken back");
}

#[test]
fn a_mistake_in_a_model_names_its_place() {
    let folder = Folder::with("mistake", "bad.pml", "active proctype main() {\n  x = 1\n}\n");
    folder.run(&["check", "bad.pml"]).refused(2, &["bad.pml:2:3", "x"]);
    fs::write(folder.0.join("c.pml"), "active proctype main() { c_code { x = 1; } }\n").expect("can write a file");
    folder.run(&["check", "c.pml"]).refused(3, &["c_code"]);
}

#[test]
fn colours_are_used_only_where_they_are_wanted() {
    let folder = Folder::with("colour", "locks.pml", DEADLOCK);
    assert!(!folder.run(&["check", "locks.pml", "--no-save"]).out.contains('\u{1b}'));
    assert!(folder.run(&["check", "locks.pml", "--no-save", "--color", "always"]).out.contains("\u{1b}[1;31m"));
    let ascii = folder.run(&["check", "locks.pml", "--no-save", "--ascii"]);
    assert!(ascii.out.is_ascii(), "{}", ascii.out);
}

#[test]
fn code_that_no_step_reaches_is_listed_once_everything_was_seen() {
    let model = "byte x;\nactive proctype main() {\n  if\n  :: x == 0 -> skip\n  :: x == 1 -> x = 2\n  fi\n}\n";
    let folder = Folder::with("unreached", "dead.pml", model);
    let told = folder.run(&["check", "dead.pml"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    for word in ["unreached in proctype main", "dead.pml:5, state", "\"x = 2\""] {
        assert!(told.out.contains(word), "`{word}` is missing in: {}", told.out);
    }
    assert!(!told.out.contains("\"skip\""), "what was reached is not listed: {}", told.out);
    let bounded = folder.run(&["check", "dead.pml", "--depth", "1"]);
    assert!(!bounded.out.contains("unreached"), "a search that was cut off accuses no code: {}", bounded.out);
}

/// Echoes what it reads, counted.
const ECHO: &str = "chan STDIN; int c, n;
active proctype echo() { do :: STDIN?c -> n++; printf(\"%d: %c\\n\", n, c) :: timeout -> break od }
";

fn run_with(folder: &Folder, arguments: &[&str], input: &str) -> Told {
    let path = folder.0.join("input");
    fs::write(&path, input).expect("can write a file");
    let input = fs::File::open(path).expect("was just written");
    Told::new(folder.command(arguments).stdin(input).output().expect("the binary runs"))
}

#[test]
fn a_simulation_reads_characters_from_standard_input_and_a_check_has_none() {
    let folder = Folder::with("stdin", "echo.pml", ECHO);
    let told = run_with(&folder, &["run", "echo.pml"], "ab");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "1: a\n2: b\n"), "{}", told.err);
    let checked = folder.run(&["check", "echo.pml"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("error[runtime]: `STDIN` is read, but a check has no input"), "{}", checked.out);
    folder.run(&["run", "echo.pml", "-i"]).refused(2, &["-i needs the standard input", "--seed"]);
}

#[test]
fn a_simulation_that_waits_for_more_input_than_there_is_says_so() {
    let folder = Folder::with("eof", "two.pml", "chan STDIN; byte a, b;\ninit { STDIN?a,b; printf(\"%c%c\", b, a) }\n");
    let told = run_with(&folder, &["run", "two.pml"], "x");
    assert_eq!((told.code, told.out.as_str()), (Some(0), ""));
    assert!(told.err.contains("the input has ended"), "{}", told.err);
    assert_eq!(run_with(&folder, &["run", "two.pml"], "xyz").out, "yx");
}
