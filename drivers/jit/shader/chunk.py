"""Shaders over chunks of lanes: arrays of values in, arrays of values out.

This is the form of every stage but the fragments of filled polygons (`tile`): the function's
argument is a block of words with the address of an array per input and per output, and it runs all
lanes group by group. A group is as wide as the machine's registers. A patch, whose invocations read
each other's outputs, is one group, so that lockstep suffices; `group_flow` runs workgroups with
barriers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Shader
from gallette.compiler.nir.ir import Stage as ShaderStage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.program import interpolation

from ..llvm.values import V
from .call_out import CallingStage, CornerSite, OffsetSite
from .emitter import Emitter
from .intrinsics import load_slots, store_output
from .layout import Words
from .texture_keys import UnitKey
from .tile_keys import ImageUnitKey

_UNIFORM = frozenset(
    {
        "base_vertex",
        "base_instance",
        "draw_id",
        "patch_vertices_in",
        "num_workgroups",
        "workgroup_size",
        "alpha_ref",
    }
)
_MODES = {
    ShaderStage.VERTEX: "attribute",
    ShaderStage.FRAGMENT: "flat",
    ShaderStage.TESS_EVAL: "patch",
}


@lazy_dataclass(frozen=True)
class Input:
    """An array the function reads, and which of the `lanes`' methods makes it.

    `kind` is attribute, flat, smooth, corner, own_corner, patch, system, scalar or plane.
    """

    kind: str
    slot: int | str
    component: int
    where: str = ""
    perspective: bool = True
    corner: int = 0
    bits: int = 32


def is_strided(key: Input) -> bool:
    """Whether it is read through a `Column` of four words, and not an array with one element per
    lane.
    """
    return key.kind == "attribute" and key.bits == 32


def of_clip_plane(key: Input, planes: Sequence[Sequence[float]]) -> np.float32:
    """The value of an input that is a component of a clip plane."""
    assert isinstance(key.slot, str)
    number = int(key.slot.removeprefix("clip_plane"))
    return np.float32(planes[number][key.component] if number < len(planes) else 0.0)


class Column:
    """Words that describe where the 32-bit values of an input are."""

    FIRST = 0  # the address of row 0's value
    STRIDE = 1  # bytes from row to row
    LIMIT = 2  # the number of rows
    ROWS = 3  # address of each lane's row (32 bits); null: the lane's number


class ChunkStage(CallingStage):
    """Inputs by array."""

    def __init__(
        self,
        shader: Shader,
        flat_colors: bool,
        step: int,
        keys: Sequence[UnitKey] = (),
        images: Sequence[ImageUnitKey | None] = (),
    ) -> None:
        super().__init__(keys)
        self.images = images
        self.named_images = set()
        self.shader = shader
        self.stage = shader.stage
        self.flat_colors = flat_colors
        self.step = step
        self.inputs: dict[Input, int] = {}
        self.loaded: dict[Input, V] = {}

    # -- inputs ----------------------------------------------------------------------------------

    def begin_vector(self, base: V) -> None:
        """Continue with the lanes from `base` on."""
        self.base = base
        self.loaded = {}

    def array(self, e: Emitter, key: Input) -> V:
        """The lanes of an input array, loaded at the group's beginning."""
        found = self.loaded.get(key)
        if found is None:
            number = self.inputs.setdefault(key, len(self.inputs))
            pointer = e.word(Words.INPUTS + number, "ptr")
            b, base = e.b, self.base
            assert base is not None
            t = f"i{key.bits}"
            with b.into(e.start):
                if is_strided(key):
                    found = self._gathered(e, pointer)
                elif key.kind in ("scalar", "plane"):
                    found = b.load(pointer, t)
                else:
                    found = b.masked_load(b.at(pointer, base, t), e.entry_mask, t)
            self.loaded[key] = found
        return found

    def _gathered(self, e: Emitter, column: V) -> V:
        """A component of an attribute, from any place in memory; zero outside the buffer."""
        b = e.b
        assert self.base is not None
        with b.in_entry():
            first, rows = (b.load_at(column, word, "ptr") for word in (Column.FIRST, Column.ROWS))
            stride, limit = (
                b.load_at(column, word, "i64").to("i32") for word in (Column.STRIDE, Column.LIMIT)
            )
            numbered = b.emit("i1", 0, f"icmp ne ptr {rows.n}, null")
        lane = b.lanes("i32", range(e.w)) + self.base.to("i32")
        # Masked-off addresses must be valid all the same, because processors handle a suppressed
        # fault as an exception, which takes a hundred times as long.
        where = b.select(numbered, b.at(rows, self.base, "i32"), e.word(Words.ZEROS, "ptr"))
        number = b.masked_load(where, e.entry_mask, "i32")
        row = b.select(b.spread(numbered, e.w), number, lane)
        there = e.entry_mask & row.ult(b.spread(limit, e.w))
        return b.gather(b.at(first, row * stride, "i8"), there, "i32", 4)

    def load_input(self, e: Emitter, instr: Intrinsic) -> list[V]:
        if instr.name == "load_per_vertex_input":
            return self._per_vertex(e, instr)
        mode, where, extra = _MODES.get(self.stage, "flat"), "", None
        first = instr["base"] if mode == "attribute" else instr["location"]
        if instr.name == "load_interpolated_input":
            mode, where, bary = interpolation(instr, self.flat_colors)
            if where in ("at_offset", "at_sample"):
                extra = [v.as_int() for v in e.values(bary.srcs[0])]
        bits = instr.result.bit_size

        def load(slot: int, component: int) -> V:
            return self._one(e, mode, slot, component, where, extra, bits)

        return load_slots(e, instr, first, load, 2 if bits == 64 and mode != "attribute" else 1)

    def _one(
        self,
        e: Emitter,
        mode: str,
        slot: int,
        component: int,
        where: str,
        extra: list[V] | None,
        bits: int,
    ) -> V:
        if mode in ("smooth", "noperspective"):
            straight = mode == "noperspective"
            if extra is not None:
                site = OffsetSite(slot, component, not straight, where == "at_sample")
                self.array(e, Input("smooth", slot, component, "at", not straight))
                return self.call_out(e, site, [e.wide(v) for v in extra], 1, "i32")[0]
            return self.array(e, Input("smooth", slot, component, where, not straight))
        return self.array(e, Input(mode, slot, component, bits=bits))

    def _per_vertex(self, e: Emitter, instr: Intrinsic) -> list[V]:
        vertex, known = instr.srcs[0], e.number(instr.srcs[0])
        maker = vertex.value.instr
        own = isinstance(maker, Intrinsic) and maker.name == "load_invocation_id"
        own = own and self.stage is ShaderStage.TESS_CTRL

        def load(slot: int, component: int) -> V:
            if known is not None:
                return self.array(e, Input("corner", slot, component, corner=known))
            if own:
                return self.array(e, Input("own_corner", slot, component))
            self.array(e, Input("corner", slot, component, "any"))
            args = [e.wide(e.value(vertex).as_int())]
            return self.call_out(e, CornerSite(slot, component), args, 1, "i32")[0]

        return load_slots(e, instr, instr["location"], load)

    def store_output(self, e: Emitter, instr: Intrinsic) -> None:
        store_output(e, instr, 1, instr["dual_source"])

    def load_output(self, e: Emitter, instr: Intrinsic) -> list[V]:
        """Read the framebuffer."""
        first = 4 * (instr["location"] - FragResult.DATA0) + instr["component"]
        return [
            self.array(e, Input("system", "output", first + i))
            for i in range(instr.result.num_components)
        ]

    def system_value(self, e: Emitter, name: str, component: int) -> V:
        if name.startswith("clip_plane"):
            return self.array(e, Input("plane", name, component))
        kind = "scalar" if name in _UNIFORM else "system"
        value = self.array(e, Input(kind, name, component))
        return value.ne(0) if name == "front_face" else value

    def helper(self, e: Emitter) -> V:
        return self.array(e, Input("system", "helper", 0)).ne(0)

    def real(self, e: Emitter) -> V | None:
        return ~self.helper(e) if self.stage is ShaderStage.FRAGMENT else None

    # -- quads -----------------------------------------------------------------------------------

    def derivative(self, e: Emitter, name: str, value: V) -> V:
        if not value.w:
            return value - value
        self.derivatives = True
        low, high = _neighbours(name, e.w)
        return e.b.shuffle(value, high) - e.b.shuffle(value, low)


def _neighbours(name: str, w: int) -> tuple[list[int], list[int]]:
    """For each lane of quads, the two lanes whose difference is its derivative."""
    along_x, coarse = name.startswith("fddx"), name.endswith("coarse")
    step = 1 if along_x else 2
    low, high = [], []
    for lane in range(w):
        quad, at = lane & ~3, lane & 3
        first = 0 if coarse else (at & 2 if along_x else at & 1)
        low.append(quad + first)
        high.append(quad + first + step)
    return low, high
