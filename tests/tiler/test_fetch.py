"""A shader that reads the framebuffer reads the tile: no byte comes from memory for it."""

from __future__ import annotations

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, pixels, program
from tests.state_tracker.test_framebuffer_fetch import FETCH_FS, VS, one_by_one


def test_the_tile_is_read_and_not_memory() -> None:
    gl = Context("tiler", version=(4, 3), size=(64, 64), tile_memory=8)
    with gl:
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        program(gl, VS, FETCH_FS)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 90)
        gl.draw_arrays(GL.TRIANGLES, 90, 90)
        seen = pixels(gl)
        assert errors(gl) == []
        (report,) = gl.pipe.reports
    assert len(report.tiles) == 4 and report.draws == 2
    assert not any(tile.loaded for tile in report.tiles)
    assert report.moved == sum(tile.stored for tile in report.tiles) == 64 * 64 * 8
    # The second draw counts its vertices from 90 on: its triangles are the next ones.
    assert (seen == one_by_one()).all()
