//! When a peer has answered, and what follows when it has closed.

use crate::folder::Folder;
use crate::peers::{PEER, SERVER, built};

const ENGINES: [&[&str]; 5] =
    [&[], &["--engine", "dpor"], &["--reduction", "off"], &["--outside", "native"], &["--audit=1"]];

fn check(folder: &Folder, more: &[&str]) -> crate::folder::Told {
    folder.run(&[&["check", "--no-save", "--peer", PEER], more, &["--", "./client"]].concat())
}

#[test]
fn a_peer_that_sleeps_before_it_answers_is_waited_for() {
    let folder = built("peers-sleep", &[]);
    folder.compile("server", &["-w"], &SERVER.replace("answer = '0'", "usleep(5000); answer = '0'"));
    for more in ENGINES {
        let told = check(&folder, more);
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

#[test]
fn a_peer_that_sleeps_too_long_is_inconclusive() {
    let folder = built("peers-sleep-long", &[]);
    folder.compile("server", &[], &SERVER.replace("answer = '0'", "for (;;) sleep(1); answer = '0'"));
    let told = check(&folder, &[]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    let why = "peer `count` neither answered nor came to rest in 10 s: a thread sleeps";
    assert!(told.out.contains(why) && !told.out.contains("error[deadlock]"), "{}{}", told.out, told.err);
}

/// Looks every 10 ms whether there is something to do.
const POLLER: &str = r#"
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), all[8], connections = 0;
    char count = '0', byte;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (;;) {
        usleep(10000);
        int fd = accept(listener, 0, 0);
        if (fd >= 0) fcntl(all[connections++] = fd, F_SETFL, O_NONBLOCK);
        for (int i = 0; i < connections; i++)
            if (read(all[i], &byte, 1) == 1 && (count++, write(all[i], &count, 1)) != 1) return 2;
    }
}
"#;

#[test]
fn a_peer_that_looks_now_and_then_is_waited_for() {
    for (flag, code) in [("-DFREE", 0), ("-DORDER", 1)] {
        let folder = built(&format!("peers-poller-{code}"), &[flag]);
        folder.compile("server", &[], POLLER);
        for more in ENGINES {
            let told = check(&folder, more);
            assert_eq!(told.code, Some(code), "{more:?}: {}{}", told.out, told.err);
        }
    }
}

#[test]
fn a_native_peer_that_sleeps_too_long_is_inconclusive() {
    for (name, sleep) in [("long", "sleep(1)"), ("short", "usleep(10000)")] {
        let folder = built(&format!("native-sleep-{name}"), &[]);
        folder.compile("server", &["-w"], &SERVER.replace("answer = '0'", &format!("for (;;) {sleep}; answer = '0'")));
        let told = check(&folder, &["--outside", "native"]);
        assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
        let why = "peer `count` neither answered nor came to rest in 10 s: thread 1 sleeps";
        assert!(told.out.contains(why) && !told.out.contains("error[deadlock]"), "{}{}", told.out, told.err);
    }
}

/// Goes on writing when the server has closed: the first one is lost, and a reset comes.
const WRITER: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char byte;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    struct pollfd broken = {.fd = fd};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    signal(SIGPIPE, SIG_IGN);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "x", 1) != 1) return 3;
    assert(read(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 0);
    assert(write(fd, "x", 1) == 1);
    assert(poll(&broken, 1, -1) == 1 && broken.revents & POLLHUP);
    assert(write(fd, "x", 1) == -1 && errno == EPIPE);
    return 0;
}
"#;

#[test]
fn what_is_sent_to_a_peer_that_has_closed_is_answered_with_a_reset() {
    let folder = built("peers-closed", &[]);
    let closes = "if (write(all[i].fd, &answer, 1) != 1) return 2; close(all[i].fd); all[i].fd = -1;";
    folder.compile("server", &[], &SERVER.replace("if (write(all[i].fd, &answer, 1) != 1) return 2;", closes));
    folder.compile("client", &["-g"], WRITER);
    for more in ENGINES {
        let told = check(&folder, more);
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    }
}

/// Gives up waiting after a while, says so, and takes the answer to its first question when it comes.
const IMPATIENT: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), given_up = 0;
    char answers[2];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "x", 1) != 1) return 3;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, 100) == 0) given_up = 1;
    if (write(fd, "y", 1) != 1 || recv(fd, answers, 2, MSG_WAITALL) != 2) return 4;
    assert(answers[0] == '1' && answers[1] == '2');
    assert(!given_up);
    return 0;
}
"#;

#[test]
fn an_answer_that_comes_after_a_timeout_of_the_program_is_not_lost() {
    let folder = built("peers-late", &[]);
    folder.compile("client", &["-g"], IMPATIENT);
    for more in ENGINES {
        // That a timeout ends first is a fault, which has to be asked for.
        let told = check(&folder, more);
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        let told = check(&folder, &[more, &["--timeouts", "1"]].concat());
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("!given_up"), "and nothing else fails: {}", told.out);
    }
}
