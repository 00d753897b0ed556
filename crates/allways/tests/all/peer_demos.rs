//! The demonstrations of `programs/peers`: clients of stock servers, each with its bug and its cure, as their `allways.toml` has them.

use crate::folder::{Folder, Told};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A copy of `programs/peers` in which one of the demonstrations is built.
fn built(test: &str, program: &str) -> Folder {
    let folder = Folder::new(&format!("demo-{test}"));
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/peers");
    for entry in fs::read_dir(from).expect("it is bundled").flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.0.join(entry.file_name())).expect("a copy");
    }
    succeeds(&folder, &["sh", "build.sh", program]);
    folder
}

fn succeeds(folder: &Folder, command: &[&str]) {
    let output = Command::new(command[0]).args(&command[1..]).current_dir(&folder.0).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The bug is found, with words of its counterexample.
fn violated(folder: &Folder, check: &str, words: &[&str]) {
    let told = checked(folder, check, 1);
    let is_told = words.iter().all(|word| told.out.contains(word));
    assert!(told.out.contains("error[assert]") && is_told, "{check}: {}", told.out);
}

/// The cure holds on all schedules.
fn holds(folder: &Folder, check: &str) {
    let told = checked(folder, check, 0);
    let is_told = ["for the peer behaviour recorded", " . exhaustive"].iter().all(|word| told.out.contains(word));
    assert!(is_told, "{check}: {}", told.out);
}

fn checked(folder: &Folder, check: &str, code: i32) -> Told {
    let told = folder.run(&["check", "--no-save", check]);
    assert_eq!(told.code, Some(code), "{check}: {}{}", told.out, told.err);
    told
}

#[test]
fn hiredis_loses_an_update_with_get_and_set_and_not_with_incr() {
    let folder = built("redis", "redis");
    violated(&folder, "redis-lost", &["value(db) == 2"]);
    holds(&folder, "redis-incr");
}

#[test]
fn replies_are_swapped_on_a_shared_connection_unless_the_lock_is_held_until_the_answer() {
    let folder = built("swapped", "redis");
    violated(&folder, "redis-swapped", &["strcmp", "answers \"$3\\r\\n"]);
    holds(&folder, "redis-locked");
}

#[test]
fn a_proxy_loses_a_request_on_a_connection_that_python_has_closed() {
    let folder = built("proxy", "proxy");
    violated(&folder, "proxy-stale", &["502 Bad Gateway", "connects to port 8080"]);
    holds(&folder, "proxy-again");
}

#[test]
fn a_proxy_loses_a_request_on_a_connection_that_native_python_has_closed() {
    let folder = built("proxy-native", "proxy");
    violated(&folder, "proxy-stale-native", &["502 Bad Gateway"]);
    holds(&folder, "proxy-again-native");
}

#[test]
fn a_proxy_loses_a_request_on_a_connection_that_java_has_closed() {
    let folder = built("proxy-java", "proxy");
    succeeds(&folder, &["javac", "Server.java"]);
    violated(&folder, "proxy-stale-java", &["502 Bad Gateway"]);
    holds(&folder, "proxy-again-java");
}

#[test]
fn postgresql_loses_an_update_at_read_committed_and_not_with_for_update() {
    let folder = built("postgres", "postgres");
    succeeds(&folder, &["sh", "postgres.sh", "init"]);
    violated(&folder, "postgres-lost", &["SELECT n FROM counter", "== 2"]);
    holds(&folder, "postgres-locked");
}
