#!/usr/bin/env python3
"""Checks the `expect` lines of our models against SPIN, or writes SPIN's counts into them.

    python3 benches/expectations.py models/scalable models/examples
    python3 benches/expectations.py --bless models/scalable/leader.pml

The format is explained in models/README.md. Lines with `size=bench` are slow and need --bench.
"""

import argparse
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pan

LINE = re.compile(r"^// expect(?P<with>-with)?: (?P<words>.*)$")
SAFETY = ("deadlock", "assert")


@dataclass
class Expectation:
    """One `expect` line: under these defines, these properties have this verdict."""

    defines: list
    verdict: str
    properties: list
    keys: dict

    @property
    def bench(self):
        return self.keys.get("size") == "bench"

    def line(self):
        head = "// expect-with: " if self.defines else "// expect: "
        keys = [f"{key}={value}" for key, value in self.keys.items()]
        return head + " ".join([*self.defines, self.verdict, ",".join(self.properties), *keys])


def read_line(text):
    """The expectation in a line of a model, or None."""
    found = LINE.match(text)
    if not found:
        return None
    words = found["words"].split()
    defines = [word for word in words if word.startswith("-D")]
    verdict, properties, *keys = words[len(defines):]
    return Expectation(defines, verdict, properties.split(","), dict(key.split("=", 1) for key in keys))


def read_model(path):
    """All expectations of a model, in order."""
    expectations = (read_line(line) for line in Path(path).read_text().splitlines())
    return [expectation for expectation in expectations if expectation]


def measure(path, expectation):
    """What SPIN says: (verdict, counts to bless)."""
    model = pan.generate(pan.copy_to_scratch(path), pan.PLAIN, expectation.defines)
    try:
        if not model.parsed:
            return f"does not parse: {model.message}", {}
        if expectation.properties[0] in SAFETY:
            return safety(model, expectation)
        return cycles(model, expectation)
    finally:
        shutil.rmtree(model.scratch, ignore_errors=True)


def safety(model, expectation):
    """Deadlocks and assertions, and the canonical counts."""
    complaint = pan.compile_pan(model, ("-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DMEMLIM=8000"))
    run = pan.run_pan(model, ("-c0",), cpu_seconds=300)
    if complaint or run.status != "complete":
        return complaint or f"{run.status} {run.note}", {}
    found = {"deadlock" if kind == "invalid end state" else "assert" for kind in run.kinds}
    verdict = "violated" if found & set(expectation.properties) else "holds"
    if verdict == "violated" and found != set(expectation.properties):
        verdict = f"violated only or also {sorted(found)}"
    return verdict, {"states": run.stored, "transitions": run.transitions}


def cycles(model, expectation):
    """One ltl property, the accept labels, or non-progress cycles."""
    (name,) = expectation.properties
    progress = name == "progress"
    complaint = pan.compile_pan(model, ("-DNOREDUCE", "-DNFAIR=4", "-DMEMLIM=8000", *(["-DNP"] if progress else [])))
    options = ["-l" if progress else "-a"]
    options += ["-f"] if expectation.keys.get("fair") == "weak" else []
    options += ["-N", name.removeprefix("ltl:")] if name.startswith("ltl:") else []
    run = pan.run_pan(model, options, cpu_seconds=300)
    if complaint or run.status not in ("complete", "stopped"):
        return complaint or f"{run.status} {run.note}", {}
    return ("holds" if run.errors == "0" else "violated"), {}


def blessed(path, lines):
    """The model's lines with SPIN's counts in them."""
    for text in lines:
        expectation = read_line(text)
        if expectation and expectation.properties[0] in SAFETY:
            _, counts = measure(path, expectation)
            rest = {key: value for key, value in expectation.keys.items() if key not in counts}
            expectation.keys = {**counts, **rest}
            text = expectation.line()
        yield text


def disagreements(path, expectation):
    """Where SPIN and the line differ."""
    verdict, counts = measure(path, expectation)
    spin_is_wrong = expectation.keys.get("spin") == "wrong"
    if (verdict == expectation.verdict) == spin_is_wrong:
        yield f"SPIN: {verdict}"
    for key, value in counts.items():
        if key in expectation.keys and expectation.keys[key] != value:
            yield f"SPIN: {key}={value}"


def check(path, bench):
    """Prints one line for each expectation; returns how many are wrong."""
    wrong = 0
    for expectation in read_model(path):
        if expectation.bench and not bench:
            continue
        problems = list(disagreements(path, expectation))
        wrong += bool(problems)
        print("WRONG" if problems else "ok   ", path, expectation.line().removeprefix("// "), *problems, flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="models or directories of models")
    parser.add_argument("--bless", action="store_true", help="write SPIN's counts into the lines")
    parser.add_argument("--bench", action="store_true", help="also the lines with size=bench")
    arguments = parser.parse_args()
    models = [model for path in arguments.paths for model in (sorted(path.rglob("*.pml")) if path.is_dir() else [path])]
    if arguments.bless:
        for model in models:
            model.write_text("\n".join(blessed(model, model.read_text().splitlines())) + "\n")
    sys.exit(1 if sum(check(model, arguments.bench) for model in models) else 0)


if __name__ == "__main__":
    main()
