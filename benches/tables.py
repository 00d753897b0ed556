"""The benchmark's tables: rates, ratios, bytes for each state, and what the goals say."""

import math
import os
import sys
from pathlib import Path

GOAL_RATE = 2.0
GOAL_SECOND_CORE = 1.7
GOAL_STARTUP_SECONDS = 0.05


def show(results, startup):
    """Everything, on stdout."""
    print(f"\n{cpu_name()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    rates("reductions off, one worker", results, ("pan -O2", "pan -O3"), "allways")
    rates("reductions on, one worker", results, ("pan -O2 reduced", "pan -O3 reduced"), "allways reduced")
    walls(results)
    sizes(results)
    latency(startup)
    goals(results, startup)
    for line in disagreements(results):
        print(f"\n*** STATE COUNTS DISAGREE: {line} ***")
    for line in sorted(missing(results)):
        print(f"n/a  {line}")


def progress(result):
    """One line on stderr when a model is done."""
    rates_ = ", ".join(f"{name} {millions(run.rate)}" for name, run in result.runs.items() if not run.why)
    print(f"{label(result)}: {rates_} M states/CPU-s", file=sys.stderr, flush=True)


def rates(title, results, pans, ours):
    """States, transitions and states for each CPU second, with the ratio to the faster pan."""
    rows = [["model", "states", "transitions", *(f"{name} M/s" for name in pans), f"{ours} M/s", "ratio", "time ratio", "states equal"]]
    for result in results:
        run = result.runs[ours]
        first = result.runs[pans[0]]
        rows.append([
            label(result), count(first.states), count(first.transitions),
            *(millions(result.runs[name].rate) for name in pans), millions(run.rate),
            times(ratio(result, ours, pans)), times(time_ratio(result, ours, pans)), same(result, ours, first),
        ])
    sooner = geometric(time_ratio(result, ours, pans) for result in results)
    rows.append(["geometric mean", "", "", *[""] * len(pans), "", times(mean(results, ours, pans)), times(sooner), ""])
    table(f"{title}: millions of states for each CPU second; ratio of rates and of CPU times to the faster pan", rows)


def same(result, ours, first):
    """Whether the counts agree; with reductions on they need not."""
    run = result.runs[ours]
    if run.why:
        return "n/a"
    return "yes" if run.states == first.states else f"{count(run.states)}"


def walls(results):
    """Wall seconds, and what the second core gives."""
    rows = [["model", "pan -O2 s", "pan -O3 s", "allways s", "allways -j2 s", "second core", "reduced", "-j2 reduced"]]
    for result in results:
        named = ["pan -O2", "pan -O3", "allways", "allways -j2"]
        rest = ["allways reduced", "allways -j2 reduced"]
        rows.append([
            label(result), *(seconds(result.runs[name]) for name in named), times(second_core(result)),
            *(seconds(result.runs[name]) for name in rest),
        ])
    rows.append(["geometric mean", "", "", "", "", times(geometric(map(second_core, results))), "", ""])
    table("wall seconds", rows)


def sizes(results):
    """Bytes for each state: the state store alone, as pan's `actual memory usage for states` and `store_bytes`."""
    named = ["pan -O2", "pan collapse", "allways"]
    rows = [["model", *named, "pan with table", "pan peak", "collapse peak", "allways peak"]]
    for result in results:
        runs = [result.runs[name] for name in named]
        rows.append([
            label(result), *(decimal(run.bytes_per_state) for run in runs), decimal(with_table(runs[0])),
            *(decimal(peak(run)) for run in runs),
        ])
    table("bytes for each state, reductions off (peak: resident memory of the whole process)", rows)


def latency(startup):
    """From the command line to the verdict."""
    ours = startup["allways"]
    rows = [["", "seconds"], ["spin -a, gcc -O2, pan", f"{startup['spin']:.3f}"],
            ["allways check", f"{ours:.3f}" if ours else "n/a"]]
    table(f"start-up: {startup['model']}", rows)


def goals(results, startup):
    """What was aimed at, and whether it was met."""
    rate = mean(results, "allways", ("pan -O2", "pan -O3"))
    core = geometric(map(second_core, results))
    store = geometric(smaller_than_collapse(result) for result in results)
    ours = startup["allways"]
    print("\ngoals")
    goal(f"at least {GOAL_RATE}x pan's rate on one core (geometric mean)", times(rate), rate and rate >= GOAL_RATE)
    goal(f"at least {GOAL_SECOND_CORE}x from the second core", times(core), core and core >= GOAL_SECOND_CORE)
    goal("no more bytes a state than COLLAPSE (Allways / COLLAPSE)", times(store), store and store <= 1)
    goal("a small model in under 50 ms", f"{ours:.3f} s" if ours else "n/a", ours and ours < GOAL_STARTUP_SECONDS)


def goal(text, measured, met):
    """One line."""
    verdict = "n/a   " if met is None else "met   " if met else "missed"
    print(f"  {verdict} {text}: {measured}")


def disagreements(results):
    """Models whose counts differ with reductions off."""
    lines = []
    for result in results:
        for name in ("pan -O2", "pan -O3", "pan collapse", "allways", "allways -j2"):
            run = result.runs[name]
            if counts_wrongly(result, name):
                lines.append(f"{label(result)}: {name} has {run.states} states, {result.expected_states} expected")
    return lines


def counts_wrongly(result, name):
    """With reductions off all must find the same states; a rate of the wrong ones means nothing."""
    run = result.runs[name]
    return not run.why and "reduced" not in name and run.states != result.expected_states


def missing(results):
    """Why there are gaps in the tables."""
    return {f"{label(result)}: {name}: {run.why}" for result in results for name, run in result.runs.items() if run.why}


def ratio(result, ours, pans):
    """Our rate against the faster pan, or None."""
    if counts_wrongly(result, ours):
        return None
    theirs = max(result.runs[name].rate for name in pans)
    own = result.runs[ours].rate
    return own / theirs if own and theirs else None


def time_ratio(result, ours, pans):
    """How much sooner than the faster pan we have the verdict, in CPU time; differs from the ratio of rates when the
    reductions leave different numbers of states."""
    theirs = [result.runs[name].cpu for name in pans if not result.runs[name].why]
    own = result.runs[ours]
    return min(theirs) / max(own.cpu, 1e-3) if theirs and not own.why else None


def mean(results, ours, pans):
    return geometric(ratio(result, ours, pans) for result in results)


def second_core(result):
    one, two = result.runs["allways"], result.runs["allways -j2"]
    return one.wall / two.wall if not (one.why or two.why) else None


def smaller_than_collapse(result):
    ours, theirs = result.runs["allways"].bytes_per_state, result.runs["pan collapse"].bytes_per_state
    return ours / theirs if ours and theirs else None


def geometric(values):
    """Geometric mean of what there is, or None."""
    known = [value for value in values if value]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def with_table(run):
    return (run.store_bytes + run.table_bytes) / run.states if run.states else 0


def peak(run):
    return run.peak_bytes / run.states if run.states else 0


def label(result):
    return " ".join([result.model, *(define.removeprefix("-D") for define in result.defines)])


def count(number):
    return f"{number:,}".replace(",", " ") if number else "n/a"


def millions(rate):
    return f"{rate / 1e6:.2f}" if rate else "n/a"


def times(value):
    return f"{value:.2f}x" if value else "n/a"


def decimal(value):
    return f"{value:.1f}" if value else "n/a"


def seconds(run):
    return f"{run.wall:.2f}" if not run.why else "n/a"


def table(title, rows):
    """Left column left, the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        cells = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())


def cpu_name():
    """The processor, as Linux calls it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"
