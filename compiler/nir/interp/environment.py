"""The inputs and resources of a shader in the reference interpreter.

`Environment` provides inputs, system values, buffers and textures, for all lanes at once. By
default everything is pseudo-random but reproducible: the same request gets the same value in every
run, whatever form the shader is in, so a shader can be run before and after a pass and the results
compared. Override a dictionary or a method to provide other values.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.compiler.nir.ir.texops import TEX_OPS

Array: TypeAlias = npt.NDArray[Any]

_LANE_NUMBERS = frozenset({"vertex_id", "subgroup_invocation", "local_invocation_index"})
# The weight of a texture operation's source in its result; all are different.
_MIXED = (("comparator", 3.0), ("bias", 0.5), ("lod", 0.75), ("min_lod", 1.6), ("ms_index", 2.0))
_OP_NUMBERS = {op: number for number, op in enumerate(TEX_OPS, 1)}


class Environment:
    """Inputs and resources of one run over `lanes` invocations.

    `inputs` maps (slot, component) to raw bits or floats per lane, `system_values` a name to an
    array of shape (components, lanes), `ubos` and `ssbos` a block number to bytes, `uniforms` a
    variable name to values. Missing ones are generated from `seed`.
    """

    def __init__(
        self,
        lanes: int = 16,
        seed: int = 0,
        *,
        inputs: Mapping[tuple[int, int], Any] | None = None,
        system_values: Mapping[str, Any] | None = None,
        ubos: Mapping[int, bytes] | None = None,
        ssbos: Mapping[int, bytes] | None = None,
        uniforms: Mapping[str, Any] | None = None,
        buffer_bytes: int = 4096,
    ):
        self.lanes = lanes
        self.seed = seed
        self.inputs = dict(inputs or {})
        self.system_values = dict(system_values or {})
        self.uniforms = dict(uniforms or {})
        self.buffer_bytes = buffer_bytes
        self.images: dict[tuple[int, ...], list[int]] = {}
        self._buffers: dict[tuple[str, int], Array] = {}
        for kind, given in (("ubo", ubos), ("ssbo", ssbos)):
            for index, data in (given or {}).items():
                self._buffers[kind, index] = np.frombuffer(bytes(data), dtype=np.uint8).copy()

    def rng(self, *key: object) -> np.random.Generator:
        """A generator that depends only on the seed and the key."""
        return np.random.default_rng([self.seed, zlib.crc32(repr(key).encode())])

    def floats(self, count: int, *key: object) -> Array:
        """Ordinary floats of both signs, some of them 0, 1 or 0.5, so that both sides of branches
        run.
        """
        rng = self.rng(*key)
        values = rng.uniform(-4.0, 4.0, count)
        special = rng.choice([0.0, 1.0, -1.0, 0.5, 2.0], count)
        return np.where(rng.random(count) < 0.25, special, values)

    def input(self, slot: int, component: int, bit_size: int, vertex: int = 0) -> Array:
        """Raw bits of one input component, one per lane."""
        slot = int(slot)  # an enum member and its number must give equal values
        key = (slot, component) if not vertex else (slot, component, vertex)
        given = self.inputs.get(key)
        if given is None:
            given = self.floats(self.lanes, "input", *key)
        return self.raw(given, bit_size)

    def raw(self, values: Any, bit_size: int) -> Array:
        """Raw bits of given values: floats are rounded to the size, integers truncated."""
        array = np.broadcast_to(np.asarray(values), (self.lanes,))
        if bit_size == 1:
            return array.astype(np.bool_)
        unsigned = numpy_dtype("uint", bit_size)
        if array.dtype.kind == "f":
            if bit_size == 8:
                return array.astype(np.int64).astype(unsigned)
            return array.astype(numpy_dtype("float", bit_size)).view(unsigned)
        return array.astype(np.int64).astype(unsigned)

    def system_value(self, name: str, components: int, bit_size: int, index: int = 0) -> Array:
        """Raw bits of a system value, shape (components, lanes)."""
        given = self.system_values.get(name)
        if given is not None:
            table = np.asarray(given)
            if table.ndim < 2:
                table = np.broadcast_to(table, (components, self.lanes))
            return np.stack([self.raw(row, bit_size) for row in table[:components]])
        if name in _LANE_NUMBERS:
            return self.raw(np.arange(self.lanes), bit_size)[None]
        if name in ("helper_invocation", "is_helper_invocation"):
            return np.zeros((1, self.lanes), dtype=np.bool_)
        rows: list[Array] = []
        for c in range(components):
            if bit_size == 1:
                rows.append(self.rng(name, c).random(self.lanes) < 0.5)
            elif f"load_{name}" in INTRINSICS and INTRINSICS[f"load_{name}"].is_float:
                rows.append(self.raw(self.floats(self.lanes, name, index, c), bit_size))
            else:
                rows.append(self.raw(self.rng(name, c).integers(0, 8, self.lanes), bit_size))
        return np.stack(rows)

    def buffer(self, kind: str, index: int) -> Array:
        """The bytes of a buffer (`kind` is ubo, ssbo, shared, global); writable."""
        data = self._buffers.get((kind, index))
        if data is None:
            words = self.buffer_bytes // 4
            if kind in ("shared", "scratch", "counter"):
                data = np.zeros(words * 4, dtype=np.uint8)
            else:
                data = self.floats(words, kind, index).astype(np.float32).view(np.uint8).copy()
            self._buffers[kind, index] = data
        return data

    def buffers(self) -> dict[tuple[str, int], Array]:
        """Every buffer touched so far."""
        return self._buffers

    def texel(self, where: tuple[int, ...]) -> list[int]:
        """Raw bits of four components of an image at (unit, coordinates..., sample); writable."""
        found = self.images.get(where)
        if found is None:
            found = self.floats(4, "image", *where).astype(np.float32).view(np.uint32).tolist()
            self.images[where] = found
        return found

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        """Result of a texture operation, shape (components, lanes), in the operation's type.

        `srcs` maps the kind of a source to its components, typed. The default is a smooth function
        of all sources, different for each unit and operation.
        """
        dest = tex.result
        coord = srcs.get("coord")
        mixed = np.zeros(self.lanes, dtype=np.float64)
        if coord is not None:
            coord = coord.astype(np.float64)
            for i, row in enumerate(coord):
                mixed += row * (0.25 + i)
        for kind, factor in _MIXED:
            if kind in srcs:
                mixed += srcs[kind][0].astype(np.float64) * factor
        for kind, factor in (("offset", 0.11), ("ddx", 0.3), ("ddy", 0.7)):
            for i, row in enumerate(srcs.get(kind, ())):
                mixed += row.astype(np.float64) * factor * (1.0 + i)
        mixed += unit * 0.375 + _OP_NUMBERS[tex.op] * 0.0625
        mixed = np.where(np.isfinite(mixed), mixed, 0.0)
        rows = np.stack([mixed * (0.5 + 0.5 * c) for c in range(dest.num_components)])
        dtype = np.dtype(tex.dest_type) if tex.dest_type != "bool1" else np.dtype(np.bool_)
        if dtype.kind in "iu":
            rows = np.clip(np.abs(rows), 0, 4096)
        return rows.astype(dtype)


class Result:
    """The results of a run.

    `outputs` maps (slot, component) to raw bits per lane; `alive` is the mask of lanes that neither
    discarded nor demoted; `buffers` are the bytes of every buffer accessed; `vertices` the outputs
    at each `emit_vertex`.
    """

    def __init__(self, lanes: int):
        self.outputs: dict[tuple[int, int], Array] = {}
        self.written: dict[tuple[int, int], Array] = {}
        self.alive = np.ones(lanes, dtype=np.bool_)
        self.buffers: dict[tuple[str, int], Array] = {}
        self.images: dict[tuple[int, ...], list[int]] = {}
        self.vertices: list[tuple[int, Array, dict[tuple[int, int], Array]]] = []

    def floats(self, slot: int, component: int = 0) -> Array:
        """One output component as 32-bit floats."""
        return self.outputs[slot, component].astype(np.uint32).view(np.float32)

    def same_as(self, other: Result, *, tolerance: float = 0.0) -> str:
        """Compare two runs: "" if they agree, else a description of a difference. All NaNs are
        equal.

        With a tolerance, outputs are compared as 32-bit floats, relatively.
        """
        if not np.array_equal(self.alive, other.alive):
            return f"lanes alive: {self.alive} and {other.alive}"
        for key, a in sorted(self.outputs.items()):
            wrote = self.written[key] & self.alive
            b = other.outputs.get(key)
            if not wrote.any():
                continue
            if b is None or (wrote & ~other.written[key]).any():
                return f"output {key} is not written any more"
            bad = ~_equal(a, b, tolerance) & wrote
            if bad.any():
                lane = int(np.flatnonzero(bad)[0])
                return f"output {key} lane {lane}: {_show(a, lane)} and {_show(b, lane)}"
        for name in sorted(set(self.buffers) & set(other.buffers)):
            a, b = self.buffers[name].view(np.uint32), other.buffers[name].view(np.uint32)
            if not _equal(a, b, tolerance).all():
                return f"buffer {name} differs"
        for where in sorted(set(self.images) & set(other.images)):
            if self.images[where] != other.images[where]:
                return f"image texel {where} differs"
        return self._same_vertices(other, tolerance)

    def _same_vertices(self, other: Result, tolerance: float) -> str:
        if len(self.vertices) != len(other.vertices):
            return "numbers of emitted vertices differ"
        pairs = zip(self.vertices, other.vertices, strict=True)
        for i, ((stream, lanes, mine), (stream_too, lanes_too, theirs)) in enumerate(pairs):
            if stream != stream_too or not np.array_equal(lanes, lanes_too):
                return f"vertex {i} is emitted elsewhere"
            for key, a in mine.items():
                b = theirs.get(key)
                if b is None or not (_equal(a, b, tolerance) | ~lanes).all():
                    return f"vertex {i} output {key} differs"
        return ""


def _equal(a: Array, b: Array, tolerance: float) -> Array:
    same: Array = np.equal(a, b)
    if a.dtype == np.bool_ or a.dtype.itemsize < 4 or a.dtype != b.dtype:
        return same
    x, y = a.view(f"f{a.dtype.itemsize}"), b.view(f"f{a.dtype.itemsize}")
    same = same | (np.isnan(x) & np.isnan(y))
    if tolerance:
        with np.errstate(all="ignore"):
            close = np.abs(x - y) <= tolerance * np.maximum(1.0, np.maximum(np.abs(x), np.abs(y)))
        same = np.logical_or(same, close)
    return same


def _show(array: Array, lane: int) -> str:
    raw = int(array[lane])
    if array.dtype == np.uint32:
        return f"{array[lane : lane + 1].view(np.float32)[0]!r} ({raw:#010x})"
    return hex(raw)
