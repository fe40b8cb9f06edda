"""The layout qualifiers: one row each, with its requirements and the places where it is allowed.

A *place* is the storage (`in`, `out`, `uniform`, `buffer`, `shared`) with a prefix if it is not a
plain variable: `block-` an interface block, `member-` a member of one, `default-` a declaration
without variable such as `layout(...) in;`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.glsl.availability import (
    BUFFER_BLOCKS,
    COMPUTE,
    ENHANCED_LAYOUTS,
    LOCATIONS,
    SEPARATE_STAGES,
    TESSELLATION,
    UNIFORM_BLOCKS,
)

__all__ = ["LAYOUTS", "PRIMITIVES", "Layout"]

_DUAL = "330 ARB_explicit_attrib_location"
_GEOM = "150 es320 OES_geometry_shader EXT_geometry_shader"
_IMAGE = "420 es310 ARB_shader_image_load_store EXT_shader_image_load_store NV_image_formats"
_BINDING = (
    "420 es310 ARB_shading_language_420pack ARB_shader_atomic_counters "
    "ARB_shader_storage_buffer_object ARB_shader_image_load_store"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout identifier."""

    name: str
    value: bool
    when: str
    places: frozenset[str]
    stages: frozenset[str] = frozenset()


_ALL_BLOCKS = "block-uniform block-buffer default-uniform default-buffer"
_FORMATS = (
    "rgba32f rgba16f rg32f rg16f r11f_g11f_b10f r32f r16f rgba16 rgb10_a2 rgba8 rg16 rg8 r16 r8 "
    "rgba16_snorm rgba8_snorm rg16_snorm rg8_snorm r16_snorm r8_snorm rgba32i rgba16i rgba8i rg32i "
    "rg16i rg8i r32i r16i r8i rgba32ui rgba16ui rgb10_a2ui rgba8ui rg32ui rg16ui rg8ui r32ui r16ui "
    "r8ui"
)
PRIMITIVES = {
    "points": 1,
    "lines": 2,
    "lines_adjacency": 4,
    "triangles": 3,
    "triangles_adjacency": 6,
}
"""geometry input primitives: vertices"""

BLEND_MODES = (
    *("multiply", "screen", "overlay", "darken", "lighten", "colordodge", "colorburn"),
    *("hardlight", "softlight", "difference", "exclusion"),
    *("hsl_hue", "hsl_saturation", "hsl_color", "hsl_luminosity"),
)
"""suffixes of `blend_support_`, numbered as in `ShaderInfo.blend_equations_advanced`"""

