//! A peer that is a function: what the reduction must see of what is said to it.

use crate::{inside, start};
use checker::{Holes, Options, search};
use explore::graph::{Limits, Mode};
use kernel::net::far::{Place, Said, Saying};
use peer::{Address, Heard, Outside, Shape, Stream, Traffic, Trouble};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Answers each byte with how many it has got so far, on all connections.
#[derive(Default)]
struct Counter {
    places: Mutex<HashMap<Place, (u8, Arc<Heard>)>>,
}

impl Outside for Counter {
    fn name(&self) -> &str {
        "counter"
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        let mut places = self.places.lock().expect("no panic before");
        let (mut count, heard) = places.get(&place).cloned().unwrap_or_default();
        let mut heard = Heard::clone(&heard);
        let stream: &mut Stream = heard.streams.entry(said.end).or_default();
        if let Saying::Bytes(bytes) = &said.what {
            let answers = (count..).map(|count| b'1' + count).take(bytes.len());
            stream.bytes = stream.bytes.iter().copied().chain(answers).collect();
            count += bytes.len() as u8;
        }
        let after = place.after(said);
        places.entry(after).or_insert_with(|| (count, Arc::new(heard)));
        after
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        Ok(self
            .places
            .lock()
            .expect("no panic before")
            .get(&place)
            .map(|(_, heard)| Arc::clone(heard))
            .unwrap_or_default())
    }

    fn told(&self) -> String {
        "a counter".to_owned()
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

/// Two threads with a connection each, made beforehand: only what they say is ordered.
const PROGRAM: &str = r#"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static struct side { int fd; char answers[2]; char apart[4096]; } sides[2];
static int opened(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (void *)&to, sizeof to)) _exit(3);
    return fd;
}
static void *ask(void *of) {
    struct side *side = of;
    for (int i = 0; i < 2; i++)
        if (write(side->fd, "x", 1) != 1 || read(side->fd, &side->answers[i], 1) != 1) _exit(4);
    return 0;
}
int main(void) {
    pthread_t one, two;
    sides[0].fd = opened(), sides[1].fd = opened();
    pthread_create(&one, 0, ask, &sides[0]);
    pthread_create(&two, 0, ask, &sides[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 10 * (sides[0].answers[0] - '0') + sides[0].answers[1] - '0';
}
"#;

/// Exit codes of all schedules.
fn ends(folder: &Path, mode: Mode, holes: Holes) -> BTreeSet<String> {
    let mut programs = start::search_of(folder, Options { holes, ..Options::default() });
    programs.add_peer(Arc::new(Counter::default()), Shape::Listens(Address::Port(7000))).expect("a port");
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search(&mut programs, mode, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none());
    outcome.report.found.iter().map(|found| found.failure.message.clone()).collect()
}

#[test]
fn the_reduction_keeps_both_orders_and_it_is_noticed_when_what_is_said_is_left_out() {
    let folder = inside::folder("peers-said");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread", "-o", "program", "program.c"]).current_dir(&folder);
    assert!(gcc.status().expect("gcc runs").success());
    let full = ends(&folder, Mode::Full, Holes::default());
    assert_eq!(full.len(), 6, "two messages each: 4! / (2! 2!) orders");
    assert_eq!(ends(&folder, Mode::Reduced, Holes::default()), full);
    assert_ne!(ends(&folder, Mode::Reduced, Holes { said: true, ..Holes::default() }), full, "nobody notices");
}
