"""Random programs with divergent loops on the machine simd: `python -m bench.simd_fuzz [COUNT]`.

Every program runs under the three settings of `live_ranges` and is compared, bit by bit, with the
interpreter of NIR; registers, spills and instructions are added up. The remedies must be right.
"""

from __future__ import annotations

import argparse
import sys

from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.machine.program import BoundMachine
from gallette.drivers.common.work import Work
from gallette.drivers.simd.backend.liveness import LiveRanges
from gallette.drivers.simd.compile import BackendOptions, compile_shader
from gallette.drivers.simd.machine.executable import MachineHangError
from gallette.drivers.simd.program import Counters, SimdProgram
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare
from tests.simd.divergent_programs import divergent_shader

__all__ = ["main"]

SETTINGS: tuple[LiveRanges, ...] = ("naive", "loop_extended", "mask_aware")


class Impatient(SimdProgram):
    """Gives up soon: what forgets its channels may loop for ever."""

    def bind(self, resources: ShaderResources) -> BoundMachine:
        resources.work = Work(1 << 28)
        return super().bind(resources)


def run(seed: int, options: BackendOptions, totals: dict[str, int]) -> bool:
    """Is the program right?"""
    shader = divergent_shader(seed)

    def compiler(shader: Shader) -> SimdProgram:
        made = compile_shader(shader, options)
        totals["registers"] += made.registers
        totals["spills"] += made.allocation.spills
        totals["instructions"] += made.instructions
        return Impatient(shader, made, Counters())

    try:
        compare(shader, PictureEnvironment(37, seed), compiler=compiler)
    except (AssertionError, MachineHangError):
        return False
    return True


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.simd_fuzz")
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--registers", type=int, default=128)
    parser.add_argument("--width", type=int, default=0)
    options = parser.parse_args(arguments)
    remedies_hold = True
    for setting in SETTINGS:
        totals = dict.fromkeys(("registers", "spills", "instructions"), 0)
        backend = BackendOptions(setting, options.width, options.registers)
        seeds = range(options.first, options.first + options.count)
        wrong = [seed for seed in seeds if not run(seed, backend, totals)]
        remedies_hold &= setting == "naive" or not wrong
        shown = "  ".join(f"{value:,} {name}" for name, value in totals.items())
        print(f"{setting:14} {len(wrong)} of {options.count} wrong  {shown}  {wrong[:8]}")
    return 0 if remedies_hold else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
