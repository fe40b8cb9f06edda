"""The capabilities of drivers that keep resources in host memory."""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import DRAWING, Stage
from gallette.pipe.caps import Caps

from .fixed.points import LARGEST_POINT
from .raster.samples import STANDARD

EVERYTHING = Caps(
    glsl_version=460,
    fp64=True,
    int64=True,
    max_point_size=LARGEST_POINT,
    max_vertex_attribs=32,
    layered_rendering=True,
    framebuffer_fetch=True,
    filter_minmax=True,
    post_depth_coverage=True,
    blend_advanced=True,
    depth_bounds=True,
    conservative_raster=True,
    stencil_export=True,
    max_viewports=16,
    max_dual_source_render_targets=1,
    max_samples=max(len(positions) for positions in STANDARD),
    sample_positions=STANDARD,
    sample_locations=True,
    max_shader_buffers=16,
    max_shader_images=16,
    handles=True,
    max_stream_output_buffers=4,
    max_vertex_streams=4,
    stages=frozenset(stage.value for stage in (*DRAWING, Stage.COMPUTE)),
    compute=True,
    max_texture_2d_size=1 << 14,
    max_texture_3d_size=1 << 11,
    max_texture_cube_size=1 << 14,
    max_texture_array_layers=1 << 11,
    max_anisotropy=16.0,
)
"""What OpenGL 4.6 and the extensions need."""
