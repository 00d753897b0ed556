// Looks for a file that is not there, and reaps children in a handler of SIGCHLD as a daemon does.
// waitpid(2) in the handler changes errno between the call that failed and the line that asks why. -DSAVES puts it back.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static void reap(int signal) {
    (void)signal;
    int saved = errno;
    while (waitpid(-1, 0, WNOHANG) > 0) {}
#ifdef SAVES
    errno = saved;
#endif
    (void)saved;
}

int main(void) {
    struct sigaction action = {.sa_handler = reap};
    sigaction(SIGCHLD, &action, 0);
    int fd = open("absent", O_RDONLY);
    assert(fd >= 0 || errno == ENOENT);
    return 0;
}
