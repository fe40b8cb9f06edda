"""`printf` in kernels: the device writes words, the host formats them as text.

A record is the id of the instruction, then 32 bits for each component of each argument, 64-bit ones
as two. The format strings and types are in the module, so nothing else has to be passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.pointers import Place

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

HEADER = 4
"""bytes before the records: the counter of bytes, whose initial value this is"""
MAX_TEXT = 1 << 16


@lazy_dataclass(frozen=True)
class Printf:
    """One call: its format and, per argument, a type or a constant text."""

    format: str
    arguments: tuple[Type | str, ...]

    @property
    def words(self) -> int:
        return sum(_words(t) for t in self.arguments if not isinstance(t, str))


def _words(type: Type) -> int:
    return type.components * (2 if type.bit_size == 64 else 1)


def printf(r: FunctionReader, i: Instruction) -> None:
    """Write the instruction's id and its arguments' bits to the buffer."""
    if not r.module.prints:
        raise i.error("only kernels print")
    b = r.b
    words: list[Def] = [b.imm_int(i.words[1])]
    for id in i.words[5:]:
        value = r.value(id)
        if isinstance(value, Place):
            continue  # a text that the host finds in the module
        for part in b.channels(r.ssa(id)):
            if part.bit_size == 64:
                words += [b.unpack_64_2x32_split_x(part), b.unpack_64_2x32_split_y(part)]
            elif part.bit_size == 1:
                words.append(b.b2i32(part))
            else:
                words.append(part if part.bit_size == 32 else b.u2u32(part))
    r.module.printed(r, words)
    r.values[i.words[1]] = b.imm_int(0)


def formats(d: Declarations) -> dict[int, Printf]:
    """Every call of the module, by the id of its instruction."""
    made: dict[int, Instruction] = {}
    calls: list[Instruction] = []
    printing = grammar().extended["OpenCL.std"].by_name.get("printf")
    assert printing is not None
    for i in d.module.instructions:
        if i.info.has_type and len(i.words) > 1:
            made[i.words[1]] = i
        if i.name == "OpExtInst" and len(i.words) > 4 and i.words[3] == printing.opcode:
            if d.sets.get(i.words[2]) == "OpenCL.std":
                calls.append(i)
    found = {}
    for i in calls:
        types: list[Type | str] = []
        for id in i.words[5:]:
            source = made.get(id)
            type = d.types.get(source.words[0]) if source is not None else None
            if type is None:
                raise i.error(f"argument %{id} has no type")
            types.append(_text(d, made, id) if type.kind == "pointer" else type.nir)
        found[i.words[1]] = Printf(_text(d, made, i.words[4]), tuple(types))
    return found


def _text(d: Declarations, made: dict[int, Instruction], id: int) -> str:
    """The constant text at a pointer."""
    for _ in range(16):
        i = made.get(id)
        if i is None:
            break
        if i.name == "OpVariable":
            constant = d.constants.get(i.words[3]) if len(i.words) > 3 else None
            if constant is None or len(constant.data) > MAX_TEXT:
                break
            raw = bytes(int(part[0]) & 255 for part in constant.data)
            return raw.partition(b"\0")[0].decode(errors="replace")
        source = 3 if i.name == "OpSpecConstantOp" else 2
        if len(i.words) <= source:
            break
        id = i.words[source]
    raise SpirvError("printf wants constant texts")


_SPEC = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+)?(?P<precision>\.\d*)?(?:v(?P<vector>\d+))?"
    r"(?P<length>hh|hl|h|ll|l)?(?P<kind>[diouxXfFeEgGaAcsp%])"
)
_MOST = 1000


def text_of(calls: dict[int, Printf], words: npt.NDArray[np.uint32]) -> Iterator[str]:
    """The text of records, one per executed call; a truncated record ends them."""
    at = 0
    while at < words.size:
        call = calls.get(int(words[at]))
        if call is None or at + 1 + call.words > words.size:
            return
        raw = words[at + 1 : at + 1 + call.words]
        at += 1 + call.words
        yield _formatted(call, raw)


def _formatted(call: Printf, raw: npt.NDArray[np.uint32]) -> str:
    values: list[list[Any]] = []
    at = 0
    for type in call.arguments:
        if isinstance(type, str):
            values.append([type])
            continue
        count = _words(type)
        part = np.ascontiguousarray(raw[at : at + count])
        at += count
        values.append(list(_numbers(type, part)))
    waiting = iter(values)

    def replace(match: re.Match[str]) -> str:
        if match["kind"] == "%":
            return "%"
        parts = next(waiting, None)
        if parts is None:
            return match[0]
        return ",".join(_one(match, value) for value in parts)

    return _SPEC.sub(replace, call.format)


def _numbers(type: Type, raw: npt.NDArray[np.uint32]) -> Iterator[Any]:
    bits = max(type.bit_size, 8)
    wide = raw.view(np.uint64) if bits == 64 else raw
    kind = "f" if type.is_float else "u"
    narrow = wide.astype(f"u{bits // 8}").view(f"{kind}{bits // 8}")
    yield from narrow


def _one(match: re.Match[str], value: Any) -> str:
    """Format one number or text by its conversion."""
    kind = match["kind"]
    width = min(int(match["width"] or 0), _MOST)
    precision = match["precision"] or ""
    if precision:
        precision = f".{min(int(precision[1:] or 0), _MOST)}"
    flags = match["flags"]
    pattern = f"%{flags}{width or ''}{precision}{ {'a': 's', 'A': 's', 'p': 's'}.get(kind, kind) }"
    if kind in "fFeEgGaA":
        number = float(value) if not isinstance(value, str) else 0.0
        return pattern % (number.hex() if kind in "aA" else number)
    if kind == "s":
        return pattern % (value if isinstance(value, str) else str(value))
    if isinstance(value, str):
        return match[0]
    integer = int(value) if value.dtype.kind == "u" else int(np.nan_to_num(value))
    bits = value.dtype.itemsize * 8
    bits = {"hh": 8, "h": 16}.get(match["length"] or "", bits)
    integer &= (1 << bits) - 1
    if kind == "c":
        return pattern % chr(integer & 255)
    if kind == "p":
        return pattern % hex(integer)
    if kind in "di" and integer >> bits - 1:
        integer -= 1 << bits
    text: str = pattern.replace("u", "d") % integer
    return text
