//! `allways run` with a peer: nothing is searched, and bytes pass.

use crate::folder::Folder;

const CLIENT: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) return 3;
    for (int i = 0; i < 3; i++) {
        char answer;
        if (write(fd, "x", 1) != 1 || read(fd, &answer, 1) != 1) return 4;
        putchar(answer);
    }
    return 5;
}
"#;

#[test]
fn a_run_passes_bytes_to_its_peer_and_ends_with_the_program() {
    let folder = Folder::new("peers-run");
    folder.compile("server", &[], crate::peers::SERVER);
    folder.compile("client", &[], CLIENT);
    let told = folder.run(&["run", "--peer", "count:7000=./server", "--", "./client"]);
    assert_eq!((told.code, told.out.as_str()), (Some(5), "123"), "{}", told.err);
}

#[test]
fn a_run_without_its_peer_is_refused_a_connection_and_mistakes_are_named() {
    let folder = Folder::new("peers-run-wrong");
    folder.compile("client", &[], CLIENT);
    assert_eq!(folder.run(&["run", "--", "./client"]).code, Some(3));
    let told = folder.run(&["run", "--peer", "count=./server", "--", "./client"]);
    told.refused(2, &["is no peer"]);
    let told = folder.run(&["run", "--peer", "count:7000=./server", "--", "./client"]);
    told.refused(2, &["cannot run `./server`"]);
}
