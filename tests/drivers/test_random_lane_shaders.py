"""Every driver's code computes the very bits that the reference interpreter computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from gallette.drivers.numpipe.shader.program import compile_program
from tests.machines.programs import compiled_for_simd, compiled_for_tiler
from tests.numpipe.shader.random_lane_shaders import random_shader
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare
from tests.simd.divergent_programs import DivergentShader

SCALAR = OptimizeOptions(scalar=True)


def _jit(shader: Shader) -> Any:
    pytest.importorskip("llvmlite")
    from gallette.drivers.jit.program import compile_program

    return compile_program(shader)


COMPILERS: dict[str, Callable[[Shader], Any]] = {
    "numpipe": compile_program,
    "jit": _jit,
    "simd": compiled_for_simd,
    "simd_8_spilling": partial(compiled_for_simd, width=8, registers=48),
    "simd_16_spilling": partial(compiled_for_simd, width=16, registers=48),
    "tiler": compiled_for_tiler,
}

# What the shaders have: lanes, and how they are run; then by compiler which ones.
ROWS: dict[str, tuple[int, dict[str, Any], dict[str, range]]] = {
    "fragments": (37, {}, {"numpipe": range(30), "jit": range(20), "simd": range(15)}),
    "many fragments": (137, {}, {"tiler": range(20)}),
    "optimised": (29, {"optimised": True}, {
        "numpipe": range(100, 110), "jit": range(100, 110)}),
    "vertices": (17, {"stage": Stage.VERTEX}, {
        "numpipe": range(200, 210), "jit": range(200, 210), "simd": range(200, 210),
        "tiler": range(200, 206)}),
    "large chunks, which are compacted": (3000, {}, {"numpipe": range(300, 310)}),
    "small chunks": (100, {"chunk": 7}, {
        "numpipe": range(400, 410), "jit": range(400, 404), "simd": range(400, 404)}),
    "derivatives from quads": (64, {"quads": True}, {
        "numpipe": range(500, 512), "jit": range(500, 510), "simd": range(500, 510),
        "tiler": range(500, 506)}),
    "more values than registers": (50, {}, {
        "simd_8_spilling": range(600, 606), "simd_16_spilling": range(600, 606)}),
    "textures and doubles in divergent loops": (200, {"divergent": True}, {
        "tiler": range(700, 704)}),
    "two carried values with one next value": (33, {}, {"numpipe": range(3116, 3117)}),
}  # fmt: skip
CASES = [
    pytest.param(compiler, lanes, seed, how, id=f"{compiler}-{what}-{seed}")
    for what, (lanes, how, by_compiler) in ROWS.items()
    for compiler, seeds in by_compiler.items()
    for seed in seeds
]


@pytest.mark.parametrize(("compiler", "lanes", "seed", "how"), CASES)
def test_the_code_computes_what_the_interpreter_does(
    compiler: str, lanes: int, seed: int, how: dict[str, Any]
) -> None:
    exact = compiler != "numpipe"  # which has NumPy's functions, as the interpreter has
    stage, quads = how.get("stage", Stage.FRAGMENT), how.get("quads", False)
    if how.get("divergent"):
        shader = DivergentShader(seed, stage, exact=exact).build()
    else:
        shader = random_shader(seed, stage, derivatives=quads, exact=exact)
    validate(shader)
    if compiler == "tiler":
        lowered_for_tiler(shader, SCALAR)
    elif how.get("optimised") or compiler.startswith("simd"):
        optimize(shader, SCALAR)
    env = PictureEnvironment(lanes, seed)
    compare(shader, env, how.get("chunk", 0), quads, COMPILERS[compiler])
