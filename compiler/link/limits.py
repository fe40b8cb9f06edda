"""Implementation limits, which the compilers and the linker enforce.

The defaults are generous, so that the compiler alone rejects nothing a driver might accept; a state
tracker fills in the limits of its driver's caps.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True)
class Limits:
    """Named as the GL queries, in snake case."""

    max_lights: int = 8
    max_clip_planes: int = 8
    max_texture_units: int = 8
    max_texture_coords: int = 8
    max_vertex_attribs: int = 64
    max_vertex_uniform_components: int = 16384
    max_varying_floats: int = 128
    max_varying_components: int = 128
    max_varying_vectors: int = 32
    max_vertex_output_vectors: int = 32
    max_fragment_input_vectors: int = 32
    max_vertex_texture_image_units: int = 32
    max_combined_texture_image_units: int = 192
    max_texture_image_units: int = 32
    max_fragment_uniform_components: int = 16384
    max_draw_buffers: int = 8
    max_dual_source_draw_buffers: int = 1
    max_clip_distances: int = 8
    max_cull_distances: int = 8
    max_combined_clip_and_cull_distances: int = 8
    max_vertex_output_components: int = 128
    max_geometry_input_components: int = 128
    max_geometry_output_components: int = 128
    max_fragment_input_components: int = 128
    max_geometry_texture_image_units: int = 32
    max_geometry_output_vertices: int = 1024
    max_geometry_total_output_components: int = 4096
    max_geometry_uniform_components: int = 16384
    max_geometry_varying_components: int = 128
    max_geometry_shader_invocations: int = 32
    max_geometry_atomic_counters: int = 4096
    max_geometry_atomic_counter_buffers: int = 16
    max_geometry_image_uniforms: int = 32
    max_tess_control_input_components: int = 128
    max_tess_control_output_components: int = 128
    max_tess_control_texture_image_units: int = 32
    max_tess_control_uniform_components: int = 16384
    max_tess_control_total_output_components: int = 4096
    max_tess_control_atomic_counters: int = 4096
    max_tess_control_atomic_counter_buffers: int = 16
    max_tess_control_image_uniforms: int = 32
    max_tess_evaluation_input_components: int = 128
    max_tess_evaluation_output_components: int = 128
    max_tess_evaluation_texture_image_units: int = 32
    max_tess_evaluation_uniform_components: int = 16384
    max_tess_evaluation_atomic_counters: int = 4096
    max_tess_evaluation_atomic_counter_buffers: int = 16
    max_tess_evaluation_image_uniforms: int = 32
    max_tess_patch_components: int = 120
    max_patch_vertices: int = 32
    max_tess_gen_level: int = 64
    max_viewports: int = 16
    max_vertex_uniform_vectors: int = 4096
    max_fragment_uniform_vectors: int = 4096
    min_program_texel_offset: int = -32
    max_program_texel_offset: int = 31
    max_image_units: int = 32
    max_combined_image_units_and_fragment_outputs: int = 72
    max_combined_shader_output_resources: int = 72
    max_image_samples: int = 0
    max_vertex_image_uniforms: int = 32
    max_fragment_image_uniforms: int = 32
    max_combined_image_uniforms: int = 192
    max_compute_image_uniforms: int = 32
    max_compute_texture_image_units: int = 32
    max_compute_uniform_components: int = 16384
    max_compute_atomic_counters: int = 4096
    max_compute_atomic_counter_buffers: int = 16
    max_compute_work_group_count: tuple[int, int, int] = (65535, 65535, 65535)
    max_compute_work_group_size: tuple[int, int, int] = (1024, 1024, 1024)
    max_compute_work_group_invocations: int = 1024
    max_compute_shared_memory_size: int = 32768
    max_vertex_atomic_counters: int = 4096
    max_fragment_atomic_counters: int = 4096
    max_combined_atomic_counters: int = 16384
    max_vertex_atomic_counter_buffers: int = 16
    max_fragment_atomic_counter_buffers: int = 16
    max_combined_atomic_counter_buffers: int = 96
    max_atomic_counter_bindings: int = 16
    max_atomic_counter_buffer_size: int = 16384
    max_transform_feedback_buffers: int = 4
    max_transform_feedback_interleaved_components: int = 64
    max_transform_feedback_separate_components: int = 64
    max_transform_feedback_separate_attribs: int = 4
    max_vertex_streams: int = 4
    max_samples: int = 4
    # Not visible in shaders:
    max_uniform_buffer_bindings: int = 96
    max_uniform_block_size: int = 65536
    max_uniform_blocks: int = 16
    max_shader_storage_buffer_bindings: int = 96
    max_shader_storage_blocks: int = 32
    max_shader_storage_block_size: int = 1 << 27
    max_uniform_locations: int = 65536
    max_subroutines: int = 256
    max_subroutine_uniform_locations: int = 1024
    max_array_elements: int = 1 << 24


DEFAULT_LIMITS = Limits()
