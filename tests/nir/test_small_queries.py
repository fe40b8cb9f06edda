"""Small things asked of IR: what each is called, where something is, and what if it is not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.io.units import unit_of
from gallette.compiler.nir.ir import IDENTITY, Alu, Mode, Shader, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.bits import float_bits, floats_bits
from gallette.compiler.nir.ir.cf_editing import split_block
from gallette.compiler.nir.ir.fold import fold_alu, folded_now
from gallette.compiler.nir.ir.instrs import Intrinsic, Phi
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.opcodes import OPCODES, alu_type
from gallette.compiler.nir.ir.queries import deref_key
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.lower.target_machine import Machine
from gallette.compiler.nir.text.parser import parse

LOOP = """shader fragment "looping"
impl main {
    32 %zero = load_const (0)
    32x2 %x = @load_input (%zero) (location=VARYING.VAR0)
    1 %c = flt %x.x, %x.y
    if %c {
    block a:
    32 %n = fneg %x.y
    } else {
    block b:
    }
    block behind:
    32 %p = phi a: %n, b: %zero
    32 %q = phi a: %zero, b: %zero
    32 %r = fadd %p, %q
    @store_output (%r, %zero) (location=FRAG.DATA0, write_mask=x)
}
"""


def test_things_say_what_they_are() -> None:
    shader = parse(LOOP)
    blocks = list(shader.entry.blocks())
    assert [repr(b) for b in blocks] == ["<block 0>", "<block 1>", "<block 2>", "<block 3>"]
    neg = next(i for i in blocks[1].instrs())
    assert isinstance(neg, Alu)
    assert repr(neg.result) == "<1x32 of alu>"
    assert repr(neg.srcs[0]) == "<use of <2x32 of intrinsic>.y>"
    phi = next(blocks[3].phis())
    assert repr(phi.phi_srcs[1]) == "<use of <1x32 of load_const>>"
    assert repr(OPCODES["fadd"]) == "<opcode fadd>"
    assert repr(Variable("v", t.VEC3, Mode.SHADER_OUT)) == "<shader_out vec3 v>"
    assert repr(shader) == "<fragment shader 'looping', 1 references>"
    shader.ref()
    assert repr(shader) == "<fragment shader 'looping', 2 references>"
    shader.unref()


def test_a_machine_says_what_it_has() -> None:
    assert str(Machine()) == "everything"
    assert str(Machine.of("frcp frsq")) == "frcp frsq"
    assert str(Machine.of("frsq_8bit frcp_8bit", steps=2)) == "frcp_8bit frsq_8bit, 2 steps"


def test_what_is_not_there_is_an_error() -> None:
    shader = parse(LOOP)
    blocks = list(shader.entry.blocks())
    phi = next(blocks[3].phis())
    assert phi.src_for(blocks[2]).value is phi.phi_srcs[1].value
    with pytest.raises(KeyError):
        phi.src_for(blocks[0])
    assert INTRINSICS["store_output"].src_index("value") == 0
    assert INTRINSICS["store_output"].src_index("offset") == 1
    with pytest.raises(KeyError, match="nothing"):
        INTRINSICS["store_output"].src_index("nothing")
    with pytest.raises(ValueError, match="not an ALU type: 'half'"):
        alu_type("half")
    assert (alu_type("int16").bits, alu_type("bool").bits, alu_type("float").bits) == (16, 1, 0)
    assert shader.find_variable("nothing") is None
    empty = Shader(Stage.VERTEX, "hollow")
    with pytest.raises(LookupError, match="shader 'hollow' has no entry point"):
        empty.entry  # noqa: B018
    empty.unref()


def test_types_are_one_however_they_are_copied() -> None:
    for type_ in (t.VEC3, t.array(t.MAT2, 3), t.struct("S", [t.Field("a", t.FLOAT)])):
        assert copy.copy(type_) is type_
        assert copy.deepcopy([type_])[0] is type_
    inner = t.struct("S", [t.Field("a", t.FLOAT), t.Field("b", t.DOUBLE)])
    assert [inner.field_index(n) for n in ("a", "b", "c")] == [0, 1, -1]


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (t.FLOAT, 1), (t.VEC3, 3), (t.MAT3, 9), (t.DOUBLE, 2), (t.array(t.VEC2, 3), 6),
        (t.struct("S", [t.Field("a", t.VEC3), t.Field("b", t.array(t.DOUBLE, 2))]), 7),
    ],
)  # fmt: skip
def test_words_of_a_type(type_: t.Type, words: int) -> None:
    assert type_.words == words


def test_only_constant_ways_are_keys() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "keys")
    struct = t.struct("S", [t.Field("a", t.FLOAT), t.Field("b", t.array(t.FLOAT, 4))])
    var = b.impl.add_local("v", t.array(struct, 3))
    element = b.deref_array_imm(b.deref_var(var), 2)
    member = b.deref_struct(element, 1)
    assert deref_key(b.deref_var(var)) == (var, ())
    assert deref_key(b.deref_array_imm(member, 3)) == (var, (2, 1, 3))
    index = b.intrinsic("load_input", [b.imm_int(0)], num_components=1)
    assert deref_key(b.deref_array(member, index)) is None
    cast = b.deref_cast(b.deref_var(var).result, Mode.FUNCTION_TEMP, var.type)
    assert deref_key(cast) is None
    b.shader.unref()


@pytest.mark.parametrize(
    ("location", "binding", "indices", "unit"),
    [
        (-1, -1, (0, 0), 0), (-1, 0, (0, 0), 0), (-1, 3, (0, 0), 3), (0, 3, (0, 0), 0),
        (2, 3, (0, 0), 2), (2, -1, (0, 2), 4), (2, -1, (1, 0), 5), (2, -1, (1, 2), 7),
        (2, -1, (9, 9), 7), (2, -1, (-1, -5), 2), (-1, 1, (1, 1), 5),
    ],
)  # fmt: skip
def test_units_of_elements_of_samplers(
    location: int, binding: int, indices: tuple[int, ...], unit: int
) -> None:
    """Two rows of three; an index beside the array is the nearest in it."""
    type_ = t.array(t.array(t.sampler(t.Dim.D2, t.Base.FLOAT), 3), 2)
    var = Variable("s", type_, Mode.UNIFORM, driver_location=location, binding=binding)
    b = Builder.shader_main(Stage.FRAGMENT)
    deref = b.deref_var(var)
    for index in indices:
        deref = b.deref_array_imm(deref, index)
    assert unit_of(b, deref) == (unit, None)
    b.shader.unref()


def test_floats_too_large_for_their_size_are_infinite() -> None:
    big = float(np.finfo(np.float32).max) * 4
    assert floats_bits((1.0, big, -big)) == (0x3F800000, 0x7F800000, 0xFF800000)
    assert floats_bits((0.5,) * 20) == (0x3F000000,) * 20
    assert floats_bits((1.0, -2.0), 64) == (0x3FF0000000000000, 0xC000000000000000)
    assert floats_bits((1.0, 65520.0), 16) == (0x3C00, 0x7C00)
    assert [float_bits(x) for x in (big, -0.0)] == [0x7F800000, 0x80000000]


def test_sums_of_constants_are_known_others_not() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "folding")
    one, pair = b.imm_float(1.0), b.imm_vec(2.0, 3.0)
    given = b.intrinsic("load_input", [b.imm_int(0)], num_components=1)
    add = OPCODES["fadd"]
    assert folded_now(add, [one, one], 32) == (0x40000000,)
    assert folded_now(add, [one, given], 32) is None
    assert folded_now(OPCODES["fddx"], [pair], 32) == (0, 0)
    known = b.alu_swizzled("fadd", [(pair, (1,)), (one, (0,))])
    assert isinstance(known.instr, Alu)
    assert fold_alu(known.instr) == (0x40800000,)
    open_ = b.alu_swizzled("fadd", [(given, (0,)), (one, (0,))])
    assert isinstance(open_.instr, Alu)
    assert fold_alu(open_.instr) is None
    assert IDENTITY[3] == (0, 1, 2)
    b.shader.unref()


def test_a_block_is_split_after_its_phis() -> None:
    shader = parse(LOOP)
    block = list(shader.entry.blocks())[3]
    tail = split_block(block, None)
    assert [isinstance(i, Phi) for i in block.instrs()] == [True, True]
    assert [i.kind for i in tail.instrs()] == ["alu", "intrinsic"]
    assert all(i.block is tail for i in tail.instrs())
    first, last = list(tail.instrs())
    assert isinstance(last, Intrinsic)
    assert (first.prev, last.next, tail.first, tail.last) == (None, None, first, last)
    assert block.last is not None
    assert block.last.next is None
