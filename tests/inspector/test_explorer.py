"""The live explorer: compiles, draws and tells everything about a pair of shaders."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gallette.cli import main
from gallette.inspector.explorer import EXAMPLES, FRAGMENT, VERTEX, Explorer, sources_of
from gallette.inspector.server import make_server
from gallette.state_tracker.context import Context

from .test_browser import Visit, axe, browser  # noqa: F401

FLAT = """#version 330
uniform vec4 tint;
out vec4 color;
void main() {
    vec4 twice = tint * 2.0;
    color = twice;
}
"""


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    made = Explorer()
    yield made
    made.close()


def asked(explorer: Explorer, **more: Any) -> dict[str, Any]:
    answer = explorer.ask("explore", {"vertex": VERTEX, "fragment": FRAGMENT, **more})
    assert "error" not in answer, answer
    return dict(answer)


def text_after(way: dict[str, Any], count: int) -> list[str]:
    """What the page shows after some passes: the edits, applied."""
    lines = way["first"].splitlines()
    for record in way["passes"][:count]:
        out, at = [], 0
        for start, end, text in record["edits"]:
            out += lines[at:start] + text
            at = end
        lines = out + lines[at:]
    return lines


def test_the_picture_is_drawn(explorer: Explorer) -> None:
    answer = asked(explorer, fragment=FLAT)
    picture = explorer.frame.pictures[answer["picture"]]
    assert picture.shape == (256, 256, 4)
    assert (picture == 255).all()  # an unknown uniform is a half
    assert asked(explorer, time=0.0)["picture"] != asked(explorer, time=1.0)["picture"]


def test_passes_are_told_with_source_lines_and_steady_names(explorer: Explorer) -> None:
    answer = asked(explorer, fragment=FLAT)
    way = next(w for w in answer["stages"] if w["stage"] == "fragment")
    last = text_after(way, len(way["passes"]))
    assert any(("fmul" in line or "fadd" in line) and line.endswith("//@5") for line in last)
    # Values keep their names: a pass changes its own lines, not the numbers of all others.
    longer = asked(explorer)["stages"][-1]["passes"]
    changed = sum(len(text) for p in longer for _, _, text in p["edits"])
    assert changed < sum(p["count"] for p in longer) * 2 / 3
    variant = way["variants"][0]
    assert "//@5" in variant["nir"]
    assert "def run" in variant["code"]
    assert any(" * k" in text and text.endswith("//@5") for text in variant["code"].splitlines())


def test_errors_are_told_with_their_place(explorer: Explorer) -> None:
    answer = asked(explorer, fragment="#version 330\nvoid main() { nonsense; }\n")
    assert "2:15: error" in answer["log"]
    assert answer["picture"] == ""
    broken = asked(explorer, fragment=FRAGMENT.replace("in vec2 uv", "in vec3 uv"))
    assert "error" in broken["log"]


def test_switches_become_key_fields(explorer: Explorer) -> None:
    answer = asked(explorer, switches={"alpha test": True})
    way = next(w for w in answer["stages"] if w["stage"] == "fragment")
    assert "alpha" in way["variants"][0]["key"]


def test_nonsense_is_refused(explorer: Explorer) -> None:
    assert "error" in explorer.ask("explore", {"vertex": VERTEX, "fragment": FLAT, "driver": "x"})
    assert "error" in explorer.ask("explore", {})
    assert "error" in explorer.ask(
        "explore", {"vertex": VERTEX, "fragment": FLAT, "used_once": "sometimes"}
    )


ENDLESS = """#version 330
uniform float time;
out vec4 color;
void main() { color = vec4(0.0); for (int i = 0; i < 1; i += int(time * 0.0)) color += 0.1; }
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_shader_that_runs_away_is_told_and_the_next_is_drawn(
    driver: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gallette.inspector.explorer.Context", partial(Context, budget=1 << 24))
    explorer = Explorer(driver=driver)
    for _ in range(2):
        lost = asked(explorer, fragment=ENDLESS)
        assert "the shaders were stopped, and the context is made anew" in lost["log"]
        assert "budget" in lost["log"]
        assert lost["picture"] == ""
        drawn = asked(explorer, fragment=FLAT)
        assert drawn["log"] == ""
        assert (explorer.frame.pictures[drawn["picture"]] == 255).all()
    explorer.close()


def test_a_draw_that_fails_is_told_and_its_context_goes_on(explorer: Explorer) -> None:
    gl = explorer._context(explorer.driver, "not_position", False)

    def exhausted(info: Any) -> None:
        raise MemoryError("nothing is left")

    gl.pipe.draw_vbo = exhausted
    answer = asked(explorer, fragment=FLAT)
    del gl.pipe.draw_vbo
    assert "GL_OUT_OF_MEMORY" in answer["log"] and answer["picture"] == ""
    assert asked(explorer, fragment=FLAT)["picture"]
    assert not gl.released


def test_a_question_that_goes_wrong_leaves_no_context_behind(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gl = explorer._context(explorer.driver, "not_position", False)

    def broken(*args: Any) -> None:
        raise RecursionError

    monkeypatch.setattr("gallette.inspector.explorer._draw", broken)
    answer = explorer.ask("explore", {"vertex": VERTEX, "fragment": FLAT})
    assert answer == {"error": "this asks for too much: RecursionError"}
    monkeypatch.undo()
    assert gl.released
    assert asked(explorer, fragment=FLAT)["picture"]


def test_a_file_brings_its_twin(tmp_path: Path) -> None:
    (tmp_path / "a.frag").write_text(FLAT)
    assert sources_of(tmp_path / "a.frag") == {"vertex": VERTEX, "fragment": FLAT}
    (tmp_path / "a.vert").write_text("twin")
    assert sources_of(tmp_path / "a.frag")["vertex"] == "twin"
    assert sources_of(tmp_path / "a.vert") == {"vertex": "twin", "fragment": FLAT}


def test_the_command_refuses_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "/nowhere.frag"]) == 2
    assert "no such file" in capsys.readouterr().err


