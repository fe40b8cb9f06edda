"""How many SPIR-V instructions per second are read and translated to NIR.

    python bench/spirv_speed.py [--profile] [--rounds N]

The modules are the kernels of the tests and what `nir_to_spirv` makes of the bundled GLSL shaders
of `bench/shaders`; time is the process's own.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable
from pathlib import Path

from gallette.commands.spirv import STAGES, _compile
from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.translate import entry_points, spirv_to_nir

ROOT = Path(__file__).parents[1]


def modules() -> list[tuple[str, bytes]]:
    """Binary modules by name."""
    found = []
    for path in sorted((ROOT / "tests" / "kernels").glob("*.spvasm")):
        found.append((path.stem, assemble(path.read_text(), str(path)).to_bytes()))
    for path in sorted((ROOT / "bench" / "shaders").rglob("*")):
        if path.suffix in STAGES:
            try:
                shader = _compile(path, path.read_text())
                found.append((path.stem, nir_to_spirv(shader).to_bytes()))
            except GalletteError:
                continue
    return found


def timed(work: Callable[[], int], rounds: int) -> tuple[int, float]:
    """(instructions of a round, seconds of the fastest)."""
    best, count = 1e9, 0
    for _ in range(rounds):
        start = time.process_time()
        count = work()
        best = min(best, time.process_time() - start)
    return count, best


def main() -> None:
    """Print instructions per second, of reading alone and of reading and translating."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    corpus = modules()

    def read() -> int:
        return sum(len(read_module(data).instructions) for _, data in corpus)

    def translate() -> int:
        total = 0
        for _, data in corpus:
            module = read_module(data)
            declared = Declarations(module)
            for stage, name in entry_points(declared):
                spirv_to_nir(declared, stage, name).unref()
            total += len(module.instructions)
        return total

    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(translate)
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
        return
    for name, work in (("read", read), ("read and translate", translate)):
        count, seconds = timed(work, options.rounds)
        print(f"{name}: {count} instructions, {count / seconds:,.0f} a second")


if __name__ == "__main__":
    main()
