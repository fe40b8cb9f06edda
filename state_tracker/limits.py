"""The capabilities of this GL, derived once from the driver's caps: version, extensions, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.glsl import Limits as GlslLimits
from gallette.compiler.glsl.language import EXTENSIONS
from gallette.state_tracker.extensions import extensions_of

if TYPE_CHECKING:
    from gallette.pipe.caps import Caps

GALLETTE_VERSION = "0.1.0"

# Stages as limits name them: the fragment stage's textures have no prefix.
_STAGES = ("", "vertex_", "geometry_", "tess_control_", "tess_evaluation_", "compute_")
_IMAGES = ("fragment_", *_STAGES[1:], "combined_")


def _es_version(caps: Caps) -> tuple[int, int]:
    """The highest version of OpenGL ES that the caps allow."""
    if not caps.compute:
        return 3, 0
    stages = {"geometry", "tess_ctrl", "tess_eval"} <= caps.stages
    return (3, 2) if stages and caps.glsl_version >= 430 else (3, 1)


class Limits:
    """Numbers and lists derived once from the caps."""

    def __init__(self, caps: Caps, profile: str):
        stages = len(caps.stages)
        self.glsl_version = caps.glsl_version
        self.version = (caps.glsl_version // 100, caps.glsl_version % 100 // 10)
        if profile == "es":
            self.version = _es_version(caps)
        elif profile == "es1":
            self.version = (1, 1)
        # Newer GLSL versions are accepted if the shader uses only what the driver supports.
        self.language_limit = 460 if caps.glsl_version >= 430 else caps.glsl_version
        major, minor = _es_version(caps)
        self.es_glsl_version = 100 * major + 10 * minor
        self.extensions = extensions_of(caps, profile, self.version)
        # GLSL ES shaders may use what an ES context has, in any context.
        own = extensions_of(caps, "es", _es_version(caps))
        of_es = (name for name in own if EXTENSIONS.get(name.removeprefix("GL_")) == "es")
        self.glsl_extensions = frozenset((*self.extensions, *of_es))
        self.max_vertex_attribs: int = min(32, caps.max_vertex_attribs)
        self.max_vertex_attrib_stride = 2048
        self.max_vertex_attrib_relative_offset = 2047
        self.max_combined_texture_units = max(48, caps.max_samplers * stages)
        self.max_uniform_blocks = caps.max_const_buffers - 1
        self.max_uniform_buffer_bindings = max(36, self.max_uniform_blocks * stages)
        self.max_storage_buffer_bindings = max(1, caps.max_shader_buffers * stages)
        self.max_atomic_buffer_bindings = max(1, caps.max_shader_buffers)
        self.uniform_buffer_offset_alignment = 16
        self.max_uniform_components = min(16384, caps.max_const_buffer_size // 4)
        self.max_vertex_streams = caps.max_vertex_streams
        self.max_varying_components = caps.max_varyings * 4
        self.max_transform_feedback_separate_attribs = max(4, caps.max_stream_output_buffers)
        edge = max(caps.max_texture_2d_size, 1)
        self.max_viewport_dims = (edge, edge)
        of_stages: dict[str, Any] = {
            **dict.fromkeys((f"max_{s}texture_image_units" for s in _STAGES), caps.max_samplers),
            **dict.fromkeys((f"max_{s}image_uniforms" for s in _IMAGES), caps.max_shader_images),
        }
        self.glsl_limits = GlslLimits(
            max_vertex_attribs=self.max_vertex_attribs,
            max_vertex_streams=caps.max_vertex_streams,
            max_viewports=caps.max_viewports,
            max_draw_buffers=caps.max_render_targets,
            max_combined_texture_image_units=self.max_combined_texture_units,
            max_dual_source_draw_buffers=max(1, caps.max_dual_source_render_targets),
            max_uniform_buffer_bindings=self.max_uniform_buffer_bindings,
            max_uniform_blocks=self.max_uniform_blocks,
            max_image_units=caps.max_shader_images,
            **of_stages,
            max_samples=caps.max_samples,
            max_image_samples=caps.max_samples if caps.max_shader_images else 0,
            max_shader_storage_blocks=caps.max_shader_buffers,
            max_shader_storage_buffer_bindings=self.max_storage_buffer_bindings,
            max_atomic_counter_bindings=self.max_atomic_buffer_bindings,
        )
