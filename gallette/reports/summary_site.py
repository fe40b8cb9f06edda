"""`gallette piglit summary --html DIR`: an index of all tests, and a page for each test with a
problem.

The index is one page and a file of data: tens of thousands of tests are too many rows for HTML, so
`summary.js` draws the visible part. The page of a test has everything known about it: the source
with the lines that failed, values, logs, times, pictures, and (on request) how the shaders compile
and the history of the first wrong pixel.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.output_files import write_whole
from gallette.piglit_subset.results import ORDER, Entry, Run
from gallette.piglit_subset.summary import Change, Summary, pass_rate, version_of
from gallette.reports.findings import Finding, findings
from gallette.reports.html import page_path, render_page

if TYPE_CHECKING:
    from gallette.history import History

PAGES = ("problems", "all", "none")
"""For which tests pages are made: those that did not simply pass everywhere, all, or none."""

_REASON = 240
Known = Callable[[str], dict[str, str]]


@lazy_dataclass()
class Side:
    """A test in one run."""

    run: Run
    entry: Entry
    known: str
    findings: list[Finding]


@lazy_dataclass()
class TestPage:
    """The contents of one test's page."""

    test: Change
    sides: list[Side]
    source: list[str]
    path: str
    previous: str = ""
    next: str = ""
    explanation: str = ""
    history: str = ""
    deep_error: str = ""
    marks: dict[int, list[str]] = field(default_factory=dict)

    @property
    def told(self) -> list[tuple[str, Side]]:
        """The messages of the runs, with equal ones merged: the runs' names, and one of the
        messages.
        """
        found: list[tuple[list[str], Side]] = []
        for side in self.sides:
            if not side.entry.reason:
                continue
            for names, other in found:
                if (side.entry.reason, side.findings) == (other.entry.reason, other.findings):
                    names.append(side.run.name)
                    break
            else:
                found.append(([side.run.name], side))
        return [(", ".join(names), side) for names, side in found]

    @property
    def title(self) -> str:
        return self.test.name.replace("@", "/")


def write_summary(
    summary: Summary, target: Path, *, known: Known | None = None, pages: str = "problems",
    deep: int = 0,
) -> Path:  # fmt: skip
    """Write the index and the pages; `deep` failing tests are also run again for an explanation."""
    index = page_path(target)
    lists = {run.name: known(run.name) if known is not None else {} for run in summary.runs}
    chosen = [t for t in summary.tests if _has_page(t, pages)]
    names = {t.name: f"tests/{_file_name(t.name)}.html" for t in chosen}
    write_whole(index.parent / "tests.js", _data(summary, lists, names), folder=True)
    for number, test in enumerate(chosen):
        page = _page(summary, test, lists)
        page.previous = _file_name(chosen[number - 1].name) if number else ""
        last = number + 1 == len(chosen)
        page.next = "" if last else _file_name(chosen[number + 1].name)
        if deep and test.results[-1] == "fail" and page.path and not _is_native(summary):
            deep -= 1
            _look_deeper(page, summary.runs[-1].name, index.parent / "explained")
        render_page(
            "test.html.jinja",
            index.parent / names[test.name],
            title=page.title,
            page=page,
            views=_views(page),
        )
    return render_page(
        "summary.html.jinja",
        index,
        title="shader_tests: " + " · ".join(run.name for run in summary.runs),
        subtitle=f"{len(summary.tests)} tests",
        summary=summary,
        rate=pass_rate,
    )


def _has_page(test: Change, pages: str) -> bool:
    return pages == "all" or (pages == "problems" and set(test.results) != {"pass"})


def _is_native(summary: Summary) -> bool:
    return summary.runs[-1].name.split(":")[0] == "native"


def _file_name(name: str) -> str:
    """A test's name as a file name: characters other than letters, digits and `@-_.+` become
    `_`.
    """
    return "".join(c if c.isalnum() or c in "@-_.+" else "_" for c in name)[:200]


# -- the index -------------------------------------------------------------------------------------


