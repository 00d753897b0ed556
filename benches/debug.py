#!/usr/bin/env python3
"""How long `allways debug` takes to go back over a million instructions: python3 benches/debug.py [BINARY]

A loop of about a million instructions lies between a breakpoint and the end; gdb is asked for the time. Nothing fails here: a
machine that is busy is no bug. Seconds are printed for reverse-continue to the breakpoint, and to the last write by a watchpoint.
"""
import os
import subprocess
import sys
import tempfile

SOURCE = """
#include <assert.h>
static int first, sum;
int main(void) {
    first = 1;
    for (int i = 0; i < 200000; i++) sum = sum * 3 + i;
    assert(sum == 0);
}
"""


def main():
    binary = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/allways")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/loop.c", "w") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", "-g", "-O0", "-o", "loop", "loop.c"], cwd=folder, check=True)
        subprocess.run([binary, "check", "--", "./loop"], cwd=folder, stdout=subprocess.DEVNULL, check=False)
        timed = "python began = time.time(); gdb.execute('reverse-continue'); print(f'SECONDS {time.time() - began:.2f}')"
        for what, stop in [("a breakpoint", "break loop.c:5"), ("a watchpoint", "watch -l first")]:
            words = ["-nx", "-batch", "-ex", "python import time", "-ex", stop, "-ex", timed, "-ex", "print i"]
            told = subprocess.run([binary, "debug", "--", *words], cwd=folder, capture_output=True, text=True, check=False)
            seconds = [line.split()[1] for line in told.stdout.splitlines() if line.startswith("SECONDS")]
            if not seconds or "loop.c:5" not in told.stdout and "first = 1" not in told.stdout:
                sys.exit(told.stdout + told.stderr)
            print(f"reverse-continue over a million instructions to {what}: {seconds[0]} s")


main()
