"""Buffers, textures, indexed locals and outputs: in range as the interpreter, outside zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from shader_harness import PictureEnvironment, compare, resources, run_compiled

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.types import FLOAT, VEC3, Dim, array
from gallette.drivers.common.work import ShaderBudgetError, Work
from gallette.drivers.numpipe.shader.program import compile_program


def fragment(name: str, body: Callable[[Builder], Def]) -> Shader:
    b = Builder.shader_main(Stage.FRAGMENT, name)
    value = body(b)
    mask = (1 << value.num_components) - 1
    b.intrinsic("store_output", [value, b.imm_int(0)], location=4, write_mask=mask)
    return b.shader


def varying(b: Builder, component: int = 0) -> Def:
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    return b.intrinsic(
        "load_interpolated_input",
        [bary, b.imm_int(0)],
        num_components=1,
        location=32,
        component=component,
    )


def small_int(b: Builder, component: int = 0) -> Def:
    """0..7, different between lanes."""
    return b.iand(b.f2i32(b.fmul(varying(b, component), b.imm_float(9.0))), b.imm_int(7))


def uniform_int(b: Builder) -> Def:
    return b.iand(b.intrinsic("load_ubo", [b.imm_int(0), b.imm_int(8)], num_components=1),
                  b.imm_int(0x3C))  # fmt: skip


def load(b: Builder, block: Def, offset: Def, n: int = 2) -> Def:
    return b.intrinsic("load_ubo", [block, offset], num_components=n)


@pytest.mark.parametrize(
    "body",
    [
        lambda b: load(b, b.imm_int(1), b.imm_int(64)),
        lambda b: load(b, b.imm_int(0), uniform_int(b)),
        lambda b: load(b, b.imm_int(0), b.imul(small_int(b), b.imm_int(16))),
        lambda b: load(b, b.imul(small_int(b), b.imm_int(0)), b.imm_int(16)),
        lambda b: load(b, b.iand(small_int(b), b.imm_int(1)), b.imul(small_int(b), b.imm_int(4))),
    ],
    ids=["constant", "uniform", "varying", "varying block", "both varying"],
)
def test_uniform_buffer_loads(body: Callable[[Builder], Def]) -> None:
    compare(fragment("ubo", body), PictureEnvironment(23, 3))


def row(b: Builder, stride: int = 32, first: int = 0) -> Def:
    number = b.load_system_value("primitive_id")
    return b.iadd(b.imm_int(first), b.imul(number, b.imm_int(stride)))


def rows_on_one_side(b: Builder) -> Def:
    """Of other lanes another row, and of some none."""
    value = b.impl.add_local("v", FLOAT)
    b.push_if(b.flt(varying(b), b.imm_float(0.5)))
    b.store_var(value, load(b, b.imm_int(0), row(b, 16, 8), 1))
    b.push_else()
    b.store_var(value, load(b, b.imm_int(1), row(b, 4), 1))
    b.pop_if()
    return b.load_var(value)


@pytest.mark.parametrize(
    "body",
    [
        lambda b: load(b, b.imm_int(0), row(b), 4),
        lambda b: load(b, b.imm_int(0), b.ishl(b.load_system_value("primitive_id"), b.imm_int(4))),
        lambda b: b.fadd(load(b, b.imm_int(0), row(b), 1), load(b, b.imm_int(0), row(b, 48), 1)),
        lambda b: load(b, b.imm_int(0), row(b, 24, 4), 3),
        lambda b: load(b, b.imm_int(1), row(b, 4096), 2),
        lambda b: load(b, b.imm_int(0), b.ishl(b.imm_int(16), b.load_system_value("primitive_id"))),
        lambda b: load(b, b.imm_int(0), row(b, -16), 2),
        lambda b: load(b, b.imm_int(0), row(b, 16, -16), 2),
        rows_on_one_side,
    ],
    ids=[
        "row", "shifted", "two strides", "three", "outside", "shifted by it", "before", "moved",
        "one side",
    ],
)  # fmt: skip
@pytest.mark.parametrize("same", [False, True])
def test_rows_of_primitives(body: Callable[[Builder], Def], same: bool) -> None:
    numbers = np.full(23, 3) if same else np.arange(23) // 3
    env = PictureEnvironment(23, 3, system_values={"primitive_id": numbers})
    compare(fragment("rows", body), env)


@pytest.mark.parametrize("offset", [4096, -4, 4094, 1 << 30])
def test_uniform_buffer_loads_outside_read_zero(offset: int) -> None:
    def uniform(b: Builder) -> Def:
        far = b.iadd(b.iand(uniform_int(b), b.imm_int(0)), b.imm_int(offset))
        near = b.imul(small_int(b), b.imm_int(0))
        both = load(b, b.imm_int(0), far, 1), load(b, b.imm_int(0), b.iadd(near, far), 1)
        return b.vec(list(both))

    outputs, _, _ = run_compiled(fragment("outside", uniform), PictureEnvironment(5, 3))
    wanted = 0 if offset != 4094 else outputs[4, 0][0]
    assert (outputs[4, 0] == wanted).all() and (outputs[4, 1] == wanted).all()


def test_a_buffer_shorter_than_constant_offsets_is_extended_with_zeros() -> None:
    shader = fragment("short", lambda b: load(b, b.imm_int(0), b.imm_int(4), 4))
    env = PictureEnvironment(3, 0, ubos={0: np.arange(1, 4, dtype=np.float32).tobytes()})
    outputs, _, _ = run_compiled(shader, env)
    values = [outputs[4, c].view(np.float32)[0] for c in range(4)]
    assert values == [2.0, 3.0, 0.0, 0.0]


def test_an_unbound_block_reads_zero() -> None:
    program = compile_program(fragment("unbound", lambda b: load(b, b.imm_int(5), b.imm_int(0))))
    from shader_harness import Lanes

    env = PictureEnvironment(3, 0)
    out = program.bind(resources(env)).fragment(Lanes(env)).outputs[4]
    assert [float(v) for v in out[:2] if v is not None] == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["float", "vec3"])
def test_indexed_locals(kind: str) -> None:
    def body(b: Builder) -> Def:
        type = FLOAT if kind == "float" else VEC3
        var = b.impl.add_local("a", array(type, 5))
        base = b.deref_var(var)
        for i in range(5):
            value = b.fadd(varying(b, i % 4), b.imm_float(i))
            b.store_deref(b.deref_array_imm(base, i), b.vec([value] * type.components))
        dynamic = b.vec([varying(b, 2)] * type.components)
        b.store_deref(b.deref_array(base, small_int(b)), dynamic)
        return b.load_deref(b.deref_array(base, small_int(b, 1)))

    compare(fragment("locals", body), PictureEnvironment(31, 5))


def test_a_table_of_constants_is_kept_once_for_all_lanes() -> None:
    def body(b: Builder) -> Def:
        base = b.deref_var(b.impl.add_local("table", array(FLOAT, 8)))
        for i in range(8):
            b.store_deref(b.deref_array_imm(base, i), b.imm_float(i * i))
        return b.load_deref(b.deref_array(base, small_int(b)))

    shader = fragment("table", body)
    compare(shader, PictureEnvironment(31, 5))
    assert "zeros(8, f4)" in compile_program(shader).code


def test_textures_with_an_index_that_differs_between_lanes() -> None:
    def body(b: Builder) -> Def:
        coord = b.vec([varying(b, 0), varying(b, 1)])
        index = b.iand(small_int(b, 2), b.imm_int(1))
        return b.tex("tex", [("coord", coord), ("texture_offset", index)], Dim.D2)

    compare(fragment("textures", body), PictureEnvironment(32, 1), quads=True)


def test_outputs_stored_in_branches() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "stores")
    zero = b.imm_int(0)
    b.intrinsic("store_output", [varying(b, 0), zero], location=4, write_mask=1)
    b.push_if(b.flt(varying(b, 1), b.imm_float(0.0)))
    b.intrinsic("store_output", [varying(b, 2), zero], location=4, write_mask=1)
    b.push_else()
    b.intrinsic("store_output", [b.imm_float(3.0), zero], location=4, component=1, write_mask=1)
    b.pop_if()
    compare(b.shader, PictureEnvironment(40, 2))


def test_an_endless_loop_exhausts_its_budget() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "endless")
    b.push_loop()
    b.break_if(b.flt(varying(b, 0), b.imm_float(-1e9)))
    b.pop_loop()
    b.intrinsic("store_output", [b.imm_float(1.0), b.imm_int(0)], location=4, write_mask=1)
    program = compile_program(b.shader)
    from shader_harness import Lanes

    env = PictureEnvironment(8, 0)
    given = resources(env)
    given.work = Work(10**6)
    with pytest.raises(ShaderBudgetError, match="more work than its budget of 1000000 units"):
        program.bind(given).fragment(Lanes(env))


def test_an_intrinsic_without_code_is_a_clear_error() -> None:
    shader = fragment("subgroup", lambda b: b.intrinsic("load_subgroup_eq_mask"))
    with pytest.raises(GalletteError, match="no code for the intrinsic 'load_subgroup_eq_mask'"):
        compile_program(shader)


def test_lanes_that_all_discard_end_an_endless_loop() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "discards")
    b.push_loop()
    b.intrinsic("discard_if", [b.flt(varying(b, 0), b.imm_float(1e9))])
    b.break_if(b.flt(varying(b, 0), b.imm_float(-1e9)))
    b.pop_loop()
    b.intrinsic("store_output", [b.imm_float(1.0), b.imm_int(0)], location=4, write_mask=1)
    outputs, alive, _ = run_compiled(b.shader, PictureEnvironment(8, 0))
    assert not alive.any() and (4, 0) in outputs
