"""Assemble text for one of the simulated machines, simd or tiler.

The result is printed as words in hexadecimal, one instruction a line, or written as binary code
with -o. `gallette asm --instructions` lists the machine's instructions and their costs.
"""

from __future__ import annotations

import argparse

from gallette.compiler.arguments import read_source
from gallette.compiler.errors import InputError, Span
from gallette.compiler.output_files import write_whole
from gallette.drivers.machines.isa.reference import listed
from gallette.machines import DEFAULT_MACHINE, MACHINES, machine_named

VALUES = {"machine": DEFAULT_MACHINE, "machines": tuple(MACHINES)}


def run(options: argparse.Namespace) -> int:
    machine = machine_named(options.driver)
    if options.instructions:
        print(listed(machine), end="")
        return 0
    if options.file is None:
        raise InputError("gallette asm: needs a FILE (--instructions lists the instructions)")
    text, name = read_source(options.file)
    words = []
    for number, instr in enumerate(machine.assemble(text, name), 1):
        try:
            words.append(machine.encode(instr))
        except ValueError as error:
            span = Span(number, 1, 0, name)
            raise InputError(f"instruction {number}: {error}", span, "") from error
    if options.output is not None:
        size = machine.word_bytes
        write_whole(options.output, b"".join(word.to_bytes(size, "little") for word in words))
        print(f"{options.output}: {len(words)} instructions")
        return 0
    for word in words:
        print(f"{word:0{2 * machine.word_bytes}x}")
    return 0
