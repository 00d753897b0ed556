//! Servers behind Unix sockets.

use crate::server::{Server, ask, open, rest, start};
use native::{Address, End, Network, Spec};
use std::path::Path;

/// A server at the path that is its first word.
const MAIN: &str = r#"
#include <errno.h>
#include <sys/un.h>
int main(int n, char **words) {
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(at.sun_path, words[1]);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) { perror("listen"); exit(1); }
    loop(listener);
}"#;

/// Answers with the line and a count of all; `f` ends what it says, `q` closes, `d` hears no more.
const COUNTS: &str = r#"
static int count;
static void serve(int fd, char *line) {
    char text[64];
    if (*line == 'f') { shutdown(fd, SHUT_WR); return; }
    if (*line == 'd') { shutdown(fd, SHUT_RD); pause(); }
    if (*line == 'q') { close(fd); return; }
    snprintf(text, sizeof text, "%.9s%d ", line, ++count);
    answer(fd, text);
}"#;

fn spec(server: &Server, path: &Path, word: &str) -> Spec {
    let command = vec![b"./server".to_vec(), word.as_bytes().to_vec()];
    Spec { address: Address::Unix(path.to_owned()), command, ..server.spec() }
}

/// A path in a folder that is not there.
const PATH: &str = "/run/allways-test-of-peers/in/db.sock";

#[test]
fn instances_at_one_path_do_not_meet_and_leave_nothing_behind() {
    let server = Server::new("unix", &format!("{COUNTS}{MAIN}"));
    let spec = spec(&server, Path::new(PATH), PATH);
    let mut instances = [(); 2].map(|()| start(&spec).unwrap_or_else(|problem| panic!("it {problem}")));
    for instance in &mut instances {
        assert!(!instance.is_alone());
        let (one, two) = (open(instance), open(instance));
        assert_eq!(ask(instance, one, "a"), "a1 ");
        assert_eq!(ask(instance, two, "b"), "b2 ");
        assert_eq!(ask(instance, one, "c"), "a1 c3 ");
    }
    assert!(!Path::new("/run/allways-test-of-peers").exists());
}

#[test]
fn ends_are_told_apart_as_a_unix_socket_does() {
    let server = Server::new("unix-ends", &format!("{COUNTS}{MAIN}"));
    let mut instance = start(&spec(&server, Path::new(PATH), PATH)).unwrap_or_else(|problem| panic!("it {problem}"));
    let finished = open(&mut instance);
    ask(&mut instance, finished, "a");
    ask(&mut instance, finished, "f");
    assert_eq!(instance.stream(finished).end, Some(End::Finished));
    let closed = open(&mut instance);
    ask(&mut instance, closed, "b");
    ask(&mut instance, closed, "q");
    assert_eq!(instance.stream(closed).end, Some(End::Closed));
    ask(&mut instance, closed, "too late");
    assert_eq!(instance.stream(closed).end, Some(End::Reset));
    let deaf = open(&mut instance);
    ask(&mut instance, deaf, "d");
    instance.send(deaf, b"x");
    let told = instance.rest(&|| false).expect_err("nothing like that is modelled").to_string();
    assert_eq!(told, "shuts down the receiving side of its Unix socket (SHUT_RD), which is not modelled");
}

#[test]
fn a_program_sees_whether_its_connection_was_closed_or_broken_off() {
    // It answers what it reads, and tells the error of the read on the first connection.
    let code = r#"
static int first;
static void serve(int fd, char *line) { if (!first) first = fd; answer(fd, line); }
"#;
    let main = MAIN.replace(
        "loop(listener);",
        r#"
    int one = accept(listener, 0, 0), two = accept(listener, 0, 0);
    char byte;
    read(two, &byte, 1), write(two, "answer", 6);
    ssize_t got = read(two, &byte, 1);
    dprintf(one, "%d %d", (int)got, got < 0 ? errno == ECONNRESET : 0);
    pause();"#,
    );
    let server = Server::new("unix-reset", &format!("{code}{main}"));
    for (is_reset, told) in [(false, "0 0"), (true, "-1 1")] {
        let mut instance =
            start(&spec(&server, Path::new(PATH), PATH)).unwrap_or_else(|problem| panic!("it {problem}"));
        let (one, two) = (open(&mut instance), open(&mut instance));
        assert_eq!(ask(&mut instance, two, "x"), "answer");
        if is_reset {
            instance.reset(two);
        } else {
            instance.close(two);
        }
        rest(&mut instance);
        assert_eq!(String::from_utf8_lossy(&instance.stream(one).bytes), told);
    }
}

