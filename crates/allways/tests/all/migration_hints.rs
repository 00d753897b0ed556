//! What somebody meets who comes from SPIN, mistypes, interrupts, or finds a damaged file.

use crate::folder::Folder;
use std::fs;

/// Asserts on a shared variable and sends nothing: two processes, a violation, a formula that fails on a cycle.
const NAIVE: &str = "byte inside;
active [2] proctype worker() {
  do
  :: inside++; assert(inside == 1); inside--
  od
}
ltl quiet { <> [] (inside == 0) }
";

/// Saves the counterexamples of `NAIVE` and gives the file of the one of the formula.
fn lasso(folder: &Folder) -> String {
    let told = folder.run(&["check", "naive.pml", "--check", "ltl"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    let id = fs::read_to_string(folder.0.join(".allways/latest")).expect("it was saved");
    let path = format!(".allways/{}/counterexample.json", id.trim());
    fs::read_to_string(folder.0.join(path)).expect("it was saved")
}

#[test]
fn flags_of_spin_are_translated() {
    let folder = Folder::with("spin-flags", "naive.pml", NAIVE);
    folder.run(&["check", "-a", "naive.pml"]).refused(2, &["SPIN's `-a`", "without being asked for"]);
    folder.run(&["check", "-m10000", "naive.pml"]).refused(2, &["--depth N"]);
    folder.run(&["run", "naive.pml", "-n5"]).refused(2, &["--seed N"]);
    folder.run(&["naive.pml"]).refused(2, &["allways check naive.pml"]);
    folder.run(&["check", "-j0", "naive.pml"]).refused(2, &["0 is not in 1..=255"]);
}

#[test]
fn a_mistyped_file_is_answered_with_the_closest_first() {
    let folder = Folder::with("mistyped", "naive.pml", NAIVE);
    fs::write(folder.0.join("alpha.pml"), NAIVE).expect("can write a file");
    folder.run(&["check", "naiv.pml"]).refused(2, &["there is naive.pml, alpha.pml"]);
}

#[test]
fn a_kind_that_the_model_does_not_have_is_named() {
    let folder = Folder::with("absent", "naive.pml", NAIVE);
    for (kind, what) in
        [("accept", "`accept` label"), ("never", "never claim"), ("trace", "`trace`"), ("exclusive", "`xr` or `xs`")]
    {
        let told = folder.run(&["check", "naive.pml", "--check", kind]);
        assert_eq!(told.code, Some(4), "{kind}: {}", told.out);
        assert!(told.out.contains(&format!("--check {kind}: the model has no")), "{}", told.out);
        assert!(told.out.contains(what) && told.out.ends_with("nothing was checked\n"), "{}", told.out);
        assert!(!told.out.contains("states"), "nothing is told about a search that was not made: {}", told.out);
    }
    assert_eq!(folder.run(&["check", "naive.pml", "--check", "runtime"]).code, Some(0));
}

#[test]
fn no_command_is_offered_for_what_was_not_saved() {
    let folder = Folder::with("unsaved", "naive.pml", NAIVE);
    let told = folder.run(&["check", "naive.pml", "--no-save"]);
    assert!(told.code == Some(1) && !told.out.contains("allways replay"), "{}", told.out);
    let told = folder.run(&["check", "naive.pml"]);
    assert!(told.code == Some(1) && told.out.contains("allways replay"), "{}", told.out);
}

#[test]
fn an_edited_counterexample_is_never_confirmed() {
    let folder = Folder::with("edited", "naive.pml", NAIVE);
    let whole = lasso(&folder);
    for (old, new, why) in [
        ("\"actor\": 1", "\"actor\": 4000000000", "has no choice"),
        ("\"kind\": \"ltl\"", "\"kind\": \"deadlock\"", "a cycle is no proof of deadlock"),
        ("\"kind\": \"ltl\"", "\"kind\": \"never\"", "the model has no property `quiet` of kind never"),
    ] {
        assert!(whole.contains(old), "{whole}");
        fs::write(folder.0.join("edited.json"), whole.replace(old, new)).expect("can write a file");
        folder.run(&["replay", "edited.json"]).refused(3, &[why]);
    }
}

#[test]
fn a_part_of_a_cycle_is_not_shown_as_a_cycle() {
    let folder = Folder::with("part", "naive.pml", NAIVE);
    lasso(&folder);
    let whole = folder.run(&["replay"]);
    assert!(whole.out.contains("end of cycle, back to step"), "{}", whole.out);
    let part = folder.run(&["replay", "--to", "1"]);
    assert!(part.code == Some(0) && part.out.contains("after step 1 of"), "{}", part.out);
    assert!(!part.out.contains("cycle"), "{}", part.out);
}

#[test]
fn the_newest_counterexample_is_listed_last() {
    let folder = Folder::with("newest", "naive.pml", NAIVE);
    let whole = lasso(&folder);
    let created = whole.lines().find(|line| line.contains("\"created\"")).expect("a date");
    for (id, date) in [("aaaa", 2_000_000_000), ("bbbb", 1_000_000_000)] {
        fs::create_dir_all(folder.0.join(".allways").join(id)).expect("can make a folder");
        let older = whole.replace(created, &format!("  \"created\": {date},"));
        fs::write(folder.0.join(".allways").join(id).join("counterexample.json"), older).expect("can write a file");
    }
    let told = folder.run(&["ls"]);
    let at = |id: &str| told.out.find(id).unwrap_or_else(|| panic!("{id} is missing in: {}", told.out));
    assert!(at("bbbb") < at("aaaa"), "{}", told.out);
}

#[test]
fn a_bound_in_the_search_for_runs_is_a_bound_of_the_check() {
    let model = "byte x;\nactive proctype p() { do :: x < 50 -> x++ :: else -> x = 0 od }\nltl l { [] <> (x < 60) }\n";
    let folder = Folder::with("bounded", "count.pml", model);
    let told = folder.run(&["check", "count.pml", "--format", "json"]);
    assert!(told.code == Some(0) && told.out.contains("\"complete\":true"), "{}", told.out);
    let told = folder.run(&["check", "count.pml", "--check", "ltl", "--depth", "3", "--format", "json"]);
    assert!(told.out.contains("\"complete\":false") && told.out.contains("\"end\":\"bound\""), "{}", told.out);
    let drawn = folder.run(&["check", "count.pml", "--order", "random", "--runs", "2"]);
    assert_eq!(drawn.code, Some(3), "a formula that random walks cannot decide does not pass: {}", drawn.out);
}

#[test]
fn a_local_channel_changes_only_when_a_message_moves() {
    let model =
        "active proctype p() {\n  chan a[2] = [1] of { byte };\n  byte x;\n  x = 1;\n  a[1]!7;\n  assert(x == 2)\n}\n";
    let folder = Folder::with("local-channel", "local.pml", model);
    let told = folder.run(&["check", "local.pml", "--no-save"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("a[1]: [] -> [7]"), "{}", told.out);
    assert_eq!(told.out.matches("a[0]").count(), 1, "only at the end, as it is: {}", told.out);
}

#[test]
fn one_mistake_is_told_once() {
    let model = "int x;\nactive proctype p() { for (i : 0 .. 3) { x++ } }\n";
    let folder = Folder::with("once", "for.pml", model);
    let told = folder.run(&["check", "for.pml"]);
    told.refused(2, &["`i` is not declared"]);
    assert_eq!(told.err.matches("error[").count(), 1, "{}", told.err);
    assert!(!told.err.contains("did you mean"), "{}", told.err);
}

#[test]
fn a_report_that_cannot_be_printed_is_missed() {
    let folder = Folder::with("full", "naive.pml", NAIVE);
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_allways"));
    let command = command.args(["check", "naive.pml", "--no-save", "-q"]).current_dir(&folder.0).stdout(full);
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "the verdict stays");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot print everything"));
}
