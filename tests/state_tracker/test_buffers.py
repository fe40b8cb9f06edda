"""Buffer objects, on our GL and on the native one."""

from __future__ import annotations

import ctypes
import functools
import operator

import numpy as np

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.vertices.buffers import MAP_BITS
from tests.state_tracker.helpers import errors, pixels, program, quad


def make(gl: GLInterface, data: bytes, target: int = GL.ARRAY_BUFFER) -> int:
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(target, name)
    gl.buffer_data(target, len(data), data, GL.STATIC_DRAW)
    return int(name)


def test_mapping_writes_through(gl: GLInterface) -> None:
    make(gl, bytes(16))
    access = GL.MAP_WRITE_BIT
    address = gl.map_buffer_range(GL.ARRAY_BUFFER, 4, 8, access)
    assert address
    ctypes.memmove(address, b"gallette", 8)
    assert gl.get_buffer_parameteriv(GL.ARRAY_BUFFER, GL.BUFFER_MAPPED) == [1]
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 6, 4, b"oops")
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert gl.unmap_buffer(GL.ARRAY_BUFFER)
    assert gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 16) == bytes(4) + b"gallette" + bytes(4)


def test_the_driver_is_told_what_a_mapping_is_for() -> None:
    """Each bit of the access is one word of the pipe interface, and there are no others."""
    gl = create_context("numpipe", version=(4, 5))
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, name)
    lasting = GL.MAP_READ_BIT | GL.MAP_WRITE_BIT | GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT
    gl.buffer_storage(GL.ARRAY_BUFFER, 64, None, lasting)
    mapped = 0
    for access in range(1 << 8):
        bits = [bit for k, bit in enumerate(MAP_BITS) if access >> k & 1]
        if gl.map_buffer_range(GL.ARRAY_BUFFER, 16, 8, sum(bits)):
            mapping = gl.buffers.names.require(name).mapping
            assert mapping is not None
            assert mapping.transfer.flags == functools.reduce(
                operator.or_, [MAP_BITS[b] for b in bits]
            )
            gl.unmap_buffer(GL.ARRAY_BUFFER)
            mapped += 1
    # Reading alone or with writing (then nothing may be discarded), and writing alone.
    assert mapped == 4 * (1 + 2 + 16)
    gl.release()


def test_indices_in_memory_are_taken_in_core_profiles_too(gl: GLInterface) -> None:
    """As every driver does; an offset without a buffer is an error, not an address."""
    name = program(gl)
    quad(gl, name)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 1.0, 1.0, 1.0, 1.0)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_INT, np.array([0, 1, 2], np.uint32))
    assert errors(gl) == []
    assert pixels(gl)[5, 5].tolist() == [255] * 4
    if isinstance(gl, Context):
        gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_INT, 12)
        assert errors(gl) == ["GL_INVALID_OPERATION"]
