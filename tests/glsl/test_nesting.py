"""How deep each construct may be nested, and that many of them side by side are no nesting."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl.parse.expressions import MAX_NESTING
from gallette.compiler.work_limits import MOST_NESTED
from tests.glsl.shaders import errors

MESSAGE = f"nested more than {MAX_NESTING} levels deep"
HEAD = "#version 450\nstruct S { float x; };\nfloat f(float a) { return a; }\n"

# What stands before, in and behind each level of an expression.
EXPRESSIONS = {
    "parentheses": ("(", "y", ")"),
    "minus": ("- ", "y", ""),
    "not": ("~", "j", ""),
    "otherwise": ("y > 0.0 ? y : ", "y", ""),
    "then": ("y > 0.0 ? ", "y", " : y"),
    "assignment": ("y = ", "y", ""),
    "compound assignment": ("y += ", "y", ""),
    "index": ("i[", "0", "]"),
    "call": ("sin(", "y", ")"),
    "own function": ("f(", "y", ")"),
    "constructor": ("float(", "y", ")"),
    "second argument": ("max(y, ", "y", ")"),
}
STATEMENTS = {
    "block": ("{", ";", "}"),
    "if": ("if (y > 0.0) ", ";", ""),
    "if with braces": ("if (y > 0.0) {", ";", "}"),
    "else": ("if (y > 0.0) ; else {", ";", "}"),
    "while": ("while (y > 0.0) ", ";", ""),
    "for": ("for (;;) ", ";", ""),
    "do": ("do ", ";", " while (y > 0.0);"),
    "switch": ("switch (1) { case 1: ", ";", "}"),
}


def refused(code: str) -> bool:
    found = errors(f"{HEAD}void main() {{ float y = 1.0; int i[2]; int j; {code} }}")
    assert found[:1] in ([], [MESSAGE])
    return bool(found)


def nested(parts: tuple[str, str, str], levels: int) -> str:
    before, inner, behind = parts
    return before * levels + inner + behind * levels


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_have_a_deepest_level(name: str) -> None:
    parts = EXPRESSIONS[name]
    most = MAX_NESTING - 1  # the body of the function is one
    target = "j" if name in ("index", "not") else "y"
    # An assignment is a level itself.
    assert not refused(f"{target} = {nested(parts, most - 1)};")
    assert refused(f"{target} = {nested(parts, most)};")
    assert not refused(f"{nested(parts, 3)};" * 2 * MAX_NESTING)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_have_a_deepest_level(name: str) -> None:
    most = MAX_NESTING - 1
    assert not refused(nested(STATEMENTS[name], most))
    assert refused(nested(STATEMENTS[name], most + 1))
    assert not refused(f"{nested(STATEMENTS[name], 3)}\n" * MAX_NESTING)


SIDE_BY_SIDE = {
    "initializer lists": ("", "float v{}[2] = {{ 1.0, 2.0 }};"),
    "nested lists": ("", "float v{}[1][2] = {{ {{ 1.0, 2.0 }} }};"),
    "arrays": ("", "float v{}[2];"),
    "array constructors": ("", "float v{}[] = float[](1.0, 2.0);"),
    "methods": ("", "j = i.length() + {};"),
    "structures": ("struct S{} {{ float a; }};", ""),
    "blocks": ("uniform B{} {{ float a; }} b{};", ""),
    "functions": ("float g{}(float a, float b[2]) {{ return a; }}", ""),
    "layouts": ("layout(location = 2 * (1 + 0)) uniform float u{};", ""),
}


@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_what_is_side_by_side_is_not_nested(name: str) -> None:
    outside, inside = (
        "\n".join(text.format(n, n) for n in range(MAX_NESTING + 9)) for text in SIDE_BY_SIDE[name]
    )
    source = f"{HEAD}{outside}\nvoid main() {{ int i[2]; int j;\n{inside}\n}}"
    assert MESSAGE not in errors(source)


def chain(length: int) -> str:
    return "if (y > 0.0) ; " + "".join(f"else if (y == {k}.0) y += 1.0; " for k in range(length))


def test_chains_of_else_if_may_be_longer() -> None:
    most = MOST_NESTED - 3  # the function, a branch and the assignment in it
    assert not refused(chain(most))
    assert not refused(chain(most) * 3)
    assert errors(f"{HEAD}void main() {{ float y = 1.0; {chain(most + 1)} }}") == [
        f"nested more than {MOST_NESTED} levels deep"
    ]


def test_a_chain_that_is_too_long_is_one_error() -> None:
    """What comes after it is not taken for something that stands alone."""
    found = errors(f"{HEAD}in float x; void main() {{ float y = x; {chain(300)} }}")
    assert found == [f"nested more than {MOST_NESTED} levels deep"]
