//! Servers that sleep, and servers that look from time to time whether there is something to do.

use crate::server::{MAIN, Server, ask, open, start};
use native::Spec;
use std::time::{Duration, Instant};

/// Serves one connection after the other, byte by byte.
const ONE_BY_ONE: &str =
    "static void serve(int fd, char *line) {} static void talk(int fd) { char c; while (read(fd, &c, 1) == 1) {
    BEFORE; write(fd, &c, 1); } close(fd); }";

#[test]
fn a_server_that_sleeps_before_it_accepts_is_waited_for() {
    for (name, sleep) in [
        ("accepts-usleep", "usleep(50000)"),
        ("accepts-poll", "poll(0, 0, 50)"),
        ("accepts-select", "{ struct timeval t = {0, 50000}; select(0, 0, 0, 0, &t); }"),
    ] {
        let main = format!("int main(void) {{ int l = hear(7000); for (;;) {{ {sleep}; talk(accept(l, 0, 0)); }} }}");
        let server = Server::new(name, &format!("#define BEFORE\n#include <sys/select.h>\n{ONE_BY_ONE}{main}"));
        let mut instance = server.start();
        let one = open(&mut instance);
        assert_eq!(ask(&mut instance, one, "ab"), "ab", "{name}");
    }
}

#[test]
fn sleeps_take_no_time_and_clocks_pass_with_them() {
    let code = "static void serve(int fd, char *line) { char t[64]; struct timespec a, b, until;
        clock_gettime(CLOCK_MONOTONIC, &a); sleep(3); clock_gettime(CLOCK_MONOTONIC, &until); until.tv_sec += 4;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
        clock_gettime(CLOCK_MONOTONIC, &b); sprintf(t, \"%ld \", b.tv_sec - a.tv_sec); answer(fd, t); }";
    let server = Server::new("slow", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    let begun = Instant::now();
    assert_eq!(ask(&mut instance, one, "a"), "7 ");
    assert_eq!(ask(&mut instance, one, "a"), "7 7 ");
    assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_waits_for_a_time_with_short_sleeps_comes_to_it() {
    let code = "static void serve(int fd, char *line) { struct timespec a, b; clock_gettime(CLOCK_REALTIME, &a); b = a;
        while (b.tv_sec < a.tv_sec + 2) { usleep(7000); clock_gettime(CLOCK_REALTIME, &b); } answer(fd, line); }";
    let server = Server::new("deadline", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "a"), "a");
}

/// Looks every 10 ms for what there is, one byte at a time.
const POLLER: &str = "static void serve(int fd, char *line) {} int main(void) {
    int l = hear(7000), all[8], n = 0; fcntl(l, F_SETFL, O_NONBLOCK);
    for (;;) { SLEEP; int fd = accept(l, 0, 0); if (fd >= 0) { fcntl(fd, F_SETFL, O_NONBLOCK); all[n++] = fd; }
        for (int i = 0; i < n; i++) { char c; if (read(all[i], &c, 1) == 1) write(all[i], &c, 1); } } }";

#[test]
fn a_server_that_looks_now_and_then_reads_all_before_it_is_at_rest() {
    for (name, sleep) in [("poller-usleep", "usleep(10000)"), ("poller-poll", "poll(0, 0, 10)")] {
        let server = Server::new(name, &format!("#include <fcntl.h>\n#define SLEEP {sleep}\n{POLLER}"));
        let mut instance = server.start();
        let (one, two) = (open(&mut instance), open(&mut instance));
        assert_eq!(ask(&mut instance, one, "abc"), "abc", "{name}");
        assert_eq!(ask(&mut instance, two, "d"), "d", "{name}");
        assert!(!instance.has_spoken());
    }
}

