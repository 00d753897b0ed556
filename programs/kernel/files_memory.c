// Files in memory: memfd_create(2), seals, mappings and file content as one.
#include "filecheck.h"

int main(void) {
    enter_work("files_memory");
    char text[64] = {0};
    int fd = memfd_create("name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK_OK("memfd_create", fd);
    TELL("close on exec", fcntl(fd, F_GETFD));
    snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
    char target[64] = {0};
    readlink(text, target, sizeof target);
    printf("its name: %s\n", target);
    struct stat status;
    fstat(fd, &status);
    printf("mode %o links %ld\n", status.st_mode, (long)status.st_nlink);
    CHECK("write", write(fd, "hello", 5));
    CHECK("seals", fcntl(fd, F_GET_SEALS));
    CHECK("seal against growing", fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
    CHECK("write that grows", write(fd, "x", 1));
    CHECK("write that does not", pwrite(fd, "J", 1, 0));
    CHECK("ftruncate to more", ftruncate(fd, 100));
    CHECK("ftruncate to less", ftruncate(fd, 4));
    CHECK("seal against shrinking", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
    CHECK("ftruncate to less", ftruncate(fd, 1));
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK("seal against writing while mapped", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    munmap(map, 4096);
    CHECK("seal against writing", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    CHECK("write", pwrite(fd, "x", 1, 0));
    CHECK("map for writing", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    CHECK("map for reading", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    CHECK("seal the seals", fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL));
    CHECK("another seal", fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
    TELL("all seals", fcntl(fd, F_GET_SEALS));
    int plain = memfd_create("plain", 0);
    TELL("seals without sealing", fcntl(plain, F_GET_SEALS));
    CHECK("adding one", fcntl(plain, F_ADD_SEALS, F_SEAL_GROW));
    put_file("file", "0123456789");
    int file = open("file", O_RDWR);
    CHECK("seals of a file", fcntl(file, F_GET_SEALS));
    CHECK("memfd_create with bad flags", memfd_create("x", 0x4000));
    char name[300];
    memset(name, 'n', 250);
    name[250] = 0;
    CHECK("a long name", memfd_create(name, 0));
    name[249] = 0;
    CHECK_OK("a name just short enough", memfd_create(name, 0));
    // One content: read, write and shared mappings.
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *private = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    shared[0] = 'A';
    pread(file, text, 4, 0);
    printf("read sees a shared mapping: %.4s\n", text);
    pwrite(file, "B", 1, 1);
    printf("a shared mapping sees a write: %.4s\n", shared);
    printf("a private one, too, where untouched: %.4s\n", private);
    private[2] = 'P';
    pwrite(file, "C", 1, 3);
    pread(file, text, 4, 0);
    printf("a private write stays private: %.4s %.3s\n", text, private);
    TELL("zeros behind the end", shared[10] == 0 && shared[4095] == 0);
    int second = open("file", O_RDONLY);
    char *again = mmap(NULL, 4096, PROT_READ, MAP_SHARED, second, 0);
    shared[5] = 'S';
    printf("two mappings of one file: %.6s\n", again);
    close(file);
    unlink("file");
    shared[6] = 'U';
    printf("after unlink: %.7s\n", again);
    CHECK("map O_RDONLY for writing",
          mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0) == MAP_FAILED ? -1 : 0);
    CHECK("map O_RDONLY privately for writing",
          mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, second, 0) == MAP_FAILED ? -1 : 0);
    pid_t child = fork();
    if (child == 0) {
        shared[7] = 'F';
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("a child writes for both: %.8s\n", again);
    int grown = open("grown", O_RDWR | O_CREAT, 0644);
    char *early = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, grown, 0);
    CHECK("grow after mapping", ftruncate(grown, 8192));
    early[5000] = 'G';
    CHECK("read of what was mapped early", pread(grown, text, 1, 5000));
    TELL("it is there", text[0] == 'G');
    CHECK("shrink", ftruncate(grown, 100));
    CHECK("grow again", ftruncate(grown, 8192));
    TELL("what was cut off is zero", early[5000]);
    CHECK("msync", msync(early, 8192, MS_SYNC));
    leave_work();
    return 0;
}
