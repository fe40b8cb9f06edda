"""Corners of many calls that programs seldom ask for, each with the specification's answer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, pixels


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


def current(gl: Any, what: int) -> list[float]:
    return [round(float(v), 4) for v in gl.get_floatv(what)]


# -- elements of arrays between glBegin and glEnd ------------------------------------------------

RED, BLUE = [1.0, 0.2, 0.0, 0.4], [0.0, 0.2, 1.0, 0.4]
PACKED = 0 | 0x155 << 10 | 0x3FF << 20 | 1 << 30
ARRAYS: dict[str, tuple[int, int, Any, list[float]]] = {
    "bytes": (4, GL.BYTE, np.array([127, -128, 0, 64], "i1"), [1, -1, 0, 64 / 127]),
    "unsigned bytes": (4, GL.UNSIGNED_BYTE, np.array([255, 51, 0, 102], "u1"), RED),
    "blue first": (GL.BGRA, GL.UNSIGNED_BYTE, np.array([255, 51, 0, 102], "u1"), BLUE),
    "shorts": (4, GL.SHORT, np.array([32767, -32768, 0, 0], "i2"), [1, -1, 0, 0]),
    "unsigned shorts": (3, GL.UNSIGNED_SHORT, np.array([65535, 13107, 0], "u2"), [1, 0.2, 0, 1]),
    "ints": (3, GL.INT, np.array([2**31 - 1, -(2**31), 0], "i4"), [1, -1, 0, 1]),
    "unsigned ints": (3, GL.UNSIGNED_INT, np.array([2**32 - 1, 0, 0], "u4"), [1, 0, 0, 1]),
    "halves": (4, GL.HALF_FLOAT, np.array([1.5, -0.25, 0, 2], "f2"), [1.5, -0.25, 0, 2]),
    "floats": (3, GL.FLOAT, np.array([1.5, -0.25, 9], "f4"), [1.5, -0.25, 9, 1]),
    "doubles": (4, GL.DOUBLE, np.array([1.5, -0.25, 9, 0], "f8"), [1.5, -0.25, 9, 0]),
    "packed": (4, GL.UNSIGNED_INT_2_10_10_10_REV, np.array([PACKED], "u4"),
               [0, 341 / 1023, 1, 1 / 3]),
    "packed and signed": (4, GL.INT_2_10_10_10_REV, np.array([PACKED], "u4"),
                          [0, 341 / 511, -1 / 511, 1]),
}  # fmt: skip


@pytest.mark.parametrize("kept", ["in memory", "in a buffer"])
@pytest.mark.parametrize("what", ARRAYS)
def test_elements_are_read_as_their_types_say(gl: Any, what: str, kept: str) -> None:
    size, type, element, wanted = ARRAYS[what]
    data = np.concatenate([np.zeros_like(element), element])
    where: Any = data.ctypes.data
    if kept == "in a buffer":
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes + 4, b"\7" * 4 + data.tobytes(), GL.STATIC_DRAW)
        where = 4
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.color_pointer(size, type, 0, where)
    gl.begin(GL.POINTS)
    gl.array_element(1)
    gl.end()
    assert current(gl, GL.CURRENT_COLOR) == pytest.approx(wanted, abs=1e-4)
    assert errors(gl) == []
    gl.array_element(-1)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.disable_client_state(GL.COLOR_ARRAY)
    gl.color_pointer(4, GL.FLOAT, 0, None)


def test_fixed_point_elements(gl: Any) -> None:
    data = np.array([0, 0, 0, 65536 + 32768, -16384, 0], np.int32)
    gl.enable_vertex_attrib_array(3)
    gl.vertex_attrib_pointer(3, 3, GL.FIXED, 0, 0, data.ctypes.data)
    gl.begin(GL.POINTS)
    gl.array_element(1)
    gl.end()
    gl.disable_vertex_attrib_array(3)
    assert list(gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)) == [1.5, -0.25, 0, 1]


def test_an_element_is_a_vertex_where_there_is_a_position(gl: Any) -> None:
    corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
    colors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    gl.clear(GL.COLOR_BUFFER_BIT)
    for state, pointer, size, data in (
        (GL.VERTEX_ARRAY, gl.vertex_pointer, 2, corners),
        (GL.COLOR_ARRAY, gl.color_pointer, 3, colors),
    ):
        gl.enable_client_state(state)
        pointer(size, GL.FLOAT, 0, data.ctypes.data)
    gl.shade_model(GL.FLAT)
    gl.begin(GL.TRIANGLES)
    for i in (1, 2, 0):
        gl.array_element(i)
    gl.end()
    assert pixels(gl, 8, 8)[4, 4].tolist() == [255, 0, 0, 255]  # of the last vertex


# -- pixels --------------------------------------------------------------------------------------


# -- objects -------------------------------------------------------------------------------------


def test_messages_go_to_c_functions(gl: Any) -> None:
    """A callback is a C function's address, or a Python function."""
    seen: list[tuple[Any, ...]] = []
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_int,
        ctypes.c_char_p, ctypes.c_void_p,
    )  # fmt: skip
    function = kind(lambda *args: seen.append(args))
    address = ctypes.cast(function, ctypes.c_void_p).value
    gl.enable(GL.DEBUG_OUTPUT)
    gl.debug_message_callback(address, 77)
    insert = GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER, 5, GL.DEBUG_SEVERITY_HIGH
    gl.debug_message_insert(*insert, -1, "here")
    gl.debug_message_callback(None, None)
    gl.debug_message_insert(*insert, -1, "there")
    assert [(a[0], a[1], a[2], a[3], a[4], a[5], a[6]) for a in seen] == [
        (*(int(v) for v in insert), 4, b"here", 77)
    ]
