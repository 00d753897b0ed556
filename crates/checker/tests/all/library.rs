//! Functions of the C library that threads meet at: taken at their word they do what every instruction of them does.

use crate::inside;
use crate::start;
use checker::{Depth, Options, Outcome, search};
use explore::graph::{Limits, Mode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::FailureKind::{self, Deadlock};

const HEAD: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <limits.h>\n#include <pthread.h>\n#include <semaphore.h>\n\
    #include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <threads.h>\n\
    #include <time.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
    static sem_t sem; static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER; static int x, y, done;\n\
    static pthread_t other; static void *f(void *);\n\
    static struct timespec in(clockid_t clock, int s) { struct timespec t; clock_gettime(clock, &t); t.tv_nsec += s * 10000000;\
    if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; } return t; }\n\
    static void *run(void *p) { pthread_create(&other, 0, f, p); return p; }\n";

fn build(compiler: &str, name: &str, source: &str) -> PathBuf {
    let folder = inside::folder(&format!("library-{name}-{compiler}"));
    let file = folder.join("program.c");
    std::fs::write(&file, format!("{HEAD}{source}\n")).expect("the folder takes files");
    let mut gcc = std::process::Command::new(compiler);
    let status = gcc.args(["-g", "-O1", "-pthread", "-w", "-o"]).arg(folder.join("program")).arg(&file).status();
    assert!(status.expect("it runs").success(), "{name} does not compile");
    folder
}

