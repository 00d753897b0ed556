//! Peers that stand for other machines.

use crate::folder::Folder;
use crate::peers::{SERVER, built_of, fails_and_replays_without};
use std::fs;

/// Two threads ask the machine `db.example`; the first thing looks at what else can be reached.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static char answers[2];
static struct sockaddr_in db;
static int reach(in_addr_t address, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = address};
    int fd = socket(AF_INET, SOCK_STREAM, 0), error = connect(fd, (void *)&to, sizeof to) ? errno : 0;
    close(fd);
    return error;
}
static void *ask(void *slot) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&db, sizeof db)) _exit(3);
    if (write(fd, "x", 1) != 1 || read(fd, slot, 1) != 1) _exit(4);
    close(fd);
    return 0;
}
int main(void) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
    pthread_t one, two;
    if (getaddrinfo("db.example", "7000", &hints, &found)) return 5;
    if (found->ai_family != AF_INET || found->ai_next) return 6;
    db = *(struct sockaddr_in *)found->ai_addr;
    /* A listener of all addresses of this machine takes nothing that goes to another one. */
    int own = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(7001)};
    if (bind(own, (void *)&any, sizeof any) || listen(own, 8)) return 7;
    assert(reach(db.sin_addr.s_addr, 7001) == ECONNREFUSED);
    assert(reach(htonl(INADDR_LOOPBACK), 7001) == 0);
    assert(reach(htonl(INADDR_LOOPBACK), 7000) == ECONNREFUSED);
    assert(reach(inet_addr("192.0.2.1"), 7000) == ENETUNREACH);
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

/// The server, on a machine with a name.
const NAMED: &str = "count:db.example:7000=./server";

fn built(name: &str, flags: &[&str]) -> Folder {
    built_of(name, (SERVER, CLIENT), flags)
}

#[test]
fn a_name_leads_to_its_peer_other_ports_are_refused_and_other_machines_are_not_there() {
    let folder = built("peers-name", &[]);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        let told = folder.run(&[&["check", "--no-save", "--peer", NAMED], more, &["--", "./client"]].concat());
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn a_counterexample_keeps_names_and_replays_without_the_peer() {
    let folder = built("peers-name-replay", &["-DORDER"]);
    fails_and_replays_without(&folder, &["--peer", NAMED], "10.99.0.1:7000");
}

#[test]
fn python_finds_a_peer_by_name_and_by_number() {
    let folder = built("peers-name-python", &[]);
    for (peer, host) in [(NAMED, "db.example"), ("count:192.0.2.1:7000=./server", "192.0.2.1")] {
        let script = format!(
            "import socket\ns = socket.create_connection(('{host}', 7000))\ns.sendall(b'x')\nassert s.recv(1) == b'1'\n"
        );
        fs::write(folder.0.join("ask.py"), script).expect("it takes files");
        let told = folder.run(&["check", "--no-save", "--peer", peer, "--", "/usr/bin/python3", "-S", "ask.py"]);
        assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    }
}

#[test]
fn a_run_finds_its_peer_by_name() {
    let folder = Folder::new("peers-name-run");
    folder.compile("server", &[], SERVER);
    let ask = "import socket; s = socket.create_connection(('db.example', 7000)); s.sendall(b'x'); print(s.recv(1))";
    let told = folder.run(&["run", "--peer", NAMED, "--", "/usr/bin/python3", "-S", "-c", ask]);
    assert_eq!((told.code, told.out.as_str()), (Some(0), "b'1'\n"), "{}", told.err);
    let told = folder.run(&["run", "--peer", "count:192.0.2.1:7000=./server", "--", "/bin/true"]);
    told.refused(2, &["listens at the address of another machine"]);
}

#[test]
fn places_where_nobody_can_listen_are_refused() {
    let folder = built("peers-name-wrong", &[]);
    for (place, why) in [
        ("10.99.0.7:7000", "one of the addresses that names are given"),
        ("0.0.0.0:7000", "not the address of a machine"),
        ("::1:7000", "neither a name nor an IPv4 address"),
    ] {
        let peer = format!("count:{place}=./server");
        let told = folder.run(&["check", "--no-save", "--peer", &peer, "--", "./client"]);
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(told.err.contains(why), "{}", told.err);
    }
}
