"""Checks limits of resources, per stage and for the whole program."""

from __future__ import annotations

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.link.errors import LinkLog
from gallette.compiler.glsl.link.program import LinkedProgram
from gallette.compiler.nir.ir import Stage

__all__ = ["check_limits"]


_COMPONENTS = {
    Stage.VERTEX: "max_vertex_uniform_components",
    Stage.FRAGMENT: "max_fragment_uniform_components",
    Stage.GEOMETRY: "max_geometry_uniform_components",
}


def check_limits(
    program: LinkedProgram,
    textures: dict[Stage, int],
    images: dict[Stage, int],
    limits: Limits,
    log: LinkLog,
) -> None:
    """`textures` and `images` are the number of units each stage uses."""
    if program.atomic_buffers:
        _check_counter_limits(program, limits, log)
    if any(textures.values()):
        _check_texture_limits(textures, limits, log)
    if any(images.values()):
        _check_image_limits(program, images, limits, log)
    if program.uniforms:
        _check_component_limits(program, limits, log)


def _check_texture_limits(textures: dict[Stage, int], limits: Limits, log: LinkLog) -> None:
    texture_limits = {
        Stage.VERTEX: limits.max_vertex_texture_image_units,
        Stage.FRAGMENT: limits.max_texture_image_units,
        Stage.GEOMETRY: limits.max_geometry_texture_image_units,
    }
    for stage, count in textures.items():
        if count > texture_limits.get(stage, limits.max_texture_image_units):
            log.error(f"the {stage.value} shader uses too many samplers: {count}")
    if sum(textures.values()) > limits.max_combined_texture_image_units:
        log.error("the program uses too many samplers")


def _check_counter_limits(program: LinkedProgram, limits: Limits, log: LinkLog) -> None:
    table = {
        Stage.VERTEX: "vertex",
        Stage.TESS_CTRL: "tess_control",
        Stage.TESS_EVAL: "tess_evaluation",
        Stage.GEOMETRY: "geometry",
        Stage.FRAGMENT: "fragment",
        Stage.COMPUTE: "compute",
    }
    total = buffers = 0
    for stage, name in table.items():
        counters = sum(
            max(1, u.array_size)
            for u in program.uniforms
            if u.atomic_buffer >= 0 and stage in u.stages
        )
        used = sum(stage in b.stages for b in program.atomic_buffers)
        if counters > getattr(limits, f"max_{name}_atomic_counters"):
            log.error(f"too many atomic counters in the {name} shader")
        if used > getattr(limits, f"max_{name}_atomic_counter_buffers"):
            log.error(f"too many atomic counter buffers in the {name} shader")
        total += counters
        buffers += used
    if total > limits.max_combined_atomic_counters:
        log.error("too many atomic counters in the program")
    if buffers > limits.max_combined_atomic_counter_buffers:
        log.error("too many atomic counter buffers in the program")


def _check_image_limits(
    program: LinkedProgram, images: dict[Stage, int], limits: Limits, log: LinkLog
) -> None:
    table = {
        Stage.VERTEX: limits.max_vertex_image_uniforms,
        Stage.TESS_CTRL: limits.max_tess_control_image_uniforms,
        Stage.TESS_EVAL: limits.max_tess_evaluation_image_uniforms,
        Stage.GEOMETRY: limits.max_geometry_image_uniforms,
        Stage.FRAGMENT: limits.max_fragment_image_uniforms,
        Stage.COMPUTE: limits.max_compute_image_uniforms,
    }
    for stage, count in images.items():
        if count > table.get(stage, count):
            log.error(f"the {stage.value} shader uses too many images: {count}")
    total = sum(images.values())
    if total > limits.max_combined_image_uniforms:
        log.error("the program uses too many images")
    outputs = len(program.frag_outputs)
    if total and total + outputs > limits.max_combined_image_units_and_fragment_outputs:
        log.error("the program uses too many images and fragment outputs together")


def _check_component_limits(program: LinkedProgram, limits: Limits, log: LinkLog) -> None:
    used: dict[Stage, int] = {}
    for u in program.uniforms:
        if u.block < 0 and not u.type.is_opaque:
            words = u.type.components * (u.array_size or 1) * (2 if u.type.bit_size == 64 else 1)
            for stage in u.stages:
                used[stage] = used.get(stage, 0) + words
    for stage, name in _COMPONENTS.items():
        limit = getattr(limits, name)
        if used.get(stage, 0) > limit:
            log.error(f"the {stage.value} shader uses {used[stage]} uniform components of {limit}")
