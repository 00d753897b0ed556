// Extended attributes.
#include "filecheck.h"
#include <sys/xattr.h>

static void as_user(void) {
    if (setgroups(0, NULL) != 0 || setgid(1000) != 0 || setuid(1000) != 0)
        perror("user");
    char value[32];
    CHECK("a user reads", getxattr("file", "user.name", value, sizeof value));
    CHECK("a user writes another's", setxattr("file", "user.name", "x", 1, 0));
    CHECK("a user reads trusted ones", getxattr("file", "trusted.name", value, sizeof value));
    CHECK("a user lists", listxattr("file", value, sizeof value));
}

int main(void) {
    enter_work("files_attribute");
    char value[64];
    put_file("file", "x");
    symlink("file", "link");
    CHECK("get what is not there", getxattr("file", "user.name", value, sizeof value));
    CHECK("list nothing", listxattr("file", value, sizeof value));
    CHECK("set", setxattr("file", "user.name", "value", 5, 0));
    CHECK("length", getxattr("file", "user.name", NULL, 0));
    CHECK("get", getxattr("file", "user.name", value, sizeof value));
    printf("value: %.5s\n", value);
    CHECK("get into little room", getxattr("file", "user.name", value, 2));
    CHECK("create again", setxattr("file", "user.name", "other", 5, XATTR_CREATE));
    CHECK("replace", setxattr("file", "user.name", "new", 3, XATTR_REPLACE));
    CHECK("replace nothing", setxattr("file", "user.none", "new", 3, XATTR_REPLACE));
    CHECK("bad flags", setxattr("file", "user.none", "new", 3, 8));
    CHECK("get through a link", getxattr("link", "user.name", value, sizeof value));
    CHECK("set of a link itself", lsetxattr("link", "user.name", "x", 1, 0));
    CHECK("get of a link itself", lgetxattr("link", "user.name", value, sizeof value));
    int fd = open("file", O_RDWR);
    CHECK("fset", fsetxattr(fd, "user.second", "", 0, 0));
    CHECK("fget", fgetxattr(fd, "user.second", value, sizeof value));
    CHECK("list", listxattr("file", value, sizeof value));
    CHECK("list into little room", listxattr("file", value, 3));
    CHECK("a name without space", setxattr("file", "name", "x", 1, 0));
    CHECK("an unknown space", setxattr("file", "other.name", "x", 1, 0));
    CHECK("an empty name", setxattr("file", "", "x", 1, 0));
    CHECK("a long value", setxattr("file", "user.long", value, 70000, 0));
    CHECK("trusted", setxattr("file", "trusted.name", "x", 1, 0));
    CHECK("remove", removexattr("file", "user.second"));
    CHECK("remove again", removexattr("file", "user.second"));
    CHECK("of nothing", getxattr("nothing", "user.name", value, sizeof value));
    CHECK("of a bad descriptor", fgetxattr(77, "user.name", value, sizeof value));
    CHECK("lists of nothing", listxattr("nothing", value, sizeof value));
    in_child(as_user);
    leave_work();
    return 0;
}
