"""The page of `gallette explain` in a browser: what the pointer is on is marked everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.explaining import explain_file
from gallette.inspector.examples import FRAGMENT, VERTEX
from gallette.reports.html import write_explanation

from .test_browser import Visit, axe, browser  # noqa: F401


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("explain")
    (folder / "wave.vert").write_text(VERTEX)
    (folder / "wave.frag").write_text(FRAGMENT)
    story = explain_file(str(folder / "wave.frag"), "numpipe")
    return write_explanation(story, folder / "page.html").as_uri()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_hover_links_three_panes(browser: Any, explained: str, width: int, scheme: str) -> None:  # noqa: F811
    visit = Visit(browser, explained, width, scheme)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    section = page.locator(".mapped").last
    section.locator(".pane").first.locator("[data-line='6']").click()
    lit = [section.locator(".pane").nth(i).locator(".lit:visible").count() for i in range(3)]
    assert lit[0] == 1 and lit[1] > 5 and lit[2] > 5
    section.locator("select").first.select_option(index=0)
    assert section.locator(".form:visible").first.inner_text().count("@load_deref") > 1
    assert axe(page) == []
    visit.clean()
    page.close()
