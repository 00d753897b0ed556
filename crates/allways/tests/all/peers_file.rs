//! Peers in `allways.toml`: sections, mistakes in them, several peers.

use crate::folder::Folder;
use std::fs;

/// A server on a port that answers each byte with the next letter after its own.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **words) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    char next = getenv("FIRST") ? *getenv("FIRST") : *words[2];
    if (access("here", F_OK)) return 9;
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        int fd = accept(listener, 0, 0);
        for (char byte; read(fd, &byte, 1) == 1; next++)
            if (write(fd, &next, 1) != 1) return 2;
        close(fd);
    }
}
"#;

/// Asks two servers.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>
static char ask(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    char answer = 0;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) _exit(3);
    if (write(fd, "x", 1) != 1 || read(fd, &answer, 1) != 1) _exit(4);
    close(fd);
    return answer;
}
int main(void) {
    assert(ask(7001) == 'a');
    assert(ask(7002) == 'm');
    assert(ask(7001) == 'b');
    return 0;
}
"#;

const SECTIONS: &str = "[check.two.service.client]\ncommand = \"./client\"\n\
    [check.two.peer.one]\ncommand = [\"./server\", \"7001\", \"a\"]\nlistens = 7001\n\
    [check.two.peer.two]\ncommand = \"../server 7002 'z'\"\nlistens = \"localhost:7002\"\nworking_dir = \"below\"\n\
    environment = { FIRST = \"m\" }\n";

fn built(name: &str, sections: &str) -> Folder {
    let folder = Folder::with(name, "allways.toml", sections);
    folder.compile("server", &[], SERVER);
    folder.compile("client", &[], CLIENT);
    fs::create_dir(folder.0.join("below")).expect("a new folder");
    fs::write(folder.0.join("here"), "").expect("a new file");
    fs::write(folder.0.join("below/here"), "").expect("a new file");
    folder
}

#[test]
fn two_peers_of_a_file_are_started_in_their_folders_and_told_apart() {
    let folder = built("peers-file", SECTIONS);
    let told = folder.run(&["check", "--no-save"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    for name in ["one (a world of its own, 5 messages)", "two (a world of its own, 2 messages)"] {
        assert!(told.out.contains(name), "{name}: {}", told.out);
    }
}

#[test]
fn a_peer_of_the_command_line_takes_the_place_of_one_of_the_file() {
    let folder = built("peers-file-over", SECTIONS);
    let told = folder.run(&["check", "--no-save", "--peer", "two:7002=./server 7002 n"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains("ask(7002) == 'm'"), "{}", told.out);
}

#[test]
fn mistakes_are_told_with_their_place_and_what_to_do() {
    let peer = |lines: &str| format!("[check.a.service.c]\ncommand = \"./client\"\n[check.a.peer.db]\n{lines}\n");
    let table = [
        ("comand = \"./server\"", "did you mean `command`?"),
        ("command = \"./server\"\nlistens = 0", "a port is a number from 1 to 65535"),
        ("command = \"./server\"\ncheckpoint = \"allways\"", "did you mean `always`?"),
        ("command = \"./server 'x\"\nlistens = 1", "a quote is not closed"),
        ("command = \"./server\"", "[check.a.peer.db]: it has no `listens`"),
        ("listens = 7001", "[check.a.peer.db]: it has no `command`"),
        (
            "command = \"./server\"\nlistens = 1\nframing = \"words\"",
            "[check.a.peer.db]: `framing`: `words` is not known",
        ),
        ("command = \"./nowhere\"\nlistens = 1", "[check.a.peer.db]: cannot run `./nowhere`"),
        ("command = \"./server 7001 a\"\nlistens = 7009", "it did not listen on port 7009"),
        ("command = \"a\"\nlistens = 1\n[check.a.peer.eb]\ncommand = \"a\"\nlistens = 1", "two peers listen on 1"),
        (
            "command = \"a\"\nlistens = 1\n[check.a.peer.eb]\ncommand = \"a\"\nlistens = \"localhost:1\"",
            "two peers listen on localhost:1",
        ),
    ];
    for (lines, why) in table {
        let folder = built("peers-file-wrong", &peer(lines));
        let told = folder.run(&["check", "--no-save"]);
        assert_eq!(told.code, Some(2), "{lines}: {}{}", told.out, told.err);
        assert!(told.err.contains(why) && told.err.contains("allways.toml"), "{lines}: {}", told.err);
        assert!(!told.err.contains("--peer"), "{lines}: {}", told.err);
    }
}

#[test]
fn a_counterexample_keeps_how_its_peers_were_written() {
    let folder = built("peers-file-kept", &SECTIONS.replace("FIRST = \"m\"", "FIRST = \"o\""));
    let told = folder.run(&["check"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    fs::remove_file(folder.0.join("server")).expect("it was there");
    fs::remove_file(folder.0.join("allways.toml")).expect("it was there");
    let told = folder.run(&["replay"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.err.contains("the same failure in the same state"), "{}", told.err);
}

/// Reads its port from a file, and listens there.
const CONFIGURED: &str = r#"
import socket, sys, time
try: port = int(open(sys.argv[1]).read())
except OSError as error: sys.exit(f"no configuration: {error.filename}")
s = socket.create_server(("127.0.0.1", port))
time.sleep(1000000)
"#;

#[test]
fn a_peer_that_was_not_shown_a_file_says_so_and_sees_what_is_named() {
    let elsewhere = Folder::with("peers-file-elsewhere", "port", "7000");
    let file = elsewhere.0.join("port").display().to_string();
    let folder = Folder::with("peers-file-shown", "server.py", CONFIGURED);
    folder.compile("client", &[], "int main(void) { return 0; }");
    let peer = format!("db:7000=python3 server.py {file}");
    let told = folder.run(&["check", "--no-save", "--peer", &peer, "--", "./client"]);
    let words = format!(
        "peer `db`: it did not listen on port 7000 and ended with status 1; its last words: no configuration: {file}; it was not shown {file}"
    );
    told.refused(2, &[&words, &format!("--root {}", elsewhere.0.display())]);
    let root = elsewhere.0.display().to_string();
    let told = folder.run(&["check", "--no-save", "--root", &root, "--peer", &peer, "--", "./client"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    let told = folder.run(&["check", "--no-save", "--peer", "db:7000=python3 server.py nowhere", "--", "./client"]);
    told.refused(2, &["its last words: no configuration: nowhere"]);
    assert!(!told.err.contains("not shown"), "it is not there at all: {}", told.err);
}
