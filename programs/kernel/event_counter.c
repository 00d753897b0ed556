// eventfd.
#include "netcheck.h"

static int counter;

static void *writer(void *unused) {
    usleep(3000);
    eventfd_write(counter, 5);
    return NULL;
}

static void *reader(void *unused) {
    usleep(3000);
    eventfd_t value;
    eventfd_read(counter, &value);
    return NULL;
}

static void show_read(const char *name, int fd) {
    uint64_t value = 0;
    long count = read(fd, &value, 8);
    printf("%s: %ld %lu %s\n", name, count, (unsigned long)value, count == -1 ? strerrorname_np(errno) : "ok");
}

static long add(int fd, uint64_t value) { return write(fd, &value, 8); }

int main(void) {
    counter = eventfd(3, EFD_NONBLOCK | EFD_CLOEXEC);
    show("close on exec", fcntl(counter, F_GETFD));
    show_poll("poll with a value", counter);
    show_read("read", counter);
    show_poll("poll empty", counter);
    show_read("read empty", counter);
    show("add", add(counter, 2));
    show("add again", add(counter, 40));
    show_read("the sum", counter);
    show("read too little", read(counter, &(int){0}, 4));
    show("write too little", write(counter, &(int){0}, 4));
    char more[16] = {1};
    show("write more", write(counter, more, 16));
    show("read more", read(counter, more, 16));
    show("add the forbidden", add(counter, UINT64_MAX));
    show("add the most", add(counter, UINT64_MAX - 1));
    show_poll("poll full", counter);
    show("no room", add(counter, 1));
    show("nothing always has room", add(counter, 0));
    show_read("the most", counter);
    show("add", add(counter, UINT64_MAX - 2));
    show_poll("poll nearly full", counter);
    show("too much", add(counter, 2));
    show("just enough", add(counter, 1));
    show("seek", lseek(counter, 0, SEEK_SET));
    show("bad flags", eventfd(0, 0x40000));
    close(counter);

    counter = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    show_read("semaphore", counter);
    show_read("semaphore", counter);
    show_read("semaphore empty", counter);
    add(counter, 3);
    show_read("semaphore", counter);
    close(counter);

    pthread_t thread;
    counter = eventfd(0, 0);
    pthread_create(&thread, NULL, writer, NULL);
    show_read("wait", counter);
    pthread_join(thread, NULL);
    add(counter, UINT64_MAX - 1);
    pthread_create(&thread, NULL, reader, NULL);
    show("wait for room", add(counter, 7));
    pthread_join(thread, NULL);
    show_read("what is there", counter);
    pid_t child = fork();
    if (child == 0) {
        add(counter, 9);
        _exit(0);
    }
    show_read("from a child", counter);
    waitpid(child, NULL, 0);
    return 0;
}
