"""The frame debugger without a browser: what is observed, answered, served and exported."""

from __future__ import annotations

import json
import re
import struct
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.capture.story import open_capture
from gallette.capture.targets import record_target
from gallette.cli import main
from gallette.inspector import Frame, observe
from gallette.inspector.export import LIMIT, export_page
from gallette.inspector.server import make_server
from gallette.inspector.service import Service, packed
from gallette.inspector.state import uniforms_of
from gallette.state_tracker import create_context
from tests.state_tracker.helpers import program

RED = "#version 330\nout vec4 color;\nvoid main() { color = vec4(1.0, 0.0, 0.0, 1.0); }\n"


def last(frame: Frame) -> Any:
    return frame.draws[-1]


def test_every_draw_is_there_with_its_numbers(frame: Frame, capture: Path) -> None:
    assert [d.number for d in frame.draws] == [c.number for c in open_capture(capture).draws()]
    draw = last(frame)
    counts = frame.pictures[draw.overlays["overdraw"]]
    assert draw.fragments == counts.sum()
    assert draw.overdraw > 1
    assert draw.primitives == 1730
    assert draw.microseconds > 0


def test_state_says_what_changed(frame: Frame) -> None:
    draw = last(frame)
    assert draw.state["depth, stencil, alpha: depth enabled"] == "true"
    assert "target colour 0" in draw.changed
    assert "depth, stencil, alpha: depth enabled" not in draw.changed


def test_bound_state_is_described_in_words(frame: Frame) -> None:
    into_texture, last_one = (d for d in frame.draws if d.state)
    told = {k: v for k, v in last_one.state.items() if ":" not in k}
    assert told == {
        "viewport": "scale 128; 96; 0.5, translate 128; 96; 0.5",
        "scissor": "maxx 256, maxy 192",
        "blend colour": "0; 0; 0; 0",
        "stencil reference": "0; 0",
        "attribute 0": "src offset 0, buffer index 0, src format R32G32B32_FLOAT",
        "attribute 1": "src offset 0, buffer index 1, src format R32G32B32_FLOAT",
        "vertex buffer 0": "buffer 2, offset 0, stride 32",
        "vertex buffer 1": "buffer 2, offset 12, stride 32",
        "fragment sampler 0": "wrap s CLAMP_TO_EDGE, wrap t CLAMP_TO_EDGE, mag img filter NEAREST, "
        "min mip filter NONE, compare enabled true, seamless cube map true",
        "target colour 0": "texture 2 (R8G8B8A8_UNORM 256x192)",
        "target depth": "renderbuffer 1 (Z24X8_UNORM 256x192)",
    }
    groups = {k.split(":")[0] for k in last_one.state if ":" in k}
    assert groups == {"rasterizer", "depth, stencil, alpha", "blend", "blend 0"}
    assert last_one.state["blend 0: rgb dst factor"] == "ZERO"
    assert "blend: rt" not in last_one.state
    assert into_texture.state["target depth"] == "texture 1 (Z24X8_UNORM 256x256)"
    assert "target colour 0" not in into_texture.state


def test_uniforms_have_names_and_values(frame: Frame) -> None:
    uniforms = {name: (type, value) for name, type, value in last(frame).uniforms}
    assert uniforms["shadows"] == ("sampler2DShadow", "unit 0")
    x, y, z = map(float, uniforms["to_lamp"][1].split(", "))
    assert x * x + y * y + z * z == pytest.approx(1, abs=1e-4)
    assert len(uniforms["matrix"][1].split(" | ")) == 4


def test_uniforms_of_every_kind() -> None:
    """Those of a block without a buffer have no values; what comes behind them has."""
    gl = create_context("numpipe", profile="core", version=(4, 3))
    name = program(
        gl,
        "#version 430\nvoid main() { gl_Position = vec4(0); }",
        "#version 430\nuniform Block { vec4 inside; }; uniform bool yes, no; uniform float many[3];"
        "uniform mat2 turned; uniform ivec2 whole; out vec4 c; void main() { c = inside + vec4("
        "many[0] + many[1] + many[2] + turned[0].x + whole.x + whole.y) * float(yes || no); }",
    )
    place = {n: gl.get_uniform_location(name, n) for n in ("yes", "many", "turned", "whole")}
    gl.uniform1i(place["yes"], 1)
    gl.uniform1fv(place["many"], 3, np.array([0.5, 0.25, 2.0], np.float32))
    gl.uniform_matrix2fv(place["turned"], 1, 0, np.arange(4, dtype=np.float32))
    gl.uniform2i(place["whole"], -3, 4)
    assert sorted(uniforms_of(gl)) == [
        ("many[0]", "float", "0.5; 0.25; 2"),
        ("no", "bool", "false"),
        ("turned", "mat2", "0, 1 | 2, 3"),
        ("whole", "ivec2", "-3, 4"),
        ("yes", "bool", "true"),
    ]
    gl.release()


