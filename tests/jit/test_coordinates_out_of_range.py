"""Coordinates and indices far outside of what is bound read zero and take no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.types import FLOAT, array
from gallette.drivers.common.program import LONGEST_BLOCK
from gallette.drivers.jit.program import compile_program as jit_program
from gallette.drivers.numpipe.shader.program import compile_program as numpipe_program
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare

COMPILERS = {"jit": jit_program, "numpipe": numpipe_program}


def fragment(body: Callable[[Builder], Def]) -> Shader:
    b = Builder.shader_main(Stage.FRAGMENT, "far")
    b.intrinsic("store_output", [body(b), b.imm_int(0)], location=4, write_mask=1)
    return b.shader


def extended(program: Any) -> int:
    """To how many bytes binding extends constant blocks for a program."""
    if hasattr(program, "chunk"):
        return max(program.chunk.least.values(), default=0)
    return max((least * int(kind[1:]) for _, kind, least in program.views), default=0)


@pytest.mark.parametrize("driver", COMPILERS)
@pytest.mark.parametrize(
    ("offset", "reach"),
    [
        (0, 4),
        (LONGEST_BLOCK - 4, LONGEST_BLOCK),
        (LONGEST_BLOCK, 0),
        (1 << 30, 0),
        (0x7FFFFFFC, 0),
        (0x80000000, 0),
        (0xFFFFFFFC, 0),
    ],
)
def test_constants_at_any_place(driver: str, offset: int, reach: int) -> None:
    def body(b: Builder) -> Def:
        return b.intrinsic("load_ubo", [b.imm_int(0), b.imm_int(offset)], num_components=1)

    shader = fragment(body)
    compare(shader, PictureEnvironment(9, 3), compiler=COMPILERS[driver])
    assert extended(COMPILERS[driver](shader)) == reach


@pytest.mark.parametrize("driver", COMPILERS)
@pytest.mark.parametrize("convert", ["u2u16", "u2u64", "i2i64"])
@pytest.mark.parametrize("factor", [1, 700, 60000])
def test_indices_of_16_and_64_bits(driver: str, convert: str, factor: int) -> None:
    """Their products with the 300 rows of an element take more than 16 bits."""

    def body(b: Builder) -> Def:
        values = b.impl.add_local("values", array(array(FLOAT, 300), 220))
        number = b.f2i32(b.fmul(varying(b), b.imm_float(9.0)))
        index = getattr(b, convert)(b.imul(number, b.imm_int(factor)))
        place = b.deref_array(b.deref_array(b.deref_var(values), index), b.imm_int(7))
        b.store_deref(place, b.fadd(varying(b), b.imm_float(1.0)))
        other = b.deref_array(b.deref_array(b.deref_var(values), b.imm_int(3)), b.imm_int(7))
        return b.fadd(b.load_deref(place), b.load_deref(other))

    compare(fragment(body), PictureEnvironment(24, 3), compiler=COMPILERS[driver])


def varying(b: Builder) -> Def:
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    return b.intrinsic(
        "load_interpolated_input", [bary, b.imm_int(0)], num_components=1, location=32
    )
