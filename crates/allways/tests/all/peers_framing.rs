//! `framing`: a peer is told messages as a whole.

use crate::folder::{Folder, Told};

/// Answers each read with how many bytes it has got.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        char text[64], answer;
        int fd = accept(listener, 0, 0);
        for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;) {
            answer = '0' + got;
            if (write(fd, &answer, 1) != 1) return 2;
        }
        close(fd);
    }
}
"#;

/// Sends these pieces, and expects these answers and no more.
fn client(pieces: &[&str], answers: &str) -> String {
    let writes: String =
        pieces.iter().map(|piece| format!("assert(write(fd, {piece}, sizeof {piece} - 1) > 0);\n")).collect();
    format!(
        r#"
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {{
    struct sockaddr_in to = {{.sin_family = AF_INET, .sin_port = htons(7000)}};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char answers[64] = "", *at = answers;
    assert(!connect(fd, (void *)&to, sizeof to));
    {writes}
    shutdown(fd, SHUT_WR);
    for (ssize_t got; (got = read(fd, at, 60)) > 0;) at += got;
    assert(!strcmp(answers, "{answers}"));
    return 0;
}}"#
    )
}

fn check(folder: &Folder, framing: &str, more: &[&str]) -> Told {
    let section = format!(
        "[check.it.service.client]\ncommand = \"./client\"\n\
         [check.it.peer.count]\ncommand = \"./server\"\nlistens = 7000\n{framing}\n"
    );
    std::fs::write(folder.0.join("allways.toml"), section).expect("it can be written");
    folder.run(&[&["check", "--no-save"], more].concat())
}

#[test]
fn a_message_is_told_as_a_whole_however_it_is_cut() {
    let folder = Folder::new("framing");
    folder.compile("server", &["-g"], SERVER);
    let table: [(&str, &[&str], &str); 6] = [
        ("lines", &["\"GE\"", "\"T\\n\""], "4"),
        ("lines", &["\"a\\nGE\"", "\"T\\n\"", "\"b\""], "241"),
        ("length:2be", &["\"\\0\"", "\"\\3a\"", "\"bc\""], "5"),
        ("resp", &["\"+a\\r\\n+b\"", "\"c\\r\\n\""], "45"),
        ("until-close", &["\"a\"", "\"b\"", "\"c\""], "3"),
        ("http", &["\"G\\r\\n\"", "\"\\r\\n\""], "5"),
    ];
    for (framing, pieces, answers) in table {
        folder.compile("client", &["-g"], &client(pieces, answers));
        for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"]] {
            let told = check(&folder, &format!("framing = \"{framing}\""), more);
            assert_eq!(told.code, Some(0), "{framing} {more:?}: {}{}", told.out, told.err);
        }
        let told = check(&folder, "", &[]);
        assert_eq!(told.code, Some(1), "without it each call is told: {framing}: {}{}", told.out, told.err);
    }
}

#[test]
fn a_framing_that_is_not_known_is_refused_with_those_that_are() {
    let folder = Folder::new("framing-wrong");
    folder.compile("server", &[], SERVER);
    folder.compile("client", &[], "int main(void) { return 0; }");
    for framing in ["words", "length:3be"] {
        let told = check(&folder, &format!("framing = \"{framing}\""), &[]);
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(told.err.contains(&format!("`framing`: `{framing}` is not known")), "{}", told.err);
        assert!(told.err.contains("lines, resp, http"), "{}", told.err);
    }
}

#[test]
fn messages_without_order_come_in_every_order() {
    let folder = Folder::new("framing-order");
    let server =
        SERVER.replace("answer = '0' + got;", "if (write(fd, \"one\\ntwo\\n\", 8) != 8) return 3; answer = '!';");
    folder.compile("server", &["-g"], &server);
    let keys = "framing = \"lines\"\norder = \"any\"";
    for (order, is_possible) in [("one\\ntwo\\n!", true), ("two\\none\\n!", true), ("!one\\ntwo\\n", false)] {
        let client = client(&["\"a\\n\""], order).replace("!strcmp(", "strcmp(");
        folder.compile("client", &["-g"], &client);
        for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]] {
            let told = check(&folder, keys, more);
            assert_eq!(told.code, Some(i32::from(is_possible)), "{order} {more:?}: {}{}", told.out, told.err);
        }
    }
    let told = check(&folder, "order = \"any\"", &[]);
    assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
    folder.compile("client", &["-g"], &client(&["\"a\\n\""], "one\\ntwo\\n!"));
    assert_eq!(check(&folder, keys, &[]).code, Some(1));
    assert_eq!(folder.run(&["check"]).code, Some(1));
    std::fs::remove_file(folder.0.join("server")).expect("it was there");
    let told = folder.run(&["replay"]);
    assert!(told.err.contains("the same failure in the same state"), "{}{}", told.out, told.err);
}

#[test]
fn a_framed_counterexample_replays_without_the_peer() {
    let folder = Folder::new("framing-replay");
    folder.compile("server", &["-g"], SERVER);
    folder.compile("client", &["-g"], &client(&["\"GE\"", "\"T\\n\""], "5"));
    let told = check(&folder, "framing = \"lines\"", &[]);
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    assert_eq!(folder.run(&["check"]).code, Some(1));
    std::fs::remove_file(folder.0.join("server")).expect("it was there");
    let told = folder.run(&["replay"]);
    assert!(told.err.contains("the same failure in the same state"), "{}{}", told.out, told.err);
}
