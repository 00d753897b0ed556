//! Allocation where it is taken at its word: local to threads, with its specified meaning, in every library.

use crate::inside;
use crate::start;
use checker::{Depth, Engine, Options, Outcome, Programs, search_by};
use explore::graph::{Limits, Mode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::FailureKind::{self, Assert, Crash};

const HEAD: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <malloc.h>\n#include <pthread.h>\n\
                    #include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                    #include <sys/resource.h>\n#include <sys/wait.h>\n#include <unistd.h>\n";
/// Threads `f` and `g`.
const TWO: &str = "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);\
                   pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";

fn build_by(compiler: &str, name: &str, flags: &[&str], source: &str) -> PathBuf {
    let folder = inside::folder(&format!("allocation-{name}-{compiler}{}", flags.concat()));
    let file = folder.join("program.c");
    std::fs::write(&file, format!("{HEAD}{source}")).expect("the folder takes files");
    let mut gcc = std::process::Command::new(compiler);
    // The compiler knows what allocation means, and would leave out what has no effect.
    gcc.args(["-g", "-O1", "-pthread", "-fno-builtin", "-w"]).args(flags);
    let status = gcc.arg("-o").arg(folder.join("program")).arg(&file).status();
    assert!(status.expect("it runs").success(), "{name} does not compile");
    folder
}

fn build(name: &str, source: &str) -> PathBuf {
    build_by("gcc", name, &[], source)
}

fn start(folder: &Path, depth: Depth) -> Programs {
    start::search_of(folder, Options { depth, ..Options::default() })
}

fn explore(folder: &Path, depth: Depth, engine: &Engine) -> Outcome {
    let mut programs = start(folder, depth);
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search_by(engine, &mut programs, &mut limits);
    assert!(programs.refusal.is_none(), "{}", programs.refusal.expect("it is there"));
    assert!(outcome.report.complete);
    outcome
}

fn reduced(folder: &Path, depth: Depth) -> Outcome {
    explore(folder, depth, &Engine::Graph { mode: Mode::Reduced, workers: 1, alone: 0 })
}

fn kinds(outcome: &Outcome) -> BTreeSet<FailureKind> {
    outcome.report.found.iter().map(|found| found.failure.kind).collect()
}

/// Schedules that differ in the order of steps that conflict.
fn classes(folder: &Path) -> u64 {
    explore(folder, Depth::Summary, &Engine::Classes { depth: 10_000 }).classes.expect("they were counted").traces
}

#[test]
fn threads_that_only_allocate_have_one_schedule() {
    // A large block first: it lies where the thread has mapped nothing yet.
    let body = "{ free(malloc(300000)); char *large = calloc(1, 300000); for (int i = 0; i < 3; i++) { int *p = malloc(20 + 40 * i), *q = calloc(i + 1, 8); *p = i; \
                p = realloc(p, 200); assert(*p == i && !*q); free(q); free(p); } return malloc(200000); }\n";
    let folder = build("alone", &format!("void *f(void *p) {body}void *g(void *p) {body}{TWO}"));
    let outcome = reduced(&folder, Depth::Summary);
    assert!(outcome.report.found.is_empty() && outcome.races.is_empty(), "{:?}", outcome.report.found);
    assert_eq!(classes(&folder), 1);
    // Both in one order: nothing is there to be reordered.
    assert_eq!(outcome.report.ends.len(), 1);
    assert!(outcome.report.states < 20, "{}", outcome.report.states);
}

/// `f` hands blocks over to `g` under a lock; `NEW` and `OLD` say how they come and go.
const HANDED: &str = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int *item, kept[2];\n\
    static void give(int *p) { pthread_mutex_lock(&m); while (item) pthread_cond_wait(&c, &m); item = p;\
        pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); }\n\
    static int *take(void) { pthread_mutex_lock(&m); while (!item) pthread_cond_wait(&c, &m); int *p = item; item = 0;\
        pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); return p; }\n\
    void *f(void *p) { for (int i = 0; ROUNDS; i++) { int *n = NEW; *n = 7; give(n); } return p; }\n\
    void *g(void *p) { for (int i = 0; ROUNDS; i++) { int *n = take(); assert(*n == 7); OLD; } return p; }\n";
const BLOCKS: &[&str] = &["-DNEW=malloc(24)", "-DOLD=free(n)"];

