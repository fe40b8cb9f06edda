"""OSMesa's functions called in this process: layouts of memory, and what is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.egl import osmesa
from gallette.egl.osmesa import (
    ARGB,
    BGR,
    BGRA,
    COMPAT_PROFILE,
    CORE_PROFILE,
    DEPTH_BITS,
    FORMAT,
    HEIGHT,
    MAJOR,
    MAX_HEIGHT,
    MAX_WIDTH,
    MINOR,
    PROFILE,
    RGB,
    RGB_565,
    RGBA,
    ROW_LENGTH,
    STENCIL_BITS,
    TYPE,
    WIDTH,
    Y_UP,
)
from gallette.state_tracker.entry_points.current import current_context, set_current
from gallette.state_tracker.entry_points.enums import GL

Make = Callable[..., int]


@pytest.fixture
def make() -> Iterator[Make]:
    """Contexts that are destroyed afterwards."""
    made: list[int] = []

    def create(format: int = RGBA, depth: int = 24, stencil: int = 8, share: int = 0) -> int:
        made.append(osmesa.OSMesaCreateContextExt(format, depth, stencil, 0, share))
        return made[-1]

    yield create
    for context in reversed(made):
        osmesa.OSMesaDestroyContext(context)
    set_current(None)


def number(name: int) -> int:
    found = ctypes.c_int32(-7)
    osmesa.OSMesaGetIntegerv(name, ctypes.addressof(found))
    return found.value


def current(context: int, memory: Any, kind: int, width: int, height: int) -> int:
    return osmesa.OSMesaMakeCurrent(context, memory.ctypes.data, kind, width, height)


def painted(gl: Any) -> None:
    """Left column (0.2, 0.4, 0.6, 0.8), the rest (1, 0, 0, 1); the lowest row (0, 1, 0, 0)."""
    gl.clear_color(1, 0, 0, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(0, 0, 1, 9)
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.scissor(0, 0, 9, 1)
    gl.clear_color(0, 1, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.disable(GL.SCISSOR_TEST)
    gl.calls["glFlush"]()


COLUMN, REST, LOWEST = (51, 102, 153, 204), (255, 0, 0, 255), (0, 255, 0, 0)
ORDERS = {RGBA: "rgba", BGRA: "bgra", ARGB: "argb", RGB: "rgb", BGR: "bgr"}


@pytest.mark.parametrize("format", ORDERS)
def test_channels_are_in_the_requested_order(make: Make, format: int) -> None:
    order = ["rgba".index(letter) for letter in ORDERS[format]]
    memory = np.full((2, 3, len(order)), 7, np.uint8)
    context = make(format)
    assert current(context, memory, GL.UNSIGNED_BYTE, 3, 2) == 1
    assert osmesa.OSMesaGetCurrentContext() == context
    painted(current_context())
    rows = [[LOWEST] * 3, [COLUMN, REST, REST]]
    assert memory.tolist() == [[[c[i] for i in order] for c in row] for row in rows]
    assert number(FORMAT) == format


def test_pixels_of_two_bytes(make: Make) -> None:
    memory = np.full((2, 3), 7, np.uint16)
    assert current(make(RGB_565), memory, GL.UNSIGNED_BYTE, 3, 2) == 1
    painted(current_context())
    column = (51 >> 3) << 11 | (102 >> 2) << 5 | 153 >> 3
    assert memory.tolist() == [[0b11111100000] * 3, [column, 0xF800, 0xF800]]


@pytest.mark.parametrize(
    ("kind", "dtype", "one"),
    [(GL.UNSIGNED_SHORT, np.uint16, 65535), (GL.FLOAT, np.float32, 1.0)],
)
def test_wider_channels(make: Make, kind: int, dtype: Any, one: float) -> None:
    memory = np.zeros((2, 2, 4), dtype)
    assert current(make(), memory, kind, 2, 2) == 1
    assert number(TYPE) == kind
    painted(current_context())
    np.testing.assert_allclose(memory[1, 0] / one, [0.2, 0.4, 0.6, 0.8], rtol=1e-4)
    assert (memory[1, 1] / one).tolist() == [1, 0, 0, 1]


def test_rows_may_be_longer_and_the_highest_first(make: Make) -> None:
    memory = np.full((2, 5, 4), 7, np.uint8)
    current(make(), memory, GL.UNSIGNED_BYTE, 3, 2)
    for name, value, kept in ((ROW_LENGTH, 5, 5), (ROW_LENGTH, -2, 0), (Y_UP, 0, 0), (Y_UP, 9, 1)):
        osmesa.OSMesaPixelStore(name, value)
        assert number(name) == kept
    osmesa.OSMesaPixelStore(ROW_LENGTH, 5)
    painted(current_context())
    assert memory[:, :3].tolist() == [list(map(list, [LOWEST] * 3)), [
        list(COLUMN), list(REST), list(REST)]]  # fmt: skip
    assert (memory[:, 3:] == 7).all()
    osmesa.OSMesaPixelStore(Y_UP, 0)
    painted(current_context())
    assert memory[1, 2].tolist() == list(LOWEST)
    assert memory[0, 2].tolist() == list(REST)
    osmesa.OSMesaPixelStore(0x1234, 1)
    assert (number(ROW_LENGTH), number(Y_UP), number(0x1234)) == (5, 0, 0)


def test_numbers_of_a_context(make: Make) -> None:
    assert number(WIDTH) == -7  # nothing is current: nothing is stored
    osmesa.OSMesaPixelStore(ROW_LENGTH, 5)
    osmesa.OSMesaColorClamp(1)
    memory = np.zeros((6, 8, 4), np.uint8)
    current(make(), memory, GL.UNSIGNED_BYTE, 8, 6)
    gl: Any = current_context()
    assert (number(WIDTH), number(HEIGHT), number(ROW_LENGTH), number(Y_UP)) == (8, 6, 0, 1)
    assert number(MAX_WIDTH) == number(MAX_HEIGHT) == gl.caps.max_texture_2d_size
    clamp = GL.CLAMP_FRAGMENT_COLOR
    for enable, wanted in ((1, GL.TRUE), (0, GL.FIXED_ONLY)):
        osmesa.OSMesaColorClamp(enable)
        assert gl.get_integerv(clamp)[0] == wanted
    assert osmesa.OSMesaPostprocess(1, 2, 3) is None


def test_the_picture_is_there_when_the_context_is_left(make: Make) -> None:
    first, second = make(), make()
    memory, other = np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 4), np.uint8)
    for leave in (
        lambda: osmesa.OSMesaMakeCurrent(0, 0, 0, 0, 0),
        lambda: current(second, other, GL.UNSIGNED_BYTE, 2, 2),
        lambda: current_context().calls["glFinish"](),  # type: ignore[union-attr]
    ):
        current(first, memory, GL.UNSIGNED_BYTE, 2, 2)
        memory[:] = 0
        gl: Any = current_context()
        gl.clear_color(0.2, 0.4, 0.6, 0.8)
        gl.clear(GL.COLOR_BUFFER_BIT)
        assert not memory.any()
        assert leave() in (None, 1)
        assert memory.reshape(-1, 4).tolist() == [list(COLUMN)] * 4
    osmesa.OSMesaMakeCurrent(0, 0, 0, 0, 0)
    assert osmesa.OSMesaGetCurrentContext() == 0
    assert current_context() is None


def test_images_are_recreated_for_another_size_or_type(make: Make) -> None:
    context = make()
    kept = osmesa._CONTEXTS[context]
    memory = np.zeros((4, 4, 4), np.float32)
    seen: list[Any] = []
    for kind, width, height in (
        (GL.UNSIGNED_BYTE, 2, 2), (GL.UNSIGNED_BYTE, 2, 2), (GL.FLOAT, 2, 2), (GL.FLOAT, 3, 2),
        (GL.FLOAT, 3, 3),
    ):  # fmt: skip
        assert current(context, memory, kind, width, height) == 1
        seen.append(kept.drawable)
        assert kept.drawable is not None
        assert kept.drawable.size == (width, height)
        assert kept.drawable.depth_stencil is not None
    assert seen[0] is seen[1]
    assert len(set(map(id, seen))) == 4
    assert [d.color is None for d in seen] == [True, True, True, True, False]


def test_what_cannot_be_current(make: Make) -> None:
    memory, context = np.zeros((2, 2, 4), np.uint8), make()
    for kind, width, height in ((GL.INT, 2, 2), (GL.UNSIGNED_BYTE, 0, 2), (GL.UNSIGNED_BYTE, 2, 0)):
        assert current(context, memory, kind, width, height) == 0
    assert osmesa.OSMesaMakeCurrent(context, 0, GL.UNSIGNED_BYTE, 2, 2) == 0
    assert current(context + 1, memory, GL.UNSIGNED_BYTE, 2, 2) == 0
    assert osmesa.OSMesaGetCurrentContext() == 0
    assert current(context, memory, GL.UNSIGNED_BYTE, 1, 1) == 1


def test_depths_and_colours_can_be_had(make: Make) -> None:
    context, without = make(depth=24, stencil=0), make(depth=0, stencil=0)
    width, height, third, where = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_int32(), (
        ctypes.c_void_p())  # fmt: skip
    places = [ctypes.addressof(p) for p in (width, height, third, where)]
    depths, colors = osmesa.OSMesaGetDepthBuffer, osmesa.OSMesaGetColorBuffer
    assert depths(context, *places) == colors(context, *places) == 0  # never current yet
    assert depths(7, *places) == colors(7, *places) == 0
    memory = np.zeros((3, 2, 4), np.uint8)
    current(without, memory, GL.UNSIGNED_BYTE, 2, 3)
    assert depths(without, *places) == 0
    current(context, memory, GL.UNSIGNED_BYTE, 2, 3)
    gl: Any = current_context()
    gl.clear_depth(0.25)
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    assert depths(context, *places) == 1
    assert (width.value, height.value, third.value) == (2, 3, 4)
    found = np.frombuffer((ctypes.c_uint32 * 6).from_address(where.value or 0), np.uint32)
    np.testing.assert_allclose(found / (2**32 - 1), 0.25, atol=1e-6)
    third.value = 0
    assert colors(context, *places) == 1
    assert (width.value, height.value, third.value) == (2, 3, RGBA)
    assert where.value == memory.ctypes.data
    assert memory.reshape(-1, 4).tolist() == [list(COLUMN)] * 6
    assert depths(context, 0, 0, 0, places[3]) == 1  # who asks for less gets less


def test_a_stencil_buffer_is_a_reason_for_both(make: Make) -> None:
    memory = np.zeros((2, 2, 4), np.uint8)
    for depth, stencil in ((0, 8), (16, 0)):
        current(make(depth=depth, stencil=stencil), memory, GL.UNSIGNED_BYTE, 2, 2)
        gl: Any = current_context()
        assert gl.get_integerv(GL.DEPTH_BITS)[0] == 24


def attributes(*values: int) -> Any:
    return (ctypes.c_int32 * (len(values) + 1))(*values, 0)


@pytest.mark.parametrize(
    ("given", "profile", "version", "format", "deep"),
    [
        ((), "compat", (1, 0), RGBA, False),
        ((FORMAT, BGRA, DEPTH_BITS, 24), "compat", (1, 0), BGRA, True),
        ((STENCIL_BITS, 8, PROFILE, COMPAT_PROFILE), "compat", (1, 0), RGBA, True),
        ((PROFILE, CORE_PROFILE, MAJOR, 3, MINOR, 3), "core", (3, 3), RGBA, False),
    ],
)
def test_contexts_of_lists_of_attributes(
    given: tuple[int, ...], profile: str, version: tuple[int, int], format: int, deep: bool
) -> None:
    kept = attributes(*given)
    context = osmesa.OSMesaCreateContextAttribs(ctypes.addressof(kept) if given else 0, 0)
    found = osmesa._CONTEXTS[context]
    assert found.gl.profile == profile
    assert found.gl.requested_version == version
    assert (found.format, bool(found.has_depth)) == (format, deep)
    assert current_context() is None  # making one does not make it current
    osmesa.OSMesaDestroyContext(context)
    assert context not in osmesa._CONTEXTS
    assert found.gl.released


def test_contexts_that_cannot_be(make: Make) -> None:
    assert make(0x1234) == 0
    kept = attributes(MAJOR, 9, MINOR, 9)
    assert osmesa.OSMesaCreateContextAttribs(ctypes.addressof(kept), 0) == 0
    osmesa.OSMesaDestroyContext(77)


def test_shared_contexts_see_each_others_objects(make: Make) -> None:
    first = osmesa.OSMesaCreateContext(RGBA, 0)
    second = osmesa.OSMesaCreateContext(BGR, first)
    alone = make()
    groups = [osmesa._CONTEXTS[c].gl.group for c in (first, second, alone)]
    assert groups[0] is groups[1]
    assert groups[0] is not groups[2]
    assert osmesa._CONTEXTS[first].has_depth
    osmesa.OSMesaDestroyContext(second)
    osmesa.OSMesaDestroyContext(first)


def test_functions_are_found_by_name() -> None:
    for name, there in ((b"glClear", True), (b"OSMesaPixelStore", True), (b"glNothing", False)):
        kept = ctypes.create_string_buffer(name)
        assert bool(osmesa.OSMesaGetProcAddress(ctypes.addressof(kept))) == there
