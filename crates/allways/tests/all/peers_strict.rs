//! `--strict`: every schedule has to say the same on a connection.

use crate::folder::{Folder, Told};
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
        assert_eq!(contradictions(&told), BOTH, "{more:?}: {}", told.out);
    }
}

/// What each of the two schedules says, and the other one.
const BOTH: [&str; 2] = [
    "this schedule says \"begin a\", another one \"begin b\"",
    "this schedule says \"begin b\", another one \"begin a\"",
];

/// The contradictions for which schedules are shown, without who says them.
fn contradictions(told: &Told) -> Vec<&str> {
    let head = "error[never]: `strict`: inconsistent: peer `count`, connection 1, byte 6: ";
    told.out.lines().filter_map(|line| line.strip_prefix(head)).collect()
}

/// The schedules of the report.
fn shown(told: &Told) -> Vec<&str> {
    let (schedules, _) = told.out.split_once("\nproperty ").expect("the table follows");
    schedules.split("error[never]").skip(1).collect()
}

#[test]
fn both_schedules_are_shown_whoever_came_first_and_however_many_there_are() {
    let folder = shared("strict-three");
    let three = SHARED.replace("pthread_t one, two;", "pthread_t one, two, three;");
    let three = three.replace(
        "pthread_create(&one, 0, say, \"a\");",
        "pthread_create(&three, 0, say, \"c\"); pthread_create(&one, 0, say, \"a\");",
    );
    folder.compile(
        "client",
        &["-g", "-pthread"],
        &three.replace("return 0;\n}\n", "pthread_join(three, 0); return 0;\n}\n"),
    );
    let check = ["check", "--no-save", "--strict", "--peer", PEER];
    let alone = folder.run(&[&check[..], &["-j1", "--", "./client"]].concat());
    let (one, other) = (r#"write fd 3 (socket) "a""#, r#"write fd 3 (socket) "b""#);
    assert!(shown(&alone)[0].contains(one) && !shown(&alone)[0].contains(other), "{}", alone.out);
    assert!(shown(&alone)[1].contains(other) && !shown(&alone)[1].contains(one), "{}", alone.out);
    for more in ENGINES.into_iter().chain([&["-j2"][..], &["-j4"], &["-j4"], &["-j4"]]) {
        let told = folder.run(&[&check[..], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert_eq!(contradictions(&told), BOTH, "{more:?}: {}", told.out);
        if more.first().is_some_and(|flag| flag.starts_with("-j")) {
            assert_eq!(shown(&told), shown(&alone), "{more:?}");
        }
    }
}

#[test]
fn a_failure_beyond_what_was_said_first_is_still_shown() {
    let folder = shared("strict-beyond");
    let client = SHARED.replace("    return 0;\n}\n", "    __builtin_trap();\n}\n");
    folder.compile("client", &["-g", "-pthread"], &client);
    let told = folder.run(&["check", "--no-save", "--strict", "--peer", PEER, "--", "./client"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains("error[crash]") && told.err.is_empty(), "{}{}", told.out, told.err);
    assert_eq!(contradictions(&told), BOTH, "{}", told.out);
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
    assert!(told.out.contains("error[never]: `strict`: inconsistent: peer `count`"), "{}", told.out);
    assert!(
        told.out.lines().any(|line| line.trim_start().starts_with("strict") && line.contains("violated")),
        "{}",
        told.out
    );
}

#[test]
fn a_proposition_is_not_called_as_the_property_is() {
    let folder = shared("strict-name");
    let check = ["check", "--no-save", "--peer", PEER, "--never"];
    for (never, help) in [("strict := fd == 77", "--never 'NAME := fd == 77'"), ("strict", "--never 'NAME := strict'")]
    {
        let told = folder.run(&[&check[..], &[never, "--strict", "--", "./client"]].concat());
        told.refused(2, &["a proposition is called `strict`, as the property of strict peers is", help]);
    }
    let told = folder.run(&[&check[..], &["strict := fd == 77", "--", "./client"]].concat());
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    let told = folder.run(&[&check[..], &["other := fd == 77", "--strict", "--", "./client"]].concat());
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
}
