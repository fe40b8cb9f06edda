"""Hierarchical depth: many fragments look the same whether hidden ones are made or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.output import engine, hierarchical_depth
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.covering import rows
from tests.state_tracker.helpers import errors, pixels, program

Patch = pytest.MonkeyPatch

VERTEX = """#version 330
in vec3 at;
flat out vec4 tint;
out vec2 place;
void main() {
    gl_Position = vec4(at, 1.0);
    place = at.xy;
    tint = vec4(fract(at * 3.0), float(gl_VertexID) / 255.0);
}
"""
PLAIN = "color = tint;"
CUT_OUT = "if (fract(place.x * 0.8) < 0.3) discard; color = tint;"
DEEPER = "color = tint; gl_FragDepth = 1.0 - gl_FragCoord.z;"
SLOPES = "color = vec4(fract(dFdx(place) * 99.0 + dFdy(place) * 55.0), tint.xy);"
SIZE = 72
FUNCS = ("LESS", "LEQUAL", "GREATER", "GEQUAL", "EQUAL", "NOTEQUAL", "ALWAYS")


class Counted:
    """How many fragments were hidden, and whether pieces changed places."""

    def __init__(self, patch: Patch) -> None:
        self.hidden = self.turned = 0
        seen, turned = hierarchical_depth.DepthBlocks.visible_spans, hierarchical_depth._turned

        def counting(blocks: Any, engine: Any, spans: Any, source: Any, func: Any = None) -> Any:
            before = blocks.hidden
            left = seen(blocks, engine, spans, source, func)
            self.hidden += blocks.hidden - before
            assert spans.fragments - left.fragments == blocks.hidden - before
            return left

        def turning(*given: Any) -> Any:
            self.turned += 1
            return turned(*given)

        patch.setattr(hierarchical_depth.DepthBlocks, "visible_spans", counting)
        patch.setattr(hierarchical_depth, "_turned", turning)
        patch.setattr(engine, "PIECE", 500)
        patch.setattr(engine, "_overdrawn", lambda spans: True)
        patch.setattr(hierarchical_depth, "_LOOKS", (0.0, 0.0))  # always worth looking


def drawn(
    data: np.ndarray[Any, Any],
    func: str,
    text: str = PLAIN,
    *,
    blend: bool = False,
    mask: bool = True,
    clamp: bool = False,
    test: bool = True,
    depth: int = GL.DEPTH_COMPONENT24,
    first: np.ndarray[Any, Any] | None = None,
) -> tuple[bytes, bytes]:
    """Colours and depths of triangles in one draw (behind another, that is, if one is `first`)."""
    fragment = "#version 330\nflat in vec4 tint;\nin vec2 place;\nout vec4 color;\n"
    gl = Context("numpipe", profile="compat", size=(SIZE, SIZE))
    with gl:
        name = program(gl, VERTEX, f"{fragment}void main() {{ {text} }}")
        kept = gl.gen_renderbuffers(2)
        gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
        for point, buffer, form in (
            (GL.COLOR_ATTACHMENT0, kept[0], GL.RGBA8),
            (GL.DEPTH_ATTACHMENT, kept[1], depth),
        ):
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage(GL.RENDERBUFFER, form, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        where = gl.get_attrib_location(name, "at")
        gl.enable_vertex_attrib_array(where)
        gl.vertex_attrib_pointer(where, 3, GL.FLOAT, False, 0, 0)
        gl.enable(GL.DEPTH_TEST)
        gl.clear_depth(0.0 if func in ("GREATER", "GEQUAL") else 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        for vertices, how in ((first, "ALWAYS"), (data, func)):
            if vertices is None:
                continue
            gl.depth_func(getattr(GL, how))
            if how == func:
                gl.depth_mask(mask)
                if not test:
                    gl.disable(GL.DEPTH_TEST)
                if blend:
                    gl.enable(GL.BLEND)
                    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
                if clamp:
                    gl.enable(GL.DEPTH_CLAMP)
                    gl.depth_range(0.3, 0.6)
            gl.buffer_data(GL.ARRAY_BUFFER, vertices.nbytes, vertices, GL.STREAM_DRAW)
            gl.draw_arrays(GL.TRIANGLES, 0, len(vertices))
        color = pixels(gl, SIZE, SIZE).tobytes()
        depths = gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_COMPONENT, GL.FLOAT)
        assert errors(gl) == []
    gl.release()
    return color, bytes(depths)


def both(
    monkeypatch: Patch, data: np.ndarray[Any, Any], func: str, *given: Any, **more: Any
) -> Counted:
    """Draw with hierarchical depth and in order, see that it is the same; what the first did."""
    with monkeypatch.context() as patch:
        counted = Counted(patch)
        with_it = drawn(data, func, *given, **more)
    with monkeypatch.context() as patch:
        none = Counted(patch)
        patch.setattr(engine, "can_be_hidden", lambda engine, source: False)
        patch.setattr(engine, "_overdrawn", lambda spans: False)
        without = drawn(data, func, *given, **more)
    assert none.hidden == none.turned == 0
    assert with_it == without
    return counted


def some(seed: int, count: int = 120, twice: bool = True) -> np.ndarray[Any, Any]:
    """Sloped triangles that cross; all of them come twice, so that equal depths meet."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-1, 1, (count, 1, 3))
    each = centers + rng.uniform(-0.9, 0.9, (count, 3, 3)) * (1.0, 1.0, 0.3)
    if twice:
        each = np.concatenate([each, each])
    return np.ascontiguousarray(each.reshape(-1, 3), np.float32)


