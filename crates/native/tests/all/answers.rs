//! Answers are whole, and the same in every instance.

use crate::server::{MAIN, Server, ask, open, rest};
use native::End;

/// Echoes.
const ECHO: &str = "static void serve(int fd, char *line) { answer(fd, line); }";

#[test]
fn connections_are_told_apart_and_share_an_order() {
    let count = "static int n; static void serve(int fd, char *line) { char t[32]; sprintf(t, \"%s%d \", line, ++n); answer(fd, t); }";
    let server = Server::new("order", &format!("{count}{MAIN}"));
    let mut instance = server.start();
    let (one, two) = (open(&mut instance), open(&mut instance));
    assert_eq!(ask(&mut instance, one, "a"), "a1 ");
    assert_eq!(ask(&mut instance, two, "b"), "b2 ");
    assert_eq!(ask(&mut instance, one, "c"), "a1 c3 ");
    assert!(!instance.has_spoken());
}

#[test]
fn ends_come_in_order_and_resets_as_resets() {
    let code =
        "static void serve(int fd, char *line) { if (*line == 'q') { answer(fd, \"bye\"); shutdown(fd, SHUT_RDWR); }
        if (*line == 'r') { struct linger l = {1, 0}; setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
        int other = open(\"/dev/null\", 0); dup2(other, fd); } }";
    let server = Server::new("ends", &format!("#include <fcntl.h>\n{code}{MAIN}"));
    let mut instance = server.start();
    let all: Vec<usize> = (0..4).map(|_| open(&mut instance)).collect();
    assert_eq!(ask(&mut instance, all[0], "q"), "bye");
    assert_eq!(instance.stream(all[0]).end, Some(End::Finished));
    ask(&mut instance, all[1], "r");
    assert_eq!(instance.stream(all[1]).end, Some(End::Reset));
    instance.finish(all[2]);
    rest(&mut instance);
    assert_eq!(instance.stream(all[2]).end, Some(End::Finished), "it closes when we have finished");
    instance.reset(all[3]);
    rest(&mut instance);
    assert_eq!(instance.stream(all[3]).end, None);
    let last = open(&mut instance);
    assert_eq!(ask(&mut instance, last, "q"), "bye", "it goes on after a reset");
}

#[test]
fn what_is_sent_to_a_closed_connection_is_answered_by_a_reset() {
    let code = "static void serve(int fd, char *line) { int other = open(\"/dev/null\", 0); dup2(other, fd); }";
    let server = Server::new("closed", &format!("#include <fcntl.h>\n{code}{MAIN}"));
    for _ in 0..10 {
        let mut instance = server.start();
        let connection = open(&mut instance);
        ask(&mut instance, connection, "a");
        assert_eq!(instance.stream(connection).end, Some(End::Finished));
        ask(&mut instance, connection, "b");
        assert_eq!(instance.stream(connection).end, Some(End::Reset));
    }
}

#[test]
fn a_server_that_serves_one_after_the_other_is_at_rest_with_unread_input() {
    let code = "static void serve(int fd, char *line) {} int main(void) { int l = hear(7000); for (;;) { int fd = accept(l, 0, 0);
        char c; while (read(fd, &c, 1) == 1) write(fd, &c, 1); close(fd); } }";
    let server = Server::new("iterative", code);
    let mut instance = server.start();
    let (one, two) = (open(&mut instance), open(&mut instance));
    assert_eq!(ask(&mut instance, two, "b"), "");
    assert_eq!(ask(&mut instance, one, "a"), "a");
    instance.finish(one);
    rest(&mut instance);
    assert_eq!(instance.stream(two).bytes, b"b", "it is its turn now");
}

