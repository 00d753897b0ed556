#!/usr/bin/env python3
"""A campaign of faults against one run of pan for each cell.

    python3 benches/faults.py [--allways PATH] [--repeat N]

A cell is a fault and a property. For SPIN somebody has to write each fault into a copy of the model; then each cell costs a
run of pan, and each copy a `spin -a` and a gcc. `allways faults` takes the plain model and answers for its whole catalogue, each
violated cell with a counterexample that was shortened and executed again. The table has the CPU seconds of both sides, for how many
cells, and two ratios of the seconds for one cell: with spin -a and gcc, which nobody can do without, and of pan alone. Verdicts
are compared cell by cell where both sides have the same fault; a difference ends the program with exit code 1.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pan

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Case:
    """A model: how we are asked, and what SPIN is given instead, fault by fault."""

    name: str
    model: str
    flags: list
    properties: list
    # Our fault: a file with the fault in it, or a process to be added to the model.
    by_hand: dict
    defines: list = field(default_factory=list)
    # Whether the two faults are the same, so that verdicts can be compared.
    same: bool = True


def once(*options):
    """A process that does one of several things once, or not at all."""
    body = "\n".join(f"  :: d_step {{ {option} }}" for option in options)
    return f"\nactive proctype Fault() {{\n  byte v; bit w;\n  if\n{body}\n  :: skip\n  fi\n}}\n"


AV = [f"p{number}" for number in range(1, 8)] + ["deadlock", "progress"]

CASES = [
    Case(
        name="AV appliance",
        model="models/av/av_base.pml",
        flags=["--check", "deadlock,ltl,progress", "--fair", "weak"],
        properties=AV,
        by_hand={
            "communication": "models/av/av_fault_comm.pml",
            "termination": "models/av/av_fault_term.pml",
            "irregular": "models/av/av_fault_irr.pml",
        },
        same=False,
    ),
    Case(
        name="alternating bit, 200 messages",
        model="models/faults/alternating_bit.pml",
        flags=["--check", "deadlock,assert", "--only", "loss,duplicate,reorder"],
        properties=["deadlock,assert"],
        defines=["-DMAX=200"],
        by_hand={
            "loss:data": once("len(data) > 0 -> data?v,w", "len(data) == 2 -> data?v,w; data?_,_; data!v,w"),
            "loss:acks": once("len(acks) > 0 -> acks?w", "len(acks) == 2 -> acks?w; acks?_; acks!w"),
            "duplicate:data": once("len(data) == 1 -> data?v,w; data!v,w; data!v,w"),
            "duplicate:acks": once("len(acks) == 1 -> acks?w; acks!w; acks!w"),
            "reorder:data": once("len(data) == 2 -> data?v,w; data!v,w"),
            "reorder:acks": once("len(acks) == 2 -> acks?w; acks!w"),
        },
        # Somebody who may still do something keeps `timeout` from being true.
        same=False,
    ),
    Case(
        name="ring of three",
        model="models/faults/ring_leader.pml",
        flags=["--check", "deadlock,assert", "--only", "loss"],
        properties=["deadlock,assert"],
        by_hand={
            f"loss:ring[{index}]": once(
                f"len(ring[{index}]) > 0 -> ring[{index}]?_,_",
                f"len(ring[{index}]) == 2 -> ring[{index}]?x,v; ring[{index}]?_,_; ring[{index}]!x,v",
            ).replace("byte v;", "mtype x; byte v;")
            for index in range(3)
        },
    ),
]


def cpu():
    """CPU seconds of every program that was run so far: the wall says little on a machine with other guests."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def text_of(case, fault):
    """The model with a fault written into it."""
    by_hand = case.by_hand[fault]
    if by_hand.endswith(".pml"):
        return (ROOT / by_hand).read_text()
    return (ROOT / case.model).read_text() + by_hand


