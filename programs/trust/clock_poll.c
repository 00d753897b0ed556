// expect: assert
// Time passes for those who only look at clocks.
#include <assert.h>
#include <time.h>
int main(void) { struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a); do clock_gettime(CLOCK_MONOTONIC, &b); while (b.tv_sec - a.tv_sec < 2); assert(0); }
