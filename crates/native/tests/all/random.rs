//! Each process has random bytes of its own, whoever asks first.

use crate::server::{Server, open, rest};
use native::Instance;

/// A process for each connection, which answers with random bytes when it is asked.
const FORKS: &str = "static void serve(int fd, char *line) {}
    static void talk(int fd) { char c, t[64]; unsigned long r; while (read(fd, &c, 1) == 1) { getrandom(&r, sizeof r, 0);
        sprintf(t, \"%016lx \", r); answer(fd, t); } _exit(0); }
    int main(void) { signal(SIGCHLD, SIG_IGN); int l = hear(7000); for (;;) { int fd = accept(l, 0, 0); FORK; close(fd); } }";

fn ask_in(instance: &mut Instance, order: &[usize]) {
    for connection in order {
        instance.send(*connection, b"x");
        rest(instance);
    }
}

/// What each of three connections was answered, asked in this order.
fn answers(server: &Server, order: &[usize]) -> Vec<String> {
    let mut instance = server.start();
    for _ in 0..3 {
        open(&mut instance);
    }
    ask_in(&mut instance, order);
    (0..3).map(|connection| String::from_utf8_lossy(&instance.stream(connection).bytes).into_owned()).collect()
}

#[test]
fn processes_are_told_apart_by_how_they_came_to_be() {
    for (name, fork) in [
        ("fork", "if (!fork()) talk(fd)"),
        ("twice", "if (!fork()) { if (!fork()) { usleep(1000); talk(fd); } _exit(0); }"),
        ("noise", "if (!fork()) _exit(0); if (!fork()) talk(fd)"),
    ] {
        let server = Server::new(&format!("random-{name}"), &format!("#define FORK {fork}\n{FORKS}"));
        let first = answers(&server, &[0, 1, 2, 0, 1, 2]);
        let second = answers(&server, &[2, 2, 1, 0, 1, 0]);
        assert_eq!(first, second, "{name}");
        assert!(first[0] != first[1] && first[1] != first[2] && first[0].len() == 34, "{name}: {first:?}");
    }
}

#[test]
fn a_program_that_is_executed_goes_on_with_the_bytes_of_its_process() {
    let fork = "if (!fork()) { dup2(fd, 0); dup2(fd, 1); execlp(\"./server\", \"server\", \"talk\", NULL); }";
    let main = "if (n > 1) talk(0); ";
    let code = FORKS.replace("main(void) {", &format!("main(int n, char **words) {{ {main}"));
    let server = Server::new("random-exec", &format!("#define FORK {fork}\n{code}"));
    assert_eq!(answers(&server, &[0, 1, 2]), answers(&server, &[2, 1, 0]));
}

#[test]
fn random_devices_have_the_same_bytes_in_every_instance_and_no_end() {
    // Two files of a process, and those of its child, differ; one of them is read to far beyond what a pipe holds.
    let code = "#include <fcntl.h>
    static unsigned long of(const char *path, int flags, int count) { unsigned long sum = 0, word; int fd = flags < 0 ? syscall(2, path, 0) : open(path, flags);
        while (count--) { if (read(fd, &word, sizeof word) != sizeof word) abort(); sum = sum * 31 + word; } close(fd); return sum; }
    static void serve(int fd, char *line) { char t[256]; int p[2]; unsigned long child; pipe(p);
        if (!fork()) { child = of(\"/dev/urandom\", 0, 3); write(p[1], &child, sizeof child); _exit(0); }
        read(p[0], &child, sizeof child); wait(0);
        sprintf(t, \"%lx %lx %lx %lx %lx \", of(\"/dev/urandom\", O_CLOEXEC, 3), of(\"/dev/urandom\", -1, 3), of(\"/dev/random\", 0, 3), of(\"/dev/urandom\", 0, 100000), child);
        answer(fd, t); }";
    let server = Server::new("random-devices", &format!("{code}{}", crate::server::MAIN));
    let told = || {
        let mut instance = server.start();
        let one = open(&mut instance);
        crate::server::ask(&mut instance, one, "a");
        crate::server::ask(&mut instance, one, "b")
    };
    let (first, second) = (told(), told());
    assert_eq!(first, second);
    let mut words: Vec<&str> = first.split_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 10, "{first}");
}
