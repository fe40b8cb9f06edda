"""Compiled shaders as programs of the shared draw code (`drivers.common.program`).

`compile_program` compiles the chunk function of a lowered shader; `JitProgram.bind` writes the
block of words it is called with, and each call passes arrays.
"""

from __future__ import annotations

import ctypes
import functools
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.disk_cache import DiskCache
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.text.lazy_shader import digest_of, reading
from gallette.drivers.common.draw.emissions import Expanded
from gallette.drivers.common.lanes import (
    ComputeLanes,
    ControlLanes,
    EvaluationLanes,
    FragmentLanes,
    GeometryLanes,
    ShaderResources,
    VertexLanes,
)
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.program import (
    BoundProgram,
    FragmentOutputs,
    InputUse,
    Outputs,
    ProgramFacts,
)
from gallette.drivers.common.raster.batch import Batch, RasterContext
from gallette.drivers.common.storage.images import ImageUnit
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.variants.disk_cache import Emitted, VariantDiskCache
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import GRANT
from gallette.pipe.enums import Primitive

from .blocks import bring_memory, describe, describe_textures
from .calls import CallArea, answering, clock_of, raise_failure
from .llvm.engine import Function, compile_module
from .rasterization import fill
from .shader.chunk import Input, is_strided, of_clip_plane
from .shader.chunk_emit import ChunkCode, emit_chunk, lanes_together
from .shader.chunk_stages import strips_of_rows
from .shader.images import image_unit_key
from .shader.layout import LONGEST_RANGE, Words
from .shader.texture_keys import Missing, UnitKey, texture_key
from .shader.tile_emit import TileCode, emit_tiles
from .shader.tile_keys import ImageUnitKey, TileKey
from .tile_functions import TileFunction

if TYPE_CHECKING:
    from gallette.drivers.common.draw.state import DrawState

    from .draw_plan import DrawPlan

Array = npt.NDArray[Any]
TextureKeys = tuple[UnitKey, ...]
UnitKeys = tuple[TextureKeys, tuple[ImageUnitKey | None, ...]]
_ZEROS = np.zeros(256, np.uint8)
_CHUNK = 1 << 14
_LANES = {  # their arrays take longer to pass
    Stage.VERTEX: 1 << 18,
    Stage.TESS_EVAL: 1 << 17,
    Stage.COMPUTE: 1 << 16,
}
_DTYPES = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}


def compile_program(
    shader: Shader,
    *,
    flat_colors: bool = False,
    cache: DiskCache | None = None,
    variants: VariantDiskCache | None = None,
) -> JitProgram:
    """Machine code for an optimised shader (which is not changed), compiled when it is first
    needed.
    """
    code = reading(shader)
    chunk = emit_chunk(code, flat_colors)
    return JitProgram(shader, chunk, _facts(code, chunk), lanes_together(code), cache, variants)


class JitProgram:
    """Implements `Program` of the shared draw code.

    `cache` is that of machine code, `variants` that of the text which machine code is made of.
    """

    def __init__(
        self,
        shader: Shader,
        chunk: ChunkCode,
        facts: ProgramFacts,
        together: int,
        cache: DiskCache | None,
        variants: VariantDiskCache | None,
    ) -> None:
        self.chunk = chunk
        self.name = shader.name
        self.facts = facts
        self.places = tuple(place for place, _ in chunk.outputs)
        self.code = chunk.text
        self.cache = cache
        self.tiles: dict[Any, TileFunction | None] = {}
        self._digest = digest_of(shader)
        self._shader = shader.shared_copy() or shader
        self._variants = variants
        self._together = together
        self._chunks: dict[tuple[UnitKeys, int], tuple[ChunkCode, Function]] = {}

    @property
    def vertices_out(self) -> int:
        """The most vertices that a geometry shader emits."""
        return self._shader.info.vertices_out

    @property
    def shader(self) -> Shader:
        """The lowered shader, for reading only."""
        return reading(self._shader)

    def pack(self) -> bytes:
        """What `unpack` makes a program of in another process."""
        return pickle.dumps((self.chunk, self.facts, self._together), pickle.HIGHEST_PROTOCOL)

    @classmethod
    def unpack(
        cls, data: bytes, shader: Shader, cache: DiskCache | None, variants: VariantDiskCache | None
    ) -> JitProgram:
        """A program that `pack` packed, and its shader."""
        chunk, facts, together = pickle.loads(data)
        return cls(shader, chunk, facts, together, cache, variants)

    def tile_code(self, key: TileKey, shades: bool) -> TileCode:
        """The module of a tile function."""

        def emit() -> TileCode:
            return emit_tiles(self.shader if shades else None, key)

        return self._emitted(f"tiles {shades} {key!r}", emit)

    @gc_paused
    def _emitted(self, what: str, emit: Callable[[], Emitted]) -> Emitted:
        """Code for a state, from the disk cache where it is there."""
        if self._variants is None or not self._digest:
            return emit()
        return self._variants.emitted(self._digest, what, emit)

    def chunk_function(
        self, units: UnitKeys, workgroup: tuple[int, ...] = ()
    ) -> tuple[ChunkCode, Function]:
        """The chunk function for the bound textures and images, compiled when needed.

        The launch gives the size of a workgroup, which the shader may leave open.
        """
        together = self._together
        if workgroup and workgroup != self._shader.info.workgroup_size:
            together = lanes_together(self.shader, workgroup)
        found = self._chunks.get((units, together))
        if found is None:
            chunk = self.chunk
            textures, images = units
            if any(textures) or any(images) or together != self._together:
                flat = chunk.flat_colors

                def emit() -> ChunkCode:
                    return emit_chunk(
                        self.shader, flat, textures=textures, images=images, together=together
                    )

                chunk = self._emitted(f"chunk {flat} {together} {units!r}", emit)
            found = self._chunks[units, together] = chunk, self._compiled(chunk)
        return found

    def begin(self) -> None:
        """Start compiling the code that draws will most likely need, in the background."""
        wants = self.facts.textures or self.chunk.facts["images"]
        if self.facts.stage != "fragment" and not wants:
            self._chunks[((), ()), self._together] = self.chunk, self._compiled(self.chunk)

    def _compiled(self, chunk: ChunkCode) -> Function:
        code = compile_module(chunk.text, ("main",), self.cache)
        return code.function("main", ctypes.c_void_p)

    def bind(self, resources: ShaderResources) -> BoundJit:
        """Bind the resources of a draw."""
        return BoundJit(self, resources)


