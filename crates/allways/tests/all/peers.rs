//! Peers: programs outside of the search that answer it.

use crate::folder::{Folder, Told};

pub const SERVER: &str = r#"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <poll.h>
/* Counts the bytes that it gets on all connections, and answers each with the count so far. */
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, count = 0, connections = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    struct pollfd all[16] = {{.fd = listener, .events = POLLIN}};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        poll(all, connections + 1, -1);
        if (all[0].revents) all[++connections] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
        for (int i = 1; i <= connections; i++) {
            char byte, answer;
            if (!all[i].revents) continue;
            if (read(all[i].fd, &byte, 1) != 1) { close(all[i].fd); all[i].fd = -1; continue; }
            answer = '0' + ++count;
            if (write(all[i].fd, &answer, 1) != 1) return 2;
        }
    }
}
"#;

pub const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static char answers[2];
static void *ask(void *slot) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) _exit(3);
    if (write(fd, "x", 1) != 1 || read(fd, slot, 1) != 1) _exit(4);
    close(fd);
    return 0;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, ask, &answers[0]);
    pthread_create(&two, 0, ask, &answers[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(answers[0] + answers[1] == '1' + '2');
#ifdef ORDER
    assert(answers[0] == '1');
#endif
    return 0;
}
"#;

pub fn built(name: &str, flags: &[&str]) -> Folder {
    built_of(name, (SERVER, CLIENT), flags)
}

/// A folder with a server and a client.
pub fn built_of(name: &str, (server, client): (&str, &str), flags: &[&str]) -> Folder {
    let folder = Folder::new(name);
    folder.compile("server", &["-g"], server);
    folder.compile("client", &[&["-g", "-pthread"], flags].concat(), client);
    folder
}

/// The client fails with a peer, which is named with these words; and again in a replay, for which the peer is taken away.
pub fn fails_and_replays_without(folder: &Folder, peer: &[&str], words: &str) {
    let told = folder.run(&[&["check"], peer, &["--", "./client"]].concat());
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains(words), "{}", told.out);
    replays_without(folder);
}

/// The client fails with the peer `count` of a section with these lines, and again in a replay, for which the peer is taken away.
pub fn section_fails_and_replays_without(folder: &Folder, lines: &str) {
    let section = format!(
        "[check.it.service.client]\ncommand = \"./client\"\n[check.it.peer.count]\ncommand = \"./server\"\n{lines}\n"
    );
    std::fs::write(folder.0.join("allways.toml"), section).expect("it can be written");
    assert_eq!(folder.run(&["check"]).code, Some(1));
    replays_without(folder);
}

/// The peer's program is taken away, and the counterexample still replays.
pub fn replays_without(folder: &Folder) -> Told {
    std::fs::remove_file(folder.0.join("server")).expect("it was there");
    let told = folder.run(&["replay"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.err.contains("the same failure in the same state"), "{}", told.err);
    told
}

/// The server, in the folder of the check.
pub const PEER: &str = "count:7000=./server";

#[test]
fn both_orders_of_two_clients_are_found_by_every_engine() {
    let folder = built("peers-order", &["-DORDER"]);
    for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("answers[0] == '1'") && told.out.contains("answers \"2\""), "{}", told.out);
    }
}

#[test]
fn what_holds_for_every_order_holds_for_the_behaviour_recorded() {
    let folder = built("peers-hold", &[]);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("for the peer behaviour recorded: count (a world of its own"), "{}", told.out);
    }
}

#[test]
fn a_counterexample_with_a_peer_replays_without_the_peer() {
    let folder = built("peers-replay", &["-DORDER"]);
    fails_and_replays_without(&folder, &["--peer", PEER], "answers[0] == '1'");
}

#[test]
fn a_peer_that_cannot_be_started_or_does_not_listen_is_named() {
    let folder = built("peers-wrong", &[]);
    for (peer, why) in [
        ("count:7000=./nowhere", "cannot run `./nowhere`"),
        ("count:7001=./server", "peer `count`: it did not listen on port 7001"),
        ("count=./server", "is no peer"),
    ] {
        let told = folder.run(&["check", "--no-save", "--peer", peer, "--", "./client"]);
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(told.err.contains(why), "{}", told.err);
    }
}

#[test]
fn limits_are_kept_while_a_peer_spins() {
    let folder = built("peers-spin", &[]);
    folder.compile("server", &[], "int main(void) { volatile int i = 0; for (;;) i++; }");
    let begun = std::time::Instant::now();
    let told = folder.run(&["check", "--no-save", "--time", "1s", "--peer", PEER, "--", "./client"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.err.contains("stopped before peer `count` was ready"), "{}", told.err);
    assert!(begun.elapsed().as_secs() < 60, "a watchdog, no measurement");
}

#[test]
fn a_peer_that_does_what_is_not_modelled_is_a_refusal_and_no_deadlock() {
    let folder = built("peers-refused", &[]);
    let call = "mremap(mmap(0, 4096, 3, 0x22, -1, 0), 4096, 4096, 5); if (read(all[i].fd, &byte, 1) != 1)";
    let source = SERVER.replace("if (read(all[i].fd, &byte, 1) != 1)", call);
    folder.compile("server", &["-w"], &format!("#define _GNU_SOURCE\n#include <sys/mman.h>\n{source}"));
    for more in [&[][..], &["--engine", "dpor"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
        assert!(!told.out.contains("error[deadlock]") && told.out.contains("not modelled"), "{}{}", told.out, told.err);
    }
}

#[test]
fn a_program_can_look_between_an_answer_and_the_end_of_the_connection() {
    let folder = built("peers-end", &[]);
    let source =
        SERVER.replace("if (write(all[i].fd, &answer, 1) != 1) return 2;", "$& close(all[i].fd); all[i].fd = -1;");
    let source = source.replace("$&", "if (write(all[i].fd, &answer, 1) != 1) return 2;");
    folder.compile("server", &["-g"], &source);
    let client = CLIENT.replace("close(fd);", "char more; assert(recv(fd, &more, 1, MSG_DONTWAIT) == 0); close(fd);");
    folder.compile("client", &["-g", "-pthread"], &client);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("recv(fd, &more, 1, MSG_DONTWAIT) == 0"), "{}", told.out);
    }
}

#[test]
fn what_is_said_of_peers_needs_one() {
    let folder = built("peers-none", &[]);
    for flags in
        [&["--strict"][..], &["--outside", "native"], &["--checkpoint", "always"], &["--connections", "independent"]]
    {
        let told = folder.run(&[&["check", "--no-save"], flags, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(
            told.err.contains(flags[0]) && told.err.contains("is for peers, and the check has none"),
            "{}",
            told.err
        );
    }
}
