"""Which elements of the application's arrays a call reads: those it names, and no others."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.memory import LISTENERS
from tests.state_tracker.helpers import errors, linked, pixels

STRIDE = 16
ROWS = 70_000  # so many are there, but calls that name few must read few
POSITIONS, INSTANCES = 0, 1


class Reads:
    """Hears which bytes of C memory a call reads."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def read(self, address: int, data: bytes) -> None:
        self.ranges.append((address, address + len(data)))

    def wrote(self, pointer: Any, data: Any) -> None:
        pass

    def touched(self, address: int, size: int, lasting: bool) -> None:
        pass

    def rows(self, array: Any) -> set[int]:
        """The elements of an array that were read, in part or as a whole."""
        begin, end = array.ctypes.data, array.ctypes.data + array.nbytes
        found: set[int] = set()
        for low, high in self.ranges:
            if low < end and high > begin:
                found |= set(range((low - begin) // STRIDE, -(-(high - begin) // STRIDE)))
        return found


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


@pytest.fixture
def arrays(gl: Any) -> list[Any]:
    """An array of positions, and one whose elements are for two instances each."""
    made = [np.zeros((ROWS, STRIDE // 4), np.float32) for _ in range(2)]
    gl.vertex_pointer(3, GL.FLOAT, STRIDE, made[POSITIONS].ctypes.data)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_attrib_pointer(5, 3, GL.FLOAT, 0, STRIDE, made[INSTANCES].ctypes.data)
    gl.vertex_attrib_divisor(5, 2)
    gl.enable_vertex_attrib_array(5)
    sources = (
        (GL.VERTEX_SHADER, "#version 430 compatibility\nlayout(location=5) in vec3 a;\n"
         "void main() { gl_Position = gl_Vertex + vec4(a, 0); }"),
        (GL.FRAGMENT_SHADER, "#version 430 compatibility\nvoid main() {}"),
    )  # fmt: skip
    linked(gl, sources)
    assert errors(gl) == []
    return made


KEPT: list[Any] = []


def at(array: Any) -> int:
    """The address of an array that lives as long as the tests do."""
    KEPT.append(array)
    return int(array.ctypes.data)


def elements(dtype: str, *values: int) -> int:
    return at(np.array(values, dtype))


B, S, U = GL.UNSIGNED_BYTE, GL.UNSIGNED_SHORT, GL.UNSIGNED_INT
P = GL.POINTS
WILD = 0xFFFFFFF0

# What is called, the vertices it reads, and the elements for instances.
CALLS: dict[str, tuple[Callable[[Any], Any], set[int], set[int]]] = {
    "arrays": (lambda gl: gl.draw_arrays(P, 3, 4), {3, 4, 5, 6}, {0}),
    "no arrays": (lambda gl: gl.draw_arrays(P, 3, 0), set(), set()),
    "no instances": (lambda gl: gl.draw_arrays_instanced(P, 0, 3, 0), set(), set()),
    "instances": (lambda gl: gl.draw_arrays_instanced(P, 0, 2, 4), {0, 1}, {0, 1}),
    "later instances": (
        lambda gl: gl.draw_arrays_instanced_base_instance(P, 0, 2, 5, 9),
        {0, 1},
        {9, 10, 11},
    ),
    "negative first": (lambda gl: gl.draw_arrays(P, -3, 4), set(), set()),
    "several": (
        lambda gl: gl.multi_draw_arrays(P, elements("i4", 7, 100), elements("i4", 2, 0), 2),
        {7, 8},
        {0},
    ),
    "elements": (lambda gl: gl.draw_elements(P, 2, S, elements("u2", 4, 6)), {4, 5, 6}, {0}),
    "no elements": (lambda gl: gl.draw_elements(P, 0, S, elements("u2", 4)), set(), set()),
    "restart": (
        lambda gl: gl.draw_elements(P, 3, U, elements("u4", 4, WILD, 5)),
        {4, 5},
        {0},
    ),
    "nothing but restarts": (
        lambda gl: gl.draw_elements(P, 2, U, elements("u4", WILD, WILD)),
        set(),
        set(),
    ),
    "restart in a range": (
        lambda gl: gl.draw_range_elements(P, 0, 9, 3, U, elements("u4", WILD, 2, 2)),
        {2},
        {0},
    ),
    "restart with a base": (
        lambda gl: gl.draw_elements_base_vertex(P, 2, U, elements("u4", WILD, 2), 3),
        {5},
        {0},
    ),
    "a base below zero": (
        lambda gl: gl.draw_elements_base_vertex(P, 2, U, elements("u4", 1, 12), -10),
        {0, 1, 2},
        {0},
    ),
    "all below zero": (
        lambda gl: gl.draw_elements_base_vertex(P, 2, U, elements("u4", 1, 2), -10),
        set(),
        set(),
    ),
    "instances of elements": (
        lambda gl: gl.draw_elements_instanced_base_vertex_base_instance(
            P, 2, B, elements("u1", 1, 2), 3, 10, 20
        ),
        {11, 12},
        {20, 21},
    ),
    "several elements": (
        lambda gl: gl.multi_draw_elements_base_vertex(
            P,
            elements("i4", 2, 0, 1),
            U,
            elements("i8", elements("u4", WILD, 3), 0, elements("u4", 5)),
            3,
            elements("i4", 1, -7, 0),
        ),
        {4, 5},
        {0},
    ),
}


def mark_restarts(gl: Any, how: str) -> None:
    """Make WILD, or the largest number of each type, restart primitives."""
    if how == "index":
        gl.enable(GL.PRIMITIVE_RESTART)
        gl.primitive_restart_index(WILD)
    elif how == "client state":
        gl.enable_client_state(GL.PRIMITIVE_RESTART_NV)
        gl.primitive_restart_index_nv(WILD)


@pytest.fixture
def heard() -> Iterator[Reads]:
    made = Reads()
    LISTENERS.append(made)
    yield made
    LISTENERS.remove(made)


@pytest.mark.parametrize("name", CALLS)
def test_a_draw_reads_the_elements_that_it_names(
    gl: Any, arrays: list[Any], heard: Reads, name: str
) -> None:
    call, positions, instances = CALLS[name]
    mark_restarts(gl, "index")
    call(gl)
    assert [heard.rows(array) for array in arrays] == [positions, instances]
    assert errors(gl) == (["GL_INVALID_VALUE"] if "negative" in name else [])


@pytest.mark.parametrize("name", [name for name in CALLS if "instances" not in name])
def test_a_list_reads_the_elements_when_it_is_compiled(
    gl: Any, arrays: list[Any], heard: Reads, name: str
) -> None:
    """Playing it reads nothing of the application's, whatever restarts primitives by then."""
    call, positions, instances = CALLS[name]
    mark_restarts(gl, "client state")
    gl.new_list(1, GL.COMPILE)
    call(gl)
    gl.end_list()
    assert [heard.rows(array) for array in arrays] == [positions, instances]
    gl.disable_client_state(GL.PRIMITIVE_RESTART_NV)
    heard.ranges.clear()
    gl.call_list(1)
    assert [heard.rows(array) for array in arrays] == [set(), set()]
    assert not gl.is_enabled(GL.PRIMITIVE_RESTART)
    assert errors(gl) == (["GL_INVALID_VALUE"] if "negative" in name else [])


@pytest.mark.parametrize("dtype, type", [("u1", B), ("u2", S), ("u4", U)])
@pytest.mark.parametrize("listed", [False, True])
def test_the_fixed_restart_index_is_not_read(
    gl: Any, arrays: list[Any], heard: Reads, dtype: str, type: int, listed: bool
) -> None:
    gl.enable(GL.PRIMITIVE_RESTART_FIXED_INDEX)
    if listed:
        gl.new_list(1, GL.COMPILE)
    gl.draw_elements(P, 3, type, elements(dtype, 3, np.iinfo(dtype).max, 5))
    if listed:
        gl.end_list()
    assert [heard.rows(array) for array in arrays] == [{3, 4, 5}, {0}]
    assert errors(gl) == []


def test_draws_of_captured_vertices_read_as_many_of_each_array(
    gl: Any, arrays: list[Any], heard: Reads
) -> None:
    source = "#version 430 compatibility\nout vec4 kept; void main() { kept = vec4(1); }"
    program = linked(gl, captured=["kept"], vertex=source, used=False)
    (before,) = gl.get_integerv(GL.CURRENT_PROGRAM)
    gl.use_program(program)
    gl.bind_buffer(GL.TRANSFORM_FEEDBACK_BUFFER, 1)
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 4096, None, GL.STATIC_DRAW)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 1)
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, gl.gen_transform_feedbacks(1)[0])
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 1)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(P, 0, 5)
    gl.end_transform_feedback()
    gl.use_program(before)
    heard.ranges.clear()
    gl.draw_transform_feedback_instanced(P, 1, 3)
    assert [heard.rows(array) for array in arrays] == [{0, 1, 2, 3, 4}, {0, 1}]
    assert errors(gl) == []


@pytest.mark.parametrize("how", ["index", "client state"])
@pytest.mark.parametrize("listed", [False, True])
def test_array_element_of_the_restart_index_reads_nothing(
    gl: Any, arrays: list[Any], heard: Reads, how: str, listed: bool
) -> None:
    mark_restarts(gl, how)
    signed = WILD - (1 << 32)
    if listed:
        gl.new_list(1, GL.COMPILE)
    gl.begin(GL.POINTS)
    for index in (5, signed, 8):
        gl.array_element(index)
    gl.end()
    if listed:
        gl.end_list()
    assert heard.rows(arrays[POSITIONS]) == {5, 8}
    if listed:
        heard.ranges.clear()
        gl.disable(GL.PRIMITIVE_RESTART)
        gl.disable_client_state(GL.PRIMITIVE_RESTART_NV)
        gl.call_list(1)
        assert heard.rows(arrays[POSITIONS]) == set()
    assert errors(gl) == []


def test_the_distance_to_a_row_that_is_not_there_does_not_matter(gl: Any) -> None:
    """Lengths of rows and images whose product is no 64-bit number, and an image of one pixel."""
    for way in ("UNPACK", "PACK"):
        gl.pixel_storei(getattr(GL, f"{way}_ROW_LENGTH"), 0x7FFFFFFF)
        gl.pixel_storei(getattr(GL, f"{way}_IMAGE_HEIGHT"), 0x7FFFFFFF)
    pixel = np.array([0.25, 0.5, 0.75, 1], np.float32)
    gl.tex_image3d(GL.TEXTURE_3D, 0, GL.RGBA32F, 1, 1, 1, 0, GL.RGBA, GL.FLOAT, at(pixel))
    found = np.zeros(4, np.float32)
    gl.get_tex_image(GL.TEXTURE_3D, 0, GL.RGBA, GL.FLOAT, found.ctypes.data)
    assert errors(gl) == []
    assert found.tolist() == pixel.tolist()


@pytest.mark.parametrize("lsb_first", [0, 1])
def test_packing_preserves_the_gaps_between_rows(gl: Any, lsb_first: int) -> None:
    """Rows gigabytes apart are written where they are: nothing between them is looked at."""
    gl.polygon_stipple(bytes(range(128)))
    gl.pixel_storei(GL.PACK_LSB_FIRST, lsb_first)
    expected = np.frombuffer(gl.get_polygon_stipple(), np.uint8).reshape(32, 4)
    step = 1 << 27
    with mmap.mmap(-1, 32 * step) as memory:  # pages that are not touched take no room
        area = np.frombuffer(memory, np.uint8)
        gl.pixel_storei(GL.PACK_ROW_LENGTH, 8 * step)
        gl.get_polygon_stipple(area.ctypes.data)
        gl.pixel_storei(GL.PACK_ROW_LENGTH, step // 4)
        gl.clear_color(1, 0, 1, 0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 2, 8, GL.RGBA, GL.UNSIGNED_BYTE, area.ctypes.data + 64)
        rows = [area[y * step : y * step + 72].copy() for y in range(32)]
        del area
    assert [row[:4].tolist() for row in rows] == expected.tolist()
    assert [row[64:72].tolist() for row in rows[:8]] == [[255, 0, 255, 0] * 2] * 8
    assert not any(row[4:64].any() or row[72:].any() for row in rows)
    assert errors(gl) == []


def test_array_element_of_the_restart_index_begins_another_primitive(compat: Any) -> None:
    """Outside glBegin and glEnd it is an error, as glPrimitiveRestartNV is."""
    corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
    compat.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
    compat.enable_client_state(GL.VERTEX_ARRAY)
    compat.enable_client_state(GL.PRIMITIVE_RESTART_NV)
    compat.primitive_restart_index(0x7FFFFFFF)
    compat.begin(GL.TRIANGLES)
    for index in (0, 1, 0x7FFFFFFF, 3, 1, 2):
        compat.array_element(index)
    compat.end()
    assert errors(compat) == []
    picture = pixels(compat)[..., 0]
    assert picture[60, 60] == 255
    assert picture[4, 4] == 0
    compat.array_element(0x7FFFFFFF)
    assert errors(compat) == ["GL_INVALID_OPERATION"]
