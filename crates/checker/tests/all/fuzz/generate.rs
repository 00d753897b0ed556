//! Random small C programs: two or three threads or processes, a few operations each, on what they share.

use explore::random::Random;
use std::fmt::Write;

/// What a program uses; each uses a few, so that its parts meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Feature {
    Plain,
    Bytes,
    Atomic,
    Lock,
    TryLock,
    Condition,
    Pipe,
    Pair,
    Tcp,
    Poll,
    Semaphore,
    SystemV,
    ReadWrite,
    Barrier,
    SpinLock,
    Spin,
    Heap,
    Fork,
    File,
    FileLock,
    Event,
    Queue,
    Datagram,
    Signal,
    Time,
    Once,
    Check,
}

use Feature as F;

const FEATURES: [Feature; 27] = [
    F::Plain,
    F::Bytes,
    F::Atomic,
    F::Lock,
    F::TryLock,
    F::Condition,
    F::Pipe,
    F::Pair,
    F::Tcp,
    F::Poll,
    F::Semaphore,
    F::SystemV,
    F::ReadWrite,
    F::Barrier,
    F::SpinLock,
    F::Spin,
    F::Heap,
    F::Fork,
    F::File,
    F::FileLock,
    F::Event,
    F::Queue,
    F::Datagram,
    F::Signal,
    F::Time,
    F::Once,
    F::Check,
];

/// A random program.
pub struct Program {
    /// Functions for its parts.
    pub source: String,
    /// Its row in the table.
    pub row: String,
    /// Whether a schedule may be endless.
    pub spins: bool,
    /// Whether it uses locks whose library code spins.
    pub spin_locks: bool,
    /// Whether it waits for time.
    pub times: bool,
}

impl Program {
    /// A program that is known.
    pub fn of(source: &str, row: &str) -> Self {
        Self { source: source.to_owned(), row: row.to_owned(), spins: false, spin_locks: false, times: false }
    }
}

/// The program of a seed, with `number` in the names of its functions.
pub fn program(seed: u64, number: usize) -> Program {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9));
    let mut features: Vec<Feature> = (0..2 + random.below(3)).map(|_| FEATURES[random.below(FEATURES.len())]).collect();
    features.push([F::Plain, F::Lock, F::Atomic][random.below(3)]);
    let mut writer = Writer { random, features, needs: Vec::new(), children: String::new(), number, born: 0 };
    let count = if writer.random.chance(1, 4) { 3 } else { 2 };
    let length = if count == 3 { 2 } else { 4 };
    let mut source = String::new();
    for part in 0..count {
        let body = writer.body(length, 0);
        let _ = writeln!(source, "static unsigned p{number}_{part}(void) {{ unsigned r = 0; {body}return r; }}");
    }
    let _ = writeln!(source, "static int p{number}_end(void) {{ {} }}", writer.end());
    if writer.random.chance(1, 3) {
        writer.needs.push("PROCESSES");
    }
    if writer.random.chance(1, 2) {
        writer.needs.push("MAIN_WORKS");
    }
    match writer.random.below(8) {
        0 => writer.needs.push("RECURSIVE"),
        1 => writer.needs.push("CHECKED"),
        _ => {}
    }
    writer.needs.sort_unstable();
    writer.needs.dedup();
    let parts: Vec<String> = (0..count).map(|part| format!("p{number}_{part}")).collect();
    let needs: String = writer.needs.iter().map(|need| format!("{need} | ")).collect();
    let row = format!("{{ {needs}0, {count}, {{ {} }}, p{number}_end }},\n", parts.join(", "));
    let spins = writer.features.contains(&F::Spin);
    let spin_locks = writer.features.contains(&F::SpinLock);
    let times = writer.features.contains(&F::Time);
    Program { source: writer.children + &source, row, spins, spin_locks, times }
}

struct Writer {
    random: Random,
    features: Vec<Feature>,
    needs: Vec<&'static str>,
    /// Functions of processes that parts start.
    children: String,
    number: usize,
    born: usize,
}

