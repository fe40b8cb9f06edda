"""The course in a real browser: controls, predictions, progress; axe does not complain."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from gallette.lessons.course import write_course
from gallette.lessons.serve import Course, make_server

from .test_browser import Visit, axe, browser  # noqa: F401


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    write_course(folder, "numpipe", names=["dvec_inputs", "reading_nir"])
    return folder


def reload_with_storage(page: Any) -> None:
    """Reload `page` with what it has stored.

    Chromium may give a reloaded page another process, which receives what the old one stored too
    late or never. So it is stored once more, before the scripts of the page run.
    """
    stored = page.evaluate("localStorage.getItem('gallette course')")
    assert stored
    page.add_init_script(f"localStorage.setItem('gallette course', {json.dumps(stored)})")
    page.reload()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_controls_and_questions(browser: Any, course: Path, width: int, scheme: str) -> None:  # noqa: F811
    visit = Visit(browser, (course / "dvec_inputs.html").as_uri(), width, scheme)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    control = page.locator(".control").last
    assert control.locator(".state:visible").count() == 1
    assert "10000000000.0" in control.inner_text()
    control.locator("button", has_text="without it").click()
    assert control.locator(".state:visible").count() == 1
    assert "2.000000473111868" in control.inner_text()
    page.keyboard.press("ArrowRight")
    assert "used before it is defined" in control.inner_text()
    page.locator(".question summary").first.click()
    assert page.locator(".question[open] p").first.is_visible()
    assert axe(page) == []
    visit.clean()
    page.close()


def test_a_prediction_is_committed_to_and_kept(browser: Any, course: Path) -> None:  # noqa: F811
    visit = Visit(browser, (course / "dvec_inputs.html").as_uri(), 900, "light")
    page = visit.page
    box = page.locator(".predict")
    assert not box.locator(".answer").is_visible() and box.locator("button").is_disabled()
    box.locator("label", has_text="Zero").click()
    box.locator("button").click()
    assert "The run says otherwise." in box.inner_text()
    assert "read as a double" in box.locator("label.right").inner_text()
    assert axe(page) == []
    page.locator("[data-done]").check()
    reload_with_storage(page)
    assert "The run says otherwise." in page.locator(".predict").inner_text()
    assert page.locator("[data-done]").is_checked()
    page.goto((course / "index.html").as_uri())
    assert "1 of " in page.locator("[data-finished-of]").inner_text()
    assert page.locator("li.finished").get_attribute("data-listed") == "dvec_inputs"
    assert visit.complaints == []
    assert [url for url in visit.elsewhere if not url.startswith(course.as_uri())] == []
    page.close()


def test_a_slider_shows_the_steps_of_the_run(browser: Any, course: Path) -> None:  # noqa: F811
    visit = Visit(browser, (course / "reading_nir.html").as_uri(), 900, "light")
    page = visit.page
    slider = page.locator(".control input[type=range]")
    first = page.locator(".control .state:visible").inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".control output").inner_text() == "2"
    assert page.locator(".control .state:visible").inner_text() != first
    visit.clean()
    page.close()


def test_a_live_page_computes_requested_controls(browser: Any) -> None:  # noqa: F811
    server = make_server(Course("numpipe"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/pointers.html"
        visit = Visit(browser, address, 900, "light")
        page = visit.page
        page.wait_for_selector(".control", timeout=60_000)
        control = page.locator(".control").first
        control.locator("button", has_text="bounded64").click()
        page.wait_for_selector(".control .state:visible table", timeout=60_000)
        assert "bounded64" in control.locator(".state:visible table").inner_text()
        assert visit.complaints == []
        own = address.removesuffix("pointers.html")
        assert [url for url in visit.elsewhere if not url.startswith(own)] == []
        page.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
