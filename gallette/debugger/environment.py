"""The inputs of one invocation of a real draw, for the reference interpreter.

The lanes, textures, images and buffers are the driver's own: the interpreter computes what the
shader does with them, and nothing else is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.interp.environment import Array, Environment
from gallette.compiler.nir.ir.instrs import Intrinsic, Tex
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.drivers.common.lanes import ShaderResources

_UNBOUND = (0, 0, 0, 1)


def raw_bits(value: Any, bit_size: int) -> Array:
    """A driver's value as raw bits of a size, at least one-dimensional."""
    array = np.atleast_1d(np.asarray(value))
    if bit_size == 1:
        return array.astype(np.bool_)
    wanted = numpy_dtype("uint", bit_size)
    if array.dtype.itemsize == wanted.itemsize and array.dtype != np.bool_:
        return np.ascontiguousarray(array).view(wanted)
    if array.dtype.kind == "f":
        return array.astype(numpy_dtype("float", bit_size)).view(wanted)
    return array.astype(np.int64).astype(wanted)


class DrawEnvironment(Environment):
    """The inputs of some lanes of a draw: `pick` selects them among the driver's `lanes`."""

    def __init__(
        self,
        stage: str,
        lanes: Any,
        resources: ShaderResources,
        pick: Sequence[int],
        *,
        quads: bool = False,
        flat_colors: bool = False,
    ):
        super().__init__(len(pick))
        self.stage, self.source, self.resources = stage, lanes, resources
        self.pick = np.array(pick, np.intp)
        self.quads, self.flat_colors = quads, flat_colors
        for kind, blocks in (("ubo", resources.constants), ("ssbo", resources.buffers)):
            for index, block in enumerate(blocks):
                if block is not None:
                    self._buffers[kind, index] = np.array(block, np.uint8).reshape(-1)
        self._stored: dict[tuple[int, ...], list[int]] = {}

    def lanes_of(self, value: Any, bit_size: int) -> Array:
        """A value for the debugged lanes, from one for all lanes that the driver runs."""
        raw = raw_bits(value, bit_size)
        if len(raw) == 1:
            return np.repeat(raw, self.lanes)
        return raw[self.pick]

    # -- inputs ----------------------------------------------------------------------------------

    def input(self, slot: int, component: int, bit_size: int, vertex: int = 0) -> Array:
        """A component of a flat varying."""
        return self.lanes_of(self.source.flat(int(slot), component), bit_size)

    def attribute(self, instr: Intrinsic, offset: int, component: int, bit_size: int) -> Array:
        """A component of a vertex attribute."""
        index = int(instr["base"]) + offset
        if bit_size == 64:
            return self.lanes_of(self.source.attribute64(index, component), 64)
        return self.lanes_of(self.source.attribute(index, component), bit_size)

    def varying(
        self, instr: Intrinsic, slot: int, component: int, extra: Any, bit_size: int
    ) -> Array:
        """A component of an interpolated varying, interpolated as the load requires."""
        bary = instr.srcs[0].value.instr
        assert isinstance(bary, Intrinsic)
        where, mode = bary.name.removeprefix("load_barycentric_"), bary["interp"]
        if mode == "none":
            mode = "flat" if self.flat_colors and instr["location"] in (1, 2) else "smooth"
        if mode == "flat":
            return self.lanes_of(self.source.flat(slot, component), bit_size)
        perspective = mode != "noperspective"
        if where == "at_offset":
            dx, dy = np.zeros((2, self.source.count), np.float32)
            dx[self.pick], dy[self.pick] = extra
            value = self.source.smooth_at(slot, component, dx, dy, perspective=perspective)
        else:
            place = where if where in ("pixel", "centroid", "sample") else "pixel"
            value = self.source.smooth(slot, component, where=place, perspective=perspective)
        return self.lanes_of(value, bit_size)

    def system_value(self, name: str, components: int, bit_size: int, index: int = 0) -> Array:
        if name == "user_clip_plane":
            planes = self.resources.clip_planes
            plane = planes[index] if index < len(planes) else (0.0,) * 4
            return np.stack([self.raw(np.float32(v), bit_size) for v in plane[:components]])
        if name == "alpha_reference":
            return self.raw(np.float32(self.resources.alpha_ref), bit_size)[None]
        if name in ("helper_invocation", "is_helper_invocation") and self.stage != "fragment":
            return np.zeros((1, self.lanes), np.bool_)
        rows = []
        for c in range(components):
            value = self.source.system(name, c) if c else self.source.system(name)
            rows.append(self.lanes_of(value, bit_size))
        return np.stack(rows)

    # -- textures and images -----------------------------------------------------------------------

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        out: npt.NDArray[Any] | None = None
        for number in np.unique(unit):
            values = self._sampled(tex, int(number), srcs)
            mine = unit == number
            out = values if out is None else np.where(mine, values, out)
        assert out is not None
        return out

    def _sampled(self, tex: Tex, number: int, srcs: dict[str, Array]) -> Array:
        base = tex.dest_type.rstrip("0123456789")
        dtype = numpy_dtype(base, tex.result.bit_size)
        textures = self.resources.textures
        unit = textures[number] if 0 <= number < len(textures) else None
        count = tex.result.num_components
        if unit is None:
            return np.stack([np.full(self.lanes, v, dtype) for v in _UNBOUND[:count]])
        coords = [np.ascontiguousarray(c) for c in srcs.get("coord", ())]
        more: dict[str, Any] = {}
        for name, key in (("lod", "lod"), ("bias", "bias"), ("comparator", "compare"),
                          ("ms_index", "sample_index"), ("min_lod", "min_lod")):  # fmt: skip
            if name in srcs:
                more[key] = np.ascontiguousarray(srcs[name][0])
        for name in ("ddx", "ddy", "offset"):
            if name in srcs:
                more[name] = [np.ascontiguousarray(c) for c in srcs[name]]
        if tex.op == "tg4":
            more["gather_component"] = tex.component
        if tex.op in ("tex", "txb", "lod") and self.quads:
            more["quads"] = True
        if tex.tg4_offsets:
            found = []
            for dx, dy in tex.tg4_offsets:
                more["offset"] = [np.int32(dx), np.int32(dy)]
                found.append(unit.sample("tg4", coords, self.lanes, **more)[3])
        else:
            found = unit.sample(tex.op, coords, self.lanes, **more)[:count]
        rows = [np.broadcast_to(np.asarray(v), (self.lanes,)) for v in found]
        size = np.dtype(dtype).itemsize
        return np.stack(
            [r.view(dtype) if r.dtype.itemsize == size else r.astype(dtype) for r in map(
                np.ascontiguousarray, rows)]
        )  # fmt: skip

    def texel(self, where: tuple[int, ...]) -> list[int]:
        """A texel of an image as it was before the draw, or as this run has stored it."""
        found = self._stored.get(where)
        if found is None:
            number, *coords, sample = where
            images = self.resources.images
            image = images[number] if 0 <= number < len(images) else None
            found = [0, 0, 0, 0]
            if image is not None:
                values = image.load(
                    [np.array([c], np.int32) for c in coords], 1, np.array([sample], np.int32)
                )
                found = [int(raw_bits(v, 32)[0]) for v in values]
            self._stored[where] = found
        return found