#[test]
fn a_block_that_another_thread_frees_adds_no_schedules() {
    let of = |name, rounds, flags: &[&str]| {
        let flags = [flags, &[rounds]].concat();
        let folder = build_by("gcc", name, &flags, &format!("{HANDED}{TWO}"));
        assert!(kinds(&reduced(&folder, Depth::Summary)).is_empty());
        folder
    };
    let blocks = of("handed", "-DROUNDS=i<2", BLOCKS);
    let none = of("kept", "-DROUNDS=i<2", &["-DNEW=&kept[i]", "-DOLD="]);
    assert_eq!(classes(&blocks), classes(&none));
}

/// Who is alone does all of it in one step, and must not leave the block where it was before it freed it.
#[test]
fn a_block_goes_the_same_way_back_whether_or_not_its_owner_is_still_there() {
    let source = "int *handed;\nvoid *f(void *p) { free(__atomic_exchange_n(&handed, malloc(16), __ATOMIC_SEQ_CST)); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pause(); return 0; }\n";
    let folder = build("left", source);
    let ends = |mode| {
        let outcome = explore(&folder, Depth::Summary, &Engine::Graph { mode, workers: 1, alone: 0 });
        outcome.report.ends.len()
    };
    assert_eq!((ends(Mode::Full), ends(Mode::Reduced)), (2, 2));
}

#[test]
fn blocks_find_their_way_back_so_that_endless_programs_have_an_end_of_states() {
    let folder = build_by("gcc", "endless", &[BLOCKS, &["-DROUNDS=1"]].concat(), &format!("{HANDED}{TWO}"));
    assert!(kinds(&reduced(&folder, Depth::Summary)).is_empty());
}

#[test]
fn freeing_what_another_thread_uses_is_a_race() {
    let source = "int *shared;\nvoid *f(void *p) { return (void *)(intptr_t)*shared; }\nvoid *g(void *p) { free(shared); return p; }\n\
        int main(void) { pthread_t s, t; shared = malloc(8); *shared = 1; pthread_create(&s, 0, f, 0);\
        pthread_create(&t, 0, g, 0); pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";
    let outcome = reduced(&build("used", source), Depth::Summary);
    assert!(outcome.races.iter().any(|race| race.plain && race.one.1 != race.other.1), "{:?}", outcome.races);
}

#[test]
fn a_block_that_is_freed_twice_ends_the_program() {
    let twice = "int *shared; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        void *f(void *p) { pthread_mutex_lock(&m); free(shared); pthread_mutex_unlock(&m); return p; }\n#define g f\n";
    let main = TWO.replace("pthread_t", "shared = malloc(8); pthread_t");
    let within = "int main(void) { char *p = malloc(64); free(p + 16); return 0; }\n";
    let over = "int main(void) { long *p = malloc(24), *q = malloc(24); p[3] = 0; free(q); free(p); return 0; }\n";
    let after = "int main(void) { int **p = malloc(64); p[4] = (int *)p; free(p); p[4][0] = 1; return 0; }\n";
    for (name, source, kind) in [
        ("twice", format!("{twice}{main}"), Assert),
        ("within", within.into(), Assert),
        ("over", over.into(), Assert),
        ("after", after.into(), Crash),
    ] {
        assert_eq!(kinds(&reduced(&build(name, &source), Depth::Summary)), [kind].into(), "{name}");
    }
    assert_eq!(kinds(&reduced(&build("within", within), Depth::Real)), [Assert].into());
    let musl = build_by("musl-gcc", "within", &["-static"], within);
    assert_eq!(kinds(&reduced(&musl, Depth::Summary)), [Crash].into());
}