def test_uniforms_are_listed_after_the_state() -> None:
    gl = create_context("numpipe", profile="compat", version=(2, 1))
    name = program(
        gl,
        "uniform vec4 first; uniform vec4 last;"
        "void main() { gl_Position = first + gl_ModelViewMatrix * gl_Vertex + last; }",
        "uniform vec4 shade; void main() { gl_FragColor = shade * gl_Fog.color; }",
    )
    gl.uniform4f(gl.get_uniform_location(name, "last"), 1, 2, 3, 4)
    found = {name: value for name, _, value in uniforms_of(gl)}
    assert found == {"first": "0, 0, 0, 0", "last": "1, 2, 3, 4", "shade": "0, 0, 0, 0"}
    gl.release()


def test_textures_are_pictures(frame: Frame) -> None:
    (texture,) = last(frame).textures
    assert texture.format == "Z24X8_UNORM"
    assert frame.pictures[texture.picture].shape == (256, 256, 1)


def test_changes_mark_what_a_draw_covered(frame: Frame) -> None:
    draw = last(frame)
    marks = frame.pictures[draw.overlays["changes depth"]][..., 0]
    covered = frame.pictures[draw.overlays["overdraw"]][..., 0] > 0
    assert ((marks > 0) == covered).all()


def test_the_mesh_is_what_was_drawn(frame: Frame) -> None:
    mesh = frame.meshes[last(frame).number]
    assert mesh.total == len(mesh.corners) == 1730
    assert mesh.names[:3] == ["position.x", "position.y", "position.z"]
    assert len(mesh.before) == len(mesh.after)


def test_pictures_travel_as_numbers(frame: Frame, service: Service) -> None:
    draw = last(frame)
    data = service.picture(draw.attachments["colour 0"])
    assert data is not None
    width, height, channels, floats = struct.unpack("<4I", data[:16])
    assert (width, height, channels, floats) == (256, 192, 4, 0)
    assert service.picture("nonsense") is None
    assert struct.unpack("<4I", packed(np.zeros((2, 3, 1), np.float32))[:16]) == (3, 2, 1, 1)


def test_an_edited_shader_changes_the_picture(frame: Frame, service: Service) -> None:
    draw = last(frame)
    question = {"n": draw.number, "key": draw.program, "stage": "fragment", "text": RED}
    answer = service.answer("edit", question)
    assert answer.get("log") == []
    picture = frame.pictures[answer["attachments"]["colour 0"]]
    covered = frame.pictures[draw.overlays["overdraw"]][..., 0] > 0
    assert (picture[covered] == [255, 0, 0, 255]).all()
    assert (picture[~covered] == frame.pictures[draw.attachments["colour 0"]][~covered]).all()


ENDLESS = """#version 330
uniform vec3 to_lamp;
out vec4 color;
void main() { color = vec4(1); for (int i = 0; i < 1; i += int(to_lamp.x * 0.0)) color += 0.1; }
"""