#[test]
fn answers_wait_for_threads_processes_and_sleeps() {
    let code = "static int fd_; static char l_[64];
        static void *late(void *t) { usleep(20000); answer(fd_, l_); return 0; }
        static void serve(int fd, char *line) { fd_ = fd; strcpy(l_, line); pthread_t t; int s;
            switch (*line) {
            case 't': pthread_create(&t, 0, late, 0); break;
            case 'p': if (!fork()) { usleep(20000); answer(fd, line); _exit(0); } break;
            case 's': usleep(20000); answer(fd, line); break;
            case 'x': if (!fork()) { dup2(fd, 1); execlp(\"sh\", \"sh\", \"-c\", \"sleep 0.05; printf x\", NULL); } wait(&s); break;
            } }";
    let server = Server::new("late", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let connection = open(&mut instance);
    for (index, text) in ["t", "p", "s", "x"].into_iter().enumerate() {
        assert_eq!(ask(&mut instance, connection, text), "tpsx"[..=index]);
    }
}

#[test]
fn large_messages_go_both_ways() {
    let server = Server::new("large", &format!("{ECHO}{MAIN}"));
    let mut instance = server.start();
    let connection = open(&mut instance);
    let text = "0123456789abcdef".repeat(1 << 16);
    assert_eq!(ask(&mut instance, connection, &text), text);
}

#[test]
fn time_and_randomness_and_addresses_are_the_same_in_every_instance() {
    let code = "static void serve(int fd, char *line) { char t[512]; struct timespec a, b; struct timeval v; unsigned long r[2];
        clock_gettime(CLOCK_REALTIME, &a); clock_gettime(CLOCK_MONOTONIC, &b); gettimeofday(&v, 0); getrandom(r, sizeof r, 0);
        sprintf(t, \"%ld.%ld %ld.%ld %ld.%ld %ld %lx%lx %p %p %d\", a.tv_sec, a.tv_nsec, b.tv_sec, b.tv_nsec, v.tv_sec, v.tv_usec,
            time(0), r[0], r[1], (void *)t, malloc(10), getpid()); answer(fd, t); }";
    let server = Server::new("same", &format!("{code}{MAIN}"));
    let answers: Vec<(String, String)> = (0..3)
        .map(|_| {
            let mut instance = server.start();
            assert!(instance.has_own_clock(), "the system has seccomp notification");
            let connection = open(&mut instance);
            let first = ask(&mut instance, connection, "a");
            (first, ask(&mut instance, connection, "b"))
        })
        .collect();
    assert!(answers[0].0.starts_with("2051222400.0 "), "{answers:?}");
    assert!(answers.iter().all(|pair| *pair == answers[0]), "{answers:#?}");
}

#[test]
fn programs_that_are_started_by_others_see_the_same_time() {
    let code =
        "static void serve(int fd, char *line) { char t[64]; struct timespec a; clock_gettime(CLOCK_REALTIME, &a);
        sprintf(t, \"%ld.%ld \", a.tv_sec, a.tv_nsec); answer(fd, t); }";
    let server = Server::new("wrapped", &format!("{code}{MAIN}"));
    let words = ["sh", "-c", "date; ./server; true"];
    let spec = native::Spec { command: words.map(|word| word.as_bytes().to_vec()).to_vec(), ..server.spec() };
    let mut instance = crate::server::start(&spec).expect("it starts");
    let connection = open(&mut instance);
    assert_eq!(ask(&mut instance, connection, "a"), "2051222400.0 ");
    assert!(instance.last_words().contains("2035"), "{}", instance.last_words());
}

#[test]
fn the_real_clock_passes() {
    let code = "static void serve(int fd, char *line) { char t[64]; sprintf(t, \"%ld\", time(0)); answer(fd, t); }";
    let server = Server::new("real", &format!("{code}{MAIN}"));
    let spec = native::Spec { clock: native::Clock::Real, ..server.spec() };
    let mut instance = crate::server::start(&spec).expect("it starts");
    let connection = open(&mut instance);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let told: u64 = ask(&mut instance, connection, "a").parse().expect("a number");
    assert!(told.abs_diff(now) < 1000, "{told} {now}");
}

#[test]
fn what_is_said_at_rest_is_noticed() {
    let code = "static int fd_; static void *late(void *t) { int p[2]; pipe(p); struct pollfd one = {p[0], POLLIN};
            for (;;) { poll(&one, 1, 100); if (fd_) answer(fd_, \"!\"); } }
        static void serve(int fd, char *line) { fd_ = fd; }
        int main(void) { pthread_t t; pthread_create(&t, 0, late, 0); loop(hear(7000)); }";
    let server = Server::new("uncalled", code);
    let mut instance = server.start();
    let connection = open(&mut instance);
    ask(&mut instance, connection, "a");
    let begun = std::time::Instant::now();
    while !instance.has_spoken() {
        assert!(begun.elapsed().as_secs() < 60, "it speaks ten times a second");
    }
}
