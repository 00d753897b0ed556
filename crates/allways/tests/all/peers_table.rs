//! What peers do that is out of the ordinary, each once in a world of its own and once natively, with what a check says of it. Limits, divergence,
//! `strict` and peers that never listen have files of their own.

use crate::folder::{Folder, Told};
use crate::peers::replays_without;

/// A server whose first argument says what it does with what it is told.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static struct pollfd all[16];
static int is_subscriber[16], connections;
static char big[1 << 16];
static void told(char **words, int i, const char *text, int length) {
    const char *mode = words[1];
    int fd = all[i].fd;
    if (!strcmp(mode, "crash")) { write(fd, "half", 4); abort(); }
    if (!strcmp(mode, "hang")) for (volatile int spins = 0;; spins++) {}
    if (!strcmp(mode, "half-close") && length == 0) write(fd, "late", 4);
    if (!strcmp(mode, "large")) {
        for (int piece = 0; piece < atoi(words[2]); piece++) write(fd, memset(big, 'a' + piece % 26, sizeof big), sizeof big);
        length = 0;
    }
    for (int other = 1; !strcmp(mode, "publish") && *text == 'p' && other <= connections; other++)
        if (is_subscriber[other]) write(all[other].fd, "news", 4);
    if (*text == 's') { is_subscriber[i] = 1; write(fd, "+", 1); }
    if (length == 0) { close(fd); all[i].fd = -1; is_subscriber[i] = 0; }
}
int main(int count, char **words) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    all[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (;;) {
        poll(all, connections + 1, -1);
        if (all[0].revents) {
            all[++connections] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
            if (!strcmp(words[1], "banner")) write(all[connections].fd, "220 ready", 9);
        }
        for (int i = 1; i <= connections; i++) {
            char text[100] = "";
            if (all[i].fd >= 0 && all[i].revents) told(words, i, text, read(all[i].fd, text, 100));
        }
    }
}
"#;

/// What clients share.
const HEAD: &str = r#"
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static char data[1 << 16];
static int opened(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) _exit(3);
    return fd;
}
static long all_of(int fd) {
    long total = 0;
    for (ssize_t got; (got = read(fd, data, sizeof data)) > 0; total += got) {}
    return total;
}
"#;

/// Where peers run.
const PLACES: [&str; 2] = ["world", "native"];

/// A check of a client with a server that does this, which may take so long to come to rest.
fn built(name: &str, mode: &str, main: &str) -> Folder {
    let folder = Folder::new(&format!("peers-table-{name}"));
    folder.compile("server", &["-w"], SERVER);
    folder.compile("client", &["-g", "-w", "-pthread"], &format!("{HEAD}{main}"));
    let section = |place: &str| {
        format!(
            "[check.{place}.service.main]\ncommand = \"./client\"\n[check.{place}.peer.db]\ncommand = \"./server {mode}\"\n\
             listens = 7000\npatience = \"{}\"\n{}\n",
            if mode == "hang" { "200ms" } else { "10s" },
            if place == "native" { "outside = \"native\"" } else { "" }
        )
    };
    std::fs::write(folder.0.join("allways.toml"), PLACES.map(section).concat()).expect("it can be written");
    folder
}

/// Both places give this exit code.
fn told(folder: &Folder, more: &[&str], code: i32) -> [Told; 2] {
    PLACES.map(|place| {
        let told = folder.run(&[&["check", "--no-save"], more, &[place]].concat());
        assert_eq!(told.code, Some(code), "{place}: {}{}", told.out, told.err);
        told
    })
}

/// Both places say this.
fn both_say(told: &[Told; 2], words: &str) {
    for told in told {
        assert!(told.out.contains(words), "{words}: {}{}", told.out, told.err);
    }
}

#[test]
fn who_waits_for_a_peer_that_waits_is_deadlocked_and_the_peer_is_named() {
    let folder =
        built("quiet", "quiet", "int main(void) { int fd = opened(); write(fd, \"x\", 1); return all_of(fd); }");
    let words = "waits in read fd 3 (socket) for peer `db`, which waits for input";
    both_say(&told(&folder, &[], 1), words);
    assert_eq!(folder.run(&["check", "world"]).code, Some(1));
    let again = replays_without(&folder);
    assert!(again.out.contains(words), "also without the peer: {}", again.out);
}

