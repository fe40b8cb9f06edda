"""Buffer objects, on our GL and on the native one."""

from __future__ import annotations

import ctypes
import functools
import operator

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.vertices.buffers import MAP_BITS
from tests.state_tracker.helpers import errors, pixels, program, quad


def make(gl: GLInterface, data: bytes, target: int = GL.ARRAY_BUFFER) -> int:
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(target, name)
    gl.buffer_data(target, len(data), data, GL.STATIC_DRAW)
    return int(name)


def test_a_name_becomes_a_buffer_when_first_bound(gl: GLInterface) -> None:
    (name,) = gl.gen_buffers(1)
    assert not gl.is_buffer(name)
    gl.bind_buffer(GL.ARRAY_BUFFER, name)
    assert gl.is_buffer(name)
    assert errors(gl) == []


def test_core_profiles_refuse_names_that_were_not_generated(gl: GLInterface) -> None:
    gl.bind_buffer(GL.ARRAY_BUFFER, 4711)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_contents_come_back(gl: GLInterface) -> None:
    make(gl, bytes(range(64)))
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 8, 4, b"abcd")
    assert gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 6, 8) == b"\x06\x07abcd\x0c\x0d"
    assert gl.get_buffer_parameteriv(GL.ARRAY_BUFFER, GL.BUFFER_SIZE) == [64]
    assert gl.get_buffer_parameteriv(GL.ARRAY_BUFFER, GL.BUFFER_USAGE) == [GL.STATIC_DRAW]


def test_contents_come_back_by_the_extension_s_name() -> None:
    gl = create_context(profile="compat", version=(3, 3))
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, 8, np.arange(8, dtype=np.uint8), GL.STATIC_DRAW)
    room = np.zeros(4, np.uint8)
    gl.get_buffer_sub_data_arb(GL.ARRAY_BUFFER, 2, 4, room)
    assert room.tolist() == [2, 3, 4, 5]
    assert gl.get_buffer_sub_data_arb(GL.ARRAY_BUFFER, 6, 2) == bytes([6, 7])
    gl.release()


def test_sub_data_outside_the_buffer_is_refused_and_changes_nothing(gl: GLInterface) -> None:
    make(gl, bytes(8))
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 6, 4, b"abcd")
    assert errors(gl) == ["GL_INVALID_VALUE"]
    assert gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 8) == bytes(8)


def test_bad_usage_negative_size_and_no_buffer_are_three_errors(gl: GLInterface) -> None:
    gl.buffer_data(GL.ARRAY_BUFFER, 4, None, GL.STATIC_DRAW)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    make(gl, b"1234")
    gl.buffer_data(GL.ARRAY_BUFFER, 4, None, GL.TRIANGLES)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.buffer_data(GL.ARRAY_BUFFER, -1, None, GL.STATIC_DRAW)
    assert errors(gl) == ["GL_INVALID_VALUE"]


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


@pytest.mark.parametrize(
    ("offset", "length", "access", "error"),
    [
        (0, 0, GL.MAP_READ_BIT, "GL_INVALID_OPERATION"),
        (8, 16, GL.MAP_READ_BIT, "GL_INVALID_VALUE"),
        (0, 4, 0, "GL_INVALID_OPERATION"),
        (0, 4, GL.MAP_READ_BIT | GL.MAP_INVALIDATE_BUFFER_BIT, "GL_INVALID_OPERATION"),
        (0, 4, GL.MAP_READ_BIT | GL.MAP_FLUSH_EXPLICIT_BIT, "GL_INVALID_OPERATION"),
    ],
)
def test_impossible_mappings_are_refused(
    gl: GLInterface, offset: int, length: int, access: int, error: str
) -> None:
    make(gl, bytes(16))
    assert not gl.map_buffer_range(GL.ARRAY_BUFFER, offset, length, access)
    assert errors(gl) == [error]


def test_the_driver_gets_the_purpose_of_a_mapping() -> None:
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


def test_unmapping_what_is_not_mapped_is_an_error(gl: GLInterface) -> None:
    make(gl, bytes(4))
    assert not gl.unmap_buffer(GL.ARRAY_BUFFER)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_copies_between_buffers(gl: GLInterface) -> None:
    make(gl, b"0123456789", GL.COPY_READ_BUFFER)
    make(gl, bytes(10), GL.COPY_WRITE_BUFFER)
    gl.copy_buffer_sub_data(GL.COPY_READ_BUFFER, GL.COPY_WRITE_BUFFER, 2, 5, 3)
    assert gl.get_buffer_sub_data(GL.COPY_WRITE_BUFFER, 0, 10) == bytes(5) + b"234" + bytes(2)
    gl.copy_buffer_sub_data(GL.COPY_READ_BUFFER, GL.COPY_READ_BUFFER, 0, 2, 4)
    assert errors(gl) == ["GL_INVALID_VALUE"]


