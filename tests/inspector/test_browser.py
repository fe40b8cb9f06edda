"""The pages in a real browser: every view opened, keys pressed, a shader edited, nothing fetched.

`make browser` (`GALLETTE_REQUIRE_BROWSER=1`) opens them, and so does `make docs`; they want
Debian's chromium, playwright and axe-core. `make test` does not: they take as long as 400 others.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gallette.inspector import Frame
from gallette.inspector.export import export_page

RED = "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0, 0.0, 0.0, 1.0); }"
PAINTED = "document.querySelector('.picture canvas').dataset.name"  # which picture it shows
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if os.environ.get("GALLETTE_REQUIRE_BROWSER", "") in ("", "0"):
        pytest.skip("`make browser` opens pages")
    assert CHROMIUM is not None, "chromium is required"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def axe(page: Any) -> list[str]:
    """What axe-core finds wrong with the page as it is."""
    import axe_core_python

    script = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js"))
    page.evaluate(script.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found["violations"]]


class Visit:
    """A page, what it complained about and what it asked for."""

    def __init__(self, browser: Any, url: str, width: int, scheme: str):
        self.page = browser.new_page(
            viewport={"width": width, "height": 860}, color_scheme=scheme, bypass_csp=True
        )
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("request", lambda r: self._asked(r.url, url))
        self.page.goto(url)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, wanted: str, home: str) -> None:
        if not wanted.startswith((home.split("?")[0].rstrip("/"), "data:", "blob:")):
            self.elsewhere.append(wanted)

    def clean(self) -> None:
        assert self.complaints == []
        assert self.elsewhere == []


SIZES = [(1280, "light"), (400, "dark")]
"""Each width and each scheme: what is too wide, or too faint, is so in either of the other."""


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_view_opens_without_complaint(
    browser: Any, address: str, width: int, scheme: str, tmp_path: Path
) -> None:
    visit = Visit(browser, address, width, scheme)
    page = visit.page
    page.wait_for_selector("li[role=option]")
    assert page.locator("li[role=option]").count() == 4
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    for tab in ("Uniforms", "Textures", "Mesh", "Shaders", "Pixel", "Debug", "Edit", "State"):
        page.click(f"#tab{tab}")
        page.wait_for_function("!document.querySelector('#panel').textContent.includes('…')")
        assert page.locator("#panel").inner_text().strip()
        assert axe(page) == [], tab
    page.screenshot(path=str(tmp_path / "page.png"))
    assert (tmp_path / "page.png").stat().st_size > 10_000
    visit.clean()
    page.close()


def test_keys_move_through_draws_tabs_and_passes(browser: Any, address: str) -> None:
    visit = Visit(browser, address, 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    page.focus("[role=listbox]")
    page.keyboard.press("ArrowUp")
    assert page.locator("li[aria-selected=true]").inner_text().startswith("Clear")
    page.keyboard.press("j")
    page.focus("#tabState")
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Uniforms"
    page.click("#tabShaders")
    page.wait_for_selector("[aria-label='after which pass']")
    before = page.input_value("[aria-label='after which pass']")
    page.focus("[aria-label='pass before']")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("[aria-label='after which pass']") == str(int(before) - 1)
    visit.clean()
    page.close()


def test_from_pixel_to_fragment_to_instruction_to_source(browser: Any, address: str) -> None:
    visit = Visit(browser, address, 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    page.wait_for_function(f"{PAINTED} !== ''")
    page.select_option("label:has-text('zoom') select", "1")
    page.click(".picture canvas", position={"x": 130, "y": 100})
    page.wait_for_selector(".event")
    page.locator("text=step through its shader").last.click()
    page.wait_for_selector("text=step 1 of")
    page.click("text=next line")
    assert page.locator(".code li.now").count() == 2
    page.click("#panel button:has-text('end')")
    assert "to_lamp" in page.locator("#panel").inner_text()
    assert axe(page) == []
    visit.clean()
    page.close()


def test_an_edited_shader_shows_at_once(browser: Any, address: str) -> None:
    visit = Visit(browser, address, 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    page.wait_for_function(f"{PAINTED} !== ''")
    before = page.evaluate(PAINTED)
    page.click("#tabEdit")
    page.fill("textarea", RED)
    page.wait_for_selector("strong:has-text('edited')", timeout=15_000)
    page.wait_for_function(f"{PAINTED} !== '{before}'")
    read = """() => { const c = document.querySelector('.picture canvas');
        return Array.from(c.getContext('2d').getImageData(128, 150, 1, 1).data); }"""
    assert page.evaluate(read) == [255, 0, 0, 255]
    page.fill("textarea", "#version 330\nnonsense")
    page.wait_for_selector("[role=status]")
    assert "unknown type 'nonsense'" in page.locator("[role=status]").inner_text()
    visit.clean()
    page.close()


def test_the_exported_page_needs_no_server(browser: Any, frame: Frame, tmp_path: Path) -> None:
    export_page(frame, tmp_path / "page.html")
    visit = Visit(browser, (tmp_path / "page.html").as_uri(), 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    for tab in ("Uniforms", "Textures", "Mesh", "Shaders", "Pixel", "Edit"):
        page.click(f"#tab{tab}")
        page.wait_for_timeout(100)
    assert axe(page) == []
    visit.clean()
    page.close()
