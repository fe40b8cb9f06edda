"""What makes two expressions one: everything an instruction says counts, where it stands not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.nir.ir.instrs import Deref, Tex
from gallette.compiler.nir.rewrite.expressions import expression_key
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each, sections

FILE = Path(__file__).with_name("expressions.txt")


def keys(*lines: str) -> list[Any]:
    """What `cse` compares of instructions of one shader."""
    code = "\n".join(line.format(f"x{i}") for i, line in enumerate(lines))
    shader = parse(sections(FILE)["expressions"].template.replace("\n$\n", f"\n{code}\n"))
    return [expression_key(instr) for instr in list(shader.entry.first.instrs())[-len(lines) :]]


@each(FILE)
def test_one_thing_that_differs_makes_two(case: Case) -> None:
    line = case.text.replace("%r", "%{}")
    for other in case.answers:
        first, second, again = keys(line, other.replace("%r", "%{}"), line)
        assert first == again, line
        assert first != second, other
    assert first is not None


def test_every_attribute_of_a_texture_operation_and_of_a_pointer_is_compared() -> None:
    """Their keys are made of all that instructions of the kind have."""
    of_tex = {"component", "coord_components", "dest_type", "dim", "is_array", "is_shadow", "op"}
    of_tex |= {"sampler_index", "src_kinds", "texture_index", "tg4_offsets"}
    assert set(Tex.__slots__) == of_tex
    assert set(Deref.__slots__) == {"field", "form", "modes", "stride", "type", "var"}


@pytest.mark.parametrize("op", ["iadd", "imul", "fadd", "ieq", "umul_high"])
def test_operands_of_a_commutative_operation_come_in_any_order(op: str) -> None:
    width = "1" if op == "ieq" else "32"
    one, other, third = keys(
        f"{width} %{{}} = {op} %p.x, %q.y",
        f"{width} %{{}} = {op} %q.y, %p.x",
        f"{width} %{{}} = {op} %q.x, %p.y",
    )
    assert one == other != third
    own, turned = keys(f"{width} %{{}} = {op} %p.x, %p.y", f"{width} %{{}} = {op} %p.y, %p.x")
    assert own == turned


def test_only_the_first_two_operands_are_exchanged() -> None:
    one, other, third = keys(
        "32 %{} = ffma %s, %t, %q.x", "32 %{} = ffma %t, %s, %q.x", "32 %{} = ffma %q.x, %t, %s"
    )
    assert one == other != third
