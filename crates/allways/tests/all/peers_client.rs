//! Peers that connect to the program.

use crate::folder::Folder;
use std::fs;

/// Takes two connections, each with a thread, and tells everybody how many came before, and what it was sent.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static char last;
static void *serve(void *connection) {
    int fd = (int)(long)connection;
    char word[2];
    if (read(fd, &word[1], 1) != 1) _exit(3);
    LOCK
    word[0] = '0' + count;
    PAUSE
    count = word[0] - '0' + 1;
    last = word[1];
    UNLOCK
    if (write(fd, word, 2) != 2) _exit(4);
    close(fd);
    return 0;
}
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    pthread_t threads[2];
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 2)) return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, serve, (void *)(long)accept(listener, 0, 0));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count == 2);
#ifdef LAST
    assert(last != LAST);
#endif
    return 0;
}
"#;

/// Says its letter, and ends with what it was told.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **words) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    char told[2];
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) return 90;
    usleep(1000);
    if (write(fd, words[1], 1) != 1) return 91;
    if (recv(fd, told, 2, MSG_WAITALL) != 2 || told[1] != *words[1]) return 92;
    return told[0] - '0';
}
"#;

const SECTIONS: &str = "[check.chat.service.server]\ncommand = \"./server\"\n\
    [check.chat.peer.a]\ncommand = \"./client a\"\nconnects = 7000\n\
    [check.chat.peer.b]\ncommand = \"./client b\"\nconnects = 7000\n";

const LOCKED: [&str; 3] =
    ["-DLOCK=pthread_mutex_lock(&lock);", "-DUNLOCK=pthread_mutex_unlock(&lock);", "-DPAUSE=usleep(1);"];
const UNLOCKED: [&str; 3] = ["-DLOCK=", "-DUNLOCK=", "-DPAUSE=sched_yield();"];
const ENGINES: [&[&str]; 7] = [
    &[],
    &["-j2"],
    &["--engine", "dpor"],
    &["--reduction", "off"],
    &["--audit=1"],
    &["--outside", "native"],
    &["--outside", "native", "--engine", "dpor", "-j2"],
];

fn built(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::with(name, "allways.toml", SECTIONS);
    folder.compile("server", &[&["-include", "sched.h"], flags].concat(), SERVER);
    folder.compile("client", &[], CLIENT);
    folder
}

#[test]
fn a_server_holds_for_two_clients_in_every_order_and_their_ends_are_told() {
    let folder = built("peers-client", &LOCKED);
    for more in ENGINES {
        let told = folder.run(&[&["check", "--no-save"], more].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        let place = if more.contains(&"native") { "native, " } else { "a world of its own, " };
        for name in ["a", "b"] {
            let ends = told.out.split(&format!("recorded: {name} ({place}")).nth(1).expect("the peer is named");
            let ends = ends.split(')').next().expect("it ends").replace('\n', " ");
            assert!(ends.contains("ends with exit code 0, ends with exit code 1"), "{more:?}: {}", told.out);
        }
    }
}

#[test]
fn every_client_can_come_last() {
    for last in ["'a'", "'b'"] {
        let last_flag = format!("-DLAST={last}");
        let flags = [&LOCKED[..], &[&last_flag]].concat();
        let folder = built(&format!("peers-client-last-{}", &last[1..2]), &flags);
        for more in ENGINES {
            let told = folder.run(&[&["check", "--no-save"], more].concat());
            assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
            assert!(told.out.contains("last != ") && told.out.contains("connects to port 7000"), "{}", told.out);
            assert!(told.out.contains("sends \"") && !told.out.contains("answers \""), "{}", told.out);
        }
    }
}

#[test]
fn a_race_of_a_server_is_found_with_client_peers_and_replays_without_them() {
    let folder = built("peers-client-race", &UNLOCKED);
    for more in ENGINES {
        let told = folder.run(&[&["check", "--check", "assert"], more].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("count == 2"), "{more:?}: {}", told.out);
    }
    fs::remove_file(folder.0.join("client")).expect("it was there");
    let told = folder.run(&["replay"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.err.contains("the same failure in the same state"), "{}", told.err);
}

#[test]
fn a_client_that_does_not_connect_is_named() {
    let folder = built("peers-client-wrong", &LOCKED);
    fs::write(folder.0.join("allways.toml"), SECTIONS.replace("./client b", "/bin/true")).expect("it takes files");
    let told = folder.run(&["check", "--no-save"]);
    assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
    assert!(told.err.contains("[check.chat.peer.b]: peer `b`: it did not connect to port 7000"), "{}", told.err);
    let told = folder.run(&["check", "--no-save", "--outside", "native"]);
    assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
    let why = "[check.chat.peer.b]: peer `b` did not connect to port 7000 and ended with status 0; it printed nothing";
    assert!(told.err.contains(why), "{}", told.err);
}

/// Reads lines until an end, and answers each with its length; ends with how many there were.
const LINES: &str = r#"
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, got;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    char all[64], *end = all;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 2)) return 1;
    int fd = accept(listener, 0, 0);
    while ((got = read(fd, end, sizeof all - (end - all))) > 0) end += got;
    if (got < 0) return 2;
    if (write(fd, all, end - all) != end - all) return 4;
    close(fd);
    return end - all == 3 ? 0 : 5;
}
"#;

/// Sends in pieces, finishes, and hears it all again before it closes.
const HALVES: &str = r#"
import socket, time
c = socket.create_connection(("127.0.0.1", 7000))
for piece in (b"a", b"b", b"c"):
    c.sendall(piece)
    time.sleep(0.1)
c.shutdown(socket.SHUT_WR)
heard = b""
while piece := c.recv(10): heard += piece
raise SystemExit(0 if heard == b"abc" else 9)
"#;

#[test]
fn a_native_client_finishes_its_side_and_hears_the_rest() {
    let sections = "[check.lines.service.server]\ncommand = \"./server\"\n\
        [check.lines.peer.c]\ncommand = \"python3 client.py\"\nconnects = 7000\noutside = \"native\"\n";
    let folder = Folder::with("peers-client-halves", "allways.toml", sections);
    folder.compile("server", &[], LINES);
    fs::write(folder.0.join("client.py"), HALVES).expect("it takes files");
    let told = folder.run(&["check", "--no-save"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    assert!(told.out.replace('\n', " ").contains("ends with exit code 0"), "{}", told.out);
}
