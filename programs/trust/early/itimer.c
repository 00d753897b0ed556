// expect: assert
// With --timeouts a timer fires early: its handler runs before any call.
#include <assert.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t flag;
static void h(int s) { flag = 1; }
int main(void) { signal(SIGALRM, h); struct itimerval v = {{0,0},{0,1000}}; setitimer(ITIMER_REAL, &v, 0); for (int i = 0; i < 3; i++) { getppid(); write(1, "x", 1); assert(!flag); } return 0; }
