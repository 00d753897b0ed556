//! `allways check -- CMD` as its users meet it: small C programs with and without bugs, and bad use.

use crate::folder::{Folder, says};
use std::fs;

fn built(name: &str, flags: &[&str], source: &str) -> Folder {
    let folder = Folder::new(&format!("check-{name}"));
    folder.compile(name, flags, source);
    folder
}

const TWO: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\nint x, y; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    void *f(void *p); void *g(void *p);\n\
    int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);\n\
    pthread_join(s, 0); pthread_join(t, 0); END }\n";

fn two(end: &str, f: &str, g: &str) -> String {
    format!("{}void *f(void *p) {{ {f} return p; }}\nvoid *g(void *p) {{ {g} return p; }}\n", TWO.replace("END", end))
}

#[test]
fn a_deadlock_is_told_with_lanes_locks_and_who_waits_for_whom() {
    let folder = built("phil", &[], "programs/phil.c");
    let told = folder.run(&["check", "--", "./phil"]);
    let words = [
        "error[deadlock]",
        "waits for T",
        "phil.c:17",
        "lock fork_mx[0]",
        "held by T",
        "since step",
        "confirmed by replay",
    ];
    says(&told, 1, &words);
    says(
        &told,
        1,
        &["libc: summary (glibc)", "x86-TSO (store buffers make no difference)", "exhaustive", "violated: 1 of"],
    );
}

/// A run goes on behind a proposition that became true, and of two in one step nobody believes that one is never true.
#[test]
fn a_proposition_that_became_true_hides_nothing() {
    let source = "#include <assert.h>\n#include <fcntl.h>\n#include <unistd.h>\n\
        int main(void) { close(open(\"a\", O_CREAT | O_WRONLY, 0600)); close(open(\"b\", O_CREAT | O_WRONLY, 0600)); assert(0); }\n";
    let folder = built("hidden", &[], source);
    let never = |texts: &[&str]| {
        let flags = texts.iter().flat_map(|text| ["--never", text]);
        folder.run(&[&["check"], &flags.collect::<Vec<_>>()[..], &["--", "./hidden"]].concat())
    };
    let later = never(&["first := exists(\"a\")", "second := exists(\"b\")"]);
    let both = ["first never violated", "second never violated", "no failed assertion assert violated"];
    says(&later, 1, &both);
    let together = never(&["one := exists(\"a\")", "other := exists(\"a\")"]);
    says(&together, 1, &["one never violated", "other never incomplete true only in steps that fail otherwise, too"]);
}

#[test]
fn a_counterexample_replays_to_the_same_state_from_its_file_elsewhere() {
    let folder = built("phil2", &["-DN=2"], "programs/phil.c");
    says(&folder.run(&["check", "--", "./phil2"]), 1, &["allways replay"]);
    let again = folder.run(&["replay"]);
    says(&again, 1, &["error[deadlock]", "lock fork_mx[0]"]);
    assert!(again.err.contains("the same failure in the same state"), "{}", again.err);
    says(&folder.run(&["ls"]), 0, &["./phil2", "deadlock"]);
    says(&folder.run(&["report"]), 0, &["error[deadlock]", "fork_mx"]);
    let id = fs::read_to_string(folder.0.join(".allways/latest")).expect("it was saved");
    let elsewhere = Folder::new("check-phil2-elsewhere");
    fs::copy(folder.0.join(format!(".allways/{}/counterexample.json", id.trim())), elsewhere.0.join("cx.json"))
        .expect("a copy");
    let root = folder.0.to_str().expect("is UTF-8");
    elsewhere.run(&["replay", "cx.json"]).refused(2, &["--root", root]);
    let told = elsewhere.run(&["replay", "cx.json", "--root", root]);
    says(&told, 1, &["error[deadlock]"]);
    assert!(told.err.contains("the same state"), "{}", told.err);
    says(&folder.run(&["replay", "--to", "2"]), 0, &["after step 2 of"]);
    folder.compile("phil2", &["-DN=2", "-DFIXED"], "programs/phil.c");
    folder.run(&["replay"]).refused(3, &["phil2` has changed", "allways check -- ./phil2"]);
}

#[test]
fn a_correct_program_is_explored_to_the_end() {
    let folder = built("philf", &["-DFIXED"], "programs/phil.c");
    says(&folder.run(&["check", "--", "./philf"]), 0, &["holds: 6 of 6 properties", "exhaustive"]);
}

