"""Formulas: functions of a few opcodes, written as text."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder, formulas
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.types import Base, scalar, vec
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.text.printer import print_shader

TABLE = Formulas("""
# A comment, and a row that goes on.
line(x, m, c): product = fmul(m, x);
    fadd(product, c)
half_turn(x): fmul(x, pi)
half_turns(x): fadd(half_turn(x), half_turn(x))
same(x) exact: feq(x, x)
smaller(x, y): _min(x, y)
turned(x): fadd(x.yx, x)
cubic(x): poly(x, 1.0, 2.0, 0.0, 4.0)
top(x): ushr(x, bits - 1)
odd(x, n): bcsel(ine(iand(n, 1), 0), x, 0.0)
as_float(x): b2f(flt(0.0, x))
""")


def value_of(name: str, args: list[float], bits: int = 32, kind: str = "f") -> float:
    """What a formula makes of numbers."""
    b = Builder.shader_main(Stage.FRAGMENT, name)
    srcs = [b.imm_float(a, bits) if isinstance(a, float) else b.imm_int(a, bits) for a in args]
    found = TABLE.build(b, name, srcs, kind)
    base = Base.INT if isinstance(args[0], int) else Base.FLOAT
    if found.bit_size != 32:
        found = b.f2f32(found) if base is Base.FLOAT else b.u2u32(found)
    out = b.shader.add_variable("o", scalar(base), Mode.SHADER_OUT, location=FragResult.DATA0)
    b.store_var(out, found)
    run = interpret(b.shader, Environment(lanes=1))
    (cell,) = run.outputs[FragResult.DATA0, 0].astype("uint32").view("int32")[:1]
    return int(cell) if base is Base.INT else float(run.floats(FragResult.DATA0)[0])


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("line", [2.0, 3.0, 0.5], 6.5),
        ("half_turns", [0.5], math.pi),
        ("cubic", [2.0], 37.0),
        ("odd", [2.5, 3], 2.5),
        ("odd", [2.5, 4], 0.0),
        ("as_float", [2.5], 1.0),
    ],
)
def test_a_formula_computes_what_it_says(
    name: str, args: list[float], wanted: float, bits: int
) -> None:
    assert value_of(name, args, bits) == pytest.approx(wanted, rel=1e-3 if bits == 16 else 1e-6)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_numbers_have_the_size_of_the_first_argument(bits: int) -> None:
    assert value_of("top", [-1], bits) == 1
    assert value_of("top", [1], bits) == 0


@pytest.mark.parametrize(("kind", "wanted"), [("i", -2), ("u", 1)])
def test_an_opcode_follows_the_requested_kind(kind: str, wanted: int) -> None:
    assert value_of("smaller", [-2, 1], kind=kind) == wanted


def test_components_are_chosen_and_what_is_exact_says_so() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "f")
    var = b.shader.add_variable("v", vec(Base.FLOAT, 2), Mode.SHADER_IN, location=32)
    x: Def = b.load_var(var)
    TABLE.build(b, "turned", [x])
    TABLE.build(b, "same", [x])
    text = print_shader(b.shader)
    assert ".yx" in text
    assert "feq!" in text
    assert "fadd!" not in text


def test_a_table_knows_its_rows() -> None:
    assert "line" in TABLE and "lines" not in TABLE
    assert len(list(TABLE)) == 10


def test_each_operation_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However deep it is nested, as in polynomials."""
    compiled: list[str] = []
    operation = formulas._operation

    def counted(name: str, *rest: Any) -> Any:
        compiled.append(name)
        return operation(name, *rest)

    monkeypatch.setattr(formulas, "_operation", counted)
    nested = Formulas("nested(x): " + 12 * "fneg(" + "x" + 12 * ")")
    b = Builder.shader_main(Stage.FRAGMENT, "nested")
    nested.build(b, "nested", [b.imm_float(1.0)])
    assert compiled == 12 * ["fneg"]