def screens(*depths: float) -> np.ndarray[Any, Any]:
    """Pairs of triangles over the whole screen."""
    corners = ((-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1))
    return np.array([[x, y, z] for z in depths for x, y in corners], np.float32)


@pytest.mark.parametrize("func,text,blend", rows(FUNCS, (PLAIN, CUT_OUT, DEEPER), (False, True)))
def test_random_triangles(func: str, text: str, blend: bool, monkeypatch: Patch) -> None:
    data = some(1)
    start = data[::-1].copy() if func == "EQUAL" else None
    counted = both(monkeypatch, data, func, text, blend=blend, first=start)
    can = func not in ("NOTEQUAL", "ALWAYS") and text != DEEPER
    assert (counted.hidden > 300) == can


@pytest.mark.parametrize("func", FUNCS[:4])
@pytest.mark.parametrize("rising", [False, True])
def test_layers_are_resolved_from_the_nearest_on(
    func: str, rising: bool, monkeypatch: Patch
) -> None:
    """Each layer comes twice, the second time with other colours: who wins ties is seen."""
    depths = np.repeat(np.linspace(-0.9, 0.9, 8), 2)
    data = screens(*(depths if rising else depths[::-1]))
    counted = both(monkeypatch, data, func)
    away = rising == (func in ("LESS", "LEQUAL"))
    assert counted.turned or away
    assert counted.hidden > 10 * SIZE * SIZE


@pytest.mark.parametrize("func", FUNCS[:4])
@pytest.mark.parametrize("rising", [False, True])
def test_neighbours_in_drawing_order_tie(func: str, rising: bool, monkeypatch: Patch) -> None:
    """Primitives that follow each other have equal depths, and their pieces change places."""
    corners = ((-1, -1), (1, -1), (-1, 1))  # not clipped: one triangle each
    slopes = np.linspace(-0.3, 0.3, 12)
    data = np.array(
        # Level ones, each twice in a row; in between ones that slope, so that the order is mixed.
        [
            [x, y, np.clip(z + slope * x * (number % 3 == 2), -0.95, 0.95)]
            for number, (z, slope) in enumerate(
                zip(np.repeat([0.8, 0.1, -0.6], 4), slopes, strict=True)
            )
            for x, y in corners
        ],
        np.float32,
    )
    if rising:
        data = np.ascontiguousarray(data.reshape(-1, 3, 3)[::-1].reshape(-1, 3))
    both(monkeypatch, data, func)
    with monkeypatch.context() as patch:  # every order of pieces, ties with the very next included
        patch.setattr(hierarchical_depth, "_APART", -1.0)
        patch.setattr(
            hierarchical_depth.np, "argsort", lambda keys, kind=None: np.arange(len(keys))[::-1]
        )
        both(patch, data, func)


