"""Values exactly at an edge, compared with the native GL: planes through vertices, the last byte
of a mapping, NaN depths, rows and images that pixel storage skips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import program

pytestmark = pytest.mark.native

SIZE = 16


def target(gl: Any, depth: int | None = None) -> None:
    """A framebuffer of SIZE x SIZE, cleared."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for point, format in ((GL.COLOR_ATTACHMENT0, GL.RGBA8), (GL.DEPTH_ATTACHMENT, depth)):
        if format is not None:
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage(GL.RENDERBUFFER, format, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)


def outlines_along_planes(gl: Any, mode: int = GL.LINE) -> Any:
    """Outlines of triangles cut by a plane through one or two of their corners."""
    target(gl)
    gl.polygon_mode(GL.FRONT_AND_BACK, mode)
    gl.enable(GL.CLIP_PLANE0)
    random = np.random.default_rng(11)
    images = []
    for index in range(48):
        # Not in the centres of pixels: of lines from there, llvmpipe's framebuffer objects draw
        # other pixels than its windows (`test_lines_from_centers.py`).
        corners = random.integers(-7, 8, (3, 2)) / 8 + (1 / 16, 5 / 64)
        on = corners[index % 3]
        normal = [(1, 0), (-1, 0), (0, 1), (0, -1)][index // 3 % 4]
        if index >= 36:  # a whole edge lies on the plane
            corners[(index + 1) % 3][int(normal[1] != 0) ^ 1] = on[int(normal[1] != 0) ^ 1]
        # Only an axis' coordinate decides, so that the distance is zero and not nearly so.
        plane = np.array([*normal, 0.0, -float(np.dot(normal, on))])
        gl.clip_plane(GL.CLIP_PLANE0, plane)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.TRIANGLES)
        for x, y in corners:
            gl.vertex2f(x, y)
        gl.end()
        images.append(bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)))
    assert sum(map(any, images)) > 20
    return images


def corners_on_planes(gl: Any) -> Any:
    """The same as points: a corner on the plane is one of what is left."""
    return outlines_along_planes(gl, GL.POINT)


def outlines_at_the_view(gl: Any) -> Any:
    """Outlines and corners of triangles that meet the sides of the view in edges and corners."""
    target(gl)
    gl.viewport(SIZE // 4, SIZE // 4, SIZE // 2, SIZE // 2)
    random = np.random.default_rng(12)
    images = []
    for index in range(160):
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT if index % 2 else GL.LINE)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.TRIANGLES)
        for x, y in random.integers(-4, 5, (3, 2)) / 2:
            gl.vertex2f(x, y)
        gl.end()
        images.append(bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)))
    assert sum(map(any, images)) > 80
    return images


FULL_SCREEN = """#version 330
    void main() {
        vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
        gl_Position = vec4(at, 0.0, 1.0);
    }"""
NOT_A_NUMBER = """#version 330
    uniform float zero; out vec4 color;
    void main() { color = vec4(1.0); gl_FragDepth = zero / zero; }"""


def depths_that_are_nan(gl: Any) -> Any:
    """What is tested and stored where gl_FragDepth is NaN."""
    seen = []
    gl.use_program(program(gl, FULL_SCREEN, NOT_A_NUMBER))
    (array,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(array)
    gl.enable(GL.DEPTH_TEST)
    for format in (GL.DEPTH_COMPONENT16, GL.DEPTH_COMPONENT24, GL.DEPTH_COMPONENT32F):
        for function in range(GL.NEVER, GL.ALWAYS + 1):
            target(gl, format)
            gl.depth_func(function)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            seen.append(bytes(gl.read_pixels(1, 1, 1, 1, GL.DEPTH_COMPONENT, GL.FLOAT)))
            seen.append(bytes(gl.read_pixels(1, 1, 1, 1, GL.RED, GL.UNSIGNED_BYTE)))
    return seen


def bytes_beside_a_mapping(gl: Any) -> Any:
    """Writing beside, up to and into what is mapped; flushing less, all and more of it."""
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, name)
    gl.buffer_data(GL.ARRAY_BUFFER, 64, np.zeros(64, np.uint8), GL.STATIC_DRAW)
    seen = []
    gl.map_buffer_range(GL.ARRAY_BUFFER, 16, 16, GL.MAP_WRITE_BIT)
    for offset, size in ((0, 16), (32, 16), (0, 17), (31, 4), (16, 16), (32, 32), (15, 1), (16, 0)):
        gl.buffer_sub_data(GL.ARRAY_BUFFER, offset, size, np.ones(size, np.uint8))
        seen.append(("write", offset, size, gl.get_error()))
    gl.flush_mapped_buffer_range(GL.ARRAY_BUFFER, 0, 4)
    seen.append(("flush without the bit", gl.get_error()))
    gl.unmap_buffer(GL.ARRAY_BUFFER)
    gl.flush_mapped_buffer_range(GL.ARRAY_BUFFER, 0, 4)
    seen.append(("flush of nothing", gl.get_error()))
    gl.map_buffer_range(GL.ARRAY_BUFFER, 16, 16, GL.MAP_WRITE_BIT | GL.MAP_FLUSH_EXPLICIT_BIT)
    for offset, size in ((0, 16), (0, 17), (16, 0), (16, 1), (-1, 2), (0, -1), (17, 0)):
        gl.flush_mapped_buffer_range(GL.ARRAY_BUFFER, offset, size)
        seen.append(("flush", offset, size, gl.get_error()))
    gl.unmap_buffer(GL.ARRAY_BUFFER)
    return seen


