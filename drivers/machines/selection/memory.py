"""Instruction selection of memory and textures: buffers, shared memory, images, arrays,
samplers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from gallette.compiler.nir.ir import Deref, Intrinsic, Shader, Tex, Variable
from gallette.compiler.nir.ir.types import Dim, image_coordinates
from gallette.drivers.common.local_variables import bits_of, place_of, rows_of
from gallette.drivers.common.program import textures_from
from gallette.drivers.machines.isa.messages import (
    ATOMICS,
    IMAGE_OPS,
    MEMORY_OPS,
    PARAMS,
    SPACES,
    TEX_OPS,
)
from gallette.drivers.machines.isa.types import RegType, type_of

from .core import UD, D, F, Operand
from .io import IoSelector

ATOMIC_BUFFERS = 16
_FAR = 1 << 28  # an offset past the end of all memory
_ACCESSES = {
    **dict.fromkeys(("load_ssbo", "load_shared", "atomic_counter_read"), "load"),
    **dict.fromkeys(("store_ssbo", "store_shared"), "store"),
    **dict.fromkeys(("ssbo_atomic", "shared_atomic", "atomic_counter"), "atomic"),
    **dict.fromkeys(("ssbo_atomic_swap", "shared_atomic_swap", "atomic_counter_swap"), "swap"),
    "get_ssbo_size": "size",
}
_DATA = {"store": ("value",), "atomic": ("data",), "swap": ("data", "compare")}
"""The sources of an access to memory besides its address."""


class MemorySelector(IoSelector):
    """Adds memory and textures to the selector."""

    def __init__(self, shader: Shader, flat_colors: bool = False) -> None:
        super().__init__(shader, flat_colors)
        self.arrays: dict[Variable, int] = {}

    # -- buffers -----------------------------------------------------------------------------------

    def named(self, instr: Intrinsic, name: str, type: RegType = UD, k: int = 0) -> Operand:
        return self.read(instr.srcs[instr.info.src_index(name)], type, k)

    def memory(self, instr: Intrinsic) -> list[Operand]:
        """Send a message to memory: its address, then data."""
        op, shared = _ACCESSES[instr.name], "shared" in instr.name
        space = SPACES.index("shared" if shared else "buffer")
        fields = {"op": MEMORY_OPS.index(op), "space": space}
        fields["live"] = self.stage == "fragment"
        payload: list[Operand] = []
        if instr.name.startswith("atomic_counter"):
            fields["buffer"] = ATOMIC_BUFFERS + instr["base"]
        elif not shared:
            src = instr.srcs[instr.info.src_index("block")]
            known = self.constant(src)
            if known is None or known > 63:
                payload.append(self.read(src, D))
                fields["dynamic"] = 1
            else:
                fields["buffer"] = known
        if op != "size":
            payload.append(self.named(instr, "offset"))
        bits, count = 32, 1
        if instr.dest is not None:
            bits, count = instr.result.bit_size, instr.result.num_components
        fields["count"] = count
        for name in _DATA.get(op, ()):
            src = instr.srcs[instr.info.src_index(name)]
            bits = src.value.bit_size
            type = type_of("uint", bits)
            wanted = [0]
            if op == "store":
                mask = instr["write_mask"]
                wanted = [k for k in range(src.num_components) if mask >> k & 1]
                if not wanted:
                    return []
                fields["count"] = mask
            payload += [self.read(src, type, k) for k in wanted]
        fields["size"] = (bits // 8).bit_length() - 1
        if op in ("atomic", "swap"):
            name = instr["atomic_op"] if "atomic_op" in instr.indices else "xchg"
            fields["atomic"] = ATOMICS.index(name)
        self.effects |= op in ("store", "atomic", "swap")
        return self.answered(instr, "memory", fields, payload, bits, count)

    def answered(
        self,
        instr: Intrinsic,
        unit: str,
        fields: dict[str, int],
        payload: list[Operand],
        bits: int,
        count: int,
    ) -> list[Operand]:
        """Send a message and name the components of its answer."""
        if instr.dest is None:
            self.send_message(unit, fields, payload, instr.name)
            return []
        return self.send_for_reply(unit, fields, payload, type_of("uint", bits), count, instr.name)

    # -- images ------------------------------------------------------------------------------------

    def image(self, instr: Intrinsic) -> list[Operand]:
        op = {"atomic_swap": "swap"}.get(instr.name.removeprefix("image_"), instr.name[6:])
        fields = {"op": IMAGE_OPS.index(op), "live": self.stage == "fragment"}
        src = instr.srcs[instr.info.src_index("index")]
        known = self.constant(src)
        payload: list[Operand] = []
        if known is None or known > 63:
            payload.append(self.read(src, D))
            fields["dynamic"] = 1
        else:
            fields["image"] = known
        if op not in ("size", "samples"):
            coords = image_coordinates(instr["dim"], instr["is_array"])
            payload += [self.named(instr, "coord", D, k) for k in range(coords)]
            fields["coords"] = coords
            if Dim(instr["dim"]) is Dim.MS:
                payload.append(self.named(instr, "sample", D))
                fields["sample"] = 1
        count = instr.result.num_components if instr.dest is not None else 0
        fields["count"] = count
        if op == "store":
            value = instr.srcs[instr.info.src_index("value")]
            fields["count"] = value.num_components
            payload += [self.read(value, UD, k) for k in range(value.num_components)]
        elif op in ("atomic", "swap"):
            fields["atomic"] = ATOMICS.index(instr["atomic_op"])
            fields["count"] = 1
            payload.append(self.named(instr, "data"))
            if op == "swap":
                fields["count"] = 2
                payload.append(self.named(instr, "compare"))
        self.effects |= op in ("store", "atomic", "swap")
        return self.answered(instr, "image", fields, payload, 32, count)

    # -- arrays of the invocation ------------------------------------------------------------------

    def place_of(self, deref: Deref) -> tuple[Operand, int]:
        """Byte offset (by channel) and bit size of a deref's target."""
        place = place_of(deref, self.constant)
        start, size, rows = self.array_of(place.var)
        moving: Operand | None = None
        outside: list[Operand] = []
        for src, stride, length in place.moving:
            index = self.read(src, UD)
            outside.append(self.apply("uge", index, self.number(length, UD)))
            part = self.apply("imul", index, self.number(stride * size, UD))
            moving = part if moving is None else self.apply("iadd", moving, part)
        offset = self.number(_FAR if place.row >= rows else start + place.row * size, UD)
        if moving is not None:
            offset = self.apply("iadd", moving, offset)
            for bad in outside:
                offset = self.choice(bad, self.number(_FAR, UD), offset)
        return offset, size * 8

    def array_of(self, var: Variable) -> tuple[int, int, int]:
        """The place of a local variable: first byte, bytes of a component, number of components."""
        size = max(4, bits_of(var) // 8)
        rows = rows_of(var.type)
        if var not in self.arrays:
            self.arrays[var] = (self.private + 7) // 8 * 8
            self.private = self.arrays[var] + rows * size
        return self.arrays[var], size, rows

    def load_deref(self, instr: Intrinsic) -> list[Operand]:
        deref = instr.deref
        assert deref is not None
        offset, bits = self.place_of(deref)
        count = instr.result.num_components
        fields = self.own_memory("load", bits)
        fields["count"] = count
        found = self.send_for_reply(
            "memory", fields, [offset], type_of("uint", bits), count, "load_deref"
        )
        return [self.as_bool(r) for r in found] if instr.result.bit_size == 1 else found

    def store_deref(self, instr: Intrinsic) -> list[Operand]:
        deref = instr.deref
        assert deref is not None
        offset, bits = self.place_of(deref)
        src = instr.srcs[1]
        for k in range(src.num_components):
            if not instr["write_mask"] >> k & 1:
                continue
            value = self.read(src, type_of("uint", bits), k)
            at = self.apply("iadd", offset, self.number(k * bits // 8, UD)) if k else offset
            fields = self.own_memory("store", bits)
            self.send_message("memory", {**fields, "count": 1}, [at, value], "store_deref")
        return []

    def own_memory(self, op: str, bits: int) -> dict[str, int]:
        """Descriptor fields of a message to the channel's private memory."""
        return {
            "op": MEMORY_OPS.index(op),
            "space": SPACES.index("scratch"),
            "size": (bits // 8).bit_length() - 1,
        }

    # -- textures ----------------------------------------------------------------------------------

    def tex(self, instr: Tex) -> list[Operand]:
        integer = instr.op in ("txf", "txf_ms", "txs")
        groups = dict(zip(instr.src_kinds, instr.srcs, strict=True))
        fields = {"op": TEX_OPS.index(instr.op), "texture": instr.texture_index}
        fields["integer"] = not instr.dest_type.startswith("float")
        payload: list[Operand] = []
        offsets: list[tuple[int, ...]] = []
        if "texture_offset" in groups:
            payload.append(self.read(groups["texture_offset"], D))
            fields["dynamic"] = 1
        number = instr.texture_index
        units = textures_from(number) if "texture_offset" in groups else (number,)
        self.textures.update(units)
        if instr.info.implicit_lod:
            self.implicit.update(units)
        self.derivatives |= instr.op == "lod"
        if "coord" in groups:
            coord = groups["coord"]
            kind = D if integer else F
            payload += [self.read(coord, kind, k) for k in range(coord.num_components)]
            fields["coords"] = coord.num_components
        params = 0
        for number, name in enumerate(PARAMS):
            src = groups.get(name)
            if src is None:
                continue
            if name == "offset":
                known = [self.constant(src, k) for k in range(src.num_components)]
                fields["extent"] = src.num_components - 1
                if None not in known:
                    offsets = [tuple(v for v in known if v is not None)]
                    continue
            params |= 1 << number
            whole = name in ("offset", "ms_index") or (name == "lod" and integer)
            kind = D if whole else F
            payload += [self.read(src, kind, k) for k in range(src.num_components)]
            if name == "ddx":
                other = groups["ddy"]
                payload += [self.read(other, kind, k) for k in range(other.num_components)]
                fields["extent"] = src.num_components - 1
        fields["params"] = params
        if instr.op == "tg4":
            fields["channel"] = instr.component
        if instr.tg4_offsets:
            offsets = [tuple(pair) for pair in instr.tg4_offsets]
        return self.sample(instr.op, fields, payload, offsets, instr.result.num_components)

    @abstractmethod
    def sample(
        self,
        op: str,
        fields: dict[str, int],
        payload: list[Operand],
        offsets: list[tuple[int, ...]],
        count: int,
    ) -> list[Operand]:
        """Send a sampler message; constant texel offsets are none, one set, or the four of a
        gather.
        """


_S = MemorySelector
MEMORY_INTRINSICS: dict[str, Callable[..., list[Operand]]] = {
    **dict.fromkeys(_ACCESSES, _S.memory),
    "load_deref": _S.load_deref,
    "store_deref": _S.store_deref,
}
for _name in ("load", "store", "atomic", "atomic_swap", "size", "samples"):
    MEMORY_INTRINSICS[f"image_{_name}"] = _S.image
