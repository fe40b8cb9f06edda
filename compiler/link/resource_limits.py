"""Checks limits of resources, per stage and for the whole program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkedProgram
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import GL_NAMES

# The limit of a stage (with the section of OpenGL 4.6) and its error; that of a program, and its.
_TEXTURES = (
    *("max_{}_texture_image_units", "the {stage} shader uses too many samplers: {count}"),  # 7.10
    *("max_combined_texture_image_units", "the program uses too many samplers"),
)
_IMAGES = (
    *("max_{}_image_uniforms", "the {stage} shader uses too many images: {count}"),  # 7.11
    *("max_combined_image_uniforms", "the program uses too many images"),
)
_COUNTERS = (
    *("max_{}_atomic_counters", "too many atomic counters in the {stage} shader"),  # 7.7
    *("max_combined_atomic_counters", "too many atomic counters in the program"),
)
_COUNTER_BUFFERS = (
    *("max_{}_atomic_counter_buffers", "too many atomic counter buffers in the {stage} shader"),
    *("max_combined_atomic_counter_buffers", "too many atomic counter buffers in the program"),
)
_COMPONENTS = (
    "max_{}_uniform_components",  # 7.6
    "the {stage} shader uses {count} uniform components of {limit}",
    *("", ""),
)


def check_limits(
    program: LinkedProgram,
    textures: dict[Stage, int],
    images: dict[Stage, int],
    limits: Limits,
    log: LinkLog,
) -> None:
    """`textures` and `images` are the number of units each stage uses."""
    if not program.uniforms:
        return
    for used, (own, message, combined, of_program) in _uses(program, textures, images):
        for stage, count in used.items():
            name = own.format(GL_NAMES[stage].lower()).replace("fragment_texture", "texture")
            limit = getattr(limits, name)
            if count > limit:
                log.error(message.format(stage=stage.value, count=count, limit=limit))
        if combined and sum(used.values()) > getattr(limits, combined):
            log.error(of_program)
    total = sum(images.values())
    most = limits.max_combined_image_units_and_fragment_outputs
    if total and total + len(program.frag_outputs) > most:
        log.error("the program uses too many images and fragment outputs together")


def _uses(
    program: LinkedProgram, textures: dict[Stage, int], images: dict[Stage, int]
) -> Iterator[tuple[dict[Stage, int], tuple[str, str, str, str]]]:
    """How many of each resource the stages use, with the row of the table for it."""
    if any(textures.values()):
        yield textures, _TEXTURES
    if any(images.values()):
        yield images, _IMAGES
    components: dict[Stage, int] = {}
    counters: dict[Stage, int] = {}
    buffers: dict[Stage, int] = {}
    for u in program.uniforms:
        if u.atomic_buffer >= 0:
            _count(counters, u.stages, max(1, u.array_size))
        elif u.block < 0 and not u.type.is_opaque:
            words = u.type.components * (2 if u.type.bit_size == 64 else 1)
            _count(components, u.stages, words * (u.array_size or 1))
    for buffer in program.atomic_buffers:
        _count(buffers, buffer.stages, 1)
    yield counters, _COUNTERS
    yield buffers, _COUNTER_BUFFERS
    yield components, _COMPONENTS


def _count(used: dict[Stage, int], stages: Iterable[Stage], number: int) -> None:
    for stage in stages:
        used[stage] = used.get(stage, 0) + number
