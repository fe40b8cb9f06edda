"""Filling triangles by machine code: from assembled vertices to pixels.

`fill` is asked by the shared rasterizer before it makes fragments of triangles. It says no wherever
there is no code for what is bound (shading per sample, stipple, side effects, a
format nobody wrote code for); the shared parts do it then, with the same result.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.multisample import MultisampleEngine
from gallette.drivers.common.raster.primitives import Batch, RasterContext
from gallette.drivers.common.raster.samples import SamplePattern
from gallette.drivers.common.texture.image import Image
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.threads import run_all, thread_count
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.codecs.srgb import encode_tables
from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState

from .calls import CallArea, answer
from .llvm.engine import compile_module
from .shader.layout import Record, TileWords, Words
from .shader.sampling import Description
from .shader.setup import TILE, setup_text
from .shader.tile_emit import TileCode, emit_tiles
from .shader.tile_keys import ColorKey, DepthKey, TileKey, can_store

if TYPE_CHECKING:
    from .program import BoundJit, JitProgram

__all__ = ["TileFunction", "fill"]

Array = npt.NDArray[Any]
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
_WORTH_THREADS = 1 << 15
"""Pixels of triangles' boxes from which on more than one thread is used."""


@dataclass(slots=True)
class TileFunction:
    """A compiled tile function."""

    key: TileKey
    code: TileCode
    call: Callable[[int], None]
    text: str


def fill(bound: BoundJit, engine: FragmentEngine, context: RasterContext, vertices: VertexSet,
         batch: Batch) -> bool:  # fmt: skip
    """Fill the triangles of a batch; False if that needs the shared parts."""
    if not _is_plain(bound, engine, context):
        return False
    several = engine if isinstance(engine, MultisampleEngine) else None
    every = 1 if several is None else several.pattern.every
    if engine.idle or not engine.state.sample_mask & every:
        return True
    key = _tile_key(bound, engine, context, vertices)
    if key is None:
        return False
    function = tile_function(bound.program, key, engine.shades)
    return _run(bound, function, engine, context, vertices, batch)


def _is_plain(bound: BoundJit, engine: FragmentEngine, context: RasterContext) -> bool:
    state = context.state
    facts = bound.program.facts
    if type(engine) is MultisampleEngine:
        if context.multisampled is None or engine.per_sample or facts.uses_sample_shading:
            return False
    elif type(engine) is not FragmentEngine or context.multisampled:
        return False
    return (
        state.fill_front is PolygonMode.FILL
        and state.fill_back is PolygonMode.FILL
        and not state.conservative
        and context.screen is None
        and not facts.has_side_effects
        and not facts.in_order
        and not facts.writes_stencil
        and not engine.state.tests.depth_bounds_test
    )


# -- keys ----------------------------------------------------------------------------------------


def _tile_key(
    bound: BoundJit, engine: FragmentEngine, context: RasterContext, vertices: VertexSet
) -> TileKey | None:
    """The key of what is bound; None if there is no code for it."""
    state = engine.state
    depth = _depth_key(engine)
    colors: list[ColorKey | None] = []
    for color in state.colors:
        if color is None or color.disabled or not engine.shades:
            colors.append(None)
            continue
        if not can_store(color.format) or (color.blends and color.state.rgb_func.is_advanced):
            return None
        colors.append(
            ColorKey(color.format, color.state, color.blends, color.logicop, color.kept_bits)
        )
    half, samples = 0.5 if context.state.half_pixel_center else 0.0, None
    coverage = opaque = False
    if isinstance(engine, MultisampleEngine):
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
        *_offset_key(context),
        coverage and engine.shades,
        opaque,
    )


def _offset_key(context: RasterContext) -> tuple[str, int]:
    state = context.state
    if not state.offset_tri:
        return "", 0
    kind = "float" if context.offset.is_float else "fixed"
    return kind, (state.offset_clamp > 0) - (state.offset_clamp < 0)


def _sample_places(pattern: SamplePattern) -> tuple[tuple[int, int], ...] | None:
    """Where samples are, in 1/256 pixel; None if they are between."""
    places = pattern.positions * 256
    whole = places.astype(np.int64)
    return tuple((int(x), int(y)) for x, y in whole) if (whole == places).all() else None


def _depth_key(engine: FragmentEngine) -> DepthKey | None:
    target, tests = engine.state.depth, engine.state.tests
    if target is None or not (engine.tests_depth or engine.tests_stencil):
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
        tests.depth_func if engine.tests_depth else None,
        tests.depth_writemask and engine.tests_depth,
        tests.stencil if engine.tests_stencil else None,
    )


