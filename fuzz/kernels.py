"""Mutated kernel launches: each is an error or gives a defined result.

    python -m fuzz kernels --count 20000 [--formats global=fat]

The kernels of the tests are given too few and too many bytes, null pointers, wild indices in the
arrays they read, grids of odd sizes, arguments of other kinds. One in eight is run twice from the
same state and must write the same both times; a launch has a budget, so that no loop over a wild
bound goes on for ever. Compiling costs more than launching: each kernel has a few shapes of
workgroups and of local memory, which all launches share.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.harness import Finding, Fuzzer
from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Image, Kernel, Local, Program, Sampler

KERNELS = Path(__file__).parents[1] / "tests" / "kernels"
BUDGET = 3 << 17
SIZES = (0, 1, 3, 4, 7, 16, 60, 64, 256, 1000)
WILD = (0, 1, -1, 7, 63, 64, 255, 1 << 16, (1 << 31) - 1, -(1 << 31))
SHAPES: tuple[tuple[Any, int], ...] = (
    (1, 0),
    (16, 128),
    (5, 1024),
    ((4, 2), 16),
    ((2, 1, 3), 1 << 14),
)
"""workgroups, and the bytes of each local argument: what is compiled"""


def argument(wanted: Any, local: int, random_: random.Random) -> Any:
    """Something for an argument, mostly of the right kind."""
    if random_.random() < 0.03:
        return random_.choice((None, 3, "text", Local(8), np.float32(1), np.zeros(4), []))
    if wanted.kind == "global":
        if random_.random() < 0.1:
            return None
        size = random_.choice(SIZES)
        data = np.frombuffer(random_.randbytes(size * 4), np.uint8)
        data = data.copy() if random_.random() < 0.5 else data % 3
        if size and random_.random() < 0.3:
            data.view(np.int32)[random_.randrange(size)] = random_.choice(WILD)
        return data
    if wanted.kind == "local":
        return Local(random_.choice((-4, 1 << 40)) if random_.random() < 0.01 else local)
    if wanted.kind == "image":
        shape = (random_.randrange(1, 9), random_.randrange(1, 9), random_.choice((1, 2, 4)))
        return Image(np.zeros(shape, random_.choice((np.float32, np.uint8))))
    if wanted.kind == "sampler":
        return Sampler(random_.choice(("clamp", "repeat")), linear=random_.random() < 0.5)
    if wanted.size not in (1, 2, 4, 8):
        return np.frombuffer(random_.randbytes(wanted.size), np.uint8).copy()
    number = random_.choice(WILD[:7] if random_.random() < 0.9 else WILD)
    raw = (number & (1 << 8 * wanted.size) - 1).to_bytes(wanted.size, "little")
    return np.frombuffer(raw, f"i{wanted.size}")[0]


def size(random_: random.Random, limit: int) -> Any:
    one = random_.choice((1, 1, 2, 3, limit, 5))
    return random_.choice((one, (one, 2), (1, one), (2, 1, 2), 0 if random_.random() < 0.1 else 1))


def copied(values: list[Any]) -> list[Any]:
    return [v.copy() if isinstance(v, np.ndarray) else v for v in values]


def launch(kernel: Kernel, values: list[Any], grid: Any, block: Any) -> str:
    try:
        kernel(*values, grid=grid, block=block)
    except GalletteError as error:
        return "stopped" if "budget" in str(error) else "refused"
    return "ran"


def contents(values: list[Any]) -> list[bytes]:
    return [v.tobytes() for v in values if isinstance(v, np.ndarray)]


class Launches(Fuzzer[int]):
    """Launches of the kernels of the tests; an input is its number."""

    limit = 20.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--formats")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.programs = [
            Program(assemble(path.read_text()), options.driver, options.formats, budget=BUDGET)
            for path in sorted(KERNELS.glob("*.spvasm"))
        ]
        for program in self.programs:
            program.output = lambda text: None
        self.kernels = [p.kernel(name) for p in self.programs for name in p.kernels]

    def make(self, number: int) -> int:
        return number

    def attempt(self, given: int) -> str:
        random_ = random.Random(given)
        kernel = self.kernels[given % len(self.kernels)]
        block, local = random_.choice(SHAPES)
        values = [argument(wanted, local, random_) for wanted in kernel.arguments]
        if random_.random() < 0.02:
            values = values[:-1]
        if random_.random() < 0.01:
            block = random_.choice((0, -1, (40, 40), "x", (1, 2, 3, 4), 1.5))
        grid = size(random_, 4)
        self.say(f"{kernel.name}, grid {grid}, block {block}")
        again = copied(values) if given % 8 == 0 else None
        answer = launch(kernel, values, grid, block)
        if again is not None and answer == "ran":
            launch(kernel, again, grid, block)
            if contents(again) != contents(values):
                raise Finding("two runs differ", kernel.name)
        return answer

    def release(self) -> None:
        for program in self.programs:
            program.close()


FUZZER = Launches
