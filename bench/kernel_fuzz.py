"""Mutated kernel launches: each must be an error or give a defined result.

    python bench/kernel_fuzz.py --count 2000 [--formats global=fat]

The kernels of the tests are given too few and too many bytes, null pointers, wild indices in the
arrays they read, workgroups and grids of odd sizes, arguments of other kinds. What runs is run
twice from the same state and must write the same both times; a launch has a budget, so that no
loop over a wild bound goes on for ever.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Image, Kernel, Local, Program, Sampler

KERNELS = Path(__file__).parents[1] / "tests" / "kernels"
BUDGET = 1 << 24
SIZES = (0, 1, 3, 4, 7, 16, 60, 64, 256, 1000)
WILD = (0, 1, -1, 7, 63, 64, 255, 1 << 16, (1 << 31) - 1, -(1 << 31))


def argument(wanted: Any, random_: random.Random) -> Any:
    """Something for an argument, mostly of the right kind."""
    if random_.random() < 0.03:
        return random_.choice((None, 3, "text", Local(8), np.float32(1), np.zeros(4), []))
    if wanted.kind == "global":
        if random_.random() < 0.1:
            return None
        size = random_.choice(SIZES)
        rng = np.random.default_rng(random_.randrange(1 << 30))
        data = rng.integers(0, 256 if random_.random() < 0.5 else 3, size * 4).astype(np.uint8)
        if size and random_.random() < 0.3:
            data.view(np.int32)[random_.randrange(size)] = random_.choice(WILD)
        return data
    if wanted.kind == "local":
        return Local(random_.choice((0, 1, 16, 128, 1024, 1 << 14, -4, 1 << 40)))
    if wanted.kind == "image":
        shape = (random_.randrange(1, 9), random_.randrange(1, 9), random_.choice((1, 2, 4)))
        return Image(np.zeros(shape, random_.choice((np.float32, np.uint8))))
    if wanted.kind == "sampler":
        return Sampler(random_.choice(("clamp", "repeat")), linear=random_.random() < 0.5)
    number = random_.choice(WILD[:7] if random_.random() < 0.9 else WILD)
    raw = (number & (1 << 8 * wanted.size) - 1).to_bytes(wanted.size, "little")
    return (
        np.frombuffer(raw, np.uint8).copy()
        if wanted.size not in (1, 2, 4, 8)
        else np.frombuffer(raw, f"i{wanted.size}")[0]
    )


def size(random_: random.Random, limit: int) -> Any:
    one = random_.choice((1, 1, 2, 3, limit, 5))
    return random_.choice((one, (one, 2), (1, one), (2, 1, 2), 0 if random_.random() < 0.1 else 1))


def copied(values: list[Any]) -> list[Any]:
    return [v.copy() if isinstance(v, np.ndarray) else v for v in values]


def launch(kernel: Kernel, random_: random.Random) -> str:
    """`refused`, `stopped` or `ran`."""
    values = [argument(wanted, random_) for wanted in kernel.arguments]
    if random_.random() < 0.02:
        values = values[:-1]
    grid, block = size(random_, 4), size(random_, 16)
    results = []
    for _ in range(2):
        given = copied(values)
        try:
            kernel(*given, grid=grid, block=block)
        except GalletteError as error:
            return "stopped" if "budget" in str(error) else "refused"
        results.append([v.tobytes() for v in given if isinstance(v, np.ndarray)])
    assert results[0] == results[1], "two runs differ"
    return "ran"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats")
    parser.add_argument("--driver", default="numpipe")
    options = parser.parse_args()
    programs = [
        Program(assemble(path.read_text()), options.driver, options.formats, budget=BUDGET)
        for path in sorted(KERNELS.glob("*.spvasm"))
    ]
    for program in programs:
        program.output = lambda text: None
    kernels = [p.kernel(name) for p in programs for name in p.kernels]
    random_ = random.Random(options.seed)
    results: Counter[str] = Counter()
    slowest, which = 0.0, ""
    start = time.process_time()
    for number in range(options.count):
        kernel = random_.choice(kernels)
        began = time.process_time()
        try:
            results[launch(kernel, random_)] += 1
        except Exception as error:
            key = f"{kernel.name}: {type(error).__name__}: {str(error)[:90]}"
            results["crashed"] += 1
            if results[key] == 0:
                print(f"number {number}: {key}")
                traceback.print_exc(limit=-3)
            results[key] += 1
        took = time.process_time() - began
        if took > 5:
            print(f"number {number}: {kernel.name} took {took:.1f} s", flush=True)
        if took > slowest:
            slowest, which = took, f"{kernel.name}, number {number}"
    seconds = time.process_time() - start
    print(
        f"{options.count} launches in {seconds:.0f} s, slowest {slowest:.2f} s ({which}): "
        f"{dict(results)}"
    )
    for program in programs:
        program.close()
    return int(bool(results["crashed"]))


if __name__ == "__main__":
    sys.exit(main())
