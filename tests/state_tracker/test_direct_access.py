"""EXT_direct_state_access: what is named changes, what is bound stays; also on the native GL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.context import Context
from gallette.state_tracker.direct_access.ordinary_forms import ordinary_form
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementation

TURN = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 3.0, 4.0, 1.0]
"""A quarter turn and a step, column by column."""


def floats(gl: GLInterface, pname: int) -> list[float]:
    return [round(v, 4) for v in gl.get_floatv(pname)]


def test_every_function_is_there() -> None:
    ours = [n for n in FUNCTIONS if FUNCTIONS[n].extension == "GL_EXT_direct_state_access"]
    assert len(ours) > 230
    assert [n for n in ours if implementation(FUNCTIONS[n]) is None] == []


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("MatrixLoadTransposedEXT", ("LoadTransposeMatrixd", "matrix")),
        ("MatrixPushEXT", ("PushMatrix", "matrix")),
        ("GetCompressedMultiTexImageEXT", ("GetCompressedTexImage", "unit")),
        ("CopyTextureSubImage2DEXT", ("CopyTexSubImage2D", "texture")),
        ("MultiTexCoordPointerEXT", None),
        ("NamedProgramLocalParameter4fEXT", ("ProgramLocalParameter4fARB", "program")),
        ("TexImage3DEXT", None),
        ("TextureParameteri", None),
    ],
)
def test_forms_follow_from_their_names(name: str, twin: tuple[str, str] | None) -> None:
    assert ordinary_form(name) == twin


def test_matrices_of_a_named_stack(compat: GLInterface) -> None:
    gl = compat
    gl.matrix_mode(GL.PROJECTION)
    gl.matrix_loadf_ext(GL.MODELVIEW, TURN)
    gl.matrix_push_ext(GL.MODELVIEW)
    gl.matrix_translatef_ext(GL.MODELVIEW, 1.0, 0.0, 0.0)
    assert floats(gl, GL.MODELVIEW_MATRIX)[12:] == [2.0, 4.0, 4.0, 1.0]
    gl.matrix_pop_ext(GL.MODELVIEW)
    assert floats(gl, GL.MODELVIEW_MATRIX) == TURN
    assert gl.get_integerv(GL.MATRIX_MODE)[0] == GL.PROJECTION
    assert floats(gl, GL.PROJECTION_MATRIX) == np.eye(4).reshape(-1).tolist()
    gl.matrix_scaled_ext(GL.TEXTURE2, 3.0, 1.0, 1.0)
    assert gl.get_floati_v_ext(GL.TEXTURE_MATRIX, 2)[0] == 3.0
    gl.matrix_load_identity_ext(GL.COLOR_BUFFER_BIT)
    assert gl.get_error() == GL.INVALID_ENUM


def test_textures_by_name_and_by_unit(compat: GLInterface) -> None:
    gl = compat
    named, bound = gl.gen_textures(2)
    gl.bind_texture(GL.TEXTURE_2D, bound)
    image = bytes(range(16))
    gl.texture_image2d_ext(
        named, GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, image
    )
    room = bytearray(16)
    gl.get_texture_image_ext(named, GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert bytes(room) == image
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D)[0] == bound
    assert gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 0, GL.TEXTURE_WIDTH)[0] == 0
    gl.texture_parameteri_ext(named, GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.bind_multi_texture_ext(GL.TEXTURE3, GL.TEXTURE_2D, named)
    assert gl.get_integerv(GL.ACTIVE_TEXTURE)[0] == GL.TEXTURE0
    assert gl.get_integer_indexedv_ext(GL.TEXTURE_BINDING_2D, 3)[0] == named
    found = gl.get_multi_tex_parameteriv_ext(GL.TEXTURE3, GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER)
    assert found[0] == GL.NEAREST
    gl.multi_tex_envi_ext(GL.TEXTURE3, GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.REPLACE)
    assert gl.get_tex_enviv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE)[0] == GL.MODULATE
    gl.enable_indexed_ext(GL.TEXTURE_2D, 3)
    assert not gl.is_enabled(GL.TEXTURE_2D)
    assert gl.is_enabled_indexed_ext(GL.TEXTURE_2D, 3)
    gl.active_texture(GL.TEXTURE3)
    assert gl.is_enabled(GL.TEXTURE_2D)
    assert gl.get_error() == GL.NO_ERROR
    gl.texture_parameteri_ext(named, GL.TEXTURE_3D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.texture_image1d_ext(named, GL.PROXY_TEXTURE_1D, 0, GL.RGBA, 4, 0, GL.RGBA, GL.FLOAT, None)
    assert gl.get_error() == GL.INVALID_OPERATION


def test_buffers_come_into_being_when_they_are_named(compat: GLInterface) -> None:
    gl = compat
    (name,) = gl.gen_buffers(1)
    gl.named_buffer_data_ext(name, 8, bytes(range(8)), GL.STATIC_DRAW)
    assert gl.is_buffer(name)
    gl.named_buffer_sub_data_ext(name, 2, 2, b"\xff\xfe")
    room = bytearray(8)
    gl.get_named_buffer_sub_data_ext(name, 0, 8, room)
    assert bytes(room) == b"\x00\x01\xff\xfe\x04\x05\x06\x07"
    assert gl.get_named_buffer_parameteriv_ext(name, GL.BUFFER_SIZE)[0] == 8
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING)[0] == 0
    assert gl.get_error() == GL.NO_ERROR


def test_arrays_of_a_named_object(compat: GLInterface) -> None:
    gl = compat
    (vao,) = gl.gen_vertex_arrays(1)
    (buffer,) = gl.gen_buffers(1)
    gl.named_buffer_data_ext(buffer, 64, None, GL.STATIC_DRAW)
    gl.vertex_array_vertex_offset_ext(vao, buffer, 3, GL.FLOAT, 16, 4)
    gl.vertex_array_multi_tex_coord_offset_ext(vao, buffer, GL.TEXTURE2, 2, GL.SHORT, 8, 32)
    gl.enable_vertex_array_ext(vao, GL.VERTEX_ARRAY)
    gl.enable_vertex_array_ext(vao, GL.TEXTURE2)
    asked: list[tuple[int, Any]] = [
        (GL.VERTEX_ARRAY, 1),
        (GL.VERTEX_ARRAY_SIZE, 3),
        (GL.VERTEX_ARRAY_STRIDE, 16),
        (GL.VERTEX_ARRAY_BUFFER_BINDING, buffer),
        (GL.NORMAL_ARRAY, 0),
    ]
    for pname, value in asked:
        assert gl.get_vertex_array_integerv_ext(vao, pname)[0] == value
    of_unit = gl.get_vertex_array_integeri_v_ext(vao, 2, GL.TEXTURE_COORD_ARRAY_TYPE)
    assert of_unit[0] == GL.SHORT
    assert not gl.is_enabled(GL.VERTEX_ARRAY)
    assert gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0] == 0
    gl.bind_vertex_array(vao)
    assert gl.is_enabled(GL.VERTEX_ARRAY)
    assert gl.get_error() == GL.NO_ERROR
    gl.vertex_array_vertex_offset_ext(vao, buffer, 3, GL.FLOAT, 16, -4)
    assert gl.get_error() == GL.INVALID_VALUE


def test_framebuffers_and_renderbuffers_by_name(compat: GLInterface) -> None:
    gl = compat
    (framebuffer,) = gl.gen_framebuffers(1)
    (renderbuffer,) = gl.gen_renderbuffers(1)
    gl.named_renderbuffer_storage_ext(renderbuffer, GL.RGBA8, 4, 4)
    gl.named_framebuffer_renderbuffer_ext(
        framebuffer, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, renderbuffer
    )
    status = gl.check_named_framebuffer_status_ext(framebuffer, GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_COMPLETE
    gl.framebuffer_draw_buffer_ext(framebuffer, GL.NONE)
    assert gl.get_framebuffer_parameteriv_ext(framebuffer, GL.DRAW_BUFFER)[0] == GL.NONE
    assert gl.get_integerv(GL.FRAMEBUFFER_BINDING)[0] == 0
    assert gl.get_integerv(GL.RENDERBUFFER_BINDING)[0] == 0
    assert gl.get_error() == GL.NO_ERROR


def test_assembly_programs_by_name(compat: GLInterface) -> None:
    gl = compat
    (program,) = gl.gen_programs_arb(1)
    text = b"!!ARBvp1.0\nMOV result.position, vertex.position;\nEND"
    kind = GL.VERTEX_PROGRAM_ARB
    gl.named_program_string_ext(program, kind, GL.PROGRAM_FORMAT_ASCII_ARB, len(text), text)
    gl.named_program_local_parameter4f_ext(program, kind, 2, 1.0, 2.0, 3.0, 4.0)
    assert gl.get_named_program_local_parameterfv_ext(program, kind, 2) == [1.0, 2.0, 3.0, 4.0]
    assert gl.get_named_programiv_ext(program, kind, GL.PROGRAM_LENGTH_ARB)[0] == len(text)
    assert gl.get_programiv_arb(kind, GL.PROGRAM_BINDING_ARB)[0] == 0
    assert gl.get_error() == GL.NO_ERROR


def test_the_clients_attributes_by_default(compat: GLInterface) -> None:
    gl = compat
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.push_client_attrib_default_ext(GL.CLIENT_ALL_ATTRIB_BITS)
    assert gl.get_integerv(GL.UNPACK_ALIGNMENT)[0] == 4
    assert not gl.is_enabled(GL.COLOR_ARRAY)
    gl.pop_client_attrib()
    assert gl.get_integerv(GL.UNPACK_ALIGNMENT)[0] == 1
    assert gl.is_enabled(GL.COLOR_ARRAY)
    assert gl.get_error() == GL.NO_ERROR


def test_lists_take_up_what_the_ordinary_function_would_record(compat: GLInterface) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    image = bytearray(range(16))
    made = gl.gen_lists(1)
    gl.new_list(made, GL.COMPILE)
    gl.texture_image2d_ext(
        texture, GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, image
    )
    gl.matrix_loadf_ext(GL.MODELVIEW, TURN)
    gl.end_list()
    assert floats(gl, GL.MODELVIEW_MATRIX) == np.eye(4).reshape(-1).tolist()
    image[:] = bytes(16)  # the list has a copy
    gl.call_list(made)
    assert floats(gl, GL.MODELVIEW_MATRIX) == TURN
    room = bytearray(16)
    gl.get_texture_image_ext(texture, GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert bytes(room) == bytes(range(16))


def test_listed_in_the_compatibility_profile_only() -> None:
    for profile, there in (("compat", True), ("core", False)):
        gl = Context(profile=profile, version=(3, 3))
        names = {
            gl.get_stringi(GL.EXTENSIONS, i) for i in range(*gl.get_integerv(GL.NUM_EXTENSIONS))
        }
        assert ("GL_EXT_direct_state_access" in names) is there
        gl.release()
