// A log of records, each with a length and a checksum; `log append` writes two and says when each is durable, `log read`
// prints those that are whole. -DNO_SYNC: a record is said to be durable although nobody has made it so.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct record {
    unsigned char size, sum;
    char text[6];
};

static unsigned char sum_of(const struct record *record) {
    unsigned char sum = 7;
    for (int at = 0; at < record->size; at++) sum = sum * 31 + record->text[at];
    return sum;
}

static void append(int fd, const char *text) {
    struct record record = {.size = strlen(text)};
    memcpy(record.text, text, record.size);
    record.sum = sum_of(&record);
    write(fd, &record, sizeof record);
#ifndef NO_SYNC
    fsync(fd);
#endif
    dprintf(1, "ACK %s\n", text);
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "read") == 0) {
        struct record record;
        int fd = open("records", O_RDONLY);
        while (read(fd, &record, sizeof record) == sizeof record)
            if (record.size && record.size <= sizeof record.text && record.sum == sum_of(&record))
                dprintf(1, "has %.*s\n", record.size, record.text);
        return 0;
    }
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    int fd = open("records", O_CREAT | O_WRONLY | O_APPEND, 0600);
    fsync(folder);
    append(fd, "one");
    append(fd, "two");
    return 0;
}
