"""The blocks of words passed to tile functions: targets, textures, triangles and their lists.

`begin_block` makes a draw's block for set-up and binning, and `complete_block` adds what only
shading needs.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.drivers.common.fixed.depth import mask_word
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.multisample import MultisampleEngine
from gallette.drivers.common.raster.batch import RasterContext
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.texture.image import Image
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import CullFace
from gallette.pipe.state import RasterizerState

from .llvm.engine import Function, compile_module
from .shader.layout import Record, TileWords, Words
from .shader.setup import TILE, SetupKey, setup_text
from .shader.texture_keys import Description
from .shader.tile_keys import TileKey

if TYPE_CHECKING:
    from .program import BoundJit
    from .tile_functions import TileFunction

Array = npt.NDArray[Any]
_ALIGNED = 64  # bytes
WORTH_THREADS = 1 << 16
"""Pixels of triangles' boxes from which on more than one thread is used: to wake another costs
about as much as shading half of them.
"""


def bring_memory(block: Array, size: int, keep: list[Any]) -> None:
    """Provide the memory for a call's local variables, zeroed."""
    if size:
        memory = np.zeros(size + _ALIGNED, np.uint8)
        keep.append(memory)
        block[Words.LOCALS] = memory.ctypes.data + -memory.ctypes.data % _ALIGNED


def grid(target: Rect) -> tuple[int, int]:
    """How many tiles there are beside one another, and rows of them."""
    return -(-target.x1 // TILE), -(-target.y1 // TILE)


def begin_block(
    bound: BoundJit,
    function: TileFunction,
    context: RasterContext,
    vertices: VertexSet,
    keep: list[Any],
) -> Array:
    """The part of a draw's block that set-up reads."""
    block = bound.block_for(function.code.least, keep)
    window = np.ascontiguousarray(vertices.window)
    keep.append(window)
    target = context.target
    block[TileWords.WINDOW] = window.ctypes.data
    block[TileWords.VERTICES] = window.shape[1]
    block[TileWords.TARGET : TileWords.TARGET + 4] = (target.x0, target.y0, target.x1, target.y1)
    return block


def complete_block(
    bound: BoundJit,
    function: TileFunction,
    block: Array,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    keep: list[Any],
) -> None:
    """Add the addresses of everything that shading reads and writes."""
    _describe_targets(block, engine)
    if function.key.offset:
        block[TileWords.OFFSET : TileWords.OFFSET + 2] = _offsets(context)
    describe_textures(block, bound.resources, bound.program.facts.textures, keep)
    if function.key.images:
        bound.describe_images(block, keep)
    for number, (slot, component) in enumerate(function.code.inputs):
        array = _by_vertex(vertices.component(slot, component), vertices.count)
        keep.append(array)
        block[Words.INPUTS + number] = array.ctypes.data


class SetupFunctions(NamedTuple):
    """The functions of `shader.setup`."""

    set_up: Function
    fill_lists: Function


def setup_functions(
    key: TileKey, state: RasterizerState, sized: bool, cache: Any
) -> SetupFunctions:
    """The set-up functions of a tile function's primitives; `sized`: vertices of points have
    sizes.
    """
    corners = key.kind.corners
    shared = corners, key.half, state.bottom_edge_rule, bool(key.places)
    if corners == 3:
        cull_front, cull_back = (
            bool(state.cull_face & face) for face in (CullFace.FRONT, CullFace.BACK)
        )
        own = SetupKey(*shared, state.flatshade_first, state.front_ccw, cull_front, cull_back)
    elif corners == 2:
        own = SetupKey(*shared, smooth=bool(key.kind.smooth))
    else:
        own = SetupKey(*shared, squares=state.point_quad_rasterization, sized=sized)
    return _setup_functions(own, cache)


def begin_setup(cache: Any) -> None:
    """Start compiling the setup functions of most draws in the background."""
    _setup_functions(SetupKey(), cache)


@functools.lru_cache(maxsize=64)
def _setup_functions(key: SetupKey, cache: Any) -> SetupFunctions:
    names = "setup", "bin"
    code = compile_module(setup_text(key), names, cache)
    return SetupFunctions(*(code.function(name, ctypes.c_void_p) for name in names))


def area(records: Array) -> int:
    """Pixels in the boxes of triangles: many small ones are as much work as a large one."""
    table = records[: 1 << 12, Record.BOUNDS : Record.BOUNDS + 4].astype(np.int64)
    area = int(((table[:, 2] - table[:, 0]) * (table[:, 3] - table[:, 1])).sum())
    return area + 64 * len(records)


def _by_vertex(value: Array, count: int) -> Array:
    """A varying as an array of 32-bit values by vertex."""
    if not value.ndim:
        value = np.full(count, value)
    value = np.ascontiguousarray(value)
    return value if value.dtype.itemsize == 4 else value.astype(np.float32)


def _offsets(context: RasterContext) -> Array:
    """The parameters of a depth offset: units (or their size), scale, limit."""
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
    front, back = (
        reference & 0xFF | mask_word(face)
        for reference, face in zip(state.references, state.tests.stencil, strict=True)
    )
    block[TileWords.FACES] = front | back << 32
    if state.depth_clamp is not None:
        block[TileWords.NEAR] = np.asarray(state.depth_clamp, np.float32).view(np.uint64)[0]


def describe_textures(
    block: Array, resources: ShaderResources, used: frozenset[int], keep: list[Any]
) -> None:
    """Write the addresses of each texture's texels and tables."""
    for number in used:
        if number >= FIRST_HANDLE:  # those are asked for by calls
            continue
        unit = resources.textures[number] if number < len(resources.textures) else None
        if not isinstance(unit, Unit):
            continue
        describe(block, Words.TEXTURES + number, unit.image, _packed(unit), keep, unit)


def texels_of(unit: Unit) -> tuple[Array, Array]:
    """The texels of a texture, decoded and as bytes; converted again once the copies are stale."""
    return unit.image.texels(), _packed(unit).texels()


def _packed(unit: Unit) -> Image:
    return unit.packed.image if unit.packed is not None else unit.image


def describe(
    block: Array,
    word: int,
    image: Image,
    packed: Image,
    keep: list[Any],
    unit: Unit | None = None,
) -> None:
    """Write the addresses of texels (decoded and as bytes) and of the tables of their levels, and
    the parameters of the sampler, if a unit has one.
    """
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
    if unit is not None:
        numbers, sampler, floats = words.view(np.float32), unit.sampler, unit.floats
        lods = (sampler.lod_bias, sampler.min_lod, sampler.max_lod)
        numbers[2 * Description.LODS : 2 * Description.LODS + 3] = lods
        bits = words.view(np.uint32)
        borders = [(Description.BORDER, floats.border)]
        if unit.how.compare is not None:
            borders.append((Description.BORDER_DEPTH, floats.border_depth))
        for at, border in borders:
            for i, component in enumerate(border):
                bits[2 * at + i] = np.asarray(component).reshape(1).view(np.uint32)[0]
    keep += [words, *arrays.values()]
    block[word] = words.ctypes.data
