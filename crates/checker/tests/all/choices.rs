//! Choices beside who moves: each kind is met where it should be, and counted by itself.

use crate::inside;
use crate::start;
use checker::system::choice::TIME;
use checker::{ChoiceKind, Engine, Options, Programs, Snapshot, Timeouts, search_by};
use explore::graph::{FootprintSystem, Limits, Mode, Reached, Report};
use trace::Choice;

const HEAD: &str = "#include <assert.h>\n#include <netinet/in.h>\n#include <poll.h>\n#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\n";

/// Two threads wait for connections; the first that comes says `a`.
const ACCEPT: &str = "static int listener; static struct sockaddr_in name; static char got[2];\n\
    static void *take(void *me) { int fd = accept(listener, 0, 0); read(fd, &got[(long)me], 1); close(fd); return 0; }\n\
    static void dial(char c) { int fd = socket(AF_INET, SOCK_STREAM, 0); connect(fd, (void *)&name, sizeof name);\n\
    write(fd, &c, 1); close(fd); }\n\
    int main(void) { pthread_t t[2]; name.sin_family = AF_INET; name.sin_port = htons(7000);\n\
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK); listener = socket(AF_INET, SOCK_STREAM, 0);\n\
    bind(listener, (void *)&name, sizeof name); listen(listener, 2);\n\
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, take, (void *)i);\n\
    dial('a'); dial('b'); for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n\
    assert(got[0] == EXPECTED); return 0; }\n";

/// Whether a thread competes for a connection depends on where another is, while a third one works and changes nothing of that.
const LATE: &str = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int listener, n; static struct sockaddr_in name;\n\
    static void count(void) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }\n\
    static void *early(void *p) { close(accept(listener, 0, 0)); return p; }\n\
    static void *late(void *p) { count(); return early(p); }\n\
    static void *work(void *p) { count(); count(); return p; }\n\
    static void *dial(void *p) { for (int i = 0; i < 2; i++) { int fd = socket(AF_INET, SOCK_STREAM, 0);\n\
    connect(fd, (void *)&name, sizeof name); close(fd); } return p; }\n\
    int main(void) { pthread_t t[4]; name.sin_family = AF_INET; name.sin_port = htons(7000);\n\
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK); listener = socket(AF_INET, SOCK_STREAM, 0);\n\
    bind(listener, (void *)&name, sizeof name); listen(listener, 2); void *(*all[])(void *) = {early, late, work, dial};\n\
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, all[i], 0);\n\
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }\n";

/// Two threads sleep, a signal comes.
const SIGNAL: &str = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
    static int turns; static void *wait_for(void *p) { pthread_mutex_lock(&m); while (!turns) pthread_cond_wait(&c, &m);\n\
    turns--; pthread_mutex_unlock(&m); return p; }\n\
    int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, wait_for, 0);\n\
    for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m); turns++; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }\n\
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }\n";

/// Three bytes are there to be read.
const READ: &str = "int main(void) { int ends[2]; char bytes[3]; pipe(ends); write(ends[1], \"abc\", 3);\n\
    read(ends[0], bytes, 3); return 0; }\n";

/// A thread waits for a moment while another works.
const WAIT: &str = "static int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *work(void *p) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return p; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); usleep(MOMENT);\n\
    pthread_mutex_lock(&m); int seen = x; pthread_mutex_unlock(&m); pthread_join(t, 0); return 0 * seen; }\n";

/// A handler sends its signal once more: whoever blocks it least takes that, a thread that waits or this one when it returns.
const HANDLED: &str = "static int times, by_main; static pthread_t first;\n\
    static void handle(int n) { by_main += pthread_self() == first; if (!times++) kill(getpid(), n); }\n\
    static void *wait_for(void *p) { poll(0, 0, -1); return p; }\n\
    int main(void) { pthread_t t; first = pthread_self(); signal(SIGUSR1, handle); pthread_create(&t, 0, wait_for, 0);\n\
    kill(getpid(), SIGUSR1); int both = by_main == 2; _exit(both); }\n";

fn start(name: &str, source: &str, defined: &str, options: Options) -> Programs {
    let folder = inside::folder(&format!("choices-{name}"));
    std::fs::write(folder.join("program.c"), format!("{HEAD}{source}")).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    let gcc = gcc.current_dir(&folder).args(["-g", "-O1", "-w", "-pthread", "-o", "program", "program.c"]).arg(defined);
    assert!(gcc.status().expect("gcc runs").success(), "{name} does not compile");
    start::search_of(&folder, options)
}

