"""Availabilities of GLSL features that several modules check (see `language`)."""

from __future__ import annotations

__all__ = [
    "ARRAYS",
    "BUFFER_BLOCKS",
    "CLIP_DISTANCES",
    "COMPUTE",
    "CULL_DISTANCES",
    "DOUBLES",
    "ENHANCED_LAYOUTS",
    "FORMATS",
    "GEOMETRY",
    "GPU_SHADER5",
    "IMAGE_LOAD_STORE",
    "INTEGERS",
    "INTEGERS_64",
    "LOCATIONS",
    "MORE_FORMATS",
    "PACK_420",
    "SEPARATE_STAGES",
    "TESSELLATION",
    "UNIFORM_BLOCKS",
]

ARRAYS = "120 es300"
"""arrays as values: constructors, initializers, assignment, comparison"""
INTEGERS = "130 es300 EXT_gpu_shader4"
UNIFORM_BLOCKS = "140 es300 ARB_uniform_buffer_object"
LOCATIONS = "330 es300 ARB_explicit_attrib_location"
DOUBLES = "400 ARB_gpu_shader_fp64"
INTEGERS_64 = "ARB_gpu_shader_int64 AMD_gpu_shader_int64"
TESSELLATION = "400 ARB_tessellation_shader es320 OES_tessellation_shader EXT_tessellation_shader"
GEOMETRY = "150 es320 OES_geometry_shader EXT_geometry_shader"
GPU_SHADER5 = "400 ARB_gpu_shader5 es320 EXT_gpu_shader5 OES_gpu_shader5"
SEPARATE_STAGES = "410 ARB_separate_shader_objects es310"
PACK_420 = "420 ARB_shading_language_420pack"
"""what ARB_shading_language_420pack adds to GLSL, without what ES has of it"""
IMAGE_LOAD_STORE = "420 ARB_shader_image_load_store EXT_shader_image_load_store"
MORE_FORMATS = f"{IMAGE_LOAD_STORE} NV_image_formats"
"""formats of images that GLSL ES has not"""
FORMATS = "420 es310 ARB_shader_image_load_store EXT_shader_image_load_store NV_image_formats"
COMPUTE = "430 es310 ARB_compute_shader"
BUFFER_BLOCKS = "430 es310 ARB_shader_storage_buffer_object"
ENHANCED_LAYOUTS = "440 ARB_enhanced_layouts"
CLIP_DISTANCES = "130 EXT_clip_cull_distance"
CULL_DISTANCES = "450 ARB_cull_distance EXT_clip_cull_distance"
MEMORY = f"{IMAGE_LOAD_STORE} es310 ARB_shader_storage_buffer_object"
"""qualifiers of images and buffers"""
ADVANCED_BLENDING = "es320 KHR_blend_equation_advanced"
REPEATED_LAYOUTS = f"{PACK_420} es310 ARB_enhanced_layouts"
"""a name with a value in several layout qualifiers; in one of them with ENHANCED_LAYOUTS only"""
FRAMEBUFFER_FETCH = (
    "130+EXT_shader_framebuffer_fetch es300+EXT_shader_framebuffer_fetch "
    "130+EXT_shader_framebuffer_fetch_non_coherent es300+EXT_shader_framebuffer_fetch_non_coherent"
)
GLOBAL_IN_AND_OUT = "130 es300 ARB_geometry_shader4 EXT_gpu_shader4 ARB_explicit_attrib_location"
ARRAYS_OF_ARRAYS = "430 ARB_arrays_of_arrays es310 ARB_geometry_shader4"
