// Renaming that exchanges or replaces: what inotify tells, and which paths are shown.
#include "filecheck.h"
#include <sys/inotify.h>

static int notifier;
static const char *watched[8];

static void watch(const char *path) {
    watched[inotify_add_watch(notifier, path, IN_ALL_EVENTS & ~(IN_OPEN | IN_ACCESS | IN_CLOSE))] = path;
}

// Events since last asked; moves that belong together have the same number.
static void show_events(const char *name) {
    static char buffer[4096];
    static unsigned cookies[16];
    static int moves;
    printf("%s\n", name);
    ssize_t got = read(notifier, buffer, sizeof buffer);
    for (char *at = buffer; at < buffer + got;) {
        struct inotify_event *event = (void *)at;
        int move = 0;
        if (event->cookie) {
            for (move = 0; move < moves && cookies[move] != event->cookie;)
                move++;
            if (move == moves)
                cookies[moves++] = event->cookie;
            move++;
        }
        printf("  %s: %x %d %s\n", watched[event->wd], event->mask, move, event->len ? event->name : "");
        at += sizeof *event + event->len;
    }
}

static void show_path(const char *name, int fd) {
    char path[64], target[256] = "";
    sprintf(path, "/proc/self/fd/%d", fd);
    readlink(path, target, sizeof target - 1);
    printf("%s: %s\n", name, target);
}

static void show_directory(void) {
    char path[256] = "?";
    getcwd(path, sizeof path);
    printf("working directory: %s\n", path);
    memset(path, 0, sizeof path);
    readlink("/proc/self/cwd", path, sizeof path - 1);
    printf("as a link: %s\n", path);
}

static int exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int main(void) {
    enter_work("files-exchange");
    mkdir("left", 0755), mkdir("right", 0755), mkdir("right/inner", 0755);
    put_file("left/one", "one"), put_file("right/other", "other"), put_file("right/inner/deep", "deep");
    int one = open("left/one", O_RDONLY), other = open("right/other", O_RDONLY);
    int inner = open("right/inner", O_RDONLY | O_DIRECTORY), deep = open("right/inner/deep", O_RDONLY);
    notifier = inotify_init1(IN_NONBLOCK);
    watch("left"), watch("right"), watch("left/one"), watch("right/other"), watch("right/inner");

    CHECK("exchange files", exchange("left/one", "right/other"));
    show_events("of two files");
    show_path("one", one), show_path("other", other);
    show_file("left/one", "left/one"), show_file("right/other", "right/other");

    chdir("right/inner");
    CHECK("exchange a file and a directory", exchange("../../left/one", "../inner"));
    show_events("of a file and a directory");
    show_path("other", other), show_path("inner", inner), show_path("deep", deep);
    show_directory();
    chdir(work_directory);

    mkdir("left/one/within", 0755);
    CHECK("exchange with its parent", exchange("left/one/within", "left/one"));
    CHECK("exchange one name with itself", exchange("left/one", "left/one"));
    show_events("of none");

    put_file("left/new", "new");
    show_events("of a new one");
    CHECK("replace what is open", rename("left/new", "right/other"));
    show_events("of a replaced file");
    show_path("replaced", one);
    close(one);
    show_events("of its end");
    put_file("left/new", "new"), put_file("left/victim", "victim");
    watch("left/victim"), watch("left/new");
    show_events("of new ones");
    CHECK("replace what is not open", rename("left/new", "left/victim"));
    show_events("of a file that is gone");
    leave_work();
}
