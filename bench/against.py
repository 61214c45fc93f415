"""tools/bench --against REF: two revisions in one session, run by run in turn.

Times of one machine drift (neighbours, heat, clock rates), so only the ratio of two runs next to each other says
something. Each repetition runs a benchmark of both revisions back to back, in alternating order; what counts is the
median of those ratios, and their quartiles say how far to trust it.
"""
import os
import shutil
import statistics
import subprocess

import counters
import programs


def tree_of(ref):
    """The sources of a revision in build/against/COMMIT; they stay there, so that the next time builds nothing."""
    git = ["git", "-C", programs.ROOT]
    commit = subprocess.run([*git, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.strip()
    if not commit:
        raise programs.Failed(f"git knows no revision {ref}")
    tree = programs.ROOT / "build" / "against" / commit[:12]
    if not tree.exists():
        fresh = tree.with_suffix(f".{os.getpid()}")
        fresh.mkdir(parents=True)
        archive = subprocess.Popen([*git, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", fresh], stdin=archive.stdout, check=True)
        fresh.rename(tree)
    return tree


def ratios(here, there, names, given):
    """Per benchmark: this tree's time over the other's, one per repetition, and both medians."""
    times = {name: ([], []) for name in names}
    for repetition in range(given.repetitions):
        for name in names:
            programs.progress(f"{repetition + 1} of {given.repetitions}: {name}")
            order = (0, 1) if repetition % 2 == 0 else (1, 0)
            for side in order:
                times[name][side].append(programs.run((here, there)[side], name, given.seconds)["ns"])
    programs.progress("")
    return {name: summary(*both) for name, both in times.items()}


def summary(here, there):
    each = [a / b for a, b in zip(here, there)]
    quartiles = statistics.quantiles(each, n=4, method="inclusive") if len(each) > 1 else each * 3
    return {"here_ns": statistics.median(here), "there_ns": statistics.median(there), "ratios": each,
            "lower_quartile": quartiles[0], "median": quartiles[1], "upper_quartile": quartiles[2]}


def slower(ratio, bound):
    return ratio["median"] > bound and ratio["lower_quartile"] > 1


def print_times(compared, bound):
    rows = [(name, programs.readable(one["there_ns"]), programs.readable(one["here_ns"]), f"{one['median']:.3f}",
             f"{one['lower_quartile']:.3f} .. {one['upper_quartile']:.3f}", "SLOWER" if slower(one, bound) else "")
            for name, one in compared.items()]
    programs.table(("CPU time", "there", "here", "here/there", "quartiles", ""), rows)


def counter_rows(here, there, bound):
    """(case, counter, there, here, ratio, grown?) of all that differ."""
    for case in here.keys() & there.keys():
        for name in counters.COUNTERS:
            new, old = here[case].get(name), there[case].get(name)
            if new is None or old is None or new == old:
                continue
            ratio = new / max(old, 1)
            yield case, name, old, new, f"{ratio:.3f}", "GROWN" if ratio > bound else ""


def only_one_side(here, there):
    for kind, names in (("here", here - there), ("there", there - here)):
        for name in sorted(names):
            print(f"only {kind}: {name}")


def compare(given):
    here = programs.build(programs.ROOT)
    tree = tree_of(given.against)
    try:
        there = programs.build(tree)
    except programs.Failed:
        shutil.rmtree(tree)
        raise
    mine, theirs = (programs.benchmarks(folder, given.filter) for folder in (here, there))
    compared = ratios(here, there, [name for name in mine if name in theirs], given)
    counted, counted_there = counters.count(here, given), counters.count(there, given)
    rows = sorted(counter_rows(counted, counted_there, given.bound))

    print(f"here: this tree; there: {given.against}; {given.repetitions} pairs of runs; bound {given.bound}")
    print_times(compared, given.bound)
    print()
    programs.table(("counters that differ", "", "there", "here", "here/there", ""), rows or [("none", *[""] * 5)])
    only_one_side({*mine, *counted}, {*theirs, *counted_there})
    programs.write(given.out, {"against": given.against, "bound": given.bound, "times": compared,
                               "counters": {"here": counted, "there": counted_there}})
    worse = [one for one in compared.values() if slower(one, given.bound)] + [row for row in rows if row[-1]]
    if worse:
        print(f"{len(worse)} beyond the bound of {given.bound}")
    return 1 if worse else 0
