"""Running shader_tests on a cluster: the data sent to a worker, and how it runs tests.

A worker runs tests in a process of its own, like the local pool: a crash or a hang costs one test.
That process is kept from test to test. A test's file is sent, because a worker on another machine
may not have it; where it has an identical one, that is used, so that messages name it.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gallette.piglit_subset.cluster import Cluster
from gallette.piglit_subset.environment import child_environment
from gallette.piglit_subset.pool import TestProcess
from gallette.piglit_subset.results import Entry, again


@dataclass(frozen=True, slots=True)
class SentTest:
    """A test as sent to a worker."""

    name: str
    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options with which tests are run."""

    driver: str
    timeout: float
    use_cache: bool


def run_on_cluster(
    tests: list[tuple[str, Path]],
    driver: str,
    address: str,
    *,
    timeout: float,
    use_cache: bool,
    cost: Callable[[str], float],
) -> Iterator[Entry]:
    """Run every (name, path); yields results as they arrive."""
    items = [SentTest(name, str(path), path.read_bytes()) for name, path in tests]
    run = partial(_run_test, RunOptions(driver, timeout, use_cache))
    with Cluster(address) as cluster:
        for item, result in cluster.run(run, items, lambda sent: cost(sent.name)):
            if isinstance(result, BaseException):
                why = f"the test's worker was lost: {result}"
                command = again(driver, item.path)
                yield Entry("crash", why, command=command, path=item.path, name=item.name)
            else:
                yield result


_processes: dict[RunOptions, TestProcess] = {}


def _run_test(how: RunOptions, sent: SentTest) -> Entry:
    """On a worker: run a test in its test process."""
    process = _processes.get(how)
    if process is None:
        environment = child_environment(how.driver, 2)
        if not how.use_cache:
            environment["GALLETTE_CACHE"] = "off"
        process = _processes[how] = TestProcess(how.driver, how.timeout, environment)
        atexit.register(process.close)
    with tempfile.TemporaryDirectory(prefix="gallette-") as folder:
        report = process.run(sent.name, _file(sent, Path(folder)))
    report.command, report.path = again(how.driver, sent.path), sent.path
    return report


def _file(sent: SentTest, folder: Path) -> Path:
    """The test's file on this machine."""
    path = Path(sent.path)
    try:
        if path.read_bytes() == sent.content:
            return path
    except OSError:
        pass
    copy = folder / path.name
    copy.write_bytes(sent.content)
    return copy
