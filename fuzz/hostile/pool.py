"""Processes that run programs, one after the other, and may die of one.

A process that dies or runs for too long is a finding of the program it ran; the next program gets
another one. What a process wrote to its standard error is told with its death.
"""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing
import os
import resource
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .run import Finding, Outcome, Runner

__all__ = ["Worker"]

_MEMORY = 12 << 30
"""Address space of a process: past it allocations fail."""


def _serve(connection: Any, driver: str, guarded: bool, log: str) -> None:
    """Run what comes through the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(errors, 2)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    runner = Runner(driver, guarded)
    gc.freeze()
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        connection.send(runner.run(*job))


class Worker:
    """A process of its own, made again when it has gone."""

    def __init__(self, driver: str, limit: float, guarded: bool = True) -> None:
        """`limit`: seconds that a program may take."""
        self.driver, self.limit, self.guarded = driver, limit, guarded
        self._folder = tempfile.TemporaryDirectory(prefix="hostile-")
        self._log = Path(self._folder.name) / "stderr"
        self._process: Any = None
        self._connection: Any = None

    def run(self, lines: Sequence[str], profile: str, samples: int) -> Outcome:
        """What came of a program."""
        if self._process is None:
            self._start()
        try:
            self._connection.send((list(lines), profile, samples))
            if self._connection.poll(self.limit):
                found: Outcome = self._connection.recv()
                return found
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            return self._died(f"died of {_reason(self._process.exitcode)}")
        return self._died("ran for too long")

    def _start(self) -> None:
        method = multiprocessing.get_context("spawn")
        self._connection, theirs = method.Pipe()
        arguments = (theirs, self.driver, self.guarded, str(self._log))
        self._process = method.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def _died(self, how: str) -> Outcome:
        """The outcome of a program that has ended its process."""
        if how == "ran for too long":
            os.kill(self._process.pid, signal.SIGABRT)  # which tells where it is
            self._process.join(5)
        self.stop()
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        found = Finding(f"{how}{_place(text)}", text[-6000:])
        return Outcome(findings=[found])

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"


def _place(text: str) -> str:
    """The innermost line of the stack that faulthandler wrote, of the thread that died."""
    for line in text.partition("Current thread")[2].splitlines():
        if line.startswith('  File "') and "gallette" in line:
            file, _, function = line.partition(", line ")
            place = file.rpartition("gallette/")[2].rstrip('"')
            return f" in {place}:{function.split(' in ')[-1]}"
    return ""
