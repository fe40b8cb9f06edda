"""Encoding and decoding of 128-bit instructions, whose operands must be physical registers.

Bits 0-18 are the control word, 19-38 the destination. Sources of 31 bits follow (of 20 in the
three-source form, which has no swizzles); an immediate is in bits 96-127, or in 64-127 for the 64
bits of a `mov`. A `send` has its descriptor and a branch its target in bits 96-127.
"""

from __future__ import annotations

from gallette.drivers.common.machine.bits import BitReader, BitWriter
from gallette.drivers.common.machine.messages import UNITS, unit_code

from .instruction import NULL, Instruction, Message, Region
from .opcodes import BY_CODE, CONDITIONS
from .types import REG_BYTES, TYPES

__all__ = ["decode", "encode"]

_TYPES = {t.code: t for t in TYPES.values()}
_WIDTHS = (1, 8, 16)
_STRIDES = (0, 1, 2, 4)
_PREDS = ("", "+", "-", "!")
_CONDS = {code: name for name, (code, _) in CONDITIONS.items()}
_UNITS = {unit_code(name): name for name in UNITS}
_FILES = "ngi"
_IMM32, _IMM64 = 96, 64


def encode(instr: Instruction) -> int:
    """The instruction as an integer of 128 bits."""
    w = BitWriter()
    w.put(instr.op.code, 7)
    w.put(_WIDTHS.index(instr.width), 2)
    w.put(instr.group // 8, 1)
    w.put(instr.no_mask, 1)
    w.put(_PREDS.index(instr.pred), 2)
    w.put(instr.flag, 2)
    w.put(CONDITIONS[instr.cond][0] if instr.cond else 0, 3)
    w.put(instr.sat, 1)
    _put_place(w, instr.dst)
    if instr.message is not None:
        return _encode_send(w, instr, instr.message)
    if instr.op.kind == "flow":
        return w.word | instr.target << _IMM32
    if len(instr.srcs) == 3:
        for src in instr.srcs:
            _put_short(w, src)
        return w.word
    for k, src in enumerate(instr.srcs):
        w.at = 39 + 31 * k
        if src.file == "i":
            if k != len(instr.srcs) - 1:
                raise ValueError("only the last source may be an immediate")
            w.put(_FILES.index("i"), 2)
            w.put(src.type.code, 4)
            if src.type.size == 8 and k:
                raise ValueError("an immediate of 64 bits leaves no room for another source")
            w.word |= src.bits << (_IMM64 if k == 0 else _IMM32)
            continue
        _put_place(w, src)
        w.put(src.neg, 1)
        w.put(src.abs, 1)
        w.put(bool(src.swizzle), 1)
        for channel in src.swizzle or (0, 0, 0, 0):
            w.put(channel, 2)
    return w.word


def _put_place(w: BitWriter, region: Region) -> None:
    if region.file == "v":
        raise ValueError("a virtual register cannot be encoded")
    nr, offset = region.nr + region.offset // REG_BYTES, region.offset % REG_BYTES
    w.put(_FILES.index(region.file), 2)
    w.put(nr, 7)
    w.put(offset, 5)
    w.put(region.type.code, 4)
    w.put(_STRIDES.index(region.stride), 2)


def _put_short(w: BitWriter, region: Region) -> None:
    if region.file != "g" or region.swizzle:
        raise ValueError("sources of the three-source form are plain registers")
    w.put(region.nr + region.offset // REG_BYTES, 7)
    w.put(region.offset % REG_BYTES, 5)
    w.put(_STRIDES.index(region.stride), 2)
    w.put(region.type.code, 4)
    w.put(region.neg, 1)
    w.put(region.abs, 1)


def _encode_send(w: BitWriter, instr: Instruction, message: Message) -> int:
    for src in instr.srcs:
        w.put(src.file == "g", 1)
        w.put(src.nr + src.offset // REG_BYTES if src.file == "g" else 0, 7)
    w.put(unit_code(message.unit), 4)
    w.put(message.length, 5)
    w.put(message.result, 5)
    w.put(message.header, 1)
    w.put(message.end, 1)
    return w.word | message.desc << _IMM32


def decode(word: int) -> Instruction:
    """The instruction of 128 bits; `encode(decode(w)) == w` for every word that `encode` makes."""
    r = BitReader(word)
    op = BY_CODE.get(r.take(7))
    if op is None:
        raise ValueError(f"no instruction has the opcode {word & 0x7F}")
    width, group = _WIDTHS[r.take(2)], 8 * r.take(1)
    no_mask = bool(r.take(1))
    pred, flag = _PREDS[r.take(2)], r.take(2)
    cond = _CONDS.get(r.take(3), "")
    sat = bool(r.take(1))
    dst = _take_place(r)
    message: Message | None = None
    srcs: tuple[Region, ...] = ()
    target = 0
    if op.kind == "send":
        files = []
        for _ in range(2):
            used, nr = r.take(1), r.take(7)
            files.append(Region("g", nr, TYPES["UD"]) if used else NULL)
        srcs = tuple(files)
        message = Message(
            _UNITS[r.take(4)],
            word >> _IMM32,
            r.take(5),
            r.take(5),
            bool(r.take(1)),
            bool(r.take(1)),
        )
    elif op.kind == "flow":
        target = word >> _IMM32
    elif op.sources == 3:
        srcs = tuple(_take_short(r) for _ in range(3))
    else:
        srcs = tuple(_take_source(r, word, k) for k in range(op.sources))
    return Instruction(
        op,
        width,
        dst,
        srcs,
        group=group,
        no_mask=no_mask,
        pred=pred,
        flag=flag,
        cond=cond,
        sat=sat,
        message=message,
        target=target,
    )


def _take_place(r: BitReader) -> Region:
    file, nr, offset = _FILES[r.take(2)], r.take(7), r.take(5)
    type, stride = _TYPES[r.take(4)], _STRIDES[r.take(2)]
    return Region(file, nr, type, offset, stride)


def _take_short(r: BitReader) -> Region:
    nr, offset, stride = r.take(7), r.take(5), _STRIDES[r.take(2)]
    return Region("g", nr, _TYPES[r.take(4)], offset, stride, bool(r.take(1)), bool(r.take(1)))


def _take_source(r: BitReader, word: int, k: int) -> Region:
    r.at = 39 + 31 * k
    if word >> r.at & 3 == _FILES.index("i"):
        r.take(2)
        type = _TYPES[r.take(4)]
        bits = word >> (_IMM64 if k == 0 else _IMM32) & (1 << type.size * 8) - 1
        return Region("i", 0, type, 0, 0, bits=bits)
    place = _take_place(r)
    neg, absolute, swizzled = bool(r.take(1)), bool(r.take(1)), r.take(1)
    channels = tuple(r.take(2) for _ in range(4))
    return place._replace(neg=neg, abs=absolute, swizzle=channels if swizzled else ())
