"""The explorer in a real browser: the editor, errors at their lines, examples, shared links."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.inspector.examples import EXAMPLES
from gallette.inspector.explorer import Explorer
from gallette.inspector.server import make_server

from .test_browser import Visit, axe, browser  # noqa: F401


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    explorer = Explorer()
    yield explorer
    explorer.questions.clear()  # what a page asks now is not computed
    if explorer._lock.locked():
        explorer._lock.release()
    explorer.close()


@pytest.fixture(scope="module")
def address(explorer: Explorer) -> Iterator[str]:
    server = make_server(explorer, 0, "explore")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def undisturbed(explorer: Explorer, no_leaks: None) -> Iterator[None]:
    """No question is answered between a test and the next one, while its contexts are looked for: a
    page may have asked one before it was closed.
    """
    if explorer._lock.locked():
        explorer._lock.release()
    yield
    explorer._lock.acquire()


def opened(browser: Any, url: str, width: int = 1280, scheme: str = "light") -> Visit:  # noqa: F811
    visit = Visit(browser, url, width, scheme)
    visit.page.wait_for_selector(".cm-line")
    visit.page.wait_for_selector(".shown canvas", timeout=60_000)
    return visit


def settled(page: Any) -> None:
    """Wait until the page has the answer to its last question, and no other is being computed."""
    page.wait_for_function("/^\\d+ ms$/.test(document.querySelector('header > .faint').innerText)")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_an_error_is_marked_and_what_is_old_is_dimmed(
    browser: Any,  # noqa: F811
    address: str,
    width: int,
    scheme: str,
) -> None:
    visit = opened(browser, address, width, scheme)
    page = visit.page
    assert axe(page) == []
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.type("nonsense")
    page.wait_for_selector("pre.error", timeout=60_000)
    page.wait_for_selector(".cm-lint-marker-error", timeout=60_000)
    assert page.locator(".cm-lint-marker-error").count() == 1
    page.wait_for_function("document.querySelectorAll('.stale').length === 2", timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(page) == []
    for _ in "nonsense":
        page.keyboard.press("Backspace")
    page.wait_for_function("!document.querySelector('.stale')", timeout=60_000)
    page.wait_for_function("!document.querySelector('.cm-lint-marker-error')", timeout=60_000)
    settled(page)
    visit.clean()
    page.close()


def test_a_link_shows_the_same_in_another_browser(browser: Any, address: str) -> None:  # noqa: F811
    visit = opened(browser, address)
    page = visit.page
    page.select_option("header select >> nth=0", "a loop that pixels leave")
    page.wait_for_function("document.querySelector('.cm-content')?.textContent.includes('steps')")
    page.locator("label", has_text="fused multiply-add").click()
    page.click("button:has-text('link')")
    page.wait_for_function("location.hash.length > 100")
    other = opened(browser, page.url)
    assert "steps < 40" in other.page.locator(".cm-content").inner_text()
    assert other.page.locator("label", has_text="fused multiply-add").locator("input").is_checked()
    for seen in (visit, other):
        assert seen.complaints == []
        seen.page.close()


def test_a_line_under_the_pointer_is_marked_in_all_panes(browser: Any, address: str) -> None:  # noqa: F811
    visit = opened(browser, address)
    page = visit.page
    page.locator(".cm-line", has_text="vec3 wave").hover()
    page.wait_for_selector(".code li.lit")
    assert page.locator(".cm-line.lit").inner_text().strip().startswith("vec3 wave")
    assert page.locator(".code").nth(0).locator("li.lit").count() > 0
    assert page.locator(".code").nth(1).locator("li.lit").count() > 0
    settled(page)
    visit.clean()
    page.close()


def test_the_clock_runs_and_stops(browser: Any, address: str) -> None:  # noqa: F811
    visit = opened(browser, address)
    page = visit.page
    before = page.locator(".shown figcaption").inner_text()
    page.click("button:has-text('play')")
    page.wait_for_function(f"document.querySelector('.shown figcaption').innerText !== {before!r}")
    page.click("button:has-text('pause')")
    assert page.locator("button[aria-pressed=true]:has-text('pause')").count() == 0
    settled(page)
    visit.clean()
    page.close()


def test_panes_stages_and_what_is_pinned_are_in_the_link(browser: Any, address: str) -> None:  # noqa: F811
    visit = opened(browser, address)
    page = visit.page
    page.select_option("[aria-label='add a stage']", "geometry")
    page.wait_for_function(
        "document.querySelector('.cm-content')?.textContent.includes('EmitVertex')"
    )
    page.locator("[aria-label='what the pane shows']").nth(0).select_option("control")
    page.click("button:has-text('pin and compare')")
    page.locator("[aria-label='what the pane shows']").nth(2).select_option("simd")
    shrunk = EXAMPLES["triangles that a geometry shader shrinks"]["geometry"]
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(shrunk.replace("0.2 +", "0.5 -"))
    page.wait_for_selector(".panes .code li.add")
    page.wait_for_selector("figcaption:has-text('pixels differ')")
    assert axe(page) == []
    page.click("button:has-text('link')")
    page.wait_for_function("location.hash.length > 100")
    other = opened(browser, page.url).page
    other.wait_for_selector(".panes .code li.add")

    def shown(seen: Any) -> list[Any]:
        return [
            seen.locator(".cm-content").inner_text(),
            seen.locator("[aria-label='stage'] button").all_inner_texts(),
            seen.locator("[aria-label='stage'] button[aria-pressed=true]").inner_text(),
            seen.eval_on_selector_all(
                "[aria-label='what the pane shows']", "all => all.map(e => e.value)"
            ),
            seen.locator(".panes .code").all_inner_texts(),
            seen.locator(".panes svg").all_inner_texts(),
            seen.locator("figcaption").all_inner_texts(),
            seen.eval_on_selector_all(".shown canvas", "all => all.map(e => e.dataset.name)"),
        ]

    assert shown(page) == shown(other)
    visit.clean()
    other.close()
    page.close()


def test_panes_can_be_opened_and_closed(browser: Any, address: str) -> None:  # noqa: F811
    visit = opened(browser, address, 1920)
    page = visit.page
    before = page.locator(".panes .pane").count()
    for form in ("simd", "tiler", "assembly", "llvm", "spirv", "nir"):
        page.click("button:has-text('add a pane')")
        page.locator("[aria-label='what the pane shows']").last.select_option(form)
    page.wait_for_function("document.querySelectorAll('.panes .code li').length > 200")
    page.wait_for_function("!document.querySelector('.panes').textContent.includes('computing')")
    assert page.locator(".panes .pane").count() == before + 6
    # A line under the pointer is marked in every form of the shader, the graph too.
    page.locator(".cm-line", has_text="vec3 wave").hover()
    page.wait_for_selector(".panes svg text.lit")
    marked = page.locator(".panes .pane", has=page.locator(".lit")).count()
    assert marked == before + 6
    assert page.evaluate("document.documentElement.scrollWidth") <= 1920
    assert axe(page) == []
    page.click("[aria-label='close SPIR-V']")
    assert page.locator(".panes .pane").count() == before + 5
    settled(page)
    visit.clean()
    page.close()
