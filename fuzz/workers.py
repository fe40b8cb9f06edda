"""What fuzzers of hostile input share: numbered cases in worker processes, watched from outside.

A case is made of its number and the seed alone. A worker that dies, or takes too long over a case,
is a finding of that case, as is any exception but those that the case expects itself; a new worker
goes on after it.

    python fuzz/captures.py --count 5000 --seed 1          # all of them, on every core
    python fuzz/captures.py --first 1234 --count 1         # one case again
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

__all__ = ["Case", "add_options", "run", "silenced"]

Case = Callable[[int], str]
MEMORY = 6 << 30  # address space of a worker: a size that nothing bounds is a MemoryError


def add_options(parser: argparse.ArgumentParser, count: int) -> None:
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1, help="other cases of the same numbers")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a case may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """What the code under test prints is not looked at."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    log: Path
    case: int = -1
    since: float = field(default_factory=time.monotonic)


def _work(make: Callable[[], Case], pipe: Connection, log: Path, memory: int) -> None:
    """Cases as they come, an answer for each: what became of it, and the traceback if any."""
    faulthandler.enable(log.open("w"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    case = make()
    pipe.send(("ready", ""))
    while (number := pipe.recv()) is not None:
        try:
            pipe.send((case(number), ""))
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            pipe.send((f"finding: {words[:120]}", traceback.format_exc(limit=-8)))


class _Pool:
    def __init__(self, make: Callable[[], Case], options: argparse.Namespace, memory: int) -> None:
        self._make, self._options, self._memory = make, options, memory
        self._folder = tempfile.TemporaryDirectory()
        self._started = 0
        self._next, self._end = options.first, options.first + options.count
        self._stop = time.monotonic() + options.seconds if options.seconds else float("inf")
        self.results: Counter[str] = Counter()
        self.findings: dict[str, list[int]] = {}
        self.slowest = (0.0, -1)
        self._workers = [self._start() for _ in range(min(options.jobs, options.count))]

    def _start(self) -> _Worker:
        here, there = multiprocessing.Pipe()
        log = Path(self._folder.name) / f"{self._started}.log"
        self._started += 1
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_work, args=(self._make, there, log, self._memory))
        process.start()
        there.close()
        return _Worker(process, here, log)

    def run(self) -> None:
        while self._workers:
            ready = wait([w.pipe for w in self._workers], timeout=1.0)
            for worker in list(self._workers):
                if worker.pipe in ready:
                    self._hear(worker)
                elif time.monotonic() - worker.since > self._options.limit:
                    worker.process.kill()
                    self._replace(worker, f"no answer in {self._options.limit:g} s")
        self._folder.cleanup()

    def _hear(self, worker: _Worker) -> None:
        try:
            said, trace = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            code = worker.process.exitcode
            name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            self._replace(worker, f"the process died: {name}")
            return
        if worker.case >= 0:
            took = time.monotonic() - worker.since
            self.slowest = max(self.slowest, (took, worker.case))
            if said.startswith("finding: "):
                self._found(worker.case, said.removeprefix("finding: "), trace)
            else:
                self.results[said] += 1
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        if self._next >= self._end or time.monotonic() > self._stop:
            worker.pipe.send(None)
            worker.process.join()
            self._workers.remove(worker)
            return
        worker.case, worker.since = self._next, time.monotonic()
        self._next += 1
        worker.pipe.send(worker.case)

    def _replace(self, worker: _Worker, what: str) -> None:
        worker.process.join()
        self._found(worker.case, what, worker.log.read_text()[-3000:])
        self._workers.remove(worker)
        if worker.case >= 0 and self._next < self._end:
            self._workers.append(self._start())

    def _found(self, case: int, what: str, trace: str) -> None:
        self.results["findings"] += 1
        if what not in self.findings:
            print(f"case {case}: {what}\n{trace}", flush=True)
        self.findings.setdefault(what, []).append(case)


def run(make: Callable[[], Case], options: argparse.Namespace, memory: int = MEMORY) -> int:
    """Run the cases, each in some worker; 1 if anything was found.

    `make` makes the function of a case, in the worker; what it answers is counted.
    """
    began = time.monotonic()
    pool = _Pool(make, options, memory)
    pool.run()
    done = sum(pool.results.values())
    print(
        f"{done} cases of seed {options.seed} on {options.driver} in "
        f"{time.monotonic() - began:.0f} s; slowest {pool.slowest[0]:.1f} s (case "
        f"{pool.slowest[1]}): {json.dumps(dict(pool.results))}"
    )
    for what, cases in pool.findings.items():
        print(f"  {len(cases)} x {what}: cases {cases[:6]}")
    sys.stdout.flush()
    return int(bool(pool.findings))