#[test]
fn a_race_is_told_with_variable_type_and_both_sides() {
    let source = two("return 0;", "x = 1;", "x = 2;");
    let told = built("race", &[], &source).run(&["check", "--", "./race"]);
    says(
        &told,
        1,
        &[
            "error[race]: x (int) is written by two threads without synchronisation",
            "--> race.c:8:20",
            "void *g(void *p) { x = 2; return p; }",
            "T1 f writes it",
        ],
    );
}

#[test]
fn a_failed_assertion_is_told_in_the_programs_own_words() {
    let increment = "pthread_mutex_lock(&m); int v = x; pthread_mutex_unlock(&m); pthread_mutex_lock(&m); x = v + 1; pthread_mutex_unlock(&m);";
    let source = two("assert(x == 2); return 0;", increment, increment);
    let told = built("lost", &[], &source).run(&["check", "--", "./lost"]);
    says(&told, 1, &["error[assert]", "assertion `x == 2` failed", "in main at lost.c", "x: 0 -> 1"]);
}

#[test]
fn crashes_exit_codes_and_misused_locks_are_told() {
    let crash = two(
        "return 0;",
        "pthread_mutex_lock(&m); y = 1; pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); if (y) *(volatile int *)0 = 1; pthread_mutex_unlock(&m);",
    );
    says(&built("crash", &[], &crash).run(&["check", "--", "./crash"]), 1, &["error[crash]", "SIGSEGV"]);
    let exit = two("return x;", "pthread_mutex_lock(&m); x = 3; pthread_mutex_unlock(&m);", "");
    let folder = built("exit", &[], &exit);
    says(&folder.run(&["check", "--", "./exit"]), 1, &["error[exit]", "exit code 3"]);
    says(&folder.run(&["check", "--check", "deadlock,crash", "--", "./exit"]), 0, &["holds: 2 of 2"]);
    let misuse = two("return 0;", "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);", "pthread_mutex_unlock(&m);");
    says(&built("misuse", &[], &misuse).run(&["check", "--", "./misuse"]), 1, &["error[misuse]"]);
}

#[test]
fn several_programs_run_in_one_world_and_propositions_speak_of_them() {
    let folder = Folder::new("check-several");
    let never = "exited(touch) == 0 && !exists(\"made\")";
    let told = folder.run(&["check", "--never", never, "--", "touch", "made", "+", "rm", "-f", "made"]);
    says(&told, 1, &["error[never]", "became true"]);
    let told = folder.run(&["check", "--never", "exited(touch) == 9", "--", "touch", "made", "+", "true"]);
    says(&told, 0, &["holds"]);
    folder.run(&["check", "--never", "exited(", "--", "true"]).refused(2, &["exited("]);
    folder.run(&["check", "--never", "exited(nobody) == 0", "--", "true"]).refused(2, &["nobody"]);
}

#[test]
fn a_program_with_one_schedule_holds_and_says_so() {
    says(&Folder::new("check-one").run(&["check", "--", "true"]), 0, &["one schedule", "holds: 6 of 6"]);
}