fn explore(folder: &Path, depth: Depth, mode: Mode, states: usize) -> Outcome {
    let mut programs = start::search_of(folder, Options { depth, ..Options::default() });
    let mut limits = Limits { states, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search(&mut programs, mode, &mut limits);
    assert!(programs.refusal.is_none(), "{}", programs.refusal.expect("it is there"));
    outcome
}

fn kinds(outcome: &Outcome) -> BTreeSet<FailureKind> {
    outcome.report.found.iter().map(|found| found.failure.kind).collect()
}

/// A name, a program, and what goes wrong in it.
type Case = (&'static str, &'static str, &'static [FailureKind]);

/// Which library a case is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Both.
    Both,
    /// Only one has the functions, or is small enough.
    Glibc,
}

/// How many states of every instruction are looked at: the end may be far away, but nothing else may go wrong.
const REAL: usize = 100;

/// Taken at its word, a function leads where it should in every schedule; on the host and instruction by instruction it
/// leads nowhere else.
fn meets(compiler: &str, (name, source, expected): &Case) {
    let folder = build(compiler, name, source);
    if expected.is_empty() {
        assert_eq!(inside::native(&["./program"], &folder).code, 0, "{compiler} {name} on the host");
    }
    let expected: BTreeSet<FailureKind> = expected.iter().copied().collect();
    let mut ends = Vec::new();
    for mode in [Mode::Reduced, Mode::Full] {
        let outcome = explore(&folder, Depth::Summary, mode, 20_000);
        assert!(outcome.report.complete, "{compiler} {name} {mode:?}");
        assert!(!outcome.races.iter().any(|race| race.plain), "{compiler} {name} {mode:?} races");
        assert_eq!(kinds(&outcome), expected, "{compiler} {name} {mode:?}: {:?}", outcome.report.found);
        ends.push(outcome.report.ends);
    }
    assert_eq!(ends[0], ends[1], "{compiler} {name}");
    if compiler == "gcc" {
        meets_for_real(&folder, name, &expected);
    }
}

fn meets_for_real(folder: &Path, name: &str, expected: &BTreeSet<FailureKind>) {
    let real = explore(folder, Depth::Real, Mode::Reduced, REAL);
    let told = || format!("{name}, every instruction: {:?}", real.report.found);
    assert!(kinds(&real).is_subset(expected), "{}", told());
    assert!(!real.report.complete || kinds(&real) == *expected, "{}", told());
}

const ONCE: &[(Of, Case)] = &[
    (
        Of::Both,
        (
            "once",
            "static pthread_once_t once = PTHREAD_ONCE_INIT; static void init(void) { x++; sched_yield(); y++; }\n\
        void *f(void *p) { pthread_once(&once, init); assert(x == 1 && y == 1); return p; }\n\
        int main(void) { run(0); f(0); pthread_join(other, 0); assert(x == 1); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "call_once",
            "static once_flag once = ONCE_FLAG_INIT; static void init(void) { x++; y++; }\n\
        void *f(void *p) { call_once(&once, init); assert(x == 1 && y == 1); return p; }\n\
        int main(void) { run(0); f(0); pthread_join(other, 0); call_once(&once, init); assert(x == 1); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "once-in-once",
            "static pthread_once_t once = PTHREAD_ONCE_INIT; static void init(void) { pthread_once(&once, init); }\n\
        void *f(void *p) { return p; }\nint main(void) { pthread_once(&once, init); return 0; }",
            &[Deadlock],
        ),
    ),
    (
        Of::Both,
        (
            "once-twice",
            "static pthread_once_t one = PTHREAD_ONCE_INIT, two = PTHREAD_ONCE_INIT; static void second(void) { y++; }\n\
        static void first(void) { x++; pthread_once(&two, second); assert(y == 1); }\n\
        static void other_first(void) { pthread_once(&one, first); }\n\
        void *f(void *p) { pthread_once(&two, other_first); return p; }\n\
        int main(void) { run(0); pthread_once(&one, first); pthread_join(other, 0); return 0; }",
            &[Deadlock],
        ),
    ),
];

const CANCEL: &[(Of, Case)] = &[
    (
        Of::Both,
        (
            "cancel-condition",
            "static void clean(void *p) { assert(pthread_mutex_trylock(&m) == EBUSY); pthread_mutex_unlock(&m); x = 1; }\n\
        void *f(void *p) { pthread_mutex_lock(&m); pthread_cleanup_push(clean, 0); while (!done) pthread_cond_wait(&c, &m);\
        pthread_cleanup_pop(1); return p; }\n\
        int main(void) { void *r; run(0); pthread_cancel(other); pthread_join(other, &r); assert(r == PTHREAD_CANCELED && x == 1);\
        pthread_mutex_lock(&m); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "cancel-semaphore",
            "void *f(void *p) { sem_wait(&sem); return p; }\n\
        int main(void) { void *r; run(0); pthread_cancel(other); pthread_join(other, &r); assert(r == PTHREAD_CANCELED); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "cancel-join",
            "static pthread_t third; static void *g(void *p) { sem_wait(&sem); return p; }\n\
        void *f(void *p) { pthread_join(third, 0); return p; }\n\
        int main(void) { void *r; pthread_create(&third, 0, g, 0); run(0); pthread_cancel(other); pthread_join(other, &r);\
        assert(r == PTHREAD_CANCELED); sem_post(&sem); pthread_join(third, 0); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "cancel-disabled",
            "void *f(void *p) { int old; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); sem_wait(&sem); x = 1;\
        pthread_setcancelstate(old, 0); pthread_testcancel(); x = 2; return p; }\n\
        int main(void) { void *r; run(0); pthread_cancel(other); sem_post(&sem); pthread_join(other, &r);\
        assert(r == PTHREAD_CANCELED && x == 1); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "cancel-sleep",
            "void *f(void *p) { for (;;) pause(); return p; }\n\
        int main(void) { void *r; run(0); pthread_cancel(other); pthread_join(other, &r); assert(r == PTHREAD_CANCELED); return 0; }",
            &[],
        ),
    ),
];

const ENDS: &[(Of, Case)] = &[
    (
        Of::Both,
        (
            "exit-cleanup",
            "static void clean(void *p) { x = 1; sem_post(&sem); }\n\
        void *f(void *p) { pthread_cleanup_push(clean, 0); pthread_exit(p); pthread_cleanup_pop(0); return p; }\n\
        int main(void) { run(0); sem_wait(&sem); assert(x == 1); pthread_join(other, 0); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "exit-destructor",
            "static pthread_key_t key; static void clean(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); sem_post(&sem); }\n\
        void *f(void *p) { pthread_setspecific(key, &x); return p; }\n\
        int main(void) { pthread_key_create(&key, clean); run(0); pthread_mutex_lock(&m); int v = x; pthread_mutex_unlock(&m);\
        sem_wait(&sem); assert(x == 1 && v <= 1); pthread_join(other, 0); return v; }",
            &[FailureKind::Exit],
        ),
    ),
    (
        Of::Glibc,
        (
            "joins",
            "void *f(void *p) { sem_wait(&sem); return &x; }\n\
        int main(void) { void *r = 0; run(0); assert(pthread_tryjoin_np(other, &r) == EBUSY); struct timespec t = in(CLOCK_REALTIME, 1);\
        assert(pthread_timedjoin_np(other, &r, &t) == ETIMEDOUT); t = in(CLOCK_MONOTONIC, 1);\
        assert(pthread_clockjoin_np(other, &r, CLOCK_MONOTONIC, &t) == ETIMEDOUT); sem_post(&sem); t = in(CLOCK_REALTIME, 1);\
        assert(!pthread_timedjoin_np(other, &r, &t) && r == &x); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "tryjoin",
            "void *f(void *p) { x = 1; return &x; }\n\
        int main(void) { void *r = 0; run(0); int e = pthread_tryjoin_np(other, &r); assert(e == 0 || e == EBUSY);\
        if (e) pthread_join(other, &r); assert(r == &x && x == 1); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "detach",
            "void *f(void *p) { if (p) pthread_detach(pthread_self()); sem_post(&sem); return p; }\n\
        int main(void) { run(&x); sem_wait(&sem); run(0); pthread_detach(other); sem_wait(&sem); return 0; }",
            &[],
        ),
    ),
];

const LOCKS: &[(Of, Case)] = &[
    (
        Of::Both,
        (
            "rwlock",
            "void *f(void *p) { struct timespec t = in(CLOCK_REALTIME, 1); assert(pthread_rwlock_tryrdlock(&rw) == EBUSY);\
        assert(pthread_rwlock_trywrlock(&rw) == EBUSY); assert(pthread_rwlock_timedrdlock(&rw, &t) == ETIMEDOUT);\
        t = in(CLOCK_REALTIME, 1); assert(pthread_rwlock_timedwrlock(&rw, &t) == ETIMEDOUT); sem_post(&sem);\
        pthread_rwlock_rdlock(&rw); assert(!pthread_rwlock_tryrdlock(&rw)); pthread_rwlock_unlock(&rw); pthread_rwlock_unlock(&rw); return p; }\n\
        int main(void) { pthread_rwlock_wrlock(&rw); run(0); sem_wait(&sem); pthread_rwlock_unlock(&rw); pthread_join(other, 0);\
        assert(!pthread_rwlock_trywrlock(&rw)); return 0; }",
            &[],
        ),
    ),
    (
        Of::Glibc,
        (
            "rwlock-clock",
            "void *f(void *p) { struct timespec t = in(CLOCK_MONOTONIC, 1);\
        assert(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &t) == ETIMEDOUT); t = in(CLOCK_MONOTONIC, 1);\
        assert(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &t) == ETIMEDOUT); return p; }\n\
        int main(void) { pthread_rwlock_wrlock(&rw); run(0); pthread_join(other, 0); pthread_rwlock_unlock(&rw);\
        struct timespec t = in(CLOCK_MONOTONIC, 1); assert(!pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &t));\
        assert(!pthread_rwlock_tryrdlock(&rw)); pthread_rwlock_unlock(&rw); pthread_rwlock_unlock(&rw);\
        assert(!pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &t)); pthread_rwlock_unlock(&rw); return 0; }",
            &[],
        ),
    ),
    (
        Of::Glibc,
        (
            "kinds",
            "static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;\n\
        void *f(void *p) { assert(pthread_mutex_trylock(&r) == EBUSY); assert(pthread_mutex_unlock(&r) == EPERM);\
        assert(pthread_mutex_trylock(&e) == EBUSY); assert(pthread_mutex_unlock(&e) == EPERM); return p; }\n\
        int main(void) { pthread_mutex_lock(&r); pthread_mutex_lock(&r); assert(!pthread_mutex_trylock(&r)); pthread_mutex_lock(&e);\
        assert(pthread_mutex_lock(&e) == EDEADLK); run(0); pthread_join(other, 0); pthread_mutex_unlock(&r); pthread_mutex_unlock(&r);\
        pthread_mutex_unlock(&r); pthread_mutex_unlock(&e); assert(pthread_mutex_unlock(&e) == EPERM); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "robust",
            "static pthread_mutex_t r; static pthread_mutexattr_t a;\n\
        void *f(void *p) { pthread_mutex_lock(&r); return p; }\n\
        int main(void) { pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&r, &a);\
        run(0); pthread_join(other, 0); assert(pthread_mutex_lock(&r) == EOWNERDEAD); assert(!pthread_mutex_consistent(&r));\
        assert(!pthread_mutex_unlock(&r)); assert(!pthread_mutex_lock(&r)); return 0; }",
            &[],
        ),
    ),
    (
        Of::Glibc,
        (
            "robust-condition",
            "static pthread_mutex_t r; static pthread_mutexattr_t a;\n\
        void *f(void *p) { pthread_mutex_lock(&r); done = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&r); return p; }\n\
        int main(void) { pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&r, &a);\
        run(0); pthread_mutex_lock(&r); while (!done) pthread_cond_wait(&c, &r); pthread_mutex_unlock(&r); pthread_join(other, 0); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "inherit",
            "static pthread_mutex_t r; static pthread_mutexattr_t a;\n\
        void *f(void *p) { pthread_mutex_lock(&r); x++; pthread_mutex_unlock(&r); return p; }\n\
        int main(void) { pthread_mutexattr_init(&a); assert(!pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));\
        assert(!pthread_mutex_init(&r, &a)); run(0); f(0); pthread_join(other, 0); assert(x == 2); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "spin",
            "static pthread_spinlock_t s; void *f(void *p) { pthread_spin_lock(&s); x++; pthread_spin_unlock(&s); return p; }\n\
        int main(void) { pthread_spin_init(&s, 0); run(0); f(0); pthread_join(other, 0); assert(!pthread_spin_trylock(&s) && pthread_spin_trylock(&s) == EBUSY);\
        pthread_spin_unlock(&s); assert(x == 2); return 0; }",
            &[],
        ),
    ),
];

const WAITS: &[(Of, Case)] = &[
    (
        Of::Both,
        (
            "barrier",
            "static pthread_barrier_t b; static atomic_int serial;\n\
        void *f(void *p) { x = 1; if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) serial++; assert(y == 1); return p; }\n\
        int main(void) { pthread_barrier_init(&b, 0, 2); run(0); y = 1;\
        if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) serial++; assert(x == 1); pthread_join(other, 0);\
        assert(serial == 1); assert(!pthread_barrier_destroy(&b)); return 0; }",
            &[],
        ),
    ),
    (
        Of::Glibc,
        (
            "timed",
            "void *f(void *p) { struct timespec t = in(CLOCK_REALTIME, 1); assert(pthread_mutex_timedlock(&m, &t) == ETIMEDOUT);\
        t = in(CLOCK_MONOTONIC, 1); assert(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t) == ETIMEDOUT);\
        t = in(CLOCK_REALTIME, 1); assert(sem_timedwait(&sem, &t) == -1 && errno == ETIMEDOUT);\
        t = in(CLOCK_MONOTONIC, 1); assert(sem_clockwait(&sem, CLOCK_MONOTONIC, &t) == -1 && errno == ETIMEDOUT);\
        assert(sem_trywait(&sem) == -1 && errno == EAGAIN); return p; }\n\
        int main(void) { pthread_mutex_lock(&m); run(0); pthread_join(other, 0); struct timespec t = in(CLOCK_REALTIME, 1);\
        assert(pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT); t = in(CLOCK_MONOTONIC, 1);\
        assert(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &t) == ETIMEDOUT); assert(!pthread_mutex_unlock(&m));\
        sem_post(&sem); t = in(CLOCK_REALTIME, 1); assert(!sem_timedwait(&sem, &t)); int v; sem_getvalue(&sem, &v); assert(!v); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "no-time",
            "void *f(void *p) { struct timespec t = { 1, 1000000000 }; assert(pthread_mutex_timedlock(&m, &t) == EINVAL);\
        assert(sem_timedwait(&sem, &t) == -1 && errno == EINVAL); assert(pthread_rwlock_timedwrlock(&rw, &t) == EINVAL); return p; }\n\
        int main(void) { struct timespec t = { 1, -1 }; pthread_mutex_lock(&m); pthread_rwlock_rdlock(&rw); run(0); pthread_join(other, 0);\
        assert(pthread_cond_timedwait(&c, &m, &t) == EINVAL); assert(pthread_mutex_trylock(&m) == EBUSY);\
        sem_init(&sem, 0, SEM_VALUE_MAX); assert(sem_post(&sem) == -1 && errno == EOVERFLOW); return 0; }",
            &[],
        ),
    ),
    (
        Of::Both,
        (
            "c11",
            "static mtx_t l; static cnd_t w; static int g(void *p) { mtx_lock(&l); x = 1; cnd_signal(&w); mtx_unlock(&l); return 7; }\n\
        void *f(void *p) { return p; }\n\
        int main(void) { thrd_t t; int r; assert(mtx_init(&l, mtx_plain) == thrd_success && cnd_init(&w) == thrd_success);\
        assert(thrd_create(&t, g, 0) == thrd_success); mtx_lock(&l); while (!x) cnd_wait(&w, &l); assert(mtx_trylock(&l) == thrd_busy);\
        mtx_unlock(&l); thrd_join(t, &r); assert(r == 7); struct timespec u = in(CLOCK_REALTIME, 1); mtx_lock(&l);\
        assert(cnd_timedwait(&w, &l, &u) == thrd_timedout); mtx_unlock(&l); mtx_destroy(&l); cnd_destroy(&w); return 0; }",
            &[],
        ),
    ),
];

fn all(cases: &[(Of, Case)]) {
    for (of, case) in cases {
        meets("gcc", case);
        if *of == Of::Both {
            meets("musl-gcc", case);
        }
    }
}

#[test]
fn functions_that_are_called_once_are() {
    all(ONCE);
}

#[test]
fn threads_are_cancelled_where_they_wait() {
    all(CANCEL);
}

#[test]
fn what_a_program_does_when_a_thread_ends_is_a_part_of_it() {
    all(ENDS);
}

#[test]
fn locks_of_every_kind_do_what_they_should() {
    all(LOCKS);
}

#[test]
fn barriers_semaphores_and_conditions_do_what_they_should() {
    all(WAITS);
}
