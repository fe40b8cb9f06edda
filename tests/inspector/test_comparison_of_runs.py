"""Two runs compared draw by draw, draws that are executed together, and histories of one target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.capture import recording
from gallette.cli import main
from gallette.inspector import Frame, observe
from gallette.inspector.compared import compare
from gallette.inspector.service import Service
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import program, quad

from .test_browser import Visit, axe, browser  # noqa: F401

SPRITES = 48


def sprites(path: Path, shade: float = 0.5, blend: bool = False, extra: bool = False) -> Path:
    """A run of many small draws that differ in a uniform and a place."""
    with recording(path):
        gl: Any = Context("numpipe", profile="compat", version=(3, 3), size=(192, 16))
        name = program(gl)
        quad(gl, name)
        color = gl.get_uniform_location(name, "color")
        gl.clear(GL.COLOR_BUFFER_BIT)
        if extra:
            gl.clear(GL.DEPTH_BUFFER_BIT)
        if blend:
            gl.enable(GL.BLEND)
        for k in range(SPRITES):
            gl.uniform4f(color, shade, k / SPRITES, 0.0, 1.0)
            gl.scissor(4 * k, 0, 4, 16)
            gl.enable(GL.SCISSOR_TEST)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.release()
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sprites(tmp_path_factory.mktemp("compared") / "a.gcap")


@pytest.fixture(scope="module")
def plain(run: Path) -> Frame:
    return observe(run, title="plain")


def test_merged_draws_are_listed(plain: Frame) -> None:
    numbers = [d.number for d in plain.draws if d.call == "DrawArrays"]
    assert len(numbers) == SPRITES
    assert sorted(n for group in plain.executed for n in group) == numbers
    assert len(plain.executed) < SPRITES / 2
    assert plain.plain()["executed"] == plain.executed


def test_the_first_draw_names_what_is_not_as_opengl_begins(tmp_path: Path, plain: Frame) -> None:
    first = next(d for d in plain.draws if d.state)
    assert "rasterizer: scissor" in first.changed
    assert "blend 0: blend enable" not in first.changed
    assert len(first.changed) < len(first.state) / 3
    blended = observe(sprites(tmp_path / "b.gcap", blend=True))
    assert "blend 0: blend enable" in next(d for d in blended.draws if d.state).changed


def test_equal_runs_differ_in_nothing(run: Path) -> None:
    frame, other = observe(run), observe(run, title="again")
    compare(frame, other)
    assert frame.against == "again"
    for draw in frame.draws:
        assert draw.compared is not None
        assert draw.compared.number == draw.number
        assert set(draw.compared.pixels.values()) == {0}
        assert draw.compared.unlike == []


def test_differences_are_listed_draw_by_draw(run: Path, tmp_path: Path) -> None:
    frame = observe(run)
    compare(frame, observe(sprites(tmp_path / "b.gcap", shade=1.0, extra=True), title="brighter"))
    drawn = [d for d in frame.draws if d.call == "DrawArrays"]
    pixels = [d.compared.pixels["colour 0"] for d in drawn if d.compared]
    assert pixels == [64 * (k + 1) for k in range(SPRITES)]  # each draw leaves 4 x 16 more
    assert drawn[2].compared is not None
    assert ("color", "0.5, 0.0416667, 0, 1", "1, 0.0416667, 0, 1") in drawn[2].compared.unlike
    mask = frame.pictures[drawn[0].overlays["differs colour 0"]]
    assert mask.sum() == 64 and mask[:, :4].all()
    assert drawn[0].compared is not None and drawn[0].compared.number != drawn[0].number


def test_a_draw_without_a_counterpart_has_none(tmp_path: Path, run: Path) -> None:
    frame = observe(sprites(tmp_path / "b.gcap", extra=True))
    compare(frame, observe(run, title="without"))
    missing = [d.call for d in frame.draws if d.compared is None]
    assert missing == ["Clear"]


def test_the_command_compares_with_a_run_or_a_driver(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    for against in ("faulty:no_blending", str(sprites(tmp_path / "b.gcap", shade=1.0))):
        assert main(["inspect", str(run), "--against", against, "--html", str(page)]) == 0
        assert f'"against":"{against}"' in page.read_text()
    assert main(["inspect", str(run), "--against", "nowhere.gcap", "--html", str(page)]) == 2
    assert "nowhere.gcap" in capsys.readouterr().err


def test_a_history_is_that_of_the_attachment(frame: Frame, service: Service) -> None:
    """The scene draws a shadow map first, and then the picture: other textures, the same pixel."""
    into_map, last = (d for d in frame.draws if d.call.startswith("Draw"))
    asked = {"x": 100, "y": 90}
    told = {
        name: service.answer("pixel", {**asked, "n": draw.number, "attachment": name})
        for draw, name in ((into_map, "depth"), (last, "colour 0"))
    }
    assert told["depth"]["target"] != told["colour 0"]["target"]
    assert told["depth"]["target"].startswith("texture 1")
    for answer in told.values():
        assert answer["events"]
        assert all(answer["target"] in e["attachments"].values() for e in answer["events"])
    later = service.answer("pixel", {**asked, "n": last.number, "attachment": "depth"})
    assert later["target"].startswith("renderbuffer 1")


def test_the_page_shows_marks_legends_and_the_other_run(
    browser: Any,  # noqa: F811
    run: Path,
    tmp_path: Path,
) -> None:
    page_file = tmp_path / "page.html"
    other = str(sprites(tmp_path / "b.gcap", shade=1.0))
    assert main(["inspect", str(run), "--against", other, "--html", str(page_file)]) == 0
    visit = Visit(browser, page_file.as_uri(), 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    assert page.locator("li .merged").count() > 0
    assert page.locator("li .bad").count() == SPRITES
    page.click("#tabOther")
    assert "0.5, 0.979167, 0, 1" in page.locator("#panel").inner_text()
    page.select_option("label:has-text('overlay') select", "differs colour 0")
    assert "not as in the other run" in page.locator(".legend").inner_text()
    assert axe(page) == []
    page.fill("[aria-label='search the draws']", "clear")
    assert page.locator("li[role=option]").count() == 1
    page.click("li[role=option]")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    page.fill("[aria-label='search the draws']", "")
    page.focus("[role=listbox]")
    page.keyboard.press("j")
    assert page.locator("li[aria-selected=true]").inner_text().startswith("DrawArrays")
    visit.clean()
    page.close()


def test_a_click_marks_the_pixel_and_the_keys_move_the_mark(
    browser: Any,  # noqa: F811
    address: str,
) -> None:
    visit = Visit(browser, address, 1280, "light")
    page = visit.page
    page.wait_for_selector("li[role=option]")
    page.wait_for_function("document.querySelector('.picture canvas').dataset.name !== ''")
    box = page.locator(".picture").bounding_box()
    pane = page.locator(".stage").bounding_box()
    assert box["width"] > pane["width"] - 40 or box["height"] > pane["height"] - 240
    page.click(".picture canvas", position={"x": 130, "y": 100})
    page.wait_for_selector(".picture .mark")
    page.wait_for_selector("#panel h2:has-text('of texture 2')")
    before = page.locator("#panel h2").inner_text()
    page.keyboard.press("ArrowRight")
    heading = "(document.querySelector('#panel h2') || {innerText: before}).innerText"
    page.wait_for_function(f"before => {heading} !== before", arg=before)
    page.click("#tabUniforms")
    assert page.locator("table.matrix tr").count() >= 8  # two matrices of four rows
    visit.clean()
    page.close()
