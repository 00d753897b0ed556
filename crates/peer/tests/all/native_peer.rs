//! A native peer goes back by being started again.

use kernel::Id;
use kernel::net::far::{Place, Said, Saying};
use native::{Clock, Network, Role, Spec};
use peer::{Address, Ignore, Native, Outside, Shape, Terms, Trouble};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Answers each byte by what `SAY` makes of it.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(void) {
#ifdef PATH
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), count = 0, connections = 0;
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = PATH};
#else
    int listener = socket(AF_INET, SOCK_STREAM, 0), count = 0, connections = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7000)};
#endif
    struct pollfd all[32] = {{.fd = listener, .events = POLLIN}};
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 8)) return 1;
    for (;;) {
        int ready = poll(all, connections + 1, WAIT);
        if (!ready) { if (connections) write(all[1].fd, "late", 4); continue; }
        if (all[0].revents) all[++connections] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
        for (int i = 1; i <= connections; i++) {
            char byte, text[64];
            if (!all[i].revents) continue;
            if (read(all[i].fd, &byte, 1) != 1) { close(all[i].fd); all[i].fd = -1; continue; }
            count++;
            SAY;
            write(all[i].fd, text, strlen(text));
        }
    }
}
"#;

pub struct Server(pub PathBuf);

impl Server {
    pub fn new(name: &str, say: &str, wait: &str) -> Self {
        Self::new_at(name, say, wait, None)
    }

    /// One that listens at a path, if that is given.
    pub fn new_at(name: &str, say: &str, wait: &str, path: Option<&str>) -> Self {
        let path = path.map(|path| format!("-DPATH=\"{path}\""));
        let defines = [format!("-DSAY={say}"), format!("-DWAIT={wait}")].into_iter().chain(path);
        Self::of(name, SERVER, &defines.collect::<Vec<_>>())
    }

