"""`gallette asm FILE`: assembly text of the machine `simd` to its 128-bit instructions."""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette.compiler.arguments import read_source
from gallette.compiler.errors import InputError, Span

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", help="assembly text; - reads standard input")
    parser.add_argument(
        "--instructions", action="store_true", help="list the instructions and what they cost"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=None, help="binary code (default: words in hex)"
    )


def run(options: argparse.Namespace) -> int:
    from gallette.drivers.simd.isa.assembly import assemble
    from gallette.drivers.simd.isa.encoding import encode

    if options.instructions:
        return _instructions()
    if options.file is None:
        raise InputError("gallette asm: which file? (--instructions lists what can stand in it)")
    text, name = read_source(options.file)
    words = []
    for number, instr in enumerate(assemble(text, name), 1):
        try:
            words.append(encode(instr))
        except ValueError as error:
            span = Span(number, 1, 0, name)
            raise InputError(f"instruction {number}: {error}", span, "") from error
    if options.output is not None:
        options.output.write_bytes(b"".join(word.to_bytes(16, "little") for word in words))
        print(f"{options.output}: {len(words)} instructions")
        return 0
    for word in words:
        print(f"{word:032x}")
    return 0


def _instructions() -> int:
    """The opcode table and the messages."""
    from gallette.drivers.common.machine.messages import UNITS
    from gallette.drivers.simd.isa.opcodes import OPCODES

    print("instruction    code sources latency  what it does")
    for op in OPCODES.values():
        print(f"{op.name:14} {op.code:4} {op.sources:7} {op.latency:7}  {op.doc}")
    print("\nunit       latency  fields of its messages (bits)")
    for name, (latency, fields) in UNITS.items():
        shown = " ".join(f"{field}({bits})" for field, bits in fields)
        print(f"{name:10} {latency:7}  {shown}")
    return 0