impl Writer {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len())]
    }

    fn body(&mut self, length: usize, deep: usize) -> String {
        let length = 1 + self.below(length);
        (0..length).map(|_| self.statement(deep)).collect()
    }

    fn statement(&mut self, deep: usize) -> String {
        let feature = self.features[self.random.below(self.features.len())];
        let (value, number) = (1 + self.below(3), self.below(2));
        match feature {
            F::Plain => self.plain(),
            F::Bytes => self.bytes(),
            F::Atomic => self.atomic(),
            F::Lock => self.lock(deep),
            F::TryLock => self.try_lock(deep),
            F::Condition => self.condition(),
            F::Pipe => self.pipe(),
            F::Pair => self.pair(),
            F::Tcp => self.tcp(value),
            F::Poll => self.poll(),
            F::Semaphore => {
                self.one(&["sem_wait(&s->sem); ", "sem_post(&s->sem); ", "r += sem_trywait(&s->sem); "]).into()
            }
            F::SystemV => self.system_v(number),
            F::ReadWrite => self.read_write(deep),
            F::Barrier => "pthread_barrier_wait(&s->bar); ".into(),
            F::SpinLock => self.around("pthread_spin_lock(&s->spin); ", "pthread_spin_unlock(&s->spin); ", deep),
            F::Spin => self.spin(number),
            F::Heap => self.heap(number),
            F::Fork => self.fork(deep),
            F::File => self.file(value),
            F::FileLock => self.file_lock(),
            F::Event => self.event(value),
            F::Queue => self.queue(value),
            F::Datagram => self.datagram(value),
            F::Signal => self.signal(),
            F::Time => self.time(number),
            F::Once => "pthread_once(&once, first); ".into(),
            F::Check => self.check(),
        }
    }

    /// A variable of any size; the same few, so that parts meet.
    fn variable(&mut self) -> &'static str {
        self.one(&["s->w[0]", "s->w[0]", "s->w[1]", "s->q", "s->h[0]", "V(s->w[0])", "V(s->w[1])"])
    }

    fn plain(&mut self) -> String {
        let (x, y, value) = (self.variable(), self.variable(), 1 + self.below(3));
        match self.below(5) {
            0 => format!("{x}++; "),
            1 => format!("{x} = {value}; "),
            2 => format!("r += {x}; "),
            3 => format!("{x} += {y}; "),
            _ => format!("{{ unsigned v = {x}; {x} = v + {value}; }} "),
        }
    }

    fn bytes(&mut self) -> String {
        let (byte, value) = (self.below(4), 1 + self.below(3));
        match self.below(5) {
            0 => format!("s->b[{byte}] = {value}; "),
            1 => format!("r += V(s->b[{byte}]); "),
            2 => format!("s->b[{byte}]++; "),
            3 => "r += *(volatile unsigned *)s->b; ".into(),
            _ => format!("*(volatile unsigned short *)(s->b + {}) = {value}; ", byte & 2),
        }
    }

    fn atomic(&mut self) -> String {
        let (number, value) = (self.below(2), 1 + self.below(3));
        match self.below(5) {
            0 => format!("r += atomic_fetch_add(&s->a[{number}], {value}); "),
            1 => format!("r += cas(&s->a[{number}], {}, {value}); ", value - 1),
            2 => format!("r += atomic_load(&s->a[{number}]); "),
            3 => format!("atomic_store(&s->a[{number}], {value}); "),
            _ => format!("r = atomic_exchange(&s->a[{number}], r); "),
        }
    }

    fn around(&mut self, before: &str, after: &str, deep: usize) -> String {
        let body = if deep < 2 { self.body(2, deep + 1) } else { self.plain() };
        format!("{before}{body}{after}")
    }

    fn lock(&mut self, deep: usize) -> String {
        let number = self.below(2);
        if self.random.chance(1, 20) {
            return format!("pthread_mutex_unlock(&s->m[{number}]); ");
        }
        let (before, after) =
            (format!("pthread_mutex_lock(&s->m[{number}]); "), format!("pthread_mutex_unlock(&s->m[{number}]); "));
        self.around(&before, &after, deep)
    }

    fn try_lock(&mut self, deep: usize) -> String {
        let number = self.below(2);
        let before = format!("if (pthread_mutex_trylock(&s->m[{number}]) == 0) {{ ");
        let after = format!("pthread_mutex_unlock(&s->m[{number}]); }} else {{ V(s->w[{number}]) = 7; r++; }} ");
        self.around(&before, &after, deep)
    }

    fn condition(&mut self) -> String {
        let lock = "pthread_mutex_lock(&s->m[0]); ";
        let unlock = "pthread_mutex_unlock(&s->m[0]); ";
        let wake = self.one(&["pthread_cond_signal(&s->c); ", "pthread_cond_broadcast(&s->c); "]);
        let wait = "pthread_cond_wait(&s->c, &s->m[0]); ";
        match self.below(5) {
            0 => format!("{lock}while (!s->flag) {wait}{unlock}"),
            1 => format!("{lock}if (!s->flag) {wait}s->flag = 0; {unlock}"),
            2 => format!("{lock}while (!s->flag) {wait}s->flag--; {unlock}"),
            3 => format!("{lock}s->flag++; {unlock}{wake}"),
            _ => format!("{lock}s->flag = 1; {wake}{unlock}"),
        }
    }

    fn pipe(&mut self) -> String {
        self.needs.push("PIPE");
        let (value, length) = (1 + self.below(3), 1 + self.below(2));
        match self.below(9) {
            0..=2 => format!("r += get(pipes[0], {length}); "),
            7 => format!("{{ int d = dup(pipes[1]); put(d, {value}, 1); r += d; close(d); }} "),
            8 => self.one(&["dup2(pipes[0], pipes[1]); ", "r += pipe(pipes); "]).into(),
            6 if self.random.chance(1, 2) => "close(pipes[1]); ".into(),
            _ => format!("put(pipes[1], r + {value}, {length}); "),
        }
    }

    fn pair(&mut self) -> String {
        self.needs.push("PAIR");
        let (value, length, end) = (1 + self.below(3), 1 + self.below(2), self.below(2));
        match self.below(5) {
            0 | 1 => format!("r += get(pair[{end}], {length}); "),
            _ => format!("put(pair[{end}], r + {value}, {length}); "),
        }
    }

    fn tcp(&mut self, value: usize) -> String {
        self.needs.push("TCP");
        match self.below(6) {
            0 | 1 => format!("r += dial({value}); "),
            2 => format!("r += ask({value}); "),
            3 => "shutdown(listener, SHUT_RD); ".into(),
            _ => "r += answer(); ".into(),
        }
    }

    fn poll(&mut self) -> String {
        self.needs.push("PIPE");
        match self.below(3) {
            0 => "r += look(pipes[0], POLLIN); ".into(),
            1 => "r += look(pipes[1], POLLOUT); ".into(),
            _ => "put(pipes[1], 1, 1); ".into(),
        }
    }

    fn system_v(&mut self, number: usize) -> String {
        self.needs.push("SYSV");
        match self.below(6) {
            0 | 1 => format!("r += add({number}, 1, 0); "),
            2 => format!("r += add({number}, -1, 0); "),
            3 => format!("r += add({number}, -1, IPC_NOWAIT); "),
            4 => format!("r += add({number}, 0, 0); "),
            _ => self.one(&["r += both(1); ", "r += both(-1); "]).into(),
        }
    }

    fn read_write(&mut self, deep: usize) -> String {
        let before = self.one(&[
            "pthread_rwlock_rdlock(&s->rw); ",
            "pthread_rwlock_wrlock(&s->rw); ",
            "if (pthread_rwlock_tryrdlock(&s->rw) == 0) { ",
            "if (pthread_rwlock_trywrlock(&s->rw) == 0) { ",
        ]);
        let after = "pthread_rwlock_unlock(&s->rw); ";
        let after = if before.starts_with("if") { format!("{after}}} else r++; ") } else { after.into() };
        self.around(before, &after, deep)
    }

    fn spin(&mut self, number: usize) -> String {
        match self.below(4) {
            0 => {
                format!("while (!cas(&s->a[{number}], 0, 1)) {{ }} {}atomic_store(&s->a[{number}], 0); ", self.plain())
            }
            1 => format!("while (!cas(&s->a[{number}], 1, 2)) {{ }} "),
            2 => format!("while (atomic_load(&s->a[{number}]) == 0) {{ }} "),
            _ => format!("atomic_store(&s->a[{number}], 1); "),
        }
    }

    /// Blocks of one's own, and such that others will free.
    fn heap(&mut self, number: usize) -> String {
        let plain = self.plain();
        match self.below(3) {
            0 => "{ unsigned *h = malloc(16); *h = r; free(atomic_exchange(&handed, h)); } ".into(),
            1 => format!("{{ unsigned *h = atomic_exchange(&handed, 0); if (h) r += *h; {plain}free(h); }} "),
            _ => format!("{{ unsigned *h = malloc({}); *h = r; {plain}r += *h; free(h); }} ", 8 << number),
        }
    }

    fn fork(&mut self, deep: usize) -> String {
        if deep > 0 || self.born > 0 {
            return self.plain();
        }
        self.born += 1;
        let (number, body) = (self.number, self.body(2, 2));
        let _ = writeln!(self.children, "static unsigned p{number}_child(void) {{ unsigned r = 0; {body}return r; }}");
        format!("r += child(p{number}_child); ")
    }

    /// A few names, in directories that come and go, and a description that all share.
    fn file(&mut self, value: usize) -> String {
        self.needs.push("FILE_");
        let (name, length) = (self.one(&["x", "x", "y", "d/x", "l/x", "d/../y"]), 1 + self.below(2));
        match self.below(14) {
            9 => self.one(&["r += mkdir(\"d\", 0700) == 0; ", "r += mkdir(\"e\", 0700) == 0; "]).into(),
            10 => self.one(&["r += rmdir(\"d\") == 0; ", "r += rename(\"d\", \"e\") == 0; "]).into(),
            11 => self.one(&["r += names(\".\"); ", "r += names(\"d\"); ", "r += changed(\"d\"); "]).into(),
            12 => {
                let to = self.one(&["y", "d/y"]);
                self.one(&[
                    &format!("r += link(\"{name}\", \"{to}\") == 0; "),
                    &format!("r += rename(\"{name}\", \"{to}\") == 0; "),
                ])
                .into()
            }
            13 => self
                .one(&[
                    "r += symlink(\"d\", \"l\") == 0; ",
                    "r += chmod(\"d\", 0500) == 0; ",
                    "r += chdir(\"d\") == 0; ",
                    "r += chmod(\"x\", 0400) == 0; ",
                ])
                .into(),
            0 => format!("r += store(\"{name}\", O_CREAT | O_EXCL, {value}); "),
            1 => format!("r += store(\"{name}\", O_CREAT | O_APPEND, {value}); "),
            2 | 3 => format!("r += content(\"{name}\"); "),
            4 => format!("r += unlink(\"{name}\") == 0; "),
            5 => "r += rename(\"x\", \"y\") == 0; ".into(),
            6 => format!("r += size(\"{name}\"); "),
            7 => format!("put(file, r + {value}, {length}); "),
            _ => format!("r += get(file, {length}); "),
        }
    }

    fn file_lock(&mut self) -> String {
        self.needs.push("FILE_");
        self.one(&["r += flocked(); ", "r += flocked(); ", "r += recorded(F_SETLKW); ", "r += recorded(F_SETLK); "])
            .into()
    }

    fn event(&mut self, value: usize) -> String {
        self.needs.push("EVENT");
        let more = format!("r += eventfd_write(event, {value}) == 0; ");
        if self.random.chance(1, 2) { "r += counted(); ".into() } else { more }
    }

    fn queue(&mut self, value: usize) -> String {
        self.needs.push("QUEUE");
        match self.below(4) {
            0 => "r += receive(0, 0); ".into(),
            1 => format!("r += receive({value}, IPC_NOWAIT); "),
            _ => format!("r += post({value}, r); "),
        }
    }

    fn datagram(&mut self, value: usize) -> String {
        self.needs.push("DATAGRAM");
        let end = self.below(2);
        if self.random.chance(2, 5) {
            format!("r += get(grams[{end}], 1); ")
        } else {
            format!("put(grams[{end}], {value}, 1); ")
        }
    }

    fn signal(&mut self) -> String {
        self.needs.push("SIGNAL");
        self.one(&[
            "kill(getpid(), SIGUSR1); ",
            "pthread_kill(pthread_self(), SIGUSR1); ",
            "mask(SIG_BLOCK); ",
            "mask(SIG_UNBLOCK); ",
            "r += V(handled); ",
        ])
        .into()
    }

    fn time(&mut self, number: usize) -> String {
        match self.below(4) {
            0 => "usleep(10); ".into(),
            1 => "r += sem_timedwait(&s->sem, &soon) != 0; ".into(),
            2 => format!("if (pthread_mutex_timedlock(&s->m[{number}], &soon) == 0) {{ {}pthread_mutex_unlock(&s->m[{number}]); }} else {{ V(s->w[{number}]) = 7; r++; }} ", self.plain()),
            _ => "pthread_mutex_lock(&s->m[0]); if (!s->flag) r += pthread_cond_timedwait(&s->c, &s->m[0], &soon) != 0; pthread_mutex_unlock(&s->m[0]); ".into(),
        }
    }

    fn check(&mut self) -> String {
        let (x, value) = (self.variable(), 1 + self.below(5));
        match self.below(3) {
            0 => format!("if ({x} > {value}) abort(); "),
            1 => format!("if (s->flag > 1 || s->a[0] + s->a[1] > {value}) abort(); "),
            _ => format!("assert(r + {x} != {value}); "),
        }
    }

    fn end(&mut self) -> String {
        let (x, y, value) = (self.variable(), self.variable(), 1 + self.below(4));
        match self.below(4) {
            0 => format!("return {x} == {value}; "),
            1 => format!("assert({x} + {y} != {value}); return 0; "),
            2 => format!("return (s->out[0] + s->out[1]) % {}; ", value + 1),
            _ => "return 0; ".into(),
        }
    }
}