def _data(summary: Summary, lists: dict[str, dict[str, str]], names: dict[str, str]) -> str:
    """The rows for `summary.js`: numbers index `results` and `groups`."""
    groups = sorted({version_of(t.name) for t in summary.tests})
    of_group = {group: number for number, group in enumerate(groups)}
    of_result = {result: number for number, result in enumerate(ORDER)}
    rows = []
    for test in summary.tests:
        entries = [run.tests.get(test.name) for run in summary.runs]
        last = entries[-1]
        rows.append(
            [
                test.name.replace("@", "/"),
                of_group[version_of(test.name)],
                [of_result.get(result, len(ORDER) - 1) for result in test.results],
                round(last.seconds, 3) if last is not None else 0,
                test.kind,
                next((why for run in summary.runs if (why := lists[run.name].get(test.name))), ""),
                _first_reason(entries),
                names.get(test.name, ""),
            ]
        )
    data = {
        "runs": [run.name for run in summary.runs],
        "results": list(ORDER),
        "groups": groups,
        "tests": rows,
    }
    return "window.SUMMARY = " + json.dumps(data, separators=(",", ":")) + ";\n"


def _first_reason(entries: list[Entry | None]) -> str:
    """The last run's reason, else that of another run."""
    for entry in reversed(entries):
        line = next(iter(entry.reason.splitlines()), "") if entry is not None else ""
        if entry is not None and entry.path:
            line = line.replace(entry.path, Path(entry.path).name)
        if line:
            return line if len(line) <= _REASON else line[: _REASON - 1] + "…"
    return ""


# -- a test's page ---------------------------------------------------------------------------------


def _page(summary: Summary, test: Change, lists: dict[str, dict[str, str]]) -> TestPage:
    sides = []
    for run in summary.runs:
        entry = run.tests.get(test.name)
        if entry is not None:
            why = lists[run.name].get(test.name, "")
            sides.append(Side(run, entry, why, findings(entry)))
    path = next((s.entry.path for s in reversed(sides) if s.entry.path), "")
    page = TestPage(test, sides, _source(path), path)
    for side in sides:
        for finding in side.findings:
            if 0 < finding.line <= len(page.source):
                page.marks.setdefault(finding.line, []).append(f"{side.run.name}: {finding.text}")
    return page


def _source(path: str) -> list[str]:
    if not path:
        return []
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()[:4000]
    except OSError:
        return []


def _views(page: TestPage) -> list[dict[str, str]]:
    """Pictures to compare: observed against expected, and run against run."""
    views = []
    pictures = [(s.run.name, s.entry.images) for s in page.sides if s.entry.images]
    shown: list[dict[str, str]] = []
    for name, images in pictures:
        if images in shown:
            continue
        shown.append(images)
        if "observed" in images and "expected" in images:
            views.append(_view(f"{name}: seen", images["observed"], "expected", images["expected"]))
        elif "observed" in images:
            views.append({"ours": f"{name}: seen", "left": images["observed"]})
    if len(shown) > 1 and all("observed" in images for _, images in pictures[:2]):
        (a, first), (b, second) = pictures[0], pictures[-1]
        views.append(_view(a, first["observed"], b, second["observed"]))
    return views


def _view(ours: str, left: str, theirs: str, right: str) -> dict[str, str]:
    return {
        "ours": ours,
        "theirs": theirs,
        "left": left,
        "right": right,
        "heat": _heat(left, right),
    }


def _pixels(data: str) -> npt.NDArray[Any]:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return np.asarray(image.convert("RGB"))


def _heat(left: str, right: str) -> str:
    """A heat map: black where two pictures are equal, brighter where they differ more."""
    from PIL import Image

    a, b = _pixels(left).astype(np.int16), _pixels(right).astype(np.int16)
    if a.shape != b.shape:
        return left
    far = np.abs(a - b).max(axis=2)
    level = np.where(far > 0, 64 + far * 191 // 255, 0).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(np.stack([level, level // 2, level // 4], axis=2)).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


# -- a failing test, run again to be looked into ---------------------------------------------------


def _look_deeper(page: TestPage, driver: str, folder: Path) -> None:
    """Add how the test's shaders compile, and the history of the first wrong pixel."""
    from gallette.explaining import explain_file
    from gallette.reports.html import write_explanation

    try:
        file = folder / f"{_file_name(page.test.name)}.html"
        write_explanation(explain_file(page.path, driver), file)
        page.explanation = f"../{folder.name}/{file.name}"
        pixel = next((f.pixel for f in page.sides[-1].findings if f.pixel), None)
        if pixel is not None:
            page.history = _history_text(page.path, pixel, driver)
    except GalletteError as error:
        page.deep_error = str(error)


def _history_text(path: str, pixel: tuple[int, int], driver: str) -> str:
    from rich.console import Console

    from gallette.commands.pixel import print_history
    from gallette.history import pixel_history

    history: History = pixel_history(path, *pixel, driver)
    out = io.StringIO()
    print_history(Console(file=out, width=110, highlight=False), history)
    return out.getvalue().strip()
