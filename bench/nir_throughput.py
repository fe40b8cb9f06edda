"""How many instructions per second the IR's tools handle, on a shader of about a thousand.

    python bench/nir_throughput.py [--instructions 1000] [--runs 7] [--profile parse|optimise|print]

Parses, validates, clones, optimises, prints, serialises and interprets a generated fragment shader
(vector arithmetic, a few branches, loops and variables, little of it dead), and prints the median
time and instructions per second of each step.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Def, Shader, Stage, clone_shader
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.nir.text.serialize import deserialize, serialize

_BINARY = ("fadd", "fmul", "fsub", "fmin", "fmax", "fadd", "fmul")
_UNARY = ("fneg", "fabs", "fsqrt", "fsin", "ffloor", "fsat")


def make_shader(instructions: int, seed: int = 1) -> Shader:
    """A shader of roughly that many instructions, nearly all of them alive."""
    rng = random.Random(seed)
    b = Builder.shader_main(Stage.FRAGMENT, "throughput")
    zero = b.imm_int(0)
    values: list[Def] = [
        b.intrinsic("load_input", [zero], num_components=4, location=VaryingSlot.VAR0 + i)
        for i in range(4)
    ]
    state = b.impl.add_local("state", t.VEC4)
    b.store_var(state, values[0])
    while b.impl.count_instrs() < instructions:
        _statement(b, rng, values)
        if rng.random() < 0.04:
            _branch(b, rng, values, state)
        if rng.random() < 0.01:
            _loop(b, rng, values, state)
    total = values[-1]
    for value in values[-40:]:
        total = b.fadd(total, value)
    total = b.fadd(total, b.load_var(state))
    b.intrinsic("store_output", [total, zero], location=FragResult.DATA0, write_mask=15)
    return b.shader


def _statement(b: Builder, rng: random.Random, values: list[Def]) -> None:
    recent = values[-8:]
    a = rng.choice(recent)
    if rng.random() < 0.2:
        a = b.swizzle(a, rng.choice(["wzyx", "yxwz", "xxyy"]))
    if rng.random() < 0.25:
        value = b.alu(rng.choice(_UNARY), a)
    elif rng.random() < 0.3:
        value = b.fmul(a, b.imm_vec(*[rng.choice([0.5, 2.0, 3.0, 1.0])] * 4))
    else:
        value = b.alu(rng.choice(_BINARY), a, rng.choice(recent))
    values.append(value)


def _branch(b: Builder, rng: random.Random, values: list[Def], state: Any) -> None:
    kept = list(values)
    b.push_if(b.flt(b.channel(values[-1], 0), b.channel(values[-2], 1)))
    for _ in range(rng.randrange(2, 8)):
        _statement(b, rng, values)
    b.store_var(state, values[-1])
    b.pop_if()
    values[:] = kept


def _loop(b: Builder, rng: random.Random, values: list[Def], state: Any) -> None:
    kept = list(values)
    counter = b.impl.add_local(f"i{len(b.impl.locals)}", t.INT)
    b.store_var(counter, b.imm_int(0))
    b.push_loop()
    i = b.load_var(counter)
    limit = b.iand(b.f2i32(b.channel(values[0], 0)), b.imm_int(7))
    b.break_if(b.ige(i, limit))
    b.store_var(counter, b.iadd(i, b.imm_int(1)))
    values.append(b.load_var(state))
    for _ in range(4):
        _statement(b, rng, values)
    b.store_var(state, values[-1])
    b.pop_loop()
    values[:] = kept


def median(work: Callable[[], object], runs: int) -> float:
    work()  # tables and rule sets are built on first use
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--instructions", type=int, default=1000)
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--profile", help="profile one step instead")
    options = arguments.parse_args()
    shader = make_shader(options.instructions)
    text, data = print_shader(shader), serialize(shader)
    count = shader.count_instrs()
    fused = OptimizeOptions(fuse_ffma=True)

    def optimised() -> Shader:
        clone = clone_shader(shader)
        optimize(clone, fused)
        return clone

    steps: dict[str, Callable[[], object]] = {
        "parse": lambda: parse(text, check=False),
        "validate": lambda: validate(shader),
        "print": lambda: print_shader(shader),
        "clone": shader.clone,
        "optimise": optimised,
        "serialise": lambda: serialize(shader),
        "deserialise": lambda: deserialize(data),
        "interpret": lambda: interpret(shader, Environment(lanes=64)),
        "all": lambda: print_shader(_optimise(parse(text, check=False), fused)),
    }
    if options.profile:
        profiler = cProfile.Profile()
        steps[options.profile]()
        profiler.runcall(steps[options.profile])
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
        return
    after = optimised().count_instrs()
    print(f"{count} instructions, {after} after optimising; medians of {options.runs} runs")
    for name, work in steps.items():
        seconds = median(work, options.runs)
        print(f"{name:12} {seconds * 1e3:9.2f} ms {count / seconds:12,.0f} instructions/s")


def _optimise(shader: Shader, options: OptimizeOptions) -> Shader:
    optimize(shader, options)
    return shader


if __name__ == "__main__":
    main()
