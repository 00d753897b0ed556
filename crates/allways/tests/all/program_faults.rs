//! Faults of programs: `check --faults K --only ...`.

use crate::folder::{Folder, Told, says};
use std::fs;

/// A check for failed assertions and the like: a program may end with an error code when something failed.
fn checked(folder: &Folder, flags: &[&str], program: &str) -> Told {
    folder.run(&[&["check", "--check", "assert,crash,deadlock"], flags, &["--", program]].concat())
}

fn save(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(&format!("program-faults-{name}"));
    folder.compile("save", flags, "programs/faults/save.c");
    folder
}

#[test]
fn a_call_that_fails_is_a_fault() {
    let folder = save("careless", &[]);
    says(&checked(&folder, &[], "./save"), 0, &["exhaustive", "holds: 3 of 3"]);
    for (fault, shown) in [("write:error=ENOSPC", "-> ENOSPC (fault)"), ("write:short", "(fault)")] {
        let told = checked(&folder, &["--faults", "1", "--only", fault], "./save");
        says(&told, 1, &["error[assert]", shown, "save.c:", "confirmed by replay"]);
        says(&folder.run(&["replay"]), 1, &["error[assert]", shown]);
    }
}

#[test]
fn a_program_that_looks_at_what_calls_return_survives() {
    let folder = save("careful", &["-DCHECKED"]);
    for fault in ["write:error=ENOSPC", "write:error=ENOSPC:when=1+", "write:error=EINTR", "write:short"] {
        let told = checked(&folder, &["--faults", "2", "--only", fault], "./save");
        says(&told, 0, &["exhaustive", "holds: 3 of 3", &format!("up to 2 of {fault}")]);
        assert!(!told.out.contains("could not happen"), "{}", told.out);
    }
}

#[test]
fn a_fault_that_cannot_happen_is_told() {
    let told = checked(&save("never", &[]), &["--faults", "1", "--only", "fsync:error=EIO"], "./save");
    says(&told, 0, &["the fault fsync:error=EIO could not happen"]);
}

#[test]
fn faults_can_be_said_in_the_file() {
    let folder = save("file", &[]);
    fs::write(folder.0.join("allways.toml"), "[check.save]\ncheck = [\"assert\"]\n[check.save.faults]\nbudget = 1\nsyscall = [\"write:error=ENOSPC\"]\n[check.save.service.save]\ncommand = \"./save\"\n").expect("can write a file");
    says(&folder.run(&["check", "save"]), 1, &["error[assert]", "-> ENOSPC (fault)"]);
    fs::write(
        folder.0.join("allways.toml"),
        "[check.save.faults]\nsyscal = [\"write:error=ENOSPC\"]\n[check.save.service.save]\ncommand = \"./save\"\n",
    )
    .expect("can write a file");
    says(&folder.run(&["check", "save"]), 2, &["did you mean `syscall`?"]);
}

#[test]
fn slips_lead_to_what_was_meant() {
    let folder = save("slips", &[]);
    let table: [(&[&str], &str); 6] = [
        (&["--faults", "1"], "name them with --only"),
        (&["--only", "write:error=EIO"], "--faults 1"),
        (&["--faults", "1", "--only", "wirte:error=EIO"], "did you mean `write`?"),
        (&["--faults", "1", "--only", "write:error=EIO:in=saev"], "did you mean `save`?"),
        (&["--faults", "1,stop=1", "--only", "write:error=EIO"], "is one number"),
        (&["--faults", "1", "--only", "write:error=EIO", "--heals"], "`--heals` is for models"),
    ];
    for (flags, meant) in table {
        says(&checked(&folder, flags, "./save"), 2, &[meant]);
    }
}
