"""The `gl_Max...` constants: limits, by the languages that name them."""

from __future__ import annotations

from gallette.compiler.glsl.availability import (
    BUFFER_BLOCKS,
    CLIP_DISTANCES,
    COMPUTE,
    CULL_DISTANCES,
    ENHANCED_LAYOUTS,
    TESSELLATION,
)

_IMG = "420 ARB_shader_image_load_store"
_ATOMIC = "420 ARB_shader_atomic_counters"
_GEOM_ES = "es320 OES_geometry_shader EXT_geometry_shader"
_GEOM = f"150 {_GEOM_ES} ARB_geometry_shader4"
_TESS_ES = "es320 OES_tessellation_shader EXT_tessellation_shader"

# Limit names by availability; `gl_MaxLights` is `max_lights`.
_BY_AVAILABILITY = {
    "*": "max_vertex_attribs max_vertex_texture_image_units max_combined_texture_image_units "
    "max_texture_image_units max_draw_buffers",
    "desktop": "max_vertex_uniform_components max_fragment_uniform_components",
    "110-410 compat": "max_varying_floats",
    "compat": "max_lights max_clip_planes max_texture_units max_texture_coords",
    "130": "max_clip_distances max_varying_components",
    "es100 410": "max_vertex_uniform_vectors max_fragment_uniform_vectors",
    "es100-es100 410": "max_varying_vectors",
    "es300": "max_vertex_output_vectors max_fragment_input_vectors",
    "es300 420 ARB_shading_language_420pack": "min_program_texel_offset max_program_texel_offset",
    _GEOM: "max_vertex_output_components max_geometry_input_components "
    "max_geometry_output_components max_fragment_input_components "
    "max_geometry_texture_image_units max_geometry_output_vertices "
    "max_geometry_total_output_components max_geometry_uniform_components",
    "150": "max_geometry_varying_components",
    TESSELLATION: "max_tess_control_input_components max_tess_control_output_components "
    "max_tess_control_texture_image_units max_tess_control_uniform_components "
    "max_tess_control_total_output_components max_tess_evaluation_input_components "
    "max_tess_evaluation_output_components max_tess_evaluation_texture_image_units "
    "max_tess_evaluation_uniform_components max_tess_patch_components max_patch_vertices "
    "max_tess_gen_level",
    "410 ARB_viewport_array OES_viewport_array": "max_viewports",
    f"{_IMG} es310": "max_image_units max_vertex_image_uniforms max_fragment_image_uniforms "
    "max_combined_image_uniforms",
    _IMG: "max_combined_image_units_and_fragment_outputs max_image_samples",
    f"{_IMG} {_GEOM_ES}": "max_geometry_image_uniforms",
    f"{_IMG} {_TESS_ES}": "max_tess_control_image_uniforms max_tess_evaluation_image_uniforms",
    f"{_ATOMIC} es310": "max_vertex_atomic_counters max_fragment_atomic_counters "
    "max_combined_atomic_counters max_atomic_counter_bindings "
    "max_vertex_atomic_counter_buffers max_fragment_atomic_counter_buffers "
    "max_combined_atomic_counter_buffers max_atomic_counter_buffer_size",
    f"{_ATOMIC} {_GEOM_ES}": "max_geometry_atomic_counters max_geometry_atomic_counter_buffers",
    f"{_ATOMIC} {_TESS_ES}": "max_tess_control_atomic_counters "
    "max_tess_evaluation_atomic_counters max_tess_control_atomic_counter_buffers "
    "max_tess_evaluation_atomic_counter_buffers",
    COMPUTE: "max_compute_work_group_count max_compute_work_group_size "
    "max_compute_uniform_components max_compute_texture_image_units "
    "max_compute_image_uniforms max_compute_atomic_counters max_compute_atomic_counter_buffers",
    BUFFER_BLOCKS: "max_combined_shader_output_resources",
    ENHANCED_LAYOUTS: "max_transform_feedback_buffers "
    "max_transform_feedback_interleaved_components",
    CULL_DISTANCES: "max_cull_distances max_combined_clip_and_cull_distances",
    "450 es320 OES_sample_variables ARB_ES3_1_compatibility": "max_samples",
    "EXT_blend_func_extended": "max_dual_source_draw_buffers",
}


def _glsl_name(name: str) -> str:
    if name == "max_dual_source_draw_buffers":
        return "gl_MaxDualSourceDrawBuffersEXT"
    return "gl_" + "".join(word.capitalize() for word in name.split("_"))


CONSTANTS: dict[str, tuple[str, str]] = {
    _glsl_name(name): (name, when)
    for when, names in _BY_AVAILABILITY.items()
    for name in names.split()
}
"""GLSL name -> (field of Limits, availability)"""
CONSTANTS["gl_MaxClipDistances"] = (
    "max_clip_distances",
    CLIP_DISTANCES,
)
