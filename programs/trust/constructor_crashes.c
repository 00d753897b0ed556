// expect: crash
// What a program does before main counts.
static int *volatile nothing;
__attribute__((constructor)) static void early(void) { *nothing = 1; }
int main(void) { return 0; }
