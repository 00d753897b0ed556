//! `allways run` with a peer: nothing is searched, and bytes pass.

use crate::folder::Folder;

const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) return 3;
    for (int i = 0; i < 3; i++) {
        char answer;
        if (write(fd, "x", 1) != 1 || read(fd, &answer, 1) != 1) return 4;
        putchar(answer);
    }
    return 5;
}
"#;

#[test]
fn a_run_passes_bytes_to_its_peer_and_ends_with_the_program() {
    let folder = Folder::new("peers-run");
    folder.compile("server", &[], crate::peers::SERVER);
    folder.compile("client", &[], CLIENT);
    let told = folder.run(&["run", "--peer", "count:7000=./server", "--", "./client"]);
    assert_eq!((told.code, told.out.as_str()), (Some(5), "123"), "{}", told.err);
}

#[test]
fn a_run_passes_bytes_to_a_native_peer() {
    let folder = Folder::new("peers-run-native");
    folder.compile("server", &[], crate::peers::SERVER);
    folder.compile("client", &[], CLIENT);
    let run =
        |more: &[&str]| folder.run(&[&["run"], more, &["--peer", "count:7000=./server", "--", "./client"]].concat());
    let told = run(&["--outside", "native"]);
    assert_eq!((told.code, told.out.as_str()), (Some(5), "123"), "{}", told.err);
    folder.compile("blocks", &["-w"], "programs/peers/blocks.c");
    let peer = "s:7000=./blocks serve 1000 7000";
    let told = folder.run(&[
        "run",
        "--outside",
        "native",
        "--peer",
        peer,
        "--",
        "./blocks",
        "send",
        "3000000",
        "1000",
        "7000",
    ]);
    assert_eq!((told.code, told.out.as_str()), (Some(0), ""), "{}", told.err);
    let told = folder.run(&["run", "--outside", "native", "--peer", "s:7000=no-such-server", "--", "./client"]);
    told.refused(2, &["no program `no-such-server` in PATH", "= help: give its path"]);
}

/// Answers 2 MB to each byte; a client that closes early, and one that gets a reset.
const LONG: &str = r#"
import socket
s = socket.create_server(("127.0.0.1", 7000))
while True:
    c, _ = s.accept()
    try:
        while c.recv(1): c.sendall(b"0123456789abcdef" * (1 << 17))
    except OSError: pass
    c.close()
"#;

const READER: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int open_one(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "x", 1) != 1) _exit(3);
    return fd;
}
int main(void) {
    static char all[1 << 16];
    long total = 0, got;
    close(open_one());
    int fd = open_one();
    for (; total < 2 << 20; total += got) {
        if ((got = read(fd, all, sizeof all)) <= 0) return 4;
        for (long i = 0; i < got; i++) if (all[i] != "0123456789abcdef"[(total + i) % 16]) return 5;
    }
    shutdown(fd, SHUT_WR);
    if (read(fd, all, 1) != 0) return 6;
    printf("%ld\n", total);
    return 0;
}
"#;

#[test]
fn long_answers_of_a_native_peer_pass_and_ends_too() {
    let folder = Folder::with("peers-run-long", "server.py", LONG);
    folder.compile("client", &["-w"], READER);
    let peer = "s:7000=python3 server.py";
    let told = folder.run(&["run", "--outside", "native", "--peer", peer, "--", "./client"]);
    assert_eq!((told.code, told.out.as_str()), (Some(0), "2097152\n"), "{}", told.err);
}

#[test]
fn a_run_without_its_peer_is_refused_a_connection_and_mistakes_are_named() {
    let folder = Folder::new("peers-run-wrong");
    folder.compile("client", &[], CLIENT);
    assert_eq!(folder.run(&["run", "--", "./client"]).code, Some(3));
    let told = folder.run(&["run", "--peer", "count=./server", "--", "./client"]);
    told.refused(2, &["is no peer"]);
    let told = folder.run(&["run", "--peer", "count:7000=./server", "--", "./client"]);
    told.refused(2, &["cannot run `./server`"]);
}
