"""Do all variants of a vertex shader put every vertex in the same place, bit for bit?

    python bench/invariance.py [--count 2000] [--seed 0]

Random vertex shaders (those of `tests/nir/test_position_invariance.py`) are made into the variants
a driver may build: whole, depth only, with user clip planes, merged (a second output is gone), with
uniforms inlined (all of them, and every other component), and combinations. Each is optimised under
every setting and run in the reference interpreter. "everywhere" inlines what positions are computed
from, too, which no driver does: products with constants may be folded, and vertices move.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "nir"))

from test_position_invariance import make_vertex_shader

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassSpec, run_passes

SETTINGS = {
    "no remedy": OptimizeOptions(fuse_ffma=True, inexact_used_once="always"),
    "a: never, fusing every product": OptimizeOptions(
        fuse_ffma=True,
        inexact_used_once="never",
        algebraic=AlgebraicOptions(fuse_ffma_shared=True),
    ),
    "a, without fusing": OptimizeOptions(inexact_used_once="never"),
    "b: position_invariant": OptimizeOptions(
        fuse_ffma=True, inexact_used_once="always", position_invariant=True
    ),
    "c: not_position": OptimizeOptions(fuse_ffma=True, inexact_used_once="not_position"),
}
UNIFORMS = np.random.default_rng(7).uniform(-2, 2, 64).astype(np.float32)
HALF = tuple((4 * i, int(bits)) for i, bits in enumerate(UNIFORMS.view(np.uint32)) if i % 2)
VARIANTS: dict[str, list[PassSpec]] = {
    "depth only": ["lower_depth_only", "dce"],
    "clip planes": [("lower_user_clip_planes", {"mask": 3})],
    "clip planes, depth only": [("lower_user_clip_planes", {"mask": 1}), "lower_depth_only", "dce"],
    "inlined": [("inline_uniforms", {"data": UNIFORMS.tobytes()})],
    "half inlined": [("inline_uniforms", {"values": HALF})],
    "inlined, depth only": [
        ("inline_uniforms", {"data": UNIFORMS.tobytes()}),
        "lower_depth_only",
        "dce",
    ],
    "everywhere": [("inline_uniforms", {"data": UNIFORMS.tobytes(), "positions": True})],
}


def positions(shader: Shader) -> np.ndarray:
    environment = Environment(32, 3, ubos={0: UNIFORMS.tobytes()})
    result = interpret(shader, environment)
    return np.stack([result.outputs[VaryingSlot.POS, c] for c in range(4)])


def without_one_varying(shader: Shader) -> None:
    """What linking with a fragment shader that reads less leaves."""
    for store in intrinsics_of(shader.entry, "store_output"):
        if store["location"] == VaryingSlot.VAR0:
            store.remove()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moved: dict[str, Counter[str]] = {name: Counter() for name in SETTINGS}
    for number in range(options.count):
        source = make_vertex_shader(random.Random(options.seed + number))
        variants = {}
        for name, passes in VARIANTS.items():
            variants[name] = clone_shader(source)
            run_passes(variants[name], passes)
        variants["merged"] = clone_shader(source)
        without_one_varying(variants["merged"])
        for setting, choice in SETTINGS.items():
            whole = clone_shader(source)
            optimize(whole, choice)
            wanted = positions(whole)
            whole.unref()
            for name, variant in variants.items():
                copy = clone_shader(variant)
                optimize(copy, choice)
                got = positions(copy)
                copy.unref()
                nan = np.isnan(wanted.view(np.float32)) & np.isnan(got.view(np.float32))
                moved[setting][name] += not ((wanted == got) | nan).all()
        for shader in (source, *variants.values()):
            shader.unref()
    print(f"{options.count} vertex shaders; those with a vertex that moves:")
    print(f"{'':34}" + "".join(f"{name:>24}" for name in [*VARIANTS, "merged"]))
    for setting, counts in moved.items():
        print(f"{setting:34}" + "".join(f"{counts[name]:24}" for name in [*VARIANTS, "merged"]))


if __name__ == "__main__":
    main()
