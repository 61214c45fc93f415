"""tools/bench --curves: what scale_bench plays, against its size: time, peak memory and how they grow.

Each size runs in a process of its own, so that the peak of its memory is its own. The growth exponent is the slope of
log(cost) over log(size) by least squares: 1 is proportional, 0 constant. Constant parts bend a curve at its small end,
so the slope of the last step stands beside it.
"""
import math
import statistics

import programs


def slope(points):
    """Least squares on logarithms of [(size, cost)]."""
    logs = [(math.log(size), math.log(cost)) for size, cost in points]
    size, cost = (statistics.fmean(axis) for axis in zip(*logs))
    return sum((x - size) * (y - cost) for x, y in logs) / sum((x - size) ** 2 for x, _ in logs)


def measure(folder, name, given):
    runs = [programs.run(folder, name, given.seconds) for _ in range(given.repetitions)]
    counters = {key: runs[0][key] for key in ("classes", "steps", "transfers")}
    return {"ns": statistics.median(one["ns"] for one in runs), **counters,
            "peak_bytes": statistics.median(one["peak_bytes"] for one in runs)}


def print_curve(name, curve):
    rows = [(size, programs.readable(one["ns"]), f"{one['peak_bytes'] / 1e6:.1f} MB", f"{one['classes']:,.0f}",
             f"{one['steps']:.0f}", f"{one['transfers']:,.0f}") for size, one in curve.items()]
    programs.table((name, "CPU time", "peak memory", "classes", "steps", "transfers"), rows)
    for cost in ("ns", "peak_bytes"):
        points = [(size, one[cost]) for size, one in curve.items()]
        if len(points) > 1:
            what = {"ns": "time", "peak_bytes": "memory"}[cost]
            print(f"  {what} grows as {name}^{slope(points):.2f}, over the last step as {name}^{slope(points[-2:]):.2f}")
    print()


def show(given):
    given.repetitions = min(given.repetitions, 3)
    folder = programs.build(programs.ROOT)
    curves = {}
    for name in programs.benchmarks(folder, given.filter):
        if name.startswith("scale_bench:"):
            programs.progress(name)
            curve, size = name.split(":", 1)[1].split("/")[:2]
            measured = measure(folder, name, given)
            curves.setdefault(curve, {})[int(measured["classes"] if curve == "classes" else size)] = measured
    programs.progress("")
    for name, curve in curves.items():
        print_curve(name, dict(sorted(curve.items())))
    programs.write(given.out, curves)
    return 0
