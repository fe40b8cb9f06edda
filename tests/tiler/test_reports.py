"""What the tiler tells of its passes, tile by tile, and what queries count of its draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.machines.tiler import tiles
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import FramebufferState, Surface
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, program

SIZE = 90, 64
"""Three columns of tiles, of which the last is cut off, and two rows."""
VERTEX = """#version 430
layout(location = 0) in vec2 at;
void main() { gl_Position = vec4(at / vec2(45.0, 32.0) - 1.0, 0.0, 1.0); }"""
FRAGMENT = "#version 430\nout vec4 o; void main() { o = vec4(1.0, 0.5, 0.25, 1.0); }"
POINTS = ((10, 10), (40, 10), (41, 12), (70, 40), (10, 40))
BOX = ((34, 34), (61, 34), (61, 61), (34, 34), (61, 61), (34, 61))
"""Inside of the tile in the middle of the upper row."""
BESIDE = ((-50, 5), (-40, 5), (-40, 9))


def scene(driver: str, **options: Any) -> Any:
    """A context that draws to an image of that size, with the corners of all of it."""
    gl: Any = Context(driver, version=(4, 5), profile="core", size=(8, 8), **options)
    program(gl, VERTEX, FRAGMENT)
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))
    gl.bind_buffer(GL.ARRAY_BUFFER, *gl.gen_buffers(1))
    corners = np.array([(x + 0.5, y + 0.5) for x, y in POINTS] + [*BOX, *BESIDE], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, 0)
    (texture,), (target,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, *SIZE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.viewport(0, 0, *SIZE)
    return gl


def draws(gl: Any) -> None:
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.draw_arrays(GL.TRIANGLES, 5, 9)  # the last of them is beside everything


@pytest.mark.parametrize("clears", [True, False])
def test_a_pass_tile_by_tile(clears: bool) -> None:
    gl = scene("tiler", tile_memory=4)
    if clears:
        gl.clear(GL.COLOR_BUFFER_BIT)
    draws(gl)
    gl.finish()
    assert errors(gl) == []
    (report,) = gl.pipe.reports
    grid = report.grid
    assert (grid.columns, grid.rows, grid.tile_width, grid.tile_height) == (3, 2, 32, 32)
    assert (report.draws, report.primitives, report.entries) == (2, 8, 7)
    assert (report.binned_vertices, report.cleared) == (14, clears)
    rects = [(x, y, min(x + 32, 90), y + 32) for y in (0, 32) for x in (0, 32, 64)]
    points = [1, 2, 0, 1, 0, 1]
    moved = 0
    for tile, wanted, single in zip(report.tiles, rects, points, strict=True):
        rect = tile.rect
        assert (rect.x0, rect.y0, rect.x1, rect.y1) == wanted
        middle = wanted[:2] == (32, 32)
        assert tile.primitives == (2 if middle else single)
        assert tile.vertices == (6 if middle else single)
        assert tile.shaded == (27 * 27 if middle else single)
        area = (wanted[2] - wanted[0]) * 32
        assert tile.overdraw == tile.shaded / area
        assert (tile.hidden, tile.resolved, tile.spared) == (0, 0, 0)
        assert (tile.loaded, tile.stored) == (0 if clears else 4 * area, 4 * area)
        assert tile.moved == tile.loaded + tile.stored
        moved += tile.moved
    assert report.moved == moved == 4 * 90 * 64 * (1 if clears else 2)
    gl.release()


QUERIES = (
    "VERTICES_SUBMITTED", "PRIMITIVES_SUBMITTED", "CLIPPING_INPUT_PRIMITIVES",
    "FRAGMENT_SHADER_INVOCATIONS",
)  # fmt: skip


def test_queries_count_what_others_count() -> None:
    found = {}
    for driver in ("numpipe", "tiler"):
        gl = scene(driver, **({"tile_memory": 4} if driver == "tiler" else {}))
        names = [*QUERIES, "SAMPLES_PASSED", "PRIMITIVES_GENERATED"]
        queries = gl.gen_queries(len(names))
        for name, query in zip(names, queries, strict=True):
            gl.begin_query(getattr(GL, name), query)
        draws(gl)
        for name in names:
            gl.end_query(getattr(GL, name))
        found[driver] = [
            int(np.ravel(gl.get_query_objectiv(query, GL.QUERY_RESULT))[0]) for query in queries
        ]
        assert errors(gl) == []
        gl.release()
    assert found["tiler"] == found["numpipe"] == [14, 8, 8, 734, 734, 8]


def test_a_pass_that_is_over_holds_nothing() -> None:
    gl = scene("tiler", tile_memory=4)
    draws(gl)
    gl.finish()  # what is bound stays bound
    chips = [r for r in tiles._LEDGER.live if r.label == "tile memory"]
    references = {id(r): r.refcount for r in gl.pipe.screen.resources.live}
    made = tiles._LEDGER.created
    draws(gl)
    gl.finish()
    assert tiles._LEDGER.created == made + 1
    assert tiles._LEDGER.live == chips
    assert {id(r): r.refcount for r in gl.pipe.screen.resources.live} == references
    assert tiles.pixel_bytes(gl.pipe.bound.framebuffer) == 4
    gl.release()


def test_what_tiles_can_be_made_of() -> None:
    def surface(samples: int = 0, first: int = 0, last: int = 0) -> Surface:
        format = FORMATS["R8G8B8A8_UNORM"]
        desc = ResourceDesc(Target.TEXTURE_2D_ARRAY, format, 8, 8, 1, 4, 0, samples)
        return Surface(create_resource(desc, ResourceLedger()), format, 0, first, last)

    one, other, several = surface(), surface(), surface(4)
    for framebuffer, wanted, size in (
        (FramebufferState(8, 8, cbufs=(one,)), True, 4),
        (FramebufferState(8, 8, cbufs=(None, one), zsbuf=other), True, 8),
        (FramebufferState(8, 8, zsbuf=several), True, 16),
        (FramebufferState(8, 8, cbufs=(surface(1), one)), True, 8),
        (FramebufferState(8, 8), False, 0),
        (FramebufferState(8, 8, layers=2, cbufs=(one,)), False, 4),
        (FramebufferState(0, 8, cbufs=(one,)), False, 4),
        (FramebufferState(8, 0, cbufs=(one,)), False, 4),
        (FramebufferState(8, 8, cbufs=(one, several)), False, 20),
        (FramebufferState(8, 8, cbufs=(surface(0, 1, 2),)), False, 4),
        (FramebufferState(8, 8, cbufs=(surface(0, 2, 2),)), True, 4),
    ):
        assert tiles.can_be_tiled(framebuffer) == wanted
        assert tiles.pixel_bytes(framebuffer) == size
