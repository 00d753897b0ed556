//! Formulas of linear temporal logic over programs: `check --ltl`.

use crate::folder::{Folder, says};
use std::fs;

fn compiled(name: &str, flags: &[&str], source: &str) -> Folder {
    let folder = Folder::new(&format!("formulas-{name}"));
    folder.compile(name, flags, source);
    folder
}

const SERVED: &str = "served := [] (waiting[1] == 1 -> <> inside[1] == 1)";
const EXCLUSIVE: &str = "exclusive := [] !(inside[0] == 1 && inside[1] == 1)";

#[test]
fn a_test_and_set_lock_starves_whoever_waits_and_petersons_does_not() {
    let locks = compiled("locks", &["-pthread"], "programs/ltl/locks.c");
    for fairness in [&[][..], &["--fair", "weak"]] {
        let words = ["check", "--ltl", SERVED, "--ltl", EXCLUSIVE, "--check", "deadlock"];
        let told = locks.run(&[&words, fairness, &["--", "./locks"]].concat());
        says(
            &told,
            1,
            &["error[ltl]: `served`", "start of cycle", "confirmed by replay", "exclusive  ltl       holds"],
        );
        says(&locks.run(&["replay"]), 1, &["error[ltl]: `served`", "start of cycle", "the same failure"]);
    }
    let peterson = compiled("peterson", &["-pthread", "-DPETERSON"], "programs/ltl/locks.c");
    let check = |more: &[&str]| peterson.run(&[&["check", "--ltl", SERVED][..], more, &["--", "./peterson"]].concat());
    says(&check(&[]), 1, &["needs fairness", "holds with --fair weak"]);
    says(&check(&["--fair", "weak"]), 0, &["served    ltl       holds", "reduction off", "exhaustive"]);
}

#[test]
fn the_remote_agent_waits_for_ever_if_it_looks_outside_of_the_lock() {
    let again = ["--ltl", "[] <> ev1.count == 1", "--ltl", "[] (ev2.count == 1 -> <> ev2.count == 2)"];
    for (name, flags, exit, told) in [
        ("rax", &["-pthread", "-DROUNDS=0"][..], 0, &["holds: 8 of 8"][..]),
        ("outer", &["-pthread", "-DROUNDS=0", "-DCOND_OUTER"], 1, &["error[ltl]: `[] <> ev1.count == 1`"]),
    ] {
        let folder = compiled(name, flags, "programs/rax.c");
        let program = format!("./{name}");
        says(&folder.run(&[&["check"][..], &again, &["--", &program]].concat()), exit, told);
    }
}

#[test]
fn both_clients_of_the_chat_are_answered_unless_a_writer_is_set_up_too_late() {
    for (name, flags, exit, told) in [
        (
            "fixed",
            &[][..],
            0,
            &["served    ltl       holds", "reduction on", "vacuous", "`exited(one) == 4` is never true"][..],
        ),
        ("late", &["-DBUG_INIT"], 1, &["error[ltl]: `served`", "confirmed by replay"]),
    ] {
        let folder = Folder::new(&format!("formulas-chat-{name}"));
        for (program, which) in [("server", "-DSERVER"), ("one", "-DCLIENT=0"), ("two", "-DCLIENT=1")] {
            folder.compile(program, &[&["-pthread", which], flags].concat(), "programs/chat.c");
        }
        let served = "served := <> (exited(one) == 0 && exited(two) == 0)";
        let refused = "refused := [] (exited(one) == 4 -> <> exited(two) == 4)";
        let options = ["check", "--check", "deadlock", "--ltl", served, "--ltl", refused];
        let words = [&options[..], &["--", "./server", "+", "./one", "+", "./two"]].concat();
        says(&folder.run(&words), exit, told);
    }
}

#[test]
fn values_that_are_overwritten_at_once_are_seen() {
    let source = "volatile int x;\nint main(void) {\n    x = 1;\n    x = 2;\n    x = 3;\n    return 0;\n}\n";
    let folder = compiled("brief", &[], source);
    let check = |formula: &str| folder.run(&["check", "--ltl", formula, "--", "./brief"]);
    says(&check("<> x == 2"), 0, &["ltl       holds"]);
    says(&check("[] x != 2"), 1, &["error[ltl]"]);
    says(&check("x == 0 U (x == 1 U (x == 2 U [] x == 3))"), 1, &["error[ltl]"]);
    says(&check("x == 0 U (x == 1 U (x == 2 U x == 3))"), 0, &["ltl       holds"]);
}

