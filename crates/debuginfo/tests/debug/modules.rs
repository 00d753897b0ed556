//! Binaries of a space and their symbols.

use crate::standing::{Standing, build, c, stand};
use std::collections::BTreeSet;
use std::sync::Arc;

const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int counter = 7;
static char zeros[64];
__attribute__((noinline)) int own(int x) { return x * 3 + counter; }
#define TELL(f) printf(#f " %p\n", (void *)f)
int main(void) {
    TELL(pthread_mutex_lock); TELL(pthread_cond_wait); TELL(malloc); TELL(memcpy); TELL(own);
    TELL(&counter); TELL(zeros); TELL(main);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    fflush(stdout);
    pthread_mutex_lock(&m); zeros[own(1) & 63] = 1;
    pthread_mutex_lock(&m);
    return 0;
}
"#;

const NAMES: [&str; 5] = ["pthread_mutex_lock", "pthread_cond_wait", "malloc", "no_such_function", "memcpy"];

/// The addresses of functions that programs which are linked today get.
fn current(standing: &mut Standing, index: usize) -> BTreeSet<u64> {
    let found = standing.info.functions(&standing.world.memory, standing.space, &NAMES);
    let modules = standing.info.modules(&standing.world.memory, standing.space);
    let wanted = found.iter().filter(|function| function.index == index && !function.is_old && !function.is_indirect);
    // The dynamic linker of glibc has an allocator of its own until the library's is there.
    wanted
        .filter(|function| modules.loaded[function.module].module.has_libc())
        .map(|function| function.address)
        .collect()
}

fn finds_what_the_program_calls(mut standing: Standing) {
    for (index, name) in NAMES.iter().enumerate().take(3) {
        assert_eq!(current(&mut standing, index), [standing.told[*name]].into(), "{name}");
    }
    assert!(current(&mut standing, 3).is_empty());
    let Standing { info, world, space, told, .. } = &mut standing;
    for name in ["own", "main"] {
        assert_eq!(info.address_of(&world.memory, *space, name), Some(told[name]), "{name}");
        let found = info.symbol(&world.memory, *space, told[name] + 1).expect("it is named");
        assert_eq!((found.name.as_str(), found.offset), (name, 1));
        assert!(found.module.ends_with("/program"));
    }
    assert_eq!(info.address_of(&world.memory, *space, "counter"), Some(told["&counter"]));
    let inside = info.symbol(&world.memory, *space, told["zeros"] + 63).expect("it is named");
    assert_eq!((inside.name.as_str(), inside.offset), ("zeros", 63));
    assert_eq!(info.symbol(&world.memory, *space, 0x1000), None);
    assert_eq!(info.address_of(&world.memory, *space, "no_such_name"), None);
}

#[test]
fn functions_of_a_dynamic_program_are_found_in_its_libraries() {
    finds_what_the_program_calls(c("dynamic", SOURCE, &[]));
}

#[test]
fn functions_of_a_static_program_are_found() {
    finds_what_the_program_calls(c("static", SOURCE, &["-static"]));
}

#[test]
fn functions_of_a_static_program_that_was_moved_are_found() {
    finds_what_the_program_calls(c("static-pie", SOURCE, &["-static-pie"]));
}

#[test]
fn functions_of_musl_are_found() {
    for (name, link) in [("musl", "-static"), ("musl-dynamic", "-fPIE")] {
        let compile = ["musl-gcc", "-g", "-O1", link];
        finds_what_the_program_calls(stand(build(name, "program.c", SOURCE, &compile)));
    }
}

#[test]
fn a_function_that_is_chosen_at_start_is_told_apart() {
    for (name, link) in [("ifunc", "-fPIE"), ("ifunc-static", "-static")] {
        let mut standing = c(name, SOURCE, &[link]);
        let found = standing.info.functions(&standing.world.memory, standing.space, &["memcpy"]);
        let mut chosen = found.iter().filter(|function| function.is_indirect);
        assert!(chosen.next().is_some_and(|function| function.address != standing.told["memcpy"]), "{found:?}");
        assert!(current(&mut standing, 4).is_empty(), "nothing is taken for it");
    }
}

#[test]
fn old_versions_of_a_function_are_told_apart() {
    let mut standing = c("versions", SOURCE, &[]);
    let found = standing.info.functions(&standing.world.memory, standing.space, &["pthread_cond_wait"]);
    let is_now = |address| address == standing.told["pthread_cond_wait"];
    assert!(found.iter().all(|function| function.is_old != is_now(function.address)), "{found:?}");
    assert!(found.iter().any(|function| function.is_old));
}

#[test]
fn a_stripped_program_still_shows_the_functions_of_its_libraries() {
    let mut standing = c("stripped", SOURCE, &["-s"]);
    assert_eq!(current(&mut standing, 0), [standing.told["pthread_mutex_lock"]].into());
    let Standing { info, world, space, told, .. } = &mut standing;
    assert_eq!(info.address_of(&world.memory, *space, "own"), None);
    assert_eq!(info.symbol(&world.memory, *space, told["own"]).map(|found| found.name), None);
    let modules = info.modules(&world.memory, *space);
    assert_eq!(modules.at(told["own"]).map(|loaded| loaded.module.name()), Some("program"));
}

#[test]
fn asking_again_reads_nothing_until_something_is_mapped() {
    let Standing { mut world, space, mut info, .. } = c("again", SOURCE, &[]);
    let first = info.modules(&world.memory, space);
    let found = first.functions(&NAMES);
    assert!(Arc::ptr_eq(&first, &info.modules(&world.memory, space)));
    assert!(Arc::ptr_eq(&found, &info.functions(&world.memory, space, &NAMES)));
    let libc = first.loaded.iter().find(|loaded| loaded.module.has_libc()).expect("it is there");
    world.memory.unmap(space, libc.range.start, libc.range.end - libc.range.start).expect("it was mapped");
    let second = info.modules(&world.memory, space);
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(second.functions(&NAMES[..2]).is_empty());
}