def spin_cells(case, fault):
    """Runs pan for each property; returns ({property: violated}, seconds of pan, seconds with spin and gcc)."""
    verdicts, running_pan = {}, 0.0
    start = cpu()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        model = pan.Model(Path(folder), "model.pml")
        (model.scratch / model.name).write_text(text_of(case, fault))
        pan.generate(model, defines=case.defines)
        if not model.parsed:
            sys.exit(f"{case.name} {fault}: spin says {model.message}")
        compiled = set()
        for name in case.properties:
            compiling, running = how(name)
            binary = "pan" + "".join(compiling).replace("-D", "_")
            if binary not in compiled:
                complaint = pan.compile_pan(model, compiling, binary)
                if complaint:
                    sys.exit(f"{case.name} {fault}: gcc says {complaint}")
                compiled.add(binary)
            before = cpu()
            run = pan.run_pan(model, running, binary, depths=(1_000_000,))
            running_pan += cpu() - before
            if run.status not in ("complete", "stopped"):
                sys.exit(f"{case.name} {fault} {name}: pan says {run.status} {run.note}")
            verdicts[name] = int(run.errors) > 0
    return verdicts, running_pan, cpu() - start


def how(name):
    """How pan is compiled and run for a property. Fairness and reduction do not go together where messages are handed over."""
    if name == "progress":
        return ["-DNP", "-DNOREDUCE", "-DNFAIR=3"], ["-l", "-f"]
    if name.startswith("deadlock"):
        return ["-DSAFETY", "-DNOCLAIM"], []
    return ["-DNOREDUCE", "-DNFAIR=3"], ["-a", "-f", "-N", name]


def campaign(case, binary):
    """Our side: (report, seconds)."""
    command = [binary, "faults", str(ROOT / case.model), *case.defines, *case.flags, "--no-save", "--format", "json"]
    start = cpu()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = cpu() - start
    if done.returncode not in (0, 1):
        sys.exit(f"{case.name}: allways says {done.stderr}")
    return json.loads(done.stdout), seconds


def disagreements(case, report, spin):
    """Cells in which the two sides differ."""
    found = []
    for fault, verdicts in spin.items():
        for names, violated in verdicts.items():
            rows = [row for row in report["properties"] if row["name"] in names.split(",")]
            cells = [cell for row in rows for cell in row["cells"] if cell["fault"] == fault]
            if any(cell["verdict"] == "violated" for cell in cells) != violated:
                found.append(f"{case.name}: {fault} {names}: SPIN says {'violated' if violated else 'holds'}")
    return found


def best(repeat, measure):
    """The quickest of several measurements, by their last part."""
    return min((measure() for _ in range(repeat)), key=lambda measured: measured[-1])


def compare(case, binary, repeat):
    """One row of the table, and what differs."""
    report, ours = best(repeat, lambda: campaign(case, binary))
    spin, pans, theirs = {}, 0.0, 0.0
    for fault in case.by_hand:
        verdicts, running, seconds = best(repeat, lambda fault=fault: spin_cells(case, fault))
        spin[fault] = verdicts
        pans, theirs = pans + running, theirs + seconds
    our_cells = len(report["faults"]) * len(case.properties)
    their_cells = len(case.by_hand) * len(case.properties)
    whole, alone = ((spent / their_cells) / (ours / our_cells) for spent in (theirs, pans))
    row = [case.name, str(our_cells), f"{ours:.2f} s", str(their_cells), f"{theirs:.2f} s", f"{pans:.2f} s"]
    row += [f"{whole:.1f}x", f"{alone:.2f}x"]
    return row, disagreements(case, report, spin) if case.same else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--allways", default=shutil.which("allways") or str(ROOT / "target/release/allways"))
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print("| model | our cells | campaign | SPIN's cells | spin, gcc, pan | pan alone | a cell: all / ours | pan / ours |")
    print("|---|---|---|---|---|---|---|---|")
    wrong = []
    for case in CASES:
        row, found = compare(case, arguments.allways, arguments.repeat)
        print("| " + " | ".join(row) + " |", flush=True)
        wrong += found
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
