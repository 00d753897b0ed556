// Record locks of processes: fcntl(F_SETLK).
#include "filecheck.h"

static int to_child[2], to_parent[2];

static void send_token(int fd) {
    if (write(fd, "t", 1) != 1)
        perror("token");
}

static void take_token(int fd) {
    char token;
    if (read(fd, &token, 1) != 1)
        exit(3);
}

static int lock(int fd, int command, int type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, command, &lock);
}

// What is in the way of a lock: kind, start and length, and whether the parent holds it.
static void show_blocker(const char *name, int fd, int type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(fd, F_GETLK, &lock) != 0) {
        printf("%s: %s\n", name, strerrorname(errno));
        return;
    }
    if (lock.l_type == F_UNLCK)
        printf("%s: free\n", name);
    else
        printf("%s: type %d start %ld length %ld parent %d\n", name, lock.l_type, (long)lock.l_start, (long)lock.l_len,
               lock.l_pid == getppid());
}

static void look_from_child(void) {
    int fd = open("file", O_RDWR);
    show_blocker("all of it", fd, F_WRLCK, 0, 0);
    show_blocker("behind the first", fd, F_WRLCK, 10, 5);
    show_blocker("the middle part", fd, F_RDLCK, 12, 20);
    show_blocker("far behind", fd, F_WRLCK, 1000, 0);
    CHECK("read lock over a read lock", lock(fd, F_SETLK, F_RDLCK, 40, 10));
    CHECK("write lock over a read lock", lock(fd, F_SETLK, F_WRLCK, 40, 10));
    CHECK("read lock over a write lock", lock(fd, F_SETLK, F_RDLCK, 5, 1));
    CHECK("write lock beside it", lock(fd, F_SETLK, F_WRLCK, 10, 10));
}

static void split(void) {
    int fd = open("file", O_RDWR);
    show_blocker("before the hole", fd, F_WRLCK, 0, 0);
    show_blocker("in the hole", fd, F_WRLCK, 140, 20);
    show_blocker("behind the hole", fd, F_WRLCK, 150, 100);
}

static void merged(void) {
    int fd = open("file", O_RDWR);
    show_blocker("joined locks", fd, F_WRLCK, 105, 1);
}

static void to_the_end(void) {
    int fd = open("file", O_RDWR);
    show_blocker("a lock to the end", fd, F_WRLCK, 500, 1);
    show_blocker("a lock backwards", fd, F_WRLCK, 0, 100);
}

static void is_free(void) {
    int fd = open("file", O_RDWR);
    show_blocker("after the release", fd, F_WRLCK, 0, 0);
}

static void not_inherited(void) {
    // The parent's descriptor, but not its locks.
    CHECK("a child has no locks", lock(21, F_SETLK, F_WRLCK, 0, 10));
}

static void blocking(void) {
    int fd = open("file", O_RDWR);
    send_token(to_parent[1]);
    CHECK("waiting lock", lock(fd, F_SETLKW, F_WRLCK, 0, 10));
    char text[8] = {0};
    pread(fd, text, 4, 0);
    printf("got it after: %s\n", text);
}

static void deadlock(void) {
    int fd = open("file", O_RDWR);
    CHECK("child locks the second", lock(fd, F_SETLK, F_WRLCK, 10, 10));
    send_token(to_parent[1]);
    // Waits for the parent, who will wait for us, or the other way round: exactly one is told.
    errno = 0;
    int result = lock(fd, F_SETLKW, F_WRLCK, 0, 10);
    _exit(result == 0 ? 0 : errno == EDEADLK ? 1 : 2);
}

static void interrupted(int number) {
    (void)number;
}

int main(void) {
    enter_work("lock_record");
    pipe(to_child);
    pipe(to_parent);
    put_file("file", "0123456789");
    int spare = open("file", O_RDWR);
    dup2(spare, 20);
    int fd = 20;
    CHECK("write lock", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    CHECK("again", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    CHECK("read lock", lock(fd, F_SETLK, F_RDLCK, 30, 30));
    in_child(look_from_child);
    CHECK("a lock for splitting", lock(fd, F_SETLK, F_WRLCK, 100, 100));
    CHECK("unlock the middle", lock(fd, F_SETLK, F_UNLCK, 140, 20));
    CHECK("unlock the rest before", lock(fd, F_SETLK, F_UNLCK, 0, 100));
    in_child(split);
    CHECK("lock the hole again", lock(fd, F_SETLK, F_WRLCK, 140, 20));
    in_child(merged);
    CHECK("unlock all", lock(fd, F_SETLK, F_UNLCK, 0, 0));
    CHECK("lock to the end", lock(fd, F_SETLK, F_WRLCK, 200, 0));
    struct flock backwards = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = 0, .l_len = -4};
    CHECK("lock before the end", fcntl(fd, F_SETLK, &backwards));
    in_child(to_the_end);
    struct flock wrong = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = -1};
    CHECK("lock before the start", fcntl(fd, F_SETLK, &wrong));
    wrong = (struct flock){.l_type = 7, .l_whence = SEEK_SET};
    CHECK("an unknown kind", fcntl(fd, F_SETLK, &wrong));
    wrong = (struct flock){.l_type = F_WRLCK, .l_whence = 9};
    CHECK("an unknown whence", fcntl(fd, F_SETLK, &wrong));
    CHECK("a lock of nothing", lock(77, F_SETLK, F_WRLCK, 0, 0));
    int reader = open("file", O_RDONLY);
    CHECK("write lock of O_RDONLY", lock(reader, F_SETLK, F_WRLCK, 900, 1));
    CHECK("read lock of O_RDONLY", lock(reader, F_SETLK, F_RDLCK, 900, 1));
    // fcntl(2): any close of the file releases all locks of the process.
    close(reader);
    in_child(is_free);
    dup2(fd, 21);
    CHECK("lock", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    in_child(not_inherited);
    // A waiting lock is granted when the holder lets go.
    fflush(stdout);
    if (fork() == 0) {
        blocking();
        fflush(stdout);
        _exit(0);
    }
    take_token(to_parent[0]);
    usleep(20000);
    pwrite(fd, "done", 4, 0);
    CHECK("unlock", lock(fd, F_SETLK, F_UNLCK, 0, 0));
    wait(NULL);
    // A circle is refused to whoever would close it.
    CHECK("parent locks the first", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        deadlock();
    take_token(to_parent[0]);
    errno = 0;
    int result = lock(fd, F_SETLKW, F_WRLCK, 10, 10), refused = result != 0 && errno == EDEADLK;
    lock(fd, F_SETLK, F_UNLCK, 0, 0);
    int status;
    waitpid(child, &status, 0);
    TELL("refused with EDEADLK", refused + (WEXITSTATUS(status) == 1));
    // A signal ends the wait.
    struct sigaction action = {.sa_handler = interrupted};
    sigaction(SIGALRM, &action, NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        lock(fd, F_SETLK, F_WRLCK, 0, 10);
        send_token(to_parent[1]);
        take_token(to_child[0]);
        _exit(0);
    }
    take_token(to_parent[0]);
    struct itimerval timer = {.it_value = {0, 50000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    CHECK("interrupted wait", lock(fd, F_SETLKW, F_WRLCK, 0, 10));
    send_token(to_child[1]);
    wait(NULL);
    CHECK("locks end with their process", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    leave_work();
    return 0;
}
