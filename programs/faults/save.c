// Saves a record under a new name and renames it, as programs do that must not lose the old one.
// What can go wrong: write(2) fails, or takes less than it was given. -DCHECKED looks at what it returns.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char record[] = "name=allways\n";

static int save(int fd) {
#ifdef CHECKED
    size_t done = 0;
    while (done < sizeof record - 1) {
        ssize_t count = write(fd, record + done, sizeof record - 1 - done);
        if (count < 0 && errno != EINTR) return -1;
        if (count > 0) done += count;
    }
#else
    write(fd, record, sizeof record - 1);
#endif
    return 0;
}

int main(void) {
    int fd = open("record.new", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int saved = save(fd);
    close(fd);
    if (saved < 0) return 1;  // The old record stays.
    rename("record.new", "record");
    char found[64] = "";
    fd = open("record", O_RDONLY);
    read(fd, found, sizeof found);
    assert(strcmp(found, record) == 0);
    return 0;
}
