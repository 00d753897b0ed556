//! Programs on which answers once differed, as small as they get.

use crate::fuzz::mix::Mix;
use crate::fuzz::table::Traits;

/// What each is about, what it needs, its parts.
pub const KNOWN: &[(&str, &[&str], &[&str])] = &[
    (
        "a thread gives back the share of a reader, who finds none or that of the next one",
        &[],
        &[
            "if (pthread_rwlock_tryrdlock(&s->rw) == 0) { r += cas(&s->a[0], 0, 2); pthread_rwlock_unlock(&s->rw); } else r++; ",
            "if (pthread_rwlock_trywrlock(&s->rw) == 0) { pthread_rwlock_rdlock(&s->rw); r += atomic_load(&s->a[0]); \
             pthread_rwlock_unlock(&s->rw); pthread_rwlock_unlock(&s->rw); } else r++; \
             pthread_rwlock_rdlock(&s->rw); r += pthread_rwlock_wrlock(&s->rw) != 0; s->w[0] = 1; \
             pthread_rwlock_unlock(&s->rw); pthread_rwlock_unlock(&s->rw); ",
        ],
    ),
    (
        "the holder of a lock lives where another thread did in another order",
        &["DETACHED", "ENDS"],
        &["", "", "pthread_exit(0); "],
    ),
    (
        "a process that holds a robust lock executes another program",
        &["PROCESSES", "ROBUST", "INHERITED"],
        &[
            "r += robust(); r += s->w[0]; pthread_mutex_unlock(&s->m[1]); ",
            "r += robust(); become(2); pthread_mutex_unlock(&s->m[1]); ",
        ],
    ),
    (
        "a thread that unwinds its stack wakes one that is cancelled",
        &["FIRST", "MAIN_WORKS"],
        &["pthread_testcancel(); ", "if (!PROCESSED) pthread_cancel(first_thread); pthread_exit(0); "],
    ),
    (
        "a page moves to where another was discarded",
        &["PAGE"],
        &[
            "V(s->w[1]) = 2; ",
            "V(s->w[1]) = 2; madvise(page, 4096, MADV_DONTNEED); ",
            "page = mremap(page, 4096, 8192, MREMAP_MAYMOVE); ",
        ],
    ),
    (
        "the first that ends by pthread_exit loads a library while others begin",
        &["DETACHED", "RETURNS"],
        &["atomic_store(&s->a[1], 1); if (atomic_load(&s->a[1])) pthread_exit(0); ", ""],
    ),
    (
        "exit and pthread_exit lock the loader",
        &["RETURNS"],
        &["", "if (!atomic_load(&s->a[0])) pthread_exit(0); ", "if (!atomic_load(&s->a[0])) pthread_exit(0); "],
    ),
    (
        "one goes on with a page that another unmaps, and sees what that writes then",
        &["MAIN_WORKS", "PAGE", "RETURNS"],
        &["V(page[1]) = 1; ", "munmap(page, 4096); V(s->w[1]) = 3; "],
    ),
    (
        "the holder of a lock executes another program",
        &["MAIN_WORKS", "PROCESSES"],
        &[
            "if (pthread_mutex_trylock(&s->m[1]) == 0) { become(0); pthread_mutex_unlock(&s->m[1]); } else r++; ",
            "r += pthread_mutex_lock(&s->m[1]) != 0; become(0); r += pthread_mutex_unlock(&s->m[1]) != 0; ",
        ],
    ),
    (
        "the holder of a lock sends a signal to who waits for it",
        &["IDS", "SIGNAL"],
        &[
            "r += atomic_load(&s->a[0]); pthread_rwlock_rdlock(&s->rw); pthread_rwlock_rdlock(&s->rw); \
             if (pthread_rwlock_tryrdlock(&s->rw) == 0) { atomic_store(&s->a[1], 3); pthread_rwlock_unlock(&s->rw); } else r++; \
             pthread_rwlock_unlock(&s->rw); pthread_rwlock_unlock(&s->rw); ",
            "r += atomic_fetch_add(&s->a[0], 2); \
             if (pthread_rwlock_trywrlock(&s->rw) == 0) { r += hit(0, SIGUSR1); pthread_rwlock_unlock(&s->rw); } else r++; ",
        ],
    ),
    // What is freed was accessed in words, in bytes, or in neither by then.
    ("two write to a file of one name", &["RETURNS"], &["written(); ", "written(); "]),
    // A step that goes back to its beginning brings back the threads that it has ended.
    ("main returns while threads begin", &["RETURNS"], &["", ""]),
    (
        "a thread ends with a lock that another waits for",
        &[],
        &["pthread_mutex_lock(&s->m[1]); ", "r += pthread_mutex_lock(&s->m[1]); "],
    ),
    (
        "the owner of a robust lock ends",
        &["ROBUST"],
        &["r += robust(); ", "r += robust(); pthread_mutex_unlock(&s->m[1]); "],
    ),
    (
        "who looks at a semaphore sees posts",
        &["PROCESSES"],
        &["r += atomic_fetch_add(&s->a[1], 2); sem_post(&s->sem); ", "r += level(); "],
    ),
    (
        "a semaphore is initialised again",
        &[],
        &["sem_init(&s->sem, 0, 0); ", "sem_post(&s->sem); r += sem_trywait(&s->sem) != 0; "],
    ),
    (
        "an assertion right behind an operation",
        &["MAIN_WORKS"],
        &["assert(atomic_load(&s->a[1])); ", "atomic_store(&s->a[1], 2); ", ""],
    ),
    ("an assertion behind the creation of a thread", &["MAIN_WORKS"], &["assert(V(s->w[0])); ", "s->w[0] = 1; "]),
    (
        "a timer and a sleep, where time passes early",
        &["ALARM", "PIPE", "PROCESSES"],
        &[
            "atomic_store(&s->a[1], 2); pause_once(); (void)!read(pipes[0], s->a, 8); ",
            "atomic_store(&s->a[1], 3); in_a_second(ITIMER_REAL); ",
        ],
    ),
    (
        "the owner of a lock that inherits priorities ends",
        &["INHERITED"],
        &["pthread_mutex_lock(&s->m[1]); ", "r += pthread_mutex_lock(&s->m[1]); "],
    ),
    (
        "a lock is initialised under who holds it",
        &[],
        &[
            "pthread_mutex_lock(&s->m[0]); V(s->w[0])++; pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); V(s->w[0])++; pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_init(&s->m[0], 0); ",
        ],
    ),
    (
        "who finds a lock held goes on before what is done under it",
        &[],
        &[
            "pthread_mutex_lock(&s->m[0]); r += V(s->w[0]); V(s->w[0]) = r + 1; pthread_mutex_unlock(&s->m[0]); ",
            "if (pthread_mutex_trylock(&s->m[0])) V(s->w[0]) = 3; ",
        ],
    ),
    (
        "who sees in memory that a lock is held goes on before what is done under it",
        &[],
        &[
            "pthread_mutex_lock(&s->m[0]); r += V(s->w[0]); V(s->w[0]) = r + 1; pthread_mutex_unlock(&s->m[0]); ",
            "if (V(s->m[0].__data.__lock)) V(s->w[0]) = 3; ",
        ],
    ),
    (
        "a lock is zeroed word by word",
        &[],
        &[
            "pthread_mutex_init(&s->m[0], 0); pthread_mutex_lock(&s->m[0]); pthread_mutex_unlock(&s->m[0]); ",
            "memset(&s->m[0], 0, sizeof s->m[0]); ",
        ],
    ),
    // A handler blocks its signal: another thread takes the next one.
    ("two signals, one for the process", &["MAIN_WORKS", "SIGNAL"], &["raise(SIGUSR1); ", "kill(getpid(), SIGUSR1); "]),
    ("a thread blocks what another sends", &["IDS"], &["r += hit(1, SIGUSR1); ", "mask(SIG_BLOCK); "]),
    (
        "a page that processes share is only read",
        &["PAGE", "PROCESSES"],
        &[
            "",
            "V(page[0]) = 2; r += atomic_fetch_add(&s->a[1], 1); ",
            "mprotect(page, 4096, PROT_READ); r += V(page[0]); ",
        ],
    ),
    (
        "a semaphore is initialised under who waits for ever",
        &[],
        &[
            "sem_init(&s->sem, PROCESSED, 0); pthread_mutex_lock(&s->m[0]); \
             r += pthread_cond_timedwait(&s->c, &s->m[0], &soon) != 0; pthread_mutex_unlock(&s->m[0]); ",
            "sem_wait(&s->sem); ",
        ],
    ),
    ("a child ends while its parent's threads end", &["ENDS"], &["r += forked(1); "]),
    (
        "a thread starts when all others have ended",
        &["ENDS"],
        &["left_alone(1); ", "r += sem_timedwait(&s->sem, &soon) != 0; "],
    ),
    ("two replace the program", &[], &["become(2); ", "become(1); "]),
    (
        "a page moves under who uses it",
        &["PAGE"],
        &["V(page[0])++; ", "page = mremap(page, 4096, 8192, MREMAP_MAYMOVE); "],
    ),
    (
        "a file is mapped and written",
        &["FILE_", "PROCESSES"],
        &[
            "ftruncate(file, 8); { char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0); r += V(p[0]); } ",
            "(void)!pwrite(file, \"\\3\", 1, 0); ",
        ],
    ),
    (
        "a file is mapped privately and written",
        &["FILE_", "PROCESSES"],
        &[
            "ftruncate(file, 8); { char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0); r += V(p[0]); } ",
            "(void)!pwrite(file, \"\\3\", 1, 0); ",
        ],
    ),
    (
        "parking_lot's mutex for ever, for a while and at once",
        &[],
        &[
            "parking_lock(&s->parking); r += V(s->w[0])++; parking_unlock(&s->parking); ",
            "if (parking_soon(&s->parking)) { r += V(s->w[0]) + 4; parking_unlock(&s->parking); } ",
        ],
    ),
    (
        "who holds parking_lot's mutex takes another one",
        &[],
        &[
            "parking_lock(&s->parking); rust_lock(&s->rust); rust_unlock(&s->rust); parking_unlock(&s->parking); ",
            "rust_lock(&s->rust); parking_lock(&s->parking); parking_unlock(&s->parking); rust_unlock(&s->rust); ",
        ],
    ),
    (
        "whoever is the first thread of Rust leaves more on its stack",
        &["LIKE_RUST"],
        &[
            "",
            "pthread_mutex_lock(&s->m[0]); while (!s->flag) pthread_cond_wait(&s->c, &s->m[0]); s->flag--; pthread_mutex_unlock(&s->m[0]); ",
        ],
    ),
    (
        "threads of Rust are counted while they come and go",
        &["LIKE_RUST"],
        &["r += atomic_load(&rust_living); ", "r += atomic_load(&rust_living); V(s->w[0]) = 1; "],
    ),
    (
        "threads of Rust end while main returns",
        &["LIKE_RUST", "DETACHED", "RETURNS"],
        &["atomic_store(&s->a[0], 1); ", "r += atomic_load(&s->a[0]); "],
    ),
    (
        "a thread of Rust exits before its closure returns",
        &["LIKE_RUST"],
        &[
            "if (atomic_load(&s->a[0])) pthread_exit(0); ",
            "atomic_store(&s->a[0], 1); r += atomic_load(&rust_living); ",
        ],
    ),
    // Decision 14 says which mutations the following ones notice.
    (
        "Rust's mutex is taken twice by one",
        &[],
        &["", "rust_lock(&s->rust); rust_lock(&s->rust); atomic_store(&s->a[1], 1); rust_unlock(&s->rust); "],
    ),
    // The destructor is the function itself, so that nothing of the program's own comes before it.
    (
        "a thread that ends waits for Rust's mutex",
        &[],
        &[
            "rust_lock(&s->rust); atomic_store(&s->a[1], 2); rust_unlock(&s->rust); ",
            "{ pthread_key_t k; pthread_key_create(&k, (void *)rust_contended); pthread_setspecific(k, &s->rust); } \
             r += atomic_load(&s->a[1]); ",
        ],
    ),
    (
        "what follows an attempt of parking_lot's mutex comes after what its holder does",
        &["MAIN_WORKS", "RETURNS"],
        &[
            "parking_lock(&s->parking); V(s->w[1]) = 2; parking_unlock(&s->parking); ",
            "if (parking_soon(&s->parking)) { parking_lock(&s->parking); parking_unlock(&s->parking); } else r++; \
             s->w[0]++; ",
        ],
    ),
    (
        "the only thread left ends at a racing word",
        &["MAIN_WORKS", "PAGE"],
        &["mprotect(page, 4096, PROT_NONE); V(page[0]) = 2; ", "", "memcpy(page, page + 8, 8); "],
    ),
    (
        "the only thread left waits behind a racing word",
        &["EVENT", "MAIN_WORKS"],
        &["s->w[0]++; fcntl(event, F_SETFL, O_NONBLOCK); r += polled(event, -1); ", "s->w[0] = 1; "],
    ),
    (
        "an attempt finds a lock held whose holder has ended",
        &[],
        &[
            "r += pthread_mutex_lock(&s->m[1]) != 0; r += s->w[0]; ",
            "if (pthread_mutex_trylock(&s->m[1]) == 0) { pthread_mutex_lock(&s->m[1]); } else { s->w[0] = 1; r++; } ",
        ],
    ),
    ("two threads that end load a library", &[], &["pthread_exit(0); ", "pthread_exit(0); "]),
    (
        "a signal that a thread has sent itself is pending while another moves",
        &["IDS", "PIPE", "SIGNAL"],
        &[
            "written(); r += get(pipes[0], 2); ",
            "if (rust_try(&s->rust)) { r += hit(1, SIGUSR1); rust_unlock(&s->rust); } else r++; ",
        ],
    ),
    (
        "a thread that is alone waits behind a clock that it has read",
        &["MAIN_WORKS"],
        &[
            "r += set_clock(-2); pthread_mutex_lock(&s->m[0]); while (!s->flag) pthread_cond_wait(&s->c, &s->m[0]); s->flag--; pthread_mutex_unlock(&s->m[0]); ",
            "",
        ],
    ),
];

