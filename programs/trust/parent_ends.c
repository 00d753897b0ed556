// expect: assert
// Who the parent is changes when it ends, at any time.
#include <assert.h>
#include <unistd.h>
int main(void) {
    int p[2]; char c;
    pid_t me = getpid();
    (void)!pipe(p);
    if (fork() == 0) {
        (void)!write(p[1], "x", 1);
        assert(getppid() == me);
        return 0;
    }
    (void)!read(p[0], &c, 1);
    _exit(0);
}
