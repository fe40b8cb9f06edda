"""What the explorer draws with shaders it knows nothing of, and what a frame tells of rarer things.

Every attribute and uniform gets a value by its name and type; the pictures are worked out by hand.
"""

from __future__ import annotations

import base64
import io
import json
import threading
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gallette.capture import recording
from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.inspector import observe, server
from gallette.inspector.examples import VERTEX
from gallette.inspector.explorer import Explorer, Setting
from gallette.inspector.export import _png
from gallette.inspector.frames import Frame
from gallette.inspector.programs import way_of
from gallette.inspector.service import Questions, Service, packed
from gallette.inspector.state import uniforms_of
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import program, quad


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    made = Explorer()
    yield made
    made.close()


def drawn(explorer: Explorer, **asked: Any) -> Any:
    answer = explorer.answer("explore", {"vertex": VERTEX, **asked})
    assert "error" not in answer, answer
    assert answer["picture"], answer["log"]
    return explorer.frame.pictures[answer["picture"]]


def shown(declared: str, expression: str) -> str:
    return f"#version 330\n{declared}\nout vec4 color;\nvoid main() {{ color = {expression}; }}\n"


UNIFORMS = [
    ("uniform vec4 tint;", "tint", [128, 128, 128, 128]),
    ("uniform vec2 a;", "vec4(a, 0.0, 1.0)", [128, 128, 0, 255]),
    ("uniform float a;", "vec4(a, 0.0, 0.0, 1.0)", [128, 0, 0, 255]),
    ("uniform vec3 iResolution;", "vec4(iResolution / 512.0, 1.0)", [128, 128, 128, 255]),
    ("uniform ivec3 a;", "vec4(vec3(a) * 0.2, 1.0)", [51, 51, 51, 255]),
    ("uniform int a;", "vec4(float(a) * 0.2)", [51] * 4),
    ("uniform uvec2 a;", "vec4(vec2(a) * 0.2, 0.0, 1.0)", [51, 51, 0, 255]),
    ("uniform bool a;", "a ? vec4(1.0) : vec4(0.0)", [255] * 4),
    ("uniform bvec4 a;", "vec4(a) * 0.2", [51] * 4),
    ("uniform mat2 m;", "vec4(m[0], m[1]) * 0.2", [51, 0, 0, 51]),
    ("uniform mat3 m;", "vec4(m[0][0], m[1][1], m[2][2], m[1][2]) * 0.2", [51, 51, 51, 0]),
    ("uniform mat4 m;", "vec4(m[0][0], m[1][1], m[2][2], m[3][3]) * 0.2", [51] * 4),
    ("uniform mat2x3 m;", "vec4(m[0], m[1].x + 0.2)", [0, 0, 0, 51]),
    ("uniform sampler2D s;", "texture(s, vec2(0.55))", [230, 230, 230, 255]),
]


@pytest.mark.parametrize(("declared", "expression", "wanted"), UNIFORMS)
def test_uniforms_have_values(
    explorer: Explorer, declared: str, expression: str, wanted: list[int]
) -> None:
    picture = drawn(explorer, fragment=shown(declared, expression))
    assert picture.reshape(-1, 4).tolist() == [wanted] * (256 * 256)


@pytest.mark.parametrize("name", ["time", "t", "now", "iTime"])
def test_clocks_show_the_time(explorer: Explorer, name: str) -> None:
    text = shown(f"uniform float {name};", f"vec4({name} * 0.1)")
    for time, wanted in ((0.0, 0), (2.0, 51), (4.0, 102)):
        assert (drawn(explorer, fragment=text, time=time) == wanted).all()
    assert (drawn(explorer, fragment=text) == 0).all()


ATTRIBUTES = {
    # name: what the corners lower left, lower right, upper left, upper right have
    "position": [[-1, -1, 0, 1], [1, -1, 0, 1], [-1, 1, 0, 1], [1, 1, 0, 1]],
    "uv": [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]],
    "aTexCoord": [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]],
    "normal": [[0, 0, 1, 0]] * 4,
    "aColor": [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1]],
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_are_guessed_by_their_names(explorer: Explorer, name: str) -> None:
    other = "" if name == "position" else "in vec4 position;"
    vertex = f"""#version 330
in vec4 {name};
{other}
out vec4 seen;
void main() {{ gl_Position = position; seen = {name} * 0.5 + 0.5; }}
"""
    fragment = shown("in vec4 seen;", "seen")
    picture = drawn(explorer, vertex=vertex, fragment=fragment)
    corners = picture[[0, 0, -1, -1], [0, -1, 0, -1]].astype(float)
    wanted = (np.array(ATTRIBUTES[name]) * 0.5 + 0.5) * 255
    assert np.abs(corners - wanted).max() <= 1.5  # half a pixel from the corner


