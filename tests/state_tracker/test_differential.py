"""What comparing random OpenGL programs rests on, and programs in which it found something.

Slices of random programs stand in `tests/fuzz/test_slices.py`.
"""

from __future__ import annotations

import numpy as np

from fuzz.gl_programs.compare import Seen, difference
from fuzz.gl_programs.fuzzer import PAIRS, check
from fuzz.gl_programs.generate import generate
from fuzz.gl_programs.world import World
from gallette.compiler.reduce import reduce_lines

KINDS = ["", "fixed", "modern", "shared"]

LAYERED = (
    "gl.use_program(layered); gl.bind_texture(GL.TEXTURE_2D_ARRAY, 0); gl.bind_sampler(0, 0)",
    "gl.draw_arrays(GL.TRIANGLES, 0, 6)",
)
EMPTY_QUADS = [
    "w.target([GL.RGBA16, GL.RG8], GL.DEPTH_COMPONENT32F, 0, False)",
    "gl.draw_buffers(1, np.array([GL.COLOR_ATTACHMENT0], 'u4'))",
    "colored = w.program('instanced', 'color')",
    "buffer = w.buffer()",
    "gl.bind_buffer(GL.ARRAY_BUFFER, buffer)",
    "gl.buffer_data(GL.ARRAY_BUFFER, 240, w.quad(48098), GL.STATIC_DRAW)",
    "w.array(buffer)",
    "w.mapped(GL.ARRAY_BUFFER, 40, w.vertices(45611, 3), 'invalidate')",
    "gl.use_program(colored)",
    *["gl.draw_arrays(GL.TRIANGLES, 0, 3)"] * 2,
    "gl.draw_arrays(GL.POINTS, 0, 6)",
    "layered = w.program('plain', 'layered', True)",
    LAYERED[0],
    "gl.enable(GL.DEPTH_TEST)",
    "w.uniform(layered, 'offset', -0.3125, -0.75, 0.0, 0.0)",
    *LAYERED,
    "w.uniform(layered, 'offset', -0.25, -0.125, 0.0, 0.0)",
    *LAYERED,
    "see.color(0)",
    "see.depth()",
]
"""The rows of a sliver lie so far apart that a quad between them has no pixel of it."""


def test_a_quad_may_have_no_pixel() -> None:
    assert check(EMPTY_QUADS, "core", PAIRS[1:]) == ""


def test_a_program_is_a_function_of_its_seed() -> None:
    for kind in [*KINDS, "es", "beside", "threads"]:
        assert generate(7, kind=kind) == generate(7, kind=kind)
        assert generate(7, kind=kind) != generate(8, kind=kind)


def test_differences_are_found_and_allowed_ones_are_not() -> None:
    grey = np.full((2, 2, 4), 100, np.uint8)
    assert difference([Seen("colour 0", grey)], [Seen("colour 0", grey + 2)]) == ""
    assert "colour 0: 16 of 16" in difference(
        [Seen("colour 0", grey)], [Seen("colour 0", grey + 3)]
    )
    assert difference([Seen("colour 0", grey, 1)], [Seen("colour 0", grey + 3)]) == ""
    large = np.zeros((4, 4, 4), np.uint8)
    for pixels, allowed in ((2, True), (3, False)):  # a sliver, or more than one
        dotted = large.copy()
        dotted.reshape(-1, 4)[:pixels, 1] = 90
        found = difference([Seen("colour 0", large)], [Seen("colour 0", dotted)])
        assert (found == "") is allowed
    for values, allowed in ((1, True), (2, False)):  # of 64
        dotted = large.copy()
        dotted.reshape(-1)[[0, 21, 42][:values] * 1] = 90
        dotted.reshape(-1)[1::4][: 3 * (values - 1)] = 90
        found = difference([Seen("colour 0", large, 0, 1, True)], [Seen("colour 0", dotted)])
        assert (found == "") is allowed
    for step, values, allowed in ((1, 1, True), (1, 4, False), (9, 6, True), (9, 7, False)):
        dotted = large.copy()
        dotted.reshape(-1)[: 4 * values : 4] = 255
        squared = [Seen("colour 0", large, 0, step, True)]
        assert (difference(squared, [Seen("colour 0", dotted)]) == "") is allowed
    for slope, off, allowed in ((0.1, 7, True), (0.1, 9, False), (0.05, 7, False)):
        ramp = np.arange(4, dtype=np.float64)[None, :, None].repeat(4, 0) * slope
        found = difference([Seen("depth", ramp)], [Seen("depth", ramp + off / (1 << 24))])
        assert (found == "") is allowed
    assert "'query'" in difference([Seen("query", 1)], [])
    assert difference([Seen("query", 1)], [Seen("query", 2)]) == "query: 1, the other 2"


def test_triangles_have_areas() -> None:
    """Whichever three corners that follow each other they are of."""
    world = World.__new__(World)
    for seed in range(300):
        x, y = world.vertices(seed, 12)[:, :2].T.astype(np.float64)
        area = (x[1:-1] - x[:-2]) * (y[2:] - y[:-2]) - (x[2:] - x[:-2]) * (y[1:-1] - y[:-2])
        assert (area != 0).all()


def test_the_reducer_keeps_what_fails_together() -> None:
    lines = [str(i) for i in range(40)]
    assert reduce_lines(lines, lambda some: {"3", "31"} <= set(some)) == ["3", "31"]
