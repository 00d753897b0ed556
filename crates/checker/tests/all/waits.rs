//! Who waits may be woken by anybody whose step its condition depends on: reduced searches wait for nobody else.

use crate::inside;
use crate::start;
use checker::{Engine, Options, search_by};
use explore::graph::{Limits, Mode};
use std::path::{Path, PathBuf};

/// A thread waits, then it looks at what another writes at any time; a third one wakes it.
const FRAME: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <fcntl.h>\n#include <linux/futex.h>\n#include <netinet/in.h>\n\
    #include <poll.h>\n#include <pthread.h>\n#include <sys/epoll.h>\n#include <sys/eventfd.h>\n#include <sys/file.h>\n#include <sys/msg.h>\n\
    #include <sys/sem.h>\n#include <sys/socket.h>\n#include <sys/syscall.h>\n#include <sys/uio.h>\n#include <unistd.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int x, in[2], out[2], pair[2], mail[2], locks[2], first, second;\n\
    static int event, epoll, sysv, messages; static struct sockaddr_in name; static socklen_t length = sizeof name; static char c;\n\
    static void set_up(void) { pipe(in); pipe(out); socketpair(AF_UNIX, SOCK_STREAM, 0, pair); event = eventfd(0, 0);\n\
    struct epoll_event e = { EPOLLIN }; epoll = epoll_create1(0); epoll_ctl(epoll, EPOLL_CTL_ADD, in[0], &e);\n\
    sysv = semget(IPC_PRIVATE, 1, 0600); messages = msgget(IPC_PRIVATE, 0600);\n\
    for (int i = 0; i < 2; i++) locks[i] = open(\"lock\", O_RDWR | O_CREAT, 0600), mail[i] = socket(AF_INET, SOCK_DGRAM, 0);\n\
    flock(locks[0], LOCK_EX); name.sin_family = AF_INET; name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n\
    bind(mail[0], (void *)&name, sizeof name); getsockname(mail[0], (void *)&name, &length); }\n\
    static void *waits(void *p) { WAIT; pthread_mutex_lock(&m); assert(x); pthread_mutex_unlock(&m); return p; }\n\
    static void *works(void *p) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return p; }\n\
    static void *wakes(void *p) { WAKE; return p; }\n\
    int main(void) { pthread_t t[3]; void *(*all[])(void *) = { waits, works, wakes }; set_up();\n\
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, all[i], 0);\n\
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }\n";

const WRITE: &str = "write(in[1], \"a\", 1)";
const POST: &str = "sendto(mail[1], \"a\", 1, 0, (void *)&name, sizeof name)";
const FUTEX: &str = "syscall(SYS_futex, &first, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0)";
const MOVE: &str = "__atomic_store_n(&first, 1, 5); syscall(SYS_futex, &first, FUTEX_REQUEUE_PRIVATE, 0, 1, &second, 0);\n\
    syscall(SYS_futex, &second, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0)";

/// What a thread waits for, how it waits, and how it is woken.
const WAITS: &[[&str; 3]] = &[
    ["pipe", "read(in[0], &c, 1)", WRITE],
    ["splice", "splice(in[0], 0, out[1], 0, 1, 0)", WRITE],
    ["preadv2", "struct iovec v = { &c, 1 }; preadv2(in[0], &v, 1, -1, 0)", WRITE],
    ["poll", "poll(&(struct pollfd){ in[0], POLLIN }, 1, -1)", WRITE],
    ["epoll", "struct epoll_event e; epoll_wait(epoll, &e, 1, -1)", WRITE],
    ["epoll_pwait2", "struct epoll_event e; syscall(SYS_epoll_pwait2, epoll, &e, 1, 0, 0, 8)", WRITE],
    ["stream", "recv(pair[0], &c, 1, 0)", "send(pair[1], \"a\", 1, 0)"],
    ["hangup", "poll(&(struct pollfd){ pair[0], POLLIN }, 1, -1)", "close(pair[1])"],
    ["datagram", "recv(mail[0], &c, 1, 0)", POST],
    ["mail", "poll(&(struct pollfd){ mail[0], POLLIN }, 1, -1)", POST],
    ["event", "eventfd_t v; eventfd_read(event, &v)", "eventfd_write(event, 1)"],
    ["flock", "flock(locks[1], LOCK_EX)", "flock(locks[0], LOCK_UN)"],
    // A call keeps what it was given, and closes it at its end if nobody else refers to it.
    ["kept", "read(in[0], &c, 1)", "close(in[0]); close(in[1])"],
    [
        "last",
        "recv(pair[0], &c, 1, 0)",
        "static char b[1 << 20]; close(pair[0]); send(pair[1], b, sizeof b, MSG_NOSIGNAL)",
    ],
    ["unlocked", "flock(locks[1], LOCK_EX)", "close(locks[0])"],
    ["semaphore", "semop(sysv, &(struct sembuf){ 0, -1, 0 }, 1)", "semop(sysv, &(struct sembuf){ 0, 1, 0 }, 1)"],
    ["message", "long b[2]; msgrcv(messages, b, 8, 0, 0)", "msgsnd(messages, &(long[2]){ 1, 1 }, 8, 0)"],
    ["requeue", FUTEX, MOVE],
];

fn built(name: &str, wait: &str, wake: &str) -> PathBuf {
    let folder = inside::folder(&format!("waits-{name}"));
    std::fs::write(folder.join("program.c"), FRAME.replace("WAIT", wait).replace("WAKE", wake))
        .expect("it can be written");
    let mut gcc = std::process::Command::new("gcc");
    gcc.current_dir(&folder).args(["-g", "-O1", "-w", "-pthread", "-o", "program", "program.c"]);
    assert!(gcc.status().expect("gcc runs").success(), "{name} does not compile");
    folder
}

/// How many failures a search finds.
fn found(folder: &Path, engine: &Engine) -> usize {
    let mut programs = start::search_of(folder, Options::default());
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut stop };
    let outcome = search_by(engine, &mut programs, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none(), "{folder:?}: {:?}", programs.refusal);
    outcome.report.found.len()
}

#[test]
fn reduced_searches_know_who_can_end_a_wait() {
    for [name, wait, wake] in WAITS {
        let folder = built(name, wait, wake);
        let graph = |mode| found(&folder, &Engine::Graph { mode, workers: 1, alone: 0 });
        assert_eq!(graph(Mode::Full), 1, "{name}: it may be woken before the other has done its work");
        assert_eq!(graph(Mode::Reduced), 1, "{name}");
        assert_eq!(found(&folder, &Engine::Classes { depth: 10_000 }), 1, "{name}");
    }
}
