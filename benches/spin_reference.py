#!/usr/bin/env python3
"""Records SPIN's verdicts and state counts for every model in a directory, as CSV.

    python3 benches/spin_reference.py models/micro --runs states --out models/micro/states.csv
    python3 benches/spin_reference.py /usr/share/doc/spin/examples/Examples --out models/debian.csv

What each run does is in `RUNS`; the columns are explained in models/README.md. Needs spin and gcc. Standard library only.
"""

import argparse
import csv
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pan

COLUMNS = ("model run claim fair spin_opts cc_opts pan_opts status errors kinds stored transitions atomic depth note").split()
SAFETY = ("-DSAFETY", "-DNOREDUCE", "-DNOCLAIM")
LIVENESS = ("-DNOREDUCE", "-DNFAIR=3")
PROGRESS = ("-DNP", *LIVENESS)


def main():
    os.nice(5)
    arguments = parse_arguments()
    root = Path(arguments.directory)
    done = recorded(arguments.out) if arguments.resume else set()
    models = sorted(path for path in root.rglob("*.pml") if path.match(arguments.only) and name_of(path, root) not in done)
    out = open(arguments.out, "a" if done else "w", newline="") if arguments.out else sys.stdout
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    if not done:
        writer.writeheader()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for rows in pool.map(lambda path: rows_of(path, root, arguments), models):
            writer.writerows(rows)
            out.flush()
    if done:
        put_in_order(arguments.out)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="every *.pml below it is recorded")
    parser.add_argument("--out", help="CSV file to write (default: stdout)")
    parser.add_argument("--runs", default=",".join(RUNS), help="comma-separated, of: %(default)s")
    parser.add_argument("--only", default="*.pml", help="glob of the models to record")
    parser.add_argument("--cpu", type=int, default=60, help="CPU seconds for each run of pan (default %(default)s)")
    parser.add_argument("--cycle-cpu", type=int, default=60, help="the same for acceptance and non-progress cycles")
    parser.add_argument("--resume", action="store_true", help="keep what --out has, record the models that are not in it")
    parser.add_argument("--mem", type=int, default=4000, help="megabytes for each run of pan (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time (default %(default)s)")
    return parser.parse_args()


def recorded(out):
    """Models that an interrupted recording has already written."""
    if not out or not Path(out).exists():
        return set()
    with open(out, newline="") as rows:
        return {row["model"] for row in csv.DictReader(rows)}


def put_in_order(out):
    """Sorts the rows by model, as a recording without interruption would have them."""
    with open(out, newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: Path(row["model"]).parts)
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def name_of(path, root):
    """A model's name: its path below the root, without `.pml`."""
    return str(path.relative_to(root).with_suffix(""))


def rows_of(path, root, arguments):
    """All rows of one model."""
    print(path.relative_to(root), file=sys.stderr, flush=True)
    recorder = Recorder(path, name_of(path, root), arguments)
    pan.generate(recorder.model)
    try:
        for name in arguments.runs.split(","):
            RUNS[name](recorder)
            if not recorder.model.parsed:
                break
    finally:
        shutil.rmtree(recorder.model.scratch, ignore_errors=True)
    return recorder.rows


class Recorder:
    """Runs pan on one model and keeps a row for each run."""

    def __init__(self, path, name, arguments):
        self.model = pan.copy_to_scratch(path)
        self.source = pan.preprocessed(self.model)
        self.name = name
        self.arguments = arguments
        self.rows = []
        self.built = None

    def build(self, spin_opts, cc_opts):
        """Generates and compiles, unless the last build was the same; returns a complaint or nothing."""
        if self.built != (spin_opts, cc_opts):
            self.built = (spin_opts, cc_opts)
            pan.generate(self.model, spin_opts)
            limit = f"-DMEMLIM={self.arguments.mem}"
            self.complaint = pan.compile_pan(self.model, (*cc_opts, limit)) if self.model.parsed else self.model.message
        return self.complaint

    def record(self, name, spin_opts, cc_opts, pan_opts, claim=""):
        """Builds, runs and adds the row."""
        complaint = self.build(spin_opts, cc_opts)
        if complaint:
            run = pan.Run(note=complaint)
        else:
            selected = ("-N", claim) if claim and claim != "never" else ()
            cycles = "-a" in pan_opts or "-l" in pan_opts
            cpu_seconds = self.arguments.cycle_cpu if cycles else self.arguments.cpu
            run = pan.run_pan(self.model, (*pan_opts, *selected), cpu_seconds=cpu_seconds)
            if hides_the_claim(run, self.source, pan_opts):
                return self.record(name, spin_opts, cc_opts, (*pan_opts, "-c0"), claim)
        self.add(name, spin_opts, cc_opts, pan_opts, claim, run)

    def add(self, name, spin_opts, cc_opts, pan_opts, claim, run):
        """Adds a row; counts of an unfinished search depend on the machine, so they are left out."""
        whole = run.status not in ("capped", "crashed")
        fair = "weak" if "-f" in pan_opts else "no"
        self.rows.append({
            "model": self.name, "run": name, "claim": claim, "fair": fair,
            "spin_opts": " ".join(spin_opts), "cc_opts": " ".join(cc_opts), "pan_opts": " ".join(pan_opts),
            "status": run.status, "errors": run.errors if whole else "", "kinds": " ; ".join(run.kinds),
            "stored": run.stored if whole else "", "transitions": run.transitions if whole else "",
            "atomic": run.atomic if whole else "", "depth": run.depth if whole else "", "note": run.note,
        })


def hides_the_claim(run, source, pan_opts):
    """Did a cycle search stop at an assertion of the model, so that it says nothing about the cycle?"""
    searches_cycles = "-a" in pan_opts or "-l" in pan_opts
    stopped_early = "-c0" not in pan_opts and any(kind.startswith("assertion") for kind in run.kinds)
    return searches_cycles and stopped_early and re.search(r"\bassert\b", source) is not None


def parse(recorder):
    """Does SPIN accept the model?"""
    model = recorder.model
    status = "complete" if model.parsed else "refused"
    recorder.add("parse", (), (), (), "", pan.Run(status=status, note=model.message))


def first(recorder):
    """SPIN's safety verdict: the first error it meets."""
    recorder.record("first", (), SAFETY, ())


def every(recorder):
    """All kinds of safety error."""
    recorder.record("all", (), SAFETY, ("-c0",))


def states(recorder):
    """The canonical count: a state is what the language defines."""
    recorder.record("states", pan.PLAIN, SAFETY, ("-c0",))


def accept(recorder):
    """Acceptance cycles: one pair of runs for each claim, or for the accept labels when there is no claim."""
    claims = recorder.model.claims
    if not claims and not re.search(r"\baccept\w*\s*:", recorder.source):
        return
    for claim in claims or [""]:
        recorder.record("accept", (), LIVENESS, ("-a",), claim)
        recorder.record("accept", (), LIVENESS, ("-a", "-f"), claim)


def progress(recorder):
    """Non-progress cycles."""
    recorder.record("progress", (), PROGRESS, ("-l",))
    recorder.record("progress", (), PROGRESS, ("-l", "-f"))


RUNS = {"parse": parse, "first": first, "all": every, "states": states, "accept": accept, "progress": progress}

if __name__ == "__main__":
    main()
