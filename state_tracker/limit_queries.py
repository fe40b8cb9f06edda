"""Every limit of glGet: one table of names, and one rule for the limits of each stage.

Values come from the driver's caps, from `Limits` (derived from them by the state tracker), or are
this implementation's own. A limit of an unsupported feature is 0 where GL allows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.enables import desktop_capabilities
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.es_enums import MISSING
from gallette.state_tracker.getters import gets, gets_indexed, hide_from_es
from gallette.state_tracker.targets.framebuffers import DEPTH, STENCIL
from gallette.state_tracker.targets.renderbuffers import channel_bits, channel_of
from gallette.state_tracker.texturing.paletted import PALETTES
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["hide_desktop_queries"]

Get = Callable[["Context"], Any]
DESKTOP = ("core", "compat")


def _cap(name: str) -> Get:
    return lambda ctx: getattr(ctx.caps, name)


def _limit(name: str) -> Get:
    return lambda ctx: getattr(ctx.limits, name)


def _glsl(name: str) -> Get:
    return lambda ctx: getattr(ctx.limits.glsl_limits, name)


def _atomics(name: str) -> Get:
    """A compiler limit that applies if the driver supports atomic counters."""
    return lambda ctx: getattr(ctx.limits.glsl_limits, name) if ctx.caps.max_shader_buffers else 0


def _is(value: Any) -> Get:
    return lambda ctx: value


# -- limits of every stage -------------------------------------------------------------------------

# Name in GL, name in `Limits` of the compiler, name in the caps.
_STAGES = (
    ("VERTEX", "vertex", "vertex"),
    ("TESS_CONTROL", "tess_control", "tess_ctrl"),
    ("TESS_EVALUATION", "tess_evaluation", "tess_eval"),
    ("GEOMETRY", "geometry", "geometry"),
    ("FRAGMENT", "fragment", "fragment"),
    ("COMPUTE", "compute", "compute"),
)
_PER_STAGE: dict[str, Callable[[Context, str], int]] = {
    "TEXTURE_IMAGE_UNITS": lambda c, s: c.caps.max_samplers,
    "UNIFORM_COMPONENTS": lambda c, s: c.limits.max_uniform_components,
    "UNIFORM_BLOCKS": lambda c, s: c.limits.max_uniform_blocks,
    "IMAGE_UNIFORMS": lambda c, s: c.caps.max_shader_images,
    "SHADER_STORAGE_BLOCKS": lambda c, s: c.caps.max_shader_buffers,
    "ATOMIC_COUNTERS": lambda c, s: _atomics(f"max_{s}_atomic_counters")(c),
    "ATOMIC_COUNTER_BUFFERS": lambda c, s: _atomics(f"max_{s}_atomic_counter_buffers")(c),
}


def _combined_components(ctx: Context) -> int:
    limits = ctx.limits
    blocks = limits.max_uniform_blocks * ctx.caps.max_const_buffer_size // 4
    return int(limits.max_uniform_components + blocks)


def _stage_limits() -> None:
    for gl_name, glsl_name, cap in _STAGES:

        def present(value: Get, cap: str = cap) -> Get:
            return lambda ctx: value(ctx) if cap in ctx.caps.stages else 0

        for what, value in _PER_STAGE.items():
            name = f"MAX_{gl_name}_{what}"
            if name == "MAX_FRAGMENT_TEXTURE_IMAGE_UNITS":  # this name predates the other stages
                name = "MAX_TEXTURE_IMAGE_UNITS"
            gets({name: present(lambda c, v=value, s=glsl_name: v(c, s))})  # type: ignore[misc]
        gets({f"MAX_COMBINED_{gl_name}_UNIFORM_COMPONENTS": present(_combined_components)})


_stage_limits()

# -- textures, framebuffers, vertices --------------------------------------------------------------


def _context_flags(ctx: Context) -> int:
    flags = GL.CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT if ctx.forward_compatible else 0
    return int(flags | (GL.CONTEXT_FLAG_DEBUG_BIT if ctx.debug_context else 0))


gets(
    {
        "MAX_TEXTURE_SIZE": _cap("max_texture_2d_size"),
        "MAX_3D_TEXTURE_SIZE": _cap("max_texture_3d_size"),
        "MAX_CUBE_MAP_TEXTURE_SIZE": _cap("max_texture_cube_size"),
        "MAX_ARRAY_TEXTURE_LAYERS": _cap("max_texture_array_layers"),
        "MAX_TEXTURE_BUFFER_SIZE": _cap("max_texture_buffer_size"),
        "MAX_RENDERBUFFER_SIZE": _cap("max_texture_2d_size"),
        "MAX_TEXTURE_LOD_BIAS": _cap("max_lod_bias"),
        "MAX_TEXTURE_MAX_ANISOTROPY": _cap("max_anisotropy"),
        "MAX_SUBROUTINES": _glsl("max_subroutines"),
        "MAX_SUBROUTINE_UNIFORM_LOCATIONS": _glsl("max_subroutine_uniform_locations"),
        "MAX_COLOR_ATTACHMENTS": _cap("max_render_targets"),
        "MAX_DRAW_BUFFERS": _cap("max_render_targets"),
        "MAX_SAMPLES": _cap("max_samples"),
        "MAX_COLOR_TEXTURE_SAMPLES": _cap("max_samples"),
        "MAX_DEPTH_TEXTURE_SAMPLES": _cap("max_samples"),
        "MAX_INTEGER_SAMPLES": _cap("max_samples"),
        "MAX_SAMPLE_MASK_WORDS": _is(1),
        "FRAGMENT_SHADER_DISCARDS_SAMPLES_EXT": _is(1),
        "MAX_FRAMEBUFFER_WIDTH": _cap("max_texture_2d_size"),
        "MAX_FRAMEBUFFER_HEIGHT": _cap("max_texture_2d_size"),
        "MAX_FRAMEBUFFER_LAYERS": _cap("max_texture_array_layers"),
        "MAX_FRAMEBUFFER_SAMPLES": _cap("max_samples"),
        "MAX_COMBINED_TEXTURE_IMAGE_UNITS": _limit("max_combined_texture_units"),
        "MAX_VERTEX_ATTRIBS": _limit("max_vertex_attribs"),
        "MAX_VERTEX_ATTRIB_BINDINGS": _limit("max_vertex_attribs"),
        "MAX_VERTEX_ATTRIB_STRIDE": _limit("max_vertex_attrib_stride"),
        "MAX_VERTEX_ATTRIB_RELATIVE_OFFSET": _limit("max_vertex_attrib_relative_offset"),
        "MAX_ELEMENTS_INDICES": _is(1 << 20),
        "MAX_ELEMENTS_VERTICES": _is(1 << 20),
        "MAX_ELEMENT_INDEX": _is((1 << 32) - 1),
        "MAX_PATCH_VERTICES": _is(32),
        "TEXTURE_BUFFER_OFFSET_ALIGNMENT": _is(16),
        "NUM_COMPRESSED_TEXTURE_FORMATS": lambda c: len(_compressed(c)),
        "COMPRESSED_TEXTURE_FORMATS": lambda c: _compressed(c),
        "MAX_VIEWPORT_DIMS": _limit("max_viewport_dims"),
        "SUBPIXEL_BITS": _is(8),
        "MAX_CULL_DISTANCES": _glsl("max_cull_distances"),
        "MAX_COMBINED_CLIP_AND_CULL_DISTANCES": _glsl("max_combined_clip_and_cull_distances"),
        "MAX_DUAL_SOURCE_DRAW_BUFFERS": lambda c: max(1, c.caps.max_dual_source_render_targets),
        "ALIASED_LINE_WIDTH_RANGE": lambda c: (1.0, c.caps.max_line_width),
        "ALIASED_POINT_SIZE_RANGE": lambda c: (1.0, c.caps.max_point_size),
    }
)
gets(
    {
        "MAX_RECTANGLE_TEXTURE_SIZE": _cap("max_texture_2d_size"),
        "SMOOTH_LINE_WIDTH_RANGE": lambda c: (1.0, c.caps.max_line_width),
        "SMOOTH_LINE_WIDTH_GRANULARITY": _is(0.1),
        "POINT_SIZE_RANGE": lambda c: (1.0, c.caps.max_point_size),
        "POINT_SIZE_GRANULARITY": _is(0.1),
        "TEXTURE_BUFFER_DATA_STORE_BINDING": lambda c: _buffer_of_texture(c)[0],
        "TEXTURE_BUFFER_FORMAT_ARB": lambda c: _buffer_of_texture(c)[1],
    },
    profiles=DESKTOP,
)
gets(
    {
        "MAX_CLIP_DISTANCES": _cap("max_clip_planes"),
        "MAX_VIEWPORTS": _cap("max_viewports"),
        "VIEWPORT_BOUNDS_RANGE": _is((-32768.0, 32767.0)),
        "VIEWPORT_SUBPIXEL_BITS": _is(8),
        "LAYER_PROVOKING_VERTEX": _is(GL.UNDEFINED_VERTEX),
        "VIEWPORT_INDEX_PROVOKING_VERTEX": _is(GL.UNDEFINED_VERTEX),
        "PRIMITIVE_RESTART_FOR_PATCHES_SUPPORTED": _is(0),
        "MULTISAMPLE_LINE_WIDTH_RANGE": lambda c: (1.0, c.caps.max_line_width),
        "MULTISAMPLE_LINE_WIDTH_GRANULARITY": _is(0.1),
    }
)


def _buffer_of_texture(ctx: Context) -> tuple[int, int]:
    """Buffer and format of the buffer texture of the active unit."""
    texture = ctx.textures.unit.bound[GL.TEXTURE_BUFFER]
    name = texture.buffer.name if texture.buffer is not None else 0
    return name, texture.buffer_info.value if texture.buffer_info is not None else int(GL.R8)


gets({"MAX_SHININESS_NV": _is(128), "MAX_SPOT_EXPONENT_NV": _is(128)}, compat=True)


def _compressed(ctx: Context) -> list[int]:
    """Formats that an application may use without knowing their properties.

    In desktop contexts this excludes sRGB formats, and DXT1 with its one bit of alpha.
    """
    if ctx.profile == "es":
        return _named("ETC1_|ETC2|EAC|_RGBA?_S3TC|RGTC|BPTC|ASTC")
    if ctx.profile == "es1":
        return [*PALETTES, *_named("ETC1_|_RGB.*ETC2|EAC|_RGBA?_S3TC", "SRGB")]
    return _named("FXT1|_RGBA?_S3TC|_RGB.*ETC2|EAC", "SRGB|RGBA_S3TC_DXT1|ETC1")


@cache
def _named(wanted: str, unwanted: str = "^$") -> list[int]:
    """Compressed formats whose names match one pattern and not the other."""
    return [
        f
        for f, info in INTERNAL_FORMATS.items()
        if info.is_compressed
        and re.search(wanted, info.name)
        and not re.search(unwanted, info.name)
    ]


# -- shaders ---------------------------------------------------------------------------------------

gets(
    {
        "MAX_VERTEX_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_FRAGMENT_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_COMBINED_UNIFORM_BLOCKS": _limit("max_uniform_buffer_bindings"),
        "MAX_UNIFORM_BUFFER_BINDINGS": _limit("max_uniform_buffer_bindings"),
        "MAX_UNIFORM_BLOCK_SIZE": _cap("max_const_buffer_size"),
        "MAX_UNIFORM_LOCATIONS": _is(4096),
        "UNIFORM_BUFFER_OFFSET_ALIGNMENT": _limit("uniform_buffer_offset_alignment"),
        "SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT": _is(16),
        "MAX_VARYING_COMPONENTS": _limit("max_varying_components"),
        "MAX_VARYING_VECTORS": _cap("max_varyings"),
        "MAX_VERTEX_OUTPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_FRAGMENT_INPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_GEOMETRY_INPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_GEOMETRY_OUTPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_GEOMETRY_OUTPUT_VERTICES": _glsl("max_geometry_output_vertices"),
        "MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS": _glsl("max_geometry_total_output_components"),
        "MAX_GEOMETRY_SHADER_INVOCATIONS": _glsl("max_geometry_shader_invocations"),
        "MAX_TESS_GEN_LEVEL": _glsl("max_tess_gen_level"),
        "MAX_TESS_CONTROL_INPUT_COMPONENTS": _glsl("max_tess_control_input_components"),
        "MAX_TESS_CONTROL_OUTPUT_COMPONENTS": _glsl("max_tess_control_output_components"),
        "MAX_TESS_CONTROL_TOTAL_OUTPUT_COMPONENTS": _glsl(
            "max_tess_control_total_output_components"
        ),
        "MAX_TESS_EVALUATION_INPUT_COMPONENTS": _glsl("max_tess_evaluation_input_components"),
        "MAX_TESS_EVALUATION_OUTPUT_COMPONENTS": _glsl("max_tess_evaluation_output_components"),
        "MAX_TESS_PATCH_COMPONENTS": _glsl("max_tess_patch_components"),
        "MAX_COMBINED_SHADER_STORAGE_BLOCKS": _limit("max_storage_buffer_bindings"),
        "MAX_SHADER_STORAGE_BUFFER_BINDINGS": _limit("max_storage_buffer_bindings"),
        "MAX_SHADER_STORAGE_BLOCK_SIZE": lambda c: 1 << 27 if c.caps.max_shader_buffers else 0,
        "MAX_IMAGE_UNITS": _cap("max_shader_images"),
        "MAX_COMBINED_IMAGE_UNIFORMS": _cap("max_shader_images"),
        "MAX_COMBINED_SHADER_OUTPUT_RESOURCES": _glsl("max_combined_shader_output_resources"),
        "MAX_IMAGE_SAMPLES": _glsl("max_image_samples"),
        "MAX_COMBINED_ATOMIC_COUNTERS": _atomics("max_combined_atomic_counters"),
        "MAX_COMBINED_ATOMIC_COUNTER_BUFFERS": _atomics("max_combined_atomic_counter_buffers"),
        "MAX_ATOMIC_COUNTER_BUFFER_BINDINGS": _atomics("max_atomic_counter_bindings"),
        "MAX_ATOMIC_COUNTER_BUFFER_SIZE": _atomics("max_atomic_counter_buffer_size"),
        "MAX_COMPUTE_SHARED_MEMORY_SIZE": _glsl("max_compute_shared_memory_size"),
        "MAX_COMPUTE_WORK_GROUP_INVOCATIONS": _glsl("max_compute_work_group_invocations"),
        "MIN_FRAGMENT_INTERPOLATION_OFFSET": _is(-0.5),
        "MAX_FRAGMENT_INTERPOLATION_OFFSET": _is(0.5),
        "FRAGMENT_INTERPOLATION_OFFSET_BITS": _is(4),
        "MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS": _glsl(
            "max_transform_feedback_interleaved_components"
        ),
        "MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS": _limit(
            "max_transform_feedback_separate_attribs"
        ),
        "MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS": _glsl(
            "max_transform_feedback_separate_components"
        ),
        "MAX_TRANSFORM_FEEDBACK_BUFFERS": _limit("max_transform_feedback_separate_attribs"),
        "MAX_VERTEX_STREAMS": _limit("max_vertex_streams"),
        "MAX_PROGRAM_TEXEL_OFFSET": _glsl("max_program_texel_offset"),
        "MIN_PROGRAM_TEXEL_OFFSET": _glsl("min_program_texel_offset"),
        "MAX_PROGRAM_TEXTURE_GATHER_OFFSET": _is(31),
        "MIN_PROGRAM_TEXTURE_GATHER_OFFSET": _is(-32),
        "MAX_PROGRAM_TEXTURE_GATHER_COMPONENTS_ARB": _is(4),
        "NUM_SHADER_BINARY_FORMATS": lambda ctx: int(ctx.profile != "es"),
        "SHADER_BINARY_FORMATS": lambda ctx: (
            [GL.SHADER_BINARY_FORMAT_SPIR_V] if ctx.profile != "es" else []
        ),
        "NUM_SPIR_V_EXTENSIONS": _is(0),
        "SHADER_COMPILER": _is(1),
    }
)
gets(
    {
        "MAX_COMPUTE_VARIABLE_GROUP_INVOCATIONS_ARB": _glsl("max_compute_work_group_invocations"),
    },
    profiles=DESKTOP,
)
gets_indexed(
    lambda c: 3,
    {
        "MAX_COMPUTE_WORK_GROUP_COUNT": lambda c, i: (
            c.limits.glsl_limits.max_compute_work_group_count[i]
        ),
        "MAX_COMPUTE_WORK_GROUP_SIZE": lambda c, i: (
            c.limits.glsl_limits.max_compute_work_group_size[i]
        ),
        "MAX_COMPUTE_VARIABLE_GROUP_SIZE_ARB": lambda c, i: (
            c.limits.glsl_limits.max_compute_work_group_size[i]
        ),
    },
)

# -- the context -----------------------------------------------------------------------------------

gets(
    {
        "MAJOR_VERSION": lambda c: c.limits.version[0],
        "MINOR_VERSION": lambda c: c.limits.version[1],
        "NUM_EXTENSIONS": lambda c: len(c.limits.extensions),
        "CONTEXT_FLAGS": _context_flags,
        "RESET_NOTIFICATION_STRATEGY": lambda c: (
            GL.LOSE_CONTEXT_ON_RESET if c.loses_context_on_reset else GL.NO_RESET_NOTIFICATION
        ),
        "CONTEXT_ROBUST_ACCESS": lambda c: c.robust,
        "CONTEXT_RELEASE_BEHAVIOR": _is(GL.CONTEXT_RELEASE_BEHAVIOR_FLUSH),
        "MAX_SERVER_WAIT_TIMEOUT": _is((1 << 63) - 1),
        "MIN_MAP_BUFFER_ALIGNMENT": _is(64),
        "PATCH_VERTICES": lambda c: c.raster.patch_vertices,
        "PATCH_DEFAULT_OUTER_LEVEL": lambda c: c.raster.patch_levels[:4],
        "PATCH_DEFAULT_INNER_LEVEL": lambda c: c.raster.patch_levels[4:],
    }
)
gets(
    {
        "CONTEXT_PROFILE_MASK": lambda c: (
            GL.CONTEXT_COMPATIBILITY_PROFILE_BIT if c.is_compat else GL.CONTEXT_CORE_PROFILE_BIT
        ),
    },
    profiles=DESKTOP,
)
gets(
    {
        "MAX_TEXTURE_UNITS": _is(8),
        "MAX_TEXTURE_COORDS": _is(8),
        "MAX_LIGHTS": _is(8),
        "MAX_MODELVIEW_STACK_DEPTH": _is(32),
        "MAX_PROJECTION_STACK_DEPTH": _is(32),
        "MAX_TEXTURE_STACK_DEPTH": _is(10),
        "MAX_ATTRIB_STACK_DEPTH": _is(16),
        "MAX_CLIENT_ATTRIB_STACK_DEPTH": _is(16),
        "AUX_BUFFERS": _is(0),
        "INDEX_BITS": _is(0),
        "RGBA_MODE": _is(1),
        "INDEX_MODE": _is(0),
    },
    compat=True,
)


def _window_bits(letter: str) -> Any:
    def get(ctx: Context) -> int:
        draw = ctx.framebuffers.draw
        points: dict[str, Any] = {"Z": DEPTH, "S": STENCIL}
        if letter in points:
            found = draw.attachments.get(points[letter])
        else:
            found = draw.color(draw.draw_buffers[0])
        return channel_bits(found.info, letter) if found is not None and found.info else 0

    return get


gets(
    {
        "RED_BITS": _window_bits("R"),
        "GREEN_BITS": _window_bits("G"),
        "BLUE_BITS": _window_bits("B"),
        "ALPHA_BITS": _window_bits("A"),
        "DEPTH_BITS": _window_bits("Z"),
        "STENCIL_BITS": _window_bits("S"),
    }
)


def _signed_components(c: Context) -> tuple[bool, ...]:
    """Per component of the colour buffer that is drawn to: whether it can be negative."""
    draw = c.framebuffers.draw
    found = draw.color(draw.draw_buffers[0]) if draw.draw_buffers[0] != GL.NONE else None
    if found is None or found.info is None:
        return (False,) * 4
    info, signed = found.info, []
    for letter in "RGBA":
        # Luminance is stored as the first three, and intensity as all of them.
        names = (letter, "I") if letter == "A" else (letter, "L", "I")
        channels = [x for x in (channel_of(info, name) for name in names) if x is not None]
        signed.append(any(x.type not in ("UNORM", "UINT") for x in channels))
    return (False,) * 4 if info.name == "R11F_G11F_B10F" else tuple(signed)


def _has_color(*kinds: str) -> Callable[[Context], bool]:
    """Whether a colour buffer of such a number type is attached, drawn to or not."""

    def get(ctx: Context) -> bool:
        attached = ctx.framebuffers.draw.attachments.items()
        infos = [a.info for point, a in attached if not isinstance(point, str) and a.info]
        return any(info.candidates[0].channels[0].type in kinds for info in infos)

    return get


gets({"QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION": _is(1)}, compat=True)
gets(
    {
        "RGBA_SIGNED_COMPONENTS_EXT": _signed_components,
        "RGBA_FLOAT_MODE_ARB": _has_color("FLOAT"),
        "RGBA_INTEGER_MODE_EXT": _has_color("SINT", "UINT"),
    },
    profiles=("compat", "core"),
)

_NOT_ES = """
POINT_SIZE POLYGON_MODE BLEND_DST BLEND_SRC LOGIC_OP_MODE DRAW_BUFFER DOUBLEBUFFER STEREO
TEXTURE_BINDING_1D
PACK_SKIP_IMAGES PARAMETER_BUFFER_BINDING POINT_FADE_THRESHOLD_SIZE TEXTURE_BINDING_RECTANGLE
DEPTH_BOUNDS_EXT TEXTURE_BINDING_1D_ARRAY POINT_SPRITE_COORD_ORIGIN MAX_SUBROUTINES
MAX_SUBROUTINE_UNIFORM_LOCATIONS PROVOKING_VERTEX MAX_TRANSFORM_FEEDBACK_BUFFERS
MAX_VERTEX_STREAMS PRIMITIVE_RESTART_INDEX MAX_PROGRAM_TEXTURE_GATHER_COMPONENTS_ARB
MAX_IMAGE_SAMPLES MIN_MAP_BUFFER_ALIGNMENT QUERY_BUFFER_BINDING
"""


def hide_desktop_queries() -> None:
    """Hide desktop queries from ES; called when every topic has declared its queries."""
    stores = [GL.name_of(value).removeprefix("GL_") for value in MISSING["pixel store parameter"]]
    hide_from_es([*_NOT_ES.split(), *desktop_capabilities(), *stores])
