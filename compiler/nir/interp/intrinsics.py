"""The intrinsics of the reference interpreter, one small function per family.

A function gets the interpreter and the instruction, and returns the value of the result (raw bits
of shape (components, lanes), or a pointer), or None. System values are not listed: the environment
provides them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.nir.interp.environment import Array
from gallette.compiler.nir.interp.memory import VERTEX_STRIDE, narrow, slot_count, widen
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.compiler.nir.ir.tables import TABLES
from gallette.compiler.nir.ir.types import Dim

if TYPE_CHECKING:
    from gallette.compiler.nir.interp.interpreter import Interpreter
    from gallette.compiler.nir.ir.instrs import Intrinsic

Action = Callable[["Interpreter", "Intrinsic"], Any]
INTRINSIC_ACTIONS = FunctionTable[str, Action]()
_does = INTRINSIC_ACTIONS.entry


def _int(run: Interpreter, instr: Intrinsic, source: str) -> Array:
    src = instr.srcs[instr.info.src_index(source)]
    value: Array = run.typed(src, "int")[0].astype(np.int64)
    return value


# Variables.


@_does(
    "load_deref",
    "interp_deref_at_centroid",
    "interp_deref_at_offset",
    "interp_deref_at_sample_index",
)
def _load_deref(run: Interpreter, instr: Intrinsic) -> Any:
    dest = instr.result
    return run.memory.load(run.pointer(instr.srcs[0]), dest.num_components, dest.bit_size)


@_does("store_deref")
def _store_deref(run: Interpreter, instr: Intrinsic) -> Any:
    value = run.read(instr.srcs[1])
    run.memory.store(run.pointer(instr.srcs[0]), value, instr["write_mask"], run.active)


@_does("copy_deref")
def _copy_deref(run: Interpreter, instr: Intrinsic) -> Any:
    dst, src = run.pointer(instr.srcs[0]), run.pointer(instr.srcs[1])
    deref = instr.deref
    assert deref is not None
    value = run.memory.load(src, slot_count(deref.type), 64)
    run.memory.store(dst, value, -1, run.active)


@_does("deref_atomic", "deref_atomic_swap")
def _deref_atomic(run: Interpreter, instr: Intrinsic) -> Any:
    pointer = run.pointer(instr.srcs[0])
    bits = instr.result.bit_size

    def load(lane: int) -> int:
        one = run.memory.load(pointer, 1, bits)
        return int(one[0, lane])

    def store(lane: int, value: int) -> None:
        only = np.arange(run.lanes) == lane
        raw = np.full((1, run.lanes), value, dtype=numpy_dtype("uint", bits))
        run.memory.store(pointer, raw, 1, only)

    return _atomic(run, instr, bits, load, store)


@_does("deref_buffer_array_length")
def _array_length(run: Interpreter, instr: Intrinsic) -> Any:
    pointer, deref = run.pointer(instr.srcs[0]), instr.deref
    lengths = np.zeros(run.lanes, dtype=np.int64)
    for number in np.unique(pointer.variable):
        view = run.memory.views.get(int(number))
        if view is not None and deref is not None:
            found = view.array_length(deref.path(), pointer.offset)
            lengths = np.where(pointer.variable == number, found, lengths)
    return lengths.astype(np.uint32)[None]


@_does("load_param")
def _load_param(run: Interpreter, instr: Intrinsic) -> Any:
    return run.params[instr["param"]]


@_does("load_table")
def _load_table(run: Interpreter, instr: Intrinsic) -> Any:
    table = TABLES[instr["table"]]()
    index = _int(run, instr, "index").clip(0, len(table) - 1)
    return table.take(index).view(np.uint32)[None]


# Inputs and outputs.


def _slot_load(run: Interpreter, instr: Intrinsic, vertex: Array | None, offset: Array) -> Array:
    dest = instr.result
    rows = []
    for c in range(dest.num_components):
        slot_step, component = divmod(instr["component"] + c, 4)
        row = np.zeros(run.lanes, dtype=numpy_dtype("uint", dest.bit_size))
        for o in np.unique(offset):
            slot = int(instr["location"]) + int(o) + slot_step
            for v in np.unique(vertex) if vertex is not None else (0,):
                value = run.env.input(slot, component, dest.bit_size, int(v))
                mine = offset == o if vertex is None else (offset == o) & (vertex == v)
                row = np.where(mine, value, row)
        rows.append(row)
    return np.stack(rows)


@_does("load_input", "load_interpolated_input")
def _load_input(run: Interpreter, instr: Intrinsic) -> Any:
    return _slot_load(run, instr, None, _int(run, instr, "offset"))


@_does("load_per_vertex_input")
def _load_per_vertex_input(run: Interpreter, instr: Intrinsic) -> Any:
    return _slot_load(run, instr, _int(run, instr, "vertex"), _int(run, instr, "offset"))


@_does("store_output", "store_per_vertex_output")
def _store_output(run: Interpreter, instr: Intrinsic) -> Any:
    value, offset = run.read(instr.srcs[0]), _int(run, instr, "offset")
    if instr.name == "store_per_vertex_output":  # vertices have separate ranges of slots
        offset = offset + _int(run, instr, "vertex") * VERTEX_STRIDE
    for c in range(len(value)):
        if not instr["write_mask"] >> c & 1:
            continue
        step, component = divmod(instr["component"] + c, 4)
        for o in np.unique(offset[run.active]):
            key = (int(instr["location"]) + int(o) + step, component)
            mine = run.active & (offset == o)
            row = value[c] if value.dtype != np.bool_ else value[c].astype(np.uint32)
            old = run.result.outputs.get(key, np.zeros_like(row))
            wrote = run.result.written.get(key, np.zeros(run.lanes, dtype=np.bool_))
            run.result.outputs[key] = np.where(mine, row, old)
            run.result.written[key] = wrote | mine


@_does("load_output", "load_per_vertex_output")
def _load_output(run: Interpreter, instr: Intrinsic) -> Any:
    dest, offset = instr.result, _int(run, instr, "offset")
    if instr.name == "load_per_vertex_output":
        offset = offset + _int(run, instr, "vertex") * VERTEX_STRIDE
    rows = []
    for c in range(dest.num_components):
        step, component = divmod(instr["component"] + c, 4)
        row = np.zeros(run.lanes, dtype=numpy_dtype("uint", dest.bit_size))
        for o in np.unique(offset):
            stored = run.result.outputs.get((int(instr["location"]) + int(o) + step, component))
            if stored is not None:
                row = np.where(offset == o, narrow(stored, dest.bit_size), row)
        rows.append(row)
    return np.stack(rows)


@_does(
    "load_barycentric_pixel",
    "load_barycentric_centroid",
    "load_barycentric_sample",
    "load_barycentric_at_offset",
    "load_barycentric_at_sample",
)
def _barycentric(run: Interpreter, instr: Intrinsic) -> Any:
    return run.env.system_value("barycentric", 2, 32)


@_does("emit_vertex")
def _emit_vertex(run: Interpreter, instr: Intrinsic) -> Any:
    run.memory.flush_outputs()
    outputs = {key: row.copy() for key, row in run.result.outputs.items()}
    run.result.vertices.append((instr["stream"], run.active.copy(), outputs))


@_does("end_primitive", "barrier")
def _nothing(run: Interpreter, instr: Intrinsic) -> Any:
    return None


# Buffers.


def memory_place(run: Interpreter, instr: Intrinsic) -> tuple[str, Array, Array]:
    """The place of a memory access: (kind, block, byte offset)."""
    if instr.name.startswith("atomic_counter"):
        return "counter", np.full(run.lanes, instr["base"]), _int(run, instr, "offset")
    kind = instr.name.split("_")[1 if "atomic" not in instr.name else 0]
    if kind == "global":
        return kind, np.zeros(run.lanes, dtype=np.int64), _int(run, instr, "address")
    block = (
        _int(run, instr, "block")
        if kind in ("ubo", "ssbo")
        else np.zeros(run.lanes, dtype=np.int64)
    )
    if kind == "scratch":  # each lane has its own
        block = np.arange(run.lanes)
    return kind, block, _int(run, instr, "offset")


@_does(
    "load_ubo",
    "load_ssbo",
    "load_shared",
    "load_scratch",
    "load_global",
    "atomic_counter_read",
)
def _load_memory(run: Interpreter, instr: Intrinsic) -> Any:
    dest = instr.result
    kind, block, offset = memory_place(run, instr)
    size = max(dest.bit_size, 32 if dest.bit_size == 1 else 8) // 8
    out = np.zeros((dest.num_components, run.lanes), dtype=np.uint64)
    for b in np.unique(block[run.active]):
        data = run.env.buffer(kind, int(b))
        mine = (block == b) & run.active
        for c in range(dest.num_components):
            at = offset + c * size
            ok = mine & (at >= 0) & (at + size <= len(data))
            base = np.where(ok, at, 0)
            word = np.zeros(run.lanes, dtype=np.uint64)
            if ok.any():
                for i in range(size):
                    word |= data[base + i].astype(np.uint64) << np.uint64(8 * i)
            out[c] = np.where(ok, word, out[c])
    return narrow(out, dest.bit_size)


@_does("store_ssbo", "store_shared", "store_scratch", "store_global")
def _store_memory(run: Interpreter, instr: Intrinsic) -> Any:
    value = run.read(instr.srcs[0])
    size = max(instr.srcs[0].bit_size, 32 if value.dtype == np.bool_ else 8) // 8
    kind, block, offset = memory_place(run, instr)
    wide = widen(value)
    for lane in np.flatnonzero(run.active):
        data = run.env.buffer(kind, int(block[lane]))
        for c in range(len(wide)):
            at = int(offset[lane]) + c * size
            if instr["write_mask"] >> c & 1 and at >= 0 and at + size <= len(data):
                piece = int(wide[c, lane]).to_bytes(8, "little")[:size]
                data[at : at + size] = np.frombuffer(piece, dtype=np.uint8)


@_does(
    "ssbo_atomic",
    "ssbo_atomic_swap",
    "shared_atomic",
    "shared_atomic_swap",
    "atomic_counter",
    "atomic_counter_swap",
)
def _memory_atomic(run: Interpreter, instr: Intrinsic) -> Any:
    bits = instr.result.bit_size
    kind, block, offset = memory_place(run, instr)
    size = bits // 8

    def load(lane: int) -> int:
        data, at = run.env.buffer(kind, int(block[lane])), int(offset[lane])
        return int.from_bytes(bytes(data[at : at + size]), "little") if at >= 0 else 0

    def store(lane: int, value: int) -> None:
        data, at = run.env.buffer(kind, int(block[lane])), int(offset[lane])
        if at >= 0 and at + size <= len(data):
            data[at : at + size] = np.frombuffer(value.to_bytes(size, "little"), dtype=np.uint8)

    return _atomic(run, instr, bits, load, store)


@_does("get_ssbo_size")
def _ssbo_size(run: Interpreter, instr: Intrinsic) -> Any:
    block = _int(run, instr, "block")
    sizes = [len(run.env.buffer("ssbo", int(b))) for b in block]
    return np.array([sizes], dtype=np.uint32)


def _atomic(
    run: Interpreter,
    instr: Intrinsic,
    bits: int,
    load: Callable[[int], int],
    store: Callable[[int, int], None],
) -> Array:
    """Execute lane by lane: return the old value, store the combined one."""
    data = run.read(instr.srcs[instr.info.src_index("data")])[0]
    swap = instr.name.endswith("_swap")
    op = instr.indices.get("atomic_op", "xchg")
    compare = run.read(instr.srcs[instr.info.src_index("compare")])[0] if swap else data
    out = np.zeros((1, run.lanes), dtype=numpy_dtype("uint", bits))
    for lane in np.flatnonzero(run.active).tolist():
        old, new = load(lane), int(data[lane])
        out[0, lane] = old
        if not swap:
            store(lane, combine(op, old, new, bits))
        elif old == int(compare[lane]):
            store(lane, new)
    return out


def combine(op: str, old: int, new: int, bits: int) -> int:
    """The value that an atomic operation stores."""
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)
    signed_old, signed_new = (old ^ sign) - sign, (new ^ sign) - sign
    if op in ("fadd", "fmin", "fmax"):
        dtype = numpy_dtype("float", bits)
        pair = np.array([old, new], dtype=numpy_dtype("uint", bits)).view(dtype)
        function = {"fadd": np.add, "fmin": np.fmin, "fmax": np.fmax}[op]
        return int(np.atleast_1d(function(pair[:1], pair[1:])).view(numpy_dtype("uint", bits))[0])
    results = {
        "iadd": old + new,
        "imin": min(signed_old, signed_new),
        "imax": max(signed_old, signed_new),
        "umin": min(old, new),
        "umax": max(old, new),
        "iand": old & new,
        "ior": old | new,
        "ixor": old ^ new,
        "xchg": new,
        "inc_wrap": 0 if old >= new else old + 1,
        "dec_wrap": new if old == 0 or old > new else old - 1,
    }
    return results[op] & mask


# Images: texels are accessed lane by lane.


def image_places(run: Interpreter, instr: Intrinsic) -> list[tuple[int, ...]]:
    """The place of an image access in every lane: (unit, coordinates..., sample)."""
    deref = instr.deref
    if deref is not None:
        image = deref.type.without_array
        assert image.dim is not None
        count = image.dim.coordinates + image.is_arrayed
    else:
        count = Dim(instr["dim"]).coordinates + instr["is_array"]
    unit = run.image_unit(instr.srcs[0])
    coord = run.typed(instr.srcs[1], "int")[:count]
    sample = run.typed(instr.srcs[2], "int")
    table = np.concatenate([unit[None], coord, sample]).T
    return [tuple(int(v) for v in row) for row in table]


@_does("image_load", "image_deref_load")
def _image_load(run: Interpreter, instr: Intrinsic) -> Any:
    dest = instr.result
    out = np.zeros((dest.num_components, run.lanes), dtype=numpy_dtype("uint", dest.bit_size))
    for lane, where in enumerate(image_places(run, instr)):
        if run.active[lane]:
            out[:, lane] = run.env.texel(where)[: dest.num_components]
    return out


@_does("image_store", "image_deref_store")
def _image_store(run: Interpreter, instr: Intrinsic) -> Any:
    value = run.read(instr.srcs[3])
    for lane, where in enumerate(image_places(run, instr)):
        if run.active[lane]:
            run.env.texel(where)[: len(value)] = [int(v) for v in value[:, lane]]


@_does("image_atomic", "image_atomic_swap", "image_deref_atomic", "image_deref_atomic_swap")
def _image_atomic(run: Interpreter, instr: Intrinsic) -> Any:
    places = image_places(run, instr)

    def load(lane: int) -> int:
        return run.env.texel(places[lane])[0]

    def store(lane: int, value: int) -> None:
        run.env.texel(places[lane])[0] = value

    return _atomic(run, instr, instr.result.bit_size, load, store)


@_does("image_size", "image_deref_size", "image_samples", "image_deref_samples")
def _image_size(run: Interpreter, instr: Intrinsic) -> Any:
    """The size of every image: 64 wide, high and deep, with one sample."""
    side = 1 if instr.name.endswith("samples") else 64
    return np.full((instr.result.num_components, run.lanes), side, dtype=np.uint32)


# Fragment control.


@_does("discard", "discard_if", "demote", "demote_if")
def _discard(run: Interpreter, instr: Intrinsic) -> Any:
    gone = run.active.copy()
    if instr.name.endswith("_if"):
        gone &= run.read(instr.srcs[0])[0]
    if instr.name.startswith("discard"):
        run.result.alive &= ~gone
        run.active = run.active & ~gone
    else:
        run.helper |= gone


# Subgroups: all lanes of the run are one.


@_does("vote_any", "vote_all", "vote_feq", "vote_ieq")
def _vote(run: Interpreter, instr: Intrinsic) -> Any:
    src = instr.srcs[0]
    live = run.read(src)[:, run.active]
    if instr.name == "vote_any":
        answer = bool(live[0].any())
    elif instr.name == "vote_all":
        answer = bool(live[0].all())
    else:
        base = "float" if instr.name == "vote_feq" else "int"
        values = run.typed(src, base)[:, run.active]
        answer = bool((values == values[:, :1]).all())
    return np.full((1, run.lanes), answer)


@_does("ballot")
def _ballot(run: Interpreter, instr: Intrinsic) -> Any:
    voted = run.read(instr.srcs[0])[0] & run.active
    mask = sum(1 << int(lane) for lane in np.flatnonzero(voted))
    dest = instr.result
    words = [mask >> (dest.bit_size * i) & ((1 << dest.bit_size) - 1) for i in range(4)]
    column = np.array(words, dtype=numpy_dtype("uint", dest.bit_size))[:, None]
    return np.repeat(column[: dest.num_components], run.lanes, axis=1)


@_does("elect")
def _elect(run: Interpreter, instr: Intrinsic) -> Any:
    return (np.arange(run.lanes) == np.flatnonzero(run.active)[0])[None]


@_does("read_first_invocation", "read_invocation")
def _read_lane(run: Interpreter, instr: Intrinsic) -> Any:
    value = run.read(instr.srcs[0])
    if instr.name == "read_first_invocation":
        return np.repeat(value[:, np.flatnonzero(run.active)[:1]], run.lanes, axis=1)
    lane = np.clip(_int(run, instr, "lane"), 0, run.lanes - 1)
    return value[:, lane]
