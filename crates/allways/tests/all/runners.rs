//! Allways where tests already are: each runner of docs/runners.md on its small project in `programs/runners`.
//!
//! Schedules without preemptions suffice to see which test fails, and take a second a test.

use crate::folder::{Folder, Told, says};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/runners").join(name)
}

/// A copy of a project, for one tool.
fn project(name: &str, tool: &str) -> Folder {
    let folder = Folder::new(&format!("runner-{tool}"));
    let copied = Command::new("cp").arg("-rT").arg(bundled(name)).arg(&folder.0).status();
    assert!(copied.expect("cp is there").success());
    folder
}

/// The runner, with the separator that a tool wants between its words.
fn runner(words: &[&str], separator: &str) -> String {
    let own = [env!("CARGO_BIN_EXE_allways"), "test", "--time", "300s"];
    [&own[..], words].concat().join(separator)
}

/// What a tool says in a folder. What cargo tells us is not for it.
fn told(folder: &Folder, tool: &str, words: &[&str], runner: &str) -> Told {
    let mut command = Command::new(tool);
    command.args(words).current_dir(&folder.0).env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
    command.env("CARGO_TARGET_DIR", folder.0.join("target")).env("CARGO_PROFILE_TEST_DEBUG", "2");
    for name in ["CARGO_BUILD_TARGET", "NEXTEST", "NEXTEST_PROFILE", "NEXTEST_TEST_THREADS", "RUST_TEST_THREADS"] {
        command.env_remove(name);
    }
    Told::new(command.output().unwrap_or_else(|error| panic!("{tool}: {error}; scripts/test installs it")))
}

/// The third test has a deadlock that takes a preemption, and so some more seconds.
#[test]
fn tests_of_cargo_are_checked_one_by_one() {
    let folder = project("rust", "cargo");
    let unforced = runner(&["--preemptions", "0"], " ");
    let two = ["test", "--lib", "--", "one_way", "first_come", "never_asked_for"];
    let all = told(&folder, "cargo", &two, &unforced);
    let lines = ["running 2 tests under Allways", "test tests::one_way ... ok", "test tests::first_come ... FAILED"];
    assert_ne!(all.code, Some(0));
    for line in [&lines[..], &["error[exit]", "left: [2, 1]", "1 passed; 1 failed; 0 without an answer"]].concat() {
        assert!(all.out.contains(line), "`{line}` is missing in {}{}", all.out, all.err);
    }
    let one = told(&folder, "cargo", &["test", "one_way", "--", "--nocapture"], &unforced);
    says(&one, 0, &["running 1 test under Allways", "one_way ... ok", "within the bound (0 preemptions)"]);
    let none = told(&folder, "cargo", &["test", "nothing_is_called_so"], &unforced);
    says(&none, 0, &["running 0 tests under Allways"]);
}

/// It asks for lists first, then for one test after the other.
#[test]
fn tests_of_nextest_are_checked_one_by_one() {
    let folder = project("rust", "nextest");
    let words = ["nextest", "run", "--no-fail-fast", "--user-config-file", "none", "one_way", "first_come"];
    let all = told(&folder, "cargo", &words, &runner(&["--preemptions", "0"], " "));
    assert_ne!(all.code, Some(0));
    for line in ["bank tests::one_way", "left: [2, 1], right: [1, 2]", "2 tests run: 1 passed, 1 failed, 2 skipped"] {
        assert!(all.err.contains(line) || all.out.contains(line), "`{line}` is missing in {}{}", all.out, all.err);
    }
}

#[test]
fn tests_of_go_are_checked_one_by_one() {
    let folder = project("go", "go");
    let all = told(&folder, "go", &["test", "-exec", &runner(&["--preemptions", "0"], " "), "."], "");
    says(&all, 1, &["test TestOneWay ... ok", "test TestLost ... FAILED", "error[exit]", "1 passed; 1 failed"]);
    let one = told(&folder, "go", &["test", "-run", "OneWay", "-exec", &runner(&["--preemptions", "0"], " "), "."], "");
    says(&one, 0, &["ok"]);
}

