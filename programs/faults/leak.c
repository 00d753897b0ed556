// A server that answers three requests, each with a buffer of its own. Without memory for it the request fails, and its
// descriptor stays open: the next one gets another. -DCLOSES closes it.
#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

static int answer(void) {
    int request = open("/dev/null", O_RDONLY);
    char *buffer = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
#ifdef CLOSES
        close(request);
#endif
        return -1;
    }
    read(request, buffer, SIZE);
    munmap(buffer, SIZE);
    return close(request);
}

int main(void) {
    for (int request = 0; request < 3; request++) answer();
    int fd = dup(STDERR_FILENO);
    assert(fd == STDERR_FILENO + 1);
    return 0;
}