#[test]
fn open_files_that_a_program_passes_are_not_lost_silently() {
    let code = r#"
static void serve(int fd, char *line) {
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec piece = {"xyz", 3};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    sendmsg(fd, &message, 0);
}"#;
    let server = Server::new("unix-rights", &format!("{code}{MAIN}"));
    let mut instance = start(&spec(&server, Path::new(PATH), PATH)).unwrap_or_else(|problem| panic!("it {problem}"));
    let one = open(&mut instance);
    instance.send(one, b"x");
    let told = instance.rest(&|| false).expect_err("files cannot be passed").to_string();
    assert_eq!(told, "passes open files over its Unix socket (SCM_RIGHTS), which is not modelled");
}

#[test]
fn where_a_program_works_its_socket_stays_and_the_next_instance_takes_it() {
    let server = Server::new("unix-work", &format!("{COUNTS}{MAIN}"));
    let path = server.0.canonicalize().expect("it is there").join("db.sock");
    // By its path, and from where it works.
    for word in [path.to_str().expect("a text"), "db.sock"] {
        for _ in 0..2 {
            let mut instance = start(&spec(&server, &path, word)).unwrap_or_else(|problem| panic!("it {problem}"));
            assert!(instance.is_alone() && path.exists());
            let one = open(&mut instance);
            assert_eq!(ask(&mut instance, one, "a"), "a1 ");
        }
    }
    let _taken = std::fs::remove_file(&path).and_then(|()| std::os::unix::net::UnixListener::bind(&path));
    for network in [Network::Own, Network::Host] {
        let told = start(&Spec { network, ..spec(&server, &path, "db.sock") }).err().expect("it is taken").to_string();
        assert_eq!(told, format!("cannot be started: {} is in use on this machine", path.display()));
    }
}

#[test]
fn on_the_hosts_network_a_server_is_found_and_a_large_answer_comes_whole() {
    let code = "static void serve(int fd, char *line) { static char all[1 << 21]; memset(all, *line, sizeof all);
        for (char *at = all; at < all + sizeof all;) at += write(fd, at, all + sizeof all - at); }";
    let server = Server::new("unix-large", &format!("{code}{MAIN}"));
    let path = server.0.canonicalize().expect("it is there").join("db.sock");
    for network in [Network::Host, Network::Own] {
        let spec = Spec { network, ..spec(&server, &path, "db.sock") };
        let mut instance = start(&spec).unwrap_or_else(|problem| panic!("it {problem}"));
        let one = open(&mut instance);
        ask(&mut instance, one, "a");
        assert_eq!(ask(&mut instance, one, "b"), "a".repeat(1 << 21) + &"b".repeat(1 << 21));
    }
}

#[test]
fn a_connection_that_is_not_accepted_lets_time_pass() {
    let main = MAIN
        .replace(
            "loop(listener);",
            r#"
    for (;; usleep(100000)) {
        int fd = accept4(listener, 0, 0, SOCK_NONBLOCK);
        static int looks;
        char text[16];
        if (fd < 0) continue;
        answer(fd, "hello");
    }"#,
        )
        .replace("if (bind", "fcntl(listener, 4, 2048); if (bind");
    let server =
        Server::new("unix-late", &format!("#include <fcntl.h>\nstatic void serve(int fd, char *line) {{}}{main}"));
    let mut instance = start(&spec(&server, Path::new(PATH), PATH)).unwrap_or_else(|problem| panic!("it {problem}"));
    for _ in 0..3 {
        let one = open(&mut instance);
        assert_eq!(instance.stream(one).bytes, b"hello");
    }
}

#[test]
fn who_listens_elsewhere_is_named_by_the_path() {
    let server = Server::new("unix-else", &format!("{COUNTS}{MAIN}"));
    let patience = std::time::Duration::from_millis(500);
    let elsewhere = Spec { patience, ..spec(&server, Path::new(PATH), "/run/allways-test-of-peers/in/other.sock") };
    let told = start(&elsewhere).err().expect("it listens elsewhere").to_string();
    assert_eq!(told, format!("did not listen on {PATH} in 500 ms; it printed nothing"));
}
