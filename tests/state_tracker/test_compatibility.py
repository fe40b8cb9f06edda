"""The compatibility profile: immediate mode, client arrays, matrices, fixed function.

Each drawing is compared with the native GL's: coverage equal, colours within 1/255.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.optional.compatibility.immediate import may_stand_inside
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels
from tests.state_tracker.pictures import compare


def immediate(gl: Any) -> None:
    gl.begin(GL.TRIANGLES)
    for color, vertex in (
        ((1, 0, 0), (-0.9, -0.8)),
        ((0, 1, 0), (0.9, -0.6)),
        ((0, 0, 1), (0, 0.9)),
    ):
        gl.color3f(*color)
        gl.vertex2f(*vertex)
    gl.end()


def quads_and_polygons(gl: Any) -> None:
    gl.begin(GL.QUADS)
    gl.color4ub(255, 128, 0, 255)
    for x, y in ((-0.9, -0.9), (-0.1, -0.9), (-0.2, -0.1), (-0.8, -0.2)):
        gl.vertex2d(x, y)
    gl.end()
    gl.color3ub(10, 200, 100)
    gl.begin(GL.POLYGON)
    for x, y in ((0.1, 0.1), (0.6, 0.0), (0.9, 0.4), (0.5, 0.9), (0.1, 0.6)):
        gl.vertex3f(x, y, 0.5)
    gl.end()
    gl.begin(GL.QUAD_STRIP)
    gl.color3f(0.5, 0.5, 1.0)
    for x, y in ((-0.9, 0.2), (-0.9, 0.8), (-0.6, 0.3), (-0.6, 0.7), (-0.1, 0.1), (-0.2, 0.9)):
        gl.vertex2f(x, y)
    gl.end()
    gl.rectf(0.2, -0.8, 0.7, -0.3)


def transformed(gl: Any) -> None:
    gl.matrix_mode(GL.PROJECTION)
    gl.frustum(-0.5, 0.5, -0.5, 0.5, 1.0, 10.0)
    gl.matrix_mode(GL.MODELVIEW)
    gl.translatef(0.2, 0.1, -3.0)
    gl.push_matrix()
    gl.rotatef(30.0, 0.3, 1.0, 0.2)
    gl.scalef(0.8, 1.1, 1.0)
    immediate(gl)
    gl.pop_matrix()
    gl.translatef(-0.8, -0.8, 0.5)
    gl.rectf(-0.2, -0.2, 0.2, 0.2)


def lit(gl: Any) -> None:
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.enable(GL.LIGHT1)
    gl.enable(GL.NORMALIZE)
    gl.lightfv(GL.LIGHT0, GL.POSITION, [0.3, 0.5, 1.0, 0.0])
    gl.lightfv(GL.LIGHT1, GL.POSITION, [-0.5, 0.5, 0.5, 1.0])
    gl.lightfv(GL.LIGHT1, GL.DIFFUSE, [0.2, 0.6, 0.2, 1.0])
    gl.lightf(GL.LIGHT1, GL.LINEAR_ATTENUATION, 0.4)
    gl.lightf(GL.LIGHT1, GL.SPOT_CUTOFF, 60.0)
    gl.lightfv(GL.LIGHT1, GL.SPOT_DIRECTION, [0.2, -0.2, -1.0])
    gl.materialfv(GL.FRONT_AND_BACK, GL.SPECULAR, [0.5, 0.5, 0.5, 1.0])
    gl.materialf(GL.FRONT_AND_BACK, GL.SHININESS, 12.0)
    gl.enable(GL.COLOR_MATERIAL)
    gl.color3f(0.7, 0.6, 0.9)
    gl.begin(GL.TRIANGLE_FAN)
    gl.normal3f(0.0, 0.0, 1.0)
    gl.vertex2f(0.0, 0.0)
    for i in range(9):
        angle = i * np.pi / 4
        x, y = float(np.cos(angle)), float(np.sin(angle))
        gl.normal3f(x, y, 0.7)
        gl.vertex2f(0.9 * x, 0.9 * y)
    gl.end()


def two_sided(gl: Any) -> None:
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.light_modeli(GL.LIGHT_MODEL_TWO_SIDE, 1)
    gl.materialfv(GL.FRONT, GL.DIFFUSE, [1.0, 0.2, 0.2, 1.0])
    gl.materialfv(GL.BACK, GL.DIFFUSE, [0.2, 0.2, 1.0, 1.0])
    gl.lightfv(GL.LIGHT0, GL.POSITION, [0.0, 0.0, 1.0, 0.0])
    for direction, offset in ((1.0, -0.5), (-1.0, 0.5)):
        gl.normal3f(0.0, 0.0, direction)
        gl.begin(GL.TRIANGLES)
        corners = [(offset - 0.4, -0.5), (offset + 0.4, -0.5), (offset, 0.5)]
        for x, y in corners if direction > 0 else corners[::-1]:
            gl.vertex2f(x, y)
        gl.end()


def textured(gl: Any) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(3).integers(0, 256, (8, 8, 4), np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.enable(GL.TEXTURE_2D)
    gl.matrix_mode(GL.TEXTURE)
    gl.scalef(2.0, 1.0, 1.0)
    gl.matrix_mode(GL.MODELVIEW)
    modes = (GL.MODULATE, GL.REPLACE, GL.DECAL, GL.BLEND, GL.ADD)
    gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, [0.9, 0.3, 0.1, 0.5])
    for i, mode in enumerate(modes):
        gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, mode)
        gl.color4f(0.5, 0.8, 0.4, 0.6)
        low, high = -1 + i * 0.4, -0.62 + i * 0.4
        gl.begin(GL.QUADS)
        for s, t, x, y in (
            (0, 0, low, -0.9),
            (1, 0, high, -0.9),
            (1, 1, high, 0.9),
            (0, 1, low, 0.9),
        ):
            gl.tex_coord2f(s, t)
            gl.vertex2f(x, y)
        gl.end()


def combined(gl: Any) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(5).integers(0, 256, (4, 4, 4), np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.enable(GL.TEXTURE_2D)
    env = GL.TEXTURE_ENV
    gl.tex_envi(env, GL.TEXTURE_ENV_MODE, GL.COMBINE)
    gl.tex_envi(env, GL.COMBINE_RGB, GL.INTERPOLATE)
    gl.tex_envi(env, GL.SRC0_RGB, GL.TEXTURE)
    gl.tex_envi(env, GL.SRC1_RGB, GL.PRIMARY_COLOR)
    gl.tex_envi(env, GL.SRC2_RGB, GL.CONSTANT)
    gl.tex_envi(env, GL.OPERAND2_RGB, GL.ONE_MINUS_SRC_ALPHA)
    gl.tex_envi(env, GL.COMBINE_ALPHA, GL.ADD_SIGNED)
    gl.tex_envfv(env, GL.TEXTURE_ENV_COLOR, [0.9, 0.3, 0.1, 0.4])
    gl.color4f(0.5, 0.8, 0.4, 0.6)
    gl.begin(GL.QUADS)
    for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
        gl.tex_coord2f(s, t)
        gl.vertex2f(1.6 * s - 0.8, 1.6 * t - 0.8)
    gl.end()


def combined_with_other_units(gl: Any) -> None:
    """Combiners name units with a texture, one where it is not enabled, one that has none."""
    for unit in (0, 1, 2):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        data = np.full((4, 4, 4), (60, 110, 160, 210), np.uint8) - np.uint8(20 * unit)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    env = GL.TEXTURE_ENV
    gl.active_texture(GL.TEXTURE2)
    gl.disable(GL.TEXTURE_2D)
    for unit in (0, 1):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(env, GL.TEXTURE_ENV_MODE, GL.COMBINE)
    gl.tex_envi(env, GL.COMBINE_RGB, GL.ADD)
    for n, other in enumerate((GL.TEXTURE0, GL.TEXTURE1, GL.TEXTURE2, GL.TEXTURE5)):
        gl.tex_envi(env, GL.SRC1_RGB, other)
        gl.tex_envi(env, GL.SRC0_ALPHA, other)
        left = 0.5 * n - 0.95
        gl.begin(GL.QUADS)
        for x, y in ((left, -0.9), (left + 0.4, -0.9), (left + 0.4, 0.9), (left, 0.9)):
            gl.vertex2f(x, y)
        gl.end()


def fogged(gl: Any) -> None:
    gl.enable(GL.FOG)
    gl.fogfv(GL.FOG_COLOR, [0.2, 0.4, 0.9, 1.0])
    for i, mode in enumerate((GL.LINEAR, GL.EXP, GL.EXP2)):
        gl.fogi(GL.FOG_MODE, mode)
        gl.fogf(GL.FOG_DENSITY, 1.2)
        gl.begin(GL.QUADS)
        gl.color3f(1.0, 0.7, 0.1)
        low = -0.9 + 0.6 * i
        for x, y, z in (
            (low, -0.9, 0.0),
            (low + 0.5, -0.9, 0.0),
            (low + 0.5, 0.9, 0.9),
            (low, 0.9, 0.9),
        ):
            gl.vertex3f(x, y, z)
        gl.end()


def generated_coordinates(gl: Any) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(9).integers(0, 256, (8, 8, 4), np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.enable(GL.TEXTURE_2D)
    gl.enable(GL.TEXTURE_GEN_S)
    gl.enable(GL.TEXTURE_GEN_T)
    gl.tex_geni(GL.S, GL.TEXTURE_GEN_MODE, GL.OBJECT_LINEAR)
    gl.tex_genfv(GL.S, GL.OBJECT_PLANE, [0.7, 0.1, 0.0, 0.3])
    gl.tex_geni(GL.T, GL.TEXTURE_GEN_MODE, GL.EYE_LINEAR)
    gl.rotatef(10.0, 0.0, 0.0, 1.0)
    gl.tex_genfv(GL.T, GL.EYE_PLANE, [0.0, 0.9, 0.0, 0.2])
    gl.rectf(-0.7, -0.7, 0.7, 0.7)


def client_arrays(gl: Any) -> None:
    data = np.zeros(6, [("position", "<f4", 2), ("color", "u1", 4)])
    data["position"] = [(-0.9, -0.9), (0, -0.9), (-0.5, 0), (0.1, 0.1), (0.9, 0.1), (0.5, 0.9)]
    data["color"] = np.random.default_rng(1).integers(0, 256, (6, 4))
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    raw = data.view(np.uint8)
    gl.vertex_pointer(2, GL.FLOAT, 12, raw)
    gl.color_pointer(4, GL.UNSIGNED_BYTE, 12, raw[8:])
    gl.draw_arrays(GL.TRIANGLES, 3, 3)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, np.array([2, 1, 0], np.uint16))
    gl.shade_model(GL.FLAT)
    gl.translatef(0.9, -0.9, 0.0)
    gl.scalef(0.6, 0.6, 1.0)
    gl.draw_range_elements(GL.TRIANGLES, 3, 5, 3, GL.UNSIGNED_BYTE, bytes([3, 4, 5]))


def alpha_tested(gl: Any) -> None:
    gl.enable(GL.ALPHA_TEST)
    for i, func in enumerate((GL.GREATER, GL.LEQUAL, GL.NOTEQUAL)):
        gl.alpha_func(func, 0.5)
        gl.begin(GL.QUADS)
        low = -0.9 + 0.6 * i
        for alpha, x, y in (
            (0, low, -0.9),
            (1, low + 0.5, -0.9),
            (1, low + 0.5, 0.9),
            (0, low, 0.9),
        ):
            gl.color4f(0.3, 0.9, 0.6, alpha)
            gl.vertex2f(x, y)
        gl.end()


def clipped(gl: Any) -> None:
    gl.enable(GL.CLIP_PLANE0)
    gl.enable(GL.CLIP_PLANE0 + 2)
    gl.rotatef(20.0, 0.0, 0.0, 1.0)
    gl.clip_plane(GL.CLIP_PLANE0, [1.0, 0.3, 0.0, 0.2])
    gl.load_identity()
    gl.clip_plane(GL.CLIP_PLANE0 + 2, [0.0, -1.0, 0.0, 0.4])
    immediate(gl)


def lines_and_points(gl: Any) -> None:
    gl.line_width(3.0)
    gl.begin(GL.LINE_LOOP)
    for x, y in ((-0.8, -0.8), (0.7, -0.5), (0.1, 0.8)):
        gl.color3f(abs(x), abs(y), 0.5)
        gl.vertex2f(x, y)
    gl.end()
    gl.point_size(6.0)
    gl.begin(GL.POINTS)
    gl.vertex2f(0.51, 0.52)
    gl.vertex2f(-0.61, 0.3)
    gl.end()


SCENES = (
    immediate, quads_and_polygons, transformed, lit, two_sided, textured, combined,
    combined_with_other_units, fogged,
    generated_coordinates, client_arrays, alpha_tested, clipped, lines_and_points,
)  # fmt: skip


def drawn(gl: GLInterface, scene: Callable[[Any], None]) -> npt.NDArray[Any]:
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    scene(gl)
    assert errors(gl) == []
    image = pixels(gl).copy()
    gl.release()
    return image


@pytest.mark.native
@pytest.mark.parametrize("scene", SCENES, ids=[s.__name__ for s in SCENES])
def test_fixed_function_draws_what_native_gl_draws(scene: Callable[[Any], None]) -> None:
    options: dict[str, Any] = {"profile": "compat", "version": (2, 1), "size": (64, 64)}
    reference = drawn(native_context(**options), scene)
    ours = drawn(create_context("numpipe", **options), scene)
    assert reference.any()
    covered = [image.any(axis=-1) for image in (ours, reference)]
    assert (covered[0] != covered[1]).sum() == 0
    difference = np.abs(ours.astype(int) - reference.astype(int)).max(axis=-1)
    assert (difference > 1).sum() <= 4, f"{(difference > 1).sum()} pixels, {difference.max()} most"


@pytest.mark.native
@pytest.mark.parametrize("mode", ["LINE", "POINT"])
@pytest.mark.parametrize("kind", ["TRIANGLES", "QUADS", "POLYGON"])
@pytest.mark.parametrize("cut", ["depth", "plane", "first"])
def test_edges_that_are_hidden_stay_so_where_polygons_are_cut(
    kind: str, mode: str, cut: str
) -> None:
    """By the range of depth or a clip plane, and wherever a polygon begins."""

    def drawing(gl: Any) -> None:
        rng = np.random.default_rng(3)
        gl.polygon_mode(GL.FRONT_AND_BACK, getattr(GL, mode))
        if cut == "first":
            gl.provoking_vertex(GL.FIRST_VERTEX_CONVENTION)
            gl.shade_model(GL.FLAT)
        elif cut == "plane":
            gl.enable(GL.CLIP_PLANE0)
            gl.clip_plane(GL.CLIP_PLANE0, [1.0, 0.3, 0.0, 0.1])
        count = {"TRIANGLES": 3, "QUADS": 4, "POLYGON": 5}[kind]
        for k in range(9):
            gl.begin(getattr(GL, kind))
            x, y = (k % 3 - 1) * 0.62, (k // 3 - 1) * 0.62
            for angle in np.arange(count) / count * 2 * np.pi + 0.3 * k:
                gl.edge_flag(int(rng.integers(2)))
                z = 0.0 if cut == "plane" else rng.uniform(-1.6, 1.6)
                gl.color3f(*rng.uniform(0.3, 1, 3).tolist())
                gl.vertex3f(x + 0.3 * np.cos(angle), y + 0.3 * np.sin(angle), float(z))
            gl.end()

    compare(drawing, tolerance=3, version=(3, 2))


def test_core_profiles_have_no_immediate_mode(ours: GLInterface) -> None:
    ours.begin(GL.TRIANGLES)
    assert errors(ours) == ["GL_INVALID_OPERATION"]
    assert ours.load_opengl_function("glBegin") == 0


POINTERS = (ctypes.c_void_p, ctypes.c_char_p)


def test_between_begin_and_end_c_is_refused_what_python_is() -> None:
    """Every function of plain numbers that has no business there, by its C pointer."""
    gl = create_context("noop", profile="compat")
    called = 0
    for function in FUNCTIONS.values():
        if function.restype is not None or may_stand_inside(function):
            continue
        pointer = gl.load_opengl_function(function.c_name)
        if not pointer or any(hasattr(t, "contents") or t in POINTERS for t in function.argtypes):
            continue
        call = ctypes.CFUNCTYPE(None, *function.argtypes)(pointer)
        gl.begin(GL.TRIANGLES)
        call(*(0 for _ in function.params))
        gl.end()
        assert gl.get_error() == GL.INVALID_OPERATION, function.c_name
        called += 1
    assert called > 400
    gl.release()
