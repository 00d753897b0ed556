//! What threads and processes can do, to what they share and to each other: one row for each family.
//!
//! In a statement `{v}` is a small number, `{n}` one of two, `{o}` a thread or process, `{x}` a variable, `{c}` a condition,
//! `{B}` another statement of the program. What it finds it adds to `r`; frame.c and harm.c have what it is made of.

/// A family of operations that are about the same objects.
pub struct Family {
    pub name: &'static str,
    /// What has to be set up for it.
    pub needs: &'static [&'static str],
    /// One of these, too.
    pub one_of: &'static [&'static str],
    pub lines: &'static [&'static str],
    /// What searches must know of it.
    pub traits: Traits,
}

/// What searches must know of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits {
    /// It waits for time.
    pub times: bool,
    /// The library's own code loops until something changes, or waits in another way than its summary.
    pub loops: bool,
    /// It may use what the standard leaves undefined: only what is the same by chance is the same natively.
    pub undefined: bool,
}

const NONE: Traits = Traits { times: false, loops: false, undefined: false };
const TIMES: Traits = Traits { times: true, ..NONE };
const LOOPS: Traits = Traits { loops: true, ..NONE };
const UNDEFINED: Traits = Traits { undefined: true, ..NONE };

const fn family(name: &'static str, needs: &'static [&'static str], lines: &'static [&'static str]) -> Family {
    Family { name, needs, one_of: &[], lines, traits: NONE }
}

const fn kinds(name: &'static str, one_of: &'static [&'static str], lines: &'static [&'static str]) -> Family {
    Family { name, needs: &[], one_of, lines, traits: NONE }
}

impl Family {
    const fn with(self, traits: Traits) -> Self {
        Self { traits, ..self }
    }
}

/// In every program, so that there is something to see.
pub const MEMORY: Family = family(
    "memory",
    &[],
    &[
        "{x}++; ",
        "{x} = {v}; ",
        "r += {x}; ",
        "r += atomic_fetch_add(&s->a[{n}], {v}); ",
        "atomic_store(&s->a[{n}], {v}); ",
        "r += atomic_load(&s->a[{n}]); ",
        "r += cas(&s->a[{n}], 0, {v}); ",
    ],
);

pub const FAMILIES: &[Family] = &[
    // Stores that no fence follows, and loads behind them.
    family(
        "store buffers",
        &[],
        &[
            "V(s->w[{n}]) = {v}; r += V(s->w[1 - {n}]); ",
            "V(s->w[{n}]) = {v}; r += V(s->w[1 - {n}]); ",
            "V(s->w[0]) = {v}; r += V(s->w[1]) + V(s->w[0]); ",
            "V(s->w[1]) = {v}; V(s->flag) = 1; r += V(s->w[0]); ",
            "atomic_store_explicit(&s->a[{n}], {v}, memory_order_release); r += atomic_load(&s->a[1 - {n}]); ",
            "__asm__ volatile(\"mfence\" : : : \"memory\"); ",
            "assert(V(s->w[0]) || V(s->w[1]) || !V(s->flag)); ",
            "pthread_mutex_lock(&s->m[0]); {x}++; pthread_mutex_unlock(&s->m[0]); ",
            "{ unsigned *h = malloc(16); *h = V(s->w[0]); free(h); } ",
        ],
    ),
    family(
        "leave",
        &[],
        &[
            "exit({v}); ",
            "_exit({v}); ",
            "if ({c}) exit({v}); ",
            "if ({c}) _exit({v}); ",
            "return r; ",
            "if ({c}) return r; ",
            "syscall(SYS_exit_group, {v}); ",
            "on_leaving(); ",
        ],
    ),
    family("assert", &[], &["assert(0); ", "assert(!{c}); ", "assert({c}); ", "if ({c}) abort(); ", "{x} = {v}; "]),
    family("thread exit", &[], &["pthread_exit(0); ", "if ({c}) pthread_exit(0); ", "atomic_store(&s->a[{n}], {v}); "]),
    family(
        "cancel",
        &["FIRST"],
        &[
            "if (!PROCESSED) pthread_cancel(first_thread); ",
            "pthread_testcancel(); ",
            "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0); ",
            "pause_once(); ",
        ],
    ),
    family(
        "exec",
        &[],
        &["become({v}); ", "if ({c}) become({v}); ", "become(0); ", "atomic_store(&s->a[{n}], {v}); "],
    ),
    family(
        "kill",
        &["IDS"],
        &[
            "r += hit({o}, SIGKILL); ",
            "r += hit({o}, SIGTERM); ",
            "r += hit({o}, 0); ",
            "kill(getpid(), SIGTERM); ",
            "if ({c}) raise(SIGKILL); ",
            "if ({c}) r += hit({o}, SIGTERM); ",
            "signal(SIGTERM, SIG_IGN); ",
            "signal(SIGTERM, SIG_DFL); ",
        ],
    ),
    family(
        "handler",
        &["SIGNAL", "IDS"],
        &[
            "r += hit({o}, SIGUSR1); ",
            "r += hit({o}, SIGUSR1); ",
            "kill(getpid(), SIGUSR1); ",
            "raise(SIGUSR1); ",
            "signal(SIGUSR1, adds); ",
            "signal(SIGUSR1, posts); ",
            "signal(SIGUSR1, stores); ",
            "signal(SIGUSR1, SIG_DFL); ",
            "mask(SIG_BLOCK); ",
            "mask(SIG_UNBLOCK); ",
            "r += V(handled); ",
            "r += waiting(); ",
        ],
    ),
    // What handlers access next to what they interrupt.
    family(
        "interrupted",
        &["SIGNAL"],
        &[
            "signal(SIGUSR1, adds); ",
            "signal(SIGUSR1, copies); ",
            "{ unsigned t = V(s->w[{n}]); V(s->w[{n}]) = t + 1; } ",
            "V(s->w[0]) = {v}; V(s->w[1]) = {v}; ",
            "r += V(s->w[{n}]); ",
            "r += V(handled); ",
            "mask(SIG_BLOCK); {B}mask(SIG_UNBLOCK); ",
            "errno = {v}; r += errno; ",
        ],
    ),
    // Handlers that do not return to where they interrupted.
    family("jumps", &["SIGNAL"], &["signal(SIGUSR1, jumps); ", "JUMPS({x} = {v}; {x} = {v}; ) ", "JUMPS({B}) "]),
    family(
        "suspend",
        &["SIGNAL", "BLOCKED", "IDS"],
        &[
            "suspend(); ",
            "r += taken(); ",
            "r += hit({o}, SIGUSR1); ",
            "kill(getpid(), SIGUSR1); ",
            "r += V(handled); ",
            "mask(SIG_UNBLOCK); ",
            "pause_once(); ",
        ],
    ),
    family(
        "unmap",
        &["PAGE"],
        &[
            "munmap(page, 4096); ",
            "munmap(page, 8192); ",
            "if ({c}) munmap(page, 4096); ",
            "renew(MAP_FIXED); ",
            "V(page[{n}]) = {v}; ",
            "r += V(page[{n}]); ",
            "V(page[{n}])++; ",
            "atomic_fetch_add((atomic_uint *)page, {v}); ",
            "r += atomic_load((atomic_uint *)page); ",
            "r += filled(page); ",
        ],
    ),
    family(
        "protect",
        &["PAGE"],
        &[
            "mprotect(page, 4096, PROT_NONE); ",
            "mprotect(page, 4096, PROT_READ); ",
            "mprotect(page, 4096, PROT_READ | PROT_WRITE); ",
            "V(page[{n}]) = {v}; ",
            "r += V(page[{n}]); ",
            "memcpy(page, page + 8, 8); ",
            "r += filled(page); ",
            "r += writable(page); ",
        ],
    ),
    family(
        "remap",
        &["PAGE"],
        &[
            "page = mremap(page, 4096, 8192, MREMAP_MAYMOVE); ",
            "r += moved(); ",
            "madvise(page, 4096, MADV_DONTNEED); ",
            "V(page[{n}]) = {v}; ",
            "r += V(page[{n}]); ",
            "V(page[{n}])++; ",
        ],
    ),
    family(
        "renewed locks",
        &[],
        &[
            "pthread_mutex_init(&s->m[0], 0); ",
            "memset(&s->m[0], 0, sizeof s->m[0]); ",
            "pthread_mutex_unlock(&s->m[0]); ",
            "s->m[1] = s->m[0]; ",
            "pthread_mutex_lock(&s->m[0]); {B}pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); {B}pthread_mutex_unlock(&s->m[0]); ",
            "if (pthread_mutex_trylock(&s->m[{n}]) == 0) { {B}pthread_mutex_unlock(&s->m[{n}]); } else {x} = {v}; ",
            "if (V(s->m[0].__data.__lock)) {x} = {v}; ",
            "pthread_mutex_destroy(&s->m[0]); ",
        ],
    )
    .with(UNDEFINED),
    kinds(
        "mutex kinds",
        &["RECURSIVE", "CHECKED", "ADAPTIVE", "INHERITED", "ROBUST | RECURSIVE", "ROBUST | CHECKED", "ROBUST | INHERITED"],
        &[
            "r += pthread_mutex_lock(&s->m[1]) != 0; {B}r += pthread_mutex_unlock(&s->m[1]) != 0; ",
            "r += pthread_mutex_lock(&s->m[1]) != 0; {B}r += pthread_mutex_unlock(&s->m[1]) != 0; ",
            "if (pthread_mutex_trylock(&s->m[1]) == 0) { {B}pthread_mutex_unlock(&s->m[1]); } else { {x} = {v}; r++; } ",
            "r += pthread_mutex_lock(&s->m[1]) != 0; ",
            "r += pthread_mutex_unlock(&s->m[1]) != 0; ",
        ],
    ),
    kinds(
        "robust",
        &["ROBUST", "ROBUST", "ROBUST | INHERITED", "ROBUST | CHECKED"],
        &[
            "r += robust(); {B}pthread_mutex_unlock(&s->m[1]); ",
            "r += robust(); return r; ",
            "r += pthread_mutex_lock(&s->m[1]); ",
            "r += pthread_mutex_trylock(&s->m[1]) & 3; ",
            "pthread_mutex_unlock(&s->m[1]); ",
        ],
    ),
    kinds(
        "read-write kinds",
        &["PREFER_READER", "PREFER_WRITER", "WRITER_NONRECURSIVE"],
        &[
            "pthread_rwlock_rdlock(&s->rw); {B}pthread_rwlock_unlock(&s->rw); ",
            "pthread_rwlock_rdlock(&s->rw); {B}pthread_rwlock_unlock(&s->rw); ",
            "pthread_rwlock_rdlock(&s->rw); pthread_rwlock_rdlock(&s->rw); {B}pthread_rwlock_unlock(&s->rw); pthread_rwlock_unlock(&s->rw); ",
            "r += pthread_rwlock_wrlock(&s->rw) != 0; {B}pthread_rwlock_unlock(&s->rw); ",
            "if (pthread_rwlock_tryrdlock(&s->rw) == 0) { {B}pthread_rwlock_unlock(&s->rw); } else { {x} = {v}; r++; } ",
            "if (pthread_rwlock_trywrlock(&s->rw) == 0) { {B}pthread_rwlock_unlock(&s->rw); } else { {x} = {v}; r++; } ",
        ],
    ),
    family("barrier", &[], &["r += pthread_barrier_wait(&s->bar) != 0; ", "{x}++; "]),
    family(
        "spin locks",
        &[],
        &[
            "pthread_spin_lock(&s->spin); {B}pthread_spin_unlock(&s->spin); ",
            "if (pthread_spin_trylock(&s->spin) == 0) { {B}pthread_spin_unlock(&s->spin); } else { {x} = {v}; r++; } ",
        ],
    )
    .with(LOOPS),
    family(
        "Rust's mutex",
        &[],
        &[
            "rust_lock(&s->rust); {B}rust_unlock(&s->rust); ",
            "if (rust_try(&s->rust)) { {B}rust_unlock(&s->rust); } else r++; ",
        ],
    ),
    family(
        "parking_lot's mutex",
        &[],
        &[
            "parking_lock(&s->parking); {B}parking_unlock(&s->parking); ",
            "if (parking_try(&s->parking)) { {B}parking_unlock(&s->parking); } else r++; ",
            "if (parking_soon(&s->parking)) { {B}parking_unlock(&s->parking); } else r++; ",
        ],
    ),
    family("Rust's threads", &["LIKE_RUST"], &["r += atomic_load(&rust_living); ", "{x}++; "]),
    family(
        "semaphores",
        &[],
        &[
            "sem_wait(&s->sem); ",
            "sem_post(&s->sem); ",
            "sem_post(&s->sem); ",
            "r += sem_trywait(&s->sem) != 0; ",
            "r += level(); ",
            "sem_init(&s->sem, PROCESSED, {n}); ",
        ],
    ),
    family(
        "System V",
        &["SYSV"],
        &[
            "r += add({n}, 1, SEM_UNDO); ",
            "r += add({n}, 1, 0); ",
            "r += add({n}, -1, SEM_UNDO); ",
            "r += add({n}, -1, IPC_NOWAIT); ",
            "r += add({n}, 0, 0); ",
            "r += both(1); ",
            "r += semctl(sysv, {n}, GETVAL); ",
            "semctl(sysv, {n}, SETVAL, {v}); ",
            "if ({c}) semctl(sysv, 0, IPC_RMID); ",
            "if ({c}) _exit({v}); ",
        ],
    ),
    family(
        "alarms",
        &["ALARM"],
        &[
            "alarm(1); ",
            "in_a_second(ITIMER_REAL); ",
            "in_a_second(-1); ",
            "alarm(0); ",
            "signal(SIGALRM, adds); ",
            "{ unsigned t = V(s->w[{n}]); V(s->w[{n}]) = t + 1; } ",
            "r += V(handled); ",
            "usleep(10); ",
            "pause_once(); ",
            "{x} = {v}; ",
        ],
    )
    .with(TIMES),
    family(
        "timer descriptors",
        &["TIMER"],
        &["r += ticked(); ", "set_timer({n}); ", "set_timer(1); ", "r += look(timer, POLLIN); ", "{x}++; "],
    )
    .with(TIMES),
    family(
        "timed waits",
        &["PIPE"],
        &[
            "r += sem_timedwait(&s->sem, &soon) != 0; ",
            "sem_post(&s->sem); ",
            "if (pthread_mutex_timedlock(&s->m[0], &soon) == 0) { {B}pthread_mutex_unlock(&s->m[0]); } else { {x} = {v}; r++; } ",
            "pthread_mutex_lock(&s->m[0]); if (!s->flag) r += pthread_cond_timedwait(&s->c, &s->m[0], &soon) != 0; pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); s->flag = 1; pthread_cond_signal(&s->c); pthread_mutex_unlock(&s->m[0]); ",
            "r += polled(pipes[0], 5); ",
            "put(pipes[1], {v}, 1); ",
            "usleep(10); ",
        ],
    )
    .with(TIMES),
    family(
        "clocks",
        &[],
        &[
            "r += set_clock(2); ",
            "r += set_clock(-2); ",
            "r += went(CLOCK_REALTIME); ",
            "r += went(CLOCK_MONOTONIC); ",
            "r += slept(); ",
            "r += sem_timedwait(&s->sem, &soon) != 0; ",
            "sem_post(&s->sem); ",
            "{x} = {v}; ",
        ],
    )
    .with(TIMES),
    family(
        "events",
        &["EVENT"],
        &[
            "r += counted(); ",
            "r += eventfd_write(event, {v}) == 0; ",
            "r += look(event, POLLIN); ",
            "r += polled(event, -1); ",
            "fcntl(event, F_SETFL, O_NONBLOCK); ",
        ],
    ),
    family(
        "poll",
        &["PIPE"],
        &[
            "r += polled(pipes[0], -1); ",
            "r += look(pipes[0], POLLIN); ",
            "put(pipes[1], {v}, 1); ",
            "r += get(pipes[0], 1); ",
            "close(pipes[1]); ",
            "close(pipes[0]); ",
            "dup2(pipes[1], pipes[0]); ",
            "r += selected(pipes[0]); ",
        ],
    ),
    family(
        "epoll",
        &["PIPE", "EPOLL"],
        &["r += ready(0); ", "r += ready(-1); ", "put(pipes[1], {v}, 1); ", "r += get(pipes[0], 1); ", "close(pipes[1]); "],
    ),
    family(
        "fork",
        &[],
        &[
            "pthread_mutex_lock(&s->m[0]); r += forked({v}); pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); r += forked_unlocks({v}); pthread_mutex_unlock(&s->m[0]); ",
            "r += forked({v}); ",
            "r += forked_locks({v}); ",
            "pthread_mutex_lock(&s->m[0]); {B}pthread_mutex_unlock(&s->m[0]); ",
            "r += reaped(0); ",
            "r += reaped(WNOHANG); ",
            "left_alone({v}); ",
        ],
    ),
    family(
        "executables",
        &["TOOL"],
        &[
            "r += used({v}); ",
            "r += opened(\"tool\"); ",
            "r += opened(\"tool\"); ",
            "if ({c}) r += used({v}); ",
            "r += rename(\"tool\", \"other\") == 0; ",
            "r += chmod(\"tool\", 0600) == 0; ",
            "r += truncate(\"tool\", 0) == 0; ",
        ],
    ),
    // Linux lets the parent go on before the child can be reaped: whether it can without a wait differs there.
    family(
        "vfork",
        &[],
        &[
            "r += vforked({v}); ",
            "r += spawned({v}); ",
            "pthread_mutex_lock(&s->m[0]); r += vforked({v}); pthread_mutex_unlock(&s->m[0]); ",
            "if ({c}) r += spawned({v}); ",
            "spawned_alone({v}); ",
            "r += reaped(0); ",
            "atomic_store(&s->a[{n}], {v}); ",
        ],
    ),
    family(
        "file locks",
        &["FILE_"],
        &[
            "r += flocked(); ",
            "r += recorded(F_SETLKW); ",
            "r += recorded(F_SETLK); ",
            "r += recorded(F_OFD_SETLKW); ",
            "r += more(file); ",
            "if ({c}) _exit({v}); ",
        ],
    ),
    family(
        "append",
        &["FILE_"],
        &[
            "r += store(\"x\", O_CREAT | O_APPEND, {v}); ",
            "r += store(\"x\", O_CREAT | O_TRUNC, {v}); ",
            "r += content(\"x\"); ",
            "r += size(\"x\"); ",
            "put(file, {v}, 2); ",
            "r += get(file, 1); ",
            "r += lseek(file, 0, SEEK_CUR); ",
            "ftruncate(file, {n}); ",
        ],
    ),
    family(
        "names",
        &["FILE_"],
        &[
            "r += store(\"x\", O_CREAT | O_EXCL, {v}); ",
            "r += unlink(\"x\") == 0; ",
            "r += rename(\"x\", \"y\") == 0; ",
            "r += rename(\"y\", \"x\") == 0; ",
            "r += link(\"x\", \"y\") == 0; ",
            "r += content(\"x\"); ",
            "r += content(\"y\"); ",
            "r += mkdir(\"d\", 0700) == 0; ",
            "r += rmdir(\"d\") == 0; ",
            "r += chdir(\"d\") == 0; ",
            "r += names(\".\"); ",
            "umask(0777); ",
        ],
    ),
    family(
        "copies",
        &["PIPE"],
        &[
            "s->wide[0] = s->wide[1]; ",
            "memcpy(&s->wide[0], &s->wide[1], sizeof s->wide[0]); ",
            "strings(&s->wide[0], &s->wide[1]); ",
            "quads(&s->wide[0], &s->wide[1]); ",
            "sse(&s->wide[0], &s->wide[1]); ",
            "memset(&s->wide[1], {v}, sizeof s->wide[1]); ",
            "s->wide[1] = (struct wide){ { {v}, {v}, {v} } }; ",
            "r += atomic_load((atomic_ulong *)&s->wide[0].x[0]) + 3 * atomic_load((atomic_ulong *)&s->wide[0].x[1]); ",
            "atomic_store((atomic_ulong *)&s->wide[1].x[0], {v}), atomic_store((atomic_ulong *)&s->wide[1].x[1], {v}); ",
            "r += V(s->wide[0].x[0]) + 3 * V(s->wide[0].x[1]); ",
            "written(); ",
            "r += get(pipes[0], 2); ",
        ],
    ),
    family(
        "atomic arrays",
        &["PIPE"],
        &[
            "written(); ",
            "r += copied(); ",
            "atomic_store(&s->a[0], {v}); atomic_store(&s->a[1], {v}); ",
            "atomic_store(&s->a[{n}], {v}); ",
            "(void)!write(pipes[1], s->a, 8); ",
            "(void)!read(pipes[0], s->a, 8); ",
        ],
    ),
    family(
        "conditions",
        &[],
        &[
            "pthread_mutex_lock(&s->m[0]); while (!s->flag) pthread_cond_wait(&s->c, &s->m[0]); s->flag--; pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); if (!s->flag) pthread_cond_wait(&s->c, &s->m[0]); r += s->flag; pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); s->flag++; pthread_cond_signal(&s->c); pthread_mutex_unlock(&s->m[0]); ",
            "pthread_mutex_lock(&s->m[0]); s->flag++; pthread_mutex_unlock(&s->m[0]); pthread_cond_broadcast(&s->c); ",
        ],
    ),
    family("once", &[], &["pthread_once(&once, first); ", "r += V(begun); ", "once = PTHREAD_ONCE_INIT; "]).with(UNDEFINED),
    family(
        "descriptors",
        &["PIPE"],
        &[
            "r += dup(pipes[0]); ",
            "r += open(\"/dev/null\", O_RDONLY); ",
            "close(pipes[{n}]); ",
            "put(pipes[1], {v}, 1); ",
            "r += get(pipes[0], 1); ",
            "r += fcntl(pipes[0], F_GETFD); ",
            "dup2(pipes[0], pipes[1]); ",
            "signal(SIGPIPE, SIG_IGN); ",
        ],
    ),
    family(
        "heap",
        &[],
        &[
            "{ unsigned *h = malloc(16); *h = r; free(atomic_exchange(&handed, h)); } ",
            "{ unsigned *h = atomic_exchange(&handed, 0); if (h) r += *h; free(h); } ",
            "{ unsigned *h = malloc(16); *h = {v}; r += *h; free(h); } ",
            "free(realloc(malloc(8), 64)); ",
        ],
    ),
    family(
        "printing",
        &[],
        &["printf(\"{v}\"); ", "puts(\"{v}\"); ", "fflush(stdout); ", "(void)!write(1, \"{v}\", 1); ", "if ({c}) exit(0); ", "if ({c}) _exit(0); "],
    ),
    family(
        "messages",
        &["QUEUE"],
        &["r += receive(0, 0); ", "r += receive({v}, IPC_NOWAIT); ", "r += post({v}, {v}); ", "if ({c}) msgctl(messages, IPC_RMID, 0); "],
    ),
    family(
        "UDP",
        &["UDP"],
        &["r += mail({v}); ", "r += mail({v}); ", "r += collect(MSG_DONTWAIT); ", "r += collect(0); ", "if ({c}) close(udp); "],
    ),
];
