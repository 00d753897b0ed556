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
