// expect: assert
// What a constructor writes, others read at any time.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static int p[2];
static pid_t child;
__attribute__((constructor)) static void early(void) {
    char c = 0;
    (void)!pipe2(p, O_NONBLOCK);
    if ((child = fork()) == 0) {
        assert(read(p[0], &c, 1) == 1);
        _exit(0);
    }
    (void)!write(p[1], "x", 1);
}
int main(void) { waitpid(child, 0, 0); return 0; }