def _facts(shader: Shader, chunk: ChunkCode) -> ProgramFacts:
    inputs: set[InputUse] = set()
    system: set[str] = set()
    for key in chunk.inputs:
        if isinstance(key.slot, int):
            mode = key.kind
            if mode == "smooth" and not key.perspective:
                mode = "noperspective"
            inputs.add(InputUse(key.slot, key.component, mode, key.where or "pixel"))
        elif key.kind in ("system", "scalar"):
            system.add(key.slot)
    found = chunk.facts
    return ProgramFacts.of(
        shader,
        inputs,
        [(slot, component) for (slot, component, _), _ in chunk.outputs],
        system,
        found["textures"],
        found["implicit"],
        derivatives=found["derivatives"],
        discards=chunk.discards,
        effects=chunk.effects,
        lanes=_LANES.get(shader.stage, _CHUNK),
    )


def static_block(resources: ShaderResources, least: dict[int, int], keep: list[Any]) -> Array:
    """The words that do not change while these resources are bound."""
    block = np.zeros(Words.SIZE, np.uint64)
    zeros = _ZEROS.ctypes.data
    block[Words.BUDGET] = min(GRANT, resources.work.limit)
    block[Words.CLOCK] = clock_of(resources.work).address
    block[Words.ZEROS] = zeros
    block[Words.CONSTANTS : Words.TEXTURES : 2] = zeros
    for number in range(min(16, max(len(resources.constants), max(least, default=-1) + 1))):
        given = resources.constants[number] if number < len(resources.constants) else None
        wanted = least.get(number, 0)
        if given is None and not wanted:
            continue
        data = given if given is not None else np.zeros(0, np.uint8)
        size = data.size
        if size < wanted:
            longer = np.zeros(wanted, np.uint8)
            longer[:size] = data
            data = longer
        keep.append(data)
        block[Words.CONSTANTS + 2 * number] = data.ctypes.data if data.size else zeros
        block[Words.CONSTANTS + 2 * number + 1] = min(size, LONGEST_RANGE)
    for number, buffer in enumerate(resources.buffers[:32]):
        if buffer is not None and buffer.size:
            keep.append(buffer)
            block[Words.BUFFERS + 2 * number] = buffer.ctypes.data
            block[Words.BUFFERS + 2 * number + 1] = min(buffer.size, LONGEST_RANGE)
    return block


def contiguous(value: Array, count: int, dtype: Any) -> Array:
    """A value by lane as adjacent elements of `dtype`'s size."""
    array = np.asarray(value)
    if array.dtype == np.bool_:
        array = array.astype(np.uint32)
    if not array.ndim:
        array = np.full(count, array)
    array = np.ascontiguousarray(array)
    return array if array.dtype.itemsize == np.dtype(dtype).itemsize else array.astype(dtype)