def write(page: Any, text: str) -> None:
    """Replace the text of the editor."""
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_page_follows_the_typing(
    browser: Any,  # noqa: F811
    explorer: Explorer,
    width: int,
    scheme: str,
) -> None:
    server = make_server(explorer, 0, "explore")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        visit = Visit(browser, f"http://127.0.0.1:{server.server_port}", width, scheme)
        page = visit.page
        page.wait_for_selector(".shown canvas")
        page.wait_for_selector(".cm-line")
        page.wait_for_function("document.querySelector('.shown canvas').dataset.name !== ''")
        before = page.get_attribute(".shown canvas", "data-name")
        write(page, FLAT)
        page.wait_for_function(
            f"document.querySelector('.shown canvas').dataset.name !== '{before}'"
        )
        read = """() => Array.from(document.querySelector('.shown canvas').getContext('2d')
            .getImageData(9, 9, 1, 1).data)"""
        assert page.evaluate(read) == [255, 255, 255, 255]
        assert axe(page) == []
        write(page, "#version 330\nnonsense")
        page.wait_for_selector("pre.error")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        visit.clean()
        page.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_draws(explorer: Explorer, name: str) -> None:
    answer = asked(explorer, **EXAMPLES[name])
    assert answer["picture"], answer["log"]
    picture = explorer.frame.pictures[answer["picture"]]
    assert name == "a light at the pointer" or picture[..., :3].any()
    assert explorer.ask("frame", {})["examples"] == EXAMPLES


def test_the_pointer_is_a_uniform(explorer: Explorer) -> None:
    text = (
        "#version 330\nuniform vec2 mouse;\nout vec4 c;\nvoid main() { c = vec4(mouse, 0.0, 1.0); }"
    )
    answer = asked(explorer, fragment=text, mouse=[0.2, 0.6])
    assert explorer.frame.pictures[answer["picture"]][0, 0].tolist() == [51, 153, 0, 255]
    assert asked(explorer, fragment=text)["picture"]


def test_errors_have_their_stage_and_place(explorer: Explorer) -> None:
    text = "#version 330\nout vec4 c;\nvoid main() {\n    c = missing;\n    int i = 1.5;\n}\n"
    answer = asked(explorer, fragment=text)
    assert answer["errors"] == [
        ["fragment", 4, 9, "'missing' is not declared"],
        ["fragment", 5, 13, "initializer of 'i': cannot convert 'float' to 'int'"],
    ]