#[test]
fn ctest_runs_programs_through_it() {
    let folder = project("c", "ctest");
    let emulator = format!("-DCMAKE_CROSSCOMPILING_EMULATOR={}", runner(&[], ";"));
    says(&told(&folder, "cmake", &["-B", "built", "-DCMAKE_BUILD_TYPE=Debug", &emulator], ""), 0, &[]);
    says(&told(&folder, "cmake", &["--build", "built"], ""), 0, &[]);
    let all = told(&folder, "ctest", &["--test-dir", "built", "--output-on-failure"], "");
    assert_ne!(all.code, Some(0));
    for line in ["alone", "Passed", "error[exit]: lost ends with exit code 1", "lost.c:19", "1 tests failed out of 2"] {
        assert!(all.out.contains(line), "`{line}` is missing in {}{}", all.out, all.err);
    }
}

#[test]
fn meson_runs_programs_through_it() {
    let folder = project("c", "meson");
    says(&told(&folder, "meson", &["setup", "built"], ""), 0, &[]);
    let all = told(&folder, "meson", &["test", "-C", "built", "--wrapper", &runner(&[], " ")], "");
    assert_ne!(all.code, Some(0));
    // A toolchain that is described says so in its file.
    let quoted: Vec<String> = runner(&[], "\n").lines().map(|word| format!("'{word}'")).collect();
    let text = fs::read_to_string(folder.0.join("cross.ini")).expect("it is bundled");
    let text = text.replace("'allways', 'test', '--time', '60s'", &quoted.join(", "));
    fs::write(folder.0.join("cross.ini"), text).expect("can write");
    says(&told(&folder, "meson", &["setup", "crossed", "--cross-file", "cross.ini"], ""), 0, &[]);
    let crossed = told(&folder, "meson", &["test", "-C", "crossed"], "");
    for all in [all, crossed] {
        let found = |words: &[&str]| all.out.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(found(&["1/2", "alone", "OK"]) && found(&["2/2", "together", "FAIL"]), "{}{}", all.out, all.err);
    }
}

/// With cargo, one profile and one flag are for all tests of all programs.
#[test]
fn each_test_has_a_report_of_its_own() {
    let folder = Folder::new("runner-reports");
    folder.compile("lost-0123456789abcdef", &[], "int main(int n, char **w) { return n - 1; }");
    let program = "./lost-0123456789abcdef";
    fs::write(folder.0.join("allways.toml"), "[profile.ci]\nreport = { sarif = \"out/all.sarif\" }\n")
        .expect("it is ours");
    let flags = ["--no-save", "--profile", "ci", "--report", "junit=out/all.xml", program];
    let tested = |arguments: &[&str]| folder.run(&[&["test"][..], &flags[..], arguments].concat());
    says(&tested(&[]), 0, &["holds"]);
    says(&tested(&["one"]), 1, &["ends with exit code 1"]);
    let mut names: Vec<String> = fs::read_dir(folder.0.join("out"))
        .expect("there are reports")
        .map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["all.lost.one.sarif", "all.lost.one.xml", "all.lost.sarif", "all.lost.xml"]);
    let failed = fs::read_to_string(folder.0.join("out/all.lost.one.xml")).expect("it was written");
    assert!(failed.contains("failures=\"1\""), "{failed}");
}

#[test]
fn what_cannot_be_listed_or_run_is_said() {
    let folder = Folder::new("runner-nothing");
    says(&folder.run(&["test", "./missing", "one"]), 2, &["./missing"]);
    folder.run(&["test"]).refused(2, &["PROGRAM"]);
    folder.compile("echo", &[], "#include <stdio.h>\nint main(int n, char **w) { puts(w[n - 1]); return n - 1; }");
    // Asked for its tests, it is run as it is: its output, its exit code.
    let listed = folder.run(&["test", "./echo", "--gtest_list_tests"]);
    assert_eq!((listed.out.as_str(), listed.code), ("--gtest_list_tests\n", Some(1)));
    says(&folder.run(&["test", "--", "./echo"]), 0, &["holds: 6 of 6", "exhaustive"]);
    says(&folder.run(&["test", "--env", "A=b", "./echo", "--env"]), 1, &["ends with exit code 1"]);
}