/// The same, by the look at which they differed.
pub const KNOWN_BY_LOOK: &[(&str, &str, &[&str], &[&str])] = &[
    ("kills", "a thread that ends has locked the loader", &["ENDS"], &["pthread_exit(0); ", ""]),
    ("restarts", "the first step is taken for the restart", &[], &["", ""]),
    ("pauses", "the only thread left takes longer steps", &["ENDS"], &["", ""]),
    ("pauses, classes", "an alarm rings while the program is paused", &["ALARM"], &["", "in_a_second(-1); "]),
    (
        "signals",
        "a child that shares memory executes while its parent's threads are joined",
        &["BLOCKED", "SIGNAL"],
        &["spawned_alone(3); ", ""],
    ),
    ("store buffers, fine steps", "an alarm rings while stores wait", &["ALARM", "MAIN_WORKS"], &["", "alarm(1); "]),
    ("propositions", "two write variables that a proposition compares", &[], &["s->w[0] = 3; ", "V(s->w[1]) = 3; "]),
];

/// One of them.
pub fn known(needs: &[&str], parts: &[&str]) -> Mix {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    let traits = Traits { times: parts.iter().any(|part| part.contains("pause_once")), ..Traits::default() };
    let parts = parts.iter().map(|part| vec![(*part).to_owned()]).collect();
    Mix { needs, parts, families: Vec::new(), traits }
}