#[test]
fn what_must_never_be_true_is_seen_although_it_lasts_no_longer_than_a_moment() {
    let source = "#include <fcntl.h>\n#include <unistd.h>\nvolatile int x;\nint main(void) {\n    x = 1;\n    x = 2;\n    x = 3;\n    close(creat(\"a\", 0600));\n    close(creat(\"b\", 0600));\n    return 0;\n}\n";
    let folder = compiled("moment", &[], source);
    for (proposition, exit) in [
        ("x == 2", 1),
        ("x == 4", 0),
        ("exists(\"a\") && !exists(\"b\")", 1),
        ("exists(\"b\") && !exists(\"a\")", 0),
        ("x == 2 && exists(\"a\")", 0),
    ] {
        for engine in ["graph", "dpor"] {
            let told = folder.run(&["check", "--never", proposition, "--engine", engine, "--", "./moment"]);
            says(&told, exit, &[if exit == 1 { "error[never]" } else { "holds" }]);
        }
    }
}

#[test]
fn a_program_that_is_started_again_shows_each_value_too() {
    let source = "#include <fcntl.h>\n#include <unistd.h>\nvolatile int x;\nint main(void) {\n    if (access(\"begun\", F_OK) == 0) {\n        x = 1;\n        x = 2;\n        x = 3;\n    }\n    close(creat(\"begun\", 0600));\n    return 0;\n}\n";
    let folder = compiled("again", &[], source);
    let check = |more: &[&str]| folder.run(&[&["check", "--never", "x == 2"][..], more, &["--", "./again"]].concat());
    says(&check(&[]), 0, &["holds"]);
    says(&check(&["--faults", "1", "--only", "restart"]), 1, &["error[never]", "and start it again"]);
}

#[test]
fn formulas_speak_of_output_ends_and_faults_and_have_names_in_the_file() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    puts(\"ASK\");\n    fflush(stdout);\n    usleep(1000);\n    puts(\"ACK\");\n    return 0;\n}\n";
    let folder = compiled("asks", &[], source);
    let file = "[check.asks.let]\nasked = 'stdout(asks) =~ \"ASK\"'\nanswered = 'stdout(asks) =~ \"ACK\"'\n[check.asks.ltl]\nserved = \"[] (asked -> <> answered)\"\nends = \"<> exited(asks) == 0\"\n[check.asks.service.asks]\ncommand = \"./asks\"\n";
    fs::write(folder.0.join("allways.toml"), file).expect("can write a file");
    says(&folder.run(&["check"]), 0, &["served    ltl       holds", "ends      ltl       holds"]);
    // A program that is killed stays silent.
    let killed = folder.run(&["check", "--faults", "1", "--only", "kill"]);
    says(&killed, 1, &["error[ltl]: `served`", "kill asks", "error[ltl]: `ends`", "confirmed by replay"]);
    says(&folder.run(&["replay"]), 1, &["error[ltl]", "kill asks"]);
    let one = folder.run(&["check", "--ltl", "ends"]);
    says(&one, 0, &["ends      ltl       holds"]);
    assert!(!one.out.contains("served"), "{}", one.out);
}

#[test]
fn slips_in_formulas_are_told() {
    let folder = compiled("plain", &[], "int x;\nint main(void) { return x; }\n");
    let many: Vec<String> = (1..=65).flat_map(|value| ["--never".to_owned(), format!("x == {value}")]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let words = [&["check"], &many[..], &["--", "./plain"]].concat();
    says(&folder.run(&words), 2, &["there are more than 64 propositions"]);
    let table: [(&[&str], &str); 6] = [
        (&["--ltl", "[] (x == 0"], "never closed"),
        (&["--ltl", "[] y == 0"], "no global variable `y`"),
        (&["--ltl", "[] exited(plane) == 0"], "no process `plane`"),
        (&["--ltl", "[] x == 0", "--engine", "dpor"], "`--ltl` goes with `--engine graph`"),
        (&["--ltl", "[] x == 0", "--preemptions", "1"], "leave some out"),
        (&["--fair", "weak"], "`--fair` is for models"),
    ];
    for (words, meant) in table {
        says(&folder.run(&[&["check"], words, &["--", "./plain"]].concat()), 2, &[meant]);
    }
}
