"""tools/bench: which of its tasks is wanted, and with what."""
import argparse
import sys
from pathlib import Path

import against
import counters
import curves
import programs
import timings

EXAMPLES = """examples:
  tools/bench --quick --filter ring         the benchmarks whose names match, few repetitions
  tools/bench --against main                this tree against a revision; exit code 1 when it is slower
  tools/bench --check-counters              this tree against tests/golden/counters.json; exit code 1 when they differ
  tools/bench --update-counters --update-results   writes the golden files anew: commit them with the reason
  tools/bench --curves                      time and memory against chips, classes, layers, microbatches"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="tools/bench", description="Without a task: runs the benchmarks and counts, writes JSON, prints a table.",
        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    task = parser.add_argument_group("tasks")
    task.add_argument("--against", metavar="REF", help="compare with this git revision, run by run in turn")
    task.add_argument("--check-counters", action="store_true", help="compare the counters with the golden file")
    task.add_argument("--update-counters", action="store_true", help="write the golden file of the counters")
    task.add_argument("--update-results", action="store_true", help="write the golden file of the examples' step times")
    task.add_argument("--curves", action="store_true", help="cost against size, with the growth exponent fitted")
    parser.add_argument("--filter", metavar="REGEX", default="", help="only benchmarks and cases whose names match")
    parser.add_argument("--repetitions", metavar="N", type=int, help="of every benchmark (7; 3 with --quick)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter repetitions")
    parser.add_argument("--bound", metavar="RATIO", type=float, default=1.25,
                        help="--against fails when a median time ratio is above it and the lower quartile above 1, or "
                        "a counter's ratio is above it (%(default)s)")
    parser.add_argument("--no-instructions", action="store_true", help="do not count instructions under callgrind")
    parser.add_argument("--out", metavar="FILE", type=Path, default=programs.ROOT / "build" / "bench.json",
                        help="where the JSON goes (build/bench.json)")
    given = parser.parse_args()
    given.repetitions = given.repetitions or (3 if given.quick else 7)
    given.seconds = 0.01 if given.quick else 0.05
    return given


def main():
    given = arguments()
    if given.check_counters:
        return counters.check(given)
    if given.update_counters or given.update_results:
        return counters.update(given)
    if given.curves:
        return curves.show(given)
    if given.against:
        return against.compare(given)
    return timings.show(given)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except programs.Failed as failure:
        sys.exit(f"tools/bench: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
