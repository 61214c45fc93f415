"""Builds the benchmarks of a tree and runs one of them; how numbers are written."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """What went wrong, in a sentence for the user."""


def output(command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def build(tree):
    """A Release of everything in bench/; returns the folder with the programs."""
    targets = sorted(source.stem for source in (tree / "bench").glob("*_bench.cpp"))
    if (tree / "bench" / "counters.cpp").exists():
        targets.append("stepsim_counters")
    done = subprocess.run([tree / "tools" / "build", "release", *targets], stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise Failed(f"{tree} does not build")
    return tree / "build" / "bench"


def benchmarks(folder, wanted=""):
    """Names "PROGRAM:BENCHMARK" of what the filter leaves, in the order of the programs."""
    names = []
    for program in sorted(folder.glob("*_bench")):
        for line in output([program, "--benchmark_list_tests"]).split():
            names.append(f"{program.name}:{line}")
    return [name for name in names if re.search(wanted, name)]


def run(folder, name, seconds):
    """Google Benchmark's result of one benchmark in a process of its own, with its CPU time per iteration in "ns"."""
    program, benchmark = name.split(":", 1)
    exactly = "^" + re.sub(r"([.\[\]()*+?^$|{}\\])", r"\\\1", benchmark) + "$"
    text = output([folder / program, f"--benchmark_filter={exactly}", f"--benchmark_min_time={seconds}",
                   "--benchmark_format=json"])
    result = json.loads(text)["benchmarks"][0]
    if result.get("error_occurred"):
        raise Failed(f"{name}: {result['error_message']}")
    result["ns"] = result["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[result["time_unit"]]
    return result


def progress(text):
    """What is going on, on a terminal only; an empty text wipes it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def readable(ns):
    """A time with three digits and its unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def table(head, rows):
    """The first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for first, *rest in cells:
        print("  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:]))]).rstrip())


def write(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=1) + "\n")
    print(f"written: {file}")
