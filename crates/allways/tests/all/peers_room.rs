//! Answers that are longer than the buffer of who receives them.

use crate::folder::Folder;

/// Answers each byte with 20,000, and closes.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
static char answer[20000];
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    for (int i = 0; i < sizeof answer; i++) answer[i] = i * 7 / 3;
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        char byte;
        int fd = accept(listener, 0, 0);
        if (read(fd, &byte, 1) == 1 && write(fd, answer, sizeof answer) != sizeof answer) return 2;
        close(fd);
    }
}
"#;

/// Reads the answer; another thread looks at how much of it waits.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
static char answer[65536];
static int fd, waits;
static void *look(void *nothing) {
    ioctl(fd, FIONREAD, &waits);
    return nothing;
}
int main(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    int small = 4096, limit, reads = 0, done = 0;
    socklen_t length = sizeof limit;
    pthread_t other;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &limit, &length);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "x", 1) != 1) _exit(3);
    pthread_create(&other, 0, look, 0);
    for (int got; (got = read(fd, answer + done, sizeof answer - done)) > 0; done += got, reads++)
        assert(got <= limit);
    pthread_join(other, 0);
    assert(done == 20000 && reads > 1 && waits <= limit);
    for (int i = 0; i < done; i++) assert(answer[i] == (char)(i * 7 / 3));
#ifdef LOOKS
    assert(waits != WAITS);
#endif
    return 0;
}
"#;

fn built(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::new(name);
    folder.compile("server", &[], SERVER);
    folder.compile("client", flags, CLIENT);
    folder
}

const ENGINES: [&[&str]; 5] = [&[], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]];

#[test]
fn a_long_answer_comes_in_pieces_that_fit_and_then_the_end() {
    let folder = built("peers-room", &[]);
    for more in ENGINES {
        let start = ["check", "--no-save", "--check", "deadlock,assert,exit", "--peer", "long:7000=./server"];
        let told = folder.run(&[&start, more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn every_engine_sees_an_empty_and_a_full_buffer_between_the_pieces() {
    for waits in ["0", "limit"] {
        let folder = built(&format!("peers-room-{waits}"), &["-DLOOKS", &format!("-DWAITS={waits}")]);
        for more in ENGINES {
            let start = ["check", "--no-save", "--check", "assert", "--peer", "long:7000=./server"];
            let told = folder.run(&[&start, more, &["--", "./client"]].concat());
            assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
            assert!(told.out.contains("waits != "), "{more:?}: {}", told.out);
        }
    }
}
