"""Run the bundled shader_tests, compare every pass of every scene, and write one report.

Scenes are compared with the machine's OpenGL, or with recorded pictures where there is none. The
command ends with 1 if a test fails that is not a known failure, or if a picture differs.
"""

from __future__ import annotations

import argparse
import time

from rich.markup import escape

from gallette import default_driver
from gallette.commands.diff import check_scenes, print_diffs, run_diffs
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.suite import find_tests
from gallette.piglit_subset.summary import summarise
from gallette.reports.html import write_conformance
from gallette.running import Job, check_driver, judge_run, run_job
from gallette.terminal import console


def run(options: argparse.Namespace) -> int:
    start = time.monotonic()
    out = console()
    driver = options.driver or default_driver()
    check_driver(driver)
    tests = find_tests([], options.filter)
    if not tests:
        raise GalletteError(
            f"gallette conformance: no bundled test matches {' '.join(options.filter)}"
        )
    head = Head(driver, tests, options.timeout)
    suite = run_job(Job(head, max(1, options.jobs), options.output, overwrite=True))
    report = run_diffs(check_scenes([], "gallette conformance"), driver, options.against, 1.0, {})
    print_diffs(out, report)
    ok = judge_run(suite) and report.ok
    seconds = time.monotonic() - start
    page = write_conformance(summarise([suite]), report, ok, seconds, options.output)
    verdict = "[green]all passed[/]" if ok else "[red]failures[/]"
    out.print(f"{verdict} in {seconds:.1f} s; report: {escape(str(page.resolve()))}")
    return 0 if ok else 1
