"""What each remedy against use-count dependent rounding costs, over a corpus of shaders.

    python bench/shader_db.py [FOLDER...] [--each]

Links every `.shader_test` of the folders (default: the bundled tests), optimises each stage under
every remedy of the `is_used_once` problem and counts instructions after fusing multiply-adds. For
vertex shaders it also makes the depth-only variant and runs both in the reference interpreter: a
vertex that is not in the same place, bit for bit, is the bug. `--each` lists shaders whose count
changes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.interp.interpreter import Environment, ExecutionBudgetError, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import to_driver_form
from gallette.piglit_subset.suite import find_tests

ROOT = Path(__file__).parents[1]
STAGES = {"vertex shader": Stage.VERTEX, "fragment shader": Stage.FRAGMENT}
_FUSE_ALL = AlgebraicOptions(fuse_ffma_shared=True)
REMEDIES = {
    "no remedy": OptimizeOptions(fuse_ffma=True, inexact_used_once="always"),
    "a: rules that count uses dropped": OptimizeOptions(fuse_ffma=True, inexact_used_once="never"),
    "a': the same, fusing every product": OptimizeOptions(
        fuse_ffma=True, inexact_used_once="never", algebraic=_FUSE_ALL
    ),
    "b: every position invariant": OptimizeOptions(
        fuse_ffma=True, inexact_used_once="always", position_invariant=True
    ),
    "c: dropped where the position is computed": OptimizeOptions(
        fuse_ffma=True, inexact_used_once="not_position"
    ),
}


def corpus(folders: list[Path]) -> Iterator[tuple[str, Shader]]:
    """Every stage of every program that links, as the front end leaves it."""
    for _, path in find_tests(folders):
        text = path.read_text(encoding="utf-8", errors="replace")
        parts = re.split(r"^\[(.*?)\]\s*$", text, flags=re.MULTILINE)
        core = "CORE" in (parts[2] if len(parts) > 2 else "")
        api = "core" if core else "compat"
        shaders = [
            compile_shader(STAGES[name], [body.lstrip("\n")], CompileOptions(api=api))
            for name, body in zip(parts[1::2], parts[2::2], strict=True)
            if name in STAGES
        ]
        if not shaders or not all(s.ok for s in shaders):
            continue
        program = link_program(shaders, LinkOptions(optimize=False))
        if program.ok:
            for stage, shader in program.shaders.items():
                yield f"{path.stem} {stage.value}", shader


def position(shader: Shader, seed: int) -> np.ndarray | None:
    try:
        result = interpret(shader, Environment(lanes=64, seed=seed), budget=50_000)
    except ExecutionBudgetError:
        return None
    rows = [result.outputs.get((VaryingSlot.POS, c)) for c in range(4)]
    return None if any(row is None for row in rows) else np.stack(rows)  # type: ignore[arg-type]


def vertices_move(shader: Shader, options: OptimizeOptions) -> bool:
    """Does the depth-only variant compute another position?"""
    whole, depth_only = clone_shader(shader), clone_shader(shader)
    run_passes(depth_only, ["lower_depth_only", "dce"])
    optimize(whole, options)
    optimize(depth_only, options)
    for seed in (1, 2):
        a, b = position(whole, seed), position(depth_only, seed)
        if a is None or b is None:
            continue
        nan = np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
        if not ((a == b) | nan).all():
            return True
    return False


def fused(shader: Shader) -> int:
    return sum(
        isinstance(i, Alu) and i.op.name == "ffma"
        for block in shader.entry.blocks()
        for i in block.instrs()
    )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folders", nargs="*", type=Path)
    arguments.add_argument("--each", action="store_true")
    arguments.add_argument("--random", type=int, default=200, help="random vertex shaders to add")
    options = arguments.parse_args()
    shaders = list(corpus(options.folders))
    for _, shader in shaders:
        to_driver_form(shader, OptimizeOptions(inexact_used_once="never"))
    sys.path.insert(0, str(ROOT / "tests" / "nir"))
    from test_position_invariance import make_vertex_shader

    for seed in range(options.random):
        shaders.append((f"random {seed}", make_vertex_shader(random.Random(seed))))
    print(f"{len(shaders)} shaders, {options.random} of them random vertex shaders")
    print(f"{'remedy':44}{'instructions':>14}{'':>9}{'fused':>8}{'vertices move in':>20}")
    counts: dict[str, int] = {}
    baseline = 0
    for remedy, choice in REMEDIES.items():
        total = ffma = moved = vertex = 0
        for name, shader in shaders:
            copy = clone_shader(shader)
            optimize(copy, choice)
            count = copy.count_instrs()
            total += count
            ffma += fused(copy)
            if shader.stage is Stage.VERTEX:
                vertex += 1
                moved += vertices_move(shader, choice)
            if count != counts.setdefault(name, count) and options.each:
                print(f"    {name}: {counts[name]} -> {count}")
        baseline = baseline or total
        percent = 100 * (total / baseline - 1)
        print(f"{remedy:44}{total:14,}{percent:+8.2f}%{ffma:8,}{moved:10} of {vertex}")


if __name__ == "__main__":
    main()
