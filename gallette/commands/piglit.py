"""`gallette piglit`: run shader_tests, compare runs, list the commands a test can use."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.results import read_run
from gallette.piglit_subset.suite import Shard, find_tests
from gallette.piglit_subset.summary import summarise
from gallette.running import Job, check_driver, judge_run, known_failures, parse_results, run_job
from gallette.terminal import console, table

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions)
    summary = actions.add_parser(
        "summary",
        help="compare runs",
        description="Compare runs: totals, pass rates per folder, what changed.",
        epilog="example: gallette piglit summary reports/a reports/b --html reports/html",
    )
    summary.add_argument(
        "runs", nargs="+", type=Path, metavar="DIR", help="a folder with results.json"
    )
    summary.add_argument("--html", type=Path, metavar="DIR")
    summary.add_argument(
        "--pages",
        choices=("problems", "all", "none"),
        default="problems",
        help="with --html: which tests get a page of their own (default: what did not pass)",
    )
    summary.add_argument(
        "--deep",
        type=int,
        default=0,
        metavar="N",
        help="with --html: run N failing tests again, explain their shaders, ask the wrong pixel",
    )
    summary.add_argument("--folders", action="store_true", help="pass rates per folder")
    summary.add_argument("--versions", action="store_true", help="pass rates per GLSL/GL version")
    summary.add_argument("--all", action="store_true", help="list every test, not only problems")
    merge = actions.add_parser(
        "merge",
        help="join the runs of several shards",
        description="Join runs of different tests (shards) into one.",
        epilog="example: gallette piglit merge reports/1 reports/2 -o reports/all",
    )
    merge.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    merge.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    coverage = actions.add_parser(
        "coverage",
        help="what tests touch: opcodes, GL functions, formats, grammar",
        description="Run tests on numpipe and hold what they touch against the tables.",
        epilog="example: gallette piglit coverage --html reports/coverage",
    )
    coverage.add_argument("paths", nargs="*", metavar="PATH", help="default: the bundled tests")
    coverage.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    coverage.add_argument("--filter", action="append", default=[], metavar="RE")
    coverage.add_argument("--html", type=Path, metavar="DIR", help="write a page")
    actions.add_parser("commands", help="list the [test] commands the runner knows")


def _add_run(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    runner = actions.add_parser(
        "run",
        help="run tests and write results.json",
        description="Run shader_tests: files, folders, lists, or the bundled tests if none is "
        "named. Results are on disk as they come: an interrupted run goes on with --resume.",
        epilog="examples:\n"
        "  gallette piglit run --driver native -j 2 --filter 'texture|matrix'\n"
        "  gallette piglit run --tests-list nightly.txt --shard 2/8 -o reports/2\n"
        "  gallette piglit run --resume reports/2 --rerun fail,crash",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = runner.add_argument
    add("paths", nargs="*", metavar="PATH", help="a .shader_test or a folder")
    add("--driver", help="the driver (default: GALLETTE_DRIVER, else numpipe)")
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    add("--filter", action="append", default=[], metavar="RE", help="only tests whose name matches")
    add("--exclude", action="append", default=[], metavar="RE", help="no test whose name matches")
    add(
        "--tests-list",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="tests to run, a file or a name of a test under PATH per line",
    )
    add("--shard", type=Shard.parse, metavar="I/N", help="the I-th of N parts")
    add("--repeat", type=int, default=1, metavar="N", help="run each test N times; find flaky ones")
    add("--timeout", type=float, default=60.0, metavar="SECONDS", help="per test")
    add("-o", "--output", type=Path, metavar="DIR", help="where results.json goes")
    add("--overwrite", action="store_true", help="give up an unfinished run in DIR")
    add("--resume", type=Path, metavar="DIR", help="go on with the run in DIR")
    add(
        "--rerun",
        type=parse_results,
        default=frozenset(),
        metavar="RESULTS",
        help="with --resume: run tests with these results (fail,crash) again",
    )
    add("--junit", type=Path, metavar="FILE", help="write a JUnit XML file, too")
    add("--no-cache", action="store_true", help="compile every shader, trust no cache")
    add("--update-known", action="store_true", help="rewrite the driver's list of known failures")
    add(
        "--cluster",
        default="",
        metavar="ADDRESS",
        help="run on a dask.distributed cluster: tcp://HOST:8786, or local:N",
    )
    add("--list", action="store_true", help="list the tests, run none")
    add("-v", "--verbose", action="store_true", help="name every test")


def run(options: argparse.Namespace) -> int:
    if options.action == "summary":
        return _summary(options)
    if options.action == "merge":
        return _merge(options)
    if options.action == "coverage":
        return _coverage(options)
    if options.action == "commands":
        return _list_commands()
    if options.list:
        for name, path in _tests(options):
            print(f"{name}\t{path}")
        return 0
    job = _resumed(options) if options.resume else _fresh(options)
    check_driver(job.head.driver)
    result = run_job(job)
    if options.junit is not None:
        from gallette.piglit_subset.junit import write_junit

        console().print(
            f"junit: {write_junit(result, options.junit, known_failures(result.name))}",
            markup=False,
        )
    return 0 if judge_run(result, options.update_known) else 1


def _tests(options: argparse.Namespace) -> list[tuple[str, Path]]:
    tests = find_tests(options.paths, options.filter, options.exclude, options.tests_list)
    if options.shard is not None:
        tests = options.shard.of(tests)
    if not tests:
        raise GalletteError("no shader_test matches")
    return tests


def _check_numbers(options: argparse.Namespace) -> None:
    if options.jobs < 1:
        raise GalletteError("gallette piglit run: --jobs must be at least 1")
    if options.timeout <= 0:
        raise GalletteError("gallette piglit run: --timeout must be positive")
    if options.repeat < 1:
        raise GalletteError("gallette piglit run: --repeat must be at least 1")


def _fresh(options: argparse.Namespace) -> Job:
    _check_numbers(options)
    if options.rerun:
        raise GalletteError("gallette piglit run: --rerun needs --resume DIR")
    driver = options.driver or default_driver()
    tests = [(name, path.absolute()) for name, path in _tests(options)]
    head = Head(driver, tests, options.timeout, options.repeat)
    return Job(
        head,
        options.jobs,
        options.output,
        options.overwrite,
        verbose=options.verbose,
        use_cache=not options.no_cache,
        cluster=options.cluster,
    )


def _resumed(options: argparse.Namespace) -> Job:
    """What to run is in the folder; naming it again could only contradict it."""
    _check_numbers(options)
    again = [
        name
        for name in ("paths", "filter", "exclude", "tests_list", "shard", "output", "driver")
        if getattr(options, name)
    ]
    if again:
        raise GalletteError(
            f"gallette piglit run: --resume takes {', '.join(again)} from the run it goes on with"
        )
    run = read_run(options.resume)
    return Job(
        Head(run.name, []),
        options.jobs,
        options.resume,
        resume=True,
        rerun=options.rerun,
        verbose=options.verbose,
        use_cache=not options.no_cache,
        cluster=options.cluster,
    )


def _merge(options: argparse.Namespace) -> int:
    from gallette.piglit_subset.results import merge, write_run

    merged, head = merge([read_run(path) for path in options.runs])
    console().print(f"results: {write_run(merged, options.output, head)}", markup=False)
    return 0


def _summary(options: argparse.Namespace) -> int:
    from gallette.reports.terminal import print_folders, print_summary, print_versions

    summary = summarise([read_run(path) for path in options.runs])
    if options.versions:
        print_versions(console(), summary)
    if options.folders:
        print_folders(console(), summary)
    print_summary(console(), summary, options.all)
    if options.html is not None:
        from gallette.reports.summary_site import write_summary

        page = write_summary(
            summary, options.html, known=known_failures, pages=options.pages, deep=options.deep
        )
        console().print(f"report: {page}", markup=False)
    return 0


def _coverage(options: argparse.Namespace) -> int:

    from gallette.coverage import measure, report
    from gallette.reports.html import page_path, render_page

    tests = find_tests(options.paths, options.filter)
    if not tests:
        raise GalletteError("no shader_test matches")
    areas = report(measure([path for _, path in tests], options.jobs))
    out = console()
    rows = table(out, f"what {len(tests)} tests touch")
    for title, side in (("table", "left"), ("touched", "right"), ("of", "right"), ("", "right")):
        rows.add_column(title, justify=side)  # type: ignore[arg-type]
    for area in areas:
        touched = len(area.touched)
        rows.add_row(area.name, str(touched), str(area.total), f"{touched / area.total:.1%}")
    out.print(rows)
    for area in areas:
        if area.untouched:
            out.print(f"[bold]{area.name}, untouched:[/] {', '.join(area.untouched)}\n")
        for reason, names in area.beyond.items():
            out.print(f"[bold]{area.name}, out of reach[/] ({reason}): {', '.join(names)}\n")
    if options.html is not None:
        page = render_page(
            "coverage.html.jinja",
            page_path(options.html),
            title="What the suite touches",
            subtitle=f"{len(tests)} shader_tests on numpipe",
            areas=areas,
        )
        out.print(f"report: {page}", markup=False)
    return 0


def _list_commands() -> int:
    from gallette.piglit_subset.commands import COMMANDS

    usages = {(h.__doc__ or "unsupported").splitlines()[0] for h in COMMANDS.values()}
    for usage in sorted(usages - {"unsupported"}):
        print(usage)
    return 0
