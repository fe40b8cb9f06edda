"""Run shader_tests, compare the results of runs, and list what tests can contain.

Without a PATH, `run` takes the bundled tests; a folder of a piglit checkout is possible, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.results import read_run
from gallette.piglit_subset.suite import Shard, find_tests
from gallette.piglit_subset.summary import summarise
from gallette.running import Job, check_driver, judge_run, known_failures, parse_results, run_job
from gallette.terminal import console, counted, table

VALUES = {"results": parse_results, "shard": Shard.parse}


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
