"""What divergence analysis calls uniform is uniform: lanes that arrive together agree."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from random_shaders import make_shader

from gallette.compiler.nir.analysis.divergence import analyse_divergence
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, Interpreter
from gallette.compiler.nir.ir import Alu, Def, If, Loop, Metadata, Shader, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.cf import walk
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run.pass_runner import run_passes

VAR0 = VaryingSlot.VAR0


class Witness(Interpreter):
    """An interpreter that looks at every value as it is written."""

    def __init__(self, shader: Shader, seed: int) -> None:
        super().__init__(shader, Environment(lanes=24, seed=seed))
        self.seen = 0

    def write(self, dest: Def, value: Any) -> None:
        if isinstance(value, np.ndarray):
            if isinstance(dest.instr, Alu) and dest.instr.op.output_type.base == "float":
                value = one_nan(value, dest.bit_size)
            for i in range(dest.num_components):
                if not dest.divergent_components >> i & 1:
                    found = value[i][self.active] if value[i].ndim else value[i]
                    assert np.unique(found).size <= 1, dest.instr
                    self.seen += 1
        super().write(dest, value)


def one_nan(value: np.ndarray, bits: int) -> np.ndarray:
    """Which NaN an operation makes is nobody's promise: one stands for all."""
    floats = value.view(f"f{bits // 8}")
    return np.where(np.isnan(floats), floats.dtype.type(np.nan), floats).view(value.dtype)


def flags(shader: Shader) -> tuple[int, int, int]:
    """How many loops and ifs divide lanes, and how many loops have divergent continues."""
    nodes = list(walk(shader.entry.body))
    loops = [node for node in nodes if isinstance(node, Loop)]
    return (
        sum(loop.divergent for loop in loops),
        sum(node.divergent for node in nodes if isinstance(node, If)),
        sum(loop.divergent_continue for loop in loops),
    )


@pytest.mark.parametrize("everywhere", [False, True])
def test_uniform_values_are_uniform_in_random_shaders(everywhere: bool) -> None:
    seen, totals = 0, np.zeros(3, int)
    for seed in range(160):
        shader = make_shader(random.Random(seed), derefs=seed % 2 == 1)
        if seed % 3:
            run_passes(shader, ["lower_var_copies", "lower_vars_to_ssa", "copy_prop"])
        shader.entry.require(Metadata.CFG)
        analyse_divergence(shader.entry, everywhere=everywhere)
        witness = Witness(shader, seed)
        witness.run()
        seen += witness.seen
        totals += flags(shader)
    assert seen > 5000 and (totals > (30, 100, 5)).all(), (seen, totals)


# -- straight code, component by component -------------------------------------------------------


class Exact(Interpreter):
    """An interpreter that looks whether what is called divergent does differ, too."""

    masks: set[tuple[int, int]]

    def write(self, dest: Def, value: Any) -> None:
        rows = np.asarray(value)
        differing = sum(1 << i for i, row in enumerate(rows) if np.unique(row).size > 1)
        assert differing == dest.divergent_components, dest.instr
        self.masks.add((dest.num_components, differing))
        super().write(dest, value)


def mixed(rng: random.Random) -> Shader:
    """Sums, copies and vectors of inputs and uniforms: no result hides how its operands differ."""
    b = Builder.shader_main(Stage.FRAGMENT, "mixed")
    zero = b.imm_int(0)
    values = [b.const(rng.choices(range(1, 9), k=4), 32)]
    for n in range(4):
        width = rng.randrange(1, 5)
        values.append(b.intrinsic("load_input", [zero], num_components=width, location=VAR0 + n))
        offset = b.imm_int(16 * n)
        values.append(b.intrinsic("load_ubo", [zero, offset], num_components=width))

    def read(width: int) -> tuple[Def, tuple[int, ...]]:
        value = rng.choice(values[-9:])
        return value, tuple(rng.choices(range(value.num_components), k=width))

    for _ in range(24):
        width = rng.randrange(1, 5)
        name = rng.choice(["iadd", "mov", f"vec{width}" if width > 1 else "iadd", "pack_64_2x32"])
        op = OPCODES[name]
        size = 2 if name.startswith("pack") else 1 if op.is_vec else width
        made = 1 if name.startswith("pack") else width
        srcs = [read(size) for _ in op.input_types]
        alu = Alu(op, srcs, made, 64 if name.startswith("pack") else 32)
        b.insert(alu)
        if name != "pack_64_2x32":
            values.append(alu.result)
    return b.shader


def test_in_straight_code_a_component_is_divergent_if_and_only_if_it_differs() -> None:
    masks: set[tuple[int, int]] = set()
    for seed in range(40):
        shader = mixed(random.Random(seed))
        shader.entry.require(Metadata.DIVERGENCE)
        run = Exact(shader, Environment(lanes=24, seed=seed))
        run.masks = masks
        run.run()
    assert masks == {(width, mask) for width in range(1, 5) for mask in range(1 << width)}


# name: which components of two differ, and between equal ones nothing is
CHOSEN = ["5 6", "5 6 again", "5 7", "uniform", "other uniform", "x of lanes", "lanes"]
DIFFERING = {"x of lanes": 0b01, "lanes": 0b11}


