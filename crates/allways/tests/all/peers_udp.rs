//! Peers that listen on UDP ports.

use crate::folder::{Folder, Told};
use crate::peers::section_fails_and_replays_without;

/// Answers each datagram with a count of all, and its text; `two` with two datagrams, `bye` by leaving.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), count = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(5300)}, from;
    if (bind(fd, (void *)&at, sizeof at)) return 1;
    for (;;) {
        char text[64], answer[80];
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, text, sizeof text, 0, (void *)&from, &length);
        if (got < 0) return 2;
        if (got == 3 && !memcmp(text, "bye", 3)) return 0;
        int said = snprintf(answer, sizeof answer, "%d%.*s", ++count, (int)got, text);
        sendto(fd, answer, said, 0, (void *)&from, length);
        if (got == 3 && !memcmp(text, "two", 3)) sendto(fd, "more", 4, 0, (void *)&from, length);
    }
}
"#;

/// What every client begins with.
const HEAD: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static struct sockaddr_in to;
static void address(int port) {
    to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}
static int opened(int port) {
    address(port);
    return socket(AF_INET, SOCK_DGRAM, 0);
}
static void ask(int fd, const char *text) {
    if (sendto(fd, text, strlen(text), 0, (void *)&to, sizeof to) != (ssize_t)strlen(text)) _exit(3);
}
"#;

const PEER: &str = "count:5300/udp=./server";

const ENGINES: [&[&str]; 5] = [&[], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]];

fn built(name: &str, client: &str) -> Folder {
    let folder = Folder::new(name);
    folder.compile("server", &["-g"], SERVER);
    folder.compile("client", &["-g", "-pthread"], &format!("{HEAD}{client}"));
    folder
}

fn check(folder: &Folder, more: &[&str]) -> Told {
    folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat())
}

/// A native peer is held against the one in a world of its own.
const NATIVE: &[&str] = &["--outside", "native"];

/// All engines give this exit code, and say this, with the peer in a world of its own or on the host.
fn all_say(folder: &Folder, code: i32, words: &str) {
    for more in ENGINES.into_iter().chain([NATIVE]) {
        let told = check(folder, more);
        let words = if more == NATIVE { words.replace("a world of its own", "native") } else { words.to_owned() };
        assert_eq!(told.code, Some(code), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains(&words), "{more:?}: {}", told.out);
    }
}

