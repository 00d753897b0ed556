//! `connections = "independent"`: each connection has a conversation of its own, and that is compared.

use crate::folder::{Folder, Told};
use crate::peers::{CLIENT, PEER, SERVER, built, section_fails_and_replays_without};

const INDEPENDENT: [&str; 2] = ["--connections", "independent"];

const ENGINES: [&[&str]; 5] = [&[], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]];

/// A server that answers each byte with the same byte, and two threads that ask and take turns at the end.
fn echo(name: &str, flags: &[&str]) -> Folder {
    let folder = built(name, &[]);
    folder.compile("server", &["-g"], &SERVER.replace("answer = '0' + ++count;", "answer = byte; count++;"));
    let client = CLIENT
        .replace("static char answers[2];", "static char answers[2]; static int turns; static pthread_mutex_t lock;")
        .replace("assert(answers[0] + answers[1] == '1' + '2');", "assert(answers[0] == 'x' && answers[1] == 'x');")
        .replace("return 0;\n}\nint main", "pthread_mutex_lock(&lock); if (!turns++) turns += slot == answers; pthread_mutex_unlock(&lock);\n return 0;\n}\nint main")
        .replace("assert(answers[0] == '1');", "assert(turns == 2);");
    folder.compile("client", &[&["-g", "-pthread"], flags].concat(), &client);
    folder
}

fn check(folder: &Folder, more: &[&str]) -> Told {
    folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat())
}

/// How many states or traces a check had.
fn size(told: &Told) -> u64 {
    let line = told.out.lines().find(|line| line.contains(" . depth ")).unwrap_or_else(|| panic!("{}", told.out));
    let part = line.split(" . ").find(|part| part.ends_with(" traces")).or_else(|| line.split(" . ").next());
    let digits: String = part.expect("a part").chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn the_verdict_is_the_same_with_fewer_states() {
    for (name, flags, code) in [("independent-holds", &[][..], 0), ("independent-fails", &["-DORDER"], 1)] {
        let folder = echo(name, flags);
        for more in ENGINES {
            let (shared, own) = (check(&folder, more), check(&folder, &[more, &INDEPENDENT].concat()));
            assert_eq!((shared.code, own.code), (Some(code), Some(code)), "{more:?}: {}{}", own.out, own.err);
            if code == 0 {
                assert!(size(&own) < size(&shared), "{more:?}: {} of {}", size(&own), size(&shared));
                assert!(own.out.contains("connections independent: "), "{}", own.out);
            }
        }
    }
}

#[test]
fn a_peer_whose_connections_depend_on_each_other_is_found_out() {
    let folder = built("independent-counter", &[]);
    for more in ENGINES {
        let told = check(&folder, &[more, &INDEPENDENT].concat());
        assert_eq!(told.code, Some(3), "{more:?}: {}{}", told.out, told.err);
        let said = format!("{}{}", told.out, told.err);
        assert!(said.contains("peer `count` does not answer each connection as if there were no other one"), "{said}");
        let both = [("alone        \"1\"", "with others  \"2\"")];
        assert!(both.iter().all(|(alone, others)| said.contains(alone) && said.contains(others)), "{said}");
    }
}

#[test]
fn a_counterexample_replays_without_the_peer() {
    let folder = echo("independent-replay", &["-DORDER"]);
    section_fails_and_replays_without(&folder, "listens = 7000\nconnections = \"independent\"");
}

#[test]
fn flows_of_datagrams_are_independent_too() {
    let folder = Folder::new("independent-udp");
    let server = r#"
#include <arpa/inet.h>
#include <sys/socket.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), count = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)}, from;
    if (bind(fd, (void *)&at, sizeof at)) return 1;
    for (;;) {
        char byte;
        socklen_t length = sizeof from;
        recvfrom(fd, &byte, 1, 0, (void *)&from, &length);
        byte += ADD;
        sendto(fd, &byte, 1, 0, (void *)&from, length);
    }
}"#;
    let client = CLIENT
        .replace("SOCK_STREAM", "SOCK_DGRAM")
        .replace("answers[0] + answers[1] == '1' + '2'", "answers[0] == 'x' && answers[1] == 'x'");
    folder.compile("client", &["-g", "-pthread"], &client);
    let peer = ["check", "--no-save", "--peer", "echo:7000/udp=./server"];
    for more in ENGINES {
        folder.compile("server", &[], &server.replace("ADD", "0 * count++"));
        let run = |own: &[&str]| folder.run(&[&peer[..], more, own, &["--", "./client"]].concat());
        let (shared, own) = (run(&[]), run(&INDEPENDENT));
        assert_eq!((shared.code, own.code), (Some(0), Some(0)), "{more:?}: {}{}", own.out, own.err);
        // Ports are one object: classes of schedules are as many.
        let is_smaller = size(&own) < size(&shared) || more.contains(&"dpor") && size(&own) == size(&shared);
        assert!(is_smaller, "{more:?}: {} of {}", size(&own), size(&shared));
        folder.compile("server", &[], &server.replace("ADD", "count++"));
        let told = run(&INDEPENDENT);
        assert_eq!(told.code, Some(3), "{more:?}: {}{}", told.out, told.err);
    }
}