#[test]
fn a_server_that_polls_its_connections_with_a_timeout_answers() {
    let main =
        "int main(void) { int l = hear(7000), fd = -1; for (;;) { struct pollfd p[2] = {{l, POLLIN}, {fd, POLLIN}};
        if (!poll(p, 2, 10)) continue; char c; if (p[0].revents) fd = accept(l, 0, 0);
        if (p[1].revents && read(fd, &c, 1) == 1) write(fd, &c, 1); } }";
    let server = Server::new("polls", &format!("static void serve(int fd, char *line) {{}}{main}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "abc"), "abc");
}

#[test]
fn jobs_that_threads_find_between_sleeps_are_done() {
    // From the reader to the first worker, from that to the second: the one that is woken first finds nothing yet.
    let code = "static volatile int first, second, fd_;
        static void *one(void *t) { for (;;) { usleep(3000); if (first) { second = first; first = 0; } } }
        static void *two(void *t) { for (;;) { usleep(1000); if (second) { char c = second; second = 0; write(fd_, &c, 1); } } }
        static void serve(int fd, char *line) { fd_ = fd; first = *line; }
        int main(void) { pthread_t t; int l = hear(7000); pthread_create(&t, 0, two, 0); pthread_create(&t, 0, one, 0); loop(l); }";
    let server = Server::new("jobs", code);
    let mut instance = server.start();
    let one = open(&mut instance);
    for (text, all) in [("a", "a"), ("b", "ab"), ("c", "abc")] {
        assert_eq!(ask(&mut instance, one, text), all);
    }
}

#[test]
fn a_signal_ends_a_sleep() {
    let code = "static volatile int ends; static void child(int s) { ends++; }
        static void serve(int fd, char *line) { char t[32]; struct timespec left = {0, 0}, time = {9, 0}; signal(SIGCHLD, child);
            if (!fork()) _exit(0); int r = nanosleep(&time, &left); wait(0); sprintf(t, \"%d %d %ld\", r, ends, (long)left.tv_sec); answer(fd, t); }";
    let server = Server::new("signal", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "a"), "-1 1 9");
}

#[test]
fn a_server_that_sleeps_for_ever_is_given_up() {
    for (name, code) in [
        ("ever-long", "for (;;) sleep(3600);"),
        ("ever-short", "for (;;) usleep(10000);"),
        ("ever-talks", "for (;;) { usleep(10000); answer(fd, \"x\"); }"),
    ] {
        let server = Server::new(name, &format!("static void serve(int fd, char *line) {{ {code} }}{MAIN}"));
        let spec = Spec { patience: Duration::from_secs(2), ..server.spec() };
        let mut instance = (0..20).find_map(|_| start(&spec).ok()).expect("it listens at some time");
        let one = open(&mut instance);
        instance.send(one, b"a");
        let told = instance.rest(&|| false).expect_err("it sleeps").to_string();
        assert!(told.starts_with("neither answered nor came to rest in 2 s: "), "{name}: {told}");
        assert!(told.contains("sleeps"), "{name}: {told}");
    }
}

#[test]
fn a_server_that_sleeps_before_it_listens_is_waited_for() {
    let server = Server::new(
        "late-start",
        "static void serve(int fd, char *line) {} int main(void) { sleep(5); loop(hear(7000)); }",
    );
    let begun = Instant::now();
    let spec = Spec { patience: Duration::from_secs(30), ..server.spec() };
    assert!(start(&spec).is_ok());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_server_in_python_that_sleeps_answers() {
    let server = Server::new("python", &format!("static void serve(int fd, char *line) {{}}{MAIN}"));
    let text = "import socket, time\ns = socket.create_server(('127.0.0.1', 7000))\n\
        while True:\n    time.sleep(0.05)\n    c, _ = s.accept()\n    while True:\n        d = c.recv(10)\n\
        \x20       if not d: break\n        time.sleep(0.2)\n        c.sendall(d.upper())\n";
    std::fs::write(server.0.join("server.py"), text).expect("can write");
    let words = ["/usr/bin/env", "python3", "server.py"];
    let environment = vec![b"PATH=/usr/local/bin:/usr/bin:/bin".to_vec()];
    let spec = Spec { command: words.map(|word| word.as_bytes().to_vec()).to_vec(), environment, ..server.spec() };
    let mut instance = start(&spec).unwrap_or_else(|problem| panic!("it {problem}"));
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "ab"), "AB");
}