#[test]
fn who_waits_in_poll_or_epoll_for_peers_alone_is_told_so_and_others_are_not() {
    let watch = "struct epoll_event e = {.events = EPOLLIN}; int set = epoll_create1(0); epoll_ctl(set, EPOLL_CTL_ADD, fd, &e); epoll_wait(set, &e, 1, -1);";
    let table = [
        ("poll", "struct pollfd p = {fd, POLLIN}; poll(&p, 1, -1);", true),
        ("epoll", watch, true),
        (
            "pipe",
            "int ends[2]; pipe(ends); struct pollfd p[2] = {{fd, POLLIN}, {ends[0], POLLIN}}; poll(p, 2, -1);",
            false,
        ),
    ];
    for (name, waits, is_named) in table {
        let main =
            format!("#include <poll.h>\n#include <sys/epoll.h>\nint main(void) {{ int fd = opened(); {waits} }}");
        let folder = built(name, "quiet", &main);
        for told in told(&folder, &[], 1) {
            assert!(told.out.contains("waits in "), "{}", told.out);
            assert_eq!(told.out.contains("for peer `db`, which waits for input"), is_named, "{name}: {}", told.out);
        }
    }
}

#[test]
fn a_crash_in_the_middle_of_an_answer_delivers_what_came_and_is_told_with_its_signal() {
    let main = "int main(void) { int fd = opened(); write(fd, \"x\", 1); assert(all_of(fd) == 4 && !memcmp(data, \"half\", 4)); return 0; }";
    let folder = built("crash", "crash", main);
    both_say(&told(&folder, &[], 0), "; it ended by SIGABRT after 2 messages (recorded))");
    let folder = built("crash-whole", "crash", &main.replace("== 4", "== 8"));
    both_say(&told(&folder, &[], 1), "all_of(fd) == 8");
}

#[test]
fn a_peer_that_hangs_is_inconclusive_wherever_it_runs() {
    let folder = built("hang", "hang", "int main(void) { int fd = opened(); write(fd, \"x\", 1); return all_of(fd); }");
    let told = told(&folder, &[], 3);
    both_say(&told, "inconclusive: peer `db` neither answered nor came to rest in 200 ms: thread 1 runs");
}

#[test]
fn a_peer_can_speak_first_and_after_the_program_has_finished_its_side() {
    let main = "int main(void) { int fd = opened(); assert(read(fd, data, 100) == 9); close(fd); return 0; }";
    told(&built("banner", "banner", main), &[], 0);
    // It comes by a step of its own: who does not wait for it may miss it.
    let main = main.replace("read(fd, data, 100)", "recv(fd, data, 100, MSG_DONTWAIT)");
    both_say(&told(&built("banner-missed", "banner", &main), &[], 1), "MSG_DONTWAIT");
    let main = "int main(void) { int fd = opened(); write(fd, \"x\", 1); shutdown(fd, SHUT_WR); assert(all_of(fd) == 4); return 0; }";
    told(&built("half-close", "half-close", main), &[], 0);
}

/// A subscriber and a publisher on connections of their own.
const SUBSCRIBER: &str = r"
static pthread_barrier_t both;
static void *publish(void *nothing) {
    int fd = opened();
    SYNC;
    write(fd, PUBLISH, 1);
    close(fd);
    return nothing;
}
int main(void) {
    pthread_t other;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&other, 0, publish, 0);
    int fd = opened();
    write(fd, SUBSCRIBE, 1);
    assert(read(fd, data, 1) == 1);
    SYNC;
    assert(read(fd, data, 100) == 4);
    pthread_join(other, 0);
    return 0;
}
";

#[test]
fn what_one_connection_says_is_heard_on_another_if_it_is_said_in_time() {
    let main = SUBSCRIBER.replace("PUBLISH", "\"p\"").replace("SUBSCRIBE", "\"s\"");
    let folder = built("published", "publish", &main.replace("SYNC", "pthread_barrier_wait(&both)"));
    told(&folder, &[], 0);
    let folder = built("missed", "publish", &main.replace("SYNC;", ""));
    let told = told(&folder, &["--check", "deadlock,assert"], 1);
    both_say(&told, "for peer `db`, which waits for input");
}

#[test]
fn megabytes_come_through_a_window_and_memory_bounds_them() {
    let main = "int main(void) { int fd = opened(); write(fd, \"x\", 1); assert(all_of(fd) == 160 << 16); return 0; }";
    told(&built("large", "large 160", main), &["--mem", "1G"], 0);
    both_say(&told(&built("huge", "large 1600", main), &["--mem", "80M"], 3), "memory ran out");
}