def test_a_shader_without_attributes_draws_nothing(explorer: Explorer) -> None:
    vertex = "#version 330\nvoid main() { gl_Position = vec4(0.0); }\n"
    assert not drawn(explorer, vertex=vertex, fragment=shown("", "vec4(1.0)")).any()


def test_what_is_switched_on_is_off_again(explorer: Explorer) -> None:
    text = shown("uniform float a;", "vec4(a * 0.9)")  # an alpha of 0.45 is not greater than 0.5
    assert drawn(explorer, fragment=text).any()
    assert not drawn(explorer, fragment=text, switches={"alpha test": True}).any()
    assert drawn(explorer, fragment=text, switches={"alpha test": False}).any()
    assert drawn(explorer, fragment=text, switches={"nothing": True}).any()
    assert drawn(explorer, fragment=text).any()


def test_settings_make_contexts_of_their_own(explorer: Explorer) -> None:
    text = shown("uniform float a;", "vec4(a)")
    for asked in ({}, {}, {"used_once": "always"}, {"fuse": True}, {"driver": "numpipe"}):
        drawn(explorer, fragment=text, **asked)
    wanted = {Setting("numpipe"), Setting("numpipe", "always"), Setting("numpipe", fuse=True)}
    assert wanted <= set(explorer._contexts)
    start = explorer.answer("frame", {})
    assert start["drivers"][0] == "numpipe"
    assert start["used_once"] == ["not_position", "always", "never"]
    assert start["switches"] == ["clip plane 0", "alpha test", "two sides"]
    assert set(start["sources"]) == {"vertex", "fragment"}


def test_closing_gives_the_contexts_back() -> None:
    made = Explorer()
    drawn(made, fragment=shown("", "vec4(1.0)"))
    (gl,) = made._contexts.values()
    made.close()
    assert gl.released
    assert made._contexts == {}
    drawn(made, fragment=shown("", "vec4(1.0)"))  # and it goes on with others
    (other,) = made._contexts.values()
    other.make_current()
    other.release()
    drawn(made, fragment=shown("", "vec4(1.0)"))
    made.close()


def test_programs_are_compiled_for_a_page() -> None:
    broken, log = way_of({"vertex": VERTEX, "fragment": "void main() { x; }"}, "numpipe")
    assert broken == []
    assert "error" in log
    fragment = shown("in vec3 uv;", "vec4(uv, 1.0)")
    unlinked, log = way_of({"vertex": VERTEX, "fragment": fragment}, "numpipe")
    assert unlinked == []
    assert "error" in log
    ways, log = way_of({"fragment": shown("", "vec4(1.0)")}, "numpipe")
    assert [w.stage for w in ways] == ["fragment"]
    assert log == ""
    compute = "#version 430\nlayout(local_size_x = 1) in;\nvoid main() {}\n"
    assert [w.stage for w in way_of({"compute": compute}, "numpipe")[0]] == ["compute"]


# -- pictures and answers --------------------------------------------------------------------------


def png(picture: Any, widest: int = 64) -> tuple[dict[str, Any], Any]:
    told = _png(picture, widest)
    raw = base64.b64decode(told["uri"].removeprefix("data:image/png;base64,"))
    return told, np.asarray(Image.open(io.BytesIO(raw)))


