"""Writes of one invocation to images, storage buffers and counters, in words.

The tracer passes every instruction to a hook before it is executed; instructions that write memory
outside of the invocation are recorded with the address and the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gallette.compiler.nir.interp.interpreter import Interpreter
from gallette.compiler.nir.interp.intrinsics import image_places, memory_place
from gallette.compiler.nir.ir.instrs import Instr, Intrinsic
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.debugger.records import number

_STORES = frozenset(
    {"image_store", "image_atomic", "image_atomic_swap", "store_ssbo", "ssbo_atomic",
     "ssbo_atomic_swap", "atomic_counter", "atomic_counter_swap"}
)  # fmt: skip
_KINDS = {"float": "f", "int": "i", "uint": "u", "bool": "u"}


def stored(
    run: Interpreter, instr: Intrinsic, lane: int, kind_of: Callable[[Instr], str]
) -> str | None:
    """The description of an instruction that writes memory, else None; `kind_of` returns how the
    result of an instruction is best read.
    """
    name = instr.name.replace("_deref", "")
    if name not in _STORES:
        return None
    data = instr.srcs[instr.info.src_index("value" if "store" in name else "data")]
    kind = kind_of(data.value.instr)
    if name == "image_store":
        base = str(instr.indices.get("src_type", "")).rstrip("0123456789")
        values = _values(run, instr, "value", lane, _KINDS.get(base, kind))
        return f"{_texel(run, instr, lane)} = {_spelled(values)}"
    if name.startswith("image_atomic"):
        return f"{_texel(run, instr, lane)}: atomic {_operation(run, instr, lane, kind)}"
    if name == "store_ssbo":
        mask = instr["write_mask"]
        values = _values(run, instr, "value", lane, kind)
        written = [v for i, v in enumerate(values) if mask >> i & 1]
        return f"{_byte(run, instr, lane)} = {_spelled(written)}"
    if name.startswith("atomic_counter"):
        kind = "u"
    return f"{_byte(run, instr, lane)}: atomic {_operation(run, instr, lane, kind)}"


def _values(
    run: Interpreter, instr: Intrinsic, source: str, lane: int, kind: str
) -> list[float | int | bool]:
    raw = run.read(instr.srcs[instr.info.src_index(source)])[:, lane]
    bits = 8 * raw.dtype.itemsize
    if raw.dtype == np.bool_:
        kind = "b"
    else:
        raw = raw.view(numpy_dtype("uint", bits))
    return [number(int(v), kind, bits) for v in raw]


def _spelled(values: list[float | int | bool]) -> str:
    shown = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)
    return f"({shown})" if len(values) > 1 else shown


def _operation(run: Interpreter, instr: Intrinsic, lane: int, kind: str) -> str:
    operands = _values(run, instr, "data", lane, kind)
    if instr.name.endswith("_swap"):
        compared = _spelled(_values(run, instr, "compare", lane, kind))
        return f"compare with {compared}, swap with {_spelled(operands)}"
    return f"{instr['atomic_op']} {_spelled(operands)}"


def _texel(run: Interpreter, instr: Intrinsic, lane: int) -> str:
    unit, *coords, sample = image_places(run, instr)[lane]
    at = f", sample {sample}" if instr.indices.get("dim") == "MS" else ""
    return f"image {unit} ({', '.join(map(str, coords))}{at})"


def _byte(run: Interpreter, instr: Intrinsic, lane: int) -> str:
    kind, block, offset = memory_place(run, instr)
    name = {"ssbo": "buffer", "counter": "counters of binding"}[kind]
    return f"{name} {int(block[lane])}, byte {int(offset[lane])}"
