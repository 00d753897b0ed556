//! What a section says of how a peer is driven: its clock, what may differ, how long it may take.

use crate::folder::{Folder, Told};
use crate::peers::{SERVER, built};

/// Checks with these keys of the section of the peer.
fn check(folder: &Folder, keys: &str) -> Told {
    let sections = format!(
        "[check.it.service.client]\ncommand = \"./client\"\n\
         [check.it.peer.count]\ncommand = \"./server\"\nlistens = 7000\n{keys}\n"
    );
    std::fs::write(folder.0.join("allways.toml"), sections).expect("it can be written");
    folder.run(&["check", "--no-save", "--reduction", "off"])
}

#[test]
fn a_real_clock_makes_answers_differ_unless_that_is_ignored() {
    let folder = built("terms-clock", &[]);
    let said = "struct timespec now; clock_gettime(CLOCK_REALTIME, &now); \
                dprintf(all[i].fd, \"%c at %ld.%09ld;\", answer, now.tv_sec, now.tv_nsec);";
    let source = SERVER.replace("if (write(all[i].fd, &answer, 1) != 1) return 2;", said);
    folder.compile("server", &[], &format!("#include <stdio.h>\n#include <time.h>\n{source}"));
    let native = |keys: &str| check(&folder, &format!("outside = \"native\"\n{keys}"));
    for keys in ["", "clock = \"virtual\"", "clock = \"real\"\nignore = ['at [0-9.]*']\npatience = \"1m\""] {
        let told = native(keys);
        assert_eq!(told.code, Some(0), "{keys}: {}{}", told.out, told.err);
    }
    let told = native("clock = \"real\"");
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.err.contains("its clock is that of this machine: `clock = \"virtual\"`"), "{}", told.err);
    let told = check(&folder, "clock = \"real\"");
    assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
    assert!(told.err.contains("`clock = \"real\"` is for native peers"), "{}", told.err);
}

#[test]
fn patience_decides_how_long_a_sleep_may_take_in_a_world_of_its_own() {
    let folder = built("terms-patience", &[]);
    folder.compile(
        "server",
        &[],
        &SERVER.replace("answer = '0'", "for (int s = 0; s < 30; s++) sleep(1); answer = '0'"),
    );
    for (keys, code) in [("", 3), ("patience = \"2m\"", 0), ("patience = \"500ms\"", 3)] {
        let told = check(&folder, keys);
        assert_eq!(told.code, Some(code), "{keys}: {}{}", told.out, told.err);
    }
}
