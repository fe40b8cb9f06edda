"""Tile functions: which one a draw needs, and running it for tiles, in several threads if need be.

There is none for some bound states (stipple, some formats); the shared code draws these, with the
same result.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.fixed.depth import DepthKey, without_masks
from gallette.drivers.common.fixed.output import ColorKey
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.multisample import MultisampleEngine
from gallette.drivers.common.output.smooth import SmoothEngine
from gallette.drivers.common.raster.batch import RasterContext
from gallette.drivers.common.raster.lines import CENTER
from gallette.drivers.common.raster.samples import SamplePattern
from gallette.drivers.common.threads import run_all
from gallette.drivers.common.vertex.vertices import VertexSet

from .blocks import bring_memory
from .calls import CallArea, answering, clock, raise_failure
from .llvm.engine import Function, compile_module
from .llvm.stack import LIMIT, frame_bytes
from .shader.layout import Words
from .shader.tile_emit import TileCode
from .shader.tile_keys import TRIANGLES, Kind, TileKey, can_store

if TYPE_CHECKING:
    from .program import BoundJit, JitProgram

Array = npt.NDArray[Any]
_MOST_DERIVED = 64


@lazy_dataclass()
class TileFunction:
    """A compiled tile function."""

    key: TileKey
    code: TileCode
    call: Function
    text: str


def touches_nothing(engine: FragmentEngine) -> bool:
    """Whether the draw can write no attachment."""
    several = engine if isinstance(engine, MultisampleEngine) else None
    every = 1 if several is None else several.pattern.every
    return engine.idle or not engine.state.sample_mask & every


def tile_function_for(
    bound: BoundJit,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    corners: int,
) -> TileFunction | None:
    """The tile function of primitives with so many corners for the bound state; None if the draw
    needs the shared code.
    """
    kind = _kind(corners, engine, context)
    layered = VaryingSlot.LAYER in vertices.varyings
    what = bound.program, id(context), bound.texture_keys, bound.image_keys, layered, kind
    found = engine.derived.get(what)
    if found is None:
        function = None
        if has_code(bound, engine, context, corners):
            key = _tile_key(bound, engine, context, vertices, kind)
            function = None if key is None else tile_function(bound.program, key, engine.shades)
        if len(engine.derived) >= _MOST_DERIVED:
            engine.derived.clear()
        found = engine.derived[what] = function, context  # which so keeps its number
    return found[0]


def has_code(bound: BoundJit, engine: FragmentEngine, context: RasterContext, corners: int) -> bool:
    """Whether primitives with so many corners are filled, and their fragments shaded and stored,
    without what only the shared parts can do.
    """
    facts = bound.program.facts
    if corners == 3 and (context.screen is not None or not context.fills):
        return False
    if type(engine) is MultisampleEngine:
        if context.multisampled is None:
            return False
    elif type(engine) not in (FragmentEngine, SmoothEngine) or context.multisampled:
        return False
    return (
        not context.state.conservative
        and not facts.in_order
        and not facts.writes_stencil
        and not engine.state.tests.depth_bounds_test
    )


# -- keys ----------------------------------------------------------------------------------------


def _tile_key(
    bound: BoundJit,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    kind: Kind,
) -> TileKey | None:
    """The key of the bound state; None if there is no code for it."""
    state = engine.state
    depth = _depth_key(engine)
    colors: list[ColorKey | None] = []
    for color in state.colors:
        if color is None or color.key.mask == 0 or not engine.shades:
            colors.append(None)
            continue
        if not can_store(color.format):
            return None
        colors.append(color.key)
    half, samples = 0.5 if context.state.half_pixel_center and not kind.smooth else 0.0, None
    coverage = opaque = per_sample = False
    if isinstance(engine, MultisampleEngine):
        per_sample = engine.per_sample
        half, samples = 0.0, _sample_places(engine.pattern)
        if samples is None:
            return None
        coverage, opaque = engine.alpha_to_coverage, engine.alpha_to_one
    return TileKey(
        tuple(colors),
        depth,
        engine.tests_first,
        state.counting,
        half,
        state.depth_clamp is not None,
        bound.program.chunk.flat_colors,
        bound.texture_keys if engine.shades else (),
        samples or (),
        VaryingSlot.LAYER in vertices.varyings,
        VaryingSlot.LAYER in vertices.varyings and state.layers > 1,
        *(_offset_key(context) if kind.corners == 3 else ("", 0)),
        coverage and engine.shades,
        opaque,
        bound.image_keys if engine.shades else (),
        per_sample and engine.shades,
        engine.shades and bound.program.facts.has_side_effects,
        kind,
    )


def _offset_key(context: RasterContext) -> tuple[str, int]:
    state = context.state
    if not state.offset_tri:
        return "", 0
    kind = "float" if context.offset.is_float else "fixed"
    return kind, (state.offset_clamp > 0) - (state.offset_clamp < 0)


def _kind(corners: int, engine: FragmentEngine, context: RasterContext) -> Kind:
    """The kind of primitives with so many corners."""
    state = context.state
    if corners == 3:
        smooth = type(engine) is SmoothEngine and state.poly_smooth
        return Kind(3, _smooth_places(context.smooth)) if smooth else TRIANGLES
    smooth = state.line_smooth if corners == 2 else state.point_smooth
    pattern = context.pattern(smooth)
    counted = None if pattern is context.multisampled else pattern
    if corners == 2:
        return Kind(2, _smooth_places(counted and CENTER))
    round = bool(pattern) and state.point_smooth and not state.multisample
    return Kind(1, _smooth_places(counted), state.sprite_coord_upper_left, round)


def _smooth_places(smooth: SamplePattern | None) -> tuple[tuple[int, int], ...]:
    """The samples with which the coverage of smooth primitives is counted."""
    return () if smooth is None else _sample_places(smooth) or ()


def _sample_places(pattern: SamplePattern) -> tuple[tuple[int, int], ...] | None:
    """The positions of samples, in 1/256 pixel; None if they are not multiples of that."""
    places = pattern.positions * 256
    whole = places.astype(np.int64)
    return tuple((int(x), int(y)) for x, y in whole) if (whole == places).all() else None


def _depth_key(engine: FragmentEngine) -> DepthKey | None:
    target, tests = engine.state.depth, engine.state.tests
    if target is None or not (engine.tests.depth or engine.tests.stencil):
        return None
    depth, stencil = target.channels
    words = target.depth_words
    word = words.dtype.itemsize * 8
    step = word
    stencil_shift = stencil.shift if stencil is not None else 0
    if words.strides[0] == 8 and word == 32:  # depth in one word, stencil in the next
        word = step = 64
        stencil_shift = 32
    return DepthKey(
        word,
        step,
        depth.bits if depth is not None else 0,
        depth.shift if depth is not None else 0,
        target.is_float,
        stencil_shift,
        tests.depth_func if engine.tests.depth else None,
        tests.depth_writemask and engine.tests.depth,
        (without_masks(tests.stencil[0]), without_masks(tests.stencil[1]))
        if engine.tests.stencil
        else None,
    )


def tile_function(program: JitProgram, key: TileKey, shades: bool) -> TileFunction | None:
    """The tile function of a program for a key, compiled on first use.

    None if its stack frame is too large: the shared code then calls the program's chunk function,
    which may run in a thread with a larger stack.
    """
    if (key, shades) not in program.tiles:
        code, found = program.tile_code(key, shades), None
        if frame_bytes(code.text) <= LIMIT:
            compiled = compile_module(code.text, ("tiles",), program.cache)
            call = compiled.function("tiles", ctypes.c_void_p)
            found = TileFunction(key, code, call, code.text)
        program.tiles[key, shades] = found
    return program.tiles[key, shades]


# -- running -------------------------------------------------------------------------------------


def shade(bound: BoundJit, function: TileFunction, block: Array, threads: int) -> None:
    """Run the tiles; each thread has its own block."""
    blocks = [block.copy() for _ in range(threads)]
    keep: list[Any] = []
    failures: list[BaseException] = []
    for own in blocks:
        listen(bound, function, own, failures, keep)
    run_threads(function.call, blocks, failures)


def run_threads(
    function: Callable[[int], None], blocks: Sequence[Array], failures: list[BaseException]
) -> None:
    """Call a function with each of these blocks, in a thread each; raises the exceptions that
    callbacks stored.
    """
    jobs = [functools.partial(function, int(own.ctypes.data)) for own in blocks]
    if len(jobs) == 1:
        jobs[0]()
    else:
        run_all(jobs, failures.append)
    raise_failure(failures)


def listen(
    bound: BoundJit,
    function: TileFunction,
    block: Array,
    failures: list[BaseException],
    keep: list[Any],
) -> None:
    """Install the callbacks and the memory of a block: code called with it in a thread can request
    more work units and Python's help.
    """
    bring_memory(block, function.code.memory, keep)
    own = clock(bound.resources.work, failures)
    keep.append(own)
    block[Words.CLOCK] = own.address
    if function.code.sites:
        area = CallArea(function.code.w)
        sites = answering(function.code.sites, area, None, bound.resources, area.w, failures)
        keep += [area, sites]
        block[Words.CALL_AREA] = area.address
        block[Words.CALLBACK] = sites.address
