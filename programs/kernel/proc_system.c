// /proc, /sys and /dev: what programs read of the machine.
#include "filecheck.h"
#include <ctype.h>

static char text[65536];

static long load(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, sizeof text - 1);
    text[got < 0 ? 0 : got] = 0;
    close(fd);
    return got;
}

static int is_number(const char *path) {
    return load(path) > 0 && isdigit(text[0]) && strchr(text, '\n');
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    long total, available;
    load("/proc/meminfo");
    TELL("meminfo starts with MemTotal", sscanf(text, "MemTotal: %ld kB", &total) == 1 && total > 0);
    char *line = strstr(text, "MemAvailable:");
    TELL("meminfo has MemAvailable", line && sscanf(line, "MemAvailable: %ld kB", &available) == 1);
    load("/proc/stat");
    TELL("stat starts with cpu", strncmp(text, "cpu  ", 5) == 0);
    TELL("stat has btime", strstr(text, "\nbtime ") != NULL);
    load("/proc/cpuinfo");
    TELL("cpuinfo", strstr(text, "processor\t: 0\n") && strstr(text, "flags\t\t: "));
    double up, idle;
    load("/proc/uptime");
    TELL("uptime", sscanf(text, "%lf %lf", &up, &idle) == 2 && up > 0);
    double one, five, fifteen;
    load("/proc/loadavg");
    TELL("loadavg", sscanf(text, "%lf %lf %lf", &one, &five, &fifteen) == 3);
    load("/proc/version");
    TELL("version", strncmp(text, "Linux version ", 14) == 0);
    load("/proc/filesystems");
    TELL("filesystems", strstr(text, "nodev\tproc\n") && strstr(text, "nodev\ttmpfs\n"));
    TELL("ngroups_max", load("/proc/sys/kernel/ngroups_max") && atoi(text));
    TELL("osrelease", load("/proc/sys/kernel/osrelease") > 1);
    load("/proc/sys/kernel/ostype");
    printf("ostype: %s", text);
    TELL("pid_max", is_number("/proc/sys/kernel/pid_max"));
    TELL("cap_last_cap", is_number("/proc/sys/kernel/cap_last_cap"));
    TELL("hostname", load("/proc/sys/kernel/hostname") > 1);
    TELL("overcommit_memory", is_number("/proc/sys/vm/overcommit_memory"));
    TELL("somaxconn", is_number("/proc/sys/net/core/somaxconn"));
    TELL("file-max", is_number("/proc/sys/fs/file-max"));
    TELL("pipe-max-size", load("/proc/sys/fs/pipe-max-size") && atoi(text));
    TELL("length of a uuid", load("/proc/sys/kernel/random/uuid"));
    char first[64];
    strcpy(first, text);
    load("/proc/sys/kernel/random/uuid");
    TELL("another each time", strcmp(first, text) != 0);
    TELL("it is of version 4", text[14] == '4');
    load("/proc/sys/kernel/random/boot_id");
    strcpy(first, text);
    load("/proc/sys/kernel/random/boot_id");
    TELL("boot_id stays", strcmp(first, text) == 0);
    TELL("cpus online", load("/sys/devices/system/cpu/online") > 0 && text[0] == '0');
    TELL("cpus possible", load("/sys/devices/system/cpu/possible") > 0 && text[0] == '0');
    CHECK("write to version", open("/proc/version", O_WRONLY | O_CREAT | O_EXCL, 0644));
    // Devices.
    int fd = open("/dev/null", O_RDWR);
    CHECK("write to null", write(fd, "x", 1));
    CHECK("read of null", read(fd, text, 10));
    CHECK("seek in null", lseek(fd, 100, SEEK_SET));
    CHECK("pread of null", pread(fd, text, 1, 0));
    CHECK("truncate null", ftruncate(fd, 0));
    fd = open("/dev/zero", O_RDWR);
    text[5] = 'x';
    CHECK("read of zero", read(fd, text, 10));
    TELL("zeros", text[0] == 0 && text[5] == 0 && text[9] == 0);
    CHECK("write to zero", write(fd, "x", 1));
    fd = open("/dev/full", O_RDWR);
    CHECK("write to full", write(fd, "x", 1));
    CHECK("read of full", read(fd, text, 4));
    fd = open("/dev/urandom", O_RDONLY);
    CHECK("read of urandom", read(fd, text, 32));
    char more[32];
    read(fd, more, 32);
    TELL("other bytes", memcmp(text, more, 32) != 0);
    CHECK("tcgetattr of null", ioctl(open("/dev/null", O_RDONLY), 0x5401, text));
    CHECK_OK("O_TRUNC of null", open("/dev/null", O_WRONLY | O_TRUNC | O_CREAT, 0644));
    CHECK("null below a directory", open("/dev/null/x", O_RDONLY));
    struct stat status;
    stat("/dev/zero", &status);
    printf("zero: mode %o device %d:%d\n", status.st_mode, major(status.st_rdev), minor(status.st_rdev));
    stat("/dev/urandom", &status);
    printf("urandom: device %d:%d\n", major(status.st_rdev), minor(status.st_rdev));
    stat("/dev/shm", &status);
    printf("shm: mode %o\n", status.st_mode);
    lstat("/dev/stdin", &status);
    TELL("stdin is a link", S_ISLNK(status.st_mode));
    fd = shm_open("/allways-check", O_RDWR | O_CREAT, 0600);
    CHECK_OK("shm_open", fd);
    CHECK("write to it", write(fd, "shared", 6));
    CHECK("unlink it", shm_unlink("/allways-check"));
    CHECK("unlink it again", shm_unlink("/allways-check"));
    struct statfs system;
    statfs("/proc", &system);
    printf("kind of /proc: %lx\n", (long)system.f_type);
    statfs("/sys", &system);
    printf("kind of /sys: %lx\n", (long)system.f_type);
    statfs("/dev/shm", &system);
    printf("kind of /dev/shm: %lx\n", (long)system.f_type);
    int ends[2];
    pipe(ends);
    fstatfs(ends[0], &system);
    printf("kind of a pipe: %lx\n", (long)system.f_type);
    return 0;
}
