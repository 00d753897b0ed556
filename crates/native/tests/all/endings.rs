//! Servers that crash, hang, never listen, or cannot be started.

use crate::server::{MAIN, Server, ask, open, start};
use native::{End, Problem, Spec, Status};
use std::time::Duration;

const SIGSEGV: i32 = 11;

#[test]
fn a_crash_in_the_middle_of_an_answer_ends_the_stream_there() {
    let code = "static void serve(int fd, char *line) { answer(fd, \"half of it\"); *(volatile int *)0 = 1; }";
    let server = Server::new("crash", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let (one, two) = (open(&mut instance), open(&mut instance));
    assert_eq!(ask(&mut instance, one, "a"), "half of it");
    assert_eq!(instance.stream(one).end, Some(End::Finished));
    assert_eq!(instance.stream(two).end, Some(End::Finished));
    assert_eq!(instance.status(), Some(Status::Signal(SIGSEGV)));
    let three = open(&mut instance);
    assert_eq!(instance.stream(three).end, Some(End::Reset), "nobody listens any more");
}

#[test]
fn an_abort_is_told_by_its_signal() {
    let code = "static void serve(int fd, char *line) { abort(); }";
    let server = Server::new("abort", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    ask(&mut instance, one, "a");
    assert_eq!(instance.status().map(|status| status.to_string()), Some("ended by SIGABRT".to_owned()));
}

#[test]
fn a_server_that_spins_is_given_up() {
    let code = "static void serve(int fd, char *line) { for (volatile int i = 0;; i++); }";
    let server = Server::new("spin", &format!("{code}{MAIN}"));
    let spec = Spec { patience: Duration::from_millis(700), ..server.spec() };
    // On a busy machine it may take longer to listen, too.
    let mut instance = (0..20).find_map(|_| start(&spec).ok()).expect("it listens at some time");
    let one = open(&mut instance);
    instance.send(one, b"a");
    let told = instance.rest(&|| false).expect_err("it spins").to_string();
    assert_eq!(told, "neither answered nor came to rest in 700 ms: thread 1 runs");
    instance.send(one, b"a");
    assert_eq!(instance.rest(&|| true), Err(Problem::Stopped));
}

#[test]
fn who_never_listens_is_told_with_its_last_words() {
    let table = [
        (
            "int main(void) { puts(\"waiting for Godot\"); fflush(stdout); pause(); }",
            "did not listen on port 7000 in 500 ms; its last words: waiting for Godot",
        ),
        (
            "int main(void) { fprintf(stderr, \"no\\nconfiguration\\n\"); return 3; }",
            "did not listen on port 7000 and ended with status 3; its last words: no / configuration",
        ),
        ("int main(void) { hear(7001); pause(); }", "did not listen on port 7000 in 500 ms; it printed nothing"),
        ("int main(void) { abort(); }", "did not listen on port 7000 and ended by SIGABRT; it printed nothing"),
    ];
    for (index, (main, expected)) in table.into_iter().enumerate() {
        let server =
            Server::new(&format!("mute{index}"), &format!("static void serve(int fd, char *line) {{}} {main}"));
        let patience = Duration::from_millis(if expected.contains("500 ms") { 500 } else { 60_000 });
        let told = start(&Spec { patience, ..server.spec() }).err().expect("it does not listen");
        assert_eq!(told.to_string(), expected);
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let server = Server::new("absent", &format!("static void serve(int fd, char *line) {{}} {MAIN}"));
    for (command, expected) in [
        ("./nowhere", "cannot be started: No such file or directory (os error 2)"),
        ("no-such-program", "cannot be started: no program `no-such-program` in PATH"),
        ("./server.c", "cannot be started: Permission denied (os error 13)"),
    ] {
        let spec = Spec { command: vec![command.as_bytes().to_vec()], ..server.spec() };
        assert_eq!(start(&spec).err().map(|problem| problem.to_string()).as_deref(), Some(expected));
    }
}

#[test]
fn a_server_that_prints_much_is_not_held_up() {
    let code = "static void serve(int fd, char *line) { for (int i = 0; i < 50000; i++) puts(\"noise\"); fflush(stdout); answer(fd, \"done\"); }";
    let server = Server::new("noise", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "a"), "done");
    assert_eq!(instance.last_words(), "noise / noise / noise / noise");
}
