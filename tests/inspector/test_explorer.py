"""The live explorer: compiles, draws and tells everything about a pair of shaders."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from gallette.cli import main
from gallette.inspector.examples import EXAMPLES, FRAGMENT, VERTEX, sources_of
from gallette.inspector.explorer import Explorer, Setting
from gallette.inspector.forms import FORMS
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
    sources = {"vertex": VERTEX, "fragment": FRAGMENT}
    answer = explorer.answer("explore", {**sources, **more})
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


def test_passes_are_listed_with_source_lines_and_stable_names(explorer: Explorer) -> None:
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


def test_errors_are_listed_with_their_place(explorer: Explorer) -> None:
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
    assert "error" in explorer.answer(
        "explore", {"vertex": VERTEX, "fragment": FLAT, "driver": "x"}
    )
    assert "error" in explorer.answer("explore", {})
    assert "error" in explorer.answer(
        "explore", {"vertex": VERTEX, "fragment": FLAT, "used_once": "sometimes"}
    )


ENDLESS = """#version 330
uniform float time;
out vec4 color;
void main() { color = vec4(0.0); for (int i = 0; i < 1; i += int(time * 0.0)) color += 0.1; }
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_runaway_shader_is_reported_and_the_next_is_drawn(
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


def test_a_failing_draw_is_reported_and_its_context_continues(explorer: Explorer) -> None:
    gl = explorer._context(Setting(explorer.driver))

    def exhausted(info: Any) -> None:
        raise MemoryError("nothing is left")

    gl.pipe.draw_vbo = exhausted
    answer = asked(explorer, fragment=FLAT)
    del gl.pipe.draw_vbo
    assert "GL_OUT_OF_MEMORY" in answer["log"] and answer["picture"] == ""
    assert asked(explorer, fragment=FLAT)["picture"]
    assert not gl.released


def test_a_failing_request_leaves_no_context(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gl = explorer._context(Setting(explorer.driver))

    def broken(*args: Any) -> None:
        raise RecursionError

    monkeypatch.setattr("gallette.inspector.drawing.draw", broken)
    answer = explorer.answer("explore", {"vertex": VERTEX, "fragment": FLAT})
    assert answer == {"error": "this asks for too much: RecursionError"}
    monkeypatch.undo()
    assert gl.released
    assert asked(explorer, fragment=FLAT)["picture"]


def test_a_file_is_opened_with_its_counterpart(tmp_path: Path) -> None:
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
    assert explorer.answer("frame", {})["examples"] == EXAMPLES


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


# -- forms, graphs, stages, textures, comparison ---------------------------------------------------


def test_each_form_is_what_its_driver_makes_of_the_stage(explorer: Explorer) -> None:
    forms = asked(explorer, forms=list(FORMS))["forms"]
    assert set(forms) == set(FORMS)
    signs = {
        "nir": "fcos",
        "python": "def run(",
        "llvm": "define void @main",
        "assembly": "main:",
        "simd": "math.cos(16)",
        "tiler": "cos r",
        "spirv": "Cos",
        "control": ">block b0<",
        "data": "fcos",
    }
    assert {name for name, sign in signs.items() if sign not in forms[name]["fragment"]} == set()
    for name in ("nir", "python", "assembly", "simd", "tiler", "spirv"):
        marked = [text for text in forms[name]["fragment"].splitlines() if text.endswith("//@6")]
        assert marked, name
    assert 'data-line="6"' in forms["data"]["fragment"]


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_form_of_the_driver_that_draws_is_its_variant(explorer: Explorer, driver: str) -> None:
    form = {"numpipe": "python", "jit": "assembly"}[driver]
    plain, clipped = (
        asked(explorer, driver=driver, forms=[form], switches={"clip plane 0": on})
        for on in (False, True)
    )
    assert plain["forms"][form]["vertex"] != clipped["forms"][form]["vertex"]


def flow(explorer: Explorer, form: str, body: str) -> ElementTree.Element:
    text = f"#version 330\nin vec2 uv;\nout vec4 c;\nvoid main() {{ {body} }}\n"
    answer = asked(explorer, fragment=text, forms=[form])
    return ElementTree.fromstring(answer["forms"][form]["fragment"])


BODIES = {
    # blocks, edges down, edges back of the control flow after the passes
    "c = vec4(uv, 0.0, 1.0);": (1, 0, 0),
    "c = vec4(0.0); for (int i = 0; float(i) < uv.x * 9.0; i++) c += sin(c + 0.1);": (6, 5, 1),
}


@pytest.mark.parametrize("body", BODIES)
def test_the_graph_of_control_flow_has_the_blocks_and_their_edges(
    explorer: Explorer, body: str
) -> None:
    svg = flow(explorer, "control", body)
    kinds = [e.get("class") for e in svg]
    found = kinds.count("node block"), kinds.count("edge"), kinds.count("back")
    assert found == BODIES[body]
    assert kinds.count("frame") == BODIES[body][2]


def test_a_value_stands_below_its_sources(explorer: Explorer) -> None:
    svg = flow(explorer, "data", "c = vec4(sin(uv.x * 3.0) + uv.y, 0.0, 0.0, 1.0);")
    height = {e.text.split()[1]: float(e.get("y", 0)) for e in svg.iter("text") if e.text}
    assert height["@load_interpolated_input"] < height["fmul"] < height["fsin"] < height["fadd"]
    assert height["fadd"] < height["vec4"]
    texts = [e.text for e in svg.iter("text")]
    assert any(
        t and "fmul" in t and t.endswith(", 3") for t in texts
    )  # constants are in their uses


def test_every_example_has_graphs_that_fit(explorer: Explorer) -> None:
    for sources in EXAMPLES.values():
        answer = asked(explorer, **sources, forms=["control", "data"])
        for stages in answer["forms"].values():
            for text in stages.values():
                svg = ElementTree.fromstring(text)
                wide, high = float(svg.get("width", 0)), float(svg.get("height", 0))
                for box in svg.iter("rect"):
                    x, y = float(box.get("x", 0)), float(box.get("y", 0))
                    assert x >= 0 and x + float(box.get("width", 0)) <= wide + 1
                    assert y >= 0 and y + float(box.get("height", 0)) <= high + 1


def test_two_states_are_compared(explorer: Explorer) -> None:
    sources = {"vertex": VERTEX, "fragment": FRAGMENT}
    answer = asked(explorer, fuse=True, forms=["nir", "simd", "data"], against=sources)
    against = answer["against"]
    assert against["picture"] and against["differing"] is not None
    rows = against["forms"]["nir"]["fragment"]
    assert any(kind == "add" and "ffma" in text for kind, text in rows)
    assert any(kind == "del" and "fmul" in text for kind, text in rows)
    assert any(kind == "add" and "mad(16)" in t for kind, t in against["forms"]["simd"]["fragment"])
    assert "data" not in against["forms"]
    same = asked(explorer, forms=["nir"], against=sources)["against"]
    assert same["differing"] == 0 and same["forms"]["nir"]["fragment"] == []
    red = FRAGMENT.replace("vec4(wave, 1.0)", "vec4(1.0, 0.0, 0.0, 1.0)")
    other = asked(explorer, against={**sources, "fragment": red})["against"]
    assert other["differing"] > 60_000
    broken = asked(explorer, against={**sources, "fragment": "nonsense"})["against"]
    assert broken["differing"] is None and "error" in broken["log"]


def test_a_picture_is_chosen_for_each_sampler(explorer: Explorer) -> None:
    text = """#version 330
in vec2 uv;
uniform sampler2D a, b;
out vec4 c;
void main() { c = uv.x < 0.5 ? texture(a, uv) : texture(b, uv); }
"""
    answer = asked(explorer, fragment=text)
    assert answer["samplers"] == ["a", "b"]
    pictures = {
        name: asked(explorer, fragment=text, textures={"a": name})["picture"]
        for name in explorer.answer("frame", {})["textures"]
    }
    assert len(set(pictures.values())) == len(pictures) == 4
    assert pictures["checks"] == answer["picture"]


@pytest.mark.parametrize("kind", ["sampler1D", "sampler2D", "sampler3D", "samplerCube"])
def test_samplers_of_each_shape_are_bound(explorer: Explorer, kind: str) -> None:
    place = {"sampler1D": "0.55", "sampler2D": "vec2(0.55)"}.get(kind, "vec3(0.55)")
    text = (
        f"#version 330\nuniform {kind} s;\nout vec4 c;\nvoid main() {{ c = texture(s, {place}); }}"
    )
    answer = asked(explorer, fragment=text, textures={"s": "ramps"})
    red, _, blue, alpha = explorer.frame.pictures[answer["picture"]][0, 0].tolist()
    assert (blue, alpha) == (128, 255)
    assert red > 100


def test_pictures_are_not_kept_for_ever(explorer: Explorer) -> None:
    for step in range(80):
        answer = asked(explorer, time=step / 10)
    assert len(explorer.frame.pictures) <= 64
    assert explorer.picture(answer["picture"])


def test_errors_of_every_stage_have_their_place(explorer: Explorer) -> None:
    sources = dict(EXAMPLES["a patch that is divided"])
    sources["tess_ctrl"] = (
        sources["tess_ctrl"].replace("6.0, ", "x, ").replace("= 6.0", "= wrong", 1)
    )
    errors = asked(explorer, **sources)["errors"]
    assert [e[:2] for e in errors] == [["tess_ctrl", 5]]
