//! Servers on UDP ports.

use crate::server::{Server, open, rest, start};
use native::{Address, Datagram, Instance, Network, Spec};
use std::fmt::Write as _;

/// Answers each datagram with a count of all and its text; `two` with two datagrams, `bye` by closing its socket, `sleep` later,
/// `other` from another port, `many` with very many; after `deaf` it reads no more.
const SERVER: &str = r#"
#include <fcntl.h>
static void serve(int fd, char *line) {}
int main(void) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), count = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(5300)}, from;
    if (bind(fd, (void *)&at, sizeof at)) return 1;
    for (;;) {
        static char text[1 << 16], answer[1 << 16];
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, text, sizeof text - 1, 0, (void *)&from, &length);
        text[got] = 0;
        if (!strcmp(text, "bye")) { close(fd); pause(); }
        if (!strcmp(text, "sleep")) usleep(200000);
        int out = strcmp(text, "other") ? fd : socket(AF_INET, SOCK_DGRAM, 0);
        if (!strcmp(text, "deaf")) pause();
        if (!strcmp(text, "many")) {
            for (int i = 0; i < 20000; i++) sendto(fd, answer, 1000, 0, (void *)&from, length);
            close(creat("done", 0600));
        }
        int said = snprintf(answer, sizeof answer, "%d%s:%d", ++count, text, ntohs(from.sin_port));
        sendto(out, answer, said, 0, (void *)&from, length);
        if (!strcmp(text, "two")) sendto(fd, "", 0, 0, (void *)&from, length);
    }
}"#;

fn spec(server: &Server) -> Spec {
    Spec { address: Address::Udp(5300), ..server.spec() }
}

fn started(name: &str) -> (Server, Instance) {
    let server = Server::new(name, SERVER);
    let instance = start(&spec(&server)).unwrap_or_else(|problem| panic!("it {problem}"));
    (server, instance)
}

/// Sends a datagram and waits; all that was answered to that flow, in one text.
fn ask(instance: &mut Instance, flow: usize, text: &str) -> String {
    instance.send(flow, text.as_bytes());
    rest(instance);
    let mut all = String::new();
    for answer in instance.datagrams(flow) {
        let _ = match answer {
            Datagram::Bytes(bytes) => write!(all, "{} ", String::from_utf8_lossy(bytes)),
            Datagram::Unreachable => write!(all, "! "),
        };
    }
    all
}

#[test]
fn datagrams_are_answered_to_the_flow_that_they_came_from() {
    let (_server, mut instance) = started("udp");
    let (one, two) = (open(&mut instance), open(&mut instance));
    assert_eq!(ask(&mut instance, one, "a"), "1a:20000 ");
    assert_eq!(ask(&mut instance, two, ""), "2:20001 ");
    assert_eq!(ask(&mut instance, one, "two"), "1a:20000 3two:20000  ");
    assert_eq!(ask(&mut instance, two, "sleep"), "2:20001 4sleep:20001 ");
    let long = "x".repeat(60_000);
    assert_eq!(ask(&mut instance, two, &long), format!("2:20001 4sleep:20001 5{long}:20001 "));
    assert!(!instance.is_alone() && !instance.is_free());
}

#[test]
fn every_datagram_that_nobody_receives_is_told() {
    let (_server, mut instance) = started("udp-bye");
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "bye"), "");
    for count in 1..=120 {
        assert_eq!(ask(&mut instance, one, "a"), "! ".repeat(count));
    }
}

#[test]
fn what_cannot_be_told_is_named() {
    let (server, mut instance) = started("udp-wrong");
    let one = open(&mut instance);
    instance.send(one, b"other");
    let told = instance.rest(&|| false).expect_err("nothing like that is modelled").to_string();
    assert!(told.starts_with("listens on UDP port 5300 and answers from "), "{told}");
    assert!(told.ends_with(": answers from another port are not modelled"), "{told}");
    let mut instance = start(&spec(&server)).unwrap_or_else(|problem| panic!("it {problem}"));
    let one = open(&mut instance);
    instance.send(one, b"many");
    // Nothing is received meanwhile.
    let (done, begun) = (server.0.join("done"), std::time::Instant::now());
    while !done.exists() {
        assert!(begun.elapsed().as_secs() < 60, "it sends them");
        std::thread::yield_now();
    }
    let told = instance.rest(&|| false).expect_err("some are lost").to_string();
    assert_eq!(told, "sent more datagrams at once than there is room for");
    let mut instance = start(&spec(&server)).unwrap_or_else(|problem| panic!("it {problem}"));
    let one = open(&mut instance);
    ask(&mut instance, one, "deaf");
    (0..2000).for_each(|_| instance.send(one, &[b'x'; 1000]));
    let told = instance.rest(&|| false).expect_err("some are lost").to_string();
    assert_eq!(told, "has no room for datagrams that were sent to it");
    let told =
        start(&Spec { network: Network::Host, ..spec(&server) }).err().expect("it cannot be observed").to_string();
    assert!(told.contains("a UDP port needs a network of its own, which this system does not allow"), "{told}");
    let patience = std::time::Duration::from_millis(500);
    let elsewhere = Spec { patience, address: Address::Udp(5301), ..server.spec() };
    let told = start(&elsewhere).err().expect("it listens elsewhere").to_string();
    assert_eq!(told, "did not listen on UDP port 5301 in 500 ms; it printed nothing");
}

#[test]
fn no_answer_is_missed() {
    let (_server, mut instance) = started("udp-all");
    let flows: Vec<usize> = (0..3).map(|_| open(&mut instance)).collect();
    for count in 1..=300 {
        let flow = flows[count % 3];
        instance.send(flow, b"x");
        rest(&mut instance);
        let expected = format!("{count}x:{}", 20_000 + flow);
        assert_eq!(instance.datagrams(flow).last(), Some(&Datagram::Bytes(expected.into_bytes())));
    }
}
