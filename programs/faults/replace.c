// Replaces the file f by another content, as editors and databases do: the new one is written beside it and renamed.
// -DSYNC: its content is made durable first; -DSYNC_FOLDER: its name is, before the program says so.
// What power loss leaves: without SYNC perhaps an empty file (POSIX; not ext4 in ordered mode), without SYNC_FOLDER perhaps
// the old one although the program has said "ACK".
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void durable(const char *path, int flags) {
    int fd = open(path, flags);
    fsync(fd);
    close(fd);
}

static void put(const char *path, const char *text, int size) {
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    write(fd, text, size);
    close(fd);
}

int main(void) {
    put("f.new", "new!", 4);
#ifdef SYNC
    durable("f.new", O_WRONLY);
#endif
    rename("f.new", "f");
#ifdef SYNC_FOLDER
    durable(".", O_RDONLY | O_DIRECTORY);
#endif
    write(1, "ACK\n", 4);
    return 0;
}