def test_pictures_of_pages_are_pngs() -> None:
    bytes_ = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    told, found = png(bytes_)
    assert found.tolist() == bytes_.tolist()
    assert {k: told[k] for k in ("channels", "low", "high", "floats", "size")} == {
        "channels": 4, "low": 0.0, "high": 255.0, "floats": False, "size": [3, 2],
    }  # fmt: skip
    two = bytes_[..., :2]
    told, found = png(np.ascontiguousarray(two))
    assert told["channels"] == 2
    assert found.tolist() == np.concatenate([two, np.zeros((2, 3, 1))], axis=2).tolist()
    depths = np.array([[[1.0], [3.0], [np.nan]], [[2.0], [1.5], [np.inf]]], np.float32)
    told, found = png(depths)
    assert (told["low"], told["high"], told["floats"], told["channels"]) == (1.0, 3.0, True, 1)
    assert found[:, :2].tolist() == [[0, 255], [127, 63]]
    told, found = png(np.full((2, 2, 1), 7.0, np.float32))
    assert (told["low"], told["high"], found.tolist()) == (7.0, 7.0, [[0, 0], [0, 0]])
    told, _ = png(np.full((2, 2, 1), np.nan, np.float32))
    assert (told["low"], told["high"]) == (0.0, 1.0)
    for width, step in ((64, 1), (65, 2), (128, 2), (129, 3)):
        wide = np.zeros((2, width, 1), np.uint8)
        wide[0, :, 0] = np.arange(width) % 251
        told, found = png(wide)
        assert found.tolist() == wide[::step, ::step, 0].tolist()
        assert told["size"] == [width, 2]


def test_pictures_are_packed() -> None:
    picture = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    assert packed(picture) == np.array([3, 2, 2, 0], "<u4").tobytes() + bytes(range(12))
    floats = np.array([[[1.5]]], np.float64)
    assert packed(floats) == np.array([1, 1, 1, 1], "<u4").tobytes() + np.float32(1.5).tobytes()


def test_answers_are_plain_data() -> None:
    questions = Questions(Frame("f", "numpipe"))
    odd = {1: b"\x01\xff", "n": float("nan"), "i": [float("inf"), (-float("inf"), 2.5)], "t": "x"}

    def broken(q: Any) -> Any:
        raise {"g": GalletteError("no"), "k": KeyError("x"), "v": ValueError("y")}[q["what"]]

    questions.questions = {"odd": lambda q: odd, "broken": broken}
    assert questions.answer("odd", {}) == {
        "1": "01ff", "n": "nan", "i": ["inf", ["-inf", 2.5]], "t": "x",
    }  # fmt: skip
    assert questions.answer("broken", {"what": "g"}) == {"error": "no"}
    assert questions.answer("broken", {"what": "k"})["error"].startswith("invalid request: ")
    assert questions.answer("broken", {"what": "v"}) == {"error": "invalid request: y"}
    assert questions.answer("none", {}) == {"error": "invalid request: 'none'"}
    assert questions.picture("none") is None


# -- the server ------------------------------------------------------------------------------------


def test_pages_are_served_until_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    made: list[Any] = []
    real = server.make_server

    def make(*args: Any) -> Any:
        found = real(*args)
        made.append(found)

        def interrupted() -> None:
            raise KeyboardInterrupt

        found.serve_forever = interrupted  # type: ignore[method-assign]
        return found

    monkeypatch.setattr(server, "make_server", make)
    questions = Questions(Frame("f", "numpipe"))
    assert server.show(questions, 0, "inspect", True) == 0
    address = f"http://127.0.0.1:{made[0].server_port}/"
    assert opened == [address]
    assert capsys.readouterr().out == f"{address}   (Ctrl-C ends)\n\n"
    assert made[0].socket.fileno() == -1
    assert server.show(questions, 0, "inspect", False) == 0
    assert len(opened) == 1
    taken = real(questions)
    with pytest.raises(GalletteError, match=f"gallette inspect: port {taken.server_port}: "):
        server.show(questions, taken.server_port, "inspect", False)
    taken.server_close()


