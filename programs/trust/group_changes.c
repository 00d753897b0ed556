// expect: assert
// A parent moves its child to another process group, at any time.
#include <assert.h>
#include <unistd.h>
#include <sys/wait.h>
int main(void) {
    int p[2]; char c;
    (void)!pipe(p);
    pid_t k;
    if ((k = fork()) == 0) {
        pid_t g = getpgid(0);
        (void)!write(p[1], "x", 1);
        assert(getpgid(0) == g);
        _exit(0);
    }
    (void)!read(p[0], &c, 1);
    setpgid(k, k);
    wait(0);
    _exit(0);
}
