// A ticket that is good for a minute of the real-time clock, which somebody may set.
//   ticket        takes one, uses it at once, and expects that it is still good
// -DMONOTONIC: measured by the clock that nobody sets.
#include <assert.h>
#include <time.h>

#ifdef MONOTONIC
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_REALTIME
#endif

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK, &time);
    return time.tv_sec;
}

int main(void) {
    time_t taken = now();
    time_t age = now() - taken;
    assert(age >= 0 && age < 60);
    return 0;
}
