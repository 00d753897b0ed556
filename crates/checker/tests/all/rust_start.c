/* How Rust's standard library starts and ends a thread, by the names by which that is recognised: a key is made by whoever comes
   first, threads are entered into a list, and left out of it again. A program may ask how many there are. */
void rust_allocates(void) __asm__("__rdl_alloc");
void *rust_begin(long number) __asm__("_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE");
static atomic_uint rust_living, rust_listing, rust_key;
static long rust_list[4];

__attribute__((used)) void rust_allocates(void) {}
static void rust_run(void *value) { (void)value; }
static void rust_enlist(long number, long value) {
    rust_lock(&rust_listing);
    rust_list[number] = value;
    rust_unlock(&rust_listing);
}
/* Not inlined: registers that only the first thread uses would be saved by what is called next, and lie on its stack. */
__attribute__((noinline)) static pthread_key_t rust_force(void) {
    pthread_key_t key;
    unsigned known = atomic_load(&rust_key);
    if (known) return known - 1;
    pthread_key_create(&key, rust_run);
    if (atomic_compare_exchange_strong(&rust_key, &known, key + 1)) return key;
    pthread_key_delete(key);
    return known - 1;
}
__attribute__((noinline, noclone, used)) void *rust_begin(long number) {
    void *result = run((void *)number);
    __asm__ volatile("");
    return result;
}
__attribute__((noinline, noclone, used)) void *rust_start(void *boxed) {
    long number = *(long *)boxed;
    free(boxed);
    pthread_setspecific(rust_force(), &rust_key);
    rust_enlist(number, 1);
    atomic_fetch_add(&rust_living, 1);
    void *result = rust_begin(number);
    atomic_fetch_sub(&rust_living, 1);
    rust_enlist(number, 0);
    return result;
}
