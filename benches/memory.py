#!/usr/bin/env python3
"""What memory as on x86 costs (--memory tso, the default) beside sequential consistency: the example programs of benches/check.py,
and those of programs/memory/, which need store buffers.

Usage: python3 benches/memory.py [--repeat N]

Each program is searched with both, one after the other, N times (5); the best processor time of each counts. Programs without
a triangular race should have a ratio near 1: they are searched in the same way.
"""
import argparse
import os
import re
import subprocess
import tempfile

import check

MEMORY = [
    ("dekker", "memory/dekker.c", [], True, False),
    ("dekker, fences", "memory/dekker.c", ["-DFENCE"], False, False),
    ("sleeper", "memory/sleeper.c", [], True, False),
    ("chase_lev", "memory/chase_lev.c", [], True, False),
    ("chase_lev, fence", "memory/chase_lev.c", ["-DFENCE"], False, False),
    ("seqlock", "memory/seqlock.c", [], False, False),
    ("spinlock", "memory/spinlock.c", [], False, False),
    ("publish", "memory/publish.c", [], False, False),
]


def search(tool, folder, number, flags):
    child = subprocess.Popen([tool, *flags, f"./p{number}"], cwd=folder, stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_utime + usage.ru_stime, int(re.search(r"(\d+) states", text)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    check.CASES.extend(MEMORY)
    print(f"{'program':26} {'states sc':>10} {'states tso':>10} {'sc':>9} {'tso':>9}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        tool = check.build(folder)
        for number, (name, *_) in enumerate(check.CASES):
            best = {}
            for _ in range(repeat):
                for model, flags in (("sc", []), ("tso", ["--tso"])):
                    seconds, states = search(tool, folder, number, flags)
                    best[model] = min(best.get(model, (seconds, states)), (seconds, states))
            (sc, few), (tso, many) = best["sc"], best["tso"]
            print(f"{name:26} {few:10} {many:10} {sc:7.3f} s {tso:7.3f} s  {tso / sc:.2f}")


if __name__ == "__main__":
    main()
