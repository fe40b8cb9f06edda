"""EXT_direct_state_access: what is named changes, what is bound stays; also on the native GL."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.optional.compatibility.direct_access.ordinary_forms import ordinary_form

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
