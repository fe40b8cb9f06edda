"""Where each layout qualifier may stand: every qualifier of the table in every place and stage.

What is taken is the list of section 4.4 of GLSL 4.60; the native GL takes it as well.
"""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.glsl.check.layouts import BLEND_MODES, LAYOUTS
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl.test_link_rules import KINDS

VALUES = {"component": 0, "stream": 0, "xfb_buffer": 0, "index": 0}
VALUES |= dict.fromkeys(("offset", "align", "xfb_offset", "xfb_stride"), 16)
MATRIX = "vec4 a; mat4 m;"
XFB = "xfb_buffer xfb_stride xfb_offset"
FLOATS = (
    "rgba32f rgba16f rg32f rg16f r11f_g11f_b10f r32f r16f rgba16 rgb10_a2 rgba8 rg16 rg8 r16 r8 "
    "rgba16_snorm rgba8_snorm rg16_snorm rg8_snorm r16_snorm r8_snorm"
)
INTS = "rgba32i rgba16i rgba8i rg32i rg16i rg8i r32i r16i r8i"
UINTS = "rgba32ui rgba16ui rgb10_a2ui rgba8ui rg32ui rg16ui rg8ui r32ui r16ui r8ui"
ROWS = "row_major column_major"
ALL = " ".join(KINDS)

PLACES: dict[str, tuple[str, dict[str, str]]] = {
    # where: the declaration, and for some stages what it takes
    "an input": ("layout({}) in vec4 v;", {"vertex fragment": "location"}),
    "an input at a location": (
        "layout(location = 2, {}) in vec4 v;", {"vertex fragment": "location component"},
    ),
    "an output": ("layout({}) out vec4 v;", {
        "vertex tess_eval": f"location {XFB}",
        "geometry": f"location stream {XFB}",
        "fragment": "location",
    }),
    "an output at a location": ("layout(location = 2, {}) out vec4 v;", {
        "vertex tess_eval": f"location component {XFB}",
        "geometry": f"location component stream {XFB}",
        "fragment": "location component index",
    }),
    "a uniform": ("layout({}) uniform vec4 v;", {ALL: "location"}),
    "an image": ("layout({}) uniform image2D v;", {ALL: FLOATS}),
    "an image of integers": ("layout({}) uniform iimage2D v;", {ALL: INTS}),
    "an image of unsigned integers": ("layout({}) uniform uimage2D v;", {ALL: UINTS}),
    "an image of a format": ("layout(rgba8, {}) uniform image2D v;", {
        ALL: "location binding rgba8",
    }),
    "a sampler": ("layout({}) uniform sampler2D v;", {ALL: "location binding"}),
    "a counter": ("layout(binding = 0, {}) uniform atomic_uint v;", {ALL: "binding offset"}),
    "a uniform block": (f"layout({{}}) uniform B {{{{ {MATRIX} }}}} b;", {
        ALL: f"binding std140 shared packed {ROWS}",
    }),
    "a uniform block with places": (f"layout(std140, {{}}) uniform B {{{{ {MATRIX} }}}} b;", {
        ALL: f"binding align std140 shared packed {ROWS}",
    }),
    "a buffer block": (f"layout({{}}) buffer B {{{{ {MATRIX} }}}} b;", {
        ALL: f"binding std140 shared packed std430 {ROWS}",
    }),
    "a buffer block with places": (f"layout(std430, {{}}) buffer B {{{{ {MATRIX} }}}} b;", {
        ALL: f"binding align std140 shared packed std430 {ROWS}",
    }),
    "an input block": ("layout({}) in B {{ vec4 a; }} b;", {"fragment": "location"}),
    "an output block": ("layout({}) out B {{ vec4 a; }} b;", {
        "vertex tess_eval": f"location {XFB}",
        "geometry": f"location stream {XFB}",
    }),
    "a member of a uniform block": (
        "layout(std140) uniform B {{ layout({}) mat4 a; }} b;", {ALL: f"offset align {ROWS}"},
    ),
    "a member of a buffer block": (
        "layout(std430) buffer B {{ layout({}) mat4 a; }} b;", {ALL: f"offset align {ROWS}"},
    ),
    "a member of an input block": ("in B {{ layout({}) vec4 a; }} b;", {"fragment": "location"}),
    "a member at a location": ("in B {{ layout(location = 1, {}) vec4 a; }} b;", {
        "fragment": "location component",
    }),
    "a member of an output block": ("out B {{ layout({}) vec4 a; }} b;", {
        "vertex tess_eval": f"location {XFB}",
        "geometry": f"location stream {XFB}",
    }),
    "all inputs": ("layout({}) in;", {
        "tess_eval": "triangles quads isolines equal_spacing fractional_even_spacing "
        "fractional_odd_spacing cw ccw point_mode",
        "geometry": "points lines triangles lines_adjacency triangles_adjacency invocations",
        "fragment": "early_fragment_tests",
        "compute": "local_size_x local_size_y local_size_z",
    }),
    "all outputs": ("layout({}) out;", {
        "vertex tess_eval": "xfb_buffer xfb_stride",
        "tess_ctrl": "vertices xfb_buffer xfb_stride",
        "geometry": "points line_strip triangle_strip max_vertices stream xfb_buffer xfb_stride",
    }),
    "all uniforms": ("layout({}) uniform;", {ALL: f"std140 shared packed {ROWS}"}),
    "all buffers": ("layout({}) buffer;", {ALL: f"std140 shared packed std430 {ROWS}"}),
    "shared memory": ("layout({}) shared vec4 v;", {}),
    "a plain variable": ("layout({}) vec4 v;", {}),
    "a function": ("layout({}) void f() {{}}", {}),
    "the place of a fragment": ("layout({}) in vec4 gl_FragCoord;", {
        "fragment": "origin_upper_left pixel_center_integer",
    }),
    "the depth of a fragment": ("layout({}) out float gl_FragDepth;", {
        "fragment": "depth_any depth_greater depth_less depth_unchanged",
    }),
}  # fmt: skip


