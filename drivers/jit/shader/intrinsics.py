"""Intrinsics that are equal for all stages: constants, outputs, discards, system values."""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Intrinsic, Src
from gallette.compiler.nir.ir.queries import is_multiple
from gallette.drivers.common.lanes import BARYCENTRICS, SYSTEM_VALUES
from gallette.drivers.common.program import LONGEST_BLOCK

from ..llvm.text import Var
from ..llvm.values import V
from .alu import llvm_type
from .emitter import INTRINSICS, Emitter
from .layout import Words

_MOST_BLOCKS = 16


# -- constants -----------------------------------------------------------------------------------


def _load_ubo(e: Emitter, instr: Intrinsic) -> None:
    bits = max(instr.result.bit_size, 8)
    t = f"i{32 if instr.result.bit_size == 1 else bits}"
    size = 4 if instr.result.bit_size == 1 else bits // 8
    block, offset = e.number(instr.srcs[0]), e.number(instr.srcs[1])
    found = []
    for i in range(instr.result.num_components):
        at = LONGEST_BLOCK if offset is None else (offset + i * size) // size * size
        if block is not None and block < _MOST_BLOCKS and at + size <= LONGEST_BLOCK:
            value = e.constant(block, at, t)
        else:
            value = _moving_constant(e, instr, i * size, t, size)
        found.append(value.ne(0) if instr.result.bit_size == 1 else value)
    e.define(instr.result, found)


def _moving_constant(e: Emitter, instr: Intrinsic, extra: int, t: str, size: int) -> V:
    """A constant whose block or offset is dynamic; zero if it is outside."""
    base, length = range_of(e, Words.CONSTANTS, _MOST_BLOCKS, e.value(instr.srcs[0]).as_int(),
                            e.number(instr.srcs[0]))  # fmt: skip
    return read(e, base, length, instr.srcs[1], extra, t, size)


def range_of(e: Emitter, first: int, most: int, index: V, known: int | None) -> tuple[V, V]:
    """Address and size of a bound range, by its number; size 0 if nothing is bound."""
    b = e.b
    if known is not None and known < most:
        return e.word(first + 2 * known, "ptr"), e.word(first + 2 * known + 1)
    inside = index.ult(most)
    at = b.select(inside, index, b.const("i32", 0)).to("i64")
    where = b.at(e.ctx, at * 2 + first, "i64")
    if where.w:
        every = b.spread(b.const("i1", True), where.w)
        base = b.gather(where, every, "ptr")
        length = b.gather(b.at(where, 1, "i64"), inside, "i64")
        return base, length
    length = b.load(b.at(where, 1, "i64"), "i64")
    return b.load(where, "ptr"), b.select(inside, length, b.const("i64", 0))


def read(e: Emitter, base: V, length: V, src: Src, extra: int, t: str, size: int) -> V:
    """An element at a byte offset, rounded down to the element's size; zero outside."""
    b = e.b
    address, inside = element(e, base, length, src, extra, size)
    if not address.w:
        return b.load(b.select(inside, address, e.word(Words.ZEROS, "ptr")), t)
    return b.gather(address, e.mask & inside, t)


def element(e: Emitter, base: V, length: V, src: Src, extra: int, size: int) -> tuple[V, V]:
    """The address of the element `extra` bytes after an offset, and whether all of it is inside.

    The offset is rounded down to the element's size. Ranges are shorter than 2 GiB, so 32-bit
    indices suffice: one that would be negative is outside.
    """
    b = e.b
    at = e.value(src).as_int()
    if at.bits > 32:
        at = b.math("umin", at, (1 << 32) - 1).to("i32")
    if not is_multiple(src, size):
        at &= -size
    last = extra + size - 1
    places = b.once(last, length, lambda: b.math("smax", length.to("i32") - last, 0))
    inside = at.ult(places)  # the number of offsets at which an element can begin
    if extra:
        base = b.at(base, extra, "i8")
    return b.at(base, at if at.w else at.to("i64", False), "i8"), inside


# -- outputs -------------------------------------------------------------------------------------


def store_output(e: Emitter, instr: Intrinsic, offset_src: int, table: int) -> None:
    """Assign the components to the variables that hold outputs until the end."""
    slot, first = instr["location"], instr["component"]
    offset = e.number(instr.srcs[offset_src])
    for i, value in enumerate(e.values(instr.srcs[0])):
        if not instr["write_mask"] >> i & 1:
            continue
        at, component = slot + (first + i) // 4, (first + i) % 4
        bits = value.to("i32", False) if value.t == "i1" else value.as_int()
        if offset is not None:
            output(e, (at + offset, component, table), bits.t).update(e.active, e.wide(bits))
            continue
        index = e.value(instr.srcs[offset_src]).as_int()
        for k in range(max(1, instr["num_slots"])):
            mine = index.eq(k)
            mask = e.mask & mine
            output(e, (at + k, component, table), bits.t).update(mask, e.wide(bits))


