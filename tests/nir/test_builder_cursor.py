"""The builder: where it inserts instructions, and the sizes of vectors it makes."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Alu, Block, Def, Shader, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Instr
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.text.parser import parse

TEXT = """shader fragment
impl main {
    32 %zero = load_const (0)
    32 %x = @load_input (%zero) (location=VARYING.VAR0)
    1 %c = flt %x, %zero
    if %c {
    block a:
    } else {
    block b:
    }
    block behind:
    32 %p = phi a: %x, b: %zero
    32 %q = phi a: %zero, b: %x
    32 %r = fadd %p, %q
    @store_output (%r, %zero) (location=FRAG.DATA0, write_mask=x)
}
"""


def kinds(block: Block) -> list[str]:
    return [i.op.name if isinstance(i, Alu) else i.kind for i in block.instrs()]


PLAIN = ["phi", "phi", "fadd", "intrinsic"]


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("end", [*PLAIN, "fneg"]),
        ("start", ["phi", "phi", "fneg", "fadd", "intrinsic"]),
        ("before", ["phi", "phi", "fneg", "fadd", "intrinsic"]),
        ("after", ["phi", "phi", "fadd", "fneg", "intrinsic"]),
        ("after a phi", ["phi", "phi", "fneg", "fadd", "intrinsic"]),
        ("made at the block", [*PLAIN, "fneg"]),
        ("made at the sum", ["phi", "phi", "fneg", "fadd", "intrinsic"]),
        ("made anywhere", [*PLAIN, "fneg"]),
    ],
)
def test_where_it_goes(where: str, wanted: list[str]) -> None:
    shader = parse(TEXT)
    impl = shader.entry
    block = list(impl.blocks())[3]
    phi, _, add, _ = block.instrs()
    x = list(impl.first.instrs())[1].dest
    assert x is not None
    cursor: dict[str, Block | Instr | None] = {
        "made at the block": block,
        "made at the sum": add,
        "made anywhere": None,
    }
    b = Builder(impl, cursor.get(where))
    if where == "end":
        b.at_end(block)
    elif where == "start":
        b.at_start(block)
    elif where == "before":
        b.at_before(add)
    elif where == "after":
        b.at_after(add)
    elif where == "after a phi":
        b.at_after(phi)
    made = b.fneg(x)
    assert b.cursor == (block, made.instr)
    assert kinds(block) == wanted
    validate(shader)


def test_lines_come_from_where_it_goes() -> None:
    shader = parse(TEXT)
    block = list(shader.entry.blocks())[3]
    add = list(block.instrs())[2]
    add.loc = 17
    b = Builder(shader.entry)
    assert b.loc == 0
    assert b.at_before(add).loc == 17
    b.loc = 3
    assert b.at_after(add).loc == 17
    assert isinstance(add.dest, Def)
    assert b.fneg(add.dest).instr.loc == 17


def computed(shader: Shader, value: Def, b: Builder) -> list[float]:
    if value.bit_size == 1:
        value = b.b2f32(value)
    n = value.num_components
    b.intrinsic(
        "store_output", [value, b.imm_int(0)], location=FragResult.DATA0, write_mask=(1 << n) - 1
    )
    result = interpret(shader)
    return [float(result.floats(FragResult.DATA0, c)[0]) for c in range(n)]


def test_vectors_are_put_together() -> None:
    for make, wanted in (
        (lambda b: b.concat(b.imm_float(1.0)), [1.0]),
        (lambda b: b.concat(b.imm_vec(1.0, 2.0), b.imm_float(3.0)), [1.0, 2.0, 3.0]),
        (lambda b: b.pad(b.imm_vec(1.0, 2.0), 4), [1.0, 2.0, 0.0, 0.0]),
        (lambda b: b.pad(b.imm_vec(1.0, 2.0), 3, 0.5), [1.0, 2.0, 0.5]),
        (lambda b: b.pad(b.imm_vec(1.0, 2.0, 3.0), 2), [1.0, 2.0]),
        (lambda b: b.pad(b.imm_bool(True), 3), [1.0, 0.0, 0.0]),
        (lambda b: b.pad(b.imm_bool(False), 3, 1.0), [0.0, 1.0, 1.0]),
        (lambda b: b.trim(b.imm_vec(1.0, 2.0, 3.0), 1), [1.0]),
        (
            lambda b: b.replace_channel(b.imm_vec(1.0, 2.0, 3.0), 1, b.imm_float(9.0)),
            [1.0, 9.0, 3.0],
        ),
        (lambda b: b.gather([(b.imm_vec(1.0, 2.0), 1), (b.imm_vec(3.0, 4.0), 0)]), [2.0, 3.0]),
    ):
        b = Builder.shader_main(Stage.FRAGMENT, "vectors")
        assert computed(b.shader, make(b), b) == wanted
        b.shader.unref()


def test_integers_are_padded_with_integers() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "integers")
    padded = b.pad(b.imm_int(5), 2, 3)
    bits = interpret_bits(b, padded)
    assert bits == [5, 3]
    b.shader.unref()


def interpret_bits(b: Builder, value: Def) -> list[int]:
    n = value.num_components
    b.intrinsic(
        "store_output", [value, b.imm_int(0)], location=FragResult.DATA0, write_mask=(1 << n) - 1
    )
    result = interpret(b.shader)
    return [int(result.outputs[FragResult.DATA0, c][0]) for c in range(n)]


def test_equal_constants_are_one_where_they_are_shared() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "constants")
    assert b.imm_int(3) is not b.imm_int(3)
    b.sharing_constants()
    three = b.imm_int(3)
    assert b.imm_int(3) is three
    assert b.imm_int(3, 64) is not three
    assert b.imm_int(4) is not three
    var = b.impl.add_local("v", t.INT)
    b.push_if(b.ilt(b.load_deref(b.deref_var(var)), three))
    inside = b.imm_int(7)
    assert b.imm_int(3) is three
    assert b.imm_int(7) is inside
    b.pop_if()
    assert b.imm_int(7) is not inside
    b.shader.unref()