fn look(name: &str, source: &str, defined: &str, engine: &Engine, options: Options) -> Report {
    let mut programs = start(name, source, defined, options);
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut stop };
    let outcome = search_by(engine, &mut programs, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none(), "{name}: {:?}", programs.refusal);
    outcome.report
}

const GRAPH: Engine = Engine::Graph { mode: Mode::Reduced, workers: 1, alone: 0 };
const CLASSES: Engine = Engine::Classes { depth: 10_000 };

/// Kinds that were met.
fn met(report: &Report) -> Vec<ChoiceKind> {
    let is_met = |what: &ChoiceKind| report.counts.choices.of(*what as u8).states > 0;
    ChoiceKind::ALL.into_iter().filter(is_met).collect()
}

#[test]
fn either_of_two_that_wait_may_accept_a_connection() {
    for expected in ["-DEXPECTED='a'", "-DEXPECTED='b'"] {
        let report = look("accept", ACCEPT, expected, &GRAPH, Options::default());
        assert_eq!(report.found.len(), 1, "{expected}: {:?}", report.found);
        assert_eq!(met(&report), [ChoiceKind::Accepts], "{expected}");
    }
}

#[test]
fn who_a_thread_is_depends_on_who_else_waits_for_a_connection() {
    // Who is remembered is compared with who is told.
    let report = look("late", LATE, "-DX", &GRAPH, Options::default());
    assert_eq!((report.found.len(), met(&report)), (0, vec![ChoiceKind::Accepts]));
}

#[test]
fn each_kind_of_choice_is_counted_by_itself() {
    let default = Options::default;
    let table = [
        ("signal", SIGNAL, default(), vec![ChoiceKind::Wakes]),
        ("signal", SIGNAL, Options { any_sleeper: false, ..default() }, vec![]),
        ("read", READ, default(), vec![]),
        ("read", READ, Options { short_reads: true, ..default() }, vec![ChoiceKind::Reads]),
        ("wait", WAIT, default(), vec![]),
        ("wait", WAIT, Options { timeouts: Timeouts::Any(1), ..default() }, vec![ChoiceKind::Timeouts]),
    ];
    for (name, source, options, expected) in table {
        for engine in [GRAPH, CLASSES] {
            let report = look(name, source, "-DMOMENT=10", &engine, options.clone());
            assert_eq!(met(&report), expected, "{name} {engine:?}");
            let taken = |what: &ChoiceKind| report.counts.choices.of(*what as u8).taken;
            assert!(expected.iter().all(|what| taken(what) > 0), "{name} {engine:?}");
        }
    }
}

#[test]
fn all_ways_of_a_read_are_counted_as_taken() {
    let report = look("ways", READ, "-DX", &GRAPH, Options { short_reads: true, ..Options::default() });
    let reads = report.counts.choices.of(ChoiceKind::Reads as u8);
    assert_eq!((reads.states, reads.taken), (1, 3), "all, all but one, one");
}

#[test]
fn time_that_has_passed_already_is_not_spent_again() {
    let options = Options { timeouts: Timeouts::Any(2), ..Options::default() };
    let mut programs = start("passed", WAIT, "-DMOMENT=10", options);
    let mut reached = programs.initial();
    let time =
        |reached: &Reached<Snapshot>| reached.actors.iter().any(|actor| actor.number == TIME && actor.choices > 0);
    while !time(&reached) {
        let main = reached.actors.iter().find(|actor| actor.choices > 0).expect("it has not slept yet").number;
        reached = programs.step(&reached.state, Choice { actor: main, index: 0 }).expect("it can move").reached;
    }
    reached = programs.step(&reached.state, Choice { actor: TIME, index: 0 }).expect("it may pass").reached;
    assert!(reached.actors.iter().filter(|actor| actor.choices > 0).count() >= 2, "both threads can move");
    assert!(!time(&reached), "the moment has come, although nobody has moved since");
}

#[test]
fn who_handles_a_signal_depends_on_what_others_block() {
    let exits = |mode| {
        let engine = Engine::Graph { mode, workers: 1, alone: 0 };
        let report = look("handled", HANDLED, "-DNOTHING", &engine, Options::default());
        (report.ends, report.found.len())
    };
    let full = exits(Mode::Full);
    assert_eq!((full.0.len(), full.1), (1, 1), "it ends well, and with what says that the first thread handled both");
    assert_eq!(exits(Mode::Reduced), full);
}
