"""tools/bench: every benchmark of this tree some times over, and the counters."""
import statistics

import counters
import programs


def show(given):
    folder = programs.build(programs.ROOT)
    names = programs.benchmarks(folder, given.filter)
    times = {name: [] for name in names}
    for repetition in range(given.repetitions):
        for name in names:
            programs.progress(f"{repetition + 1} of {given.repetitions}: {name}")
            times[name].append(programs.run(folder, name, given.seconds)["ns"])
    programs.progress("")
    counted = counters.count(folder, given)

    rows = [(name, programs.readable(statistics.median(each)), f"{max(each) / min(each):.2f}")
            for name, each in times.items()]
    programs.table(("CPU time", "median", "max/min"), rows)
    print()
    counters.print_all(counted)
    programs.write(given.out, {"times_ns": times, "counters": counted})
    return 0
