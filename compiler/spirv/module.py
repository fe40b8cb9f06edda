"""A SPIR-V module in memory, and its binary form.

A module is a header and a flat list of instructions; an instruction keeps its operands as the words
of the file, because most readers need exactly those. `operands` decodes them.
"""

from __future__ import annotations

import sys
from array import array

from gallette.compiler.errors import GalletteError
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.spirv.grammar import MAGIC, Instr, grammar

GENERATOR = 0
LATEST = 0x00010600
MAX_BOUND = 0x3FFFFF  # the universal limit on ids


class SpirvError(GalletteError):
    """An invalid module, with the place and what was expected."""

    def __init__(self, message: str, offset: int = -1, instruction: str = ""):
        self.offset = offset
        self.instruction = instruction
        where = f" at byte {offset}" if offset >= 0 else ""
        what = f"{instruction}: " if instruction else ""
        super().__init__(f"SPIR-V{where}: error: {what}{message}")


class Instruction:
    """One instruction: `words` are its operands, result type and result id included."""

    __slots__ = ("offset", "opcode", "words")

    def __init__(self, opcode: int, words: tuple[int, ...], offset: int = -1):
        self.opcode = opcode
        self.words = words
        self.offset = offset

    @property
    def info(self) -> Instr:
        return grammar().by_opcode[self.opcode]

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def type_id(self) -> int:
        """The id of the result's type; 0 if there is none."""
        return self.words[0] if self.info.has_type and self.words else 0

    @property
    def result_id(self) -> int:
        """The id that this instruction defines; 0 if it defines none."""
        info = self.info
        at = 1 if info.has_type else 0
        return self.words[at] if info.has_result and len(self.words) > at else 0

    def error(self, message: str) -> SpirvError:
        return SpirvError(message, self.offset, self.name)

    def __repr__(self) -> str:
        return f"<{self.name} {' '.join(map(str, self.words))}>"


@lazy_dataclass()
class Module:
    """A header and the instructions in their order."""

    version: int = 0x00010500
    generator: int = GENERATOR
    bound: int = 1
    schema: int = 0
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def version_text(self) -> str:
        return f"{self.version >> 16 & 0xFF}.{self.version >> 8 & 0xFF}"

    def to_bytes(self) -> bytes:
        """The binary form, little-endian."""
        words = array("I", (MAGIC, self.version, self.generator, self.bound, self.schema))
        for instr in self.instructions:
            words.append(len(instr.words) + 1 << 16 | instr.opcode)
            words.extend(instr.words)
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes()


@gc_paused
def read_module(data: bytes) -> Module:
    """Read a binary module of either byte order; truncated or unknown data is an error."""
    if len(data) % 4:
        raise SpirvError(f"a module is whole words, not {len(data)} bytes")
    if len(data) < 20:
        raise SpirvError(f"a header has 20 bytes, this module {len(data)}")
    packed = array("I", data)
    if sys.byteorder == "big":
        packed.byteswap()
    if packed[0] != MAGIC:
        packed.byteswap()
        if packed[0] != MAGIC:
            raise SpirvError(f"expected the magic number {MAGIC:#010x}", 0)
    words = tuple(packed)
    module = Module(words[1], words[2], words[3], words[4])
    if not 0x00010000 <= module.version <= LATEST or module.version & 0xFF0000FF:
        raise SpirvError(f"version {module.version:#010x} is not 1.0 to 1.6", 4)
    if not 0 < module.bound <= MAX_BOUND:
        raise SpirvError(f"the bound of ids is {module.bound}, not 1 to {MAX_BOUND}", 12)
    known = grammar().by_opcode
    at, end = 5, len(words)
    add = module.instructions.append
    while at < end:
        head = words[at]
        opcode = head & 0xFFFF
        behind = at + (head >> 16)
        if opcode not in known:
            raise SpirvError(f"unknown opcode {opcode}", at * 4)
        if not at < behind <= end:
            name = known[opcode].name
            raise SpirvError(f"{head >> 16} words, but {end - at} are left", at * 4, name)
        add(Instruction(opcode, words[at + 1 : behind], at * 4))
        at = behind
    return module


def words_of(text: str) -> tuple[int, ...]:
    """A string literal: UTF-8 with at least one zero byte, four bytes a word."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return tuple(int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4))


def text_of(words: tuple[int, ...], at: int = 0) -> tuple[str, int]:
    """The string literal at `words[at]`, and the index after it (-1 if it is not terminated)."""
    packed = array("I", words[at:] if at else words)
    if sys.byteorder == "big":
        packed.byteswap()
    data = packed.tobytes()
    end = data.find(0)
    if end < 0:
        return data.decode("utf-8", "replace"), -1
    return data[:end].decode("utf-8", "replace"), at + end // 4 + 1
