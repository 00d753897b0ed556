//! Native peers whose state is kept by commands of the user.

use crate::folder::{Folder, Told};
use std::fs;

/// Counts in a file what it is asked, and tells the count: one connection after the other.
const SERVER: &str = r#"
import os, socket
s = socket.create_server(("127.0.0.1", 7000))
while True:
    c, _ = s.accept()
    while byte := c.recv(1):
        count = int(open("state").read()) + 1
        with open("state", "w") as f: f.write(str(count))
        c.sendall(str(count % 10).encode())
    c.close()
"#;

/// Two threads ask in turn, each over two connections; the second answer of a thread is larger than its first.
const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char answers[2][2];
static void ask(char *slot) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char end;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pthread_mutex_lock(&lock);
    if (connect(fd, (void *)&to, sizeof to)) _exit(3);
    if (write(fd, "x", 1) != 1 || read(fd, slot, 1) != 1) _exit(4);
    shutdown(fd, SHUT_WR);
    if (read(fd, &end, 1)) _exit(5);
    close(fd);
    pthread_mutex_unlock(&lock);
}
static void *twice(void *slot) {
    ask(slot);
    ask((char *)slot + 1);
    return 0;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, twice, answers[0]);
    pthread_create(&two, 0, twice, answers[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(answers[0][0] + answers[0][1] + answers[1][0] + answers[1][1] == 4 * '0' + 10);
#ifdef ORDER
    assert(answers[0][1] != '4');
#endif
    return 0;
}
"#;

fn built(name: &str, flags: &[&str], keys: &str) -> Folder {
    let sections = format!(
        "[check.it.service.client]\ncommand = \"./client\"\n\
         [check.it.peer.db]\ncommand = \"python3 server.py\"\nlistens = 7000\noutside = \"native\"\n{keys}\n"
    );
    let folder = Folder::with(name, "allways.toml", sections);
    fs::write(folder.0.join("server.py"), SERVER).expect("it takes files");
    fs::write(folder.0.join("state"), "0").expect("it takes files");
    folder.compile("client", flags, CLIENT);
    folder
}

const KEPT: &str = "save = \"cp state {place}\"\nrestore = \"cp {place}/state state\"";

/// A number before a word of the line about the peer.
fn number(told: &Told, word: &str) -> u64 {
    let line = told.out.split("db: ").nth(1).unwrap_or_else(|| panic!("{}", told.out)).replace('\n', " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let before = line.split(&format!(" {word}")).next().unwrap_or_default();
    before.split(' ').next_back().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{word}: {line}"))
}

#[test]
fn a_state_that_is_a_file_is_kept_and_comes_back_by_commands() {
    let mut said_again = Vec::new();
    for (strategy, name) in [("restart", "save-restart"), ("always", "save-always"), ("adaptive", "save-adaptive")] {
        let keys = format!("{KEPT}\ncheckpoint = \"{strategy}\"");
        let told = built(name, &[], &keys).run(&["check", "--no-save"]);
        assert_eq!(told.code, Some(0), "{strategy}: {}{}", told.out, told.err);
        assert!(number(&told, "checkpoints") >= 1, "the first state is kept");
        said_again.push((number(&told, "said again"), number(&told, "restores,")));
    }
    assert!(said_again[0].0 > said_again[1].0, "{said_again:?}");
    assert!(said_again[0].1 == 0 && said_again[1].1 > 0, "{said_again:?}");
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        let folder = built("save-order", &["-DORDER"], &format!("{KEPT}\ncheckpoint = \"always\""));
        let told = folder.run(&[&["check", "--no-save"], more].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn nothing_that_was_kept_is_left_behind() {
    let folder =
        built("save-left", &[], &format!("{KEPT}\ncheckpoint = \"always\"\nframing = \"until-close\"\nstrict = true"));
    let place = folder.0.join("tmp");
    fs::create_dir(&place).expect("it takes folders");
    let told = Told::new(folder.command(&["check", "--no-save"]).env("TMPDIR", &place).output().expect("it runs"));
    assert!(number(&told, "checkpoints") >= 1, "{}", told.out);
    let left = fs::read_dir(&place).expect("it is there").count();
    assert_eq!(left, 0, "{}{}", told.out, told.err);
}

#[test]
fn a_command_that_fails_is_named_with_what_it_said() {
    for (keys, code, words) in [
        (
            "save = \"cp nothing {place}\"\nrestore = \"cp {place}/state state\"",
            2,
            "peer `db` cannot be kept: `cp nothing /",
        ),
        (
            "save = \"cp state {place}\"\nrestore = \"sh -c 'echo lost it >&2; exit 7; {place}'\"",
            3,
            "it ended with status 7; its last words: lost it",
        ),
    ] {
        let told = built(&format!("save-fails-{code}"), &[], keys).run(&["check", "--no-save"]);
        assert_eq!(told.code, Some(code), "{}{}", told.out, told.err);
        assert!(told.err.contains(words) && told.err.contains("last words: "), "{}", told.err);
    }
}
