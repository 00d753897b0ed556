//! Power loss: `check --faults 1 --only crash`.

use crate::folder::{Folder, Told, says};
use std::fs;
use std::process::Command;

fn checked(folder: &Folder, disk: &str, flags: &[&str], program: &[&str]) -> Told {
    let faults = ["--faults", "1", "--only", disk];
    folder.run(&[&["check"], &faults[..], flags, &["--"], program].concat())
}

/// What the program has said is true.
const KEPT: &str = "kept := stdout(replace) =~ \"ACK\" -> content(\"f\") == \"new!\"";
/// There is the old file or the new one.
const WHOLE: &str = "whole := content(\"f\") == \"old\" || content(\"f\") == \"new!\"";

/// For ext4 and POSIX: whether the file is always whole, and whether what was said is kept.
type Known = [(bool, bool); 2];

fn replace(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(&format!("crash-replace-{name}"));
    folder.compile("replace", flags, "programs/faults/replace.c");
    fs::write(folder.0.join("f"), "old").expect("can write a file");
    folder
}

#[test]
fn replacing_a_file_is_atomic_and_durable_where_it_is_made_so() {
    let table: [(&str, &[&str], Known); 4] = [
        ("plain", &[], [(true, false), (false, false)]),
        ("content", &["-DSYNC"], [(true, false), (true, false)]),
        ("folder", &["-DSYNC_FOLDER"], [(true, true), (false, false)]),
        ("both", &["-DSYNC", "-DSYNC_FOLDER"], [(true, true), (true, true)]),
    ];
    for (name, flags, known) in table {
        let folder = replace(name, flags);
        for (disk, (whole, kept)) in ["crash", "crash:posix"].into_iter().zip(known) {
            for (property, holds) in [(WHOLE, whole), (KEPT, kept)] {
                let told = checked(&folder, disk, &["--finally", property], &["./replace"]);
                let words: &[&str] = if holds { &["exhaustive"] } else { &["power fails", "confirmed by replay"] };
                says(&told, i32::from(!holds), words);
            }
        }
    }
}

#[test]
fn the_missing_fsync_is_named() {
    let folder = replace("missing", &["-DSYNC"]);
    let told = checked(&folder, "crash", &["--finally", KEPT], &["./replace"]);
    says(
        &told,
        1,
        &[
            "lost: the renaming of f.new to f (rename, replace.c:",
            "no fsync of the directory came behind the rename at replace.c:",
        ],
    );
    says(&folder.run(&["replay"]), 1, &["power fails", "no fsync of the directory"]);
    let folder = replace("content-missing", &["-DSYNC_FOLDER"]);
    let told = checked(&folder, "crash:posix", &["--finally", WHOLE], &["./replace"]);
    says(&told, 1, &["no fsync of f came behind the write at replace.c:"]);
}

#[test]
fn what_fails_where_another_one_fails_is_not_said_to_hold() {
    let folder = replace("masked", &["-DSYNC"]);
    let again = KEPT.replace("kept", "again");
    let told = checked(&folder, "crash", &["--finally", KEPT, "--finally", &again], &["./replace"]);
    says(&told, 1, &["incomplete  `kept` fails, and one is told of each end"]);
}

/// What a log has said to be durable is there when it is read again, in this order.
const READ: [&str; 2] = [
    "one := exited(read) -> (stdout(append) =~ \"ACK one\" -> stdout(read) =~ \"has one\")",
    "two := exited(read) -> (stdout(append) =~ \"ACK two\" -> stdout(read) =~ \"has two\")",
];

fn log(name: &str, flags: &[&str], disk: &str) -> Folder {
    let folder = Folder::new(&format!("crash-log-{name}"));
    folder.compile("log", flags, "programs/faults/log.c");
    let file = format!(
        "[check.log]\nfinally = [{:?}, {:?}]\n[check.log.faults]\nbudget = 1\ndisk = [\"{disk}\"]\n[check.log.service.append]\ncommand = \"./log append\"\n[check.log.service.read]\ncommand = \"./log read\"\nafter = \"crash\"\n",
        READ[0], READ[1]
    );
    fs::write(folder.0.join("allways.toml"), file).expect("can write a file");
    folder
}

#[test]
fn a_log_keeps_what_it_has_said_to_be_durable_with_its_fsync_only() {
    for disk in ["crash", "crash:posix", "crash:posix:block=4", "crash:block=4"] {
        let name = disk.replace([':', '='], "-");
        says(&log(&format!("{name}-with"), &[], disk).run(&["check", "log"]), 0, &["exhaustive"]);
        let told = log(&format!("{name}-without"), &["-DNO_SYNC"], disk).run(&["check", "log"]);
        says(&told, 1, &["power fails", "log.c:", "no fsync of records came behind the write"]);
    }
}

