"""Selecting lanes of fragments: by program, by test results, by layer, without helpers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.program import HELD_TESTED, FragmentOutputs, ProgramFacts
from gallette.drivers.common.raster.fragments import Fragments, lanes_of_quads
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.pipe.enums import StencilOp
from gallette.pipe.state import DepthStencilAlphaState

from .fragment_state import FragmentShader, SeveralPrograms

__all__ = [
    "by_program",
    "cannot_change_tests",
    "exported_stencil",
    "lanes_left",
    "layers_of",
    "plain_lanes",
    "real_lanes",
    "screened",
    "tests_write",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def by_program(
    shader: FragmentShader, several: SeveralPrograms, lanes: Fragments, info: PrimitiveInfo
) -> Iterator[tuple[FragmentShader, Fragments]]:
    """The lanes of each program, reordered."""
    step = 1 if lanes.covered is None else 4
    which = several.which.take(info.identity).take(lanes.primitive[::step])
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(several.programs))).tolist()
    if step == 4:
        order = lanes_of_quads(order)
    if ends[which[0]] - (ends[which[0] - 1] if which[0] else 0) < len(which):
        lanes.become(order)
    all_ = zip(several.programs, several.begins, [0, *ends], ends, strict=False)
    for program, begin, start, end in all_:
        if start < end:
            begin()
            one = FragmentShader(program, shader.quads)
            yield one, lanes.take(slice(start * step, end * step))


def tests_write(tests: DepthStencilAlphaState, depth: bool, stencil: bool) -> bool:
    """Whether tests write values that later fragments of the pixel are tested against."""
    if depth and tests.depth_writemask:
        return True
    return stencil and any(
        face.enabled
        and face.writemask & 0xFF
        and not face.fail_op is face.zfail_op is face.zpass_op is StencilOp.KEEP
        for face in tests.stencil
    )


def layers_of(source: PlaneSource, layers: int, lanes: Fragments) -> Ints:
    """The layer of each lane's primitive; a layer that does not exist is replaced by the last."""
    value = np.asarray(source.flat(VaryingSlot.LAYER, 0)).reshape(-1).view(np.int32)
    layer = np.clip(value, 0, layers - 1).astype(np.int64)
    if len(layer) == 1:
        return np.broadcast_to(layer[0], lanes.count)
    return layer.take(lanes.primitive)


def exported_stencil(
    result: FragmentOutputs, count: int, which: Ints | None
) -> npt.NDArray[np.uint8] | None:
    """Stencil references that the shader wrote for some lanes; None if it wrote none."""
    written = result.outputs.get(FragResult.STENCIL)
    if written is None or written[0] is None:
        return None
    values = np.broadcast_to(written[0].view(np.int32), count).astype(np.uint8)
    return values if which is None else values[which]


def screened(lanes: Fragments, screen: Bools) -> Fragments:
    """The lanes that a stipple pattern lets through."""
    return lanes.keep(screen[lanes.y.astype(np.int64) & 31, lanes.x.astype(np.int64) & 31])


def cannot_change_tests(facts: ProgramFacts | None) -> bool:
    """Whether the shader neither affects which fragments pass nor depends on it (or requests early
    tests).

    A shader that writes memory depends on it: with late tests, failing fragments write, too.
    """
    if facts is None or facts.early_fragment_tests:
        return True
    return not (
        facts.uses_discard
        or facts.writes_depth
        or facts.writes_stencil
        or facts.writes_sample_mask
        or facts.has_side_effects
        or bool(facts.system_values & HELD_TESTED)
    )


def lanes_left(*masks: Bools | None) -> Ints | None:
    """The lanes that every mask allows; None for all."""
    left: Bools | None = None
    for mask in masks:
        if mask is not None:
            left = mask if left is None else left & mask
    return None if left is None or left.all() else np.flatnonzero(left)


def real_lanes(lanes: Fragments) -> tuple[Fragments, Ints | None]:
    """The lanes that are fragments, and their numbers if helpers were left out."""
    if lanes.covered is None:
        return lanes, None
    if lanes.covered.all():
        return Fragments(lanes.pixel, lanes.x, lanes.y, lanes.primitive), None
    where = np.flatnonzero(lanes.covered)
    return plain_lanes(lanes, where), where


def plain_lanes(lanes: Fragments, which: Ints) -> Fragments:
    primitive = lanes.primitive[:1] if lanes.of_one else lanes.primitive.take(which)
    return Fragments(
        lanes.pixel.take(which),
        lanes.x.take(which),
        lanes.y.take(which),
        np.broadcast_to(primitive, len(which)) if lanes.of_one else primitive,
    )
