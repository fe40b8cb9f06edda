"""The capabilities of a driver: one declaration, read by the state tracker, the docs and the
CLI.

The default of a cap is the least a driver must offer. Where a `lower_*` cap is true, the state
tracker lowers that feature in NIR before the driver sees the shader ("caps decide who lowers").
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.lower.target_machine import Machine


def _cap(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


@lazy_dataclass(frozen=True)
class Caps:
    """The capabilities of one screen."""

    glsl_version: int = _cap(330, "highest GLSL version the driver's shaders support, as 330")
    max_texture_2d_size: int = _cap(8192, "largest width and height of a 2D texture")
    max_texture_3d_size: int = _cap(512, "largest edge of a 3D texture")
    max_texture_cube_size: int = _cap(8192, "largest edge of a cube map face")
    max_texture_array_layers: int = _cap(512, "most layers of an array texture")
    max_texture_buffer_size: int = _cap(1 << 27, "most texels of a buffer texture")
    max_render_targets: int = _cap(8, "colour buffers of one framebuffer")
    max_dual_source_render_targets: int = _cap(0, "colour buffers with dual-source blending")
    max_samplers: int = _cap(16, "texture units of one shader stage")
    max_viewports: int = _cap(1, "viewports a geometry stage can select from")
    max_vertex_attribs: int = _cap(16, "vertex elements")
    max_varyings: int = _cap(32, "vec4 slots between two stages")
    max_const_buffers: int = _cap(15, "constant buffers of one stage, the default block included")
    max_const_buffer_size: int = _cap(65536, "bytes of one constant buffer")
    max_shader_buffers: int = _cap(0, "shader storage buffers of one stage")
    max_shader_images: int = _cap(0, "images of one stage")
    max_stream_output_buffers: int = _cap(0, "transform feedback buffers; 0: no transform feedback")
    max_vertex_streams: int = _cap(1, "vertex streams of a geometry stage; 1: no choice")
    max_samples: int = _cap(1, "samples of a multisampled surface; 1: none")
    sample_positions: tuple[tuple[tuple[float, float], ...], ...] = _cap(
        (), "where the samples are in a pixel, for each number of samples"
    )
    sample_locations: bool = _cap(False, "the application may choose where samples are")
    max_clip_planes: int = _cap(8, "user clip planes or clip distances")
    max_point_size: float = _cap(255.0, "largest point")
    max_line_width: float = _cap(255.0, "widest line")
    max_anisotropy: float = _cap(1.0, "most anisotropic filter samples")
    max_lod_bias: float = _cap(16.0, "largest texture level-of-detail bias")
    stages: frozenset[str] = _cap(frozenset({"vertex", "fragment"}), "shader stages that run")
    fp64: bool = _cap(False, "64-bit floats in shaders")
    int64: bool = _cap(False, "64-bit integers in shaders")
    instancing: bool = _cap(True, "instanced draws and divisors")
    quads: bool = _cap(True, "quads, quad strips and polygons are drawn as such")
    occlusion_query: bool = _cap(True, "occlusion counters")
    conditional_render: bool = _cap(True, "draws predicated on a query")
    texture_swizzle: bool = _cap(True, "sampler views swizzle")
    seamless_cube_map: bool = _cap(True, "filtering across cube faces")
    depth_clip_disable: bool = _cap(True, "depth clamping")
    indep_blend: bool = _cap(True, "blend state per colour buffer")
    clip_halfz: bool = _cap(True, "clip volumes from 0 to w")
    conservative_raster: bool = _cap(False, "pixels that a primitive only touches can be drawn")
    depth_bounds: bool = _cap(False, "a test of stored depths against bounds")
    stencil_export: bool = _cap(False, "fragment shaders write the stencil reference")
    filter_minmax: bool = _cap(False, "filters that take the smallest or largest texel")
    shader_clock: bool = _cap(False, "shaders can ask for the time")
    post_depth_coverage: bool = _cap(False, "shaders see the samples that passed early tests")
    blend_advanced: bool = _cap(False, "advanced blend equations, in drawing order")
    framebuffer_fetch: bool = _cap(False, "fragment shaders read the framebuffer, in drawing order")
    layered_rendering: bool = _cap(False, "the last vertex stage selects a layer")
    user_memory: bool = _cap(False, "buffers can be made of the application's memory")
    handles: bool = _cap(False, "bindless textures and images")
    compute: bool = _cap(False, "compute launches")
    driver_owns_shaders: bool = _cap(
        False, "the driver changes shaders that it is given; a caller that keeps one passes a clone"
    )
    machine: Machine = _cap(
        Machine(), "functions the driver emits; others are lowered before it is given a shader"
    )
    address_formats: str = _cap(
        "global=global64 shared=offset32 function_temp=offset32 generic=generic62",
        "what a pointer into each kind of memory is, and one that may lead into several",
    )
    lower_two_sided_color: bool = _cap(False, "tracker selects front or back colour in NIR")
    lower_clip_planes: bool = _cap(False, "tracker turns clip planes into clip distances")
    lower_alpha_test: bool = _cap(False, "tracker compares alpha and discards in NIR")
    lower_flatshade: bool = _cap(False, "tracker makes colour varyings flat in NIR")
    lower_tex_saturate: bool = _cap(False, "tracker clamps coordinates for GL_CLAMP in NIR")
    lower_point_sprite: bool = _cap(False, "tracker replaces texture coordinates by gl_PointCoord")
    lower_clamp_color: bool = _cap(False, "tracker clamps colours in NIR")


def describe_caps(caps: Caps) -> list[tuple[str, str, str]]:
    """Rows (name, value, meaning) in declaration order."""
    rows = []
    for f in fields(caps):
        value = getattr(caps, f.name)
        shown = ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
        rows.append((f.name, shown, str(f.metadata["doc"])))
    return rows