class BoundJit(BoundProgram):
    """A program with the resources of one draw."""

    def __init__(self, program: JitProgram, resources: ShaderResources) -> None:
        self.program = program
        self.resources = resources
        self._keep: list[Any] = []

    @functools.cached_property
    def _block(self) -> Array:
        """The words that the blocks of chunks begin with."""
        program = self.program
        return static_block(self.resources, program.chunk.least, self._keep)

    def fill(
        self,
        engine: FragmentEngine,
        context: RasterContext,
        vertices: VertexSet,
        batch: Batch,
        inside: bool,
    ) -> int:
        """Fill primitives, if there is a tile function for the bound state; returns how many of the
        first ones are done.
        """
        return fill(self, engine, context, vertices, batch, inside)

    def plan(self, draw: DrawState, mode: Primitive) -> DrawPlan | None:
        """The fast path of draws in a state; None if there is none."""
        from .draw_plan import make_plan

        return make_plan(draw, mode)

    @functools.cached_property
    def texture_keys(self) -> TextureKeys:
        """The keys of textures that sampling code can be compiled for."""
        used = self.program.facts.textures
        keys: list[UnitKey] = []
        textures = self.resources.textures
        for number in range(min(FIRST_HANDLE, len(textures), max(used, default=-1) + 1)):
            unit = textures[number] if number in used else None
            if isinstance(unit, Unit):
                keys.append(texture_key(unit))
            else:
                keys.append(Missing.UNBOUND if unit is None else Missing.NO_CODE)
        return tuple(keys)

    @functools.cached_property
    def image_keys(self) -> tuple[ImageUnitKey | None, ...]:
        """The keys of images that code can be compiled for."""
        named = self.program.chunk.facts["images"]
        units = self.resources.images
        return tuple(
            image_unit_key(unit)
            if number in named
            and number < len(units)
            and isinstance(unit := units[number], ImageUnit)
            else None
            for number in range(min(32, max(named, default=-1) + 1))
        )

    def _bound_images(self) -> list[tuple[int, ImageUnit]]:
        """The image units with compiled code, with their numbers."""
        units = self.resources.images
        return [
            (number, unit)
            for number, key in enumerate(self.image_keys)
            if key is not None and isinstance(unit := units[number], ImageUnit)
        ]

    def describe_images(self, block: Array, keep: list[Any]) -> None:
        """Write the addresses of images' texels into the block."""
        for number, unit in self._bound_images():
            describe(block, Words.IMAGES + number, unit.image, unit.image, keep)

    def touch_images(self) -> None:
        """Count the writes to images."""
        for _, unit in self._bound_images():
            if unit.view.writable:
                unit.resource.touch()

    def block_for(self, least: dict[int, int], keep: list[Any]) -> Array:
        """A block of words for a function that reads `least` bytes of each constant block."""
        block = static_block(self.resources, least, keep)
        block[Words.ALPHA_REF] = int(np.float32(self.resources.alpha_ref).view(np.uint32))
        return block

    # -- the stages ------------------------------------------------------------------------------

    def vertex(self, lanes: VertexLanes) -> Outputs:
        """Run one chunk of vertices."""
        return self._tables(self._run(lanes, lanes.count), 1)[0]

    def evaluate(self, lanes: EvaluationLanes) -> Outputs:
        """Run one chunk of tessellated vertices."""
        return self._tables(self._run(lanes, lanes.count), 1)[0]

    def control(self, lanes: ControlLanes) -> tuple[Outputs, Outputs]:
        """Run one chunk of control invocations: (per-vertex outputs, per-patch outputs)."""
        outputs, patches = self._tables(self._run(lanes, lanes.count), 2)
        size = self.program.chunk.step
        whole: Outputs = {
            slot: [None if v is None else np.ascontiguousarray(v[::size]) for v in row]
            for slot, row in patches.items()
        }
        return outputs, whole

    def compute(self, lanes: ComputeLanes) -> None:
        """Run whole workgroups."""
        self._run(lanes, lanes.count, lanes.shared, lanes.shared_size, workgroup=lanes.block)

    def fragment(self, lanes: FragmentLanes) -> FragmentOutputs:
        """Run one chunk of fragments."""
        arrays = self._run(lanes, lanes.count)
        outputs, dual = self._tables(arrays, 2)
        alive = arrays[-1].astype(np.bool_) if self.program.chunk.discards else None
        return FragmentOutputs(outputs, alive, dual)

    def strips(self, lanes: GeometryLanes) -> dict[int, Expanded]:
        """Run all primitives."""
        count = lanes.count
        shape = max(1, self.program.vertices_out) + 1, count
        rows: list[Array] = [np.zeros(count, np.int32), np.zeros(shape, np.uint8)]
        rows.append(np.zeros(shape, np.uint8))
        rows += [np.zeros(shape, _DTYPES[t]) for _, t in self.program.chunk.outputs]
        self._run(lanes, count, outputs=rows)
        return strips_of_rows(rows, self.program.places)

    # -- calling ---------------------------------------------------------------------------------

    def _tables(self, arrays: list[Array], tables: int) -> list[Outputs]:
        found: list[Outputs] = [{} for _ in range(tables)]
        for ((slot, component, table), _), array in zip(
            self.program.chunk.outputs, arrays, strict=False
        ):
            row = found[table].setdefault(slot, [None] * 4)
            row[component] = array.view(f"f{array.dtype.itemsize}")
        return found

    def _run(
        self,
        lanes: Any,
        count: int,
        shared: Array | None = None,
        shared_size: int = 0,
        outputs: list[Array] | None = None,
        workgroup: tuple[int, ...] = (),
    ) -> list[Array]:
        textures, images = self.texture_keys, self.image_keys
        chunk, function = self.program.chunk_function((textures, images), workgroup)
        block = np.zeros(Words.block_size(len(chunk.inputs)), np.uint64)
        block[: Words.SIZE] = self._block
        keep: list[Any] = []
        if any(textures):
            describe_textures(block, self.resources, self.program.facts.textures, keep)
        self.describe_images(block, keep)
        for number, key in enumerate(chunk.inputs):
            if is_strided(key):
                array = _column(lanes, key, keep)
            else:
                dtype = np.uint64 if key.bits == 64 else np.uint32
                array = contiguous(_lane_values(lanes, self.resources, key), count, dtype)
            keep.append(array)
            block[Words.INPUTS + number] = array.ctypes.data
        if outputs is None:
            outputs = [np.empty(count, _DTYPES[t]) for _, t in chunk.outputs]
            if chunk.discards:
                outputs.append(np.empty(count, np.uint8))
        for number, array in enumerate(outputs):
            block[Words.OUTPUTS + number] = array.ctypes.data
        block[Words.COUNT] = count
        if shared is not None and shared.size:
            block[Words.SHARED] = shared.ctypes.data
            block[Words.SHARED_SIZE] = shared_size
        bring_memory(block, chunk.memory, keep)
        failures = clock_of(self.resources.work).failures
        if chunk.sites:
            area = CallArea(chunk.w)
            callback = answering(chunk.sites, area, lanes, self.resources, count, failures)
            keep.append(callback)
            block[Words.CALL_AREA] = area.address
            block[Words.CALLBACK] = callback.address
        function(block.ctypes.data)
        if chunk.effects:
            self.touch_images()
        raise_failure(failures)
        return outputs


