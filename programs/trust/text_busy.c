// expect: assert
// A file that is open for writing cannot be executed, not even if nothing is written.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    static char bytes[4096];
    ssize_t length;
    int status;
    if (count > 1) return 0;
    int in = open(words[0], O_RDONLY), out = open("tool", O_WRONLY | O_CREAT | O_TRUNC, 0755);
    while ((length = read(in, bytes, sizeof bytes)) > 0) write(out, bytes, length);
    close(in), close(out);
    if (!fork()) _exit(close(open("tool", O_WRONLY)) && errno != EBADF);
    pid_t pid = fork();
    if (!pid) {
        execl("./tool", "tool", "x", (char *)0);
        _exit(errno == ETXTBSY);
    }
    waitpid(pid, &status, 0);
    assert(status == 0);
    return 0;
}
