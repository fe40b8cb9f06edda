"""What the observer of a run records of each draw, number by number."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from gallette.capture import open_capture
from gallette.capture.targets import record_target
from gallette.inspector import Frame
from gallette.inspector.frames import Draw
from gallette.inspector.observe import SWITCHES, source_calls
from gallette.state_tracker.shading.shader_sources import ShaderSource

module: Any = import_module("gallette.inspector.observe")  # the package has a function so named


def _draw(target: str = "a", size: tuple[int, int] = (2, 2), **more: Any) -> Draw:
    return Draw(7, "DrawArrays", {}, [], 1, 10, target, size, **more)


def _observer(counts: Any, primitives: int = 3) -> Any:
    made = module._Observer(Frame("", ""), cast("Any", None))
    made.witness = cast("Any", SimpleNamespace(overdraw=counts, primitives=primitives))
    return made


def test_the_numbers_of_capabilities_are_gls() -> None:
    assert SWITCHES == {
        "depth test": 0x0B71, "face culling": 0x0B44, "blending": 0x0BE2,
        "scissor test": 0x0C11, "stencil test": 0x0B90,
    }  # fmt: skip


@pytest.mark.parametrize("counts", [None, np.zeros((0, 4), int)])
def test_draws_without_fragments_are_no_more_than_their_primitives(counts: Any) -> None:
    draw = _draw()
    _observer(counts)._counts(draw)
    assert (draw.primitives, draw.fragments, draw.overdraw, draw.overlays) == (3, 0, 0.0, {})


def test_counts_of_a_draw() -> None:
    counts = np.array([[1, 0, 0], [300, 2, 0], [0, 0, 4]])
    draw, observer = _draw(), _observer(counts)
    observer._counts(draw)
    assert (draw.fragments, draw.overdraw) == (307, 76.75)
    pictures = {name: observer.frame.pictures[key] for name, key in draw.overlays.items()}
    assert sorted(pictures) == ["overdraw", "quads"]
    assert pictures["overdraw"][..., 0].tolist() == [[1, 0, 0], [255, 2, 0], [0, 0, 4]]
    # How many of the four pixels of its quad are covered, those beyond the edges never.
    assert pictures["quads"][..., 0].tolist() == [[3, 3, 0], [3, 3, 0], [0, 0, 1]]
    assert {p.dtype for p in pictures.values()} == {np.dtype(np.uint8)}


def test_a_draw_that_covers_nothing_has_no_overdraw() -> None:
    draw = _draw()
    _observer(np.zeros((2, 4), int))._counts(draw)
    assert (draw.fragments, draw.overdraw) == (0, 0.0)
    assert sorted(draw.overlays) == ["overdraw", "quads"]


def test_overdraw_has_two_digits() -> None:
    draw = _draw()
    _observer(np.array([[1, 1, 2]]))._counts(draw)
    assert draw.overdraw == 1.33


class _Stage(Enum):
    VERTEX = "vertex"
    FRAGMENT = "fragment"


def _gl(made: Any, name: int = 4) -> Any:
    handles = {
        (_Stage.VERTEX, 0): SimpleNamespace(variants={"other": 1}),
        (_Stage.FRAGMENT, 0): SimpleNamespace(variants=made),
    }
    programs = SimpleNamespace(
        executable=SimpleNamespace(handles=handles), current=SimpleNamespace(name=name)
    )
    return SimpleNamespace(programs=programs, profile="core")


def test_the_last_variant_at_each_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "describe_key", lambda key: f"<{key}>")
    observer = _observer(np.array([[1, 0, 2]]))
    first, second, third, other = (_draw() for _ in range(4))

    def painted(draw: Draw) -> list[int]:
        return list(observer.frame.pictures[draw.overlays["variant"]][0, :, 0])

    observer._variant(first, "here", _gl({"p": 0, "a": 0}))
    assert painted(first) == [1, 0, 1]
    observer.witness.overdraw = np.array([[0, 1, 1]])
    observer._variant(second, "here", _gl({"b": 0}, 5))
    assert (painted(second), second.legend) == ([1, 2, 2], ["program 4: <a>", "program 5: <b>"])
    observer.witness.overdraw = np.array([[1, 1, 1]])
    observer._variant(third, "here", _gl({"a": 0}))
    assert (painted(third), third.legend) == ([1, 1, 1], ["program 4: <a>"])
    observer.witness.overdraw = np.array([[0, 1]])  # another size: nothing is known of it
    observer._variant(other, "here", _gl({"b": 0}, 5))
    assert painted(other) == [0, 2]
    assert (first.legend, len(observer.labels)) == (["program 4: <a>"], 2)
    nothing = _draw()
    for counts, gl in (
        (None, _gl({"a": 0})),
        (np.zeros((0, 1)), _gl({"a": 0})),
        (np.ones((1, 1)), _gl({})),
        (np.ones((1, 1)), SimpleNamespace(programs=SimpleNamespace(executable=None))),
    ):
        observer.witness.overdraw = counts
        observer._variant(nothing, "there", gl)
    assert nothing.overlays == {} and "there" not in observer.painted


def test_relinked_programs_are_listed_beside_the_old_ones() -> None:
    observer = _observer(None)

    def program(*texts: tuple[int, str]) -> str:
        gl = _gl({})
        gl.programs.current.linked_from = [ShaderSource(kind, text) for kind, text in texts]
        return cast("str", observer._program(gl))

    stages = [(0x8B31, "v"), (0x8B30, "f"), (0x91B9, "c"), (0x8DD9, "g"), (0x8E88, "t"),
              (0x8E87, "e"), (0x8B30, "f2")]  # fmt: skip
    assert program(*stages) == "program 4"
    assert program((0x8B31, "v")) == "program 4, link 2"
    assert program((0x8B31, "w")) == "program 4, link 3"
    assert [program(*stages), program((0x8B31, "v"))] == ["program 4", "program 4, link 2"]
    kept = observer.frame.programs
    assert kept["program 4"] == {
        "vertex": "v", "fragment": "ff2", "compute": "c", "geometry": "g", "tess_ctrl": "t",
        "tess_eval": "e",
    }  # fmt: skip
    assert kept["program 4, link 3"] == {"vertex": "w"}
    assert observer.frame.profiles == dict.fromkeys(kept, "core")
    none = SimpleNamespace(programs=SimpleNamespace(current=None))
    assert observer._program(none) == ""


def test_changes_are_distinguished_from_unchanged_covered_pixels() -> None:
    frame = Frame("", "")
    pictures = [np.zeros((1, 4, 2), np.uint8) for _ in range(3)]
    pictures[1][0, 0, 1] = 9
    pictures[2][0, 3, 0] = 9
    covered = frame.keep(np.array([[[1], [2], [0], [0]]], np.uint8))
    narrow = frame.keep(np.array([[[1], [2]]], np.uint8))
    small = frame.keep(np.zeros((1, 2, 2), np.uint8))
    first, second, third = (frame.keep(p) for p in pictures)
    over = {"overdraw": covered}
    frame.draws = [
        _draw(attachments={"color": first}, overlays=dict(over)),  # nothing was there before
        _draw(attachments={"color": second}, overlays=dict(over)),
        _draw("b", attachments={"color": third}, overlays=dict(over)),  # another target
        _draw(size=(9, 9), attachments={"color": third}, overlays=dict(over)),
        _draw(attachments={"color": third, "depth": third}, overlays=dict(over)),
        _draw(attachments={"color": first}),  # a clear covers nothing, but it counts as before
        _draw(attachments={"color": first}, overlays={"overdraw": narrow}),
        _draw(attachments={"color": small}, overlays=dict(over)),  # another shape
        _draw(attachments={"color": first}, overlays=dict(over)),
        _draw(attachments={"color": first}, overlays=dict(over)),
    ]
    module._add_changes(frame)
    marks = [
        None if key is None else frame.pictures[key][0, :, 0].tolist()
        for key in (draw.overlays.get("changes color") for draw in frame.draws)
    ]
    none = [None]
    assert marks == [*none, [1, 2, 0, 0], *none * 2, [1, 2, 0, 1], *none * 4, [2, 2, 0, 0]]
    assert all("changes depth" not in draw.overlays for draw in frame.draws)


def test_which_call_gave_a_shader_its_text() -> None:
    def call(number: int, name: str, *args: Any) -> Any:
        return SimpleNamespace(number=number, name=name, args=args)

    calls = [
        call(1, "ShaderSource", 1, 2, ["a", "b"]),
        call(2, "ShaderSource", 2, 1, ["b"]),
        call(3, "CompileShader", 1),
        call(4, "ShaderSourceARB", 3, 1, ["ab"]),
        call(5, "ShaderSource", 3, 1, None),
        call(6, "ShaderSource", 3, 1, ["ab"]),
        call(7, "ScaleTexts", 3, 1, ["ab"]),
    ]
    capture = cast("Any", SimpleNamespace(calls=calls, call=lambda n: calls[n - 1]))
    assert source_calls(capture, "ab", 7) == [1, 4, 6]
    assert source_calls(capture, "ab", 5) == [1, 4]
    assert source_calls(capture, "", 7) == [5]
    assert module._is_edited(capture, {2: "new", 4: "new"}, call(9, "CompileShader", 3))
    assert not module._is_edited(capture, {2: "new", 4: "new"}, call(9, "CompileShader", 1))


def test_every_draw_of_a_scene_has_what_it_had(frame: Frame) -> None:
    meshes = [draw.number for draw in frame.draws if draw.has_mesh]
    assert meshes == list(frame.meshes) and meshes
    assert frame.notes == []
    before: dict[str, str] = {}
    for draw in frame.draws:
        drawn = draw.call.startswith("Draw") or draw.call.startswith("MultiDraw")
        assert draw.has_mesh == drawn, draw.call
        if not draw.state:
            assert not drawn and not draw.changed and not draw.uniforms
            continue
        changed = [k for k, v in draw.state.items() if before.get(k) != v]
        # At the first draw, what is as in a new context has not changed.
        assert draw.changed == changed if before else set(draw.changed) < set(changed)
        before = draw.state
        assert draw.program in frame.programs and draw.program in frame.profiles
        assert draw.microseconds > 0 and draw.primitives > 0
    numbers = [draw.number for draw in frame.draws]
    assert numbers == sorted(set(numbers)) and numbers[-1] <= frame.calls


def test_a_run_in_numbers(frame: Frame, capture: Path) -> None:
    whole = open_capture(capture)
    assert (frame.frames, frame.calls) == (whole.frames, len(whole.calls))
    for draw in frame.draws:
        call = whole.calls[draw.number - 1]
        groups = list(whole.groups.get(draw.number, ()))
        facts = (draw.call, draw.words, draw.group, draw.frame)
        assert facts == (call.name, call.words(), groups, call.frame)
        target = call.target
        assert target is not None
        names = [name for name in (*target.colors, target.depth) if name]
        assert draw.target == ", ".join(names) and draw.size == (target.width, target.height)
    assert any(draw.words for draw in frame.draws)
    variants = [draw.variants for draw in frame.draws if draw.state]
    assert variants[0] and all(": " in line and line.endswith(")") for line in variants[0])


def test_what_is_cleared_shows_no_variant_any_more(tmp_path: Path) -> None:
    test = tmp_path / "cleared.shader_test"
    test.write_text(
        "[require]\nGLSL >= 1.20\n\n[vertex shader passthrough]\n\n[fragment shader]\n"
        "void main() {\n    gl_FragColor = vec4(1.0);\n}\n\n[test]\n"
        "draw rect -1 -1 2 2\nclear color 0 0 0 0\nclear\ndraw rect -1 -1 1 2\n"
    )
    path = tmp_path / "cleared.gcap"
    record_target(str(test), path, "numpipe")
    seen: Frame = module.observe(path)
    first, last = (draw for draw in seen.draws if "variant" in draw.overlays)
    assert (seen.pictures[first.overlays["variant"]] == 1).all()
    row = seen.pictures[last.overlays["variant"]][0, :, 0]
    half = len(row) // 2
    assert row.tolist() == [1] * half + [0] * half
    assert (first.variants != [], last.variants) == (True, [])
