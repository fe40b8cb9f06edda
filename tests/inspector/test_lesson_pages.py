"""A lesson's page in a real browser: switches flip, nothing is fetched, axe does not complain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.lessons import LESSONS, Page
from gallette.reports.html import write_lesson

from .test_browser import Visit, axe, browser  # noqa: F401


@pytest.fixture(scope="module")
def lesson_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    item = LESSONS["dvec_inputs"]
    page = Page(item.title)
    item.run(page, "numpipe")
    path: Path = tmp_path_factory.mktemp("lesson") / "dvec_inputs.html"
    write_lesson(page, path, item, "numpipe", linked=True)
    return path.as_uri()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_switches_flip(browser: Any, lesson_page: str, width: int, scheme: str) -> None:  # noqa: F811
    visit = Visit(browser, lesson_page, width, scheme)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    flip = page.locator(".flip").last
    assert flip.locator(".state:visible").count() == 1
    assert "10000000000.0" in flip.inner_text()
    flip.locator("button", has_text="without it").click()
    assert flip.locator(".state:visible").count() == 1
    assert "2.000000473111868" in flip.inner_text()
    page.keyboard.press("ArrowRight")
    assert "used before it is defined" in flip.inner_text()
    page.locator(".question summary").first.click()
    assert page.locator(".question[open] p").first.is_visible()
    assert axe(page) == []
    visit.clean()
    page.close()
