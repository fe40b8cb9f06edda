"""Running a suite, for `gallette piglit run` and `gallette conformance`.

A `Job` describes the tests and how to run them. `run_job` runs it: results are written to the
journal (if there is an output folder) as they arrive, problems to the terminal, and at the end the
folder has piglit's results file.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.piglit_subset import known
from gallette.piglit_subset.environment import child_environment
from gallette.piglit_subset.history import Costs
from gallette.piglit_subset.journal import Head, Journal
from gallette.piglit_subset.pool import run_all
from gallette.piglit_subset.results import Entry, Run
from gallette.pipe.loader import driver_package
from gallette.terminal import console


@lazy_dataclass()
class Job:
    """The tests to run, and how."""

    head: Head
    jobs: int = 1
    output: Path | None = None
    overwrite: bool = False
    resume: bool = False
    rerun: frozenset[str] = frozenset()
    verbose: bool = False
    title: str = "shader_tests"
    use_cache: bool = True
    cluster: str = ""


def check_driver(name: str) -> None:
    """Raise one error now if the driver cannot be used, rather than one per test."""
    if name.split(":")[0] == "native":
        from gallette.state_tracker import create_context

        create_context(name).release()
    else:  # a context of trace would begin a file
        from gallette.pipe.loader import create_screen

        create_screen(name).destroy()


def run_job(job: Job) -> Run:
    """Run the remaining tests; returns the whole run, including earlier sessions."""
    from gallette.reports.terminal import print_totals

    out = console()
    journal = _journal(job)
    if journal is None:
        run = _run(job, job.head, None)
    else:
        with closing(journal):
            run = _run(job, journal.head, journal)
            out.print(f"results: {journal.finish()}", markup=False)
    run.end = time.time() if journal is None else run.end
    Costs(run.name).learn(run)
    print_totals(out, run)
    return run


def _journal(job: Job) -> Journal | None:
    if job.output is None:
        return None
    if job.resume:
        return Journal.resume(job.output, job.rerun)
    return Journal.create(job.output, job.head, job.overwrite)


def _run(job: Job, head: Head, journal: Journal | None) -> Run:
    from gallette.reports.progress import RunProgress

    out = console()
    run = journal.run if journal is not None else Run(head.driver, start=time.time())
    todo = journal.todo() if journal is not None else head.tests * head.repeat
    if run.tests:
        out.print(f"{len(run.tests)} of {len(head.tests)} tests have run before, {len(todo)} to go")
    costs = Costs(head.driver)
    todo = costs.longest_first(todo)
    price = {name: costs.of(name, path) for name, path in todo}
    title = f"{job.title} on {head.driver}"
    debugging = bool(os.environ.get("GALLETTE_DEBUG"))
    with RunProgress(out, title, [price[n] for n, _ in todo], len(run.tests)) as progress:
        for fresh in _results(job, head, todo, price):
            entry = (journal or run).add(fresh.name, fresh)
            if debugging and fresh.err:  # what the flags asked for
                print(f"{fresh.name.replace('@', '/')}:\n{fresh.err}", file=sys.stderr)
            if job.verbose or fresh.result not in ("pass", "skip") or entry.flaky:
                out.print(_line(fresh.name, fresh if not entry.flaky else entry), highlight=False)
            progress.step(price[fresh.name], run.totals())
    return run


def _results(
    job: Job, head: Head, todo: list[tuple[str, Path]], price: dict[str, float]
) -> Iterator[Entry]:
    if job.cluster:
        from gallette.piglit_subset.remote import run_on_cluster

        return run_on_cluster(
            todo,
            head.driver,
            job.cluster,
            timeout=head.timeout,
            use_cache=job.use_cache,
            cost=price.__getitem__,
        )
    jobs = max(1, min(job.jobs, len(todo)))
    environment = child_environment(head.driver, jobs)
    if not job.use_cache:
        environment["GALLETTE_CACHE"] = "off"
    return run_all(todo, head.driver, jobs=jobs, timeout=head.timeout, environment=environment)


def _line(name: str, entry: Entry) -> str:
    from rich.markup import escape

    from gallette.terminal import COLORS

    color = COLORS.get(entry.result, "white")
    reason = escape(entry.reason.strip())
    text = f"[{color}]{entry.result:>7}[/] {escape(name.replace('@', '/'))}"
    return f"{text}\n        {reason}" if reason and entry.result != "pass" else text


def known_list(driver: str) -> Path:
    """The file with the known failures of a driver; it need not exist."""
    package = driver_package(driver)
    spec = find_spec(package) if package else None
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).resolve().parent / "fails.txt"
    return known.FOLDER / f"{driver.replace(':', '-')}.txt"


def known_failures(driver: str) -> dict[str, str]:
    """The known failures of a driver: test name -> reason. The native drivers share a compiler, and
    so a list (`native.txt`).
    """
    shared = known.load(known.FOLDER / "native.txt") if driver.startswith("native") else {}
    return {**shared, **known.load(known_list(driver))}


def judge_run(run: Run, update: bool = False) -> bool:
    """Compare a run with its driver's list of known failures; true if nothing is unexpected."""
    from rich.markup import escape

    out = console()
    path = known_list(run.name)
    judgement = known.judge(run, known_failures(run.name))
    if update:
        came, went = known.update(run, path)
        out.print(f"{path}: {len(came)} added, {len(went)} removed", markup=False)
        if came:
            out.print("Replace what was seen by the reason in each new line.")
        return True
    for name, reason in judgement.known.items():
        out.print(f"[yellow]  known[/] {escape(name.replace('@', '/'))}: {escape(reason)}")
    for name in judgement.surprises:
        out.print(
            f"[red]unexpected pass[/] {escape(name.replace('@', '/'))}: it is on the list of known "
            f"failures of {run.name} ({path}); --update-known takes it off"
        )
    if any(test.flaky for test in run.tests.values()):
        flaky = sum(test.flaky for test in run.tests.values())
        out.print(f"[red]{flaky} flaky[/]: not the same result every time")
        return False
    return judgement.ok


def parse_results(text: str) -> frozenset[str]:
    """The results in a text such as `fail,crash`, as a set."""
    from gallette.piglit_subset.results import ORDER

    wanted = frozenset(filter(None, text.split(",")))
    strange = wanted - set(ORDER)
    if strange:
        raise GalletteError(
            f"--rerun: no such result: {', '.join(sorted(strange))} (one of {', '.join(ORDER)})"
        )
    return wanted
