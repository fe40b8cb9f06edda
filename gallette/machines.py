"""The instruction sets of drivers that simulate a machine, for `asm` and `disasm`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gallette.compiler.errors import GalletteError

__all__ = ["DEFAULT_MACHINE", "MACHINES", "Machine", "machine_named"]

DEFAULT_MACHINE = "simd"


@dataclass(frozen=True, slots=True)
class Machine:
    """What can be done with a machine's instructions."""

    name: str
    word_bytes: int
    assemble: Callable[[str, str], list[Any]]
    disassemble: Callable[[Iterable[Any]], str]
    encode: Callable[[Any], int]
    decode: Callable[[int], Any]
    instructions: Callable[[], str]  # the opcode table and the messages, for people


def _messages() -> list[str]:
    from gallette.drivers.common.machine.messages import UNITS

    lines = ["\nunit       latency  fields of its messages (bits)"]
    for name, (latency, fields) in UNITS.items():
        shown = " ".join(f"{field}({bits})" for field, bits in fields)
        lines.append(f"{name:10} {latency:7}  {shown}")
    return lines


def _simd() -> Machine:
    from gallette.drivers.simd.isa.assembly import assemble, disassemble
    from gallette.drivers.simd.isa.encoding import decode, encode
    from gallette.drivers.simd.isa.opcodes import OPCODES

    def listed() -> str:
        lines = ["instruction    code sources latency  what it does"]
        for op in OPCODES.values():
            lines.append(f"{op.name:14} {op.code:4} {op.sources:7} {op.latency:7}  {op.doc}")
        return "\n".join([*lines, *_messages()]) + "\n"

    return Machine("simd", 16, assemble, disassemble, encode, decode, listed)


def _tiler() -> Machine:
    from gallette.drivers.tiler.isa.assembly import assemble, disassemble
    from gallette.drivers.tiler.isa.encoding import decode, encode
    from gallette.drivers.tiler.isa.opcodes import OPCODES

    def listed() -> str:
        lines = ["instruction    cat code sources  what it does"]
        for op in OPCODES.values():
            lines.append(f"{op.name:14} {op.cat:3} {op.code:4} {op.sources:7}  {op.doc}")
        return "\n".join([*lines, *_messages()]) + "\n"

    return Machine("tiler", 8, assemble, disassemble, encode, decode, listed)


MACHINES: dict[str, Callable[[], Machine]] = {"simd": _simd, "tiler": _tiler}


def machine_named(name: str) -> Machine:
    """The machine of a driver."""
    found = MACHINES.get(name)
    if found is None:
        close = get_close_matches(name, MACHINES, 1)
        hint = f"; did you mean {close[0]}?" if close else f": there are {', '.join(MACHINES)}"
        raise GalletteError(f"no machine is called {name!r}{hint}")
    return found()