_ROWS: tuple[tuple[str, bool, str, str, str], ...] = (
    (
        "location",
        True,
        f"{LOCATIONS} {SEPARATE_STAGES} 430 ARB_explicit_uniform_location ARB_enhanced_layouts",
        "in out inout uniform block-in block-out member-in member-out subroutine",
        "",
    ),
    ("component", True, ENHANCED_LAYOUTS, "in out member-in member-out", ""),
    ("index", True, f"{_DUAL} EXT_blend_func_extended", "out", "fragment"),
    ("index", True, "430 ARB_explicit_uniform_location", "function", ""),
    ("binding", True, _BINDING, "uniform block-uniform block-buffer", ""),
    (
        "offset",
        True,
        "420 es310 ARB_shader_atomic_counters ARB_enhanced_layouts",
        "uniform member-uniform member-buffer",
        "",
    ),
    (
        "align",
        True,
        ENHANCED_LAYOUTS,
        "member-uniform member-buffer block-uniform block-buffer",
        "",
    ),
    ("std140 shared packed", False, UNIFORM_BLOCKS, _ALL_BLOCKS, ""),
    (
        "std430",
        False,
        BUFFER_BLOCKS,
        "block-buffer default-buffer",
        "",
    ),
    (
        "row_major column_major",
        False,
        UNIFORM_BLOCKS,
        f"{_ALL_BLOCKS} member-uniform member-buffer",
        "",
    ),
    (
        "origin_upper_left pixel_center_integer",
        False,
        "150 ARB_fragment_coord_conventions",
        "in",
        "fragment",
    ),
    (
        "depth_any depth_greater depth_less depth_unchanged",
        False,
        "420 AMD_conservative_depth ARB_conservative_depth",
        "out",
        "fragment",
    ),
    (
        "early_fragment_tests",
        False,
        "420 es310 ARB_shader_image_load_store EXT_shader_image_load_store",
        "default-in",
        "fragment",
    ),
    ("inner_coverage", False, "INTEL_conservative_rasterization", "default-in", "fragment"),
    ("post_depth_coverage", False, "ARB_post_depth_coverage", "default-in", "fragment"),
    (
        "pixel_interlock_ordered pixel_interlock_unordered sample_interlock_ordered "
        "sample_interlock_unordered",
        False,
        "ARB_fragment_shader_interlock NV_fragment_shader_interlock",
        "default-in",
        "fragment",
    ),
    (
        "noncoherent",
        False,
        "EXT_shader_framebuffer_fetch_non_coherent EXT_shader_framebuffer_fetch",
        "out in inout plain",
        "fragment",
    ),
    ("local_size_x local_size_y local_size_z", True, COMPUTE, "default-in", "compute"),
    (
        "local_size_variable",
        False,
        "ARB_compute_variable_group_size",
        "default-in",
        "compute",
    ),
    (
        "derivative_group_quadsNV derivative_group_linearNV",
        False,
        "NV_compute_shader_derivatives",
        "default-in",
        "compute",
    ),
    ("points lines triangles", False, _GEOM, "default-in", "geometry"),
    ("lines_adjacency triangles_adjacency", False, _GEOM, "default-in", "geometry"),
    ("points line_strip triangle_strip", False, _GEOM, "default-out", "geometry"),
    ("max_vertices", True, _GEOM, "default-out", "geometry"),
    ("invocations", True, "400 ARB_gpu_shader5 es310", "default-in", "geometry"),
    (
        "stream",
        True,
        "400 ARB_gpu_shader5",
        "out block-out member-out default-out",
        "geometry",
    ),
    ("viewport_relative", False, "NV_viewport_array2", "out", "vertex tess_eval geometry"),
    ("vertices", True, TESSELLATION, "default-out", "tess_ctrl"),
    (
        "triangles quads isolines equal_spacing fractional_even_spacing fractional_odd_spacing "
        "cw ccw point_mode",
        False,
        TESSELLATION,
        "default-in",
        "tess_eval",
    ),
    (
        "xfb_buffer xfb_stride",
        True,
        ENHANCED_LAYOUTS,
        "out block-out member-out default-out",
        "vertex tess_eval geometry tess_ctrl",
    ),
    (
        "xfb_offset",
        True,
        ENHANCED_LAYOUTS,
        "out block-out member-out",
        "vertex tess_eval geometry tess_ctrl",
    ),
    (_FORMATS, False, _IMAGE, "uniform param", ""),
    (
        "bindless_sampler bound_sampler bindless_image bound_image",
        False,
        "ARB_bindless_texture",
        "uniform default-uniform",
        "",
    ),
    (
        "size1x8 size1x16 size1x32 size2x32 size4x32",
        False,
        "EXT_shader_image_load_store",
        "uniform",
        "",
    ),
)


def _build() -> dict[str, list[Layout]]:
    table: dict[str, list[Layout]] = {}
    for names, value, when, places, stages in _ROWS:
        for name in names.split():
            row = Layout(name, value, when, frozenset(places.split()), frozenset(stages.split()))
            table.setdefault(name, []).append(row)
    for mode in (*BLEND_MODES, "all_equations"):
        table[f"blend_support_{mode}"] = [
            Layout(
                f"blend_support_{mode}",
                False,
                "KHR_blend_equation_advanced es320",
                frozenset({"default-out"}),
                frozenset({"fragment"}),
            )
        ]
    return table


LAYOUTS = _build()
"""name -> its rows (a name may have different meanings in different places)"""
IMAGE_FORMATS = frozenset(_FORMATS.split())
