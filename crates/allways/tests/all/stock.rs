//! Checks of stock programs that come with the repository (`programs/dotlockfile`, `coreutils`, `lockfile`, `mbox`), on Debian's own
//! binaries, and of a crate as its registry has it.

use crate::folder::{Folder, says};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A copy of a bundled folder, so that counterexamples are saved elsewhere.
fn bundled(name: &str) -> Folder {
    let folder = Folder::new(&format!("stock-{name}"));
    let from =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(name.split('-').next().expect("a name"));
    for entry in fs::read_dir(from).expect("it is bundled").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.0.join(entry.file_name())).expect("a copy");
        }
    }
    folder
}

/// What is wrong in a check, and that it comes again.
fn fails(folder: &str, check: &str, story: &[&str]) -> String {
    let folder = bundled(folder);
    let told = folder.run(&["check", check]);
    says(&told, 1, story);
    let again = folder.run(&["replay"]);
    assert!(again.err.contains("the same failure in the same state"), "{}{}", again.out, again.err);
    told.out
}

fn holds(folder: &str, check: &str) {
    says(&bundled(folder).run(&["check", check]), 0, &["holds: 3 of 3 properties", "exhaustive"]);
}

#[test]
fn two_dotlockfiles_can_both_get_a_lock_that_was_left_behind_and_the_report_says_why() {
    let story = [
        "error[never]: `both` became true",
        "opened \"x.lock\" in step",
        "when it was another file",
        "made it in step",
        "help: what a name stands for can change between two calls",
        "'s -> none",
        "exhaustive",
    ];
    let told = fails("dotlockfile-stale", "stale", &story);
    // What `.` stands for does not change.
    assert!(!told.contains("the old one -> the old one"), "{told}");
    holds("dotlockfile-fresh", "fresh");
}

#[test]
fn a_link_that_is_replaced_while_it_is_removed_is_said_to_exist() {
    let story = ["error[never]: `failed` became true", "failed to create symbolic link 'l': File exists"];
    fails("coreutils-link", "link", &story);
    holds("coreutils-replace", "replace");
}

#[test]
fn two_copies_to_one_file_are_mixed_unless_they_are_under_a_lock() {
    // What mixes them is told: the second descriptor of the call is what is written.
    fails("coreutils-copy", "copy", &["error[never]: `mixed` became true", "copy_file_range"]);
    holds("coreutils-locked", "locked");
}

/// Builds a bundled package in the versions that its own lock file names; false, with the reason, if no registry is reached.
#[allow(clippy::print_stderr, reason = "a skipped test says why")]
fn is_built(package: &str, folder: &Folder) -> bool {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(package).join("Cargo.toml");
    let cargo = |verb: &str| {
        let mut cargo = Command::new("cargo");
        cargo.args([verb, "--quiet", "--locked", "--manifest-path"]).arg(&manifest).env("CARGO_PROFILE_DEV_DEBUG", "2");
        cargo
    };
    let fetched = cargo("fetch").output().expect("cargo runs");
    let why = String::from_utf8_lossy(&fetched.stderr).into_owned();
    let is_unreachable = ["failed to download", "Could not resolve", "Couldn't connect", "timed out"];
    if is_unreachable.iter().any(|words| why.contains(words)) {
        eprintln!("skipped: crates.io is not reached: {why}");
        return false;
    }
    let built = cargo("build").arg("--target-dir").arg(&folder.0).output().expect("cargo runs");
    assert!(built.status.success(), "{why}{}", String::from_utf8_lossy(&built.stderr));
    true
}

#[test]
fn a_block_of_crossbeams_channel_is_freed_twice_before_its_version_0_5_15() {
    for (version, code, words) in [("0.5.14", 1, "error[assert]: free("), ("0.5.15", 0, "holds: 6 of 6 properties")] {
        let folder = Folder::new(&format!("stock-crossbeam-{version}"));
        if is_built(&format!("languages/crossbeam/{version}"), &folder) {
            let told = folder.run(&["check", "--no-save", "--", "./debug/drop"]);
            says(&told, code, &[words, "exhaustive"]);
            let of_libraries = ["/rustc/", ".cargo/registry"];
            assert!(!of_libraries.iter().any(|path| told.out.contains(path)), "{}", told.out);
        }
    }
}

