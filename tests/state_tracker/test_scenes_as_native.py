"""Scenes of display lists, pixels, textures and queries draw and answer as on the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.differential import Scenes

from .helpers import errors, pixels, program

scene = Scenes()


@pytest.mark.native
@pytest.mark.parametrize(("profile", "drawn"), scene)
def test_the_scene_is_as_on_the_native_gl(profile: str, drawn: Callable[[Any], list[Any]]) -> None:
    def cleared(gl: Any) -> list[Any]:
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        return drawn(gl)

    version = {"compat": (2, 1), "core": (4, 5)}[profile]
    Scenes.check(cleared, profile=profile, version=version, size=(32, 32))


def floats(raw: Any, count: int | None = None) -> Any:
    return np.array(raw if count is None else raw[:count], np.float32)


# -- draws in display lists: they keep what the arrays hold when the list is compiled --------------

CORNERS = np.array([[-1, -1], [0, -1], [-1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)


def with_arrays(gl: Any, buffered: bool) -> tuple[Any, Any]:
    """Corners and colours as enabled client arrays (or in a buffer), which can be changed."""
    places, colors = CORNERS.copy(), np.linspace(0, 1, 21, dtype=np.float32).reshape(7, 3).copy()
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    if buffered:
        (name,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, name)
        gl.buffer_data(GL.ARRAY_BUFFER, places.nbytes, places, GL.STATIC_DRAW)
        gl.vertex_pointer(2, GL.FLOAT, 0, 0)
        gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    else:
        gl.vertex_pointer(2, GL.FLOAT, 0, places)
    gl.color_pointer(3, GL.FLOAT, 0, colors)
    return places, colors


def several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 9, 3], "i4"), np.array([3, 0, 3], "i4"), 3)


def none_of_several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 3], "i4"), np.array([0, 0], "i4"), 2)


KEPT: list[Any] = []


def _lists_of_indices() -> tuple[Any, Any]:
    lists = [np.array([0, 1, 2], "u2"), np.array([0], "u2"), np.array([0, 1, 2, 2, 1, 3], "u2")]
    KEPT.extend(lists)
    return np.array([3, 0, 6], "i4"), np.array([a.ctypes.data for a in lists], "i8")


def several_indexed(gl: Any) -> None:
    counts, places = _lists_of_indices()
    gl.multi_draw_elements(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3)


def several_based(gl: Any) -> None:
    counts, places = _lists_of_indices()
    bases = np.array([0, 0, 3], "i4")
    gl.multi_draw_elements_base_vertex(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3, bases)


def by_element(gl: Any) -> None:
    gl.begin(GL.TRIANGLES)
    for i in (3, 4, 5):
        gl.array_element(i)
    gl.end()


def based(gl: Any) -> None:
    indices = np.array([0, 1, 2], "u1")
    gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_BYTE, indices, 3)


def from_a_buffer(gl: Any) -> None:
    data = np.array([9, 3, 4, 5], "u4")
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, name)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_INT, 4)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 0)


def restarted(gl: Any) -> None:
    indices = np.array([0, 1, 2, 200, 3, 4, 5, 6], "u1")
    gl.draw_elements(GL.TRIANGLE_STRIP, 8, GL.UNSIGNED_BYTE, indices)


for _draw in (several, none_of_several, several_indexed, several_based, by_element, based,
              from_a_buffer, restarted):  # fmt: skip
    for _buffered in (False, True):

        @scene("compat", _draw.__name__, _buffered)
        def in_a_list(gl: Any, name: str, buffered: bool) -> list[Any]:
            places, colors = with_arrays(gl, buffered)
            if name == "restarted":
                gl.enable(GL.PRIMITIVE_RESTART)
                gl.primitive_restart_index(200)
            gl.new_list(3, GL.COMPILE)
            globals()[name](gl)
            gl.end_list()
            nothing = pixels(gl, 32, 32).copy()
            colors[...], places[...] = 0.5, -places
            gl.call_list(3)
            return [nothing, pixels(gl, 32, 32)]


# -- pixels of depth and stencil -------------------------------------------------------------------


def drawn_to(gl: Any, form: int) -> None:
    """A framebuffer with a colour, a depth and a stencil buffer of a format."""
    (frame,) = gl.gen_framebuffers(1)
    color, depth = gl.gen_renderbuffers(2)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    for name, point, kind in (
        (color, GL.COLOR_ATTACHMENT0, GL.RGBA8),
        (depth, GL.DEPTH_STENCIL_ATTACHMENT, form),
    ):
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
        gl.renderbuffer_storage(GL.RENDERBUFFER, kind, 32, 32)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, name)
    gl.viewport(0, 0, 32, 32)
    gl.clear_depth(0.75)
    gl.clear_stencil(0x35)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)


def depths(gl: Any) -> list[Any]:
    depth = gl.read_pixels(0, 0, 32, 32, GL.DEPTH_COMPONENT, GL.FLOAT)
    stencil = gl.read_pixels(0, 0, 32, 32, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    return [np.frombuffer(depth, np.float32), np.frombuffer(stencil, np.uint8)]


BOTH = np.zeros((4, 4), [("z", "<f4"), ("s", "<u4")])
BOTH["z"], BOTH["s"] = np.linspace(-0.25, 1.25, 16).reshape(4, 4), np.arange(16).reshape(4, 4) * 17
WORDS = (np.arange(16, dtype=np.uint32) * 0x0F1E2D11).reshape(4, 4)


@scene("compat", "DEPTH24_STENCIL8", False)
@scene("compat", "DEPTH24_STENCIL8", True)
@scene("compat", "DEPTH32F_STENCIL8", False)
@scene("compat", "DEPTH32F_STENCIL8", True)
def depth_and_stencil_are_drawn(gl: Any, form: str, moved: bool) -> list[Any]:
    drawn_to(gl, getattr(GL, form))
    gl.window_pos2i(5, 6)
    if moved:
        gl.pixel_transferf(GL.DEPTH_SCALE, 0.5)
        gl.pixel_transferf(GL.DEPTH_BIAS, 0.125)
        gl.stencil_mask(0x5F)
    gl.draw_pixels(4, 4, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, WORDS)
    gl.window_pos2i(20, 20)
    gl.pixel_zoom(2.0, -1.5)
    gl.draw_pixels(4, 4, GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV, BOTH)
    gl.pixel_zoom(1.0, 1.0)
    return depths(gl)


@scene("compat", False)
@scene("compat", True)
def depth_and_stencil_are_copied(gl: Any, masked: bool) -> list[Any]:
    drawn_to(gl, GL.DEPTH24_STENCIL8)
    gl.window_pos2i(5, 6)
    gl.draw_pixels(4, 4, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, WORDS)
    gl.depth_mask(not masked)
    gl.window_pos2i(16, 16)
    gl.copy_pixels(4, 4, 6, 6, GL.DEPTH_STENCIL)
    gl.window_pos2i(24, 2)
    gl.copy_pixels(5, 6, 4, 4, GL.STENCIL)
    return depths(gl)


@scene("compat")
def depth_and_stencil_are_read_through_transfers(gl: Any) -> list[Any]:
    drawn_to(gl, GL.DEPTH24_STENCIL8)
    gl.pixel_transferf(GL.DEPTH_SCALE, 0.5)
    gl.pixel_transferf(GL.DEPTH_BIAS, 0.25)
    gl.pixel_transferi(GL.INDEX_SHIFT, 1)
    gl.pixel_transferi(GL.INDEX_OFFSET, 1)
    both = gl.read_pixels(0, 0, 2, 2, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8)
    return [*depths(gl), np.frombuffer(both, np.uint32)]


@scene("compat")
def reading_beyond_the_window(gl: Any) -> list[Any]:
    gl.clear_color(0.25, 0.5, 0.75, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    found = []
    for at in ((-2, -3), (28, 30), (40, 0)):
        room = np.full((6, 6, 4), 9, np.uint8)
        gl.read_pixels(*at, 6, 6, GL.RGBA, GL.UNSIGNED_BYTE, room)
        x, y = (np.arange(6) + at[0])[None, :], (np.arange(6) + at[1])[:, None]
        found.append(np.where(((x >= 0) & (x < 32) & (y >= 0) & (y < 32))[..., None], room, 0))
    return found


@scene("compat")
def wrong_reads(gl: Any) -> list[Any]:
    found = []
    gl.read_buffer(GL.NONE)
    for form, kind in ((GL.RGBA, GL.UNSIGNED_BYTE), (GL.RGBA_INTEGER, GL.INT)):
        gl.read_pixels(0, 0, 1, 1, form, kind, np.zeros(4, np.int32))
        found.append(errors(gl))
    gl.read_buffer(GL.BACK)
    gl.read_pixels(0, 0, 1, 1, GL.COLOR_INDEX, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
    found.append(errors(gl))
    (frame,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, frame)
    gl.copy_pixels(0, 0, 1, 1, GL.COLOR)
    return [*found, errors(gl)]


@scene("compat", "UNSIGNED_INT_10F_11F_11F_REV", "R11F_G11F_B10F")
@scene("compat", "UNSIGNED_INT_5_9_9_9_REV", "RGB9_E5")
def floats_of_few_bits(gl: Any, kind: str, form: str) -> list[Any]:
    """As texels that are stored otherwise, and read as such."""
    type = getattr(GL, kind)
    words = (np.arange(16, dtype=np.uint32) * 0x07654321).astype(np.uint32)
    if kind.startswith("UNSIGNED_INT_10F"):  # neither denormal nor infinite
        words = words & np.uint32(0x3BEF7BEF) | np.uint32(0x20080100)
    else:
        words &= np.uint32(0xF7DFFFFF)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    found = []
    for internal in (GL.RGB32F, getattr(GL, form)):
        gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 4, 4, 0, GL.RGB, type, words)
        texels = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGB, GL.FLOAT)
        again = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGB, type)
        found += [np.frombuffer(texels, np.float32), np.frombuffer(again, np.uint32)]
    return found


@scene("compat", "COMPRESSED_LUMINANCE_LATC1_EXT")
@scene("compat", "COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT")
@scene("compat", "LUMINANCE8")
@scene("compat", "LUMINANCE8_ALPHA8")
@scene("compat", "INTENSITY8")
@scene("compat", "ALPHA8")
def few_channels_are_read(gl: Any, form: str) -> list[Any]:
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    texels = np.repeat(np.array([[16, 80, 120, 200]], np.uint8), 16, axis=0)
    internal = getattr(GL, form)
    gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    return [
        np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 0, kind, GL.UNSIGNED_BYTE), np.uint8)
        for kind in (GL.RGBA, GL.LUMINANCE_ALPHA, GL.LUMINANCE, GL.ALPHA, GL.RED)
    ]


# -- the raster position and the other modes of rendering ------------------------------------------


@scene("compat", "OBJECT_LINEAR")
@scene("compat", "EYE_LINEAR")
@scene("compat", "SPHERE_MAP")
@scene("compat", "NORMAL_MAP")
@scene("compat", "REFLECTION_MAP")
def coordinates_of_the_raster_position(gl: Any, mode: str) -> list[Any]:
    gl.matrix_mode(GL.MODELVIEW)
    gl.translatef(0.125, 0.25, -0.5)
    if mode.endswith("LINEAR"):  # llvmpipe does not turn the normal
        gl.rotatef(30.0, 1.0, 2.0, 3.0)
    gl.normal3f(0.6, 0.0, 0.8)
    gl.tex_coord4f(0.1, 0.2, 0.3, 0.4)
    kinds = [GL.S, GL.T] if mode == "SPHERE_MAP" else [GL.S, GL.T, GL.R]
    kinds += [GL.Q] if mode.endswith("LINEAR") else []
    for i, kind in enumerate(kinds):
        gl.tex_geni(kind, GL.TEXTURE_GEN_MODE, getattr(GL, mode))
        for plane in (GL.OBJECT_PLANE, GL.EYE_PLANE):
            gl.tex_genfv(kind, plane, floats([0.5, i, 0.25, 1.0 - i]))
        gl.enable(GL.TEXTURE_GEN_S + kind - GL.S)
    gl.matrix_mode(GL.TEXTURE)
    gl.scalef(2.0, 3.0, 4.0)
    gl.raster_pos3f(0.25, -0.25, 0.125)
    return [
        floats(gl.get_floatv(GL.CURRENT_RASTER_TEXTURE_COORDS), 4),
        floats(gl.get_floatv(GL.CURRENT_RASTER_POSITION), 4),
    ]


def rectangles(gl: Any) -> None:
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
    gl.copy_pixels(0, 0, 1, 1, GL.COLOR)
    gl.bitmap(1, 1, 0.0, 0.0, 3.0, 2.0, np.zeros(1, np.uint8))
    gl.bitmap(1, 1, 0.0, 0.0, 0.0, 0.0, np.zeros(1, np.uint8))


def positions(gl: Any) -> None:
    gl.raster_pos3f(0.25, -0.25, 0.5)
    gl.load_name(8)
    gl.raster_pos3f(0.25, -0.25, 1.5)
    gl.load_name(9)
    gl.window_pos3f(3.0, 3.0, 0.25)
    gl.raster_pos3f(0.25, -0.25, -0.5)


def triangles(gl: Any) -> None:
    for turned in (False, True):
        gl.begin(GL.TRIANGLES)
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.0, 0.5))[:: -1 if turned else 1]:
            gl.vertex3f(x, y, 0.25 if turned else -0.5)
        gl.end()


@scene("compat", "rectangles", "NONE", "CCW")
@scene("compat", "positions", "NONE", "CCW")
@scene("compat", "triangles", "FRONT", "CCW")
@scene("compat", "triangles", "BACK", "CCW")
@scene("compat", "triangles", "BACK", "CW")
@scene("compat", "triangles", "FRONT_AND_BACK", "CCW")
def selected_and_fed_back(gl: Any, what: str, cull: str, front: str) -> list[Any]:
    gl.color4f(0.25, 0.5, 0.75, 1.0)
    gl.tex_coord2f(0.125, 0.375)
    gl.raster_pos3f(0.25, -0.25, 0.5)
    if cull != "NONE":
        gl.enable(GL.CULL_FACE)
        gl.cull_face(getattr(GL, cull))
        gl.front_face(getattr(GL, front))
    told, hits = np.zeros(200, np.float32), np.zeros(50, np.uint32)
    gl.feedback_buffer(200, GL._4D_COLOR_TEXTURE, told)
    gl.render_mode(GL.FEEDBACK)
    globals()[what](gl)
    values = gl.render_mode(GL.RENDER)
    gl.select_buffer(50, hits)
    gl.render_mode(GL.SELECT)
    gl.init_names()
    gl.push_name(7)
    globals()[what](gl)
    number = gl.render_mode(GL.RENDER)
    return [values, told, number, hits / np.float64(1 << 32)]


# -- what a shader sees of fixed function ----------------------------------------------------------

BUILTINS = {
    "range": "gl_DepthRange.near, gl_DepthRange.far, gl_DepthRange.diff, 1.0",
    "scene": "gl_FrontLightModelProduct.sceneColor.rgb, 1.0",
    "back": "gl_BackLightModelProduct.sceneColor",
    "ambient": "gl_FrontLightProduct[1].ambient.rgb, 1.0",
    "specular": "gl_BackLightProduct[0].specular.rgb, 1.0",
    "plane": "gl_ClipPlane[2]",
    "inverse": "gl_ModelViewMatrixInverse[3].xyz * 0.25 + 0.5, 1.0",
    "transposed": "gl_ModelViewMatrixInverseTranspose[0].xyz, gl_ProjectionMatrixTranspose[3].w",
    "model": "gl_LightModel.ambient",
    "point": "gl_Point.size / 8.0, gl_Point.sizeMax / 256.0, gl_Point.fadeThresholdSize / 2.0, 1.0",
    "eye": "gl_EyePlaneT[0]",
    "object": "gl_ObjectPlaneR[0]",
    "environment": "gl_TextureEnvColor[0]",
    "fog": "gl_Fog.start, gl_Fog.end, gl_Fog.scale * 0.5, gl_Fog.density",
}

for _what in BUILTINS:

    @scene("compat", _what)
    def seen_by_a_shader(gl: Any, what: str) -> list[Any]:
        gl.depth_range(0.125, 0.75)
        gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, floats([0.2, 0.4, 0.6, 0.8]))
        gl.materialfv(GL.FRONT, GL.EMISSION, floats([0.1, 0.2, 0.3, 0.4]))
        for face, factor in ((GL.FRONT, 1.0), (GL.BACK, 0.5)):
            gl.materialfv(face, GL.AMBIENT, factor * floats([0.5, 0.6, 0.7, 0.8]))
            gl.materialfv(face, GL.DIFFUSE, factor * floats([0.1, 0.2, 0.3, 0.9]))
            gl.materialfv(face, GL.SPECULAR, factor * floats([1.0, 0.5, 0.25, 0.75]))
        for light in (GL.LIGHT0, GL.LIGHT1):
            gl.lightfv(light, GL.AMBIENT, floats([0.9, 0.7, 0.5, 0.3]))
            gl.lightfv(light, GL.SPECULAR, floats([0.3, 0.5, 0.7, 0.9]))
        gl.clip_plane(GL.CLIP_PLANE2, np.array([0.1, 0.2, 0.3, 0.4]))
        for coordinate in (GL.T, GL.R):
            gl.tex_genfv(coordinate, GL.EYE_PLANE, floats([0.4, 0.3, 0.2, 0.1]))
            gl.tex_genfv(coordinate, GL.OBJECT_PLANE, floats([0.8, 0.6, 0.4, 0.2]))
        gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, floats([0.1, 0.3, 0.5, 0.7]))
        gl.fogfv(GL.FOG_START, floats([0.25]))
        gl.fogfv(GL.FOG_END, floats([0.75]))
        gl.fogfv(GL.FOG_DENSITY, floats([0.5]))
        gl.point_size(3.0)
        gl.translatef(0.5, 0.25, 0.75)
        name = program(
            gl,
            "#version 120\nvoid main() { gl_Position = gl_Vertex; }\n",
            f"#version 120\nvoid main() {{ gl_FragColor = vec4({BUILTINS[what]}); }}\n",
        )
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        gl.use_program(0)
        gl.delete_program(name)
        return [pixels(gl, 32, 32)[3, 3]]


# -- what is asked of objects ----------------------------------------------------------------------


@scene("core")
def levels_of_buffer_textures(gl: Any) -> list[Any]:
    (texture,) = gl.gen_textures(1)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_texture(GL.TEXTURE_BUFFER, texture)
    gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
    found = []
    names = ["WIDTH", "HEIGHT", "DEPTH", "INTERNAL_FORMAT", "BUFFER_DATA_STORE_BINDING",
             "BUFFER_OFFSET", "BUFFER_SIZE", "RED_SIZE", "GREEN_TYPE"]  # fmt: skip
    gl.buffer_data(GL.TEXTURE_BUFFER, 1024, None, GL.STATIC_DRAW)
    for turn in range(3):
        if turn == 1:
            gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RG32F, buffer)
        elif turn == 2:
            gl.tex_buffer_range(GL.TEXTURE_BUFFER, GL.R16I, buffer, 256, 512)
        for name in names if turn else names[:4]:
            query = getattr(GL, f"TEXTURE_{name}")
            found.append(int(gl.get_tex_level_parameteriv(GL.TEXTURE_BUFFER, 0, query)[0]))
            found.append(float(gl.get_tex_level_parameterfv(GL.TEXTURE_BUFFER, 0, query)[0]))
    gl.get_tex_level_parameteriv(GL.TEXTURE_BUFFER, 0, GL.TEXTURE_COMPRESSED_IMAGE_SIZE)
    found.append(errors(gl))
    gl.get_tex_level_parameteriv(GL.TEXTURE_BUFFER, 0, GL.TEXTURE_MIN_FILTER)
    return [*found, errors(gl)]


FRAMES = ["RGBA8", "RGBA16", "RGBA16F", "RGBA32F", "RGBA8I", "RGBA16UI", "RGB10_A2", "R8"]

for _form in FRAMES:

    @scene("core", _form)
    def parameters_of_framebuffers(gl: Any, form: str) -> list[Any]:
        (frame,) = gl.gen_framebuffers(1)
        (color,) = gl.gen_renderbuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        gl.bind_renderbuffer(GL.RENDERBUFFER, color)
        gl.renderbuffer_storage_multisample(
            GL.RENDERBUFFER, 4 if form == "RGBA8" else 0, getattr(GL, form), 32, 32
        )
        point = GL.COLOR_ATTACHMENT0
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, color)
        found: list[Any] = [gl.check_framebuffer_status(GL.FRAMEBUFFER)]
        for name in ("SAMPLES", "SAMPLE_BUFFERS", "DOUBLEBUFFER", "STEREO"):
            query = getattr(GL, name)
            found.append(list(gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, query)))
            if name != "DOUBLEBUFFER":  # there, the native context has no window
                found.append(list(gl.get_named_framebuffer_parameteriv(0, query)))
        for name in ("SAMPLES", "FRAMEBUFFER_DEFAULT_WIDTH", "TRIANGLES"):
            gl.get_named_framebuffer_parameteriv(0, getattr(GL, name))
            found.append(errors(gl))
        gl.read_buffer(GL.NONE)
        gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, GL.IMPLEMENTATION_COLOR_READ_FORMAT)
        return [*found, errors(gl)]


@scene("core")
def arrays_by_name(gl: Any) -> list[Any]:
    one, other = gl.create_vertex_arrays(2)
    (buffer,) = gl.create_buffers(1)
    gl.named_buffer_data(buffer, 64, np.zeros(64, np.uint8), GL.STATIC_DRAW)
    gl.bind_vertex_array(other)
    gl.enable_vertex_array_attrib(one, 3)
    gl.enable_vertex_array_attrib(one, 4)
    gl.disable_vertex_array_attrib(one, 4)
    gl.vertex_array_attrib_format(one, 3, 2, GL.FLOAT, 0, 8)
    gl.vertex_array_attrib_binding(one, 3, 5)
    gl.vertex_array_binding_divisor(one, 5, 2)
    gl.vertex_array_vertex_buffer(one, 5, buffer, 16, 12)
    gl.vertex_array_element_buffer(one, buffer)
    gl.vertex_attrib_binding(2, 6)
    gl.vertex_binding_divisor(6, 7)
    found: list[Any] = [gl.is_vertex_array(one), gl.is_vertex_array(0), gl.is_vertex_array(99)]
    names = ["ENABLED", "SIZE", "STRIDE", "TYPE", "NORMALIZED", "INTEGER", "DIVISOR"]
    for array in (one, other):
        for index in (2, 3, 4):
            for name in names:
                query = getattr(GL, f"VERTEX_ATTRIB_ARRAY_{name}")
                found.append(int(gl.get_vertex_array_indexediv(array, index, query)[0]))
        found.append(
            int(gl.get_vertex_array_indexediv(array, 3, GL.VERTEX_ATTRIB_RELATIVE_OFFSET)[0])
        )
        found.append(int(gl.get_vertex_arrayiv(array, GL.ELEMENT_ARRAY_BUFFER_BINDING)[0]))
        for index in (3, 5):
            found.append(
                int(gl.get_vertex_array_indexed64iv(array, index, GL.VERTEX_BINDING_OFFSET)[0])
            )
    for call in (
        lambda: gl.enable_vertex_array_attrib(99, 0),
        lambda: gl.disable_vertex_array_attrib(one, 99),
        lambda: gl.vertex_array_attrib_binding(one, 0, 99),
        lambda: gl.vertex_array_binding_divisor(one, 99, 1),
        lambda: gl.gen_vertex_arrays(-1),
        lambda: gl.delete_vertex_arrays(-1, np.zeros(1, np.uint32)),
    ):
        call()
        found.append(errors(gl))
    gl.delete_vertex_arrays(2, np.array([one, other], np.uint32))
    return [*found, gl.is_vertex_array(one), int(gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0])]


# -- errors ----------------------------------------------------------------------------------------


@scene("compat")
def between_begin_and_end(gl: Any) -> list[Any]:
    """What may not stand there is refused with an error, and the primitive goes on."""
    byte = np.zeros(64, np.uint8)
    calls: list[Callable[[], Any]] = [
        lambda: gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, byte),
        lambda: gl.copy_pixels(0, 0, 1, 1, GL.COLOR),
        lambda: gl.bitmap(1, 1, 0.0, 0.0, 0.0, 0.0, byte),
        lambda: gl.raster_pos2f(0.0, 0.0),
        lambda: gl.window_pos2f(0.0, 0.0),
        lambda: gl.render_mode(GL.FEEDBACK),
        lambda: gl.enable(GL.BLEND),
        lambda: gl.clear(GL.COLOR_BUFFER_BIT),
        lambda: gl.draw_arrays(GL.TRIANGLES, 0, 3),
        lambda: gl.bind_texture(GL.TEXTURE_2D, 1),
        lambda: gl.begin(GL.LINES),
        lambda: gl.new_list(1, GL.COMPILE),
        lambda: gl.end_list(),
        lambda: gl.primitive_restart_nv(),
    ]
    found = []
    gl.begin(GL.TRIANGLE_STRIP)
    for number, call in enumerate(calls):
        gl.vertex2f(-1.0 + (number & 1) * 2, -1.0 + number / 8)
        call()
    gl.end()
    found.append(errors(gl))
    gl.primitive_restart_nv()
    return [*found, errors(gl), pixels(gl, 32, 32)]


# -- surfaces, environments, filled buffers, blocks ------------------------------------------------


@scene("compat", "POINT", False)
@scene("compat", "LINE", False)
@scene("compat", "FILL", False)
@scene("compat", "FILL", True)
def evaluated_surfaces(gl: Any, mode: str, lit: bool) -> list[Any]:
    """A surface of homogeneous coordinates; lit, by the normals it gives itself."""
    points = np.zeros((2, 3, 4), np.float32)
    points[..., 0] = np.array([-0.75, 0.0, 0.75])
    points[..., 1] = np.array([[-0.75], [0.75]])
    points[..., 2] = np.array([[0.0, 0.75, 0.25], [0.5, 0.0, -0.5]])
    points[..., 3] = np.array([[1.0, 1.25, 1.0], [1.0, 1.0, 1.5]])
    gl.map2f(GL.MAP2_VERTEX_4, 0.0, 1.0, 4, 3, 0.0, 1.0, 12, 2, points)
    gl.enable(GL.MAP2_VERTEX_4)
    gl.map_grid2f(4, 0.0, 1.0, 3, 0.0, 1.0)
    if lit:
        for cap in (GL.AUTO_NORMAL, GL.LIGHTING, GL.LIGHT0, GL.NORMALIZE):
            gl.enable(cap)
        gl.light_modeli(GL.LIGHT_MODEL_TWO_SIDE, 1)
    gl.eval_mesh2(getattr(GL, mode), 0, 4, 1, 3)
    seen = pixels(gl, 32, 32).astype(float)
    gl.eval_mesh2(GL.TRIANGLES, 0, 4, 1, 3)
    return [seen[..., 3], np.rint(seen / 2.0) / 64]


@scene("compat", "BLEND", "INTENSITY8")
@scene("compat", "ADD", "INTENSITY8")
@scene("compat", "MODULATE", "INTENSITY8")
@scene("compat", "REPLACE", "INTENSITY8")
@scene("compat", "BLEND", "LUMINANCE8_ALPHA8")
@scene("compat", "ADD", "ALPHA8")
@scene("compat", "DECAL", "RGB8")
def environments_of_few_channels(gl: Any, mode: str, form: str) -> list[Any]:
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    texel = np.array([51, 102, 153, 204], np.uint8)
    internal = getattr(GL, form)
    gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texel)
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, getattr(GL, mode))
    gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, floats([0.9, 0.7, 0.1, 0.3]))
    gl.color4f(0.2, 0.4, 0.6, 0.25)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    return [pixels(gl, 32, 32)[5, 5] / 255.0 * 0.5 // 0.004]


@scene("compat", "TEXTURE_CUBE_MAP", 3)
@scene("compat", "TEXTURE_RECTANGLE", 2)
def environments_of_other_targets(gl: Any, name: str, axes: int) -> list[Any]:
    target = getattr(GL, name)
    gl.bind_texture(target, gl.gen_textures(1)[0])
    gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    faces = range(6) if axes == 3 else range(1)
    for face in faces:
        texels = (np.arange(16, dtype=np.uint8) * 7 + face * 40).reshape(2, 2, 4)
        side = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face if axes == 3 else target
        gl.tex_image2d(side, 0, GL.RGBA, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.enable(target)
    gl.begin(GL.QUADS)
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        gl.tex_coord3f(x + 1.0 - (axes == 3) * 0.265, y + 1.0, 0.61)
        gl.vertex2f(x, y)
    gl.end()
    return [pixels(gl, 32, 32)]


@scene("core", "R8", "RED", "UNSIGNED_BYTE", 1)
@scene("core", "RG16", "RG", "UNSIGNED_SHORT", 4)
@scene("core", "RGBA32F", "RGBA", "FLOAT", 16)
def filled_buffers(gl: Any, form: str, layout: str, kind: str, unit: int) -> list[Any]:
    (buffer,) = gl.create_buffers(1)
    gl.named_buffer_data(buffer, 64, np.arange(64, dtype=np.uint8), GL.DYNAMIC_DRAW)
    given = (getattr(GL, form), 2 * unit, 64 - 3 * unit if unit < 16 else unit)
    rest = (getattr(GL, layout), getattr(GL, kind), np.arange(1, 17, dtype=np.uint8) * 9)
    found: list[Any] = []
    gl.clear_named_buffer_sub_data(buffer, *given, *rest)
    found.append(errors(gl))
    for offset, size in ((unit + 1, unit), (0, unit + 1), (64, unit), (-unit, unit), (0, 0)):
        gl.clear_named_buffer_sub_data(buffer, given[0], offset, size, *rest)
        found.append(errors(gl))
    data = np.zeros(64, np.uint8)
    gl.get_named_buffer_sub_data(buffer, 0, 64, data)
    gl.clear_named_buffer_data(buffer, given[0], rest[0], rest[1], None)
    zeros = np.ones(64, np.uint8)
    gl.get_named_buffer_sub_data(buffer, 0, 64, zeros)
    return [*found, data, zeros]


@scene("core", "TEXTURE_CUBE_MAP")
@scene("core", "TEXTURE_2D_ARRAY")
def blocks_of_layers(gl: Any, name: str) -> list[Any]:
    (texture,) = gl.create_textures(getattr(GL, name), 1)
    form = GL.COMPRESSED_RED_RGTC1
    if name == "TEXTURE_2D_ARRAY":
        gl.texture_storage3d(texture, 1, form, 8, 8, 6)
    else:
        gl.texture_storage2d(texture, 1, form, 8, 8)
    data = (np.arange(6 * 4 * 8) * 37 % 251).astype(np.uint8)
    if name == "TEXTURE_2D_ARRAY":
        gl.compressed_texture_sub_image3d(texture, 0, 0, 0, 0, 8, 8, 6, form, data.nbytes, data)
    else:
        gl.bind_texture(GL.TEXTURE_CUBE_MAP, texture)
        for face in range(6):
            part = data[face * 32 : face * 32 + 32].copy()
            side = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
            gl.compressed_tex_sub_image2d(side, 0, 0, 0, 8, 8, form, 32, part)
    found: list[Any] = [errors(gl)]
    for box in ((0, 0, 1, 8, 8, 3), (4, 0, 2, 4, 4, 2), (4, 4, 5, 4, 4, 1), (0, 0, 0, 8, 8, 6),
                (0, 0, 5, 8, 8, 2)):  # fmt: skip
        room = np.zeros(256, np.uint8)
        gl.get_compressed_texture_sub_image(texture, 0, *box, room.nbytes, room)
        found += [room, errors(gl)]
    return found


@scene("core")
def bound_several_at_once(gl: Any) -> list[Any]:
    buffers, textures = gl.create_buffers(3), gl.create_textures(GL.TEXTURE_2D, 2)
    for buffer in buffers:
        gl.named_buffer_data(buffer, 1024, np.zeros(1024, np.uint8), GL.STATIC_DRAW)
    gl.texture_storage2d(textures[0], 1, GL.RGBA8, 4, 4)
    (buffered,) = gl.create_textures(GL.TEXTURE_BUFFER, 1)
    gl.texture_buffer(buffered, GL.R32F, buffers[0])
    names = np.array(buffers, np.uint32)
    starts, sizes = np.array([0, 256, 512], np.int64), np.array([16, 32, 64], np.int64)
    found: list[Any] = []

    def told() -> None:
        found.append(errors(gl))
        for i in range(4):
            for query in (GL.UNIFORM_BUFFER_BINDING, GL.UNIFORM_BUFFER_START):
                found.append(int(gl.get_integer64i_v(query, i)[0]))
            for query in ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT"):
                found.append(int(gl.get_integeri_v(getattr(GL, f"IMAGE_BINDING_{query}"), i)[0]))

    gl.bind_buffers_range(GL.UNIFORM_BUFFER, 1, 3, names, starts, sizes)
    told()
    gl.bind_buffers_range(GL.UNIFORM_BUFFER, 2, 2, None, None, None)
    told()
    gl.bind_image_textures(0, 2, np.array([buffered, textures[0]], np.uint32))
    told()
    gl.bind_image_textures(1, 2, np.array([0, textures[1]], np.uint32))
    told()
    gl.bind_image_textures(0, 1, np.array([99], np.uint32))
    told()
    gl.bind_image_textures(0, 2, None)
    told()
    return found


@scene("compat", "DOT4_ATI", "PRIMARY_COLOR")
@scene("compat", "DOT3_ATI", "SECONDARY_INTERPOLATOR_ATI")
@scene("compat", "MAD_ATI", "ONE")
@scene("compat", "MAD_ATI", "ZERO")
def operations_of_fragment_shaders_of_ati(gl: Any, name: str, source: str) -> list[Any]:
    gl.color4f(0.25, 0.5, 0.75, 0.125)
    gl.secondary_color3f(0.5, 0.25, 0.125)
    shader = gl.gen_fragment_shaders_ati(1)
    gl.bind_fragment_shader_ati(shader)
    gl.set_fragment_shader_constant_ati(GL.CON_0_ATI, floats([0.5, 0.25, 0.125, 0.75]))
    op, other, none = getattr(GL, name), getattr(GL, source), GL.NONE
    gl.begin_fragment_shader_ati()
    a, b = (GL.CON_0_ATI, none, none), (other, none, none)
    if name in ("DOT3_ATI", "DOT4_ATI"):
        gl.color_fragment_op2_ati(op, GL.REG_0_ATI, none, none, *a, *b)
    else:
        gl.color_fragment_op3_ati(op, GL.REG_0_ATI, none, none, *a, *b, *a)
    gl.end_fragment_shader_ati()
    gl.enable(GL.FRAGMENT_SHADER_ATI)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.disable(GL.FRAGMENT_SHADER_ATI)
    return [pixels(gl, 32, 32)[5, 5][:3]]


# -- what llvmpipe does otherwise than the specification says --------------------------------------


@pytest.fixture
def mine() -> Any:
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(32, 32))
    drawn_to(gl, GL.DEPTH24_STENCIL8)
    gl.window_pos2i(2, 3)
    yield gl
    gl.release()


def box(gl: Any, width: int = 4, height: int = 4) -> Any:
    """Stencil where it was drawn."""
    return depths(gl)[1].reshape(32, 32)[3 : 3 + height, 2 : 2 + width]


@pytest.mark.parametrize(("shift", "offset"), [(0, 0), (2, 1), (-1, 5), (-3, 0)])
def test_indices_are_shifted_and_moved(mine: Any, shift: int, offset: int) -> None:
    mine.pixel_transferi(GL.INDEX_SHIFT, shift)
    mine.pixel_transferi(GL.INDEX_OFFSET, offset)
    data = np.arange(16, dtype=np.uint8).reshape(4, 4) * 3
    moved = np.left_shift(data, shift) if shift >= 0 else np.right_shift(data, -shift)
    mine.draw_pixels(4, 4, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, data)
    mine.pixel_transferi(GL.INDEX_SHIFT, 0)
    mine.pixel_transferi(GL.INDEX_OFFSET, 0)
    np.testing.assert_array_equal(box(mine), moved + offset)
    mine.pixel_transferi(GL.INDEX_SHIFT, 1)  # a copy of it onto itself
    mine.copy_pixels(2, 3, 4, 4, GL.STENCIL)
    mine.pixel_transferi(GL.INDEX_SHIFT, 0)
    np.testing.assert_array_equal(box(mine), (moved + offset) * 2)


def test_stencil_is_looked_up(mine: Any) -> None:
    """A table of sixteen, in which the lowest four bits choose."""
    table = np.arange(16, dtype=np.uint32)[::-1].copy() * 3
    mine.pixel_mapuiv(GL.PIXEL_MAP_S_TO_S, 16, table)
    mine.pixel_transferi(GL.MAP_STENCIL, 1)
    data = np.arange(16, dtype=np.uint8).reshape(4, 4) * 5
    mine.draw_pixels(4, 4, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, data)
    mine.pixel_transferi(GL.MAP_STENCIL, 0)
    np.testing.assert_array_equal(box(mine), table[data & 15])


@pytest.mark.parametrize("form", ["DEPTH24_STENCIL8", "DEPTH32F_STENCIL8"])
def test_updating_depth_keeps_stencil(mine: Any, form: str) -> None:
    gl = mine
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    both = GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8
    gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, form), 4, 4, 0, *both, WORDS)
    depth = np.array([[0.0, 0.25], [0.5, 1.0]], np.float32)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 2, 2, 2, GL.DEPTH_COMPONENT, GL.FLOAT, depth)
    words = np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 0, *both), np.uint32).reshape(4, 4)
    np.testing.assert_array_equal(words & 0xFF, WORDS & 0xFF)
    expected = WORDS >> 8
    expected[2:4, 1:3] = np.rint(depth * np.float64(0xFFFFFF))
    np.testing.assert_array_equal(words >> 8, expected)


@pytest.mark.parametrize(
    ("normals", "facing"), [("NORMALIZE", 0.8), ("RESCALE_NORMAL", 0.48), ("DITHER", 0.96)]
)
def test_a_lit_raster_position_under_a_scale(mine: Any, normals: str, facing: float) -> None:
    mine.enable(getattr(GL, normals))
    mine.enable(GL.LIGHTING)
    mine.enable(GL.LIGHT0)
    mine.scalef(0.5, 0.5, 0.5)
    mine.normal3f(0.36, 0.0, 0.48)
    mine.raster_pos3f(0.25, -0.25, 0.125)
    color = mine.get_floatv(GL.CURRENT_RASTER_COLOR)[:4]
    assert color == pytest.approx([0.04 + 0.8 * facing] * 3 + [1.0], abs=1e-6)


def test_two_products_and_a_third_component(mine: Any) -> None:
    """Two products and blue of the third argument; the shader ends with its context."""
    (seen,) = operations_of_fragment_shaders_of_ati(mine, "DOT2_ADD_ATI", "PRIMARY_COLOR")
    assert seen.tolist() == [round(255 * (0.5 * 0.25 + 0.25 * 0.5 + 0.125))] * 3
