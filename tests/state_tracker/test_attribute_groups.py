"""glPushAttrib beside the native GL: what each group saves, and what it does not.

After a push everything is set to something else (all rows of `settings.txt`, and what they lack);
after the pop both GLs answer the same to everything that can be asked of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.settings import rows

pytestmark = pytest.mark.native

GROUPS = [
    "CURRENT", "POINT", "LINE", "POLYGON", "POLYGON_STIPPLE", "PIXEL_MODE", "LIGHTING", "FOG",
    "DEPTH_BUFFER", "ACCUM_BUFFER", "STENCIL_BUFFER", "VIEWPORT", "TRANSFORM", "ENABLE",
    "COLOR_BUFFER", "HINT", "EVAL", "LIST", "TEXTURE", "SCISSOR", "MULTISAMPLE",
]  # fmt: skip
SWITCHED = [
    "COLOR_LOGIC_OP", "DITHER", "SAMPLE_ALPHA_TO_COVERAGE", "SAMPLE_ALPHA_TO_ONE", "DEPTH_TEST",
    "STENCIL_TEST", "STENCIL_TEST_TWO_SIDE_EXT", "ALPHA_TEST", "DEPTH_BOUNDS_TEST_EXT",
    "CULL_FACE", "BLEND", "POLYGON_OFFSET_FILL", "POLYGON_OFFSET_LINE", "POLYGON_OFFSET_POINT",
    "POLYGON_SMOOTH", "POLYGON_STIPPLE", "LINE_SMOOTH", "LINE_STIPPLE", "POINT_SMOOTH",
    "POINT_SPRITE", "PROGRAM_POINT_SIZE", "VERTEX_PROGRAM_TWO_SIDE",
    "MULTISAMPLE", "SAMPLE_COVERAGE", "SAMPLE_SHADING",
    "FRAMEBUFFER_SRGB", "TEXTURE_CUBE_MAP_SEAMLESS", "LIGHTING", "COLOR_MATERIAL", "NORMALIZE",
    "RESCALE_NORMAL", "FOG", "VERTEX_PROGRAM_ARB", "FRAGMENT_PROGRAM_ARB",
    "FRAGMENT_SHADER_ATI", "AUTO_NORMAL", "RASTERIZER_DISCARD", "TEXTURE_1D", "TEXTURE_3D",
    "TEXTURE_CUBE_MAP", "TEXTURE_RECTANGLE", "TEXTURE_GEN_S", "TEXTURE_GEN_T", "TEXTURE_GEN_R",
    "TEXTURE_GEN_Q", "LIGHT3", "MAP1_COLOR_4", "MAP2_INDEX", "MAP1_TEXTURE_COORD_4",
    "SCISSOR_TEST", "INDEX_LOGIC_OP", "CLIP_DISTANCE3", "MAP1_VERTEX_3", "MAP2_NORMAL",
]  # fmt: skip
HINTS = ["PERSPECTIVE_CORRECTION", "POINT_SMOOTH", "LINE_SMOOTH", "POLYGON_SMOOTH", "FOG",
         "GENERATE_MIPMAP", "TEXTURE_COMPRESSION", "FRAGMENT_SHADER_DERIVATIVE"]  # fmt: skip
MORE: list[tuple[Any, ...]] = [
    ("pixel_transferf", GL.RED_SCALE, 2.0), ("pixel_transferf", GL.ALPHA_BIAS, 0.25),
    ("pixel_transferf", GL.DEPTH_SCALE, 2.0), ("pixel_transferf", GL.DEPTH_BIAS, 0.5),
    ("pixel_transferi", GL.MAP_COLOR, 1), ("pixel_transferi", GL.MAP_STENCIL, 1),
    ("pixel_transferi", GL.INDEX_SHIFT, 3), ("pixel_transferi", GL.INDEX_OFFSET, 2),
    ("pixel_zoom", 2.0, 3.0), ("read_buffer", GL.NONE), ("list_base", 7),
    ("clear_accum", 0.5, 0.25, 0.75, 1.0), ("index_mask", 5), ("clear_index", 3.0),
    ("indexf", 4.0), ("edge_flag", 0), ("logic_op", GL.XOR), ("map_grid1f", 5, 0.25, 0.75),
    ("map_grid2f", 5, 0.25, 0.75, 6, 0.1, 0.2),
    ("disable", GL.RASTERIZER_DISCARD), ("disable", GL.CLIP_DISTANCE0),
    ("matrix_mode", GL.PROJECTION), ("load_identity",), ("matrix_mode", GL.MODELVIEW),
    ("load_identity",), ("matrix_mode", GL.TEXTURE), ("color4f", 0.1, 0.2, 0.3, 0.4),
    ("secondary_color3f", 0.5, 0.6, 0.7), ("fog_coordf", 0.25), ("normal3f", 0.6, 0.8, 0.0),
    ("multi_tex_coord4f", GL.TEXTURE0, 0.1, 0.2, 0.3, 0.5), ("window_pos3f", 3.0, 5.0, 0.125),
    ("depth_bounds_ext", 0.25, 0.5), ("provoking_vertex", GL.FIRST_VERTEX_CONVENTION),
    ("min_sample_shading", 0.5), ("clamp_color", GL.CLAMP_VERTEX_COLOR, 0),
    ("clamp_color", GL.CLAMP_FRAGMENT_COLOR, 0), ("clamp_color", GL.CLAMP_READ_COLOR, 0),
    ("polygon_offset_clamp_ext", 1.0, 2.0, 3.0), ("point_size", 3.0),
    ("point_parameterf", GL.POINT_FADE_THRESHOLD_SIZE, 2.0), ("line_width", 3.0),
    ("light_modeli", GL.LIGHT_MODEL_COLOR_CONTROL, GL.SEPARATE_SPECULAR_COLOR),
    ("color_material", GL.FRONT, GL.DIFFUSE), ("blend_equation", GL.MAX),
    ("fogi", GL.FOG_DISTANCE_MODE_NV, GL.EYE_RADIAL_NV), ("fogf", GL.FOG_INDEX, 3.0),
    ("stencil_op_separate", GL.BACK, GL.INCR, GL.DECR, GL.INVERT),
    ("stencil_op_separate", GL.FRONT, GL.INCR, GL.DECR, GL.INVERT),
    ("active_stencil_face_ext", GL.BACK), ("patch_parameteri", GL.PATCH_VERTICES, 4),
    ("clip_control", GL.UPPER_LEFT, GL.ZERO_TO_ONE), ("primitive_restart_index", 5),
    ("bind_texture", GL.TEXTURE_1D, 31), ("bind_texture", GL.TEXTURE_3D, 32),
    ("bind_texture", GL.TEXTURE_CUBE_MAP, 33), ("bind_texture", GL.TEXTURE_RECTANGLE, 34),
]  # fmt: skip
OURS = {
    "ENABLE": ["COLOR_SUM", "LIGHT1", "LIGHT3", "SAMPLE_MASK"],
    "FOG": ["FOG_COORDINATE_SOURCE", "FOG_DISTANCE_MODE_NV"],
    "HINT": ["FRAGMENT_SHADER_DERIVATIVE_HINT", "GENERATE_MIPMAP_HINT"],
    "MULTISAMPLE": ["SAMPLE_MASK"],
}
"""What the specification puts into a group, and the native GL does not restore."""
QUIRKS = (GL.CURRENT_RASTER_INDEX,)
"""What the two set unlike each other."""


def changed(gl: GLInterface) -> None:
    """Everything set to something else."""
    for row in rows():
        for method, given in (*row.setup, *row.after):
            if "_attrib" not in method:
                getattr(gl, method)(*given)
    for name in SWITCHED:
        capability = getattr(GL, name)
        (gl.disable if gl.is_enabled(capability) else gl.enable)(capability)
    for name in HINTS:
        gl.hint(getattr(GL, f"{name}_HINT"), GL.NICEST)
    for method, *arguments in MORE:
        getattr(gl, method)(*arguments)
    while gl.get_error():
        pass


def plain(found: Any) -> list[float]:
    values = found if isinstance(found, list | tuple | np.ndarray) else [found]
    return [round(float(v), 5) for v in values]


def told(gl: GLInterface, number: int) -> list[float] | None:
    """What glGet says, None where it refuses."""
    found = gl.get_doublev(number)
    return None if gl.get_error() else plain(found)


def parts(gl: GLInterface) -> dict[str, Any]:
    """What has queries of its own: of lights, materials, planes, units and textures."""
    stipple = np.zeros(128, np.uint8)
    gl.get_polygon_stipple(stipple)
    found: dict[str, Any] = {"stipple": stipple.tobytes()}
    for light in (GL.LIGHT0, GL.LIGHT1):
        for name in ("AMBIENT", "DIFFUSE", "SPECULAR", "POSITION", "SPOT_DIRECTION",
                     "SPOT_EXPONENT", "SPOT_CUTOFF", "CONSTANT_ATTENUATION",
                     "LINEAR_ATTENUATION", "QUADRATIC_ATTENUATION"):  # fmt: skip
            found[f"{name} {light}"] = plain(gl.get_lightfv(light, getattr(GL, name)))
    for face in (GL.FRONT, GL.BACK):
        for name in ("AMBIENT", "DIFFUSE", "SPECULAR", "EMISSION", "SHININESS"):
            found[f"{name} {face}"] = plain(gl.get_materialfv(face, getattr(GL, name)))
    for plane in range(6):
        found[f"plane {plane}"] = plain(gl.get_clip_plane(GL.CLIP_PLANE0 + plane))
    for name in ("MODE", "COLOR"):
        pname = getattr(GL, f"TEXTURE_ENV_{name}")
        found[f"environment {name}"] = plain(gl.get_tex_envfv(GL.TEXTURE_ENV, pname))
    pname = GL.TEXTURE_LOD_BIAS
    found["bias"] = plain(gl.get_tex_envfv(GL.TEXTURE_FILTER_CONTROL, pname))
    found["replaced"] = plain(gl.get_tex_envfv(GL.POINT_SPRITE, GL.COORD_REPLACE))
    for coordinate in (GL.S, GL.T, GL.R, GL.Q):
        for name in ("TEXTURE_GEN_MODE", "OBJECT_PLANE", "EYE_PLANE"):
            found[f"{name} {coordinate}"] = plain(gl.get_tex_genfv(coordinate, getattr(GL, name)))
    for name in ("MIN_FILTER", "MAG_FILTER", "WRAP_S", "WRAP_T", "BORDER_COLOR", "PRIORITY",
                 "BASE_LEVEL", "MAX_LEVEL", "MIN_LOD", "MAX_LOD", "LOD_BIAS", "COMPARE_MODE",
                 "COMPARE_FUNC", "SWIZZLE_RGBA"):  # fmt: skip
        pname = getattr(GL, f"TEXTURE_{name}")
        found[f"texture {name}"] = plain(gl.get_tex_parameterfv(GL.TEXTURE_2D, pname))
    for number in range(2):
        found[f"scissor {number}"] = plain(gl.get_integeri_v(GL.SCISSOR_BOX, number))
        found[f"viewport {number}"] = plain(gl.get_floati_v(GL.VIEWPORT, number))
        found[f"depths {number}"] = plain(gl.get_doublei_v(GL.DEPTH_RANGE, number))
        found[f"mask {number}"] = plain(gl.get_booleani_v(GL.COLOR_WRITEMASK, number))
    assert gl.get_error() == GL.NO_ERROR
    return found


class Both:
    """Both GLs, and what can be asked of them with the same answer."""

    def __init__(self) -> None:
        options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (8, 8)}
        self.sides = create_context("numpipe", **options), native_context(**options)
        for gl in self.sides:
            gl.gen_textures(9)
            gl.gen_buffers(9)
        ours, theirs = self.sides
        numbers = {v for n in dir(GL) if isinstance(v := getattr(GL, n), int)}
        known = {n: told(ours, n) for n in sorted(numbers) if 0xFF < n < 0x10000}
        self.first = {n: v for n, v in known.items() if v is not None and told(theirs, n) == v}
        self.parts = parts(ours)
        assert self.parts == parts(theirs)

    def now(self) -> list[dict[int, Any]]:
        return [{name: told(gl, name) for name in self.first} for gl in self.sides]


@pytest.fixture
def both() -> Iterator[Both]:
    made = Both()
    yield made
    for gl in made.sides:
        gl.release()


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_saved_as_on_the_native_gl(both: Both, group: str) -> None:
    for gl in both.sides:
        gl.push_attrib(getattr(GL, f"{group}_BIT"))
        changed(gl)
    before = both.now()
    for gl in both.sides:
        gl.pop_attrib()
        assert gl.get_error() == GL.NO_ERROR
    ours, theirs = both.now()
    moved = [n for n in both.first if before[0][n] != both.first[n]]
    assert len(moved) > 140
    alone = [getattr(GL, name) for name in OURS.get(group, ())]
    for number in alone:
        assert ours[number] == both.first[number], GL.name_of(number)
    known = set(both.first) - {*alone, *QUIRKS}
    wrong = {GL.name_of(n): (ours[n], theirs[n]) for n in known if ours[n] != theirs[n]}
    assert not wrong
    found, wanted = (parts(gl) for gl in both.sides)
    wrong = {n: (found[n], wanted[n]) for n in found if found[n] != wanted[n]}
    assert not wrong
