"""`gallette disasm FILE`: binary code, words in hex, or a shader compiled for `simd`, as text."""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.explaining import STAGES, explain_file

__all__ = ["add_arguments", "run", "words_of"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="binary code, words in hex, or a shader")
    parser.add_argument(
        "--stage", default=None, help="what stage a shader is whose name does not tell"
    )


def words_of(data: bytes, name: str) -> list[int]:
    """Instructions as integers: 16 bytes each, or 32 hex digits to a line."""
    try:
        lines = data.decode("ascii").split()
        if lines and all(len(line) == 32 for line in lines):
            return [int(line, 16) for line in lines]
    except ValueError:
        pass
    if len(data) % 16:
        raise InputError(f"{name}: {len(data)} bytes are no whole number of instructions")
    return [int.from_bytes(data[at : at + 16], "little") for at in range(0, len(data), 16)]


def run(options: argparse.Namespace) -> int:
    from gallette.drivers.simd.isa.assembly import disassemble
    from gallette.drivers.simd.isa.encoding import decode

    path: Path = options.file
    if path.suffix in STAGES or path.suffix in (".shader_test", ".glsl"):
        story = explain_file(str(path), "simd", options.stage)
        for shader in story.shaders:
            for variant in shader.variants:
                print(f"; {shader.stage} shader, {variant.key}")
                print(variant.code, end="")
        return 0
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    code = []
    for number, word in enumerate(words_of(path.read_bytes(), str(path))):
        try:
            code.append(decode(word))
        except (ValueError, IndexError, KeyError) as error:
            raise InputError(f"{path}: instruction {number}: {error}") from error
    print(disassemble(code), end="")
    return 0
