"""Display lists: each program runs on our GL and on the machine's, and the pictures agree."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import Kind
from gallette.state_tracker.optional.compatibility.immediate import ImmediateState
from gallette.state_tracker.optional.compatibility.list_functions import (
    compiled_functions,
    pointer_bytes,
)
from tests.state_tracker.helpers import pixels
from tests.state_tracker.pictures import compare


def colored(gl: Any) -> None:
    """A list with colours of its own, moved twice, and one that uses the current colour."""
    first = gl.gen_lists(2)
    gl.new_list(first, GL.COMPILE)
    gl.begin(GL.TRIANGLES)
    for i, (x, y) in enumerate(((-0.3, -0.3), (0.3, -0.3), (0.0, 0.3))):
        gl.color3fv(np.eye(3, dtype=np.float32)[i])
        gl.vertex2f(x, y)
    gl.end()
    gl.end_list()
    gl.new_list(first + 1, GL.COMPILE)
    gl.rectf(-0.1, -0.1, 0.1, 0.1)
    gl.end_list()
    for x in (-0.5, 0.5):
        gl.push_matrix()
        gl.translatef(x, 0.5, 0.0)
        gl.call_list(first)
        gl.pop_matrix()
    gl.color3f(1.0, 1.0, 0.0)
    gl.translatef(0.0, -0.5, 0.0)
    gl.call_list(first + 1)


def nested(gl: Any) -> None:
    """A list calls another one, which is replaced between two plays."""
    gl.new_list(7, GL.COMPILE)
    gl.color3f(1.0, 0.0, 0.0)
    gl.end_list()
    gl.new_list(8, GL.COMPILE_AND_EXECUTE)
    gl.call_list(7)
    gl.rectf(-1.0, -1.0, -0.5, -0.5)
    gl.translatef(0.6, 0.2, 0.0)
    gl.end_list()
    gl.new_list(7, GL.COMPILE)
    gl.color3f(0.0, 1.0, 0.0)
    gl.end_list()
    gl.call_list(8)
    gl.call_lists(2, GL.UNSIGNED_BYTE, np.array([7, 8], np.uint8))


def arrays(gl: Any) -> None:
    """What arrays held when the list was compiled is drawn, whatever they hold later."""
    data = np.array([-0.8, -0.8, 0.0, -0.8, -0.8, 0.0, 0.2, 0.2, 0.9, 0.2, 0.2, 0.9], np.float32)
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]] * 2, np.uint8)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, data)
    gl.color_pointer(3, GL.UNSIGNED_BYTE, 0, colors)
    gl.new_list(1, GL.COMPILE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, np.array([3, 4, 5], np.uint16))
    gl.end_list()
    data[:] = 0.0
    gl.disable_client_state(GL.VERTEX_ARRAY)
    gl.disable_client_state(GL.COLOR_ARRAY)
    gl.call_list(1)
    gl.call_list(1)


def textured(gl: Any) -> None:
    """Texture images are unpacked when the list is compiled."""
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    texels = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]], np.uint8)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.new_list(3, GL.COMPILE)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGB, 2, 2, 0, GL.RGB, GL.UNSIGNED_BYTE, texels)
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.REPLACE)
    gl.end_list()
    texels[:] = 0
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 8)
    gl.pixel_storei(GL.UNPACK_SKIP_PIXELS, 1)
    gl.call_list(3)
    gl.begin(GL.QUADS)
    for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
        gl.tex_coord2i(s, t)
        gl.vertex2f(1.6 * s - 0.8, 1.6 * t - 0.8)
    gl.end()


def lit(gl: Any) -> None:
    """Vectors of state are copied."""
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    position = np.array([0.3, 0.5, 1.0, 0.0], np.float32)
    gl.new_list(1, GL.COMPILE)
    gl.lightfv(GL.LIGHT0, GL.POSITION, position)
    gl.materialfv(GL.FRONT, GL.DIFFUSE, np.array([0.9, 0.6, 0.2, 1.0], np.float32))
    gl.load_matrixf(np.diag([0.5, 0.5, 1.0, 1.0]).astype(np.float32))
    gl.normal3f(0.0, 0.0, 1.0)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.end_list()
    position[:] = 0.0
    gl.call_list(1)


@pytest.mark.native
def runs(gl: Any) -> None:
    """Primitives and arrays of one list, with matrices, normals and colours between them, are
    played three times: in other states and from other matrices.
    """
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, np.array([0, 0, 0.2, 0, 0.2, 0.2, 0, 0.2], np.float32))
    gl.new_list(1, GL.COMPILE)
    gl.push_matrix()
    for k in range(6):
        gl.front_face(GL.CW if k == 3 else GL.CCW)
        gl.normal3f(0.2 * k - 0.5, 0.1, 0.7)
        gl.color4f(0.1 * k, 0.5, 1.0 - 0.1 * k, 1.0)
        gl.begin(GL.POLYGON if k % 3 else GL.TRIANGLES)
        for x, y in ((0.0, 0.0), (0.3, 0.0), (0.15, 0.3)):
            gl.vertex2f(x, y)
        gl.end()
        gl.translatef(0.25, 0.05 * k, 0.0)
        gl.scalef(1.0, 0.9, 1.0)
        gl.draw_arrays(GL.TRIANGLE_FAN, 0, 4)
        if k == 2:
            gl.load_matrixf(np.diag([0.8, 0.7, 1.0, 1.0]).astype(np.float32))
    gl.pop_matrix()
    gl.end_list()
    gl.vertex_pointer(2, GL.FLOAT, 0, np.zeros(8, np.float32))
    gl.translatef(-0.9, -0.9, 0.0)
    gl.call_list(1)
    gl.enable(GL.COLOR_MATERIAL)
    gl.translatef(0.1, 0.6, 0.0)
    gl.call_list(1)
    gl.disable(GL.LIGHTING)
    gl.translatef(0.1, 0.6, 0.0)
    gl.rotatef(10.0, 0.0, 0.0, 1.0)
    for _ in range(2):
        gl.call_list(1)
        gl.translatef(0.0, -0.4, 0.0)
    gl.begin(GL.TRIANGLES)  # in the colour that the list has left
    for x, y in ((-0.5, 0.0), (0.0, 0.0), (0.0, -0.5)):
        gl.vertex2f(x, y)
    gl.end()


@pytest.mark.parametrize("drawing", [colored, nested, arrays, textured, lit, runs])
def test_lists_draw_what_native_lists_draw(drawing: Callable[[Any], None]) -> None:
    compare(drawing)


def test_every_compiled_function_says_how_much_it_reads(noop: Any) -> None:
    for function in compiled_functions():
        pointers = [p for p in function.params if p.kind is Kind.POINTER]
        if not pointers or "Draw" in function.name or "Image" in function.name:
            continue
        if function.name in ("Bitmap", "PolygonStipple"):
            continue
        names = {"target": GL.MAP2_VERTEX_3, "pname": GL.DIFFUSE, "type": GL.INT}
        args = tuple(names.get(p.name, 1) for p in function.params)
        assert pointer_bytes(noop, function, args) > 0, str(function)


def test_a_primitive_with_attributes_from_before_it_is_drawn_from_its_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compat = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    name = compat.gen_lists(1)
    compat.new_list(name, GL.COMPILE)
    compat.color3f(1.0, 0.0, 0.0)
    compat.begin(GL.TRIANGLES)
    compat.vertex2f(-1.0, -1.0)
    compat.color3f(0.0, 0.0, 1.0)
    compat.vertex2f(3.0, -1.0)
    compat.vertex2f(-1.0, 3.0)
    compat.end()
    compat.end_list()
    compat.call_list(name)
    once = pixels(compat)
    compat.clear(GL.COLOR_BUFFER_BIT)
    drawn: list[Any] = []
    replay = ImmediateState.replay
    monkeypatch.setattr(
        ImmediateState, "replay", lambda self, what: (drawn.append(what), replay(self, what))
    )
    compat.call_list(name)
    assert len(drawn) == 1 and np.array_equal(pixels(compat), once)
    compat.release()


def test_a_run_of_primitives_is_one_series() -> None:
    """A list of many primitives, each with a matrix of its own, is drawn from one buffer."""
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(16, 16))
    with gl:
        gl.new_list(1, GL.COMPILE)
        for k in range(8):
            gl.push_matrix()
            gl.translatef(k / 4 - 1.0, 0.0, 0.0)
            gl.front_face(GL.CCW)
            gl.begin(GL.QUADS)
            for x, y in ((0.0, 0.6), (0.2, 0.6), (0.2, 0.9), (0.0, 0.9)):
                gl.vertex2f(x, y)
            gl.end()
            gl.pop_matrix()
        gl.end_list()
        assert [len(series) for series in _series_of(gl, 3)] == [7, 7]
        gl.new_list(1, GL.COMPILE)
        for k in range(40):  # of which each four are one draw
            gl.materialfv(GL.FRONT, GL.DIFFUSE, (1.0, 0.0, 0.0, 1.0))
            if k % 4 == 0:
                gl.translatef(0.1, 0.0, 0.0)
            gl.begin(GL.TRIANGLES)
            for x, y in ((-0.5, 0.0), (0.0, 0.0), (0.0, -0.5)):
                gl.vertex2f(x, y)
            gl.end()
        gl.end_list()
        assert [len(series) for series in _series_of(gl, 2)] == [9]
        gl.new_list(1, GL.COMPILE)
        for k in range(8):  # of several modes and counts
            gl.translatef(0.1, 0.0, 0.0)
            gl.begin((GL.TRIANGLES, GL.LINE_STRIP, GL.POINTS, GL.POLYGON)[k % 4])
            for _ in range(3 + k):
                gl.vertex2f(k / 8, 0.0)
            gl.end()
        gl.end_list()
        assert [len(series) for series in _series_of(gl, 2)] == [7]


def test_draws_by_index_are_primitives_of_a_run() -> None:
    """Not those that restart, and large ones, which keep their indices."""
    gl: Any = create_context("numpipe", profile="compat", version=(3, 2), size=(16, 16))
    with gl:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, np.linspace(-1.0, 1.0, 16, dtype=np.float32))
        gl.enable(GL.PRIMITIVE_RESTART)
        gl.primitive_restart_index(9)
        for indices, drawn in (([5, 1, 2, 7], [5]), ([5, 1, 9, 7], []), ([5, 1, 2] * 400, [])):
            gl.new_list(1, GL.COMPILE)
            for _ in range(6):
                gl.translatef(0.1, 0.0, 0.0)
                some = np.array(indices, np.uint8)
                gl.draw_elements(GL.TRIANGLE_STRIP, len(some), GL.UNSIGNED_BYTE, some)
            gl.end_list()
            assert [len(series) for series in _series_of(gl, 2)] == drawn


def _series_of(gl: Any, times: int) -> list[Any]:
    """The series of draws that the driver gets when list 1 is called so often."""
    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        made = gl.pipe.draw_series
        patch.setattr(gl.pipe, "draw_series", lambda some: found.append(some) or made(some))
        for _ in range(times):
            gl.call_list(1)
    return found


def test_an_error_of_a_draw_does_not_end_a_list(compat: GLInterface) -> None:
    """Draws that fail leave the other calls of their list to be made."""
    gl: Any = compat
    gl.new_list(1, GL.COMPILE)
    for _ in range(5):
        gl.begin(GL.TRIANGLES)
        for x, y in ((-0.5, 0.0), (0.0, 0.0), (0.0, -0.5)):
            gl.vertex2f(x, y)
        gl.end()
        gl.translatef(0.5, 0.0, 0.0)
    gl.end_list()
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    for count in (1, 2, 3):
        gl.call_list(1)
        assert gl.get_error() == GL.INVALID_FRAMEBUFFER_OPERATION
        assert gl.get_floatv(GL.MODELVIEW_MATRIX)[12] == 2.5 * count


def curves(gl: Any) -> None:
    """Evaluators: a curve with colours, a surface with automatic normals."""
    points = np.array([[-0.9, -0.9, 0], [-0.5, 0.9, 0], [0.5, -0.9, 0], [0.9, 0.9, 0]], np.float32)
    gl.map1f(GL.MAP1_VERTEX_3, 0.0, 1.0, 3, 4, points)
    gl.map1f(GL.MAP1_COLOR_4, 0.0, 1.0, 4, 2, np.array([1, 0, 0, 1, 0, 1, 0, 1], np.float32))
    gl.enable(GL.MAP1_VERTEX_3)
    gl.enable(GL.MAP1_COLOR_4)
    gl.map_grid1f(20, 0.0, 1.0)
    gl.line_width(3.0)
    gl.eval_mesh1(GL.LINE, 0, 20)
    assert gl.get_floatv(GL.CURRENT_COLOR) == [1.0, 1.0, 1.0, 1.0]


def surfaces(gl: Any) -> None:
    grid = np.zeros((3, 3, 3), np.float32)
    grid[..., 0] = np.linspace(-0.8, 0.8, 3)[:, None]
    grid[..., 1] = np.linspace(-0.8, 0.8, 3)[None, :]
    grid[1, 1, 2] = 0.8
    gl.map2f(GL.MAP2_VERTEX_3, 0.0, 1.0, 9, 3, 0.0, 1.0, 3, 3, grid)
    gl.enable(GL.MAP2_VERTEX_3)
    gl.enable(GL.AUTO_NORMAL)
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.map_grid2d(8, 0.0, 1.0, 8, 0.0, 1.0)
    gl.eval_mesh2(GL.FILL, 0, 8, 0, 8)


@pytest.mark.native
@pytest.mark.parametrize("drawing", [curves, surfaces])
def test_evaluators_draw_what_native_ones_draw(drawing: Callable[[Any], None]) -> None:
    compare(drawing, tolerance=2, stray=8)


def test_c_pointers_record_too(compat: GLInterface) -> None:
    color = ctypes.CFUNCTYPE(None, *[ctypes.c_float] * 3)(compat.load_opengl_function("glColor3f"))
    color(0.5, 0.5, 0.5)
    compat.new_list(1, GL.COMPILE)
    color(1.0, 0.0, 0.0)
    compat.end_list()
    assert compat.get_floatv(GL.CURRENT_COLOR)[:3] == [0.5, 0.5, 0.5]
    compat.call_list(1)
    assert compat.get_floatv(GL.CURRENT_COLOR)[:3] == [1.0, 0.0, 0.0]
