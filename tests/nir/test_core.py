"""The IR classes: uses, blocks, ownership, clones, metadata, validation."""

from __future__ import annotations

import gc
import re

import pytest

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.analysis.loops import analyse_loop
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import clone_shader, mutable, ownership
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.bits import bits_to_float, float_bits
from gallette.compiler.nir.ir.cf import If, Loop, next_block
from gallette.compiler.nir.ir.cf_editing import split_block
from gallette.compiler.nir.ir.instrs import LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.ownership import COUNTERS, live_shaders
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import (
    FragResult,
    Slot,
    SystemValue,
    VaryingSlot,
    VertAttrib,
)
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader


def branchy() -> Shader:
    b = Builder.shader_main(Stage.FRAGMENT, "branchy")
    x = b.intrinsic("load_input", [b.imm_int(0)], num_components=1)
    b.push_if(b.flt(x, b.imm_float(0.5)))
    y = b.fmul(x, x)
    b.push_else()
    z = b.fneg(x)
    b.pop_if()
    joined = b.if_phi(y, z)
    b.push_loop()
    b.break_if(b.flt(joined, x))
    b.pop_loop()
    b.intrinsic("store_output", [joined, b.imm_int(0)], write_mask=1)
    return b.shader


def uses(value: Def) -> int:
    return len(value.uses)


def test_rewriting_uses_moves_every_source_and_keeps_swizzles() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    a, c = b.imm_vec(1.0, 2.0), b.imm_vec(3.0, 4.0)
    s = b.swizzle(a, "yx")
    d = b.fadd(a, s)
    a.rewrite_uses(c)
    assert uses(a) == 0
    assert uses(c) == 2
    assert s.instr.srcs[0].swizzle == (1, 0)
    assert d.instr.srcs[0].value is c
    validate(b.shader)


def test_rewrite_uses_after_leaves_earlier_uses_alone() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    a = b.imm_float(1.0)
    early = b.fneg(a)
    whole = b.fadd(a, a)
    late = b.fabs(a)
    a.rewrite_uses_after(whole, whole.instr)
    assert early.instr.srcs[0].value is a
    assert [s.value for s in whole.instr.srcs] == [a, a]
    assert late.instr.srcs[0].value is whole
    validate(b.shader)


def test_a_block_can_be_walked_while_its_instructions_are_removed() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    for i in range(5):
        b.imm_int(i)
    for instr in b.block.instrs():
        instr.remove()
    assert b.block.first is None
    assert b.block.last is None


def test_splitting_a_block_hands_its_successors_phis_to_the_tail() -> None:
    shader = branchy()
    impl = shader.entry
    node = next(n for n in impl.body if isinstance(n, If))
    phi = next(next_block(node).phis())
    tail = split_block(node.then_last, None)
    assert {s.pred for s in phi.phi_srcs} == {tail, node.else_last}


def test_the_builder_repeats_scalars_and_derives_sizes_from_the_table() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    v = b.imm_vec(1.0, 2.0, 3.0)
    product = b.fmul(v, b.imm_float(2.0))
    assert product.num_components == 3
    assert product.instr.srcs[1].swizzle == (0, 0, 0)
    assert b.flt(v, v).bit_size == 1
    assert b.f2f64(v).bit_size == 64
    assert b.fdot3(v, v).num_components == 1
    assert b.swizzle(v, "xyz") is v
    assert b.pad(v, 4, 1.0).num_components == 4


def test_float_constants_survive_their_bits() -> None:
    for value in (0.0, -0.0, 1.5, 1e-40, float("inf")):
        assert bits_to_float(float_bits(value)) == pytest.approx(value, rel=1e-6)
    assert float_bits(1e300) == 0x7F800000


# Ownership.


def test_mutable_is_the_shader_itself_only_for_its_sole_owner() -> None:
    shader = branchy()
    assert mutable(shader) is shader
    shader.ref()
    mine = mutable(shader)
    assert mine is not shader
    assert (shader.refcount, mine.refcount) == (1, 1)
    assert print_shader(mine) == print_shader(shader)


def test_references_and_clones_are_counted() -> None:
    shader = branchy()
    before, size = COUNTERS.snapshot(), shader.count_instrs()
    shader.ref()
    mutable(shader).unref()
    shader.unref()
    after = COUNTERS.snapshot()
    assert after["cloned"] - before["cloned"] == 1
    assert after["cloned_instrs"] - before["cloned_instrs"] == size
    assert after["destroyed"] - before["destroyed"] == 2
    assert shader not in live_shaders()
    with pytest.raises(AssertionError, match="too often"):
        shader.unref()


def test_freed_shaders_are_not_listed() -> None:
    """Given back, or forgotten by everybody while somebody still counted as an owner."""
    gc.collect()
    before = len(ownership._LIVE)
    for _ in range(5):
        branchy().unref()
        branchy()
    gc.collect()
    assert len(ownership._LIVE) == before


def test_a_clone_shares_no_instruction_variable_or_use_with_the_original() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    var = b.impl.add_local("x", t.FLOAT)
    b.store_var(var, b.imm_float(1.0))
    clone = clone_shader(b.shader)
    assert clone.entry.locals[0] is not var
    originals = set(b.impl.first.instrs())
    assert not originals & set(clone.entry.first.instrs())
    for instr in clone.entry.first.instrs():
        for src in instr.srcs:
            assert src.value.instr not in originals
    validate(clone)
    validate(b.shader)


# Metadata.


