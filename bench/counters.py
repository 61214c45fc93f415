"""Deterministic counters: taken with stepsim_counters, instructions with callgrind; compared with the golden files."""
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import programs

GOLDEN = programs.ROOT / "tests" / "golden" / "counters.json"
RESULTS = programs.ROOT / "tests" / "golden" / "results.json"
EXACT = ("classes", "steps", "events", "transfers", "rate_solves", "allocations", "allocations_per_step")
COUNTERS = EXACT + ("instructions",)
TOLERANCE = 0.03  # of instructions: libraries get patched
FEW = 3_000_000   # events: cases of more are not run under callgrind, which is 40 times slower


def cases(folder, wanted=""):
    program = folder / "stepsim_counters"
    return [case for case in programs.output([program]).split() if re.search(wanted, case)] if program.exists() else []


def instructions(program, case):
    """Of loading, assembling and playing once."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_play*",
               program, case, "once"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or found[1] == "0":
        raise programs.Failed(f"callgrind on {case}:\n{done.stderr[-2000:]}")
    return int(found[1])


def count(folder, given, with_instructions=True):
    """{case: {counter: value}}"""

    def one(case):
        program = folder / "stepsim_counters"
        counted = json.loads(programs.output([program, case]))
        if with_instructions and not given.no_instructions and counted["events"] < FEW:
            counted["instructions"] = instructions(program, case)
        return case, counted

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(one, cases(folder, given.filter)))


def print_all(counted):
    rows = [(case, *(f"{one[name]:,}" if name in one else "-" for name in COUNTERS)) for case, one in counted.items()]
    programs.table(("counters", *(name.replace("_", " ") for name in COUNTERS)), rows)


def differences(golden, counted, given):
    """(case, counter, golden, now) of all that is not as the golden file says."""
    for case in sorted(golden.keys() | counted.keys()):
        old, new = golden.get(case, {}), counted.get(case, {})
        if not re.search(given.filter, case):
            continue
        if not old or not new:
            yield case, "case", "there" if old else "-", "there" if new else "-"
            continue
        for name in EXACT:
            if old[name] != new[name]:
                yield case, name, old[name], new[name]
        before, after = old.get("instructions"), new.get("instructions")
        if before and after and abs(after / before - 1) > TOLERANCE:
            yield case, "instructions", before, after


def check(given):
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    folder = programs.build(programs.ROOT)
    counted = count(folder, given)
    different = list(differences(golden, counted, given))
    if not different:
        print(f"counters: {len(counted)} cases as in {GOLDEN.relative_to(programs.ROOT)}")
        return 0

    def change(old, new):
        return f"{new / old - 1:+.1%}" if isinstance(old, int) and isinstance(new, int) and old > 0 else ""

    programs.table(("counters that changed", "", "golden", "now", ""), [(*row, change(*row[2:])) for row in different])
    print("If that is intended, and the reason stands in the commit: tools/bench --update-counters")
    return 1


def write_golden(file, values):
    """One line per case, so that a difference reads well."""
    lines = [f'"{case}": {json.dumps(value)}' for case, value in sorted(values.items())]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"written: {file.relative_to(programs.ROOT)}")


def update(given):
    if given.filter or given.no_instructions:
        raise programs.Failed("golden files are written whole: without --filter and --no-instructions")
    counted = count(programs.build(programs.ROOT), given, with_instructions=given.update_counters)
    if given.update_counters:
        write_golden(GOLDEN, {case: {name: one[name] for name in COUNTERS if name in one}
                              for case, one in counted.items()})
    if given.update_results:
        write_golden(RESULTS, {case.removeprefix("example/"): one["step_time_ps"] for case, one in counted.items()
                               if case.startswith("example/")})
    return 0