def test_a_runaway_edited_shader_is_reported(
    frame: Frame,
    service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("[[application]]\nbudget = 16777216\n")
    monkeypatch.setenv("GALLETTE_CONFIG", str(settings))
    draw = last(frame)
    question = {"n": draw.number, "key": draw.program, "stage": "fragment", "text": ENDLESS}
    answer = service.answer("edit", question)
    assert "the context is lost" in answer["log"][-1] and "budget" in answer["log"][-1]
    question["text"] = RED
    assert service.answer("edit", question)["log"] == []


def test_an_error_in_an_edited_shader_is_reported(frame: Frame, service: Service) -> None:
    draw = last(frame)
    question = {
        "n": draw.number,
        "key": draw.program,
        "stage": "fragment",
        "text": "#version 330\n!",
    }
    answer = service.answer("edit", question)
    assert any("2:1" in line for line in answer["log"])


def test_switched_state_changes_the_picture(frame: Frame, service: Service) -> None:
    draw = last(frame)
    answer = service.answer("edit", {"n": draw.number, "switches": {"depth test": False}})
    assert answer["attachments"]["colour 0"] != draw.attachments["colour 0"]
    again = service.answer("edit", {"n": draw.number, "switches": {"depth test": True}})
    assert again["attachments"]["colour 0"] == draw.attachments["colour 0"]


def test_pixels_invocations_and_programs(frame: Frame, service: Service) -> None:
    draw = last(frame)
    pixel = service.answer("pixel", {"x": "120", "y": "90"})
    event = pixel["events"][-1]
    assert event["number"] == draw.number
    session = service.answer("debug", {"x": 120, "y": 90, "call": event["number"]})
    assert session["stage"] == "fragment"
    assert len(session["numbers"]) == len(session["steps"]) == len(session["at"])
    vertex = service.answer("debug", {"n": draw.number, "vertex": 3})
    assert vertex["stage"] == "vertex"
    program = service.answer("program", {"key": draw.program})
    ways = {w["stage"]: w for w in program["stages"]}
    assert ways["fragment"]["passes"]
    assert "//@11" in ways["fragment"]["variants"][0]["nir"]
    assert "error" in service.answer("program", {})
    assert "error" in service.answer("pixel", {"x": "9999", "y": "0"})


# -- the server ----------------------------------------------------------------------------------


def fetch(url: str, data: bytes | None = None, **headers: str) -> tuple[int, bytes, Any]:
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    request = urllib.request.Request(url, data, named)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def test_it_listens_on_this_machine_only(service: Service) -> None:
    server = make_server(service)
    assert server.server_address[0] == "127.0.0.1"
    server.server_close()


def test_the_page_and_its_assets(address: str) -> None:
    status, page, headers = fetch(address)
    assert status == 200
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    for name in re.findall(r'(?:src|href)="([^":]+)"', page.decode()):
        assert fetch(f"{address}/{name}")[0] == 200
    assert fetch(f"{address}/../server.py")[0] == 404
    assert fetch(f"{address}/api/nonsense")[0] == 404
    assert fetch(f"{address}/api/picture/nonsense")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Host": "example.org"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_sites_are_refused(address: str, headers: dict[str, str]) -> None:
    assert fetch(f"{address}/api/frame", **headers)[0] == 403
    assert fetch(f"{address}/api/edit", b"{}", Content_Type="application/json", **headers)[0] == 403


def test_questions_are_json(address: str) -> None:
    assert fetch(f"{address}/api/edit", b"n=1")[0] == 415
    assert fetch(f"{address}/api/edit", b"{", Content_Type="application/json")[0] == 400
    status, answer, _ = fetch(f"{address}/api/edit", b"[]", Content_Type="application/json")
    assert status == 200
    assert "error" in json.loads(answer)


# -- one file ------------------------------------------------------------------------------------


def test_the_page_as_one_file(frame: Frame, tmp_path: Path) -> None:
    size = export_page(frame, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert size == (tmp_path / "page.html").stat().st_size < LIMIT
    markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!data:)', markup)
    assert "window.GALLETTE=" in text


def test_nothing_in_the_data_ends_or_hides_a_script(frame: Frame, tmp_path: Path) -> None:
    """`<!--<script` makes a browser ignore the next `</script>`."""
    texts = ["</script>", "<!--<script>", "<!--", "]]>", "\u2028<\\/"]
    hostile = replace(frame, title="".join(texts), notes=texts)
    export_page(hostile, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = page.partition("window.GALLETTE=")[2].partition("</script>")[0]
    assert "<" not in data
    assert json.loads(data)["frame"]["title"] == hostile.title
    assert "<!--" not in page.partition("<script>")[2]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "gradient", "--html", str(tmp_path / "a.html")]) == 0
    assert "a.html" in capsys.readouterr().out
    assert main(["inspect", "gradien"]) == 2
    assert "did you mean 'gradient'" in capsys.readouterr().err


def test_the_variant_overlay_says_which_ran_last(tmp_path: Path) -> None:
    """Two draws, the second half flat-shaded: two variants, each where it ran."""
    test = tmp_path / "two.shader_test"
    test.write_text(
        "[require]\nGLSL >= 1.20\n\n[vertex shader]\nvoid main() {\n    gl_Position = gl_Vertex;\n"
        "    gl_FrontColor = vec4(1.0);\n}\n\n[fragment shader]\nvoid main() {\n"
        "    gl_FragColor = gl_Color;\n}\n\n[test]\nclear color 0 0 0 0\nclear\n"
        "draw rect -1 -1 2 2\nshade model flat\ndraw rect -1 -1 1 2\n"
    )
    path = tmp_path / "two.gcap"
    record_target(str(test), path, "numpipe")
    frame = observe(path)
    last = frame.draws[-1]
    marks = frame.pictures[last.overlays["variant"]][..., 0]
    left, right = marks[0, 0], marks[0, -1]
    assert {int(left), int(right)} == {1, 2}
    assert "null key" in last.legend[right - 1]
    assert "flat_colors" in last.legend[left - 1]
