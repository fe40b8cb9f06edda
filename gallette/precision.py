"""The accuracy of shader functions on a machine that lacks some of them.

    python -m gallette.precision            every function on every machine of `MACHINES`
    python -m gallette.precision --write    the same as docs/reference/precision.md

A function is built as the front ends build it, lowered for the machine, and run by the reference
interpreter; errors are distances to the true value in units of its last place (ULP). A correctly
rounded result is at most 0.5 away.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gallette.compiler.glsl.lower.math import lower_math
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import FLOAT, Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower import Machine
from gallette.compiler.nir.run.pass_runner import run_passes

Array = npt.NDArray[Any]
BINS = (0.5, 1.0, 2.0, 4.0, 16.0, 256.0, 65536.0)
"""upper ends of the histogram's bins in ULP; the last bin has none"""
_SMALL = "frcp frsq fsin_reduced fcos_reduced fexp2 flog2"
MACHINES: dict[str, Machine] = {
    "everything": Machine(),
    "small": Machine.of(_SMALL),
    "sin and cos": Machine.of("frcp frsq fsin_reduced fcos_reduced"),
    "8 bits, 0 steps": Machine.of("frcp_8bit frsq_8bit fsin_reduced fcos_reduced", steps=0),
    "8 bits, 1 step": Machine.of("frcp_8bit frsq_8bit fsin_reduced fcos_reduced", steps=1),
    "8 bits, 2 steps": Machine.of("frcp_8bit frsq_8bit fsin_reduced fcos_reduced"),
    "8 bits, 2 steps, no ffma": Machine.of(
        "frcp_8bit frsq_8bit fsin_reduced fcos_reduced", ffma=False
    ),
    "8 bits, no sine": Machine.of("frcp_8bit frsq_8bit", full_range=True, exact_division=True),
}


@lazy_dataclass(frozen=True)
class Function:
    """A function of GLSL: its value in float64, and which arguments it is measured at."""

    name: str
    truth: Callable[..., Any]
    inputs: Callable[[np.random.Generator, int], tuple[Array, ...]]
    where: str


def _between(low: float, high: float) -> Callable[[np.random.Generator, int], tuple[Array, ...]]:
    return lambda rng, n: (rng.uniform(low, high, n),)


def _magnitudes(
    low: float, high: float, sources: int = 1, signed: bool = True
) -> Callable[[np.random.Generator, int], tuple[Array, ...]]:
    def draw(rng: np.random.Generator, n: int) -> tuple[Array, ...]:
        def one() -> Array:
            sign = rng.choice([-1.0, 1.0], n) if signed else 1.0
            return np.exp2(rng.uniform(low, high, n)) * sign

        return tuple(one() for _ in range(sources))

    return draw


def _powers(rng: np.random.Generator, n: int) -> tuple[Array, ...]:
    return np.exp2(rng.uniform(-8, 8, n)), rng.uniform(-8, 8, n)


FUNCTIONS: tuple[Function, ...] = (
    Function("1/x", lambda x: 1 / x, _magnitudes(-125, 125), "2^-125 to 2^125"),
    Function("x/y", np.divide, _magnitudes(-60, 60, 2), "2^-60 to 2^60"),
    Function("sqrt", np.sqrt, _magnitudes(-125, 125, 1, False), "2^-125 to 2^125"),
    Function(
        "inversesqrt", lambda x: 1 / np.sqrt(x), _magnitudes(-125, 125, 1, False), "2^-125 to 2^125"
    ),
    Function("exp2", np.exp2, _between(-126, 127), "-126 to 127"),
    Function("log2", np.log2, _magnitudes(-126, 127, 1, False), "2^-126 to 2^127"),
    Function("exp", np.exp, _between(-87, 88), "-87 to 88"),
    Function("log", np.log, _magnitudes(-126, 127, 1, False), "2^-126 to 2^127"),
    Function("pow", np.power, _powers, "(2^-8 to 2^8) to the power -8 to 8"),
    Function("sin", np.sin, _between(-np.pi, np.pi), "half a turn"),
    Function("cos", np.cos, _between(-np.pi, np.pi), "half a turn"),
    Function("tan", np.tan, _between(-np.pi / 2, np.pi / 2), "a quarter turn"),
    Function("sin", np.sin, _between(-8192, 8192), "1300 turns"),
    Function("cos", np.cos, _magnitudes(13, 120), "2^13 to 2^120"),
    Function("asin", np.arcsin, _between(-1, 1), "-1 to 1"),
    Function("acos", np.arccos, _between(-1, 1), "-1 to 1"),
    Function("atan", np.arctan, _magnitudes(-20, 20), "2^-20 to 2^20"),
    Function("atan2", np.arctan2, _magnitudes(-20, 20, 2), "2^-20 to 2^20"),
)