    /// One that is compiled with definitions.
    pub fn of(name: &str, source: &str, defines: &[String]) -> Self {
        let folder = std::env::temp_dir().join(format!("allways-peer-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("can make a folder");
        std::fs::write(folder.join("server.c"), source).expect("can write a file");
        let gcc =
            Command::new("gcc").args(["-w", "-o", "server", "server.c"]).args(defines).current_dir(&folder).output();
        let output = gcc.expect("gcc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(folder)
    }

    /// Starts it at an address.
    pub fn start_at(&self, address: Address) -> Native {
        let terms = Terms { patience: LONG, ..Terms::default() };
        Native::of("db", &Shape::Listens(address), &self.command(), terms, Arc::new(|| false))
            .unwrap_or_else(|trouble| panic!("{trouble}"))
    }

    fn command(&self) -> world::Command {
        let (arguments, directory) = (vec![b"./server".to_vec()], self.0.as_os_str().as_bytes().to_vec());
        world::Command { arguments, environment: Vec::new(), directory, user: None }
    }

    pub fn start(&self, patience: Duration) -> Result<Native, Trouble> {
        let (clock, network) = (Clock::Virtual, Network::Own);
        let (command, directory) = (vec![b"./server".to_vec()], self.0.clone());
        let role = Role::Server;
        let (environment, address) = (Vec::new(), native::Address::Tcp(7000));
        let spec = Spec { command, environment, directory, address, role, clock, network, patience };
        Native::start("db", spec, Terms::default(), Arc::new(|| false))
    }

    /// Starts it with the clock of this machine, and with parts of its answers that may differ.
    fn start_ignoring(&self, patterns: &[&str]) -> Native {
        let ignore = Ignore::new(&patterns.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("patterns");
        let terms = Terms { clock: Clock::Real, ignore, patience: LONG, ..Terms::default() };
        Native::of("db", &Shape::Listens(Address::Port(7000)), &self.command(), terms, Arc::new(|| false))
            .expect("it starts")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub const LONG: Duration = Duration::from_secs(60);

fn open(peer: &Native, place: Place, end: u64) -> Place {
    peer.after(place, &Said { end: Id(end), what: Saying::Open })
}

fn send(peer: &Native, place: Place, end: u64, text: &str) -> Place {
    peer.after(place, &Said { end: Id(end), what: Saying::Bytes(text.into()) })
}

fn heard(peer: &Native, place: Place, end: u64) -> String {
    let heard = peer.heard(place).unwrap_or_else(|trouble| panic!("{trouble}"));
    String::from_utf8_lossy(&heard.streams[&Id(end)].bytes).into_owned()
}

#[test]
fn every_place_is_answered_in_whatever_order_it_is_asked_for() {
    let server = Server::new("tree", "sprintf(text,\"%c%d\",byte,count)", "-1");
    let peer = server.start(LONG).expect("it starts");
    let start = open(&peer, open(&peer, Place::default(), 7), 3);
    let places: Vec<(Place, u64, String)> = ["a", "b", "c", "d", "e", "f"]
        .into_iter()
        .flat_map(|text| {
            let one = send(&peer, start, 7, text);
            let two = send(&peer, one, 3, text);
            [(one, 7, format!("{text}1")), (two, 3, format!("{text}2"))]
        })
        .collect();
    for (place, end, expected) in places.iter().chain(places.iter().rev()) {
        assert_eq!(heard(&peer, *place, *end), *expected);
    }
    let traffic = peer.traffic();
    assert!(traffic.restarts >= 2 && traffic.replays > 0, "{traffic:?}");
    assert!(peer.told().starts_with("native, ") && peer.told().ends_with(" restarts"), "{}", peer.told());
}

#[test]
fn an_answer_that_differs_is_shown_and_nothing_follows() {
    let server = Server::new("differs", "sprintf(text,\"now:%lu\",__builtin_ia32_rdtsc())", "-1");
    let peer = server.start(LONG).expect("it starts");
    let start = open(&peer, Place::default(), 7);
    let one = send(&peer, start, 7, "a");
    // Each leads away from the same answer: at some time an instance has to be started again.
    let places: Vec<Place> = ["1", "2", "3", "4", "5", "6"].into_iter().map(|text| send(&peer, one, 7, text)).collect();
    assert!(peer.heard(one).is_ok());
    let trouble = places.iter().find_map(|place| peer.heard(*place).err()).expect("it cannot say the same again");
    let Trouble::Inconclusive(told) = trouble else { panic!("{trouble:?}") };
    assert!(
        told.starts_with(
            "peer `db` answered differently when it was told the same again\n  after 2 messages, connection 1, byte "
        ),
        "{told}"
    );
    assert!(told.contains("first  \"now:") && told.contains("again  \"now:"), "{told}");
}

#[test]
fn what_is_ignored_may_differ_and_the_first_answer_stays() {
    // Numbers of different lengths: what follows must not depend on how long they are.
    let say = "sprintf(text,\"now:%lu;%c\",__builtin_ia32_rdtsc()%(byte%2?99999:9),byte)";
    let server = Server::new("ignores", say, "-1");
    let peer = server.start_ignoring(&["now:[0-9]+"]);
    let one = send(&peer, open(&peer, Place::default(), 7), 7, "a");
    let first = heard(&peer, one, 7);
    for text in ["1", "2", "3", "4", "5", "6"] {
        let told = heard(&peer, send(&peer, one, 7, text), 7);
        let news = told.strip_prefix(&first).unwrap_or_else(|| panic!("{told} does not go on from {first}"));
        assert!(news.starts_with("now:") && news.ends_with(&format!(";{text}")), "{told}");
    }
    assert!(peer.traffic().replays > 0, "{:?}", peer.traffic());
}

#[test]
fn a_peer_that_hangs_is_inconclusive_and_one_that_crashes_is_recorded() {
    let server = Server::new("hangs", "if(byte=='h')for(;;);if(byte=='x')__builtin_trap();strcpy(text,\"ok\")", "-1");
    let peer = server.start(LONG).expect("it starts");
    let start = open(&peer, Place::default(), 7);
    assert_eq!(heard(&peer, send(&peer, start, 7, "x"), 7), "");
    assert!(peer.told().contains("it ended by SIGILL after 2 messages (recorded)"), "{}", peer.told());
    assert_eq!(heard(&peer, send(&peer, start, 7, "a"), 7), "ok");
    let hasty = (0..20).find_map(|_| server.start(Duration::from_millis(700)).ok()).expect("it listens at some time");
    let start = open(&hasty, Place::default(), 7);
    let told = hasty.heard(send(&hasty, start, 7, "h")).expect_err("it hangs").to_string();
    assert_eq!(told, "peer `db` neither answered nor came to rest in 700 ms: thread 1 runs");
}

#[test]
fn a_peer_that_speaks_without_cause_is_noticed() {
    let server = Server::new("speaks", "strcpy(text,\"ok\")", "300");
    let peer = server.start(LONG).expect("it starts");
    let mut place = open(&peer, Place::default(), 7);
    // It may also speak between a message and its answer: that is then part of the answer, and no trouble.
    let trouble = (0..50).find_map(|_| {
        std::thread::sleep(Duration::from_millis(400));
        place = send(&peer, place, 7, "a");
        peer.heard(place).err()
    });
    let told = trouble.expect("it speaks whenever it is left alone").to_string();
    assert!(told.starts_with("peer `db` spoke without cause: after "), "{told}");
}
