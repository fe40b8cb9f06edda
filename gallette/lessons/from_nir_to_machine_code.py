"""The lesson: one shader as NumPy code, as LLVM IR and as machine code, and its memory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl import LinkOptions, compile_shader, link_program
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import mutable
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import FLOAT, array
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.scenes.common import shaders

Result = TypeVar("Result")
GLSL = shaders(__file__)
FRAGMENT = GLSL["fragment"]


def fragment_shader(source: str) -> Shader:
    """A fragment shader as drivers optimise it; the caller owns the reference."""
    compiled = compile_shader(Stage.FRAGMENT, source, None)
    program = link_program([compiled], LinkOptions(separable=True))
    if not program.ok:
        raise GalletteError(program.info_log)
    shader = mutable(program.shaders[Stage.FRAGMENT])
    optimize(shader, OptimizeOptions(scalar=True))
    return shader


def two_arrays() -> Shader:
    """Two local arrays: one is written at an index that only uniforms determine, then the other is
    read.

    Nothing was optimised in NIR, so all optimisations are LLVM's.
    """
    b = Builder.shader_main(Stage.FRAGMENT, "two arrays")
    zero = b.imm_int(0)
    first = b.impl.add_local("first", array(FLOAT, 4))
    second = b.impl.add_local("second", array(FLOAT, 4))
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    value = b.intrinsic("load_interpolated_input", [bary, zero], num_components=1, location=32)
    place = b.intrinsic("load_ubo", [zero, zero], num_components=1)
    for i in range(4):
        b.store_deref(b.deref_array_imm(b.deref_var(first), i), b.fmul(value, b.imm_float(i + 1.0)))
    b.store_deref(b.deref_array(b.deref_var(second), place), value)
    total = b.imm_float(0.0)
    for i in range(4):
        total = b.fadd(total, b.load_deref(b.deref_array_imm(b.deref_var(first), i)))
    b.intrinsic("store_output", [b.vec([total] * 4), zero], location=4, write_mask=15)
    return b.shader


def memory_accesses(optimised: str) -> tuple[int, int]:
    """The loads and stores of whole vectors that remain in an optimised module."""
    loads = re.findall(r"= load <\d+ x i\d+>|= load <\d+ x float>", optimised)
    stores = re.findall(r"store <\d+ x i\d+>|store <\d+ x float>", optimised)
    return len(loads), len(stores)


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    """A result, and the milliseconds it took."""
    start = time.perf_counter()
    result = run()
    return result, (time.perf_counter() - start) * 1e3
