//! `--time` and Ctrl-C while native peers are waited for.

use crate::folder::{Folder, Told, says};
use crate::limits::{ended, started};
use std::process::{Child, Command};

/// Waits for an answer for ever, or reads, writes or sleeps for ever, or leaves behind what nobody takes; says first that it has connected.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **words) {
    static char all[1 << 16];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) return 3;
    if (read(fd, all, 1) != 1) return 4;
    puts("connected"), fflush(stdout);
    for (int idle = 0; words[1][0] == 'l'; idle++) {
        if (idle == 5000) return 0;
        if (send(fd, all, sizeof all, MSG_DONTWAIT) > 0) idle = 0;
        else usleep(1000);
    }
    if (words[1][0] == 's') sleep(1000000);
    while ((words[1][0] == 'w' ? write(fd, all, sizeof all) : read(fd, all, sizeof all)) > 0);
    return 5;
}
"#;

/// Greets each connection, and sends for ever if it is asked to; reads nothing.
const SERVER: &str = r#"
import socket, sys, time
if sys.argv[1] == "mute": time.sleep(1000000)
s = socket.create_server(("127.0.0.1", 7000))
c, _ = s.accept()
c.sendall(b"x")
while sys.argv[1] == "sends": c.sendall(b"0123456789abcdef" * 4096)
time.sleep(1000000)
"#;

/// What the server does, and what the client.
const CASES: [(&str, &str); 5] =
    [("waits", "reads"), ("sends", "reads"), ("sends", "sleeps"), ("waits", "writes"), ("waits", "leaves")];

fn built(name: &str) -> Folder {
    let folder = Folder::with(name, "server.py", SERVER);
    folder.compile("client", &["-w"], CLIENT);
    folder
}

fn run(folder: &Folder, (server, client): (&str, &str), more: &[&str]) -> Child {
    let peer = format!("s:7000=python3 server.py {server}");
    let arguments = [&["run", "--outside", "native", "--peer", &peer], more, &["--", "./client", client]].concat();
    started(folder, &arguments)
}

/// Interrupts a run once its output has begun.
fn interrupted(mut child: Child) -> Told {
    let mut first = [0];
    std::io::Read::read_exact(child.stdout.as_mut().expect("it is read"), &mut first).expect("it has connected");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    ended(child)
}

#[test]
fn a_run_with_a_native_peer_ends_with_its_time() {
    let folder = built("peers-limits-time");
    for case in CASES {
        let told = ended(run(&folder, case, &["--time", "3s"]));
        says(&told, 3, &["connected", "the time is over (--time)"]);
    }
    let told = ended(run(&folder, ("mute", "reads"), &["--time", "1s"]));
    says(&told, 3, &["stopped before peer `s` was ready", "the time is over (--time)"]);
}

#[test]
fn a_run_with_a_native_peer_ends_when_it_is_interrupted() {
    let folder = built("peers-limits-interrupt");
    for case in CASES {
        says(&interrupted(run(&folder, case, &[])), 130, &["interrupted"]);
    }
}

#[test]
fn a_command_that_keeps_a_peer_ends_with_the_time_of_the_check() {
    let sections = "[check.it.service.client]\ncommand = \"./client reads\"\n\
         [check.it.peer.s]\ncommand = \"python3 server.py waits\"\nlistens = 7000\noutside = \"native\"\npatience = \"10m\"\n\
         save = \"sh -c 'sleep 1000000' {place}\"\nrestore = \"true {place}\"\n";
    let folder = built("peers-limits-save");
    std::fs::write(folder.0.join("allways.toml"), sections).expect("it takes files");
    let told = ended(started(&folder, &["check", "--no-save", "--time", "2s"]));
    says(&told, 3, &["stopped before peer `s` was ready"]);
}
