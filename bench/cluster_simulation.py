"""How long a run would take on many machines: the batches `--cluster` makes, played out.

Durations are those of a run that was made (`results.json`); a worker takes the next batch when it
is free; each batch costs its way there and back, each worker its start. Prints, per number of
workers, the time, the speed-up and how busy they were.

    python bench/cluster_simulation.py reports/numpipe --workers 1,2,10,100
"""

from __future__ import annotations

import argparse
import heapq
from pathlib import Path

from gallette.piglit_subset.cluster import batches
from gallette.piglit_subset.results import read_run


def simulate(seconds: list[float], workers: int, start: float, trip: float) -> float:
    """When the last worker is done."""
    free = [start] * workers
    heapq.heapify(free)
    for batch in batches(seconds, lambda s: s, workers):
        heapq.heappush(free, heapq.heappop(free) + trip + sum(batch))
    return max(free)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--workers", default="1,2,10,100")
    parser.add_argument("--start", type=float, default=2.5, help="seconds until a worker works")
    parser.add_argument("--trip", type=float, default=0.02, help="seconds a batch costs")
    parser.add_argument("--times", type=int, default=1, help="as if there were N times the tests")
    options = parser.parse_args()
    seconds = [test.seconds for test in read_run(options.run).tests.values()] * options.times
    alone = sum(seconds)
    print(f"{len(seconds)} tests, {alone:.1f} s in all, the longest {max(seconds):.2f} s")
    print("workers    seconds   speed-up   busy   batches")
    for workers in map(int, options.workers.split(",")):
        took = simulate(seconds, workers, options.start, options.trip)
        count = len(batches(seconds, lambda s: s, workers))
        print(
            f"{workers:7} {took:10.1f} {alone / took:9.1f}x {alone / took / workers:6.0%} {count:8}"
        )


if __name__ == "__main__":
    main()
