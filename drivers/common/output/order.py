"""Order and visibility: which fragments of a batch share a pixel, and which one is visible.

Fragments come in drawing order. Where that order can be observed (blending, stencil), `layers`
assigns them to layers with at most one fragment per pixel, each pixel's fragments in order. Where
it cannot, `visible` finds the one fragment per pixel whose colour remains.

Both use a scratch array with one entry per pixel that is never cleared: a fragment writes its
number to its pixel and reads the entry back, which then holds the number of the pixel's last
fragment.

The other functions select lanes: by program, by test results, by layer, without helpers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.program import HELD_TESTED, FragmentOutputs, ProgramFacts
from gallette.drivers.common.raster.fragments import Fragments, lanes_of_quads
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.vertex.masks import counted, every, where
from gallette.pipe.enums import CompareFunc
from gallette.pipe.state import DepthStencilAlphaState

from .depth import DepthTarget, compare, updates_stencil
from .fragment_state import FragmentShader, SeveralPrograms

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Who = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

OPAQUE_FUNCS = frozenset(CompareFunc) - {CompareFunc.NOTEQUAL}
"""Depth functions for which the surviving fragment can be found without testing one by one."""

_PEELS = 6  # layers found one by one before sorting pays


class Scratch:
    """Scratch arrays, grown as needed and never cleared."""

    __slots__ = ("_owner", "_who", "own")

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}  # memory of a driver's compiled code
        self._who: Who = np.zeros(0, np.int32)
        self._owner: npt.NDArray[np.int32] = np.zeros(0, np.int32)

    def owners(self, pixels: int) -> npt.NDArray[np.int32]:
        """An array of zeros, a primitive number per pixel; the caller zeroes it again after use."""
        if len(self._owner) < pixels:
            self._owner = np.zeros(pixels, np.int32)
        return self._owner[:pixels]

    def at_least(self, pixels: int) -> Who:
        if len(self._who) < pixels:
            self._who = np.zeros(pixels, np.int32)
        return self._who


def layers(pixel: Ints, who: Who) -> Iterator[Ints | None]:
    """Fragment numbers layer by layer; a single None if all pixels are distinct.

    The last layer is found first: it has the last fragment of each pixel. (NumPy selects several
    times faster with `compress` and `take` than by indexing with a mask or with 32-bit numbers.)
    """
    remaining, at = counted(len(pixel), np.int32), pixel
    found: list[Ints] = []
    for _ in range(_PEELS):
        who[at] = remaining
        last = who.take(at) == remaining
        if every(last):
            if not found:
                yield None
                return
            found.append(remaining.astype(np.int64))
            break
        found.append(remaining.compress(last).astype(np.int64))
        rest = where(np.logical_not(last, out=last))
        remaining, at = remaining.take(rest), at.take(rest)
    else:
        yield from _sorted_layers(remaining, at)
    yield from reversed(found)


def _sorted_layers(remaining: Who, at: Ints) -> Iterator[Ints]:
    """Layers by sorting: a fragment's layer is its rank among the fragments of its pixel."""
    order = np.argsort((at & 0xFFFF).astype(np.uint16), kind="stable")
    high = at >> 16
    if int(high.max()) != int(high.min()):
        order = order[np.argsort(high[order].astype(np.uint16), kind="stable")]
    at = at[order]
    begins = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
    sizes = np.diff(np.concatenate((begins, [len(at)])))
    rank = np.arange(len(at)) - np.repeat(begins, sizes)
    by_rank = np.argsort(rank, kind="stable")
    bounds = np.cumsum(np.bincount(rank))
    numbers = remaining.take(order.take(by_rank)).astype(np.int64)
    for start, stop in zip(np.concatenate(([0], bounds[:-1])), bounds, strict=True):
        yield numbers[start:stop]


def visible(
    pixel: Ints,
    codes: npt.NDArray[np.uint32] | None,
    depth: DepthTarget | None,
    state: DepthStencilAlphaState,
    who: Who,
    ties: Bools | None = None,
) -> Bools | None:
    """Which fragments' colours survive, updating the depth buffer as if all had been drawn; None
    for all.

    `ties` says, where depth is written, which of them win against an equal depth (None: as the test
    says).
    """
    order = counted(len(pixel), np.int32)
    if depth is None or codes is None or not state.depth_enabled:
        who[pixel] = order
        return np.asarray(who.take(pixel) == order)
    func = state.depth_func
    writes = state.depth_writemask
    if func is CompareFunc.ALWAYS:
        who[pixel] = order
        last = np.asarray(who.take(pixel) == order)
        if writes:
            depth.store(pixel.compress(last), codes.compress(last))
        return last
    passing = _passing(codes, depth.load(pixel), func, ties)
    everyone = every(passing)
    chosen = order if everyone else order.compress(passing)
    if not everyone:
        pixel, codes = pixel.take(chosen), codes.take(chosen)
    who[pixel] = chosen
    last = np.asarray(who.take(pixel) == chosen)
    if every(last):
        if writes:
            depth.store(pixel, codes)
        return passing
    if not writes or func is CompareFunc.EQUAL:
        passing[chosen.compress(~last)] = False
        return passing
    depth.store_extreme(pixel, codes, func in (CompareFunc.LESS, CompareFunc.LEQUAL))
    best = where(codes == depth.load(pixel))
    chosen, pixel = chosen.take(best), pixel.take(best)
    if func in (CompareFunc.LESS, CompareFunc.GREATER):
        who[pixel[::-1]] = chosen[::-1]
    else:
        who[pixel] = chosen
    passing[:] = False
    passing[chosen.compress(who.take(pixel) == chosen)] = True
    return passing


def _passing(codes: Array, held: Array, func: CompareFunc, ties: Bools | None) -> Bools:
    """Which lanes pass the depth test."""
    if ties is None:
        return np.asarray(compare(func, codes, held))
    passing = np.asarray(compare(_STRICT[func], codes, held))
    passing |= (codes == held) & ties
    return passing


_STRICT = {
    CompareFunc.LESS: CompareFunc.LESS,
    CompareFunc.LEQUAL: CompareFunc.LESS,
    CompareFunc.GREATER: CompareFunc.GREATER,
    CompareFunc.GEQUAL: CompareFunc.GREATER,
}


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
    return stencil and any(map(updates_stencil, tests.stencil))


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
