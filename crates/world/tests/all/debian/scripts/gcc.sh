# Driver, compiler, assembler and linker; the executable is the same to the last byte.
# needs: gcc
cat > hello.c <<END
#include <stdio.h>
#include <math.h>
int main(int argc, char **argv) { printf("hello %d %.3f\n", argc, sqrt(2.0 * argc)); return 3; }
END
gcc -O2 -Wall -o hello hello.c -lm; ./hello a b; echo $?; sha256sum hello; gcc -S -O1 -o - hello.c | sha256sum
echo 'int main() { return x; }' > wrong.c; gcc -c wrong.c; echo $?
