//! Variables by address and by name.

use crate::standing::{Standing, build, c, stand};
use debuginfo::{Kind, Storage, Value, Variable};
use kernel::Tid;

const SOURCE: &str = r#"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum role { FOLLOWER = 3, LEADER = 4 };
enum { BELOW = -2, ABOVE = 5 };
struct slot { char tag; union { int in; long wide; }; struct { short x, y; } out; };
typedef struct slot slot_t;
struct node { struct node *next; long count; };
static slot_t slots[3] = { [1] = { 'b', { .in = -7 }, { 8, -9 } } };
int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
struct { enum role role; unsigned small : 3, big : 12; signed neg : 4; _Bool on; } state = { LEADER, 5, 4000, -3, 1 };
_Atomic int ready = 1;
atomic_ulong wide = 1ul << 63;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node second = { 0, 12 }, first = { &second, 11 }, *head = &first, *nowhere;
char name[8] = "hello";
double half = 0.5; float third = 1.0f / 4;
unsigned char byte = 200; signed char low = -5; char letter = 'x';
int (*handler)(const char *, int);
const char *const words[2] = { "a", "b" };
typeof((enum { BELOW2 = -2 })0) negative = -2;
__thread int mine = 3;
volatile long loud;
#define TELL(f) printf(#f " %p\n", (void *)f)
__attribute__((noinline)) int next(void) { static int counter; TELL(&counter); return ++counter; }
__attribute__((noinline)) void use(int *p) { *p += 1; asm volatile("" : : "r"(p) : "memory"); }
void *thread(void *p) {
    int local[4] = { 0 }; use(&local[2]); TELL(&local[2]);
    TELL(&mine); TELL(&errno);
    fflush(stdout); pthread_mutex_lock(&m); use(local); return p;
}
int main(void) {
    pthread_t t; int *heap = malloc(64);
    TELL(&slots[1].out.y); TELL(&slots[2].in); TELL(&slots[0].tag); TELL(&grid[1][2]); TELL(&state.role); TELL(&state.on);
    TELL(&ready); TELL(&wide); TELL(&m); TELL(&head); TELL(&first.count); TELL(&name[4]); TELL(&handler); TELL(&words[1]);
    TELL(&half); TELL(&loud); TELL(heap); next();
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
"#;

/// What is at the address that the program told.
fn at(standing: &mut Standing, told: &str) -> Variable {
    let found = standing.info.variable_at(&standing.world, standing.space, standing.told[told]);
    found.unwrap_or_else(|| panic!("{told} is nowhere"))
}

/// Expression, type, whether it is atomic.
const GLOBALS: &[(&str, &str, bool)] = &[
    ("slots[1].out.y", "short int", false),
    ("slots[2].in", "int", false),
    ("slots[0].tag", "char", false),
    ("grid[1][2]", "int", false),
    ("state.role", "enum role", false),
    ("state.on", "_Bool", false),
    ("ready", "_Atomic int", true),
    ("wide", "atomic_ulong", true),
    ("m", "pthread_mutex_t", false),
    ("head", "struct node *", false),
    ("first.count", "long int", false),
    ("name[4]", "char", false),
    ("handler", "int (*)(const char *, int)", false),
    ("words[1]", "const char *const", false),
    ("half", "double", false),
    ("loud", "volatile long int", false),
];

fn names_globals(mut standing: Standing) {
    for (path, type_name, is_atomic) in GLOBALS {
        let found = at(&mut standing, &format!("&{path}"));
        assert_eq!((found.path.as_str(), found.type_name.as_str(), found.is_atomic), (*path, *type_name, *is_atomic));
        assert_eq!(found.storage, Storage::Global);
        assert!(found.module.ends_with("/program"));
    }
    assert_eq!(at(&mut standing, "&counter").path, "next::counter");
}

#[test]
fn globals_are_named_with_their_parts_and_types() {
    names_globals(c("globals", SOURCE, &[]));
    names_globals(c("globals-static", SOURCE, &["-static"]));
    names_globals(c("globals-pie", SOURCE, &["-static-pie"]));
}

#[test]
fn stacks_heaps_and_blocks_of_threads_are_told_apart() {
    let mut standing = c("places", SOURCE, &[]);
    let tid: Tid = *standing.world.kernel.threads.keys().last().expect("a thread");
    let local = at(&mut standing, "&local[2]");
    assert_eq!((local.path.as_str(), local.type_name.as_str()), ("local[2]", "int"));
    assert_eq!(local.storage, Storage::Local(tid, "thread".into()));
    let mine = at(&mut standing, "&mine");
    assert_eq!((mine.path.as_str(), mine.storage), ("mine", Storage::ThreadLocal(tid)));
    let errno = at(&mut standing, "&errno");
    assert_eq!((errno.to_string().as_str(), errno.storage), ("errno (int)", Storage::ThreadLocal(tid)));
    assert_eq!(at(&mut standing, "heap").storage, Storage::Heap);
    let pointer = standing.world.cpus[&tid].gpr[4];
    let below = standing.info.variable_at(&standing.world, standing.space, pointer - 4096);
    assert_eq!(below.map(|found| found.storage), Some(Storage::Stack(tid)));
    assert_eq!(standing.info.variable_at(&standing.world, standing.space, 0x10), None);
}

#[test]
fn without_debug_information_the_symbol_says_what_it_can() {
    let mut standing = c("symbols", SOURCE, &["-g0"]);
    let found = at(&mut standing, "&grid[1][2]");
    assert_eq!((found.path.as_str(), found.type_name.as_str()), ("grid+0x14", ""));
    let error = standing.info.global(&standing.world.memory, standing.space, "grid[0][0]").unwrap_err();
    assert_eq!(error.0, "`program` has no debug information: compile it with -g to use variables by name");
}

fn read(standing: &mut Standing, path: &str) -> Result<Option<Value>, String> {
    let place = standing.info.global(&standing.world.memory, standing.space, path).map_err(|error| error.0)?;
    Ok(place.and_then(|place| place.read(&standing.world.memory, standing.space)))
}

/// Path, number, text.
const VALUES: &[(&str, i128, &str)] = &[
    ("slots[1].in", -7, "-7"),
    ("slots[1].tag", 98, "'b'"),
    ("slots[1].out.y", -9, "-9"),
    ("grid[1][2]", 6, "6"),
    ("state.role", 4, "LEADER"),
    ("state.small", 5, "5"),
    ("state.big", 4000, "4000"),
    ("state.neg", -3, "-3"),
    ("state.on", 1, "true"),
    ("ready", 1, "1"),
    ("wide", 1 << 63, "9223372036854775808"),
    ("head->count", 11, "11"),
    ("head->next->count", 12, "12"),
    ("head.next.count", 12, "12"),
    ("head[0].count", 11, "11"),
    ("byte", 200, "'È'"),
    ("low", -5, "-5"),
    ("letter", 120, "'x'"),
    ("nowhere", 0, "0x0"),
    ("negative", -2, "BELOW2"),
    ("counter", 1, "1"),
    ("next::counter", 1, "1"),
];

#[test]
fn values_are_read_by_name() {
    for (name, flags) in [("values", &[][..]), ("values-static", &["-static"]), ("values-dwarf4", &["-gdwarf-4"])] {
        let mut standing = c(name, SOURCE, flags);
        for (path, number, text) in VALUES {
            let value = read(&mut standing, path).expect(path).expect(path);
            assert_eq!((value.number(), value.to_string().as_str()), (Some(*number), *text), "{path}");
        }
        assert_eq!(read(&mut standing, "half"), Ok(Some(Value::Float(0.5))));
        assert_eq!(read(&mut standing, "third"), Ok(Some(Value::Float(0.25))));
        assert_eq!(read(&mut standing, "name"), Ok(Some(Value::Text("hello".into()))));
        assert_eq!(read(&mut standing, "nowhere->count"), Ok(None));
    }
}

#[test]
fn a_name_that_leads_nowhere_says_why() {
    let mut standing = c("errors", SOURCE, &["-static"]);
    for (path, why) in [
        ("slts[1].in", "`program` has no global variable `slts`: did you mean `slots`?"),
        ("slots[1].tagg", "`slot_t` has no member `tagg`: did you mean `tag`?"),
        ("slots[3].in", "`slots` has 3 elements, counted from 0"),
        ("slots[1]", "`slots[1]` is `slot_t`, which is not one value"),
        ("grid[1]", "`grid[1]` is `int`, which is not one value"),
        ("ready.x", "`ready` is `_Atomic int` and has no members"),
        ("ready[0]", "`ready` is `_Atomic int` and has no elements"),
        ("mine", "`mine` is another variable in every thread"),
    ] {
        assert_eq!(read(&mut standing, path), Err(why.to_owned()));
    }
    for damaged in [
        "",
        "[0]",
        "slots[",
        "slots[x]",
        "slots.",
        "slots->",
        "slots..x",
        "slots[1]x",
        "a b",
        "é[",
        "x[99999999999999999999]",
    ] {
        assert!(read(&mut standing, damaged).is_err(), "{damaged}");
    }
}

#[test]
fn every_kind_of_value_is_known() {
    let Standing { mut info, world, space, .. } = c("kinds", SOURCE, &[]);
    let mut kind = |path| info.global(&world.memory, space, path).unwrap().unwrap().kind;
    let role = Kind::Enum(vec![("FOLLOWER".into(), 3), ("LEADER".into(), 4)]);
    let expected = [("ready", Kind::Signed), ("wide", Kind::Unsigned), ("head", Kind::Pointer), ("half", Kind::Float)];
    for (path, expected) in expected.into_iter().chain([("state.role", role), ("state.on", Kind::Bool)]) {
        assert_eq!(kind(path), expected, "{path}");
    }
}

const CPP: &str = r#"
#include <atomic>
#include <cstdio>
#include <mutex>
namespace net { struct Base { int depth = 4; }; struct Server : Base { static int count; std::atomic<int> load{6}; int port = 80; };
  int Server::count = 9; Server server; enum class Role { Leader = 2 }; Role role = Role::Leader; }
std::atomic<bool> stop{true}; std::atomic_flag flag = ATOMIC_FLAG_INIT;
#define TELL(f) printf(#f " %p\n", (void *)f)
int main() {
    TELL(&net::server.depth); TELL(&net::server.port); TELL(&net::server.load); TELL(&net::Server::count); TELL(&stop); TELL(&flag);
    fflush(stdout);
    std::mutex m; m.lock(); m.lock();
}
"#;

#[test]
fn classes_and_atomics_of_cpp_are_understood() {
    let mut standing = stand(build("cpp", "program.cc", CPP, &["g++", "-g", "-O1", "-pthread"]));
    for (path, is_atomic) in [
        ("net::server.depth", false),
        ("net::server.port", false),
        ("net::server.load", true),
        ("stop", true),
        ("flag", true),
    ] {
        let found = at(&mut standing, &format!("&{path}"));
        assert_eq!((found.path.as_str(), found.is_atomic), (path, is_atomic), "{found:?}");
    }
    assert_eq!(at(&mut standing, "&net::Server::count").path, "net::Server::count");
    assert_eq!(at(&mut standing, "&stop").type_name, "std::atomic<bool>");
    for (path, number, text) in [
        ("net::server.load", 6, "6"),
        ("server.depth", 4, "4"),
        ("net::Server::count", 9, "9"),
        ("role", 2, "Leader"),
        ("stop", 1, "true"),
    ] {
        let value = read(&mut standing, path).expect(path).expect(path);
        assert_eq!((value.number(), value.to_string().as_str()), (Some(number), text), "{path}");
    }
}

const RUST: &str = r#"
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32};
mod inner { pub static mut PLAIN: [u16; 4] = [1, 2, 3, 4]; }
static HITS: AtomicU32 = AtomicU32::new(77);
static STOP: AtomicBool = AtomicBool::new(true);
static LOCK: Mutex<i64> = Mutex::new(-5);
fn main() {
    println!("HITS {:p}", &HITS);
    println!("STOP {:p}", &STOP);
    println!("PLAIN {:p}", unsafe { &raw const inner::PLAIN[2] });
    let _one = LOCK.lock();
    let _two = LOCK.lock();
}
"#;

