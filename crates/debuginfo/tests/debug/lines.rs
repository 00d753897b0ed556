//! Source lines, inlined functions and call stacks.

use crate::standing::{Standing, build, c, stand};
use debuginfo::lines::{Frame, source_line};
use debuginfo::unwind::Call;
use kernel::Tid;

const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int hits;
static inline __attribute__((always_inline)) void take(pthread_mutex_t *lock) {
    hits++; // first
    pthread_mutex_lock(lock); // the lock
    hits++;
}
__attribute__((noinline)) int work(int n) {
    if (n > 0) return work(n - 1) + 1; // deeper
    take(&m); // the call
    return hits;
}
void *thread(void *p) { hits = work(2); return p; } // the thread
int main(void) {
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0); // main waits
    return 0;
}
"#;

/// The number of the line that ends with a comment.
fn line(source: &str, comment: &str) -> u32 {
    let found = source.lines().position(|line| line.ends_with(&format!("// {comment}")));
    found.expect("a comment marks it") as u32 + 1
}

/// What the source calls the functions on the stack of the newest thread, as name, line and whether it was inlined.
fn told(standing: &mut Standing) -> Vec<(String, u32, bool)> {
    let tid: Tid = *standing.world.kernel.threads.keys().last().expect("a thread");
    let stack: Vec<Call> = standing.info.stack(&standing.world, tid);
    let of = |frame: Frame| (frame.function.unwrap_or_default(), frame.line.unwrap_or(0), frame.inlined);
    stack.into_iter().flat_map(|call| call.source).map(of).collect()
}

fn shows_the_stack(mut standing: Standing) {
    let own: Vec<_> = told(&mut standing).into_iter().skip_while(|(name, ..)| name != "take").take(5).collect();
    let expected = [
        ("take", "the lock", true),
        ("work", "the call", false),
        ("work", "deeper", false),
        ("work", "deeper", false),
        ("thread", "the thread", false),
    ];
    let expected = expected.map(|(name, comment, inlined)| (name.to_owned(), line(SOURCE, comment), inlined));
    assert_eq!(own, expected);
}

#[test]
fn a_stack_shows_lines_and_inlined_functions() {
    shows_the_stack(c("lines", SOURCE, &["-fno-optimize-sibling-calls"]));
    shows_the_stack(c("lines-static", SOURCE, &["-static", "-fno-optimize-sibling-calls"]));
    shows_the_stack(c("lines-pie", SOURCE, &["-static-pie", "-fno-optimize-sibling-calls"]));
    shows_the_stack(c("lines-zlib", SOURCE, &["-gz=zlib", "-fno-optimize-sibling-calls"]));
    shows_the_stack(c("lines-dwarf4", SOURCE, &["-gdwarf-4", "-fno-optimize-sibling-calls"]));
}

#[test]
fn frames_end_where_their_callers_begin() {
    let mut standing = c("frames", SOURCE, &[]);
    let tid: Tid = *standing.world.kernel.threads.keys().last().expect("a thread");
    let stack = standing.info.stack(&standing.world, tid);
    assert!(stack.len() > 5);
    for pair in stack.windows(2) {
        assert!(pair[0].registers.0 < pair[1].registers.0, "{pair:x?}");
        assert_eq!(pair[0].frame_end, Some(pair[1].registers.0));
    }
}

#[test]
fn a_stripped_program_shows_symbols_of_its_libraries_and_places_in_itself() {
    let mut standing = c("lines-stripped", SOURCE, &["-s"]);
    let tid: Tid = *standing.world.kernel.threads.keys().last().expect("a thread");
    let stack = standing.info.stack(&standing.world, tid);
    let is_lock = |frame: &Frame| frame.function.as_deref() == Some("pthread_mutex_lock") && !frame.inlined;
    assert!(stack.iter().any(|call| call.source.last().is_some_and(is_lock)), "{stack:x?}");
    let own = stack.iter().find(|call| call.place.as_ref().is_some_and(|(path, _)| path.ends_with("/program")));
    let own = own.expect("its own code is on the stack");
    assert_eq!((own.source.len(), &own.symbol), (0, &None));
}

#[test]
fn a_line_has_addresses_and_they_have_that_line() {
    let Standing { mut info, world, space, .. } = c("break", SOURCE, &[]);
    for comment in ["the lock", "deeper", "main waits"] {
        let line = line(SOURCE, comment);
        let addresses = info.addresses_of_line(&world.memory, space, "program.c", line);
        assert!(!addresses.is_empty());
        for address in addresses {
            let frames = info.location(&world.memory, space, address);
            assert_eq!(frames[0].line, Some(line), "{frames:?}");
        }
    }
    assert!(info.addresses_of_line(&world.memory, space, "other.c", 3).is_empty());
    assert!(info.addresses_of_line(&world.memory, space, "gram.c", 3).is_empty());
    let mut at = |line| info.addresses_of_line(&world.memory, space, "program.c", line);
    assert_eq!(at(2), at(line(SOURCE, "first")), "a line without code stands for the next that has");
}

#[test]
fn the_text_of_a_line_is_read_through_the_caller() {
    let read = |path: &str| (path == "/src/a.c").then(|| b"one\n  two\r\nthree".to_vec());
    assert_eq!(source_line("a.c", 2, &["/other", "/src"], read).as_deref(), Some("  two"));
    assert_eq!(source_line("/src/a.c", 3, &[], read).as_deref(), Some("three"));
    assert_eq!(source_line("/src/a.c", 4, &[], read), None);
    assert_eq!(source_line("/src/a.c", 0, &[], read), None);
    assert_eq!(source_line("b.c", 1, &["/src"], read), None);
}

const RUST: &str = r"
use std::sync::Mutex;
static LOCK: Mutex<u32> = Mutex::new(7);
#[inline(never)]
fn wait(count: u32) -> u32 {
    let guard = LOCK.lock().unwrap(); // rust waits
    *guard + count
}
fn main() {
    let guard = LOCK.lock().unwrap();
    println!(concat!('L', 'O', 'C', 'K', ' ', '{', ':', 'p', '}'), &LOCK);
    let t = std::thread::spawn(|| wait(1));
    t.join().unwrap();
    drop(guard);
}
";

#[test]
fn a_stack_of_a_program_in_rust_is_shown() {
    let compile = ["rustc", "-g", "-O", "-Ccodegen-units=1"];
    let mut standing = stand(build("rust", "program.rs", RUST, &compile));
    let told = told(&mut standing);
    assert!(told.contains(&("program::wait".into(), line(RUST, "rust waits"), false)), "{told:?}");
}
