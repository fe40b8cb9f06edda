"""The summary of a shader is what its code says, whatever the summary said before."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import SystemValue
from gallette.compiler.nir.passes.io.gather_info import gather_info
from gallette.compiler.nir.text.parser import parse

NAMES = [f.name for f in fields(ShaderInfo)]
GATHERED = NAMES[: NAMES.index("has_transform_feedback")]
WRONG: dict[type, Any] = {set: {3, 77}, int: 99, bool: True}


@pytest.mark.parametrize("name", GATHERED)
def test_what_was_said_before_is_forgotten(name: str) -> None:
    shader = Builder.shader_main(Stage.FRAGMENT, "empty").shader
    gather_info(shader)
    wanted = shader.info.copy()
    wrong = WRONG[type(getattr(wanted, name))]
    setattr(shader.info, name, wrong.copy() if isinstance(wrong, set) else wrong)
    gather_info(shader)
    assert shader.info == wanted
    shader.info = ShaderInfo()
    gather_info(shader)
    assert getattr(shader.info, name) == getattr(wanted, name)


HEAD = """
    32 %zero = load_const (0)
    32 %two = load_const (2)
    32 %x = undef
    32x2 %xy = undef
    32x4 %v = undef
    1 %c = undef
"""
FRAGMENT, VERTEX, CONTROL, GEOMETRY = "fragment", "vertex", "tess_ctrl", "geometry"
FLAT = {"inputs_read": {32}, "flat_inputs": {32}}
STORED = {"num_ssbos": 3, "writes_memory": True}

# An instruction in a stage, and all that is told of the shader.
TOLD: list[tuple[str, str, dict[str, Any]]] = [
    (FRAGMENT, "32 %r = fadd %x, %x", {}),
    (FRAGMENT, "32 %r = fddx %x", {"uses_derivatives": True}),
    (FRAGMENT, "32 %r = fddy_fine %x", {"uses_derivatives": True}),
    (FRAGMENT, "32 %r = @load_input (%zero) (location=VARYING.VAR0)", FLAT),
    (
        FRAGMENT,
        "32 %r = @load_input (%zero) (location=VARYING.VAR0, num_slots=2)",
        {"inputs_read": {32, 33}, "flat_inputs": {32, 33}},
    ),
    (VERTEX, "32 %r = @load_input (%zero) (location=VERT.TEX0)", {"inputs_read": {6}}),
    (
        FRAGMENT,
        "32x2 %b = @load_barycentric_pixel ()\n"
        "32 %r = @load_interpolated_input (%b, %zero) (location=VARYING.VAR1, num_slots=3)",
        {"inputs_read": {33, 34, 35}},
    ),
    (
        GEOMETRY,
        "32 %r = @load_per_vertex_input (%zero, %zero) (location=VARYING.VAR0)",
        {"inputs_read": {32}},
    ),
    (
        FRAGMENT,
        "@store_output (%v, %zero) (location=FRAG.DATA0, write_mask=xyzw)",
        {"outputs_written": {4}},
    ),
    (
        FRAGMENT,
        "@store_output (%v, %zero) (location=FRAG.DATA0, write_mask=xyzw, dual_source=1)",
        {"outputs_written": {4}, "color_is_dual_source": True},
    ),
    (
        VERTEX,
        "@store_output (%v, %zero) (location=VARYING.VAR2, write_mask=xyzw, num_slots=2)",
        {"outputs_written": {34, 35}},
    ),
    (
        CONTROL,
        "@store_per_vertex_output (%v, %zero, %zero) (location=VARYING.VAR2, write_mask=xyzw)",
        {"outputs_written": {34}},
    ),
    (CONTROL, "32 %r = @load_output (%zero) (location=VARYING.VAR2)", {"outputs_read": {34}}),
    (
        CONTROL,
        "32 %r = @load_per_vertex_output (%zero, %zero) (location=VARYING.VAR3, num_slots=2)",
        {"outputs_read": {35, 36}},
    ),
    (VERTEX, "32 %r = @load_ubo (%zero, %zero)", {"num_ubos": 1}),
    (VERTEX, "32 %r = @load_ubo (%two, %zero)", {"num_ubos": 3}),
    (VERTEX, "32 %r = @load_ubo (%x, %zero)", {"num_ubos": 1}),
    (
        VERTEX,
        "32 %r = @load_ubo (%zero, %zero) (range_base=16, range=8)",
        {"num_ubos": 1, "num_uniform_bytes": 24},
    ),
    (VERTEX, "32 %r = @load_ubo (%two, %zero) (range_base=16, range=8)", {"num_ubos": 3}),
    (VERTEX, "32 %r = @load_ubo (%zero, %zero) (range_base=16)", {"num_ubos": 1}),
    (
        VERTEX,
        "32 %r = @load_ubo (%zero, %zero) (range_base=16, range=8)\n"
        "32 %s = @load_ubo (%two, %zero)\n"
        "32 %t = @load_ubo (%zero, %zero) (range_base=0, range=16)",
        {"num_ubos": 3, "num_uniform_bytes": 24},
    ),
    (VERTEX, "32 %r = @load_ssbo (%two, %zero)", {"num_ssbos": 3}),
    (VERTEX, "32 %r = @load_ssbo (%x, %two)", {"num_ssbos": 1}),
    (VERTEX, "32 %r = @get_ssbo_size (%two)", {"num_ssbos": 3}),
    (VERTEX, "@store_ssbo (%zero, %two, %zero) (write_mask=x)", STORED),
    (VERTEX, "32 %r = @ssbo_atomic (%two, %zero, %x) (atomic_op=iadd)", STORED),
    (VERTEX, "32 %r = @ssbo_atomic_swap (%two, %zero, %x, %x) (atomic_op=xchg)", STORED),
    (VERTEX, "32x4 %r = @image_load (%two, %v, %zero)", {"images_used": {2}}),
    (VERTEX, "32x4 %r = @image_load (%x, %v, %zero)", {}),
    (VERTEX, "32x2 %r = @image_size (%two, %zero)", {"images_used": {2}}),
    (
        VERTEX,
        "@image_store (%two, %v, %zero, %v)",
        {"images_used": {2}, "writes_memory": True},
    ),
    (
        VERTEX,
        "32 %r = @image_atomic (%two, %v, %zero, %x) (atomic_op=iadd)",
        {"images_used": {2}, "writes_memory": True},
    ),
    (FRAGMENT, "@discard ()", {"uses_discard": True}),
    (FRAGMENT, "@discard_if (%c)", {"uses_discard": True}),
    (FRAGMENT, "@demote ()", {"uses_demote": True}),
    (FRAGMENT, "@demote_if (%c)", {"uses_demote": True}),
    (VERTEX, "32x4 %r = @load_user_clip_plane () (ucp_id=3)", {"user_clip_planes": 8}),
    (
        FRAGMENT,
        "32x4 %r = @load_frag_coord ()",
        {"reads_frag_coord": True, "system_values_read": {SystemValue["FRAG_COORD"]}},
    ),
    (
        FRAGMENT,
        "32 %r = @load_sample_id ()",
        {"uses_sample_shading": True, "system_values_read": {SystemValue["SAMPLE_ID"]}},
    ),
    (
        FRAGMENT,
        "32x2 %r = @load_sample_pos ()",
        {"uses_sample_shading": True, "system_values_read": {SystemValue["SAMPLE_POS"]}},
    ),
    (FRAGMENT, "32x2 %r = @load_barycentric_sample ()", {"uses_sample_shading": True}),
    (FRAGMENT, "32x2 %r = @load_barycentric_centroid ()", {}),
    (VERTEX, "32 %r = @load_instance_id ()", {"system_values_read": {SystemValue["INSTANCE_ID"]}}),
    *(
        (FRAGMENT, f"32x4 %r = {tex}", {"textures_used": {3}} | more)
        for tex, more in (
            ("tex 2D float32 (coord=%xy) (texture=3)", {"uses_derivatives": True}),
            ("txb 2D float32 (coord=%xy, bias=%x) (texture=3)", {"uses_derivatives": True}),
            ("txl 2D float32 (coord=%xy, lod=%x) (texture=3, sampler=5)", {}),
            ("txf 2D float32 (coord=%xy) (texture=3)", {"textures_fetched": {3}}),
            (
                "txf 2D float32 (coord=%xy, texture_offset=%x) (texture=3)",
                {"uses_indirect_textures": True, "textures_fetched": {3}},
            ),
        )
    ),
    (VERTEX, "32x4 %r = tex 2D float32 (coord=%xy) (texture=1)", {"textures_used": {1}}),
]


@pytest.mark.parametrize(("stage", "code", "told"), TOLD, ids=range(len(TOLD)))
def test_each_instruction_sets_its_facts(stage: str, code: str, told: dict[str, Any]) -> None:
    text = f'shader {stage} "one"\nfunction main () entry\nimpl main {{{HEAD}{code}\n}}\n'
    shader = parse(text)
    gather_info(shader)
    assert {name: getattr(shader.info, name) for name in told} == told
    wanted = ShaderInfo()
    for name, value in told.items():
        setattr(wanted, name, value)
    assert shader.info == wanted
