//! Native peers: the same verdicts as those of peers in worlds of their own, and what can go wrong.

use crate::folder::{Folder, Told};
use crate::peers::{PEER, SERVER, built, fails_and_replays_without};
use std::time::{Duration, Instant};

fn check(folder: &Folder, peer: &str, more: &[&str]) -> Told {
    folder.run(&[&["check", "--no-save", "--outside", "native", "--peer", peer], more, &["--", "./client"]].concat())
}

#[test]
fn every_engine_finds_both_orders_of_two_clients() {
    let folder = built("native-order", &["-DORDER"]);
    for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"], &["--audit=1"]] {
        let told = check(&folder, PEER, more);
        assert_eq!(told.code, Some(1), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("answers[0] == '1'") && told.out.contains("answers \"2\""), "{}", told.out);
    }
}

#[test]
fn what_holds_holds_and_restarts_are_counted() {
    let folder = built("native-hold", &[]);
    for more in [&[][..], &["--engine", "dpor"], &["--reduction", "off"]] {
        // A path from here: a native peer works in the folder of the check.
        let told = check(&folder, "count:7000=./server", more);
        assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
        assert!(told.out.contains("for the peer behaviour recorded: count (native, "), "{}", told.out);
        assert!(told.out.contains(" restarts)"), "{}", told.out);
    }
}

#[test]
fn a_counterexample_with_a_native_peer_replays_without_it() {
    let folder = built("native-replay", &["-DORDER"]);
    fails_and_replays_without(&folder, &["--outside", "native", "--peer", PEER], "answers[0] == '1'");
}

#[test]
fn a_native_redis_loses_an_update_and_keeps_it_with_incr() {
    let peer = "db:6379=redis-server --port 6379";
    for (flags, code) in [(&[][..], 1), (&["-DFIXED"], 0)] {
        let folder = Folder::new(&format!("native-redis-{code}"));
        folder.compile("client", flags, "programs/peers/counter.c");
        let told = check(&folder, peer, &[]);
        assert_eq!(told.code, Some(code), "{}{}", told.out, told.err);
    }
}

#[test]
fn what_differs_when_it_is_told_again_is_inconclusive() {
    let folder = built("native-differs", &[]);
    let source = SERVER.replace("answer = '0' + ++count;", "answer = 'a' + __builtin_ia32_rdtsc() / 64 % 26;");
    folder.compile("server", &[], &source);
    // The assertion fails with any of these letters; it is not looked for.
    let told = check(&folder, "count:7000=./server", &["--reduction", "off", "--check", "deadlock"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    let expected = "peer `count` answered differently when it was told the same again";
    assert!(told.err.contains(expected) && told.out.contains(expected), "{}{}", told.out, told.err);
    assert!(told.err.contains(" messages, connection ") && told.err.contains("first  \""), "{}", told.err);
}

#[test]
fn a_crash_in_the_middle_of_an_answer_is_part_of_the_behaviour() {
    let folder = built("native-crash", &[]);
    let source = SERVER.replace("return 2;", "return 2; if (count == 2) __builtin_trap();");
    folder.compile("server", &[], &source);
    let told = check(&folder, "count:7000=./server", &[]);
    assert_eq!(told.code, Some(0), "all that is asked for was answered: {}{}", told.out, told.err);
    assert!(told.out.contains("it ended by SIGILL after "), "{}", told.out);
    folder.compile("server", &[], &SERVER.replace("answer = '0'", "if (count == 1) __builtin_trap(); answer = '0'"));
    let told = check(&folder, "count:7000=./server", &[]);
    assert_eq!(told.code, Some(1), "the second client gets no answer: {}{}", told.out, told.err);
}

#[test]
fn limits_are_kept_while_a_native_peer_hangs_and_nothing_is_guessed() {
    let folder = built("native-hang", &[]);
    folder.compile("server", &[], &SERVER.replace("answer = '0'", "for (;;); answer = '0'"));
    let told = check(&folder, "count:7000=./server", &["--time", "2s"]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    let told = check(&folder, "count:7000=./server", &[]);
    assert_eq!(told.code, Some(3), "{}{}", told.out, told.err);
    assert!(told.out.contains("peer `count` neither answered nor came to rest in 10 s: thread 1 runs"), "{}", told.out);
}

#[test]
fn a_native_peer_that_cannot_be_used_is_named() {
    let folder = built("native-wrong", &[]);
    folder.compile("mute", &[], "#include <stdio.h>\nint main(void) { puts(\"no configuration\"); return 3; }");
    for (peer, why) in [
        ("count:7000=./nowhere", "peer `count` cannot be started: No such file or directory"),
        (
            "count:7000=no-such-server",
            "`--peer`: no program `no-such-server` in PATH\n  = help: give its path (./no-such-server), or a PATH",
        ),
        (
            "count:7000=./mute",
            "peer `count` did not listen on port 7000 and ended with status 3; its last words: no configuration",
        ),
        ("count:7001=./server", "peer `count` did not listen on port 7001 in 10 s; it printed nothing"),
    ] {
        let told = check(&folder, peer, &[]);
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.err);
        assert!(told.err.contains(why), "{}", told.err);
    }
}

/// Processes that work in a folder and are not over.
fn working_in(folder: &Folder) -> usize {
    let path = folder.0.canonicalize().expect("it is there");
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let is_there = |pid: &std::path::Path| {
        let stat = std::fs::read_to_string(pid.join("stat")).unwrap_or_default();
        !stat.contains(") Z ") && std::fs::read_link(pid.join("cwd")).is_ok_and(|cwd| cwd == path)
    };
    all.filter(|entry| is_there(&entry.path())).count()
}

#[test]
fn nothing_is_left_running_after_a_kill() {
    let folder = built("native-kill", &[]);
    // It has states without end, so that the check is still there to be killed.
    let client = "#include <unistd.h>\nstatic long n; int main(void) { for (;; n++) getppid(), write(1, \"\", 0); }";
    folder.compile("client", &["-w"], client);
    let arguments = ["check", "--no-save", "--outside", "native", "--peer", "count:7000=./server", "--", "./client"];
    let mut check = folder.command(&arguments);
    let mut check =
        check.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().expect("it runs");
    // The check, the process that waits for the supervisor, the supervisor, the peer.
    until(|| working_in(&folder) >= 3);
    check.kill().expect("SIGKILL");
    check.wait().expect("it ended");
    until(|| working_in(&folder) == 0);
}

/// Waits; a watchdog, no measurement.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn doctor_tries_what_native_peers_need() {
    let told = Folder::new("native-doctor").run(&["doctor"]);
    assert!(matches!(told.code, Some(0 | 3)), "{}{}", told.out, told.err);
    for name in ["namespaces", "seccomp notification", "ptrace at exec", "sock_diag", "/proc/PID/schedstat"] {
        let line = told.out.lines().find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name} is missing in {}", told.out));
        assert!(line.ends_with(" ok") || line.contains(" missing: "), "{line}");
    }
}