#[test]
fn two_lockfiles_can_both_get_a_lock_that_was_left_behind_and_the_report_says_why() {
    let folder = bundled("lockfile-stale");
    let told = folder.run(&["check", "stale"]);
    let story = [
        "error[never]: `both` became true",
        "looked at \"x.lock\" in step",
        "when it was another file",
        "made it in step",
        "help: what a name stands for can change between two calls",
        "lstat \"x.lock\" -> 366 days old",
        "unlink \"x.lock\"",
        "time passes: 1 s; lockfile.",
        "is slow",
        "'s -> none",
        "exhaustive",
    ];
    says(&told, 1, &story);
    let noise = ["getuid", "uname", "a lock:", "runs on", "locale"];
    assert!(noise.iter().all(|word| !told.out.contains(word)), "{}", told.out);
    let again = folder.run(&["replay"]);
    assert!(again.err.contains("the same failure in the same state"), "{}{}", again.out, again.err);
}

#[test]
fn nobody_gets_the_lock_twice_if_nobody_is_slow_or_nothing_was_left_behind() {
    let folder = bundled("lockfile-prompt");
    for name in ["prompt", "fresh"] {
        says(&folder.run(&["check", name]), 0, &["holds: 3 of 3 properties", "exhaustive"]);
    }
}

#[test]
fn two_procmails_deliver_both_mails_whole_with_both_locks() {
    says(&bundled("mbox-both").run(&["check", "both"]), 0, &["holds: 4 of 4 properties", "exhaustive"]);
}

#[test]
fn two_procmails_deliver_both_mails_whole_with_the_lock_on_the_file_alone() {
    says(&bundled("mbox-fcntl").run(&["check", "fcntl"]), 0, &["holds: 4 of 4 properties", "exhaustive"]);
}

#[test]
fn mails_get_mixed_if_one_locks_the_file_and_the_other_takes_a_dot_lock() {
    let folder = bundled("mbox-mixed");
    let told = folder.run(&["check", "mixed"]);
    says(&told, 1, &["error[never]: `broken` became true", "lock fd 5 (mbox) (fcntl)", "write fd 5 (mbox) \"F\""]);
    let again = folder.run(&["replay"]);
    assert!(again.err.contains("the same failure in the same state"), "{}{}", again.out, again.err);
}

#[test]
fn a_lost_update_in_redis_is_found_and_its_cure_holds() {
    let peer = "db:6379=redis-server --port 6379 --appendonly no";
    for (name, flags, code) in [("lost", &[][..], 1), ("cured", &["-DFIXED"], 0)] {
        let folder = Folder::new(&format!("stock-redis-{name}"));
        folder.compile("counter", flags, "programs/peers/counter.c");
        let told = folder.run(&["check", "--no-save", "--peer", peer, "--", "./counter"]);
        assert_eq!(told.code, Some(code), "{name}: {}{}", told.out, told.err);
        assert!(told.out.contains("exhaustive") && told.out.contains("peers answer as recorded: db"), "{}", told.out);
    }
}

#[test]
fn what_a_full_disk_does_not_take_is_lost_without_a_word() {
    for check in ["getent", "strings"] {
        let story = ["error[never]: `lost` became true", "write to standard output -> ENOSPC (fault)", "exit code 0"];
        fails(&format!("fulldisk-{check}"), check, &story);
    }
    holds("fulldisk-id", "id");
}

#[test]
fn whoever_kills_sed_finds_the_old_file_or_the_new_one_and_whoever_kills_cp_an_empty_one() {
    holds("fulldisk-replace", "replace");
    fails("fulldisk-copy", "copy", &["error[never]: `torn` became true", "kill cp"]);
}
