"""How many SPIR-V instructions per second are read and translated to NIR.

    python -m bench.spirv_speed [--profile] [--rounds N]

The modules are the kernels of the tests and what `nir_to_spirv` makes of bundled shader_tests; time
is the process's own.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable

from fuzz import spirv_seeds
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.translate import entry_points, spirv_to_nir


def modules() -> list[tuple[str, bytes]]:
    """Binary modules by name."""
    return [(str(n), module.to_bytes()) for n, module in enumerate(spirv_seeds.modules())]


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
        translate()  # what is imported and derived when first needed
        profile = cProfile.Profile()
        profile.runcall(translate)
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
        return
    for name, work in (("read", read), ("read and translate", translate)):
        count, seconds = timed(work, options.rounds)
        print(f"{name}: {count} instructions, {count / seconds:,.0f} a second")


if __name__ == "__main__":
    main()
