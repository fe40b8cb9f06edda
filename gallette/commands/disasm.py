"""Print binary code, or words in hexadecimal, of a simulated machine as assembly text.

A shader is compiled to the machine's code first.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.explaining import STAGES, explain_file
from gallette.machines import DEFAULT_MACHINE, MACHINES, machine_named

VALUES = {"machine": DEFAULT_MACHINE, "machines": tuple(MACHINES)}


def words_of(data: bytes, name: str, size: int = 16) -> list[int]:
    """Instructions as integers: `size` bytes each, or twice as many hex digits to a line."""
    try:
        lines = data.decode("ascii").split()
        if lines and all(len(line) == 2 * size for line in lines):
            return [int(line, 16) for line in lines]
    except ValueError:
        pass
    if len(data) % size:
        raise InputError(f"{name}: {len(data)} bytes are not a whole number of instructions")
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def run(options: argparse.Namespace) -> int:
    machine = machine_named(options.driver)
    path: Path = options.file
    if path.suffix in STAGES or path.suffix in (".shader_test", ".glsl"):
        story = explain_file(str(path), machine.name, options.stage)
        for shader in story.shaders:
            for variant in shader.variants:
                print(f"; {shader.stage} shader, {variant.key}")
                print(variant.code, end="")
        return 0
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    code = []
    words = words_of(path.read_bytes(), str(path), machine.word_bytes)
    for number, word in enumerate(words):
        try:
            code.append(machine.decode(word))
        except (ValueError, IndexError, KeyError) as error:
            raise InputError(f"{path}: instruction {number}: {error}") from error
    print(machine.disassemble(code), end="")
    return 0
