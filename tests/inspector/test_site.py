"""The pages of the documentation's site in a browser: the course and other live pages, too.

`make docs` builds it and names its folder in `GALLETTE_SITE`; without one these tests are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gallette.lessons import LESSONS

from .test_browser import browser  # noqa: F401
from .test_pages import looked_at

SITE = Path(os.environ.get("GALLETTE_SITE", "")).resolve()
# What the theme needs for itself, and sources: these are not read as pages.
_NOT_READ = ("genindex", "py-modindex", "search")
PAGES = (
    sorted(
        page
        for page in SITE.rglob("*.html")
        if page.stem not in _NOT_READ and "_modules" not in page.parts
    )
    if os.environ.get("GALLETTE_SITE")
    else []
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_a_page_of_the_site(browser: Any, page: Path) -> None:  # noqa: F811
    alone = "live" in page.relative_to(SITE).parts  # such a page is one file
    assert looked_at(browser, page, None if alone else SITE) == []


@pytest.mark.skipif(not PAGES, reason="`make docs` builds the site")
def test_every_lesson_has_a_page() -> None:
    assert set(LESSONS) <= {page.stem for page in PAGES if page.parent.name == "lessons"}
