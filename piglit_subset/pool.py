"""Runs many tests in worker processes, with timeouts and protection from crashes.

Each of the `jobs` threads owns one worker process. If a worker dies, its test is a "crash"; if it
takes too long, it is killed and its test is a "timeout". The thread then starts another worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import selectors
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gallette.compiler.errors import print_message

from .environment import child_command, child_environment
from .results import Entry, again

# A worker is replaced after this many tests, which bounds leaks of native drivers.
_TESTS_PER_WORKER = 400


class _Worker:
    """A worker process and its stderr, in a file that is quoted after a crash."""

    def __init__(self, environment: dict[str, str]):
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self.tests = 0
        self._pending = b""
        self.process = subprocess.Popen(
            child_command("gallette.piglit_subset.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
        )
        assert self.process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.process.stdout, selectors.EVENT_READ)

    def request(self, request: dict[str, str], timeout: float) -> dict[str, Any] | str:
        """The worker's answer, or "crash" or "timeout"."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.tests += 1
        self._mark = os.fstat(self.log.fileno()).st_size
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return "crash"
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                return "timeout"
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                return "crash"
            self._pending += chunk
        reply, self._pending = self._pending.split(b"\n", 1)
        parsed: dict[str, Any] = json.loads(reply)
        return parsed

    def stderr_of_last(self) -> str:
        self.log.seek(self._mark)
        return self.log.read(20_000).decode(errors="replace").strip()

    def close(self, kill: bool = False) -> None:
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        if kill:
            self.process.kill()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._selector.close()
        self.log.close()


class TestProcess:
    """The process that runs tests, restarted after a crash or timeout."""

    __test__ = False  # not a test class for pytest

    def __init__(self, driver: str, timeout: float, environment: dict[str, str]):
        self.driver, self.timeout, self._environment = driver, timeout, environment
        self._worker: _Worker | None = None

    def run(self, name: str, path: Path) -> Entry:
        worker = self._worker
        if worker is not None and worker.tests >= _TESTS_PER_WORKER:
            worker.close()
            worker = None
        if worker is None:
            worker = self._worker = _Worker(self._environment)
        start = time.time()
        reply = worker.request({"path": str(path), "driver": self.driver}, self.timeout)
        err = worker.stderr_of_last()
        if err and self._environment.get("GALLETTE_DEBUG"):
            print_message(f"-- {name}\n{err}")  # output of the debug flags
        if isinstance(reply, str):
            self._worker = None
            worker.close(kill=reply == "timeout")
            reason = f"exit status {worker.process.returncode}"
            if reply == "timeout":
                reason = f"no answer within {self.timeout:g} s"
            reply = {"result": reply, "reason": reason, "start": start, "end": time.time()}
        command = again(self.driver, path)
        return Entry(**reply, err=err, command=command, path=str(path), name=name)

    def kill(self) -> None:
        """Kill the process from another thread, without waiting for its test."""
        if self._worker is not None:
            self._worker.process.kill()

    def close(self, kill: bool = False) -> None:
        if self._worker is not None:
            self._worker.close(kill=kill)
            self._worker = None


def run_all(
    tests: list[tuple[str, Path]],
    driver: str,
    *,
    jobs: int,
    timeout: float,
    stop: threading.Event | None = None,
    environment: dict[str, str] | None = None,
) -> Iterator[Entry]:
    """Run every (name, path) and yield the results, in no particular order."""
    todo: queue.SimpleQueue[tuple[str, Path]] = queue.SimpleQueue()
    for test in tests:
        todo.put(test)
    done: queue.SimpleQueue[Entry | BaseException | None] = queue.SimpleQueue()
    halt = stop or threading.Event()
    env = environment or child_environment(driver, jobs)
    processes: list[TestProcess] = []

    def serve() -> None:
        process = TestProcess(driver, timeout, env)
        processes.append(process)
        try:
            while not halt.is_set():
                try:
                    name, path = todo.get_nowait()
                except queue.Empty:
                    break
                report = process.run(name, path)
                if not halt.is_set():
                    done.put(report)
        except BaseException as error:
            done.put(error)
        finally:
            process.close(kill=halt.is_set())
            done.put(None)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            item = done.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
    finally:
        halt.set()
        if running:
            # Interrupted: do not wait for the timeout of a running test.
            for process in processes:
                process.kill()
        for thread in threads:
            thread.join(timeout=10)
