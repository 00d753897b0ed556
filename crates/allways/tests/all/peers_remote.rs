//! Remote peers: servers that somebody else has started, here the test.

use crate::folder::{Folder, Told, says};
use crate::limits::{ended, started};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Answers each line of a connection, each connection in a thread, or only prints that it was asked; prints its port first.
const SERVER: &str = r#"
import socket, sys, threading
total = 0
def serve(c):
    global total
    count = 0
    for line in c.makefile("rb"):
        count += 1
        total += 1
        if sys.argv[1] == "own": c.sendall(b"%d\n" % count)
        if sys.argv[1] == "all": c.sendall(b"%d\n" % total)
        if sys.argv[1] == "twice": c.sendall(b"1\n2\n")
        if sys.argv[1] == "mute": print("asked", flush=True)
    c.close()
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
"#;

/// Two threads ask in turn over one connection, which is then ended; the first one is not always answered first.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd;
static char answers[2][2];
static void *ask(void *answer) {
    pthread_mutex_lock(&lock);
    if (write(fd, answer == answers[0] ? "a" : "b", 1) != 1 || write(fd, "\n", 1) != 1) _exit(4);
    if (recv(fd, answer, 2, MSG_WAITALL) != 2) _exit(5);
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(int count, char **words) {
    pthread_t one, two;
    char end;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&to, sizeof to)) return 3;
    pthread_create(&one, 0, ask, answers[0]);
    pthread_create(&two, 0, ask, answers[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    shutdown(fd, SHUT_WR);
    if (read(fd, &end, 1)) return 6;
    assert(answers[0][0] + answers[1][0] == '1' + '2');
#ifdef ORDER
    assert(answers[0][0] == '1');
#endif
    return 0;
}
"#;

/// A server that runs on this machine.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    port: String,
}

impl Server {
    fn start(folder: &Folder, kind: &str) -> Self {
        let mut command = Command::new("python3");
        command.args(["server.py", kind]).current_dir(&folder.0).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python3 runs");
        let (mut port, mut output) = (String::new(), BufReader::new(process.stdout.take().expect("it is read")));
        output.read_line(&mut port).expect("it says its port");
        Self { process, output, port: port.trim().to_owned() }
    }

    /// Waits until it was asked something that it does not answer.
    fn await_question(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it says that it was asked");
        assert_eq!(line, "asked\n");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn built(name: &str, flags: &[&str]) -> Folder {
    let folder = Folder::with(name, "server.py", SERVER);
    folder.compile("client", flags, CLIENT);
    folder
}

/// Checks the client with a remote peer of which these lines are said.
fn check(folder: &Folder, port: &str, lines: &str, more: &[&str]) -> Told {
    write(folder, port, lines);
    folder.run(&[&["check"], more].concat())
}

fn write(folder: &Folder, port: &str, lines: &str) {
    let sections = format!(
        "[check.it.service.client]\ncommand = \"./client {port}\"\n[check.it.peer.s]\noutside = \"remote\"\n{lines}\n"
    );
    std::fs::write(folder.0.join("allways.toml"), sections).expect("it takes files");
}

fn listens(server: &Server) -> String {
    format!("listens = \"localhost:{}\"\nframing = \"lines\"", server.port)
}

#[test]
fn a_server_that_runs_already_is_asked_over_new_connections() {
    let folder = built("remote-holds", &[]);
    let server = Server::start(&folder, "own");
    for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"]] {
        let told = check(&folder, &server.port, &listens(&server), more);
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        let words = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("s (remote, ") && !words.contains(" 0 restarts;"), "it goes back: {words}");
        assert!(words.contains("assumed to remember nothing of earlier connections"), "{words}");
    }
}

#[test]
fn what_goes_wrong_with_it_is_found_and_replays_without_it() {
    let folder = built("remote-fails", &["-DORDER"]);
    let server = Server::start(&folder, "own");
    let told = check(&folder, &server.port, &listens(&server), &[]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains("answers[0][0] == '1'"), "{}", told.out);
    drop(server);
    let told = folder.run(&["replay"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.err.contains("the same failure in the same state"), "{}", told.err);
}

#[test]
fn what_it_remembers_is_a_difference_and_what_nobody_can_know_is_inconclusive() {
    let folder = built("remote-differs", &[]);
    for (kind, words) in [
        (
            "all",
            &[
                "answered differently when it was told the same again",
                "first  \"1\\n\"",
                "it goes on with what it remembers",
            ][..],
        ),
        ("twice", &["peer `s` said more on connection 1 than one message"]),
        ("mute", &["peer `s` did not answer in 400 ms with a whole message, or its end"]),
    ] {
        let server = Server::start(&folder, kind);
        let told = check(&folder, &server.port, &format!("{}\npatience = \"400ms\"", listens(&server)), &["--no-save"]);
        assert_eq!(told.code, Some(3), "{kind}: {}{}", told.out, told.err);
        let said = format!("{}{}", told.out, told.err);
        assert!(words.iter().all(|word| said.contains(word)), "{kind}: {said}");
    }
}

#[test]
fn what_a_remote_peer_cannot_have_is_refused_with_what_to_write() {
    let folder = built("remote-refused", &[]);
    for (lines, words) in [
        ("listens = 7", &["a remote peer needs a `framing`", "framing = \"lines\""][..]),
        ("listens = 7\nframing = \"lines\"\ncommand = \"./server\"", &["it has a `command`", "leave out `command`"]),
        ("listens = \"53/udp\"\nframing = \"lines\"", &["listens on a TCP port", "listens = \"db.example:5432\""]),
        ("connects = 7\nframing = \"lines\"", &["listens on a TCP port"]),
        ("listens = 7\nframing = \"lines\"\ncheckpoint = \"always\"", &["cannot be kept", "leave out `checkpoint`"]),
        ("listens = 7\nframing = \"lines\"\nuser = \"root\"", &["`user`"]),
    ] {
        let told = check(&folder, "7", lines, &["--no-save"]);
        told.refused(2, words);
        assert!(told.err.contains("allways.toml: [check.it.peer.s]"), "{}", told.err);
    }
    let told = folder.run(&["run", "--outside", "remote", "--peer", "s:7=./server", "--", "./client", "7"]);
    told.refused(2, &["remote"]);
    let port = {
        let server = Server::start(&folder, "own");
        server.port.clone()
    };
    let told = check(&folder, &port, &format!("listens = {port}\nframing = \"lines\""), &["--no-save"]);
    told.refused(2, &["peer `s` cannot be reached at 127.0.0.1:", "onnection refused"]);
}

#[test]
fn time_and_an_interrupt_end_the_wait_for_an_answer() {
    let folder = built("remote-stopped", &[]);
    // A server for each: rounds of a search ask anew, so the first one may have more questions behind it than are awaited.
    let mut servers = [Server::start(&folder, "mute"), Server::start(&folder, "mute")];
    // Longer than the watchdog of the test has patience.
    let expect = |server: &Server| write(&folder, &server.port, &format!("{}\npatience = \"10h\"", listens(server)));
    expect(&servers[0]);
    let told = ended(started(&folder, &["check", "--no-save", "--time", "3s"]));
    says(&told, 3, &["no run came to its end in 3 s"]);
    servers[0].await_question();
    expect(&servers[1]);
    let child = started(&folder, &["check", "--no-save"]);
    servers[1].await_question();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    says(&ended(child), 130, &["interrupted"]);
}
