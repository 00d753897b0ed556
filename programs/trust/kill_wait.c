// expect: holds
// A child that is killed wakes its parent.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t c = fork();
    if (!c) { for (;;) pause(); }
    kill(c, SIGKILL);
    waitpid(c, 0, 0);
    return 0;
}