@pytest.mark.parametrize("silent", [False, True])
def test_a_browser_opens_unless_disabled(silent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run (here a scene) is observed first; then its page is shown."""
    given: list[Any] = []
    monkeypatch.setattr(server, "show", lambda *args: given.append(args) or 0)
    asked = ["inspect", "gradient", "--port", "7", *["--no-browser"] * silent]
    assert main(asked) == 0
    ((service, port, name, opens),) = given
    assert (port, name, opens) == (7, "inspect", not silent)
    assert service.frame.draws


def test_pictures_are_served_and_kept() -> None:
    frame = Frame("f", "numpipe")
    name = frame.keep(np.arange(12, dtype=np.uint8).reshape(2, 3, 2))
    served = server.make_server(Questions(frame), 0, "explore")
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    try:
        base = f"http://127.0.0.1:{served.server_port}"
        with urllib.request.urlopen(f"{base}/api/picture/{name}") as answer:
            assert answer.headers["Content-Type"] == "application/octet-stream"
            assert answer.headers["Cache-Control"] == "max-age=3600"
            assert answer.read() == packed(frame.pictures[name])
        with urllib.request.urlopen(base) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert 'data-view="explore"' in answer.read().decode()
        for path, status in (("/api/picture/none", 404), ("/api/none", 404), ("/none.js", 404)):
            with pytest.raises(urllib.error.HTTPError) as told:
                urllib.request.urlopen(base + path)
            assert told.value.code == status
        for kind, data, status in (
            ("text/plain", b"{}", 415), ("application/json", b"{", 400),
            ("application/json", b"[]", 404), ("application/json; charset=utf-8", b"{}", 404),
        ):  # fmt: skip
            asked = urllib.request.Request(f"{base}/api/x", data, {"Content-Type": kind})
            with pytest.raises(urllib.error.HTTPError) as told:
                urllib.request.urlopen(asked)
            assert told.value.code == status
    finally:
        served.shutdown()
        served.server_close()
        thread.join()


# -- rarer things of a frame -----------------------------------------------------------------------

GEOMETRY = """#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position * 0.5;
    gl_Position.w = 1.0; EmitVertex(); } }
"""


def test_frames_of_programs_that_are_linked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        gl: Any = Context("numpipe", profile="compat", version=(3, 3), size=(16, 16))
        first = program(gl)
        quad(gl, first)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        shader = gl.create_shader(GL.GEOMETRY_SHADER)
        gl.shader_source(shader, GEOMETRY)
        gl.compile_shader(shader)
        gl.attach_shader(first, shader)
        gl.link_program(first)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 0)
        gl.use_program(0)
        gl.begin(GL.POINTS)
        gl.vertex2f(0, 0)
        gl.end()
        gl.release()
    frame = observe(path)
    draws = [d for d in frame.draws if d.call.startswith("DrawArrays")]
    assert list(frame.programs) == ["program 1", "program 1, link 2"]
    assert "geometry" in frame.programs["program 1, link 2"]
    assert "geometry" not in frame.programs["program 1"]
    meshes = {d.number: frame.meshes.get(d.number) for d in draws}
    plain, amplified, nothing = (meshes[d.number] for d in draws)
    assert plain is not None
    assert plain.names == ["position.x", "position.y"]
    assert plain.before == [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
    assert amplified is not None
    assert nothing is None
    # Corners of half the square, in the 16 x 16 pixels of the window.
    assert {v for corner in amplified.after for v in corner[:2]} == {4.0, 12.0}
    assert amplified.names == []  # the vertices are others than those that were fetched
    service = Service(frame, path)
    assert service.answer("mesh", {"n": draws[0].number})["names"] == plain.names
    assert service.answer("mesh", {"n": draws[2].number}) == {}
    assert json.dumps(frame.plain())


def test_uniforms_of_blocks_are_read_from_their_buffers() -> None:
    gl: Any = create_context("numpipe", version=(3, 3), size=(8, 8))
    fragment = """#version 330
layout(std140) uniform Block { vec4 first; int second; };
uniform float own;
uniform sampler2D image;
out vec4 color;
void main() { color = first + float(second) + own + texture(image, vec2(0.5)); }
"""
    made = program(gl, fragment=fragment)
    quad(gl, made)
    block = gl.gen_buffers(1)[0]
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, block)
    data = np.array([1, 2, 3, 4], np.float32).tobytes() + np.array([7], np.int32).tobytes()
    gl.buffer_data(GL.UNIFORM_BUFFER, len(data) + 12, data + bytes(12), GL.STATIC_DRAW)
    gl.uniform1i(gl.get_uniform_location(made, "image"), 3)
    gl.uniform1f(gl.get_uniform_location(made, "own"), 0.5)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found = {name: (type, value) for name, type, value in uniforms_of(gl)}
    assert found["own"] == ("float", "0.5")
    assert found["image"] == ("sampler2D", "unit 3")
    assert found["first"] == ("vec4", "1, 2, 3, 4")
    assert found["second"] == ("int", "7")
    gl.use_program(0)
    assert uniforms_of(gl) == []
    gl.release()
