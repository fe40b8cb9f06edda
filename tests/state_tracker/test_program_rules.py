"""Rules about programs that C programs rely on; on our GL and on the machine's."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.memory.storage import allocate
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.state_tracker import GL, GLInterface


def test_colours_are_told_clamped_where_they_are_clamped(compat: GLInterface) -> None:
    gl = compat
    gl.alpha_func(GL.GREATER, 7.0)
    gl.blend_color(7.0, -2.0, 0.5, 1.0)
    for clamp, reference, color in (
        (GL.TRUE, 1.0, [1.0, 0.0, 0.5, 1.0]),
        (GL.FALSE, 7.0, [7.0, -2.0, 0.5, 1.0]),
    ):
        gl.clamp_color_arb(GL.CLAMP_FRAGMENT_COLOR_ARB, clamp)
        assert gl.get_floatv(GL.ALPHA_TEST_REF)[0] == reference
        assert gl.get_floatv(GL.BLEND_COLOR) == color


def test_a_buffer_is_cleared_beside_what_is_mapped(compat: GLInterface) -> None:
    gl = compat
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 64, None, GL.STATIC_DRAW)
    gl.map_buffer_range(GL.ARRAY_BUFFER, 16, 16, GL.MAP_WRITE_BIT)
    clear = (GL.RED, GL.UNSIGNED_BYTE, b"\x07")
    gl.clear_buffer_sub_data(GL.ARRAY_BUFFER, GL.R8, 32, 32, *clear)
    assert gl.get_error() == GL.NO_ERROR
    gl.clear_buffer_sub_data(GL.ARRAY_BUFFER, GL.R8, 24, 16, *clear)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.unmap_buffer(GL.ARRAY_BUFFER)


def test_mapped_buffers_are_aligned(compat: GLInterface) -> None:
    gl = compat
    for size in (1, 77, 4096):
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.buffer_data(GL.ARRAY_BUFFER, size, None, GL.STATIC_DRAW)
        at = gl.map_buffer(GL.ARRAY_BUFFER, GL.WRITE_ONLY)
        assert at % gl.get_integerv(GL.MIN_MAP_BUFFER_ALIGNMENT)[0] == 0
        gl.unmap_buffer(GL.ARRAY_BUFFER)


@pytest.mark.parametrize("size", [1, 3, 40, 1000, 70000])
def test_memory_is_aligned_and_its_base_is_where_it_begins(size: int) -> None:
    format = FORMATS["R8_UNORM"]
    for _ in range(8):  # what malloc gives differs from call to call
        level = allocate(ResourceDesc(Target.BUFFER, format, size))[0]
        assert level.ctypes.data % 64 == 0
        assert isinstance(level.base, np.ndarray)
        assert level.base.ctypes.data == level.ctypes.data
