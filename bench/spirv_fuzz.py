"""Mutated SPIR-V modules: each must be refused with an error or become a valid shader.

    python bench/spirv_fuzz.py --count 20000 [module.spv...]

Without files, kernels of the tests and bundled shader_tests are the seeds, one entry point each.
Words are replaced, swapped, removed and repeated; ids are exchanged. What is accepted has passed
NIR's validator (`read_entry` asks it); a part is disassembled, too. `fuzz_run` says how a run is
split and continued.
"""

from __future__ import annotations

import argparse
import random
import sys
from array import array
from functools import partial
from pathlib import Path

from fuzz_run import add_options, run
from spirv_seeds import seeds

from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

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


def attempt(data: bytes, text: bool = False) -> str:
    """`refused` or `accepted`; anything but a deliberate error escapes."""
    try:
        module = read_module(data)
        if text:
            disassemble(module)
    except GalletteError:
        return "refused"
    try:
        spirv_to_nir(module).unref()
    except GalletteError:
        return "refused"
    return "accepted"


def case(modules: list[bytes], number: int) -> str:
    """One mutated module, made of its number."""
    random_ = random.Random(number)
    data = mutate(modules[number % len(modules)], random_)
    return attempt(data, text=number % 8 == 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, 2000)
    parser.add_argument("--write", type=Path, help="write the first case's module, run nothing")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    modules = [path.read_bytes() for path in options.files] or seeds()
    if options.write is not None:
        random_ = random.Random(options.first)
        options.write.write_bytes(mutate(modules[options.first % len(modules)], random_))
        return 0
    return run(partial(case, modules), options)


if __name__ == "__main__":
    sys.exit(main())
