//! Nothing is left running.

use crate::server::{MAIN, Server, ask, open, start};
use native::{Address, Network, Spec};
use std::time::{Duration, Instant};

/// A server with children, threads and a daemon in a session of its own.
const FAMILY: &str = "static void serve(int fd, char *line) {
        if (!fork()) { setsid(); if (!fork()) for (;;) pause(); _exit(0); }
        if (!fork()) for (;;) pause();
        answer(fd, \"started\"); }";

/// Processes whose working folder is this one.
fn working_in(folder: &std::path::Path) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let is_there = |pid: &String| {
        let is_process = pid.bytes().all(|byte| byte.is_ascii_digit());
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_alive = !stat.contains(") Z ") && !stat.contains(") X ");
        is_process && is_alive && std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder)
    };
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(is_there).collect()
}

#[test]
fn all_that_was_started_ends_with_the_instance() {
    let server = Server::new("family", &format!("{FAMILY}{MAIN}"));
    let folder = server.0.canonicalize().expect("it is there");
    let mut instance = server.start();
    let one = open(&mut instance);
    assert_eq!(ask(&mut instance, one, "a"), "started");
    assert!(working_in(&folder).len() >= 4, "supervisor, server, child, daemon");
    drop(instance);
    assert_eq!(working_in(&folder), Vec::<String>::new());
}

/// A server on the host's network, on a port that is free.
fn on_the_host(server: &Server) -> Spec {
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    Spec {
        address: Address::Tcp(port),
        network: Network::Host,
        command: vec![b"./server".to_vec(), port.to_string().into_bytes()],
        ..server.spec()
    }
}

const MAIN_AT: &str = "int main(int n, char **words) { loop(hear(atoi(words[1]))); }";

#[test]
fn on_the_hosts_network_all_ends_too_and_the_next_instance_has_the_port() {
    let server = Server::new("plain", &format!("{FAMILY}{MAIN_AT}"));
    let folder = server.0.canonicalize().expect("it is there");
    let spec = on_the_host(&server);
    for _ in 0..3 {
        let mut instance = start(&spec).unwrap_or_else(|problem| panic!("it {problem}"));
        assert!(!instance.has_own_network());
        let one = open(&mut instance);
        assert_eq!(ask(&mut instance, one, "a"), "started");
        assert!(working_in(&folder).len() >= 4, "supervisor, server, child, daemon");
        let told = start(&spec).err().expect("the port is taken").to_string();
        assert!(told.contains("is in use on this machine"), "{told}");
        drop(instance);
        assert_eq!(working_in(&folder), Vec::<String>::new());
    }
}

/// Set in the process that is killed.
const VICTIM: &str = "ALLWAYS_NATIVE_VICTIM";

#[test]
fn nothing_is_left_after_we_are_killed() {
    if std::env::var_os(VICTIM).is_some() {
        let server = std::mem::ManuallyDrop::new(Server::new("victim", &format!("{FAMILY}{MAIN}")));
        let mut instance = server.start();
        let one = open(&mut instance);
        ask(&mut instance, one, "a");
        std::fs::write(server.0.join("ready"), "").expect("can write");
        loop {
            std::thread::park();
        }
    }
    let mut victim = std::process::Command::new(std::env::current_exe().expect("this test"));
    victim.args(["--exact", "isolation::nothing_is_left_after_we_are_killed", "--nocapture"]).env(VICTIM, "1");
    let mut victim = victim.spawn().expect("it runs");
    let folder = std::env::temp_dir().join(format!("allways-native-victim-{}", victim.id()));
    until(|| folder.join("ready").exists());
    let folder = folder.canonicalize().expect("it is there");
    assert!(working_in(&folder).len() >= 4);
    victim.kill().expect("SIGKILL");
    victim.wait().expect("it ended");
    until(|| working_in(&folder).is_empty());
    let _ = std::fs::remove_dir_all(folder);
}

/// Waits; a watchdog, no measurement.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}
