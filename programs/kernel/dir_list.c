// Listing directories, and the working directory.
#include "filecheck.h"

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// All entries of a directory, sorted, with their kinds.
static void show(const char *name, const char *path) {
    char *names[64];
    int count = 0;
    DIR *stream = opendir(path);
    if (!stream) {
        printf("%s: %s\n", name, strerrorname(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream)) && count < 64;)
        asprintf(&names[count++], "%s/%d", entry->d_name, entry->d_type);
    closedir(stream);
    qsort(names, count, sizeof *names, by_name);
    printf("%s:", name);
    for (int i = 0; i < count; i++)
        printf(" %s", names[i]);
    printf("\n");
}

static void removed_directory(void) {
    mkdir("gone", 0755);
    int directory = open("gone", O_RDONLY | O_DIRECTORY);
    if (chdir("gone") != 0)
        return;
    char path[512];
    rmdir("../gone");
    CHECK("getcwd of a removed directory", getcwd(path, sizeof path) ? 0 : -1);
    CHECK("create in it", open("x", O_WRONLY | O_CREAT, 0644));
    CHECK("mkdir in it", mkdir("x", 0755));
    CHECK("stat of .", access(".", F_OK));
    CHECK("list it", syscall(SYS_getdents64, directory, path, sizeof path));
    struct stat status;
    fstat(directory, &status);
    TELL("its links", status.st_nlink);
    CHECK("chdir to its parent", chdir(".."));
    printf("back in: %s\n", getcwd(path, sizeof path));
}

int main(void) {
    enter_work("dir_list");
    char buffer[4096], path[512];
    put_file("file", "x");
    mkdir("dir", 0755);
    symlink("file", "link");
    mkfifo("fifo", 0644);
    show("entries", ".");
    show("a file", "file");
    show("nothing", "nothing");
    show("an empty directory", "dir");
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    CHECK("too little room", syscall(SYS_getdents64, fd, buffer, 8));
    CHECK_OK("enough room", syscall(SYS_getdents64, fd, buffer, sizeof buffer));
    CHECK("the end", syscall(SYS_getdents64, fd, buffer, sizeof buffer));
    CHECK("back to the start", lseek(fd, 0, SEEK_SET));
    CHECK_OK("again", syscall(SYS_getdents64, fd, buffer, sizeof buffer));
    int file = open("file", O_RDONLY);
    CHECK("getdents of a file", syscall(SYS_getdents64, file, buffer, sizeof buffer));
    CHECK("getdents of nothing", syscall(SYS_getdents64, 77, buffer, sizeof buffer));
    // Removing while reading: every entry is seen once.
    mkdir("many", 0755);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "many/entry%d", i);
        put_file(path, "");
    }
    DIR *stream = opendir("many");
    int seen = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (entry->d_name[0] == '.')
            continue;
        seen++;
        unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
    TELL("entries seen while removing", seen);
    CHECK("nothing is left", rmdir("many"));
    // telldir and seekdir.
    stream = opendir(".");
    readdir(stream);
    readdir(stream);
    long position = telldir(stream);
    char third[256], again[256];
    strcpy(third, readdir(stream)->d_name);
    readdir(stream);
    seekdir(stream, position);
    strcpy(again, readdir(stream)->d_name);
    TELL("seekdir leads back", strcmp(third, again) == 0);
    closedir(stream);
    struct stat status, above;
    stat("dir/..", &status);
    stat(".", &above);
    TELL(".. of a directory", status.st_ino == above.st_ino);
    // A name that was removed and made again is listed once.
    unlink("file");
    put_file("file", "new");
    show("after making a file again", ".");
    rename("dir", "renamed");
    show("after renaming a directory", ".");
    CHECK("chdir", chdir("renamed"));
    printf("working directory: %s\n", getcwd(path, sizeof path));
    CHECK("getcwd into little room", getcwd(path, 4) ? 0 : -1);
    CHECK("chdir to ..", chdir(".."));
    CHECK("chdir to a file", chdir("file"));
    CHECK("chdir to nothing", chdir("nothing"));
    CHECK("fchdir to a file", fchdir(file));
    int renamed = open("renamed", O_PATH);
    CHECK("fchdir of O_PATH", fchdir(renamed));
    printf("working directory: %s\n", getcwd(path, sizeof path));
    rename("../renamed", "../again");
    printf("after renaming it: %s\n", getcwd(path, sizeof path));
    chdir("..");
    removed_directory();
    leave_work();
    return 0;
}