@pytest.mark.parametrize("asked", ["lanes", "uniform"])
@pytest.mark.parametrize("left", CHOSEN)
def test_after_an_if_values_differ_where_lanes_chose_differently(asked: str, left: str) -> None:
    for right in CHOSEN:
        b = Builder.shader_main(Stage.FRAGMENT, "chosen")
        zero = b.imm_int(0)
        lanes = b.intrinsic("load_input", [zero], num_components=2, location=VAR0)
        uniform, other = (
            b.intrinsic("load_ubo", [zero, b.imm_int(at)], num_components=2) for at in (0, 16)
        )
        values = {
            "5 6": b.const([5, 6], 32),
            "5 6 again": b.const([5, 6], 32),
            "5 7": b.const([5, 7], 32),
            "uniform": uniform,
            "other uniform": other,
            "x of lanes": b.vec([b.channel(lanes, 0), b.channel(uniform, 0)]),
            "lanes": lanes,
        }
        conditions = {"lanes": lanes, "uniform": uniform}
        b.push_if(b.ilt(b.channel(conditions[asked], 0), zero))
        b.push_else()
        b.pop_if()
        chosen = b.if_phi(values[left], values[right])
        b.shader.entry.require(Metadata.DIVERGENCE)
        wanted = DIFFERING.get(left, 0) | DIFFERING.get(right, 0)
        if asked == "lanes" and left != right:
            both = {left.removesuffix(" again"), right.removesuffix(" again")}
            wanted |= 0 if both == {"5 6"} else 0b10 if both == {"5 6", "5 7"} else 0b11
        assert chosen.divergent_components == wanted, right
        Witness(b.shader, 5).run()


# -- loops ----------------------------------------------------------------------------------------


class Counting:
    """`i = 0; loop { i = i + 1; ...; }` with what a test puts inside, and `i` behind the loop."""

    def __init__(self) -> None:
        b = self.b = Builder.shader_main(Stage.FRAGMENT, "counting")
        self.zero, self.one = b.imm_int(0), b.imm_int(1)
        number = b.intrinsic("load_input", [self.zero], num_components=1, location=VAR0)
        self.lanes = b.ilt(number, self.zero)
        self.same = b.intrinsic("load_ubo", [self.zero, self.zero], num_components=1)
        self.var = b.impl.add_local("i", t.INT)
        b.store_var(self.var, self.zero)
        self.loop = b.push_loop()
        self.inside = b.iadd(b.load_var(self.var), self.one)
        b.store_var(self.var, self.inside)

    def leave_if(self, kind: str, condition: Def) -> None:
        self.b.push_if(condition)
        self.b.jump(kind)
        self.b.pop_if()

    def end(self) -> Def:
        """A value computed behind the loop from the counter."""
        b = self.b
        self.leave_if("break", b.ige(self.inside, b.imm_int(9)))
        b.pop_loop()
        behind = b.imul(b.load_var(self.var), b.imm_int(3))
        b.intrinsic("store_output", [behind, self.zero], location=FragResult.COLOR, write_mask=1)
        run_passes(b.shader, ["lower_vars_to_ssa", "copy_prop"])
        b.shader.entry.require(Metadata.DIVERGENCE)
        Witness(b.shader, 1).run()
        return behind


def loop_of(shader: Shader) -> Loop:
    return next(node for node in walk(shader.entry.body) if isinstance(node, Loop))


def test_a_loop_that_all_lanes_leave_together_is_not_divergent() -> None:
    c = Counting()
    behind = c.end()
    assert not loop_of(c.b.shader).divergent
    assert not c.inside.divergent and not behind.divergent


def test_a_counter_is_uniform_in_a_loop_that_lanes_leave_one_by_one_but_not_after_it() -> None:
    c = Counting()
    c.leave_if("break", c.lanes)
    behind = c.end()
    assert loop_of(c.b.shader).divergent and not loop_of(c.b.shader).divergent_continue
    assert not c.inside.divergent and behind.divergent
    analyse_divergence(c.b.shader.entry, everywhere=True)
    assert c.inside.divergent and behind.divergent


def test_a_uniform_break_after_a_divergent_continue_is_divergent() -> None:
    """The lanes that went round early have not taken it."""
    c = Counting()
    c.leave_if("continue", c.b.iand(c.lanes, c.b.ilt(c.inside, c.b.imm_int(5))))
    c.leave_if("break", c.b.ige(c.inside, c.same))
    behind = c.end()
    assert loop_of(c.b.shader).divergent and loop_of(c.b.shader).divergent_continue
    assert behind.divergent


# -- local arrays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["straight", "divergent if", "divergent index"])
def test_a_local_array_is_uniform_if_all_lanes_store_the_same_in_the_same_places(
    place: str,
) -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "arrays")
    zero = b.imm_int(0)
    number = b.intrinsic("load_input", [zero], num_components=1, location=VAR0)
    index = b.iand(b.intrinsic("load_ubo", [zero, zero], num_components=1), b.imm_int(3))
    table = b.impl.add_local("table", t.array(t.INT, 4))
    if place == "divergent if":
        b.push_if(b.ilt(number, zero))
    at = b.iand(number, b.imm_int(3)) if place == "divergent index" else index
    b.store_deref(b.deref_array(b.deref_var(table), at), b.imm_int(7))
    if place == "divergent if":
        b.pop_if()
    loaded = b.load_deref(b.deref_array(b.deref_var(table), index))
    b.intrinsic("store_output", [loaded, zero], location=FragResult.COLOR, write_mask=1)
    b.impl.require(Metadata.DIVERGENCE)
    assert loaded.divergent == (place != "straight")
    assert b.impl.divergent_locals == (frozenset() if place == "straight" else {table})
    Witness(b.shader, 3).run()
