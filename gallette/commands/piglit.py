"""`gallette piglit run` and `gallette piglit summary`."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset import known
from gallette.piglit_subset.pool import Report, run_all
from gallette.piglit_subset.results import Run, entry_of, read_run, write_run
from gallette.piglit_subset.suite import find_tests
from gallette.piglit_subset.summary import summarise
from gallette.terminal import console, progress_bar

__all__ = ["add_arguments", "run", "run_suite"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    runner = actions.add_parser(
        "run",
        help="run tests and write results.json",
        description="Run shader_tests: files, folders, or the bundled tests if none is named.",
        epilog="example: gallette piglit run --driver native -j 2 --filter 'texture|matrix'",
    )
    runner.add_argument("paths", nargs="*", metavar="PATH", help="a .shader_test or a folder")
    runner.add_argument("--driver", default=None, help="the driver (default: GALLETTE_DRIVER)")
    runner.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    runner.add_argument("--filter", action="append", default=[], metavar="RE")
    runner.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="per test")
    runner.add_argument("-o", "--output", type=Path, default=None, metavar="DIR")
    runner.add_argument("--list", action="store_true", help="list the tests, run none")
    runner.add_argument("-v", "--verbose", action="store_true", help="name every test")
    summary = actions.add_parser(
        "summary",
        help="compare runs",
        description="Compare runs: totals, pass rates per folder, what changed.",
        epilog="example: gallette piglit summary reports/a reports/b --html reports/html",
    )
    summary.add_argument("runs", nargs="+", metavar="DIR", help="a folder with results.json")
    summary.add_argument("--html", type=Path, default=None, metavar="DIR")
    summary.add_argument("--folders", action="store_true", help="pass rates per folder")
    summary.add_argument("--all", action="store_true", help="list every test, not only problems")
    actions.add_parser("commands", help="list the [test] commands the runner knows")


def run(options: argparse.Namespace) -> int:
    if options.action == "summary":
        return _summary(options)
    if options.action == "commands":
        return _list_commands()
    tests = find_tests(options.paths, options.filter)
    if not tests:
        raise GalletteError("no shader_test matches")
    if options.list:
        for name, path in tests:
            print(f"{name}\t{path}")
        return 0
    driver = options.driver or default_driver()
    check_driver(driver)
    if options.jobs < 1:
        raise GalletteError("gallette piglit run: --jobs must be at least 1")
    if options.timeout <= 0:
        raise GalletteError("gallette piglit run: --timeout must be positive")
    result = run_suite(
        tests, driver, options.jobs, options.timeout, options.verbose, "shader_tests"
    )
    if options.output is not None:
        console().print(f"results: {write_run(result, options.output)}")
    return 0 if judge_run(result, known_failures(options.paths, driver)) else 1


def known_failures(paths: Sequence[str], driver: str) -> dict[str, str]:
    """The driver's list; it is about the bundled tests only."""
    return {} if paths else known.load(driver)


def judge_run(result: Run, expected: dict[str, str]) -> bool:
    """Say what was expected and what was not; is the run all right?"""
    from rich.markup import escape

    out = console()
    judgement = known.judge(result, expected)
    for name, reason in judgement.known.items():
        out.print(f"[yellow]  known[/] {name.replace('@', '/')}: {escape(reason)}")
    for name in judgement.surprises:
        out.print(
            f"[red]unexpected pass[/] {name.replace('@', '/')}: take it off the list of known "
            f"failures of {result.name}"
        )
    return judgement.ok


def check_driver(name: str) -> None:
    """Fail now, in one message, rather than once per test."""
    from gallette.state_tracker import create_context

    create_context(name).release()


def run_suite(
    tests: list[tuple[str, Path]],
    driver: str,
    jobs: int,
    timeout: float,
    verbose: bool = False,
    title: str = "shader_tests",
) -> Run:
    """Run tests with a live progress bar, print problems as they come, and a table at the end."""
    from gallette.reports.terminal import print_totals

    out = console()
    result = Run(driver, start=time.time())
    jobs = min(jobs, len(tests))
    with progress_bar(out) as bar:
        task = bar.add_task(f"{title} on {driver}", total=len(tests), note="")
        for report in run_all(tests, driver, jobs=jobs, timeout=timeout):
            result.tests[report.name] = entry_of(report, driver)
            if verbose or report.result not in ("pass", "skip"):
                out.print(_line(report), highlight=False, markup=True)
            totals = result.totals()
            note = "  ".join(f"{r} {n}" for r, n in sorted(totals.items()))
            bar.update(task, advance=1, note=note)
    result.end = time.time()
    print_totals(out, result)
    return result


def _line(report: Report) -> str:
    from rich.markup import escape

    from gallette.terminal import COLORS

    color = COLORS.get(report.result, "white")
    reason = escape(report.reason.strip())
    text = f"[{color}]{report.result:>7}[/] {report.name.replace('@', '/')}"
    return f"{text}\n        {reason}" if reason and report.result != "pass" else text


def _summary(options: argparse.Namespace) -> int:
    from gallette.reports.terminal import print_folders, print_summary

    summary = summarise([read_run(Path(p)) for p in options.runs])
    if options.folders:
        print_folders(console(), summary)
    print_summary(console(), summary, options.all)
    if options.html is not None:
        from gallette.reports.html import write_summary

        console().print(f"report: {write_summary(summary, options.html)}")
    return 0


def _list_commands() -> int:
    from gallette.piglit_subset.commands import COMMANDS

    usages = {(h.__doc__ or "unsupported").splitlines()[0] for h in COMMANDS.values()}
    for usage in sorted(usages - {"unsupported"}):
        print(usage)
    return 0
