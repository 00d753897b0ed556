// inotify(7): what a watcher is told.
#include "filecheck.h"
#include <sys/inotify.h>

static int fd;

// All events that are queued, one line each; cookies are told as pairs.
static void show(const char *name) {
    char buffer[4096] __attribute__((aligned(8)));
    ssize_t got = read(fd, buffer, sizeof buffer);
    printf("%s:", name);
    if (got < 0)
        printf(" %s", strerrorname(errno));
    unsigned cookie = 0;
    for (char *at = buffer; at < buffer + got;) {
        struct inotify_event *event = (struct inotify_event *)at;
        printf(" [%d %x %s%s]", event->wd, event->mask, event->len ? event->name : "-",
               event->cookie == 0 ? "" : event->cookie == cookie ? " same" : " new");
        cookie = event->cookie;
        at += sizeof *event + event->len;
    }
    printf("\n");
}

int main(void) {
    enter_work("files_notify");
    mkdir("dir", 0755);
    fd = inotify_init1(IN_NONBLOCK);
    CHECK_OK("inotify_init1", fd);
    CHECK("bad flags", inotify_init1(0x123));
    CHECK("watch a directory", inotify_add_watch(fd, "dir", IN_ALL_EVENTS));
    CHECK("watch it again", inotify_add_watch(fd, "dir", IN_ALL_EVENTS));
    CHECK("watch nothing", inotify_add_watch(fd, "nothing", IN_ALL_EVENTS));
    CHECK("watch for nothing", inotify_add_watch(fd, "dir", 0));
    CHECK("watch with a file", inotify_add_watch(0, "dir", IN_ALL_EVENTS));
    show("nothing yet");
    int file = open("dir/file", O_RDWR | O_CREAT, 0644);
    show("create");
    write(file, "x", 1);
    write(file, "y", 1);
    show("two writes are one event");
    char text[4];
    pread(file, text, 1, 0);
    show("read");
    fchmod(file, 0600);
    show("chmod");
    close(file);
    show("close");
    close(open("dir/file", O_RDONLY));
    show("open and close");
    mkdir("dir/sub", 0755);
    show("mkdir");
    rename("dir/file", "dir/moved");
    show("rename");
    rename("dir/moved", "outside");
    show("move out");
    rename("outside", "dir/back");
    show("move in");
    link("dir/back", "dir/hard");
    show("link");
    unlink("dir/hard");
    show("unlink");
    rmdir("dir/sub");
    show("rmdir");
    CHECK("watch the file, too", inotify_add_watch(fd, "dir/back", IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF));
    truncate("dir/back", 1);
    show("truncate tells both");
    rename("dir/back", "dir/again");
    show("rename tells both");
    unlink("dir/again");
    show("unlink tells both");
    CHECK("the watch is gone", inotify_rm_watch(fd, 2));
    CHECK("one shot", inotify_add_watch(fd, "dir", IN_CREATE | IN_ONESHOT));
    put_file("dir/one", "");
    put_file("dir/two", "");
    show("only the first");
    CHECK("only directories", inotify_add_watch(fd, "dir/one", IN_ALL_EVENTS | IN_ONLYDIR));
    CHECK("watch", inotify_add_watch(fd, "dir", IN_CREATE));
    CHECK("add to it", inotify_add_watch(fd, "dir", IN_DELETE | IN_MASK_ADD));
    CHECK("only if new", inotify_add_watch(fd, "dir", IN_DELETE | IN_MASK_CREATE));
    put_file("dir/three", "");
    unlink("dir/three");
    struct pollfd one = {.fd = fd, .events = POLLIN};
    poll(&one, 1, 0);
    TELL("poll", one.revents);
    int available;
    ioctl(fd, FIONREAD, &available);
    TELL("bytes", available);
    CHECK("read with little room", read(fd, text, 4));
    show("events");
    CHECK("remove the watch", inotify_rm_watch(fd, 3));
    show("removed");
    leave_work();
    return 0;
}
