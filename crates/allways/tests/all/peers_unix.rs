//! Peers behind Unix sockets.

use crate::folder::Folder;
use crate::peers::{built_of, fails_and_replays_without};

/// Counts the bytes that it gets on all connections, and answers each with the count so far; `q` ends a connection.
const SERVER: &str = r#"
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int words, char **word) {
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), count = 0, connections = 0;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct pollfd all[16] = {{.fd = listener, .events = POLLIN}};
    strcpy(at.sun_path, word[1]);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        poll(all, connections + 1, -1);
        if (all[0].revents) all[++connections] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
        for (int i = 1; i <= connections; i++) {
            char byte, answer;
            if (!all[i].revents) continue;
            if (read(all[i].fd, &byte, 1) != 1 || byte == 'q') { close(all[i].fd); all[i].fd = -1; continue; }
            answer = '0' + ++count;
            if (write(all[i].fd, &answer, 1) != 1) return 2;
        }
    }
}
"#;

/// Looks at the socket, then two threads ask; then it writes to a peer that has closed.
const CLIENT: &str = r#"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
static char answers[2];
static struct sockaddr_un db = {.sun_family = AF_UNIX, .sun_path = "/run/app/db.sock"};
static int reach(int kind) {
    int fd = socket(AF_UNIX, kind, 0);
    if (connect(fd, (void *)&db, sizeof db)) _exit(3);
    return fd;
}
static void *ask(void *slot) {
    int fd = reach(SOCK_STREAM);
    if (write(fd, "x", 1) != 1 || read(fd, slot, 1) != 1) _exit(4);
    close(fd);
    return 0;
}
int main(void) {
    struct stat about;
    pthread_t one, two;
    char byte;
    assert(stat(db.sun_path, &about) == 0 && S_ISSOCK(about.st_mode));
    int packets = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert(connect(packets, (void *)&db, sizeof db) == -1 && errno == EPROTOTYPE);
    pthread_create(&one, 0, ask, &answers[0]);
    pthread_create(&two, 0, ask, &answers[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(answers[0] + answers[1] == '1' + '2');
    int last = reach(SOCK_STREAM);
    assert(connect(last, (void *)&db, sizeof db) == -1 && errno == EISCONN);
    assert(write(last, "q", 1) == 1 && read(last, &byte, 1) == 0);
    assert(send(last, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    assert(unlink(db.sun_path) == 0);
    assert(connect(packets, (void *)&db, sizeof db) == -1 && errno == ENOENT);
#ifdef ORDER
    assert(answers[0] == '1');
#endif
    return 0;
}
"#;

/// The server, at a path.
const PEER: &str = "count:/run/app/db.sock=./server /run/app/db.sock";

fn built(name: &str, flags: &[&str]) -> Folder {
    built_of(name, (SERVER, CLIENT), flags)
}

#[test]
fn a_unix_socket_leads_to_its_peer_and_ends_as_one() {
    let folder = built("peers-unix", &[]);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"], &["--outside", "native"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn a_counterexample_with_a_unix_socket_replays_without_the_peer() {
    let folder = built("peers-unix-replay", &["-DORDER"]);
    fails_and_replays_without(&folder, &["--peer", PEER], "answers[0] == '1'");
    let folder = built("peers-unix-replay-native", &["-DORDER"]);
    fails_and_replays_without(&folder, &["--outside", "native", "--peer", PEER], "answers[0] == '1'");
}

#[test]
fn what_unix_sockets_of_peers_cannot_do_is_named() {
    let folder = built("peers-unix-wrong", &[]);
    let rights = r#"
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/un.h>
        int main(void) {
            struct sockaddr_un db = {.sun_family = AF_UNIX, .sun_path = "/run/app/db.sock"};
            int fd = socket(AF_UNIX, SOCK_STREAM, 0);
            char control[CMSG_SPACE(sizeof fd)] = {0};
            struct iovec piece = {"x", 1};
            struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fd);
            memcpy(CMSG_DATA(header), &fd, sizeof fd);
            if (connect(fd, (void *)&db, sizeof db)) return 3;
            sendmsg(fd, &message, 0);
            return 0;
        }
    "#;
    folder.compile("passes", &[], rights);
    let told = folder.run(&["check", "--no-save", "--peer", PEER, "--", "./passes"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.err.contains("SCM_RIGHTS to a peer"), "{}", told.err);
    for (peer, more, why) in [
        ("count:/run/other.sock=./server /run/app.sock", &[][..], "it did not listen on /run/other.sock"),
        (
            "count:/run/other.sock=./server /run/app.sock",
            &["--outside", "native"],
            "peer `count` did not listen on /run/other.sock in 10 s; it printed nothing",
        ),
        ("count:/etc/passwd/s=./server /etc/passwd/s", &[], "there can be no socket `/etc/passwd/s`"),
    ] {
        let told = folder.run(&[&["check", "--no-save", "--peer", peer], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(told.err.contains(why), "{}", told.err);
    }
}

#[test]
fn a_run_passes_bytes_to_a_native_peer_behind_a_unix_socket() {
    let folder = built("peers-unix-run", &[]);
    let told = folder.run(&["run", "--outside", "native", "--peer", PEER, "--", "./client"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
}
