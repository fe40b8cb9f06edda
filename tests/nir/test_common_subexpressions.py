"""What makes two expressions one: everything an instruction says counts, where it stands not."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.compiler.nir.ir.instrs import Deref, Tex
from gallette.compiler.nir.rewrite.expressions import expression_key
from gallette.compiler.nir.text.parser import parse

HEAD = """shader fragment
type $T = struct "T" { int a; int b }
var shader_temp int[4] list
var shader_temp int[4] other
var shader_temp $T pair
var uniform sampler2D map
impl main {
    32 %zero = load_const (0)
    32 %one = load_const (1)
    32x2 %p = @load_input (%zero)
    32x2 %q = @load_input (%one)
    32 %s = mov %p.x
    32 %t = mov %p.y
    1 %c = ilt %s, %t
    1 %d = ilt %t, %s
    64 %far = @load_input (%zero) (location=VARYING.VAR9)
    32 %list = deref_var &list (shader_temp int[4])
    32 %pair = deref_var &pair (shader_temp $T)
"""
INSTRUCTIONS = {
    # what is said once and again -> what differs from it in one thing
    "32x2 %{} = iadd %p, %q": [
        "32x2 %{} = isub %p, %q",
        "32x2 %{} = iadd %p, %p",
        "32x2 %{} = iadd %q, %q",
        "32x2 %{} = iadd %p.yx, %q",
        "32x2 %{} = iadd %p, %q.yx",
        "32 %{} = iadd %p.x, %q.x",
        "32x3 %{} = iadd %p.xyy, %q.xyy",
    ],
    "32x2 %{} = isub %p, %q": ["32x2 %{} = isub %q, %p"],
    "32x2 %{} = ineg %p": ["32x2 %{} = ineg %q", "32x2 %{} = ineg %p.xx", "32x2 %{} = inot %p"],
    "32 %{} = bcsel %c, %s, %t": [
        "32 %{} = bcsel %d, %s, %t",
        "32 %{} = bcsel %c, %t, %s",
        "32 %{} = bcsel %c, %s, %s",
        "32 %{} = bcsel %c, %s, %p.x",
        "32 %{} = bcsel %c, %q.x, %t",
        "32 %{} = bcsel %c, %q.y, %t",
    ],
    "32x2 %{} = load_const (7, 8)": [
        "32x2 %{} = load_const (8, 7)",
        "32x2 %{} = load_const (7, 7)",
        "64x2 %{} = load_const (7, 8)",
        "32x3 %{} = load_const (7, 8, 8)",
        "32 %{} = load_const (7)",
    ],
    "32x2 %{} = @load_input (%one) (base=2)": [
        "32x2 %{} = @load_input (%one) (base=3)",
        "32x2 %{} = @load_input (%one) (component=2)",
        "32x2 %{} = @load_input (%zero) (base=2)",
        "32x3 %{} = @load_input (%one) (base=2)",
        "64x2 %{} = @load_input (%one) (base=2)",
        "32x2 %{} = @load_output (%one) (base=2)",
        "32x2 %{} = @load_ubo (%one, %one)",
    ],
    "32x2 %{} = @load_ubo (%zero, %one)": [
        "32x2 %{} = @load_ubo (%one, %zero)",
        "32x2 %{} = @load_ubo (%zero, %s)",
        "32x2 %{} = @load_ubo (%s, %one)",
    ],
    "32 %{} = deref_var &list (shader_temp int[4])": [
        "32 %{} = deref_var &other (shader_temp int[4])"
    ],
    "32 %{} = deref_array &%list[%s] (shader_temp int)": [
        "32 %{} = deref_array &%list[%t] (shader_temp int)"
    ],
    "32 %{} = deref_struct &%pair.0 (shader_temp int)": [
        "32 %{} = deref_struct &%pair.1 (shader_temp int)"
    ],
    "64 %{} = deref_cast %far (global int[4]) stride=4": [
        "64 %{} = deref_cast %far (global int[4]) stride=8",
        "64 %{} = deref_cast %far (ssbo int[4]) stride=4",
        "64 %{} = deref_cast %far (global uint[4]) stride=4",
        "64 %{} = deref_cast %far (global int[3]) stride=4",
    ],
    "32x4 %{} = tex 2D float32 (coord=%p)": [
        "32x4 %{} = tex 2D float32 (coord=%q)",
        "32x4 %{} = tg4 2D float32 (coord=%p)",
        "32x4 %{} = tex 2DRect float32 (coord=%p)",
        "32x4 %{} = tex 2D int32 (coord=%p)",
        "32x3 %{} = tex 2D float32 (coord=%p)",
        "32x4 %{} = tex 2D float32 (coord=%p, comparator=%s)",
        "32x4 %{} = tex 2D float32 (coord=%p, offset=%p)",
        "32x4 %{} = tex 2D float32 (coord=%p) (texture=1)",
        "32x4 %{} = tex 2D float32 (coord=%p) (sampler=1)",
        "32x4 %{} = tex 2D float32 (coord=%p) (component=1)",
        "32x4 %{} = tex 2D float32 (coord=%p) (is_shadow)",
        "32x4 %{} = tex 2D float32 (coord=%p) (is_array, coord_components=2)",
        "32x4 %{} = tex 2D float32 (coord=%p) (tg4_offsets=((1, 0), (0, 1), (1, 1), (0, 0)))",
    ],
    "32x4 %{} = tex 2D float32 (coord=%p, min_lod=%s)": [
        "32x4 %{} = txb 2D float32 (coord=%p, bias=%s)",
        "32x4 %{} = tex 2D float32 (coord=%p, comparator=%s)",
    ],
}


def keys(*lines: str) -> list[Any]:
    """What `cse` compares of instructions of one shader."""
    text = HEAD + "\n".join(line.format(f"x{i}") for i, line in enumerate(lines)) + "\n}"
    shader = parse(text)
    return [expression_key(instr) for instr in list(shader.entry.first.instrs())[-len(lines) :]]


@pytest.mark.parametrize(
    "line",
    INSTRUCTIONS,
    ids=[k.split("= ")[1].split()[0] + f"-{i}" for i, k in enumerate(INSTRUCTIONS)],
)
def test_one_thing_that_differs_makes_two(line: str) -> None:
    for other in INSTRUCTIONS[line]:
        first, second, again = keys(line, other, line)
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
