"""Run shader_tests, compare the results of runs, and list what tests can contain.

Without a PATH, `run` takes the bundled tests; a folder of a piglit checkout is possible, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette import default_driver
from gallette.commands.options import add_cluster, add_driver, add_jobs
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.results import read_run
from gallette.piglit_subset.suite import Shard, find_tests
from gallette.piglit_subset.summary import summarise
from gallette.running import Job, check_driver, judge_run, known_failures, parse_results, run_job
from gallette.terminal import console, counted, table

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions)
    summary = _action(
        actions,
        "summary",
        "compare the results of runs",
        "Compare the results of runs: totals, pass rates, and tests whose result changed.",
        "gallette piglit summary reports/a reports/b --html reports/html",
    )
    summary.add_argument(
        "runs", nargs="+", type=Path, metavar="DIR", help="a folder with a results.json"
    )
    summary.add_argument("--folders", action="store_true", help="show pass rates of folders")
    summary.add_argument(
        "--versions", action="store_true", help="show pass rates of GLSL and OpenGL versions"
    )
    summary.add_argument("--all", action="store_true", help="list every test, not only problems")
    summary.add_argument("--html", type=Path, metavar="DIR", help="write a report")
    summary.add_argument(
        "--pages",
        choices=("problems", "all", "none"),
        default="problems",
        help="with --html: tests that get a page of their own (default: problems)",
    )
    summary.add_argument(
        "--deep",
        type=int,
        default=0,
        metavar="N",
        help="with --html: run N failing tests again, and show their shaders and wrong pixels",
    )
    merge = _action(
        actions,
        "merge",
        "merge the results of several shards",
        "Merge runs of different tests (shards) into one.",
        "gallette piglit merge reports/1 reports/2 -o reports/all",
    )
    merge.add_argument(
        "runs", nargs="+", type=Path, metavar="DIR", help="a folder with a results.json"
    )
    merge.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="where the results go"
    )
    coverage = _action(
        actions,
        "coverage",
        "measure which opcodes, GL functions, formats and grammar rules tests use",
        "Run tests on numpipe and compare what they use with the tables of opcodes, intrinsics,\n"
        "OpenGL functions, formats and grammar rules.",
        "gallette piglit coverage --html reports/coverage",
    )
    coverage.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a .shader_test or a folder (default: the bundled tests)",
    )
    add_jobs(coverage)
    _add_filter(coverage)
    coverage.add_argument("--html", type=Path, metavar="DIR", help="write a page")
    _action(
        actions,
        "commands",
        "list the commands of a [test] section",
        "List the commands that a [test] section can contain.",
        "gallette piglit commands",
    )


Actions = argparse._SubParsersAction


def _action(
    actions: Actions[argparse.ArgumentParser], name: str, help: str, text: str, *examples: str
) -> argparse.ArgumentParser:
    shown = "examples:\n" + "\n".join(f"  {line}" for line in examples)
    return actions.add_parser(name, help=help, description=text, epilog=shown)


def _add_filter(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="REGEX",
        help="only tests whose name matches (may be repeated)",
    )


def _add_run(actions: Actions[argparse.ArgumentParser]) -> None:
    runner = _action(
        actions,
        "run",
        "run tests and write their results",
        "Run shader_tests: files, folders, lists, or the bundled tests if none is named.\n\n"
        "Results are written as they come, so that --resume continues an interrupted run. The\n"
        "command ends with 1 if a test fails that is not a known failure of the driver.",
        "gallette piglit run --driver native -j 2 --filter 'texture|matrix'",
        "gallette piglit run --tests-list nightly.txt --shard 2/8 -o reports/2",
        "gallette piglit run --resume reports/2 --rerun fail,crash",
    )
    runner.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a .shader_test or a folder (default: the bundled tests)",
    )
    add_driver(runner)
    add_jobs(runner)
    runner.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="end a test that takes longer (default: 60)",
    )
    runner.add_argument(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="run each test N times, to find flaky ones",
    )
    runner.add_argument(
        "--no-cache", action="store_true", help="ignore the shader cache, compile every shader"
    )
    add_cluster(runner)
    choice = runner.add_argument_group("choice of tests")
    _add_filter(choice)
    choice.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="REGEX",
        help="no tests whose name matches (may be repeated)",
    )
    choice.add_argument(
        "--tests-list",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="only the tests of this list: one file, or one name below PATH, a line",
    )
    choice.add_argument(
        "--shard", type=Shard.parse, metavar="I/N", help="only part I of N equal parts"
    )
    choice.add_argument("--list", action="store_true", help="list the tests, do not run them")
    results = runner.add_argument_group("results")
    results.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write results.json to this folder"
    )
    results.add_argument(
        "--overwrite", action="store_true", help="discard the unfinished run in DIR"
    )
    results.add_argument(
        "--resume", type=Path, metavar="DIR", help="continue the unfinished run in DIR"
    )
    results.add_argument(
        "--rerun",
        type=parse_results,
        default=frozenset(),
        metavar="RESULT,...",
        help="with --resume: run tests again that had one of these results, such as fail,crash",
    )
    results.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit XML report")
    results.add_argument(
        "--update-known", action="store_true", help="rewrite the driver's list of known failures"
    )
    results.add_argument("-v", "--verbose", action="store_true", help="print every test")


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
        raise GalletteError("gallette piglit: no shader_test matches")
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
    """Continue a run; what it runs is in its folder and cannot be changed."""
    _check_numbers(options)
    again = [
        name
        for name in ("paths", "filter", "exclude", "tests_list", "shard", "output", "driver")
        if getattr(options, name)
    ]
    if again:
        raise GalletteError(
            f"gallette piglit run: --resume cannot change {', '.join(again)} of the run"
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
        raise GalletteError("gallette piglit: no shader_test matches")
    areas = report(measure([path for _, path in tests], options.jobs))
    out = console()
    rows = table(out, f"used by {counted(len(tests), 'test')}")
    for title, side in (("table", "left"), ("used", "right"), ("of", "right"), ("", "right")):
        rows.add_column(title, justify=side)  # type: ignore[arg-type]
    for area in areas:
        touched = len(area.touched)
        rows.add_row(area.name, str(touched), str(area.total), f"{touched / area.total:.1%}")
    out.print(rows)
    for area in areas:
        if area.untouched:
            out.print(f"[bold]{area.name}, unused:[/] {', '.join(area.untouched)}\n")
        for reason, names in area.unreachable.items():
            out.print(f"[bold]{area.name}, cannot be used[/] ({reason}): {', '.join(names)}\n")
    if options.html is not None:
        page = render_page(
            "coverage.html.jinja",
            page_path(options.html),
            title="What the suite uses",
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