#[test]
fn statics_and_atomics_of_rust_are_understood() {
    let mut standing = stand(build("rust-variables", "program.rs", RUST, &["rustc", "-g", "-O"]));
    let hits = at(&mut standing, "HITS");
    assert_eq!((hits.path.as_str(), hits.is_atomic), ("program::HITS", true));
    let stop = at(&mut standing, "STOP");
    assert_eq!((stop.path.as_str(), stop.is_atomic), ("program::STOP", true));
    let plain = at(&mut standing, "PLAIN");
    assert_eq!((plain.path.as_str(), plain.type_name.as_str()), ("program::inner::PLAIN[2]", "u16"));
    let number = |standing: &mut Standing, path: &str| read(standing, path).expect(path).expect(path).number();
    assert_eq!(number(&mut standing, "HITS"), Some(77));
    assert_eq!(number(&mut standing, "program::HITS"), Some(77));
    assert_eq!(number(&mut standing, "inner::PLAIN[3]"), Some(4));
    assert_eq!(number(&mut standing, "LOCK.data"), Some(-5));
}

#[test]
fn all_variables_of_a_state_are_listed_with_their_values() {
    let mut standing = c("listed", SOURCE, &["-O0"]);
    let globals = standing.info.globals(&standing.world.memory, standing.space);
    let value = |path: &str| globals.iter().find(|listed| listed.path == path).map(|listed| listed.value.to_string());
    for (path, told) in [
        ("slots[1].tag", "'b'"),
        ("slots[1].out.y", "-9"),
        ("state.role", "LEADER"),
        ("ready", "1"),
        ("second.count", "12"),
        ("name", "\"hello\""),
        ("half", "0.5"),
        ("m", "locked"),
    ] {
        assert_eq!(value(path).as_deref(), Some(told), "{path}");
    }
    assert!(value("m.__data.__lock").is_none() && value("mine").is_none());
    let threads: Vec<Tid> = standing.world.kernel.threads.keys().copied().collect();
    let locals: Vec<_> = threads.iter().flat_map(|tid| standing.info.locals(&standing.world, *tid)).collect();
    let is_local =
        |(function, listed): &&(String, debuginfo::Listed)| function == "thread" && listed.path == "local[2]";
    assert_eq!(locals.iter().find(is_local).map(|(_, listed)| listed.value.to_string()).as_deref(), Some("1"));
}