/// Executes a program of the host, to prepare something.
fn prepare(folder: &Folder, program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).current_dir(&folder.0).status().expect("it starts");
    assert!(status.success(), "{program} {arguments:?}");
}

#[test]
fn a_commit_of_git_is_whole_and_may_be_undone_although_all_files_are_made_durable() {
    const GIT: &str = "/usr/bin/git";
    let folder = Folder::new("crash-git");
    let git = |arguments: &[&str]| prepare(&folder, GIT, arguments);
    git(&["init", "-q", "-b", "master", "."]);
    git(&["config", "user.email", "a@b"]);
    git(&["config", "user.name", "a"]);
    for unused in ["hooks", "info", "branches"] {
        fs::remove_dir_all(folder.0.join(".git").join(unused)).expect("git has made it");
    }
    for said in ["one", "two"] {
        fs::write(folder.0.join("f"), said).expect("can write a file");
        git(&["add", "f"]);
        if said == "one" {
            git(&["commit", "-q", "-m", said]);
        }
    }
    let root = folder.0.join(".git");
    let kept = "kept := exited(git.2) -> (stdout(git.1) =~ \"two\" -> stdout(git.2) =~ \"two\")";
    let flags = ["--root", root.to_str().expect("it is text"), "--check", "exit", "--finally", kept];
    let flags = [&flags[..], &["--recover", "/usr/bin/git log -1 --format=%s"]].concat();
    let commit = "-c core.fsync=all -c maintenance.auto=false -c gc.auto=0 commit -m two";
    let commit: Vec<&str> = [GIT].into_iter().chain(commit.split(' ')).collect();
    let told = checked(&folder, "crash", &flags, &commit);
    let missing = "no fsync of the directory .git/refs/heads came behind the rename";
    says(&told, 1, &["`kept` does not hold", missing, "no failing exit code  exit   holds", "exhaustive"]);
}

/// A database of gdbm with so many keys, in small blocks: the seventeenth splits a bucket.
fn database(keys: usize) -> Folder {
    let folder = Folder::new(&format!("crash-gdbm-{keys}"));
    prepare(&folder, "gdbmtool", &["-N", "-n", "-b", "512", "db", "store", "k0", "v0"]);
    for key in 1..keys {
        prepare(&folder, "gdbmtool", &["-N", "db", "store", &format!("k{key}"), &format!("v{key}")]);
    }
    folder
}

#[test]
fn gdbm_keeps_old_keys_but_where_a_bucket_is_split() {
    let old = "old := exited(gdbmtool.2) -> stdout(gdbmtool.2) =~ \"k3 v3\"";
    let flags = ["--check", "exit", "--finally", old, "--recover", "gdbmtool -N -m -r db list"];
    let store = ["gdbmtool", "-N", "-m", "db", "store", "new", "one"];
    for disk in ["crash", "crash:posix"] {
        says(&checked(&database(15), disk, &flags, &store), 0, &["exhaustive", "holds: 2 of 2"]);
        let split = checked(&database(16), disk, &flags, &store);
        says(&split, 1, &["`old` does not hold", "Database needs recovery", "confirmed by replay"]);
    }
}

#[test]
fn what_does_not_fit_to_power_loss_is_told() {
    let folder = replace("slips", &[]);
    let table: [(&str, &[&str], &str); 6] = [
        ("crash:posixx", &[], "did you mean `posix`?"),
        ("crash:block=0", &[], "a block has 1 to"),
        ("crahs", &[], "did you mean `crash`?"),
        ("crash,crash:posix", &[], "there is one disk"),
        ("crash", &["--engine", "dpor"], "does not know power loss yet"),
        ("crash", &["--ltl", "[] exists(\"f\")"], "exclude each other"),
    ];
    for (disk, flags, meant) in table {
        says(&checked(&folder, disk, flags, &["./replace"]), 2, &[meant]);
    }
}

#[test]
fn a_shared_mapping_that_may_be_written_is_no_pass_where_power_may_fail() {
    let folder = Folder::new("crash-mapping");
    let source = "#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\nint main(void) {\n    int fd = open(\"f\", O_CREAT | O_RDWR, 0600);\n    ftruncate(fd, 4096);\n    char *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);\n    *at = 1;\n    return msync(at, 4096, MS_SYNC);\n}\n";
    folder.compile("map", &[], source);
    says(&checked(&folder, "crash", &[], &["./map"]), 3, &["a shared mapping of a file that may be written"]);
}