def source(declaration: str, name: str) -> str:
    valued = any(row.value for row in LAYOUTS[name])
    word = f"{name} = {VALUES.get(name, 4)}" if valued else name
    return f"#version 450\n{declaration.format(word)}\nvoid main() {{}}\n"


def taken_in(place: str, stage: str) -> set[str]:
    """What the table above says."""
    found = [words for stages, words in PLACES[place][1].items() if stage in stages.split()]
    return set(" ".join(found).split())


@pytest.mark.parametrize("place", PLACES)
def test_where_layout_qualifiers_stand(place: str) -> None:
    many = (INTS + UINTS + FLOATS).split()[1:] + [f"blend_support_{m}" for m in BLEND_MODES[1:]]
    names = [n for n in LAYOUTS if n not in many or "image" in place]  # else one stands for all
    for stage in KINDS:
        found = {
            name
            for name in names
            if compile_shader(
                Stage(stage), source(PLACES[place][0], name), CompileOptions(api="core")
            ).ok
        }
        if "gl_" in PLACES[place][0]:  # a location is taken and means nothing, as on Mesa
            found -= {"location", "component", "index"}
        assert found == taken_in(place, stage), stage


@pytest.mark.native
def test_native_gl_accepts_them_in_the_same_places() -> None:
    gl = native_context(profile="core", version=(4, 5))
    refused = []
    for place, (declaration, _) in PLACES.items():
        for stage, kind in KINDS.items():
            for name in sorted(taken_in(place, stage)):
                if (place, stage) == ("all outputs", "tess_ctrl") and name.startswith("xfb"):
                    continue  # Mesa crashes
                shader = gl.create_shader(kind)
                gl.shader_source(shader, source(declaration, name))
                gl.compile_shader(shader)
                if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                    refused.append((place, stage, name, gl.get_shader_info_log(shader)))
                gl.delete_shader(shader)
    gl.release()
    assert refused == []
