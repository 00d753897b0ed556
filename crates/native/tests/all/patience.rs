//! What patience counts: the time of the program, not that of a machine which has other things to do.

use crate::server::{MAIN, Server, ask, open, start};
use native::{Problem, Spec, run};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Computes on the first processor for 100 ms of its own time. As `server spin` it computes there for ever.
const BUSY: &str = "#include <sched.h>
    #include <sys/resource.h>
    static long ran(void) { struct rusage u; getrusage(RUSAGE_SELF, &u);
        return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000; }
    static void stay(void) { cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); sched_setaffinity(0, sizeof one, &one); }
    static void serve(int fd, char *line) { stay(); for (long from = ran(); ran() - from < 100;); answer(fd, \"done\"); }
    int main(int n, char **words) { if (n > 1) { setsid(); stay(); for (;;); } loop(hear(7000)); }";

/// Processes that keep the first processor busy, each in a session of its own.
struct Crowd(Vec<Child>);

impl Crowd {
    fn new(server: &Server, count: usize) -> Self {
        let spin = |_| Command::new("./server").arg("spin").current_dir(&server.0).spawn().expect("it runs");
        Self((0..count).map(spin).collect())
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn a_server_that_is_given_no_processor_is_waited_for() {
    let server = Server::new("starved", BUSY);
    let patience = Duration::from_millis(500);
    let mut instance = start(&Spec { patience, ..server.spec() }).unwrap_or_else(|problem| panic!("it {problem}"));
    let one = open(&mut instance);
    let crowd = Crowd::new(&server, 15);
    let begun = Instant::now();
    assert_eq!(ask(&mut instance, one, "a"), "done");
    assert!(begun.elapsed() > patience, "it was not kept from running: {:?}", begun.elapsed());
    drop(crowd);
}

#[test]
fn whoever_stops_does_so_at_once_while_a_server_is_waited_for() {
    let code = "static void serve(int fd, char *line) { for (volatile int i = 0;; i++); }";
    let server = Server::new("stopped", &format!("{code}{MAIN}"));
    let mut instance = server.start();
    let one = open(&mut instance);
    instance.send(one, b"a");
    let begun = Instant::now();
    assert_eq!(instance.rest(&|| begun.elapsed() > Duration::from_millis(200)), Err(Problem::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

fn words(text: &str) -> Vec<Vec<u8>> {
    ["sh", "-c", text].map(|word| word.as_bytes().to_vec()).into()
}

/// Whether the process runs whose number is in the file `child`.
fn is_there(server: &Server) -> bool {
    let child = std::fs::read_to_string(server.0.join("child")).expect("it was started");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    stat.contains("(sleep)") && !stat.contains(") Z ")
}

#[test]
fn a_command_ends_when_whoever_asks_stops_or_patience_does_and_so_does_what_it_started() {
    let server = Server::new("command", &format!("static void serve(int fd, char *line) {{}} {MAIN}"));
    let spec = server.spec();
    let command = "sleep 1000 & echo $! > child; wait";
    // A signal that was sent takes its time to arrive.
    let is_left = || {
        let until = Instant::now() + Duration::from_secs(10);
        while is_there(&server) && Instant::now() < until {
            std::thread::yield_now();
        }
        is_there(&server)
    };
    let (begun, has_begun) = (Instant::now(), || server.0.join("child").metadata().is_ok_and(|file| file.len() > 1));
    let told = run(&words(command), &spec, &|| has_begun());
    assert_eq!(told, Err(Problem::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(30) && !is_left(), "{:?}", begun.elapsed());
    let patience = Duration::from_millis(300);
    let told = run(&words(command), &Spec { patience, ..spec }, &|| false).expect_err("it never ends").to_string();
    assert_eq!(told, format!("cannot be kept: `sh -c {command}`: it did not end in 300 ms"));
    assert!(!is_left());
}
