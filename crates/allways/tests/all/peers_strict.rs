//! `--strict`: every schedule has to say the same on a connection.

use crate::folder::Folder;
use crate::peers::{PEER, built, fails_and_replays_without};

/// Two threads write to one connection, in any order.
const SHARED: &str = r#"
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int fd;
static void *say(void *letter) { return write(fd, letter, 1) == 1 ? 0 : letter; }
int main(void) {
    pthread_t one, two;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fprintf(stderr, "words of its own\n");
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "begin ", 6) != 6) return 3;
    pthread_create(&one, 0, say, "a");
    pthread_create(&two, 0, say, "b");
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

const ENGINES: [&[&str]; 5] = [&[], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--outside", "native"]];

fn shared(name: &str) -> Folder {
    let folder = built(name, &[]);
    folder.compile("client", &["-g", "-pthread"], SHARED);
    folder
}

#[test]
fn a_schedule_that_says_something_else_is_reported_if_that_is_asked_for() {
    let folder = shared("strict-shared");
    for more in ENGINES {
        let check = ["check", "--no-save", "--peer", PEER];
        let told = folder.run(&[&check[..], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        let told = folder.run(&[&check[..], more, &["--strict", "--", "./client"]].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        let why =
            "inconsistent: peer `count`, connection 1, byte 6: one schedule says \"begin a\", another one \"begin b\"";
        assert!(told.out.contains(why), "{more:?}: {}", told.out);
    }
}

#[test]
fn connections_of_their_own_may_be_used_in_any_order() {
    let folder = built("strict-own", &[]);
    for more in ENGINES {
        let check = ["check", "--no-save", "--strict", "--peer", PEER];
        let told = folder.run(&[&check[..], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn a_contradiction_replays_without_the_peer_and_without_the_other_schedule() {
    let folder = shared("strict-replay");
    fails_and_replays_without(&folder, &["--strict", "--peer", PEER], "inconsistent: peer `count`");
}

#[test]
fn a_contradiction_is_a_property_of_its_own_whatever_else_is_checked() {
    let folder = shared("strict-property");
    let told = folder.run(&["check", "--no-save", "--strict", "--check", "deadlock", "--peer", PEER, "--", "./client"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains("error[never]: inconsistent: peer `count`"), "{}", told.out);
    assert!(
        told.out.lines().any(|line| line.trim_start().starts_with("strict") && line.contains("violated")),
        "{}",
        told.out
    );
}