def images_packed_apart(gl: Any) -> Any:
    """PACK_IMAGE_HEIGHT, rows and images skipped; the bytes between stay as they were."""
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, name)
    data = np.arange(32, dtype=np.uint8)
    gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA8, 2, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, buffer)
    gl.buffer_data(GL.PIXEL_PACK_BUFFER, 256, np.full(256, 9, np.uint8), GL.STATIC_DRAW)
    for setting, value in (("IMAGE_HEIGHT", 5), ("SKIP_IMAGES", 1), ("ROW_LENGTH", 3)):
        gl.pixel_storei(getattr(GL, f"PACK_{setting}"), value)
    gl.get_tex_image(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA, GL.UNSIGNED_BYTE, 0)
    return bytes(gl.get_buffer_sub_data(GL.PIXEL_PACK_BUFFER, 0, 256)), gl.get_error()


TEXEL = """#version 330
    uniform sampler2D image; out vec4 color;
    void main() { color = texture(image, vec2(0.3, 0.6)); }"""


def levels_the_wrong_way_round(gl: Any) -> Any:
    """A base level behind the last one: only who wants mipmaps misses them."""
    target(gl)
    gl.use_program(program(gl, FULL_SCREEN, TEXEL))
    (array,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(array)
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    for level in range(4):
        texels = np.full((8 >> level, 8 >> level, 4), 50 * (level + 1), np.uint8)
        gl.tex_image2d(
            GL.TEXTURE_2D,
            level,
            GL.RGBA8,
            8 >> level,
            8 >> level,
            0,
            GL.RGBA,
            GL.UNSIGNED_BYTE,
            texels,
        )
    seen = []
    for base, last in ((0, 3), (2, 3), (3, 3), (3, 2), (2, 0), (0, 9), (4, 9)):
        for smaller in (GL.NEAREST, GL.LINEAR, GL.NEAREST_MIPMAP_NEAREST, GL.LINEAR_MIPMAP_LINEAR):
            for pname, value in (
                (GL.TEXTURE_BASE_LEVEL, base),
                (GL.TEXTURE_MAX_LEVEL, last),
                (GL.TEXTURE_MIN_FILTER, smaller),
            ):
                gl.tex_parameteri(GL.TEXTURE_2D, pname, value)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            pixel = bytes(gl.read_pixels(4, 4, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))[:4]
            seen.append((base, last, smaller, pixel))
    return seen


def outlines_of_nothing(gl: Any) -> Any:
    """Triangles two of whose corners are one, filled and as lines, under every kind of culling."""
    target(gl)
    seen = []
    for mode in (GL.FILL, GL.LINE):
        for culled in (None, GL.FRONT, GL.BACK):
            for winding in (GL.CCW, GL.CW):
                gl.polygon_mode(GL.FRONT_AND_BACK, mode)
                (gl.disable if culled is None else gl.enable)(GL.CULL_FACE)
                gl.cull_face(culled or GL.BACK)
                gl.front_face(winding)
                gl.clear(GL.COLOR_BUFFER_BIT)
                gl.begin(GL.TRIANGLES)
                for x, y in ((-7, -5), (6, 3), (-7, -5), (-6, 5), (-6, 5), (7, -6)):
                    gl.vertex2f(x / 8 + 1 / 16, y / 8 + 1 / 16)
                gl.end()
                raw = bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE))
                seen.append((mode, culled, winding, raw))
    assert any(any(raw) for *_, raw in seen)
    return seen


CASES = (
    outlines_of_nothing,
    levels_the_wrong_way_round,
    outlines_along_planes,
    corners_on_planes,
    outlines_at_the_view,
    depths_that_are_nan,
    bytes_beside_a_mapping,
    images_packed_apart,
)


@pytest.mark.parametrize("case", CASES, ids=[c.__name__ for c in CASES])
def test_edges_are_where_the_native_gl_has_them(case: Callable[[Any], Any]) -> None:
    ours = create_context("numpipe", profile="compat", version=(3, 3), size=(8, 8))
    theirs = native_context(profile="compat", version=(3, 3))
    ours.make_current()
    mine = case(ours)
    theirs.make_current()
    assert mine == case(theirs)
