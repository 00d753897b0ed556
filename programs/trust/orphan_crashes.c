// expect: crash
// Nobody waits for a child whose parent has ended; it is looked at all the same.
#include <unistd.h>
int main(void) {
    if (fork() == 0) {
        pid_t parent = getppid();
        sleep(1);
        if (getppid() != parent) *(volatile int *)0 = 1;
        _exit(0);
    }
    _exit(0);
}