/// What the manual says, as far as all libraries say the same.
const MEANING: &str = "static void same(char *p, int n, char c) { for (int i = 0; i < n; i++) assert(p[i] == c); }\n\
    static void *other(void *p) { free(p); char *q = malloc(50); memset(q, 5, 50); return q; }\n\
    int main(void) {\n\
    for (size_t n = 0; n < 3000; n += 37) { char *p = malloc(n); assert((uintptr_t)p % 16 == 0);\
        assert(malloc_usable_size(p) >= n); memset(p, 1, n); p = realloc(p, 2 * n + 1); same(p, n, 1);\
        char *q = malloc(n); memset(q, 2, n); p = realloc(p, n / 2 + 1); same(p, n / 2, 1); same(q, n, 2);\
        free(p); p = calloc(n + 1, 3); same(p, 3 * n, 0); free(p); free(q); }\n\
    char *big = malloc(300000); memset(big, 3, 300000); big = realloc(big, 900000); same(big, 300000, 3);\
        big = realloc(big, 1000); same(big, 1000, 3); big = realloc(big, 200000); same(big, 1000, 3); free(big);\n\
    for (size_t a = 16; a <= 1 << 20; a *= 2) { void *p = 0; assert(posix_memalign(&p, a, 100) == 0);\
        assert((uintptr_t)p % a == 0); char *q = aligned_alloc(a, 3 * a); assert((uintptr_t)q % a == 0);\
        memset(q, 4, 3 * a); void *r = memalign(a, 10); assert((uintptr_t)r % a == 0); free(p); free(r); free(q); }\n\
    void *p = (void *)1; assert(posix_memalign(&p, 24, 8) == EINVAL && posix_memalign(&p, 4, 8) == EINVAL && p == (void *)1);\n\
    errno = 0; assert(!malloc(SIZE_MAX) && errno == ENOMEM); errno = 0; assert(!calloc(SIZE_MAX / 2, 3) && errno == ENOMEM);\n\
    char *kept = malloc(10); memset(kept, 6, 10); errno = 0; assert(!realloc(kept, SIZE_MAX / 2) && errno == ENOMEM);\n\
    same(kept, 10, 6); free(0); assert(malloc_usable_size(0) == 0); assert(posix_memalign(&p, 64, SIZE_MAX / 2) == ENOMEM);\n\
    char *line = 0; size_t size = 0; FILE *file = fopen(\"program.c\", \"r\"); assert(getline(&line, &size, file) > 0);\
        line = realloc(line, 400); free(line); line = strdup(\"abc\"); fclose(file); free(line);\n\
    int status; pid_t child = fork(); if (!child) { same(kept, 10, 6); kept = realloc(kept, 90); same(kept, 10, 6);\
        free(kept); free(malloc(20)); _exit(0); } wait(&status); assert(status == 0); same(kept, 10, 6);\n\
    pthread_t t; pthread_create(&t, 0, other, kept); pthread_join(t, &p); same(p, 50, 5); free(p); free(malloc(10));\n\
    struct rlimit limit = { 64 << 20, 64 << 20 }; setrlimit(RLIMIT_AS, &limit); errno = 0;\
        assert(!malloc(64 << 20) && errno == ENOMEM); assert(malloc(1000)); return 0; }\n";

#[test]
fn allocation_means_what_the_manual_says_in_every_library() {
    for (compiler, flags) in [("gcc", &[][..]), ("gcc", &["-static"]), ("musl-gcc", &[]), ("musl-gcc", &["-static"])] {
        let folder = build_by(compiler, "meaning", flags, MEANING);
        assert_eq!(inside::native(&["./program"], &folder).code, 0, "{compiler} {flags:?} on the host");
        let outcome = reduced(&folder, Depth::Summary);
        assert!(outcome.report.found.is_empty(), "{compiler} {flags:?}: {:?}", outcome.report.found);
    }
}

#[test]
fn an_allocator_that_the_program_brings_is_left_alone() {
    let own = "static char room[1 << 20]; static size_t used;\n\
        void *malloc(size_t n) { void *p = room + used; used += (n + 31) / 16 * 16; return p; }\n\
        void *calloc(size_t n, size_t m) { return malloc(n * m); }\nvoid free(void *p) { }\n\
        void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }\n\
        int main(void) { char *p = malloc(10); assert(p >= room && p < room + used); free(p); return 0; }\n";
    for (compiler, flags) in [("gcc", &[][..]), ("gcc", &["-static"]), ("musl-gcc", &["-static"])] {
        let outcome = reduced(&build_by(compiler, "own", flags, own), Depth::Summary);
        assert!(outcome.report.found.is_empty(), "{compiler} {flags:?}: {:?}", outcome.report.found);
    }
}

#[test]
fn what_only_the_library_could_tell_of_its_blocks_is_refused_by_name() {
    let folder = build("told", "int main(void) { return mallinfo2().uordblks; }\n");
    let mut programs = start(&folder, Depth::Summary);
    let mut limits = Limits { states: 1_000, failures: usize::MAX, stop: &mut |_, _| false };
    search_by(&Engine::Graph { mode: Mode::Reduced, workers: 1, alone: 0 }, &mut programs, &mut limits);
    assert!(programs.refusal.is_some_and(|refusal| refusal.what.starts_with("mallinfo")));
}
