//! Services and peers that run as somebody else than root.

use crate::folder::Folder;
use crate::peers::SERVER;
use std::fs;

/// Whoever it is, it may not do what root may, and asks the server.
const CLIENT: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
static int denied(int result, int error) { return result == -1 && errno == error; }
int main(void) {
    struct passwd *user = getpwnam("nobody");
    struct sockaddr_in low = {.sin_family = AF_INET, .sin_port = htons(80)}, to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    struct stat about;
    char answer;
    int own = open("/tmp/own", O_CREAT | O_RDWR, 0600), fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(user && getuid() == user->pw_uid && geteuid() == user->pw_uid);
    assert(getgid() == user->pw_gid && getegid() == user->pw_gid);
    assert(denied(setresuid(0, 0, 0), EPERM) && denied(setresgid(0, 0, 0), EPERM) && denied(setgroups(0, 0), EPERM));
    assert(denied(setgid(0), EPERM) && denied(setuid(0), EPERM));
    assert(setresgid(-1, user->pw_gid, -1) == 0 && setresuid(-1, user->pw_uid, -1) == 0);
    assert(denied(bind(fd, (void *)&low, sizeof low), EACCES) && denied(mkdir("/run/own", 0700), EACCES));
    assert(fstat(own, &about) == 0 && about.st_uid == user->pw_uid && about.st_gid == user->pw_gid);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to) || write(fd, "x", 1) != 1 || read(fd, &answer, 1) != 1) return 3;
#ifdef FAILS
    assert(answer != '1');
#endif
    return 0;
}
"#;

fn built(name: &str, flags: &[&str], user: &str) -> Folder {
    let sections = format!(
        "[check.a.service.client]\ncommand = \"./client\"\nuser = {user}\n\
         [check.a.peer.count]\ncommand = \"./server\"\nlistens = 7000\nuser = {user}\n"
    );
    let folder = Folder::with(name, "allways.toml", &sections);
    // As PostgreSQL does.
    let careful = SERVER.replace("int main(void) {", "int main(void) {\n    if (geteuid() == 0) return 9;");
    folder.compile("server", &[], &careful);
    folder.compile("client", &[&["-g"], flags].concat(), CLIENT);
    folder
}

#[test]
fn services_and_peers_run_as_a_user_of_this_machine() {
    let folder = built("peers-user", &[], "\"nobody\"");
    let told = folder.run(&["check", "--no-save"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    let sections = fs::read_to_string(folder.0.join("allways.toml")).expect("it was written");
    let as_root = sections.replacen("listens = 7000\nuser = \"nobody\"", "listens = 7000", 1);
    fs::write(folder.0.join("allways.toml"), as_root).expect("it takes files");
    let told = folder.run(&["check", "--no-save"]);
    assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
    assert!(told.err.contains("it did not listen on port 7000"), "{}", told.err);
}

#[test]
fn a_counterexample_keeps_the_user() {
    let folder = built("peers-user-replay", &["-DFAILS"], "\"nobody\"");
    let told = folder.run(&["check"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.out.contains("answer != '1'"), "{}", told.out);
    let told = folder.run(&["replay"]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert!(told.err.contains("the same failure in the same state"), "{}", told.err);
}

#[test]
fn a_user_that_is_not_there_is_named() {
    let folder = built("peers-user-wrong", &[], "\"nobody-here\"");
    let told = folder.run(&["check", "--no-save"]);
    told.refused(2, &["service `client`: there is no user `nobody-here`"]);
}