@lazy_dataclass()
class _Call:
    """The part of a call that the rows of GLSL's table read."""

    name: str
    type: Type
    params: list[tuple[str, Type]]


def shader_of(name: str, machine: Machine, sources: int) -> Shader:
    """A shader out = name(in0, in1...), lowered for `machine`."""
    b = Builder.shader_main(Stage.VERTEX, name)
    zero = b.imm_int(0)
    args = [
        b.intrinsic("load_input", [zero], num_components=1, location=VaryingSlot(32 + i))
        for i in range(sources)
    ]
    b.intrinsic(
        "store_output", [_build(b, name, args), zero], write_mask=1, location=VaryingSlot.VAR0
    )
    run_passes(b.shader, [("lower_special_functions", machine.options)])
    return b.shader


def _build(b: Builder, name: str, args: list[Def]) -> Def:
    if name == "1/x":
        return b.frcp(args[0])
    if name == "x/y":
        return b.fdiv(*args)
    glsl = "atan" if name == "atan2" else name
    call = _Call(glsl, FLOAT, [("in", FLOAT)] * len(args))
    found = lower_math(b, cast(Any, call), args)
    assert found is not None, name
    return cast(Def, found[0])


@lazy_dataclass(frozen=True)
class Precision:
    """Errors of many results, in ULP."""

    errors: Array
    instructions: int

    @property
    def worst(self) -> float:
        return float(self.errors.max())

    @property
    def rounded(self) -> float:
        """The share of correctly rounded results."""
        return float((self.errors <= 0.5).mean())

    @property
    def histogram(self) -> list[float]:
        """The share of the results in each of `BINS`, and above."""
        counts = np.histogram(self.errors, (-1.0, *BINS, np.inf))[0]
        return [float(c) / self.errors.size for c in counts]

    @property
    def bits(self) -> float:
        """How many bits of a 24-bit significand are right in the worst case."""
        return max(0.0, 24 - float(np.log2(max(self.worst, 0.5) * 2)))


def measure(f: Function, machine: Machine, count: int = 20000, seed: int = 1) -> Precision:
    """The errors of a function on a machine at random arguments."""
    rng = np.random.default_rng(seed)
    args = [np.ascontiguousarray(x, np.float32) for x in f.inputs(rng, count)]
    shader = shader_of(f.name, machine, len(args))
    inputs = {(32 + i, 0): x.view(np.uint32) for i, x in enumerate(args)}
    result = interpret(shader, Environment(count, inputs=inputs), budget=10**9)
    have = result.floats(int(VaryingSlot.VAR0), 0).astype(np.float64)
    with np.errstate(all="ignore"):
        truth = f.truth(*(x.astype(np.float64) for x in args))
        step = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
        errors = np.abs(have - truth) / step
    return Precision(np.where(np.isnan(errors), np.inf, errors), shader.count_instrs())


def _page(count: int) -> str:
    lines = [
        "<!-- written by `python -m gallette.precision --write` -->\n",
        "# Precision\n",
        "The functions of shaders on machines that lack some of them (`compiler.nir.lower`), at",
        f"{count} random places each: results by their distance to the true value in units of the",
        "last place, in per cent; up to 0.5 is correctly rounded.\n",
    ]
    head = ["up to " + f"{b:g}" for b in BINS] + ["more"]
    columns = ["function", "where", *head, "worst", "instructions"]
    for name, machine in MACHINES.items():
        lines += [f"\n## {name}\n", f"`{machine}`\n"]
        lines += ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
        for f in FUNCTIONS:
            p = measure(f, machine, count)
            parts = [f"{100 * part:.4g}" if part else "" for part in p.histogram]
            row = [f.name, f.where, *parts, f"{p.worst:.3g}", str(p.instructions)]
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page = _page(options.count)
    if options.write:
        Path("docs/reference/precision.md").write_text(page)
    else:
        print(page)


if __name__ == "__main__":
    main()