def test_dominance_and_links_follow_the_structure() -> None:
    shader = branchy()
    impl = shader.entry
    impl.require(Metadata.DOMINANCE)
    blocks = list(impl.blocks())
    assert [b.index for b in blocks] == list(range(len(blocks)))
    entry, then, other, join = blocks[:4]
    assert join.idom is entry
    assert entry.dominates(join)
    assert not then.dominates(join)
    assert {b.index for b in join.predecessors} == {then.index, other.index}
    assert entry.children == [then, other, join]


def test_a_value_is_live_around_a_loop_that_reads_it() -> None:
    shader = branchy()
    impl = shader.entry
    impl.require(Metadata.LIVENESS)
    loop = next(n for n in impl.body if isinstance(n, Loop))
    phi = next(p for b in impl.blocks() for p in b.phis())
    assert phi.result in loop.first.live_in
    assert phi.result in loop.last.live_out


def test_structural_edits_drop_metadata_by_themselves() -> None:
    shader = branchy()
    impl = shader.entry
    impl.require(Metadata.ALL)
    assert impl.valid == Metadata.ALL
    b = Builder(impl)
    b.push_if(b.imm_bool(True))
    assert impl.valid == Metadata.NONE


LOOP = """
shader fragment "loop"
impl main {
    block b0:
        32 %0 = load_const (0)
        32 %1 = load_const (START)
        32 %2 = load_const (LIMIT)
        32 %3 = load_const (STEP)
    loop {
        block b1:
            32 %4 = phi b0: %1, b4: %6
            1 %5 = ige %4, %2
        if %5 {
            block b2:
                break
        } else {
            block b3:
        }
        block b4:
            32 %6 = iadd %4, %3
    }
    block b5:
        @store_output (%4, %0) (write_mask=x)
}
"""


@pytest.mark.parametrize(
    ("start", "limit", "step", "trips"),
    [(0, 4, 1, 4), (0, 4, 3, 2), (5, 4, 1, 0), (0, 100000, 1, None), (-6, 0, 2, 3)],
)
def test_trip_counts_are_found_by_running_the_counter(
    start: int, limit: int, step: int, trips: int | None
) -> None:
    text = LOOP.replace("START", str(start)).replace("LIMIT", str(limit))
    shader = parse(text.replace("STEP", str(step)))
    impl = shader.entry
    loop = next(n for n in impl.body if isinstance(n, Loop))
    assert analyse_loop(loop).trip_count == trips


# Validation.


def problem(shader: Shader) -> str:
    with pytest.raises(ValidationError) as caught:
        validate(shader, "a test")
    return str(caught.value)


def test_a_use_before_its_definition_is_pointed_at() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    a = b.imm_float(1.0)
    b.fneg(a)
    const = a.instr
    const.unlink()
    b.block.append(const)
    text = problem(b.shader)
    assert "after a test: a value is used before it is defined" in text
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "fneg" in line)
    assert lines[at + 1].strip() == "^ a value is used before it is defined"


def test_deep_nesting_needs_no_recursion() -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    condition = b.imm_bool(True)
    for _ in range(3000):
        b.push_if(condition)
    for _ in range(3000):
        b.pop_if()
    validate(b.shader)
    clone = clone_shader(b.shader)
    assert print_shader(clone).count("if %0 {") == 3000
    clone.entry.require(Metadata.ALL)


def test_constants_of_the_builder_are_what_they_are_called() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "constants")
    made = {
        (b.imm_zero(3, 16), 16): (0, 0, 0),
        (b.imm_int(-1, 8), 8): (255,),
        (b.imm_int(7), 32): (7,),
        (b.imm_bool(True), 1): (1,),
        (b.imm_bool(False), 1): (0,),
        (b.imm_float(1.0), 32): (0x3F800000,),
        (b.imm_float(1.0, 16), 16): (0x3C00,),
        (b.imm_vec(1.0, -2.0), 32): (0x3F800000, 0xC0000000),
        (b.imm_ivec(1, -1, bit_size=64), 64): (1, (1 << 64) - 1),
        (b.const((1 << 9, 3), 8), 8): (0, 3),
    }
    for (value, bits), raw in made.items():
        assert isinstance(value.instr, LoadConst)
        assert (value.bit_size, tuple(value.instr.values)) == (bits, raw)


@pytest.mark.parametrize("kind", [VertAttrib, VaryingSlot, FragResult, SystemValue])
def test_a_slot_has_one_name_and_those_of_a_row_follow_one_another(kind: type[Slot]) -> None:
    """Where an array of outputs lies is said by its first slot."""
    names = kind.__members__
    assert len(set(map(int, names.values()))) == len(names)
    for name, slot in names.items():
        row, number = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
        if number and f"{row}0" in names:
            assert slot == names[f"{row}0"] + int(number), name
    generic = {n for n, slot in names.items() if getattr(slot, "is_generic", False)}
    colors = {n for n, slot in names.items() if getattr(slot, "is_color", False)}
    varyings = kind is VaryingSlot
    assert generic == ({f"VAR{i}" for i in range(32)} if varyings else set())
    assert colors == ({"COL0", "COL1", "BFC0", "BFC1"} if varyings else set())


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        (VertAttrib.GENERIC0, VertAttrib.GENERIC31, 32),
        (VertAttrib.TEX0, VertAttrib.TEX7, 8),
        (VaryingSlot.VAR0, VaryingSlot.VAR31, 32),
        (VaryingSlot.PATCH0, VaryingSlot.PATCH31, 32),
        (VaryingSlot.TEX0, VaryingSlot.TEX7, 8),
        (FragResult.DATA0, FragResult.DATA7, 8),
    ],
)
def test_there_is_room_for_as_many_as_gl_has(first: Slot, last: Slot, count: int) -> None:
    assert last - first + 1 == count
