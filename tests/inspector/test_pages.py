"""Pages that gallette writes, in a browser: wide and light, narrow and dark.

Those that the documentation's site has (lessons, a frame, an explanation) are looked at there.

Nothing is fetched or complained about, nothing scrolls sideways, axe-core finds no fault, and a
page is small enough to be sent around.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gallette.cli import main
from gallette.commands.diff import run_diffs
from gallette.explaining import explain_file
from gallette.inspector.examples import FRAGMENT, VERTEX
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.suite import find_tests
from gallette.piglit_subset.summary import summarise
from gallette.reports.html import write_conformance, write_explanation
from gallette.running import Job, run_job

from .test_browser import SIZES, Visit, axe, browser  # noqa: F401

MOST = 2_000_000  # bytes of a page


def looked_at(browser: Any, path: Path, site: Path | None = None) -> list[str]:  # noqa: F811
    """What is wrong with a page (of a site: it may fetch what lies there), in every size."""
    wrong = []
    if path.stat().st_size >= MOST:
        wrong.append(f"{path.stat().st_size} bytes")
    visit = Visit(browser, path.as_uri(), 1280, "light")
    page = visit.page
    for width, scheme in SIZES:
        page.set_viewport_size({"width": width, "height": 860})
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            wrong.append(f"{width}: {wide} wide")
        wrong += [f"{width} {scheme}: {fault}" for fault in axe(page)]
    own = site.as_uri() if site is not None else path.as_uri()
    wrong += visit.complaints
    wrong += [f"asks for {url}" for url in visit.elsewhere if not url.startswith(own)]
    page.close()
    return wrong


@pytest.mark.parametrize("driver", ["jit", "simd", "tiler"])
def test_explanations(browser: Any, tmp_path: Path, driver: str) -> None:  # noqa: F811
    (tmp_path / "wave.vert").write_text(VERTEX)
    (tmp_path / "wave.frag").write_text(FRAGMENT)
    story = explain_file(str(tmp_path / "wave.frag"), driver)
    assert looked_at(browser, write_explanation(story, tmp_path / "page.html")) == []


REPORTS = {
    "diff": "diff transparency depth_prepass --driver faulty:no_blending --against numpipe --html",
    "trace": "trace shadow_map --html",
    "coverage": "piglit coverage --filter arrays/ --html",
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports(browser: Any, tmp_path: Path, name: str) -> None:  # noqa: F811
    assert main([*REPORTS[name].split(), str(tmp_path / "page.html")]) in (0, 1)
    assert looked_at(browser, tmp_path / "page.html") == []


def test_summaries(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    """Two runs, one with faults: the index and the pages of tests."""
    runs = [str(tmp_path / name) for name in ("right", "wrong")]
    for folder, driver in zip(runs, ("numpipe", "faulty:loses_last_primitive"), strict=True):
        main(["piglit", "run", "--driver", driver, "--filter", "two-sided", "-o", folder])
    site = tmp_path / "site"
    assert main(["piglit", "summary", *runs, "--html", str(site)]) in (0, 1)
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 1
    for path in pages[:4]:
        assert looked_at(browser, path, site) == [], path.name


def test_the_conformance_report(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    """Of a few tests and scenes."""
    head = Head("numpipe", find_tests([], ["arrays/"]), 60.0)
    suite = run_job(Job(head, 1, tmp_path / "run", overwrite=True))
    report = run_diffs(["gradient", "depth_prepass"], "numpipe", "faulty:no_depth_test", 1.0, {})
    page = write_conformance(summarise([suite]), report, False, 1.0, tmp_path / "page.html")
    assert looked_at(browser, page) == []


def test_how_a_draw_works(
    browser: Any,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page of the documentation's site, with each layer chosen."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    import_module("draw_page").write(tmp_path / "page.html")
    visit = Visit(browser, (tmp_path / "page.html").as_uri(), 400, "light")
    for button in visit.page.locator(".switch button").all():
        button.click()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400
        assert axe(visit.page) == []
    visit.clean()
    visit.page.close()
