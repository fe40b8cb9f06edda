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
from array import array
from pathlib import Path
from typing import Any

from fuzz.harness import Fuzzer
from fuzz.spirv_seeds import seeds
from gallette.compiler.errors import GalletteError
from gallette.compiler.reduce import without_runs
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

__all__ = ["FUZZER"]

INTERESTING = (0, 1, 2, 3, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutate(data: bytes, random_: random.Random) -> bytes:
    """A module a few edits away."""
    words = array("I", data)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        if len(words) < 7:
            break
        at = random_.randrange(5, len(words))
        kind = random_.randrange(7)
        if kind == 0:
            words[at] = random_.choice(INTERESTING)
        elif kind == 1:
            words[at] ^= 1 << random_.randrange(32)
        elif kind == 2:
            words[at] = random_.randrange(1, max(words[3], 2))
        elif kind == 3:
            words[at] = words[random_.randrange(5, len(words))]
        elif kind == 4:
            other = random_.randrange(5, len(words))
            words[at], words[other] = words[other], words[at]
        elif kind == 5:
            del words[at : at + random_.randrange(1, 4)]
        else:
            words[at:at] = words[at : at + random_.randrange(1, 6)]
    return words.tobytes()


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
        return mutate(self.modules[number % len(self.modules)], random.Random(number))

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
