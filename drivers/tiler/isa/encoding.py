"""Encoding and decoding of 64-bit instructions, whose operands must be physical registers.

Bits 0-24 are common: category, opcode, (ss), (sy), repetitions, saturation, destination. The other
39 are sources: one of 32 bits (category 1), two of 15 bits (2 and 4), three of 13 bits without
absolute values or immediates (3), a target (0), or a message: descriptor, payload, lengths.
"""

from __future__ import annotations

from gallette.drivers.common.machine.bits import BitReader, BitWriter

from .instruction import NONE, Instruction, Message, Operand
from .opcodes import BY_CODE

__all__ = ["LIMITS", "decode", "encode", "fits"]

_FILES = "rhci"
_DSTS = ("", "r", "h", "p")
LIMITS = {"r": 256, "h": 256, "c": 512}
"""The number of registers that an instruction can name in each file."""


def fits(bits: int) -> bool:
    """Whether a number fits the immediate of an instruction with two sources (ten bits, signed)."""
    signed = bits - (1 << 32) if bits >> 31 else bits
    return -512 <= signed < 512


def encode(instr: Instruction) -> int:
    """The instruction as an integer of 64 bits."""
    w = BitWriter()
    op = instr.op
    w.put(op.cat, 3)
    w.put(op.code, 6)
    w.put(instr.ss, 1)
    w.put(instr.sy, 1)
    if op.kind == "message":
        return _encode_message(w, instr)
    w.put(instr.repeat, 3)
    w.put(instr.sat, 1)
    w.put(_DSTS.index(instr.dst.file), 2)
    w.put(instr.dst.nr, 8)
    if op.cat == 0:
        w.put(instr.pred, 2)
        w.put(instr.inverse, 1)
        w.put(instr.target, 24)
        return w.word
    for src in instr.srcs:
        if op.cat == 1:
            _put_wide(w, src)
        elif op.cat == 3:
            _put_short(w, src)
        else:
            _put(w, src)
    return w.word


def _number(src: Operand) -> int:
    if src.file not in _FILES or src.file == "":
        raise ValueError(f"{src.file!r} is no file an instruction can name")
    if src.nr >= LIMITS.get(src.file, 1):
        raise ValueError(f"there is no register {src.nr} in the file {src.file!r}")
    return src.nr


def _put_wide(w: BitWriter, src: Operand) -> None:
    w.put(_FILES.index(src.file), 2)
    if src.file == "i":
        w.put(src.bits, 32)
        return
    w.put(_number(src), 10)
    w.put(src.neg, 1)
    w.put(src.abs, 1)
    w.put(src.rep, 1)


def _put(w: BitWriter, src: Operand) -> None:
    w.put(_FILES.index(src.file), 2)
    if src.file == "i":
        if not fits(src.bits):
            raise ValueError(f"{src.bits:#x} is no immediate of ten bits")
        w.put(src.bits & 0x3FF, 10)
    else:
        w.put(_number(src), 10)
    w.put(src.neg, 1)
    w.put(src.abs, 1)
    w.put(src.rep, 1)


def _put_short(w: BitWriter, src: Operand) -> None:
    if src.file == "i" or src.abs:
        raise ValueError("one of three sources is neither an immediate nor an absolute value")
    w.put(_FILES.index(src.file), 2)
    w.put(_number(src), 9)
    w.put(src.neg, 1)
    w.put(src.rep, 1)


def _encode_message(w: BitWriter, instr: Instruction) -> int:
    message = instr.message
    assert message is not None
    w.put(instr.dst.nr if instr.dst.file == "r" else 0, 8)
    w.put(instr.dst.file == "r", 1)
    w.put(instr.srcs[0].nr if instr.srcs else 0, 8)
    w.put(message.length, 4)
    w.put(max(0, message.result - 1), 3)
    w.put(message.desc, 29)
    return w.word


def decode(word: int) -> Instruction:
    """The instruction of 64 bits; `encode(decode(w)) == w` for every word that `encode` makes."""
    r = BitReader(word)
    cat, code = r.take(3), r.take(6)
    op = BY_CODE.get((cat, code))
    if op is None:
        raise ValueError(f"category {cat} has no instruction {code}")
    ss, sy = bool(r.take(1)), bool(r.take(1))
    if op.kind == "message":
        nr, there, payload = r.take(8), r.take(1), r.take(8)
        length, result = r.take(4), r.take(3)
        message = Message(r.take(29), length, result + 1 if there else 0)
        dst = Operand("r", nr) if there else NONE
        return Instruction(op, dst, (Operand("r", payload),), ss=ss, sy=sy, message=message)
    repeat, sat = r.take(3), bool(r.take(1))
    dst = Operand(_DSTS[r.take(2)], r.take(8))
    made = Instruction(op, dst, ss=ss, sy=sy, repeat=repeat, sat=sat)
    if cat == 0:
        made.pred, made.inverse, made.target = r.take(2), bool(r.take(1)), r.take(24)
        return made
    take = {1: _take_wide, 3: _take_short}.get(cat, _take)
    made.srcs = tuple(take(r) for _ in range(op.sources))
    return made


def _take_wide(r: BitReader) -> Operand:
    file = _FILES[r.take(2)]
    if file == "i":
        return Operand("i", 0, bits=r.take(32))
    return Operand(file, r.take(10), neg=bool(r.take(1)), abs=bool(r.take(1)), rep=bool(r.take(1)))


def _take(r: BitReader) -> Operand:
    file, number = _FILES[r.take(2)], r.take(10)
    neg, absolute, rep = (bool(r.take(1)) for _ in range(3))
    if file == "i":
        signed = number - 1024 if number >> 9 else number
        return Operand("i", 0, neg=neg, abs=absolute, rep=rep, bits=signed & 0xFFFFFFFF)
    return Operand(file, number, neg=neg, abs=absolute, rep=rep)


def _take_short(r: BitReader) -> Operand:
    file, number = _FILES[r.take(2)], r.take(9)
    return Operand(file, number, neg=bool(r.take(1)), rep=bool(r.take(1)))
