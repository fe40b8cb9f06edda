"""Whole GLSL programs that once were compiled wrongly, and what `fuzz glsl-programs` rests on.

Slices of random programs stand in `tests/fuzz/test_slices.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.glsl_programs.evaluate import evaluate
from fuzz.glsl_programs.fuzzer import FUZZER
from fuzz.glsl_programs.lanes import HEADER, Undefined, inputs
from fuzz.harness import judge, options_of
from gallette.compiler.glsl.lower import operators
from gallette.compiler.reduce import Reduction

FOUND = Path(__file__).with_name("found_programs.txt").read_text().split("\n== ")[1:]


def _fuzzer(*options: str) -> FUZZER:
    return FUZZER(options_of("glsl-programs", FUZZER, options), None)


@pytest.fixture
def fuzzer() -> FUZZER:
    return _fuzzer()


@pytest.mark.parametrize("entry", FOUND, ids=lambda entry: entry.partition("\n")[0])
def test_found_programs(entry: str) -> None:
    head, _, text = entry.partition("\n")
    seed, *driver = head.partition(":")[0].split()
    if driver == ["jit"]:
        pytest.importorskip("llvmlite")
    fuzzer = _fuzzer(*(f"--driver={name}" for name in driver))
    assert fuzzer.attempt((int(seed), text)) == "agree"


def test_a_planted_fault_is_found_and_made_small(
    fuzzer: FUZZER, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(operators._INT, "^", "ior")
    given = next(x for x in map(fuzzer.make, range(40)) if judge(fuzzer, "attempt", x).kind)
    found = judge(fuzzer, "attempt", given)
    assert found.kind == "difference"
    assert found.text.startswith(("lane", "outp"))
    assert fuzzer.read(fuzzer.text(given).encode()) == given
    state = Reduction(given, lambda x: judge(fuzzer, "attempt", x).kind == found.kind, limit=400)
    state.run(*fuzzer.steps)
    small = state.value[1]
    assert "^" in small
    assert len(small) <= 300, small


PRELUDE = "#define C result\nint bump(inout int a) { a += 5; return a * a; }"
COMPUTED = """
int x = 1; C = ivec4(x, x + bump(x), 0x7FFFFFFF * 2, -7 / 2)            | 1 37 -2 -3
ivec2 v = ivec2(1, 2); v.yx = v; C = ivec4(v, v[0]++, v.x)               | 2 1 2 3
C = ivec4(findMSB(-1), findLSB(0), bitCount(-1), 255 >> 4 << 1)          | -1 -1 32 30
int[2] a = int[2](3, 4); int[2] b = a; a[1] = 9; C = ivec4(b[1], a[1], int(a == b), int(a != b)) \
| 4 9 0 1
C = ivec4(bitfieldExtract(-2, 1, 4), bitfieldExtract(6u, 1, 2), bitfieldInsert(0, 3, 2, 2), 7 % 4) \
| -1 3 12 3
C = ivec4(vec4(-1.5, 2.75, fract(-0.25) * 4.0, step(2.0, 1.0)))          | -1 2 3 0
C = ivec4(0); for (int i = 0; i < 9; i++) { if (i == 2) continue; if (i == 5) break; C.x += i; } \
| 8 0 0 0
C = ivec4(0); switch (2) { case 1: C.x++; default: C.y++; case 3: C.z++; break; case 4: C.w++; } \
| 0 1 1 0
C = ivec4(0); int n = 3; do { C.x++; continue; } while (--n > 1 && ++C.y > 0) | 2 1 0 0
"""
"""statements with the colour C | what they compute, in GLSL's own words"""
UNDEFINED = """
C = ivec4(1 / (lane - lane))
C = ivec4(1 << (lane + 32))
C = ivec4(-1 % 2)
C = un[lane + 2]
C.x = 1
C = ivec4(1.0 / 3.0)
C = ivec4(0); while (C.x == 0) { C.y++; }
C = ivec4(bitfieldExtract(1, 30, 5))
"""


def _program(statements: str) -> str:
    return f"{PRELUDE}\nvoid main() {{ {statements}; }}\n"


@pytest.mark.parametrize("line", COMPUTED.strip().splitlines())
def test_the_evaluator_knows_the_language(fuzzer: FUZZER, line: str) -> None:
    statements, wanted = line.rsplit("|", 1)
    text = _program(statements.strip())
    assert evaluate(HEADER + text, inputs(0)).colors[0] == tuple(map(int, wanted.split()))
    assert fuzzer.attempt((0, text)) == "agree"


@pytest.mark.parametrize("statements", UNDEFINED.strip().splitlines())
def test_the_evaluator_refuses_what_is_undefined(statements: str) -> None:
    with pytest.raises(Undefined):
        evaluate(HEADER + _program(statements), inputs(0))
