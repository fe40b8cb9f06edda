"""What passes say of themselves: their options and what they keep; and other things that
are as they are because somebody said so: limits, flags."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from gallette.compiler.debug import FLAGS
from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.run.pass_runner import get_pass
from gallette.compiler.nir.run.reference import own_passes

M = Mode
TEMPORARY = M.FUNCTION_TEMP | M.SHADER_TEMP
MEMORY = TEMPORARY | M.SHADER_OUT | M.SHARED | M.SSBO | M.GLOBAL
RULES: dict[str, Any] = {
    "options": None, "inexact_used_once": None, "lower": "", "fuse": "", "limit": -1,
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "algebraic": RULES,
    "algebraic_late": RULES,
    "simplify": {"options": None, "arithmetic": True, "limit": -1},
    "inline_functions": {"max_instrs": 1_000_000},
    "inline_uniforms": {"values": (), "data": b"", "positions": False},
    "loop_unroll": {"max_instrs": 256, "max_trips": 32, "indirect_instrs": 1024},
    "lower_alpha_test": {"func": "always", "bits": 0},
    "lower_alu_to_scalar": {"reductions": True},
    "lower_array_deref_of_vec": {"modes": TEMPORARY | M.SHADER_IN | M.SHADER_OUT | M.UNIFORM},
    "lower_buffer_derefs": {"modes": M.UBO | M.SSBO | M.SHARED},
    "lower_depth_only": {"keep": ()},
    "lower_explicit_io": {"formats": "", "modes": M.FUNCTION_TEMP | M.SHARED | M.GLOBAL},
    "lower_indirect_derefs": {
        "modes": M.FUNCTION_TEMP | M.SHADER_IN | M.SHADER_OUT,
        "max_length": 16,
        "packed": False,
    },
    "lower_io": {"modes": M.SHADER_IN | M.SHADER_OUT},
    "lower_pixel_rectangle": {"what": "color", "texture": 0},
    "lower_special_functions": {
        "has": "",
        "steps": 2,
        "ffma": True,
        "exact_division": False,
        "full_range": False,
    },
    "lower_sprite_coord": {"mask": 0, "flip_y": False},
    "lower_tex_saturate": {"s": 0, "t": 0, "r": 0},
    "lower_user_clip_planes": {"mask": 0},
    "lower_var_copies": {"max_elements": 64},
    "lower_variable_initializers": {"modes": TEMPORARY | M.SHADER_OUT},
    "move_inputs": {"slots": ()},
    "opt_copy_prop_vars": {"modes": MEMORY},
    "opt_dead_write_vars": {"modes": MEMORY},
    "peephole_select": {"limit": 8, "expensive_ok": False, "tex_ok": False},
    "propagate_invariant": {"position": False},
    "remove_dead_variables": {"modes": TEMPORARY},
    "split_struct_vars": {"modes": TEMPORARY},
}
CHANGES_CONTROL_FLOW = {
    "dead_cf", "inline_functions", "loop_unroll", "lower_explicit_io", "lower_indirect_derefs",
    "lower_returns", "peephole_select",
}  # fmt: skip
KEEPS_ALL = {"gather_info", "propagate_invariant"}
KEEPS_VALUES = {"lower_global_vars_to_local", "move_inputs"}
KEEPS_KINDS = {
    "algebraic", "algebraic_late", "constant_folding", "copy_prop", "cse", "dce", "opt_undef",
    "remove_phis", "simplify",
    "lower_64bit_io", "lower_buffer_derefs", "lower_io", "lower_samplers", "lower_uniforms_to_ubo",
    "lower_vars_to_ssa",
}  # fmt: skip
INEXACT = {"algebraic", "algebraic_late", "lower_special_functions", "simplify"}
IDEMPOTENT = {"simplify"}


def test_options_are_by_default_what_is_written_here() -> None:
    found = {name: get_pass(name).options for name in own_passes()}
    assert {name: options for name, options in found.items() if options} == OPTIONS


def test_what_passes_keep() -> None:
    for name in own_passes():
        info = get_pass(name)
        kept = Metadata.NONE if name in CHANGES_CONTROL_FLOW else Metadata.CONTROL_FLOW
        if name in KEEPS_KINDS:
            kept |= Metadata.KINDS
        elif name in KEEPS_ALL:
            kept = Metadata.ALL
        elif name in KEEPS_VALUES:
            kept = Metadata.VALUES
        assert info.preserves == kept, name
        assert info.exact == (name not in INEXACT), name
        assert info.idempotent == (name in IDEMPOTENT), name


LIMITS = """
max_lights=8 max_clip_planes=8 max_texture_units=8 max_texture_coords=8 max_vertex_attribs=64
max_vertex_uniform_components=16384 max_varying_floats=128 max_varying_components=128
max_varying_vectors=32 max_vertex_texture_image_units=32 max_combined_texture_image_units=192
max_texture_image_units=32 max_fragment_uniform_components=16384 max_draw_buffers=8
max_dual_source_draw_buffers=1 max_clip_distances=8 max_cull_distances=8
max_combined_clip_and_cull_distances=8 max_vertex_output_components=128
max_geometry_input_components=128 max_geometry_output_components=128
max_fragment_input_components=128 max_geometry_texture_image_units=32
max_geometry_output_vertices=1024 max_geometry_total_output_components=4096
max_geometry_uniform_components=16384 max_geometry_varying_components=128
max_geometry_shader_invocations=32 max_geometry_atomic_counters=4096
max_geometry_atomic_counter_buffers=16 max_geometry_image_uniforms=32
max_tess_control_input_components=128 max_tess_control_output_components=128
max_tess_control_texture_image_units=32 max_tess_control_uniform_components=16384
max_tess_control_total_output_components=4096 max_tess_control_atomic_counters=4096
max_tess_control_atomic_counter_buffers=16 max_tess_control_image_uniforms=32
max_tess_evaluation_input_components=128 max_tess_evaluation_output_components=128
max_tess_evaluation_texture_image_units=32 max_tess_evaluation_uniform_components=16384
max_tess_evaluation_atomic_counters=4096 max_tess_evaluation_atomic_counter_buffers=16
max_tess_evaluation_image_uniforms=32 max_tess_patch_components=120 max_patch_vertices=32
max_tess_gen_level=64 max_viewports=16 max_vertex_uniform_vectors=4096
max_fragment_uniform_vectors=4096 min_program_texel_offset=-32 max_program_texel_offset=31
max_image_units=32 max_combined_image_units_and_fragment_outputs=72
max_combined_shader_output_resources=72 max_image_samples=0 max_vertex_image_uniforms=32
max_fragment_image_uniforms=32 max_combined_image_uniforms=192 max_compute_image_uniforms=32
max_compute_texture_image_units=32 max_compute_uniform_components=16384
max_compute_atomic_counters=4096 max_compute_atomic_counter_buffers=16
max_compute_work_group_count=65535,65535,65535 max_compute_work_group_size=1024,1024,1024
max_compute_work_group_invocations=1024 max_compute_shared_memory_size=32768
max_vertex_atomic_counters=4096 max_fragment_atomic_counters=4096
max_combined_atomic_counters=16384 max_vertex_atomic_counter_buffers=16
max_fragment_atomic_counter_buffers=16 max_combined_atomic_counter_buffers=96
max_atomic_counter_bindings=16 max_atomic_counter_buffer_size=16384
max_transform_feedback_buffers=4 max_transform_feedback_interleaved_components=64
max_transform_feedback_separate_components=64 max_transform_feedback_separate_attribs=4
max_vertex_streams=4 max_samples=4 max_uniform_buffer_bindings=96 max_uniform_block_size=65536
max_uniform_blocks=16 max_shader_storage_buffer_bindings=96
max_shader_storage_blocks=32 max_shader_storage_block_size=134217728 max_uniform_locations=65536
max_subroutines=256 max_subroutine_uniform_locations=1024 max_array_elements=16777216
"""


def test_limits_are_by_default_what_is_written_here() -> None:
    limits = Limits()
    found = {field.name: getattr(limits, field.name) for field in fields(limits)}
    wanted: dict[str, Any] = {}
    for word in LIMITS.split():
        name, _, numbers = word.partition("=")
        some = tuple(map(int, numbers.split(",")))
        wanted[name] = some if len(some) > 1 else some[0]
    assert found == wanted


FLAG_VALUES: dict[str, tuple[str, ...]] = {
    "nir:print": (),
    "nir:validate": (),
    "nir:idle": (),
    "nir:metadata": (),
    "glsl:dump": (),
    "glsl:strict": (),
    "gl:calls": (),
    "gl:errors": (),
    "driver:variants": (),
    "driver:code": (),
    "driver:inexact_used_once": ("always", "never", "not_position"),
    "driver:live_ranges": ("naive", "loop_extended", "mask_aware"),
    "driver:texture_writes": ("late", "in_order"),
    "driver:barriers": ("writes", "reads"),
    "driver:half_colors": ("auto", "never", "always"),
    "driver:mixed_pages": (),
    "driver:forget": (),
    "driver:verify": (),
    "driver:position_invariant": (),
}


def test_flags_take_what_is_written_here() -> None:
    assert {name: flag.values for name, flag in FLAGS.items()} == FLAG_VALUES
