"""How deep each construct may be nested, and that many of them side by side are no nesting."""

from __future__ import annotations

from pathlib import Path

from gallette.compiler.glsl.parse.expressions import MAX_NESTING
from gallette.compiler.work_limits import MOST_NESTED
from tests.cases import Case, each
from tests.glsl.shaders import errors

MESSAGE = f"nested more than {MAX_NESTING} levels deep"
HEAD = "#version 450\nstruct S { float x; };\nfloat f(float a) { return a; }\n"


FILE = Path(__file__).with_name("nesting.txt")


def refused(code: str) -> bool:
    found = errors(f"{HEAD}void main() {{ float y = 1.0; int i[2]; int j; {code} }}")
    assert found[:1] in ([], [MESSAGE])
    return bool(found)


def nested(case: Case, levels: int) -> str:
    (before, behind), inner = case.text.split("@"), case.answer
    return before * levels + inner + behind * levels


@each(FILE, "nested_expressions")
def test_expressions_have_a_deepest_level(case: Case) -> None:
    most = MAX_NESTING - 1  # the body of the function is one
    target = "j" if case.name in ("index", "not") else "y"
    # An assignment is a level itself.
    assert not refused(f"{target} = {nested(case, most - 1)};")
    assert refused(f"{target} = {nested(case, most)};")
    assert not refused(f"{nested(case, 3)};" * 2 * MAX_NESTING)


@each(FILE, "nested_statements")
def test_statements_have_a_deepest_level(case: Case) -> None:
    most = MAX_NESTING - 1
    assert not refused(nested(case, most))
    assert refused(nested(case, most + 1))
    assert not refused(f"{nested(case, 3)}\n" * MAX_NESTING)


@each(FILE, "side_by_side")
def test_what_is_side_by_side_is_not_nested(case: Case) -> None:
    outside, inside = (
        "\n".join(text.replace("#", str(n)) for n in range(MAX_NESTING + 9))
        for text in case.text.split("main:")
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