#[test]
fn json_has_the_same_object_for_programs() {
    let told = built("philj", &["-DN=2"], "programs/phil.c").run(&["check", "--format", "json", "--", "./philj"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    let object: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!((&object["verdict"], &object["complete"]), (&"violated".into(), &true.into()));
    assert_eq!(object["properties"][0]["name"], "deadlock");
    assert_eq!(object["coverage"]["programs"]["memory_model"], "x86-TSO (store buffers make no difference)");
    assert_eq!(object["coverage"]["programs"]["commands"][0], "./philj");
}

#[test]
fn memory_is_that_of_x86_unless_asked_otherwise() {
    let folder = built("sleeper", &[], "programs/memory/sleeper.c");
    let check = |flags: &[&str]| folder.run(&[&["check"], flags, &["--", "./sleeper"]].concat());
    let stories = ["writes work, into its store buffer", "its write of waits leaves the store buffer"];
    says(&check(&[]), 1, &["error[deadlock]", stories[0], stories[1], "assumed  x86-TSO, with store buffers"]);
    says(&check(&["--memory", "sc"]), 0, &["holds: 6 of 6", "assumed  sequential consistency"]);
    let list = folder.run(&["ls", "--format", "json"]);
    assert!(list.out.contains("deadlock"), "{}", list.out);
    says(&folder.run(&["replay"]), 1, &["wait for ever"]);
    for wrong in ["arm", "tso:", "tso:0", "tso:1000", "tso:x"] {
        check(&["--memory", wrong]).refused(2, &["it is `sc`, `tso` or `tso:N`, with N from 1 to 128"]);
    }
}

#[test]
fn a_full_store_buffer_is_a_bound_that_the_report_names() {
    let folder = built("dekker", &["-DFENCE"], "programs/memory/dekker.c");
    says(&folder.run(&["check", "--memory", "tso:1", "--", "./dekker"]), 0, &["1 store of a thread", "--memory tso:N"]);
    let told = folder.run(&["check", "--", "./dekker"]);
    says(&told, 0, &["holds: 6 of 6", "exhaustive", "x86-TSO, with store buffers"]);
}

#[test]
fn a_program_that_cannot_be_started_is_told_with_a_next_step() {
    let folder = Folder::with("check-start", "plain", "hello\n");
    folder.run(&["check", "--", "./missing"]).refused(2, &["./missing", "No such file", "--root"]);
    folder.run(&["check", "--", "no-such-program"]).refused(2, &["no-such-program", "PATH", "./no-such-program"]);
    folder.run(&["check", "--", "./plain"]).refused(2, &["EACCES", "chmod +x"]);
    folder.run(&["check", "--", "/usr"]).refused(2, &["`/usr`: it is a directory"]);
    let mut mode = fs::metadata(folder.0.join("plain")).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(folder.0.join("plain"), mode).expect("its mode can be set");
    folder.run(&["check", "--", "./plain"]).refused(2, &["not an ELF file", "#!/bin/sh"]);
    for empty in [&["true", "+"][..], &["+", "true"], &["true", "+", "+", "true"], &[""]] {
        let words: Vec<&str> = ["check", "--"].into_iter().chain(empty.iter().copied()).collect();
        folder.run(&words).refused(2, &["a command is missing", "`+` stands between commands"]);
    }
    folder.run(&["check", "program"]).refused(2, &["allways check -- program", "allways init"]);
    folder.run(&["check"]).refused(4, &["allways check -- CMD"]);
}

#[test]
fn a_flag_that_means_nothing_is_refused_with_what_is_meant() {
    let folder = Folder::new("check-flags");
    folder.run(&["check", "--order", "dfs", "--", "true"]).refused(2, &["--order", "models"]);
    folder.run(&["check", "--check", "progress", "--", "true"]).refused(2, &["--check progress", "deadlock"]);
    folder.run(&["check", "--check", "never", "--", "true"]).refused(2, &["--never PROPOSITION", "deadlock"]);
    folder.run(&["check", "--check", "deadlok", "--", "true"]).refused(2, &["deadlok", "similar", "'deadlock'"]);
    folder.run(&["check", "--check", "bogus", "--", "true"]).refused(2, &["bogus", "deadlock"]);
}

#[test]
fn a_proposition_that_cannot_be_checked_is_shown_with_what_was_meant() {
    let folder = built("never", &[], "int count; int main(void) { return count; }\n");
    let never = |text: &str| folder.run(&["check", "--never", text, "--", "./never"]);
    never("exited(nevr) == 0").refused(2, &["there is no process `nevr`", "did you mean `never`?"]);
    never("conut == 1").refused(2, &["no global variable `conut`", "did you mean `count`?"]);
    never("exited(never) = 0").refused(2, &["write `==`"]);
    never("").refused(2, &["expected a question"]);
    says(&never("done := exited(never) == 0"), 1, &["`done` became true", "done means exited(never) == 0"]);
}

#[test]
fn what_is_not_there_inside_is_told_with_a_way_to_get_it() {
    let folder = Folder::with("check-outside", "words", "a word\n");
    let words = folder.0.join("words").display().to_string();
    let told = folder.run(&["check", "--", "bash", "-c", "exec 3<>/dev/tcp/10.1.2.3/80"]);
    says(&told, 1, &["error[exit]", "connect fd", "to 10.1.2.3:80 -> ENETUNREACH: programs reach each other only"]);
    let elsewhere = Folder::new("check-outside-elsewhere");
    let told = elsewhere.run(&["check", "--", "cat", &words]);
    says(&told, 1, &["error[exit]: cat ends with exit code 1", "is there, but programs do not see it: --root"]);
    says(&elsewhere.run(&["check", "--root", &words, "--", "cat", &words]), 0, &["holds"]);
    let read = "read line || exit 5";
    says(&folder.run(&["check", "--", "sh", "-c", read]), 1, &["exit code 5", "standard input is empty: --stdin FILE"]);
    says(&folder.run(&["check", "--stdin", "words", "--", "sh", "-c", read]), 0, &["holds"]);
    says(&folder.run(&["check", "--", "cat"]), 0, &["one schedule"]);
    let told = folder.run(&["check", "--", "perl", "-e", "syscall(246, 1, 2, 3)"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.err.contains("not modelled") && told.err.contains("doctor"), "{}", told.err);
    assert!(told.out.contains("unsupported") && !told.out.contains("holds"), "{}", told.out);
}

#[test]
fn nothing_is_guessed_behind_what_is_not_modelled() {
    let folder = Folder::new("check-unmodelled");
    let source = "#define _GNU_SOURCE\n#include <sys/mman.h>\nint main(void) { return mremap(mmap(0, 4096, 3, 0x22, -1, 0), 4096, 4096, 5) == MAP_FAILED ? 0 : 4; }\n";
    folder.compile("move", &["-g"], source);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        let told = folder.run(&[&["check", "--no-save"], more, &["--", "./move"]].concat());
        assert_eq!(told.code, Some(3), "{more:?}: {}{}", told.out, told.err);
        assert!(!told.out.contains("violated") && told.err.contains("MREMAP_DONTUNMAP"), "{}{}", told.out, told.err);
    }
}

#[test]
fn a_program_that_never_ends_or_takes_all_memory_is_told_with_what_to_do() {
    let folder = built("counts", &[], "volatile int x;\nint main(void) {\n    for (;;) x++;\n}\n");
    let told = folder.run(&["check", "--time", "1s", "--", "./counts"]);
    says(&told, 3, &["no run came to its end in 1 s", "inconclusive"]);
    let eats = "#include <stdlib.h>\n#include <string.h>\n\
        int main(void) { for (;;) { char *p = malloc(16 << 20); if (!p) return 3; memset(p, 1, 16 << 20); } }\n";
    let told = built("eats", &[], eats).run(&["check", "--mem", "200M", "--", "./eats"]);
    says(&told, 3, &["memory ran out", "--mem", "inconclusive"]);
}

#[test]
fn a_damaged_counterexample_is_refused_with_a_next_step() {
    let folder = Folder::with("check-damaged", "cx.json", "garbage");
    folder.run(&["replay", "cx.json"]).refused(2, &["not a counterexample", "check again"]);
    says(&folder.run(&["check", "--", "false"]), 1, &["error[exit]"]);
    let id = fs::read_to_string(folder.0.join(".allways/latest")).expect("it was saved");
    let text =
        fs::read_to_string(folder.0.join(format!(".allways/{}/counterexample.json", id.trim()))).expect("a file");
    fs::write(folder.0.join("cx.json"), &text[..text.len() / 2]).expect("a file");
    folder.run(&["replay", "cx.json"]).refused(2, &["ends in the middle", "check again"]);
    folder.run(&["replay", "zzzz"]).refused(2, &["no counterexample `zzzz`", "allways ls"]);
}

#[test]
fn a_search_that_is_stopped_says_what_is_not_covered() {
    let count = "for (;;) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }";
    let folder = built("grows", &[], &two("return 0;", count, count));
    let told = folder.run(&["check", "--time", "1s", "--", "./grows"]);
    says(&told, 3, &["not exhaustive: no run came to its end in 1 s"]);
    let told = folder.run(&["check", "--mem", "120M", "--", "./grows"]);
    says(&told, 3, &["memory ran out", "--mem", "`x` goes from 0 to", "inconclusive"]);
}

const SERVER: &str = "#include <arpa/inet.h>\n#include <string.h>\n#include <sys/socket.h>\n#include <unistd.h>\n\
    int main(int argc, char **argv) { int client = argc > 1 && !strcmp(argv[1], \"client\"), s = socket(AF_INET, SOCK_STREAM, 0);\n\
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };\n\
    if (client) return connect(s, (struct sockaddr *)&a, sizeof a) ? 1 : write(s, \"x\", 1) != 1;\n\
    bind(s, (struct sockaddr *)&a, sizeof a); listen(s, 4);\n\
    for (char c;;) { int t = accept(s, 0, 0); read(t, &c, 1); close(t); } }\n";

const SERVICES: &str = "[check.net.service.server]\ncommand = [\"./peer\"]\nhealthcheck = { test = \"listening:7000\" }\n\
    expected_final_state = \"running\"\n[check.net.service.client]\ncommand = [\"./peer\", \"client\"]\nreplicas = 2\n";

#[test]
fn services_start_when_what_they_depend_on_is_there() {
    let folder = built("peer", &[], SERVER);
    let write = |more: &str| fs::write(folder.0.join("allways.toml"), format!("{SERVICES}{more}")).expect("a file");
    write("");
    says(&folder.run(&["check", "net"]), 1, &["error[exit]", "exit code 1", "ECONNREFUSED"]);
    write("depends_on = { server = { condition = \"service_healthy\" } }\n");
    says(&folder.run(&["check", "net"]), 0, &["holds: 6 of 6 properties", "exhaustive"]);
    says(&folder.run(&["check"]), 0, &["holds"]);
    write("depends_on = { server = { condition = \"service_completed_successfully\" } }\n");
    let told = folder.run(&["check", "net", "--check", "deadlock"]);
    says(&told, 1, &["error[deadlock]", "client.1 is never started"]);
    let again = folder.run(&["replay"]);
    assert!(again.err.contains("the same failure in the same state"), "{}{}", again.out, again.err);
}

#[test]
fn a_service_that_follows_another_sees_what_it_did() {
    let folder = Folder::new("check-follows");
    let text = "[check.main]\nnever = [\"failed\"]\n[check.main.let]\nfailed = 'exited(reader) != 0'\n\
        [check.main.service.maker]\ncommand = \"touch made\"\n[check.main.service.reader]\ncommand = \"cat made\"\n";
    let write = |more: &str| fs::write(folder.0.join("allways.toml"), format!("{text}{more}")).expect("a file");
    write("");
    says(
        &folder.run(&["check", "main"]),
        1,
        &["error[never]: `failed`", "failed means exited(reader) != 0", "open \"made\" -> ENOENT"],
    );
    write("depends_on = { maker = { condition = \"service_completed_successfully\" } }\n");
    says(&folder.run(&["check", "main"]), 0, &["holds"]);
}

#[test]
fn the_file_says_how_to_search_and_the_command_line_wins() {
    let folder = Folder::with("check-how", "allways.toml", "");
    let write = |keys: &str| {
        let text = format!("[check.a]\n{keys}\n[check.a.service.s]\ncommand = [\"true\"]\n");
        fs::write(folder.0.join("allways.toml"), text).expect("a file");
    };
    write("engine = \"dpor\"\nreads = \"short\"\nwakes = \"longest\"\ntimeouts = 1");
    let told = folder.run(&["check", "a"]);
    says(
        &told,
        0,
        &["1 classes of schedules", "all but one byte", "wakes the one who waits longest", "at most 1 timeout"],
    );
    says(
        &folder.run(&["check", "a", "--engine", "graph", "--reads", "whole"]),
        0,
        &["one schedule", "reads and writes are never partial"],
    );
    write("preemptions = 2");
    says(&folder.run(&["check", "a"]), 0, &["2 preemptions"]);
    says(&folder.run(&["check", "a", "--engine", "dpor"]), 0, &["every class of schedules"]);
    write("engine = \"dpr\"");
    folder
        .run(&["check", "a"])
        .refused(2, &["line 2", "engine = \"dpr\"", "did you mean `dpor`?", "`graph`, `dpor`, `sample`"]);
    write("break = [\"nowhere\"]\nonly_breaks = true\nkeep_going = true");
    folder.run(&["check", "a"]).refused(2, &["`--break`", "nowhere"]);
    write("only_breaks = true");
    folder.run(&["check", "a"]).refused(2, &["`only_breaks` needs a `break`"]);
    write("preemption = 2");
    folder.run(&["check", "a"]).refused(2, &["did you mean `preemptions`?"]);
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line_and_what_was_meant() {
    let folder = Folder::with("check-toml", "allways.toml", "[check.a.service.s]\ncomand = [\"true\"]\n");
    folder.run(&["check", "a"]).refused(2, &["line 2", "did you mean `command`?"]);
    let write = |text: &str| fs::write(folder.0.join("allways.toml"), text).expect("a file");
    write("[check.alpha.service.s]\ncommand = [\"true\"]\n");
    folder.run(&["check", "alpa"]).refused(2, &["did you mean `alpha`?"]);
    says(&folder.run(&["check", "alpha"]), 0, &["holds"]);
    write("[check.a\n");
    folder.run(&["check", "a"]).refused(2, &["line 1"]);
    write("");
    folder.run(&["check"]).refused(2, &["has no check", "[check.NAME.service.PROGRAM]"]);
    write("[check.a.service.s]\ncommand = 3\n");
    folder.run(&["check", "a"]).refused(2, &["line 2", "a command is a list of words"]);
    fs::write(folder.0.join("allways.toml"), [0xff, 0xfe]).expect("a file");
    folder.run(&["check", "a"]).refused(2, &["UTF-8"]);
    write("[check.a.service.s]\ncommand = [\"true\"]\ndepends_on = [\"t\"]\n");
    folder.run(&["check", "a"]).refused(2, &["depends on `t`"]);
    folder.run(&["init"]).refused(2, &["there already"]);
    fs::remove_file(folder.0.join("allways.toml")).expect("it is there");
    assert_eq!(folder.run(&["init"]).code, Some(0));
    folder.run(&["check", "main"]).refused(2, &["./program", "No such file"]);
}