def _column(lanes: Any, key: Input, keep: list[Any]) -> Array:
    """The `Column` of an attribute's component: in the vertex buffer itself, if possible."""
    find = getattr(lanes, "column", None)
    column = None if find is None else find(key.slot, key.component)
    if column is not None:
        address, stride, limit, rows = column
        keep.append(rows)
        where = 0 if rows is None else rows.ctypes.data
        return np.array((address, stride, limit, where), np.uint64)
    value = np.asarray(lanes.attribute(key.slot, key.component))
    if value.dtype.itemsize != 4:
        value = value.astype(np.uint32)
    stride, limit = (4, value.size) if value.ndim else (0, (1 << 31) - 1)
    value = np.ascontiguousarray(value)  # which turns a number into an array of one element
    keep.append(value)
    return np.array((value.ctypes.data, stride, limit, 0), np.uint64)


def _lane_values(lanes: Any, resources: ShaderResources, key: Input) -> Array:
    """The values of an input, computed by the lanes."""
    kind, slot = key.kind, key.slot
    if kind == "attribute":
        value = lanes.attribute64(slot, key.component)
    elif kind == "flat":
        value = lanes.flat(slot, key.component)
    elif kind == "patch":
        value = lanes.patch(slot, key.component)
    elif kind == "smooth":
        where = key.where if key.where != "at" else "pixel"
        value = lanes.smooth(slot, key.component, where=where, perspective=key.perspective)
    elif kind == "corner":
        value = lanes.corner(slot, key.component, key.corner)
    elif kind == "own_corner":
        value = lanes.corner_at(slot, key.component, lanes.system("invocation_id"), None)
    elif kind == "plane":
        value = of_clip_plane(key, resources.clip_planes)
    elif slot == "alpha_ref":
        value = np.float32(resources.alpha_ref)
    elif slot == "helper":
        value = lanes.helper if lanes.helper is not None else np.zeros((), np.uint32)
    else:
        several = lanes_take_components(lanes)
        value = lanes.system(slot, key.component) if several else lanes.system(slot)
    return np.asarray(value)


def lanes_take_components(lanes: Any) -> bool:
    """Whether lanes have system values with several components: fragments, domain points,
    workgroups.
    """
    return hasattr(lanes, "smooth") or hasattr(lanes, "patch") or hasattr(lanes, "shared")