def test_deleting_a_bound_buffer_unbinds_it(gl: GLInterface) -> None:
    name = make(gl, bytes(4))
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 1, name)
    gl.delete_buffers(1, [name])
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING) == [0]
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_BINDING, 1) == [0]
    assert not gl.is_buffer(name)


def test_indexed_ranges_are_queried_and_checked(gl: GLInterface) -> None:
    name = make(gl, bytes(1024), GL.UNIFORM_BUFFER)
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 2, name, 256, 128)
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_START, 2) == [256]
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_SIZE, 2) == [128]
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 2, name, 1, 128)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 2, name, 0, 0)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 10_000, name)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.bind_buffer_base(GL.ARRAY_BUFFER, 0, name)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_a_deleted_buffer_lives_on_in_a_vertex_array(gl: GLInterface) -> None:
    vao, other = gl.gen_vertex_arrays(2)
    gl.bind_vertex_array(vao)
    name = make(gl, bytes(64))
    gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 0, None)
    gl.bind_vertex_array(other)
    gl.delete_buffers(1, [name])
    gl.bind_vertex_array(vao)
    assert gl.get_vertex_attribiv(0, GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) == [name]


def test_clearing_pixels_goes_through_a_pack_buffer(gl: GLInterface) -> None:
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)
    make(gl, bytes(2 * 2 * 4 + 4), GL.PIXEL_PACK_BUFFER)
    gl.read_pixels(0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, 4)
    raw = gl.get_buffer_sub_data(GL.PIXEL_PACK_BUFFER, 0, 20)
    expected = np.array([51, 102, 153, 204], np.uint8)
    assert raw[:4] == bytes(4)
    assert (np.frombuffer(raw[4:], np.uint8).reshape(4, 4) == expected).all()
    gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, 0)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_a_buffer_is_filled_with_a_value(gl: GLInterface) -> None:
    make(gl, bytes(16))
    value = np.array([7, 9], np.uint16)
    gl.clear_buffer_sub_data(
        GL.ARRAY_BUFFER, GL.RG16UI, 4, 8, GL.RG_INTEGER, GL.UNSIGNED_SHORT, value
    )
    raw = gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 16)
    assert np.frombuffer(raw, np.uint16).tolist() == [0, 0, 7, 9, 7, 9, 0, 0]
    gl.clear_buffer_sub_data(
        GL.ARRAY_BUFFER, GL.RG16UI, 2, 8, GL.RG_INTEGER, GL.UNSIGNED_SHORT, value
    )
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.clear_buffer_data(GL.ARRAY_BUFFER, GL.R8, GL.RED, GL.UNSIGNED_BYTE, None)
    assert gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 16) == bytes(16)


def test_several_buffers_are_bound_at_once(gl: GLInterface) -> None:
    first, second = make(gl, bytes(512)), make(gl, bytes(512))
    gl.bind_buffers_base(GL.UNIFORM_BUFFER, 2, 2, [first, second])
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_BINDING, 3) == [second]
    gl.bind_buffers_range(GL.UNIFORM_BUFFER, 2, 1, [second], [256], [64])
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_START, 2) == [256]
    gl.bind_buffers_base(GL.UNIFORM_BUFFER, 2, 2, None)
    assert gl.get_integeri_v(GL.UNIFORM_BUFFER_BINDING, 2) == [0]
    assert errors(gl) == []


@pytest.mark.parametrize("profile", ["core", "compat"])
def test_an_array_with_a_deleted_buffer_is_not_a_client_pointer(profile: str) -> None:
    """Its offset was once taken for an address, and read."""
    gl = create_context("numpipe", profile=profile, version=(3, 3), size=(8, 8))
    name = program(gl)
    vao = quad(gl, name)
    gl.bind_vertex_array(0)
    gl.bind_vertex_array(vao)
    (buffer,) = gl.get_vertex_attribiv(0, GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, 64)
    gl.delete_buffers(1, [buffer])
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.draw_elements(GL.TRIANGLE_STRIP, 4, GL.UNSIGNED_BYTE, None)
    gl.finish()
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