#[test]
fn connected_and_unconnected_sockets_poll_and_epoll_get_their_answers() {
    let client = r#"
int main(void) {
    char text[8];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    int fd = opened(5300);
    ask(fd, "a");
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert(poll(&ready, 1, -1) == 1);
    assert(recvfrom(fd, text, 8, 0, (void *)&from, &length) == 2 && !memcmp(text, "1a", 2));
    assert(from.sin_port == htons(5300) && from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    int other = opened(5300), set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert(!epoll_ctl(set, EPOLL_CTL_ADD, other, &event));
    assert(!connect(other, (void *)&to, sizeof to) && send(other, "", 0, 0) == 0);
    assert(epoll_wait(set, &event, 1, -1) == 1);
    assert(recv(other, text, 8, 0) == 1 && text[0] == '2');
    assert(send(other, "b", 1, 0) == 1 && recv(other, text, 8, 0) == 2 && !memcmp(text, "3b", 2));
    return 0;
}"#;
    let folder = built("udp-sockets", client);
    all_say(&folder, 0, "for the peer behaviour recorded: count (a world of its own, 3 messages");
}

#[test]
fn an_answer_can_come_later_than_a_program_looks() {
    let folder = built(
        "udp-look",
        r#"
int main(void) {
    char text[8];
    int fd = opened(5300);
    ask(fd, "a");
    assert(recv(fd, text, 8, MSG_DONTWAIT) == 2);
    return 0;
}"#,
    );
    all_say(&folder, 1, "recv(fd, text, 8, MSG_DONTWAIT) == 2");
}

#[test]
fn two_answers_come_in_both_orders() {
    let client = |first: &str| {
        format!(
            "int main(void) {{
    char one[8], two[8];
    int fd = opened(5300);
    ask(fd, \"two\");
    ssize_t first = recv(fd, one, 8, 0), second = recv(fd, two, 8, 0);
    assert(first == 4 && second == 4 && !memcmp(one, two, 4) == 0);
    assert(!memcmp(one, \"{first}\", 4));
    return 0;
}}"
        )
    };
    for first in ["1two", "more"] {
        let folder = built(&format!("udp-orders-{first}"), &client(first));
        all_say(&folder, 1, &format!("!memcmp(one, \"{first}\", 4)"));
    }
    let told = check(&built("udp-orders-told", &client("1two")), &[]);
    assert!(told.out.contains("answers \"more\""), "{}", told.out);
}

#[test]
fn flows_share_one_order_and_every_engine_finds_all_of_them() {
    // One thread asks twice, another one once: which counts they get is the order of what was said.
    let client = r#"
static char answers[2][2];
static void *asks(void *slot) {
    char text[8], *own = slot;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < (own == answers[0] ? 2 : 1); i++) {
        ask(fd, "x");
        if (recv(fd, text, 8, 0) != 2) _exit(4);
        own[i] = text[0] - '0';
    }
    return 0;
}
int main(void) {
    pthread_t one, two;
    address(5300);
    pthread_create(&one, 0, asks, answers[0]);
    pthread_create(&two, 0, asks, answers[1]);
    pthread_join(one, 0), pthread_join(two, 0);
    assert(answers[0][0] + answers[0][1] + answers[1][0] == 6);
    assert(10 * answers[0][0] + answers[0][1] != CODE);
    return 0;
}"#;
    for code in [12, 13, 23] {
        let folder = built(&format!("udp-ends-{code}"), &client.replace("CODE", &code.to_string()));
        all_say(&folder, 1, &format!("!= {code}"));
    }
    all_say(&built("udp-ends", &client.replace("CODE", "21")), 0, "for the peer behaviour recorded");
}

#[test]
fn a_port_without_listener_or_whose_peer_has_left_refuses() {
    let folder = built(
        "udp-refused",
        r#"
int main(void) {
    char text[8];
    int fd = opened(5301);
    assert(!connect(fd, (void *)&to, sizeof to) && send(fd, "a", 1, 0) == 1);
    assert(recv(fd, text, 8, 0) == -1 && errno == ECONNREFUSED);
    int other = opened(5300);
    assert(!connect(other, (void *)&to, sizeof to) && send(other, "bye", 3, 0) == 3 && send(other, "a", 1, 0) == 1);
    assert(recv(other, text, 8, 0) == -1 && errno == ECONNREFUSED);
    return 0;
}"#,
    );
    all_say(&folder, 0, "count (a world of its own, 2 messages");
}

#[test]
fn a_late_answer_comes_to_whoever_has_the_port_then() {
    // The second socket gets the answer to the first one, or its own; or the first answer was lost and only one comes.
    let client = |answer: &str| {
        format!(
            "static int bound(void) {{
    struct sockaddr_in own = {{.sin_family = AF_INET, .sin_port = htons(5400)}};
    int fd = opened(5300);
    if (bind(fd, (void *)&own, sizeof own)) _exit(5);
    return fd;
}}
int main(void) {{
    char text[8] = \"\";
    int fd = bound();
    ask(fd, \"a\");
    close(fd);
    fd = bound();
    ask(fd, \"b\");
    recv(fd, text, 7, 0);
    assert(memcmp(text, \"{answer}\", 2));
    return 0;
}}"
        )
    };
    for answer in ["1a", "2b"] {
        let folder = built(&format!("udp-late-{answer}"), &client(answer));
        all_say(&folder, 1, &format!("memcmp(text, \"{answer}\", 2)"));
    }
    let second = client("??").replace("recv(fd, text, 7, 0);", "recv(fd, text, 7, 0); recv(fd, text, 7, 0);");
    all_say(&built("udp-late-lost", &second), 1, "deadlock");
}

#[test]
fn a_counterexample_replays_without_the_peer_and_the_section_says_the_same() {
    let client = "
int main(void) {
    char one[8];
    int fd = opened(5300);
    ask(fd, \"two\");
    assert(recv(fd, one, 8, 0) == 4 && !memcmp(one, \"1two\", 4));
    return 0;
}";
    let folder = built("udp-replay", client);
    section_fails_and_replays_without(&folder, "listens = \"localhost:5300/udp\"");
    let folder = built("udp-replay-native", client);
    section_fails_and_replays_without(&folder, "listens = \"localhost:5300/udp\"\noutside = \"native\"");
}

#[test]
fn another_machine_has_udp_ports_too() {
    let folder = built(
        "udp-machine",
        r#"
#include <netdb.h>
int main(void) {
    char text[8];
    struct addrinfo *found, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    assert(!getaddrinfo("dns.example", "5300", &hints, &found));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert(sendto(fd, "a", 1, 0, found->ai_addr, found->ai_addrlen) == 1);
    assert(recvfrom(fd, text, 8, 0, (void *)&from, &length) == 2 && !memcmp(text, "1a", 2));
    assert(!memcmp(&from.sin_addr, &((struct sockaddr_in *)found->ai_addr)->sin_addr, 4));
    return 0;
}"#,
    );
    let peer = "count:dns.example:5300/udp=./server";
    for more in [&[][..], NATIVE] {
        let told = folder.run(&[&["check", "--no-save"], more, &["--peer", peer, "--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    }
}

#[test]
fn a_peer_that_does_not_listen_or_answers_from_another_port_is_named() {
    let folder = built(
        "udp-wrong",
        "int main(void) { char text[8]; int fd = opened(5300); ask(fd, \"a\"); recv(fd, text, 8, 0); return 0; }",
    );
    for (peer, why) in [
        ("count:5301/udp=./server", "peer `count`: it did not listen on UDP port 5301"),
        ("count:5300=./server", "peer `count`: it did not listen on port 5300"),
        ("count:5300/tcp=./server", "is no peer"),
    ] {
        for more in [&[][..], &["--outside", "native"]] {
            let told = folder.run(&[&["check", "--no-save"], more, &["--peer", peer, "--", "./client"]].concat());
            assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
            let why = if more.is_empty() { why.to_owned() } else { why.replace(": it did", " did") };
            assert!(told.err.contains(&why), "{}", told.err);
        }
    }
    let told = folder.run(&["run", "--outside", "native", "--peer", PEER, "--", "./client"]);
    told.refused(2, &["`count` is native and listens on a UDP port", "= help: leave out `--outside native`"]);
    let elsewhere = SERVER.replace("sendto(fd, answer", "sendto(socket(AF_INET, SOCK_DGRAM, 0), answer");
    folder.compile("server", &["-g"], &elsewhere);
    for more in [&[][..], NATIVE] {
        let told = check(&folder, more);
        assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
        assert!(told.out.contains("answers from another port are not modelled"), "{}", told.out);
    }
}

#[test]
fn a_stock_server_answers() {
    let folder = built(
        "udp-python",
        r#"
int main(void) {
    char text[8];
    int fd = opened(5300);
    ask(fd, "ab");
    assert(recv(fd, text, 8, 0) == 2 && !memcmp(text, "AB", 2));
    return 0;
}"#,
    );
    let server = "import socketserver\n\
                  class Upper(socketserver.BaseRequestHandler):\n\
                  \x20   def handle(self):\n\
                  \x20       self.request[1].sendto(self.request[0].upper(), self.client_address)\n\
                  socketserver.UDPServer(('127.0.0.1', 5300), Upper).serve_forever()\n";
    std::fs::write(folder.0.join("upper.py"), server).expect("it can be written");
    let peer = ["--peer", "up:5300/udp=python3 upper.py", "--", "./client"];
    for more in [&[][..], NATIVE] {
        let told = folder.run(&[&["check", "--no-save"], more, &peer].concat());
        assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    }
}

#[test]
fn a_client_over_udp_is_refused_and_the_advice_works() {
    let folder = Folder::new("udp-client");
    folder.compile("server", &["-g"], &SERVER.replace("for (;;)", "for (int asked = 0; asked < 1; asked++)"));
    // Nobody may be there yet: then it asks again.
    let client = r#"
int main(void) {
    char text[8];
    int fd = opened(5300);
    assert(!connect(fd, (void *)&to, sizeof to));
    while (send(fd, "a", 1, 0) != 1 || recv(fd, text, 8, 0) < 0) ;
    assert(!memcmp(text, "1a", 2));
    return 0;
}"#;
    folder.compile("client", &["-g"], &format!("{HEAD}{client}"));
    let server = "[check.udp.service.server]\ncommand = \"./server\"\n";
    let write = |text: String| std::fs::write(folder.0.join("allways.toml"), text).expect("it can be written");
    write(format!("{server}[check.udp.peer.client]\ncommand = \"./client\"\nconnects = \"5300/udp\"\n"));
    let told = folder.run(&["check", "--no-save", "udp"]);
    told.refused(2, &["`connects` to anything but a TCP port", "= help: let the client be a program of the check"]);
    write(format!("{server}[check.udp.service.client]\ncommand = \"./client\"\n"));
    let told = folder.run(&["check", "--no-save", "udp"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
}
