"""What this GL can do: limits, version, extensions and strings, all from the driver's caps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.glsl import Limits as GlslLimits
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.targets.framebuffers import DEPTH, STENCIL
from gallette.state_tracker.targets.renderbuffers import channel_bits
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS

if TYPE_CHECKING:
    from gallette.pipe.caps import Caps
    from gallette.state_tracker.context import Context

__all__ = ["GALLETTE_VERSION", "Limits"]

GALLETTE_VERSION = "0.1.0"

# Extensions that go with nothing but the tracker itself; `?cap` needs that cap of the driver,
# `/compat` exists in the compatibility profile only.
_EXTENSIONS = """
AMD_conservative_depth AMD_shader_trinary_minmax ARB_ES2_compatibility ARB_ES3_compatibility
ARB_arrays_of_arrays ARB_base_instance ARB_blend_func_extended?max_dual_source_render_targets
ARB_buffer_storage ARB_clip_control?clip_halfz ARB_color_buffer_float ARB_compute_shader?compute
ARB_compute_variable_group_size?compute ARB_conservative_depth ARB_copy_buffer ARB_copy_image
ARB_cull_distance ARB_debug_output ARB_depth_buffer_float ARB_depth_clamp?depth_clip_disable
ARB_depth_texture/compat ARB_derivative_control ARB_draw_buffers
ARB_draw_buffers_blend?indep_blend ARB_draw_elements_base_vertex ARB_draw_instanced?instancing
ARB_enhanced_layouts ARB_explicit_attrib_location ARB_explicit_uniform_location
ARB_fragment_coord_conventions ARB_fragment_layer_viewport ARB_fragment_shader
ARB_framebuffer_no_attachments ARB_framebuffer_object ARB_framebuffer_sRGB ARB_gpu_shader5
ARB_gpu_shader_fp64?fp64 ARB_gpu_shader_int64?int64 ARB_half_float_pixel ARB_half_float_vertex
ARB_instanced_arrays?instancing ARB_internalformat_query ARB_invalidate_subdata
ARB_map_buffer_alignment ARB_map_buffer_range ARB_multi_draw_indirect ARB_multitexture/compat
ARB_occlusion_query2?occlusion_query ARB_occlusion_query?occlusion_query ARB_pixel_buffer_object
ARB_point_parameters/compat ARB_point_sprite ARB_polygon_offset_clamp ARB_program_interface_query
ARB_provoking_vertex ARB_sampler_objects ARB_seamless_cube_map?seamless_cube_map
ARB_separate_shader_objects ARB_shader_atomic_counter_ops?max_shader_buffers
ARB_shader_atomic_counters?max_shader_buffers
ARB_shader_bit_encoding
ARB_shader_draw_parameters ARB_shader_image_load_store?max_shader_images
ARB_shader_image_size?max_shader_images ARB_shader_objects ARB_shader_precision
ARB_shader_storage_buffer_object?max_shader_buffers ARB_shader_subroutine ARB_shader_texture_lod
ARB_shading_language_100 ARB_shading_language_420pack ARB_shading_language_packing
ARB_shadow/compat ARB_sync ARB_tessellation_shader?_tessellation ARB_texture_border_clamp/compat
ARB_texture_buffer_object ARB_texture_buffer_range ARB_texture_compression
ARB_texture_compression_rgtc ARB_texture_cube_map/compat ARB_texture_cube_map_array
ARB_texture_float ARB_texture_gather ARB_texture_mirrored_repeat/compat
ARB_texture_multisample?_multisample ARB_texture_non_power_of_two ARB_texture_query_levels
ARB_texture_query_lod ARB_texture_rectangle ARB_texture_rg ARB_texture_rgb10_a2ui
ARB_texture_stencil8 ARB_texture_storage ARB_texture_swizzle?texture_swizzle ARB_timer_query
ARB_transform_feedback2?max_stream_output_buffers ARB_transpose_matrix/compat
ARB_uniform_buffer_object ARB_vertex_array_bgra ARB_vertex_array_object
ARB_vertex_attrib_64bit?fp64 ARB_vertex_attrib_binding ARB_vertex_buffer_object/compat
ARB_vertex_shader ARB_vertex_type_10f_11f_11f_rev ARB_vertex_type_2_10_10_10_rev
ARB_window_pos/compat EXT_abgr/compat EXT_bgra/compat EXT_blend_color/compat
EXT_blend_equation_separate EXT_blend_func_separate/compat EXT_blend_minmax/compat
EXT_blend_subtract/compat EXT_demote_to_helper_invocation EXT_depth_bounds_test
EXT_draw_buffers2?indep_blend EXT_draw_instanced?instancing EXT_draw_range_elements/compat
EXT_fog_coord/compat EXT_framebuffer_blit EXT_framebuffer_object EXT_framebuffer_sRGB
EXT_packed_depth_stencil EXT_packed_float EXT_packed_pixels/compat EXT_pixel_buffer_object
EXT_point_parameters/compat EXT_polygon_offset_clamp EXT_provoking_vertex
EXT_secondary_color/compat EXT_shader_integer_mix EXT_shadow_funcs/compat EXT_stencil_wrap/compat
EXT_texture_array EXT_texture_compression_rgtc EXT_texture_compression_s3tc
EXT_texture_edge_clamp/compat EXT_texture_integer EXT_texture_lod_bias/compat
EXT_texture_object/compat EXT_texture_rectangle/compat EXT_texture_sRGB EXT_texture_sRGB_decode
EXT_texture_shared_exponent EXT_texture_snorm EXT_texture_swizzle?texture_swizzle EXT_timer_query
EXT_transform_feedback?max_stream_output_buffers EXT_vertex_array/compat EXT_vertex_array_bgra
KHR_debug NV_shader_atomic_float?max_shader_buffers NV_shader_atomic_int64?max_shader_buffers
MESA_shader_integer_functions NV_conditional_render?conditional_render
NV_depth_clamp?depth_clip_disable NV_primitive_restart/compat NV_texture_barrier
OES_shader_image_atomic?max_shader_images
"""


def _extensions(caps: Caps, compat: bool) -> tuple[str, ...]:
    names = []
    for item in _EXTENSIONS.split():
        name, _, profile = item.partition("/")
        name, _, cap = name.partition("?")
        if profile and not compat:
            continue
        if cap == "_tessellation":
            if "tess_eval" not in caps.stages:
                continue
        elif cap == "_multisample":
            if caps.max_samples < 2:
                continue
        elif cap and not getattr(caps, cap):
            continue
        names.append("GL_" + name)
    return tuple(sorted(names))


class Limits:
    """Numbers and lists derived once from the caps."""

    def __init__(self, caps: Caps, profile: str):
        stages = len(caps.stages)
        self.glsl_version = caps.glsl_version
        self.version = (caps.glsl_version // 100, caps.glsl_version % 100 // 10)
        if profile == "es":
            self.version = (3, 1) if caps.compute else (3, 0)
        self.extensions = _extensions(caps, profile == "compat")
        self.glsl_extensions = frozenset(self.extensions)
        self.max_vertex_attribs = min(16, caps.max_vertex_attribs)
        self.max_vertex_attrib_stride = 2048
        self.max_vertex_attrib_relative_offset = 2047
        self.max_combined_texture_units = max(48, caps.max_samplers * stages)
        self.max_uniform_blocks = caps.max_const_buffers - 1
        self.max_uniform_buffer_bindings = max(36, self.max_uniform_blocks * stages)
        self.max_storage_buffer_bindings = max(1, caps.max_shader_buffers * stages)
        self.max_atomic_buffer_bindings = max(1, caps.max_shader_buffers)
        self.uniform_buffer_offset_alignment = 16
        self.max_uniform_components = min(16384, caps.max_const_buffer_size // 4)
        self.max_varying_components = caps.max_varyings * 4
        self.max_transform_feedback_separate_attribs = max(4, caps.max_stream_output_buffers)
        edge = max(caps.max_texture_2d_size, 1)
        self.max_viewport_dims = (edge, edge)
        self.glsl_limits = GlslLimits(
            max_vertex_attribs=self.max_vertex_attribs,
            max_draw_buffers=caps.max_render_targets,
            max_texture_image_units=caps.max_samplers,
            max_vertex_texture_image_units=caps.max_samplers,
            max_combined_texture_image_units=self.max_combined_texture_units,
            max_dual_source_draw_buffers=max(1, caps.max_dual_source_render_targets),
            max_image_units=caps.max_shader_images,
            max_vertex_image_uniforms=caps.max_shader_images,
            max_fragment_image_uniforms=caps.max_shader_images,
            max_combined_image_uniforms=caps.max_shader_images,
            max_shader_storage_blocks=caps.max_shader_buffers,
            max_shader_storage_buffer_bindings=self.max_storage_buffer_bindings,
            max_atomic_counter_bindings=self.max_atomic_buffer_bindings,
        )


def _cap(name: str) -> Any:
    return lambda ctx: getattr(ctx.caps, name)


def _limit(name: str) -> Any:
    return lambda ctx: getattr(ctx.limits, name)


def _atomics(name: str) -> Any:
    """A limit of the compiler that holds if the driver has atomic counters at all."""
    return lambda ctx: getattr(ctx.limits.glsl_limits, name) if ctx.caps.max_shader_buffers else 0


def _stage_limit(stage: str, value: Any) -> Any:
    return lambda ctx: value(ctx) if stage in ctx.caps.stages else 0


gets(
    {
        "MAX_TEXTURE_SIZE": _cap("max_texture_2d_size"),
        "MAX_3D_TEXTURE_SIZE": _cap("max_texture_3d_size"),
        "MAX_CUBE_MAP_TEXTURE_SIZE": _cap("max_texture_cube_size"),
        "MAX_RECTANGLE_TEXTURE_SIZE": _cap("max_texture_2d_size"),
        "MAX_ARRAY_TEXTURE_LAYERS": _cap("max_texture_array_layers"),
        "MAX_TEXTURE_BUFFER_SIZE": _cap("max_texture_buffer_size"),
        "MAX_RENDERBUFFER_SIZE": _cap("max_texture_2d_size"),
        "MAX_TEXTURE_LOD_BIAS": _cap("max_lod_bias"),
        "MAX_TEXTURE_MAX_ANISOTROPY": _cap("max_anisotropy"),
        "MAX_COLOR_ATTACHMENTS": _cap("max_render_targets"),
        "MAX_DRAW_BUFFERS": _cap("max_render_targets"),
        "MAX_DUAL_SOURCE_DRAW_BUFFERS": lambda c: max(1, c.caps.max_dual_source_render_targets),
        "MAX_SAMPLES": _cap("max_samples"),
        "MAX_COLOR_TEXTURE_SAMPLES": _cap("max_samples"),
        "MAX_DEPTH_TEXTURE_SAMPLES": _cap("max_samples"),
        "MAX_INTEGER_SAMPLES": _cap("max_samples"),
        "MAX_SAMPLE_MASK_WORDS": lambda c: 1,
        "MAX_FRAMEBUFFER_WIDTH": _cap("max_texture_2d_size"),
        "MAX_FRAMEBUFFER_HEIGHT": _cap("max_texture_2d_size"),
        "MAX_FRAMEBUFFER_LAYERS": _cap("max_texture_array_layers"),
        "MAX_FRAMEBUFFER_SAMPLES": _cap("max_samples"),
        "MAX_TEXTURE_IMAGE_UNITS": _cap("max_samplers"),
        "MAX_VERTEX_TEXTURE_IMAGE_UNITS": _cap("max_samplers"),
        "MAX_COMBINED_TEXTURE_IMAGE_UNITS": _limit("max_combined_texture_units"),
        "MAX_VERTEX_ATTRIBS": _limit("max_vertex_attribs"),
        "MAX_VERTEX_ATTRIB_BINDINGS": _limit("max_vertex_attribs"),
        "MAX_VERTEX_ATTRIB_STRIDE": _limit("max_vertex_attrib_stride"),
        "MAX_VERTEX_ATTRIB_RELATIVE_OFFSET": _limit("max_vertex_attrib_relative_offset"),
        "MAX_VERTEX_UNIFORM_COMPONENTS": _limit("max_uniform_components"),
        "MAX_FRAGMENT_UNIFORM_COMPONENTS": _limit("max_uniform_components"),
        "MAX_VERTEX_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_FRAGMENT_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_VERTEX_UNIFORM_BLOCKS": _limit("max_uniform_blocks"),
        "MAX_FRAGMENT_UNIFORM_BLOCKS": _limit("max_uniform_blocks"),
        "MAX_COMBINED_UNIFORM_BLOCKS": _limit("max_uniform_buffer_bindings"),
        "MAX_UNIFORM_BUFFER_BINDINGS": _limit("max_uniform_buffer_bindings"),
        "MAX_UNIFORM_BLOCK_SIZE": _cap("max_const_buffer_size"),
        "MAX_UNIFORM_LOCATIONS": lambda c: 4096,
        "UNIFORM_BUFFER_OFFSET_ALIGNMENT": _limit("uniform_buffer_offset_alignment"),
        "SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT": lambda c: 16,
        "TEXTURE_BUFFER_OFFSET_ALIGNMENT": lambda c: 16,
        "MIN_MAP_BUFFER_ALIGNMENT": lambda c: 64,
        "MAX_COMBINED_VERTEX_UNIFORM_COMPONENTS": lambda c: (
            c.limits.max_uniform_components
            + c.limits.max_uniform_blocks * c.caps.max_const_buffer_size // 4
        ),
        "MAX_COMBINED_FRAGMENT_UNIFORM_COMPONENTS": lambda c: (
            c.limits.max_uniform_components
            + c.limits.max_uniform_blocks * c.caps.max_const_buffer_size // 4
        ),
        "MAX_VARYING_COMPONENTS": _limit("max_varying_components"),
        "MAX_VARYING_VECTORS": lambda c: c.caps.max_varyings,
        "MAX_VERTEX_OUTPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_FRAGMENT_INPUT_COMPONENTS": _limit("max_varying_components"),
        "MAX_GEOMETRY_TEXTURE_IMAGE_UNITS": _stage_limit("geometry", _cap("max_samplers")),
        "MAX_GEOMETRY_UNIFORM_BLOCKS": _stage_limit("geometry", _limit("max_uniform_blocks")),
        "MAX_GEOMETRY_UNIFORM_COMPONENTS": _stage_limit(
            "geometry", _limit("max_uniform_components")
        ),
        "MAX_COMBINED_GEOMETRY_UNIFORM_COMPONENTS": _stage_limit(
            "geometry", _limit("max_uniform_components")
        ),
        "MAX_GEOMETRY_INPUT_COMPONENTS": _stage_limit("geometry", _limit("max_varying_components")),
        "MAX_GEOMETRY_OUTPUT_COMPONENTS": _stage_limit(
            "geometry", _limit("max_varying_components")
        ),
        "MAX_GEOMETRY_OUTPUT_VERTICES": _stage_limit("geometry", lambda c: 256),
        "MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS": _stage_limit("geometry", lambda c: 1024),
        "MAX_VERTEX_SHADER_STORAGE_BLOCKS": _cap("max_shader_buffers"),
        "MAX_FRAGMENT_SHADER_STORAGE_BLOCKS": _cap("max_shader_buffers"),
        "MAX_COMBINED_SHADER_STORAGE_BLOCKS": _cap("max_shader_buffers"),
        "MAX_SHADER_STORAGE_BUFFER_BINDINGS": _cap("max_shader_buffers"),
        "MAX_SHADER_STORAGE_BLOCK_SIZE": lambda c: 1 << 27 if c.caps.max_shader_buffers else 0,
        "MAX_IMAGE_UNITS": _cap("max_shader_images"),
        "MAX_VERTEX_IMAGE_UNIFORMS": _cap("max_shader_images"),
        "MAX_FRAGMENT_IMAGE_UNIFORMS": _cap("max_shader_images"),
        "MAX_COMBINED_IMAGE_UNIFORMS": _cap("max_shader_images"),
        "MAX_VERTEX_ATOMIC_COUNTERS": _atomics("max_vertex_atomic_counters"),
        "MAX_FRAGMENT_ATOMIC_COUNTERS": _atomics("max_fragment_atomic_counters"),
        **{
            f"MAX_{stage}_ATOMIC_COUNTER{s}": _atomics(
                f"max_{stage.lower()}_atomic_counter{s.lower()}"
            )
            for stage in ("TESS_CONTROL", "TESS_EVALUATION", "GEOMETRY", "COMPUTE")
            for s in ("S", "_BUFFERS")
        },
        "MAX_COMBINED_ATOMIC_COUNTERS": _atomics("max_combined_atomic_counters"),
        "MAX_VERTEX_ATOMIC_COUNTER_BUFFERS": _atomics("max_vertex_atomic_counter_buffers"),
        "MAX_FRAGMENT_ATOMIC_COUNTER_BUFFERS": _atomics("max_fragment_atomic_counter_buffers"),
        "MAX_COMBINED_ATOMIC_COUNTER_BUFFERS": _atomics("max_combined_atomic_counter_buffers"),
        "MAX_ATOMIC_COUNTER_BUFFER_BINDINGS": _atomics("max_atomic_counter_bindings"),
        "MAX_ATOMIC_COUNTER_BUFFER_SIZE": _atomics("max_atomic_counter_buffer_size"),
        "MAX_CLIP_DISTANCES": _cap("max_clip_planes"),
        "MAX_VIEWPORTS": _cap("max_viewports"),
        "MAX_VIEWPORT_DIMS": _limit("max_viewport_dims"),
        "VIEWPORT_BOUNDS_RANGE": lambda c: (-32768.0, 32767.0),
        "VIEWPORT_SUBPIXEL_BITS": lambda c: 8,
        "SUBPIXEL_BITS": lambda c: 8,
        "ALIASED_LINE_WIDTH_RANGE": lambda c: (1.0, c.caps.max_line_width),
        "SMOOTH_LINE_WIDTH_RANGE": lambda c: (1.0, c.caps.max_line_width),
        "SMOOTH_LINE_WIDTH_GRANULARITY": lambda c: 0.1,
        "POINT_SIZE_RANGE": lambda c: (1.0, c.caps.max_point_size),
        "ALIASED_POINT_SIZE_RANGE": lambda c: (1.0, c.caps.max_point_size),
        "POINT_SIZE_GRANULARITY": lambda c: 0.1,
        "MAX_ELEMENTS_INDICES": lambda c: 1 << 20,
        "MAX_ELEMENTS_VERTICES": lambda c: 1 << 20,
        "MAX_ELEMENT_INDEX": lambda c: (1 << 32) - 1,
        "MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS": lambda c: 64,
        "MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS": _limit(
            "max_transform_feedback_separate_attribs"
        ),
        "MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS": lambda c: 4,
        "MAX_TRANSFORM_FEEDBACK_BUFFERS": _limit("max_transform_feedback_separate_attribs"),
        "MAX_PROGRAM_TEXEL_OFFSET": lambda c: 7,
        "MIN_PROGRAM_TEXEL_OFFSET": lambda c: -8,
        "MAX_PROGRAM_TEXTURE_GATHER_OFFSET": lambda c: 31,
        "MIN_PROGRAM_TEXTURE_GATHER_OFFSET": lambda c: -32,
        "MAX_VERTEX_STREAMS": lambda c: 1,
        "MAX_SERVER_WAIT_TIMEOUT": lambda c: (1 << 63) - 1,
        "MAX_PATCH_VERTICES": lambda c: 32,
        "PATCH_VERTICES": lambda c: c.raster.patch_vertices,
        "PATCH_DEFAULT_OUTER_LEVEL": lambda c: c.raster.patch_levels[:4],
        "PATCH_DEFAULT_INNER_LEVEL": lambda c: c.raster.patch_levels[4:],
        "NUM_SHADER_BINARY_FORMATS": lambda c: 0,
        "SHADER_BINARY_FORMATS": lambda c: [],
        "NUM_PROGRAM_BINARY_FORMATS": lambda c: 0,
        "PROGRAM_BINARY_FORMATS": lambda c: [],
        "SHADER_COMPILER": lambda c: 1,
        "QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION": lambda c: 0,
        "LAYER_PROVOKING_VERTEX": lambda c: GL.LAST_VERTEX_CONVENTION,
        "VIEWPORT_INDEX_PROVOKING_VERTEX": lambda c: GL.LAST_VERTEX_CONVENTION,
        "MAJOR_VERSION": lambda c: c.limits.version[0],
        "MINOR_VERSION": lambda c: c.limits.version[1],
        "NUM_EXTENSIONS": lambda c: len(c.limits.extensions),
        "CONTEXT_FLAGS": lambda c: GL.CONTEXT_FLAG_DEBUG_BIT if c.debug_context else 0,
        "CONTEXT_PROFILE_MASK": lambda c: (
            GL.CONTEXT_COMPATIBILITY_PROFILE_BIT if c.is_compat else GL.CONTEXT_CORE_PROFILE_BIT
        ),
        "RESET_NOTIFICATION_STRATEGY": lambda c: GL.NO_RESET_NOTIFICATION,
        "IMPLEMENTATION_COLOR_READ_FORMAT": lambda c: GL.RGBA,
        "IMPLEMENTATION_COLOR_READ_TYPE": lambda c: GL.UNSIGNED_BYTE,
        "NUM_COMPRESSED_TEXTURE_FORMATS": lambda c: len(_compressed(c)),
        "COMPRESSED_TEXTURE_FORMATS": lambda c: _compressed(c),
    }
)
gets(
    {
        "MAX_TEXTURE_UNITS": lambda c: 8,
        "MAX_TEXTURE_COORDS": lambda c: 8,
        "MAX_LIGHTS": lambda c: 8,
        "MAX_MODELVIEW_STACK_DEPTH": lambda c: 32,
        "MAX_PROJECTION_STACK_DEPTH": lambda c: 32,
        "MAX_TEXTURE_STACK_DEPTH": lambda c: 10,
        "MAX_ATTRIB_STACK_DEPTH": lambda c: 16,
        "MAX_CLIENT_ATTRIB_STACK_DEPTH": lambda c: 16,
        "AUX_BUFFERS": lambda c: 0,
        "INDEX_BITS": lambda c: 0,
        "RGBA_MODE": lambda c: 1,
        "INDEX_MODE": lambda c: 0,
        "RENDER_MODE": lambda c: GL.RENDER,
        "MAX_VARYING_FLOATS": _limit("max_varying_components"),
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


def _compressed(ctx: Context) -> list[int]:
    return [f for f, info in INTERNAL_FORMATS.items() if info.is_compressed and "DXT" in info.name]


# -- strings ---------------------------------------------------------------------------------------


@entry
def get_string(ctx: Context, name: int) -> str:
    major, minor = ctx.limits.version
    if name == GL.VENDOR:
        return "gallette"
    if name == GL.RENDERER:
        return f"gallette {ctx.screen.describe()}"
    if name == GL.VERSION:
        if ctx.profile == "es":
            return f"OpenGL ES {major}.{minor} gallette {GALLETTE_VERSION}"
        profile = "Core" if ctx.is_core else "Compatibility"
        return f"{major}.{minor} ({profile} Profile) gallette {GALLETTE_VERSION}"
    if name == GL.SHADING_LANGUAGE_VERSION:
        version = ctx.limits.glsl_version
        if ctx.profile == "es":
            return f"OpenGL ES GLSL ES 3.{ctx.limits.version[1]}0"
        return f"{version // 100}.{version % 100:02d}"
    if name == GL.EXTENSIONS and not ctx.is_core:
        return " ".join(ctx.limits.extensions)
    raise invalid_enum(name, "string")


@entry
def get_stringi(ctx: Context, name: int, index: int) -> str:
    if name != GL.EXTENSIONS:
        raise invalid_enum(name, "indexed string")
    if index >= len(ctx.limits.extensions):
        raise invalid_value(f"there is no extension {index}")
    return ctx.limits.extensions[index]


@entry
def get_error(ctx: Context) -> int:
    code, ctx.error = ctx.error, GL.NO_ERROR
    return code


@entry
def get_graphics_reset_status(ctx: Context) -> int:
    return GL.GUILTY_CONTEXT_RESET if ctx.lost else GL.NO_ERROR


@entry
def get_internalformativ(
    ctx: Context, target: int, internalformat: int, pname: int, count: int
) -> list[int]:
    info = INTERNAL_FORMATS.get(internalformat)
    if info is None:
        raise invalid_enum(internalformat, "internal format")
    if count < 0:
        raise invalid_value("negative count")
    samples = [ctx.caps.max_samples] if ctx.caps.max_samples > 1 else [1]
    if pname == GL.NUM_SAMPLE_COUNTS:
        return [len(samples)]
    if pname == GL.SAMPLES:
        return samples[:count]
    if pname == GL.INTERNALFORMAT_SUPPORTED:
        return [1]
    if pname == GL.INTERNALFORMAT_PREFERRED:
        return [internalformat]
    raise invalid_enum(pname, "internal format query")
