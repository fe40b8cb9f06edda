"""A constant expression has the bits the machine would have computed."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest

from tests.cases import Case, each
from tests.glsl.shaders import errors, run

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-3, -1e-8, 3.7e9, -1e30, float("inf"), float("nan")]
FLOATS = [*SPECIAL, 0.3, -0.7, 2.0, 100.25]
INTS = [0, 1, -1, 7, -8, 31, 0x7FFFFFFF, -0x80000000]

UNARY = """radians degrees sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log
    exp2 log2 sqrt inversesqrt abs sign floor ceil trunc round roundEven fract length normalize"""
BINARY = ["atan", "pow", "mod", "min", "max", "step", "distance", "dot", "reflect"]
TERNARY = ["clamp", "mix", "smoothstep", "fma", "faceforward"]
INTEGER = {
    "abs": "int",
    "sign": "int",
    "bitCount": "int",
    "findLSB": "int",
    "findMSB": "int",
    "bitfieldReverse": "int",
    "min": "int int",
    "max": "int int",
    "clamp": "int int int",
    "-": "int",
    "~": "int",
}
INT_OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]


def literal(x: float) -> str:
    return f"uintBitsToFloat({struct.unpack('<I', struct.pack('<f', x))[0]}u)"


def mismatches(expressions: list[tuple[str, str]], declarations: str) -> list[str]:
    """Of (constant, computed) pairs of uints: which differ?"""
    body = "".join(
        f"if ({constant} != {computed}) bad |= 1u << {i};"
        for i, (constant, computed) in enumerate(expressions)
    )
    source = f"""#version 430
    {declarations}
    out vec4 color;
    void main() {{ uint bad = 0u; {body} color = vec4(bad & 0xffffu, bad >> 16, 0, 0); }}"""
    low, high, _, _ = run(source)
    bits = int(low) | int(high) << 16
    return [expressions[i][0] for i in range(len(expressions)) if bits >> i & 1]


def check_floats(names: list[str], arity: int, step: int) -> None:
    samples = list(itertools.product(FLOATS, repeat=arity))[::step]
    while len(samples) % 2:
        samples.append(samples[0])
    # Vectors of two, so that a dot product is one; as many calls in a shader as fit into 32 bits.
    cases = []
    for name in names:
        for a, b in zip(samples[::2], samples[1::2], strict=True):
            cases.append((name, list(zip(a, b, strict=True))))
    for start in range(0, len(cases), 24):
        declarations, pairs = "", []
        for i, (name, args) in enumerate(cases[start : start + 24]):
            constants = [f"vec2({literal(x)}, {literal(y)})" for x, y in args]
            variables = [f"u{i}_{k}" for k in range(arity)]
            for variable, constant in zip(variables, constants, strict=True):
                declarations += f"uniform vec2 {variable} = {constant};\n"
            scalar = "float" if name in ("length", "dot", "distance") else "vec2"
            for prefix, given in (("const", constants), ("precise", variables)):
                call = f"{prefix} {scalar} {prefix[0]}{i} = {name}({', '.join(given)});\n"
                if prefix == "const":
                    declarations += call
                else:
                    declarations += f"uint r{i}() {{ {call} "
                    tail = ".x" if scalar == "vec2" else ""
                    other = f" ^ (floatBitsToUint(p{i}.y) * 3u)" if tail else ""
                    declarations += f"return floatBitsToUint(p{i}{tail}){other}; }}\n"
            tail = ".x" if scalar == "vec2" else ""
            other = f" ^ (floatBitsToUint(c{i}.y) * 3u)" if tail else ""
            pairs.append((f"(floatBitsToUint(c{i}{tail}){other})", f"r{i}()"))
        bad = mismatches(pairs, declarations)
        named = [cases[start + int(b.split("(c")[1].split(".")[0].split(")")[0])] for b in bad]
        assert not named


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_float(name: str) -> None:
    check_floats([name], 1, 1)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats(name: str) -> None:
    check_floats([name], 2, 11)


@pytest.mark.parametrize("name", TERNARY)
def test_functions_of_three_floats(name: str) -> None:
    check_floats([name], 3, 173)


@pytest.mark.parametrize("unsigned", [False, True], ids=["int", "uint"])
def test_integers(unsigned: bool) -> None:
    cast = "uint" if unsigned else "int"
    cases = []
    for name, types in INTEGER.items():
        if unsigned and name in ("abs", "sign"):
            continue
        arity = len(types.split())
        for args in list(itertools.product(INTS, repeat=arity))[:: 1 if arity == 1 else 7]:
            cases.append((name, args))
    for op, a, b in itertools.product(INT_OPERATORS, INTS, INTS[::2]):
        if op in ("<<", ">>"):
            b &= 31
        if not (op in "/%" and (b == 0 or (a, b) == (-0x80000000, -1))):
            cases.append((op, (a, b)))
    for start in range(0, len(cases), 32):
        declarations, pairs = "", []
        for i, (name, args) in enumerate(cases[start : start + 32]):
            constants = [f"{cast}({x & 0xFFFFFFFF}u)" for x in args]
            variables = [f"u{i}_{k}" for k in range(len(args))]
            for variable, constant in zip(variables, constants, strict=True):
                declarations += f"uniform {cast} {variable} = {constant};\n"

            def written(given: list[str], name: str = name) -> str:
                if name.isalpha():
                    return f"uint({name}({', '.join(given)}))"
                return f"uint({name if len(given) == 1 else given[0] + name}({given[-1]}))"

            declarations += f"const uint c{i} = {written(constants)};\n"
            pairs.append((f"c{i}", written(variables)))
        bad = mismatches(pairs, declarations)
        assert not [cases[start + int(b[1:])] for b in bad]


CONVERSIONS = [
    f"{target}({source}({value}))"
    for source, target, value in [
        *[
            ("float", t, f"{x:.9g}")
            for t in ("int", "uint")
            for x in (-1.0, 3.7, -2.7, 1e10, -1e10)
        ],
        *[("int", "float", x) for x in (16777217, -16777219, -0x80000000)],
        *[("uint", "float", "4294967295u"), ("bool", "float", "true"), ("float", "bool", "-0.0")],
    ]
]


def test_conversions() -> None:
    pairs, declarations = [], ""
    for i, text in enumerate(CONVERSIONS):
        target, source, value = text.replace(")", "").split("(")
        declarations += (
            f"const {target} c{i} = {text}; uniform {source} u{i} = {source}({value});\n"
        )
        pairs.append((f"c{i}", f"{target}(u{i})"))
    assert not mismatches(pairs, declarations)


@each(Path(__file__).with_name("folding.txt"))
def test_examples(case: Case) -> None:
    for value in ("1", "one" if "lf" not in case.text else "int(one)"):
        source = f"""#version 430
        uniform float one = 1.0; out vec4 color;
        void main() {{ color = vec4({case.text.replace("%", value)}); }}"""
        assert run(source)[0] == 1.0, value


def test_a_small_hyperbolic_function_is_accurate() -> None:
    source = (
        "#version 430\nout vec4 c; void main() { c = vec4(sinh(1e-4), tanh(1e-4), 0, 0) * 1e4; }"
    )
    assert run(source)[:2] == pytest.approx([1.0, 1.0], abs=2e-3)


def test_a_matrix_is_converted_column_by_column() -> None:
    source = """#version 400
const dmat2 d = dmat2(mat2(1.0, 2.0, 3.0, 4.0));
float a[int(d[1].y)];
out vec4 color;
void main() { color = vec4(d[0], d[1]) * float(a.length()); }
"""
    assert errors(source) == []


def test_differences_of_floats() -> None:
    """With the signs that NaNs have; the opposite of one has the other."""
    pairs, declarations = [], ""
    for i, (x, y) in enumerate(list(itertools.product(FLOATS, repeat=2))[::13][:24]):
        a, b = literal(x), literal(y)
        declarations += f"uniform float a{i} = {a};\nuniform float b{i} = {b};\n"
        declarations += f"const float c{i} = {a} - {b};\n"
        declarations += f"uint r{i}() {{ precise float d = a{i} - b{i}; "
        declarations += "return floatBitsToUint(d); }\n"
        pairs.append((f"floatBitsToUint(c{i})", f"r{i}()"))
    assert mismatches(pairs, declarations) == []
