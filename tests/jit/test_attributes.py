"""Vertex attributes that machine code reads where they lie: what numpipe fetches, bit for bit."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.common.vertex.fetch import FetchedVertices
from gallette.drivers.jit.program import BoundJit

Array = npt.NDArray[Any]

VERTEX = """
#version 330
in vec3 position;
in vec4 paint;
in ivec2 whole;
in vec2 place;
flat out vec4 c;
void main() {
    gl_Position = vec4(position.xy * 0.2 + place, position.z, 1.0);
    c = fract(paint + vec4(whole, gl_VertexID, gl_InstanceID) / 16.0);
}
"""
FRAGMENT = "#version 330\nflat in vec4 c; out vec4 o; void main() { o = c; }"


def picture(
    driver: str, indices: list[int] | None, divided: bool, vertices: int, cut: int = 0
) -> Array:
    """So many bytes are cut from the end of the larger buffer."""
    window: Any = gallette.moderngl_context(driver)
    with moderngl.create_context(standalone=True, context=window) as context:
        frame = context.simple_framebuffer((64, 64))
        frame.use()
        frame.clear()
        rng = np.random.default_rng(4)
        table = np.zeros(90, [("p", "f4", 3), ("c", "f4", 4), ("w", "i4", 2), ("b", "u1", 4)])
        table["p"] = rng.uniform(-1, 1, (90, 3))
        table["c"] = rng.uniform(0, 1, (90, 4))
        table["w"] = rng.integers(-99, 99, (90, 2))
        places = rng.uniform(-0.8, 0.8, (90, 2)).astype("f4")
        rows = context.buffer(table.tobytes()[: 3600 - cut])
        elements = None if indices is None else context.buffer(np.array(indices, "u4").tobytes())
        program = context.program(VERTEX, FRAGMENT)
        array = context.vertex_array(
            program,
            [
                (rows, "3f 4f 2i 4x", "position", "paint", "whole"),
                (context.buffer(places), "2f/i" if divided else "2f", "place"),
            ],
            elements,
        )
        array.render(moderngl.TRIANGLES, vertices=vertices, instances=7 if divided else 1)
        return np.frombuffer(frame.read(components=4), np.uint8)


@pytest.mark.parametrize("directly", [False, True])
@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize(
    "indices",
    [
        None,
        [*range(60, 12, -1)],
        [0, 40, 89, 2, 41, 88, 200, 3, 5],  # one of them outside
        [1 << 20, 7, 11, 5, (1 << 32) - 1, 3],
    ],
)
def test_attributes(
    indices: list[int] | None, divided: bool, directly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not directly:
        monkeypatch.setattr(BoundJit, "plan", lambda *_: None)
    found = []
    column = FetchedVertices.column

    def watched(self: FetchedVertices, index: int, component: int) -> Any:
        found.append(column(self, index, component))
        return found[-1]

    monkeypatch.setattr(FetchedVertices, "column", watched)
    count = 90 if indices is None else len(indices)
    have = picture("jit", indices, divided, count)
    assert directly or any(each is not None for each in found)
    wanted = picture("numpipe", indices, divided, count)
    assert len(np.unique(wanted)) > 4
    assert np.array_equal(have, wanted)


def test_attributes_outside_the_buffer_are_zero() -> None:
    """Nearly half of these vertices are beyond the buffers' ends."""
    have, wanted = (picture(driver, [*range(150)], False, 150) for driver in ("jit", "numpipe"))
    assert np.array_equal(have, wanted)


@pytest.mark.parametrize("cut", [1, 8, 12, 24, 36, 40])
def test_attributes_partly_outside_the_buffer_are_zero(
    cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last row of a buffer has some of the attributes, and of one of them a part."""
    rows = [89, 30, 60, 3, 89, 77, 88, 87, 86, 5, 6, 89]
    for indices in (None, rows):
        count = 90 if indices is None else len(indices)
        wanted, directly = (picture(d, indices, False, count, cut) for d in ("numpipe", "jit"))
        with monkeypatch.context() as patched:
            patched.setattr(BoundJit, "plan", lambda *_: None)
            have = picture("jit", indices, False, count, cut)
        assert len(np.unique(wanted)) > 4
        assert np.array_equal(directly, wanted)
        assert np.array_equal(have, wanted)
