"""Mutated SPIR-V modules: each is refused with an error or becomes a valid shader.

    python -m fuzz spirv-words --count 20000
    python -m fuzz spirv-words --module a.spv --module b.spv

Without modules, kernels of the tests and bundled shader_tests are the seeds, one entry point each.
Words are replaced, swapped, removed and repeated; ids are exchanged. What is accepted has passed
NIR's validator (`read_entry` asks it); a part is disassembled, too.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

from fuzz.damage import spirv
from fuzz.harness import Fuzzer
from fuzz.spirv_seeds import seeds
from gallette.compiler.errors import GalletteError
from gallette.compiler.reduce import without_runs
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir


def _words(data: bytes) -> list[bytes]:
    return [data[at : at + 4] for at in range(0, len(data), 4)]


class SPIRVWords(Fuzzer[bytes]):
    """Modules a few edits away from good ones."""

    limit = 5.0
    batch = 50
    steps = (without_runs(_words, b"".join),)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--module", type=Path, action="append", help="a seed")

    @classmethod
    def prepare(cls, options: argparse.Namespace) -> list[bytes]:
        return [path.read_bytes() for path in options.module or ()] or seeds()

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.modules: list[bytes] = prepared

    def make(self, number: int) -> bytes:
        return spirv(self.modules[number % len(self.modules)], random.Random(number))

    def attempt(self, given: bytes) -> str:
        try:
            module = read_module(given)
            if len(given) % 32 == 0:
                disassemble(module)
            spirv_to_nir(module).unref()
        except GalletteError:
            return "refused"
        return "accepted"


FUZZER = SPIRVWords
