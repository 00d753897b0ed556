/* The Mutex of Rust's standard library, as its source has it, and by the name by which it is recognised. */
#define CONTENDED "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE"
void rust_contended(atomic_uint *lock) __asm__(CONTENDED);

static unsigned rust_spin(atomic_uint *lock) {
    for (int left = 2;; left--) {
        unsigned state = atomic_load(lock);
        if (state != 1 || left == 0) return state;
    }
}
__attribute__((noinline, noclone, used)) void rust_contended(atomic_uint *lock) {
    unsigned state = rust_spin(lock);
    if (state == 0 && atomic_compare_exchange_strong(lock, &state, 1)) return;
    for (;;) {
        if (state != 2 && atomic_exchange(lock, 2) == 0) return;
        while (atomic_load(lock) == 2 && syscall(SYS_futex, lock, 0, 2, 0) < 0 && errno == EINTR) {}
        state = rust_spin(lock);
    }
}
static unsigned rust_try(atomic_uint *lock) {
    unsigned state = 0;
    return atomic_compare_exchange_strong(lock, &state, 1);
}
static void rust_lock(atomic_uint *lock) {
    if (!rust_try(lock)) rust_contended(lock);
}
static void rust_unlock(atomic_uint *lock) {
    if (atomic_exchange(lock, 0) == 2) syscall(SYS_futex, lock, 1, 1);
}

/* The Mutex of the crate parking_lot, without handing it over: a byte, of which the lowest bit says that it is held and the next one
   that somebody is parked. The last argument is the nanoseconds of an Option<Instant>. */
#define SLOW "_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE"
#define FOR_EVER 1000000000
unsigned parking_slow(atomic_uchar *lock, long seconds, unsigned nanoseconds) __asm__(SLOW);

__attribute__((noinline, noclone, used)) unsigned parking_slow(atomic_uchar *lock, long seconds, unsigned nanoseconds) {
    unsigned char state = atomic_load(lock);
    for (int left = 2;;) {
        if (!(state & 1)) {
            if (atomic_compare_exchange_strong(lock, &state, state | 1)) return 1;
        } else if (!(state & 2) && left-- > 0) {
            state = atomic_load(lock);
        } else if (nanoseconds != FOR_EVER) {
            return 0;
        } else if (state & 2 || atomic_compare_exchange_strong(lock, &state, state | 2)) {
            syscall(SYS_futex, lock, 0, 3, 0);
            state = atomic_load(lock);
            left = 2;
        }
    }
}
static unsigned parking_try(atomic_uint *lock) {
    unsigned char state = 0;
    return atomic_compare_exchange_strong((atomic_uchar *)lock, &state, 1);
}
static void parking_lock(atomic_uint *lock) {
    if (!parking_try(lock)) parking_slow((atomic_uchar *)lock, 0, FOR_EVER);
}
static unsigned parking_soon(atomic_uint *lock) {
    return parking_try(lock) || parking_slow((atomic_uchar *)lock, 0, 0);
}
static void parking_unlock(atomic_uint *lock) {
    unsigned char state = 1;
    if (atomic_compare_exchange_strong((atomic_uchar *)lock, &state, 0)) return;
    atomic_store((atomic_uchar *)lock, 0);
    syscall(SYS_futex, lock, 1, 0x7fffffff);
}