def output(e: Emitter, place: tuple[int, int, int], t: str) -> Var:
    found = e.outputs.get(place)
    if found is None:
        found = e.outputs[place] = e.b.zeroed(t, e.w)
    return found


def _store_output(e: Emitter, instr: Intrinsic) -> None:
    e.stage.store_output(e, instr)


def _load_output(e: Emitter, instr: Intrinsic) -> None:
    e.define(instr.result, e.stage.load_output(e, instr))


def _emit_vertex(e: Emitter, instr: Intrinsic) -> None:
    e.stage.emit_vertex(e, instr)


# -- inputs and system values --------------------------------------------------------------------


def choose(e: Emitter, options: list[V], index: V) -> V:
    """The option with that index; zero if the index is out of range."""
    b = e.b
    found = b.const(options[0].t, 0)
    for k, option in enumerate(options):
        found = b.select(index.eq(k), option, found)
    return found


def load_slots(
    e: Emitter, instr: Intrinsic, first: int, load: Callable[[int, int], V], words: int = 1
) -> list[V]:
    """The components of an input or output, `words` components of its slots each, by a function
    that loads a component of a slot. If the shader computes which slot it reads, each one that it
    can reach is loaded.
    """
    offset = instr.srcs[-1]
    known = e.number(offset)
    found = []
    for i in range(instr.result.num_components):
        at = (instr["component"] + i) * words
        slot, component = first + at // 4, at % 4
        if known is not None:
            found.append(load(slot + known, component))
        else:
            options = [load(slot + k, component) for k in range(max(1, instr["num_slots"]))]
            found.append(choose(e, options, e.value(offset).as_int()))
    return found


def _load_input(e: Emitter, instr: Intrinsic) -> None:
    t = llvm_type("int", instr.result.bit_size)
    found = e.stage.load_input(e, instr)
    e.define(instr.result, [v if v.t in (t, "i1") else v.as_int() for v in found])


def _system(e: Emitter, instr: Intrinsic) -> None:
    name = instr.name.removeprefix("load_")
    d = instr.result
    e.define(d, [e.stage.system_value(e, name, i) for i in range(d.num_components)])


def _clip_plane(e: Emitter, instr: Intrinsic) -> None:
    parts = [
        e.stage.system_value(e, f"clip_plane{instr['ucp_id']}", i)
        for i in range(instr.result.num_components)
    ]
    e.define(instr.result, parts)


def _nothing(e: Emitter, instr: Intrinsic) -> None:
    """Emit nothing: the load that uses the barycentrics reads this instruction."""
    if instr.dest is not None:
        zero = e.b.const("i32", 0)
        e.define(instr.result, [zero] * instr.result.num_components)


def _barrier(e: Emitter, instr: Intrinsic) -> None:
    e.stage.barrier(e, instr)


# -- discarding ----------------------------------------------------------------------------------


def _discard(e: Emitter, instr: Intrinsic) -> None:
    if e.alive is None:
        raise GalletteError(f"jit has no {instr.name} in this stage")
    dying = e.mask & e.value(instr.srcs[0]) if instr.srcs else e.mask
    e.alive.set(e.alive.get() & ~dying)


def _helper(e: Emitter, instr: Intrinsic) -> None:
    helper = e.stage.helper(e)
    if instr.name == "is_helper_invocation" and e.alive is not None:
        helper = helper | ~e.alive.get()
    e.define(instr.result, [helper])


def _clock(e: Emitter, instr: Intrinsic) -> None:
    """Read the processor's counter."""
    now = e.b.call("llvm.readcyclecounter", "i64", [], 0)
    e.define(instr.result, [now.to("i32"), (now >> 32).to("i32")])


for _name in SYSTEM_VALUES:
    INTRINSICS[f"load_{_name}"] = _system
for _name in BARYCENTRICS:
    INTRINSICS[f"load_barycentric_{_name}"] = _nothing
for _name in ("discard", "discard_if", "demote", "demote_if"):
    INTRINSICS[_name] = _discard
INTRINSICS |= {
    "load_ubo": _load_ubo,
    "load_input": _load_input,
    "load_interpolated_input": _load_input,
    "load_per_vertex_input": _load_input,
    "store_output": _store_output,
    "store_per_vertex_output": _store_output,
    "load_output": _load_output,
    "load_per_vertex_output": _load_output,
    "emit_vertex": _emit_vertex,
    "end_primitive": _emit_vertex,
    "load_user_clip_plane": _clip_plane,
    "load_helper_invocation": _helper,
    "is_helper_invocation": _helper,
    "barrier": _barrier,
    "shader_clock": _clock,
}
