"""What shaders compute: lowered, optimised or not, and run by the reference interpreter."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from gallette.compiler.glsl import CompileOptions
from gallette.compiler.glsl.builtins.limits import CONSTANTS
from tests.cases import Case, each, sections
from tests.glsl.shaders import evaluate, fragment, run

FILE = Path(__file__).with_name("values.txt")
FOLDED = [name for name, section in sections(FILE).items() if "folded" in section.options]


def check(case: Case, source: str, optimize: bool) -> None:
    found = run(source, optimize=optimize)
    if "first" in case.options:
        found = found[:1]
    room = float(case.options.get("~", 0))
    assert found == (pytest.approx(case.numbers, rel=1e-6, abs=room) if room else case.numbers)


@pytest.mark.parametrize("optimize", [True, False])
@each(FILE)
def test_values(case: Case, optimize: bool) -> None:
    check(case, case.source, optimize)


@each(FILE, *FOLDED)
def test_constant_folding_agrees_with_the_machine(case: Case) -> None:
    constants = re.sub(r"\bione\b", "1", re.sub(r"\bone\b", "1.0", case.source))
    check(case, re.sub(r"uniform \w+ 1(\.0)? = 1(\.0)?;", "", constants), True)


@pytest.mark.parametrize("x", [-0.99, -0.6, -0.5, -0.2, 0.0, 0.3, 0.5, 0.7, 1.0])
def test_inverse_trigonometry_is_close(x: float) -> None:
    got = evaluate(
        f"vec4(asin({x} * one), acos({x} * one), atan({x} * one), atan({x} * one, -0.5))"
    )
    wanted = [math.asin(x), math.acos(x), math.atan(x), math.atan2(x, -0.5)]
    if x == 0.0:
        wanted[3] = math.pi
    assert got == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 0.25, 2.0])
def test_hyperbolic_functions_are_close(x: float) -> None:
    got = evaluate(f"vec4(sinh({x} * one), cosh({x} * one), tanh({x} * one), asinh({x} * one))")
    wanted = [math.sinh(x), math.cosh(x), math.tanh(x), math.asinh(x)]
    assert got == pytest.approx(wanted, rel=2e-6, abs=1e-6)


@pytest.mark.parametrize(("size", "place"), [(n, i) for n in (2, 3, 4) for i in range(n)])
def test_every_component_has_its_say(size: int, place: int) -> None:
    """One component of a vector differs from zero, whichever it is."""
    vector = ", ".join("one" if i == place else "0.0" for i in range(size))
    given, zero = f"vec{size}({vector})", f"vec{size}(0.0)"
    found = evaluate(
        f"vec4(any(bvec{size}({given})), all(not(bvec{size}({given}))), {given} == {zero}, "
        f"dot({given}, {given}))"
    )
    assert found == [1, 0, 0, 1]


def test_every_constant_is_its_limit() -> None:
    """In a language version that has it."""
    limits = CompileOptions().limits
    seen = 0
    for name, (field, _) in CONSTANTS.items():
        value = getattr(limits, field)
        expression = f"vec4({name}, 0)" if isinstance(value, tuple) else f"vec4({name})"
        source = (
            f"#version 460 compatibility\nout vec4 color; void main() {{ color = {expression}; }}"
        )
        if not fragment(source).ok:
            continue
        expected = [*value, 0] if isinstance(value, tuple) else [value] * 4
        assert run(source) == expected, name
        seen += 1
    assert seen > 60
