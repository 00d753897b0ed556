//! Checks of stock programs that come with the repository: `programs/lockfile` and `programs/mbox`, on Debian's own binaries.

use crate::folder::{Folder, says};
use std::fs;
use std::path::Path;

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

#[test]
fn two_lockfiles_can_both_get_a_lock_that_was_left_behind_and_the_report_says_why() {
    let folder = bundled("lockfile-stale");
    let told = folder.run(&["check", "stale"]);
    let story = [
        "error[never]: `both` has become true",
        "looked at \"x.lock\" in step",
        "when it was another file",
        "made it in step",
        "help: what a name stands for can change between two calls",
        "lstat \"x.lock\" -> 366 days old",
        "unlink \"x.lock\"",
        "... 1 s later, lockfile.",
        "is slow",
        "'s -> none",
        "exhaustive",
    ];
    says(&told, 1, &story);
    let noise = ["getuid", "uname", "a lock:", "goes on", "locale"];
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
    says(&told, 1, &["error[never]: `broken` has become true", "lock fd 5 (mbox) (fcntl)", "write fd 5 (mbox) \"F\""]);
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