def tile_function(program: JitProgram, key: TileKey, shades: bool) -> TileFunction:
    """The tile function of a program for a key, compiled when it is first asked for."""
    found = program.tiles.get((key, shades))
    if found is None:
        code = emit_tiles(program.shader if shades else None, key)
        compiled = compile_module(code.text, ("tiles",), program.cache)
        call = compiled.function("tiles", ctypes.c_void_p)
        found = program.tiles[key, shades] = TileFunction(key, code, call, code.text)
    return found


@functools.lru_cache(maxsize=64)
def _setup_functions(state: RasterizerState, sampled: bool, cache: Any) -> tuple[Any, Any]:
    text = setup_text(
        0.5 if state.half_pixel_center and not sampled else 0.0,
        bool(state.cull_face & CullFace.FRONT),
        bool(state.cull_face & CullFace.BACK),
        state.front_ccw,
        state.flatshade_first,
        state.bottom_edge_rule,
        sampled,
    )
    code = compile_module(text, ("setup", "bin"), cache)
    return code.function("setup", ctypes.c_void_p), code.function("bin", ctypes.c_void_p)


# -- running -------------------------------------------------------------------------------------


def _run(
    bound: BoundJit,
    function: TileFunction,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    batch: Batch,
) -> bool:
    target, count = context.target, len(batch.corners)
    if target.empty:
        return True
    keep: list[Any] = []
    block = bound.block_for(function.code.least, keep)
    across, down = -(-target.x1 // TILE), -(-target.y1 // TILE)
    window = np.ascontiguousarray(vertices.window)
    records = np.empty(count * Record.SIZE, np.int32)
    starts = np.zeros(across * down + 1, np.int32)
    corners = np.ascontiguousarray(batch.corners)
    provoking = np.ascontiguousarray(batch.provoking)
    identity = np.ascontiguousarray(batch.identity)
    counters = np.zeros(4, np.int64)
    for word, array in (
        (TileWords.WINDOW, window),
        (TileWords.RECORDS, records),
        (TileWords.STARTS, starts),
        (TileWords.CORNERS, corners),
        (TileWords.PROVOKING, provoking),
        (TileWords.IDENTITY, identity),
        (TileWords.RESULTS, counters),
    ):
        block[word] = array.ctypes.data
    block[TileWords.VERTICES] = window.shape[1]
    block[TileWords.ACROSS] = across
    block[TileWords.TILES] = across * down
    block[TileWords.TRIANGLES] = count
    block[TileWords.TARGET : TileWords.TARGET + 4] = (target.x0, target.y0, target.x1, target.y1)
    block[TileWords.NEXT] = counters.ctypes.data + 16
    sampled = isinstance(engine, MultisampleEngine)
    setup, bin = _setup_functions(_setup_state(context.state), sampled, bound.program.cache)
    setup(block.ctypes.data)
    if block[Words.STATUS]:
        return False  # larger than its numbers can be
    if not block[TileWords.TRIANGLES]:
        return True
    np.cumsum(starts, out=starts)
    items = np.empty(max(1, int(starts[-1])), np.int32)
    block[TileWords.ITEMS] = items.ctypes.data
    bin(block.ctypes.data)
    _describe_targets(block, engine)
    if function.key.offset:
        block[TileWords.OFFSET : TileWords.OFFSET + 2] = _offsets(context)
    describe_textures(block, bound.resources, bound.program.facts.textures, keep)
    for number, (slot, component) in enumerate(function.code.inputs):
        array = _by_vertex(vertices.component(slot, component), vertices.count)
        keep.append(array)
        block[Words.INPUTS + number] = array.ctypes.data
    pixels = _area(records, int(block[TileWords.TRIANGLES]))
    threads = thread_count() if pixels >= _WORTH_THREADS and across * down > 1 else 1
    _shade(bound, function, block, threads)
    engine.counters.samples_passed += int(counters[0])
    engine.counters.fs_invocations += int(counters[1])
    bound.resources.work.spend(FRAGMENT * int(counters[1]))
    return True


@functools.lru_cache(maxsize=256)
def _setup_state(state: RasterizerState) -> RasterizerState:
    """The part of the state that set-up depends on."""
    return RasterizerState(
        half_pixel_center=state.half_pixel_center,
        cull_face=state.cull_face,
        front_ccw=state.front_ccw,
        flatshade_first=state.flatshade_first,
        bottom_edge_rule=state.bottom_edge_rule,
    )


def _area(records: Array, count: int) -> int:
    """Pixels in the boxes of the first triangles: many small ones are as much work as a large."""
    table = records[: count * Record.SIZE].reshape(-1, Record.SIZE)
    table = table[: 1 << 12, Record.BOUNDS : Record.BOUNDS + 4].astype(np.int64)
    area = int(((table[:, 2] - table[:, 0]) * (table[:, 3] - table[:, 1])).sum())
    return area + 64 * count


def _by_vertex(value: Array, count: int) -> Array:
    """A varying as an array of 32-bit values by vertex."""
    if not value.ndim:
        value = np.full(count, value)
    value = np.ascontiguousarray(value)
    return value if value.dtype.itemsize == 4 else value.astype(np.float32)


def _offsets(context: RasterContext) -> Array:
    """What an offset is made of: units (or what they are worth), scale, limit."""
    state, offset = context.state, context.offset
    units = np.float32(state.offset_units)
    if not offset.is_float:
        units = np.float32(offset.unit) * units
    four = np.array((units, state.offset_scale, state.offset_clamp, 0), np.float32)
    return four.view(np.uint64)


def _describe_targets(block: Array, engine: FragmentEngine) -> None:
    state = engine.state
    if state.depth is not None:
        block[TileWords.DEPTH] = state.depth.depth_words.ctypes.data
        block[TileWords.DEPTH + 1] = state.depth.stride
        words = state.depth.depth_words
        block[TileWords.DEPTH_LAYER] = state.depth.plane * words.strides[0]
    block[TileWords.LAYERS] = state.layers
    if any(color is not None and color.format.is_srgb for color in state.colors):
        guesses, thresholds = encode_tables()
        block[TileWords.SRGB] = guesses.ctypes.data
        block[TileWords.SRGB + 1] = thresholds.ctypes.data
    for number, color in enumerate(state.colors):
        if color is not None:
            block[TileWords.COLORS + 2 * number] = color.texels.ctypes.data
            block[TileWords.COLORS + 2 * number + 1] = color.stride
            size = color.format.block_bytes
            block[TileWords.COLOR_LAYERS + number] = color.plane * size
            constant = np.asarray(color.constant, np.float32).view(np.uint64)
            block[TileWords.BLEND + 2 * number : TileWords.BLEND + 2 * number + 2] = constant
    if isinstance(engine, MultisampleEngine):
        block[TileWords.SAMPLES] = state.sample_mask & engine.pattern.every
        depths, colors = engine.apart
        block[TileWords.DEPTH_PLANE] = depths
        block[TileWords.COLOR_PLANES : TileWords.COLOR_PLANES + len(colors)] = colors
    block[TileWords.REFERENCES] = state.references[0] | state.references[1] << 32
    if state.depth_clamp is not None:
        block[TileWords.NEAR] = np.asarray(state.depth_clamp, np.float32).view(np.uint64)[0]


def describe_textures(
    block: Array, resources: ShaderResources, used: frozenset[int], keep: list[Any]
) -> None:
    """Say where the texels of each texture are, and where its tables."""
    for number in used:
        unit = resources.textures[number] if number < len(resources.textures) else None
        if not isinstance(unit, Unit):
            continue
        packed = unit.packed.image if unit.packed is not None else unit.image
        describe(block, Words.TEXTURES + number, unit.image, packed, keep)


def describe(block: Array, word: int, image: Image, packed: Image, keep: list[Any]) -> None:
    """Say where texels are (decoded and as bytes), and where the tables of their levels."""
    words = np.zeros(Description.SIZE, np.uint64)
    arrays = {
        Description.TEXELS: image.texels(),
        Description.PACKED: packed.texels(),
        Description.BASE: image.base,
        Description.WIDTH: image.width,
        Description.HEIGHT: image.height,
        Description.DEPTH: image.depth,
        Description.STRIDE: image.layer_stride,
        Description.PACKED_BASE: packed.base,
    }
    for at, array in arrays.items():
        words[at] = array.ctypes.data
    words[Description.LEVELS] = image.levels
    keep += [words, *arrays.values()]
    block[word] = words.ctypes.data


def _shade(bound: BoundJit, function: TileFunction, block: Array, threads: int) -> None:
    """Run the tiles; each thread has a block of its own."""
    failure: list[BaseException] = []
    blocks = [block.copy() for _ in range(threads)]
    keep: list[Any] = []
    if function.code.sites:
        for own in blocks:
            area = CallArea(function.code.w)
            callback = _callback(function.code, area, bound.resources, failure)
            keep += [area, callback]
            own[Words.CALL_AREA] = area.address
            own[Words.CALLBACK] = ctypes.cast(callback, ctypes.c_void_p).value or 0
    addresses = [int(own.ctypes.data) for own in blocks]
    if threads == 1:
        function.call(addresses[0])
    else:
        run_all([functools.partial(function.call, address) for address in addresses])
    if failure:
        raise failure[0]
    if any(own[Words.STATUS] for own in blocks):
        from .program import budget_error

        raise budget_error(bound.program.budget)


def _callback(
    code: TileCode, area: CallArea, resources: ShaderResources, failure: list[BaseException]
) -> Any:
    def call(number: int, base: int) -> None:
        try:
            with np.errstate(all="ignore"):
                answer(code.sites[number], area, None, resources, base, area.w)
        except BaseException as error:  # there is no way through compiled code
            failure.append(error)

    return _CALL(call)