@pytest.mark.parametrize("func", FUNCS[:4])
@pytest.mark.parametrize("seed", range(2))
def test_mixed_layers_and_triangles(func: str, seed: int, monkeypatch: Patch) -> None:
    rng = np.random.default_rng(seed)
    layers = [screens(*np.repeat(rng.permutation(np.linspace(-0.9, 0.9, 5)), 2)), some(seed, 40)]
    order = rng.permutation(2)
    data = np.concatenate([layers[i] for i in order])
    counted = both(monkeypatch, data, func, first=some(seed + 50, 20))
    assert counted.hidden > 1000


@pytest.mark.parametrize("func", FUNCS[:4])
def test_what_was_there_wins_ties_as_before(func: str, monkeypatch: Patch) -> None:
    """A draw over its own depths: equal ones fail or pass against what had been drawn before."""
    data = screens(0.5, 0.5, -0.5, -0.5)
    for first in (screens(-0.5), screens(0.5), data):
        both(monkeypatch, data, func, first=first)
        both(monkeypatch, data[::-1].copy(), func, first=first)


PLACES = (0.53, -0.41), (-0.61, 0.57), (0.06, 0.03)


@pytest.mark.parametrize("place,func,text", rows(PLACES, ("LESS", "GEQUAL"), (PLAIN, SLOPES)))
def test_a_part_of_the_target(
    place: tuple[float, float], func: str, text: str, monkeypatch: Patch
) -> None:
    moved = some(8, 200) * np.float32([0.3, 0.3, 1]) + np.float32([*place, 0])
    data = np.ascontiguousarray(moved)
    assert both(monkeypatch, data, func, text).hidden > 300
    assert both(monkeypatch, data, func, text, test=False, first=data[::-1].copy()).hidden == 0


def test_depths_that_are_not_written_hide_nothing_new(monkeypatch: Patch) -> None:
    """Of those that pass the last is seen, however near it is."""
    data = screens(*np.linspace(0.9, -0.9, 8))
    assert both(monkeypatch, data, "LESS", mask=False).turned == 0
    behind = both(monkeypatch, data, "LESS", mask=False, first=screens(-0.95))
    assert behind.hidden > 0 and behind.turned == 0


@pytest.mark.parametrize("form", ["16", "24", "32", "32F"])
def test_kinds_of_depth(form: str, monkeypatch: Patch) -> None:
    kind = getattr(GL, f"DEPTH_COMPONENT{form}")
    assert both(monkeypatch, some(3), "LESS", depth=kind).hidden > 1000
    assert both(monkeypatch, some(3), "GEQUAL", CUT_OUT, depth=kind).hidden > 1000


def test_depths_that_are_clamped(monkeypatch: Patch) -> None:
    """Many are equal then: what lies beyond either end."""
    for func in FUNCS[:4]:
        data = some(4) * np.float32([1, 1, 2])
        assert both(monkeypatch, np.ascontiguousarray(data), func, clamp=True).hidden > 1000


def test_slivers_reach_as_far_as_their_fragments(monkeypatch: Patch) -> None:
    """Of triangles that are nearly lines, depths at pixels lie far outside those of corners."""
    rng = np.random.default_rng(5)
    ends = rng.uniform(-1, 1, (300, 2, 3))
    third = ends.mean(axis=1, keepdims=True) + rng.uniform(-0.02, 0.02, (300, 1, 3))
    thin = np.concatenate([ends, third], axis=1).reshape(-1, 3).astype(np.float32)
    data = np.concatenate([some(6, 30), thin, some(7, 30)])
    for func in FUNCS[:4]:
        behind = screens(0.4 if func in ("LESS", "LEQUAL") else -0.4)
        assert both(monkeypatch, np.ascontiguousarray(data), func, first=behind).hidden > 1000
