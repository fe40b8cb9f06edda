"""What passes should have lowered is refused by name, and structures of locals are picked right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.values import Def
from gallette.drivers.jit.program import compile_program as compiled_for_jit
from gallette.drivers.numpipe.shader.program import compile_program as compiled_for_numpipe
from tests.machines.programs import compiled_for_simd, compiled_for_tiler
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare

COMPILERS: dict[str, Callable[..., Any]] = {
    "numpipe": compiled_for_numpipe,
    "jit": compiled_for_jit,
    "simd": compiled_for_simd,
    "tiler": compiled_for_tiler,
}
MACHINES = ("simd", "tiler")


def made(write: Callable[[Builder], Def], stage: Stage = Stage.FRAGMENT) -> Builder:
    """A shader that writes a scalar somebody makes."""
    b = Builder.shader_main(stage, "refused")
    value = write(b)
    b.intrinsic("store_output", [value, b.imm_int(0)], location=FragResult.DATA0, write_mask=1)
    return b


def _vector(b: Builder) -> Def:
    v = b.vec([b.imm_float(1.0)] * 3)
    return b.alu("fdot3", v, v)


def _sum(b: Builder) -> Def:
    v = b.vec([b.intrinsic("load_sample_id"), b.imm_int(2)])
    return b.channel(b.iadd(v, v), 1)


def _returning(b: Builder) -> Def:
    b.push_if(b.intrinsic("load_front_face"))
    b.jump("return")
    b.pop_if()
    return b.imm_float(1.0)


def _moved_pointer(b: Builder) -> Def:
    start = b.deref_array_imm(b.deref_var(b.impl.add_local("a", t.array(t.FLOAT, 3))), 0)
    moved = Deref("ptr_as_array", start.modes, start.type)
    for src in (start.result, b.imm_int(1)):
        moved.add_src(src)
    b.insert(moved)
    return b.load_deref(moved)


def _of_two_sizes(b: Builder) -> Def:
    s = t.struct("S", [t.Field("x", t.FLOAT), t.Field("y", t.DOUBLE)])
    at = b.deref_array(b.deref_var(b.impl.add_local("mixed", t.array(s, 3))), b.imm_int(1))
    return b.load_deref(b.deref_struct(at, 0))


def _global(b: Builder) -> Def:
    return b.intrinsic("load_global", [b.imm_int(0, 64)], bit_size=32)


REFUSED: list[tuple[Callable[[Builder], Def], str, str]] = [
    # who makes it, what numpipe and jit say, what the machines say
    (_vector, "", "has no code for the operation 'fdot3'"),
    (_sum, "", "has no code for the vector operation 'iadd'"),
    (_returning, "`return` must have been lowered before code generation",
     "has no code for `return`, which must have been lowered"),
    (_moved_pointer, "has no code for 'ptr_as_array' derefs",
     "has no code for 'ptr_as_array' derefs"),
    (_of_two_sizes, "local 'mixed' mixes component sizes",
     "local 'mixed' mixes component sizes"),
    (_global, "no code for the intrinsic '?load_global", "no code for the intrinsic 'load_global'"),
]  # fmt: skip


@pytest.mark.parametrize("driver", COMPILERS)
@pytest.mark.parametrize(("write", "generated", "machine"), REFUSED)
def test_what_is_not_lowered_is_refused(
    driver: str, write: Callable[[Builder], Def], generated: str, machine: str
) -> None:
    message = machine if driver in MACHINES else generated
    b = made(write)
    if message:
        with pytest.raises(GalletteError, match=message):
            COMPILERS[driver](b.shader)
    else:
        COMPILERS[driver](b.shader)
    b.shader.unref()


@pytest.mark.parametrize("driver", COMPILERS)
def test_members_of_structures_are_picked_by_number(driver: str) -> None:
    """Of an array of structures with an array: each lane stores, changes and loads its own."""
    inner = t.struct("Inner", [t.Field("u", t.FLOAT), t.Field("v", t.array(t.VEC2, 2))])
    outer = t.struct("Outer", [t.Field("x", t.VEC3), t.Field("y", inner), t.Field("z", t.FLOAT)])

    def write(b: Builder) -> Def:
        zero = b.imm_int(0)
        given = b.intrinsic("load_input", [zero], num_components=4, location=32)
        i, j, value, other = b.channels(given)
        local = b.deref_var(b.impl.add_local("picked", t.array(outer, 3)))
        for k in range(3):
            element = b.deref_array_imm(local, k)
            b.store_deref(b.deref_struct(element, 0), b.vec([value, other, b.fneg(value)]))
            b.store_deref(b.deref_struct(b.deref_struct(element, 1), 0), b.imm_float(k + 0.5))
            for m in range(2):
                row = b.deref_array_imm(b.deref_struct(b.deref_struct(element, 1), 1), m)
                b.store_deref(row, b.vec([b.imm_float(10.0 * k + m), other]))
            b.store_deref(b.deref_struct(element, 2), b.fmul(value, b.imm_float(k)))
        mine = b.deref_array(local, i)
        row = b.deref_array(b.deref_struct(b.deref_struct(mine, 1), 1), j)
        moved = b.fadd(b.channel(b.load_deref(row), 0), value)
        b.store_deref(row, b.vec([moved, moved]), 0b01)
        x, v = b.load_deref(b.deref_struct(mine, 0)), b.load_deref(row)
        total = b.fadd(b.channel(x, 2), b.fadd(b.channel(v, 0), b.channel(v, 1)))
        u = b.load_deref(b.deref_struct(b.deref_struct(mine, 1), 0))
        return b.fadd(b.fadd(total, u), b.load_deref(b.deref_struct(mine, 2)))

    lanes = 21
    random = np.random.default_rng(4)
    i, j = random.integers(0, 3, lanes), random.integers(0, 2, lanes)
    value, other = random.integers(1, 50, (2, lanes)).astype(np.float32)
    rows = (i.astype(np.uint32), j.astype(np.uint32), value, other)
    environment = PictureEnvironment(lanes, inputs={(32, c): row for c, row in enumerate(rows)})
    b = made(write)
    compare(b.shader, environment, compiler=COMPILERS[driver])
    found = interpret(b.shader, environment).floats(FragResult.DATA0)
    b.shader.unref()
    wanted = -value + (10 * i + j + value) + other + (i + 0.5) + value * i
    assert found.tolist() == wanted.tolist()


def test_vertices_are_emitted_by_geometry_shaders_alone() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "emitting")
    b.intrinsic("emit_vertex", stream=0)
    with pytest.raises(GalletteError, match="jit has no emit_vertex in this stage"):
        compiled_for_jit(b.shader)
    b.shader.unref()
