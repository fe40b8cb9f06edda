"""The table and the reports of commands that compare with golden images."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.golden import Goldens, Tolerance
from gallette.golden.reports import write_json, write_page
from gallette.piglit_subset.junit import Case, write_cases
from gallette.terminal import console


def tolerance_option(options: argparse.Namespace) -> Tolerance:
    """The tolerance that the command line gives for all pictures."""
    steps = 1.0 if options.tolerance is None else options.tolerance
    return Tolerance(steps, options.share or 0.0, options.perceptual)


def talking(options: argparse.Namespace) -> Console:
    """The stream for messages: standard error if standard output is used for data."""
    out = console()
    out.stderr = str(options.json) == "-"
    return out


@lazy_dataclass()
class Checked:
    """A program's pictures, compared with its folder of golden images."""

    title: str
    goldens: Goldens
    errors: Sequence[str] = ()
    """Reasons why some of the pictures are missing."""

    @property
    def ok(self) -> bool:
        return self.goldens.ok and not self.errors


def compare_goldens(
    folder: Path,
    pictures: Sequence[tuple[str, Any]],
    tolerance: Tolerance,
    *,
    update: bool,
    title: str,
    errors: Sequence[str] = (),
) -> Checked:
    """Compare pictures with the golden images in a folder."""
    goldens = Goldens(folder, update=update, tolerance=tolerance)
    for name, picture in pictures:
        goldens.check(name, picture)
    if not errors:  # otherwise more would have been drawn
        goldens.check_rest()
        if not goldens.results:
            raise GalletteError(f"{title}: there is no picture, and {folder} has no golden image")
    return Checked(title, goldens, errors)


def report_goldens(options: argparse.Namespace, checked: Sequence[Checked], title: str) -> bool:
    """Print the results and write the requested reports; returns whether all pictures passed."""
    out, good = talking(options), all(each.ok for each in checked)
    for each in checked:
        _print(out, each)
    if options.html is not None:
        hint = "If the pictures are right, run the command again with `--update`."
        results = [result for each in checked for result in each.goldens.results]
        page = write_page(results, options.html, title, "" if good else hint)
        out.print(f"report: {page}", markup=False)
    if options.junit is not None:
        cases = []
        for each in checked:
            for r in each.goldens.results:
                kind, why = ("", "") if r.ok else ("failure", str(r))
                cases.append(Case(each.title, r.name, kind, why, why))
            for error in each.errors:
                cases.append(Case(each.title, "program", "error", error.split("\n")[0], error))
        write_cases(title, cases, options.junit)
    if options.json is not None:
        programs = [
            {
                "name": each.title,
                "ok": each.ok,
                "errors": list(each.errors),
                "pictures": [result.data() for result in each.goldens.results],
            }
            for each in checked
        ]
        write_json({"ok": good, "programs": programs}, options.json)
    return good


def _print(out: Console, checked: Checked) -> None:
    results = checked.goldens.results
    for result in results:
        color = "green" if result.ok else "red"
        out.print(f"[{color}]{result.status:>10}[/] {escape(result.name)}: {escape(str(result))}")
    for error in checked.errors:
        out.print(f"[red]     error[/] {escape(error)}")
    good = sum(result.ok for result in results)
    title = escape(checked.title)
    out.print(f"{title}: {good} of {len(results)} pictures match their golden images")
    if good < len(results):
        folder = checked.goldens.folder
        out.print(
            f"golden images: {folder}; if the new pictures are right, add --update", markup=False
        )
