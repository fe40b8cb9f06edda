"""Whether anybody else looks at a part of the position computation must not move the vertex.

Random vertex shaders compute a position and write some of the intermediate values to varyings; the
depth-only variant of the same shader writes the position alone. Both are optimised and run.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Def, Shader, Stage, clone_shader
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes

OPERATIONS = ("fadd", "fmul", "fsub", "fadd", "fmul", "fdiv", "fmin", "fneg", "fsqrt", "ffma")


def make_vertex_shader(rng: random.Random) -> Shader:
    """Inexact arithmetic on attributes and uniforms, with branches, seen from outside in places."""
    b = Builder.shader_main(Stage.VERTEX, "position")
    zero = b.imm_int(0)
    values: list[Def] = [
        b.intrinsic(
            "load_input", [zero], num_components=4, location=VertAttrib(VertAttrib.GENERIC0 + i)
        )
        for i in range(2)
    ]
    values += [
        b.intrinsic("load_ubo", [zero, b.imm_int(16 * i)], num_components=4) for i in range(3)
    ]
    values.append(b.imm_vec(2.0, 2.0, 2.0, 2.0))
    values.append(b.imm_vec(0.1, 3.0, 1.0, 0.0))
    for _ in range(rng.randrange(6, 25)):
        values.append(_one(b, rng, values))
        if rng.random() < 0.1:
            condition = b.flt(b.channel(values[-1], 0), b.channel(values[0], 1))
            values.append(b.bcsel(condition, values[-1], values[-2]))
    b.intrinsic("store_output", [values[-1], zero], location=VaryingSlot.POS, write_mask=15)
    for i in range(rng.randrange(1, 4)):
        seen = rng.choice(values[7:])
        slot = VaryingSlot(VaryingSlot.VAR0 + i)
        b.intrinsic("store_output", [seen, zero], location=slot, write_mask=15)
    return b.shader


def _one(b: Builder, rng: random.Random, values: list[Def]) -> Def:
    name = rng.choice(OPERATIONS)
    a, c, d = (rng.choice(values[-6:]) for _ in range(3))
    if rng.random() < 0.2:
        a = b.swizzle(a, rng.choice(["wzyx", "yxwz"]))
    if name == "ffma":
        return b.fadd(b.fmul(a, c), b.fmul(a, d))
    return b.alu(name, a) if name in ("fneg", "fsqrt") else b.alu(name, a, c)


def positions(shader: Shader) -> np.ndarray:
    result = interpret(shader, Environment(lanes=64, seed=3))
    return np.stack([result.outputs[VaryingSlot.POS, c] for c in range(4)])


def same_position(rng: random.Random, options: OptimizeOptions) -> bool:
    """Do the whole shader and its depth-only variant agree about every vertex?"""
    whole = make_vertex_shader(rng)
    depth_only = clone_shader(whole)
    run_passes(depth_only, ["lower_depth_only", "dce"])
    optimize(whole, options)
    optimize(depth_only, options)
    a, b = positions(whole), positions(depth_only)
    nan = np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
    return bool(((a == b) | nan).all())


@pytest.mark.parametrize("invariant", [False, True], ids=["not_position", "position_invariant"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=80)
def test_the_remedies_keep_the_position_of_every_variant(invariant: bool, seed: int) -> None:
    choice: UsedOnce = "always" if invariant else "not_position"
    options = OptimizeOptions(
        fuse_ffma=True, inexact_used_once=choice, position_invariant=invariant
    )
    assert same_position(random.Random(seed), options)


def inlined(source: Shader, every: int, **options: bool) -> Shader:
    """The shader with every so-manieth of its uniforms a constant."""
    numbers = np.random.default_rng(1).uniform(-2, 2, 12).astype(np.float32).view(np.uint32)
    values = tuple((4 * i, int(bits)) for i, bits in enumerate(numbers) if i % every == 0)
    variant = clone_shader(source)
    run_passes(variant, [("inline_uniforms", {"values": values, **options})])
    return variant


def inlining_keeps_positions(seed: int, choice: OptimizeOptions, **options: bool) -> bool:
    source = make_vertex_shader(random.Random(seed))
    numbers = np.random.default_rng(1).uniform(-2, 2, 12).astype(np.float32)
    found = []
    for shader in (source, inlined(source, 1, **options), inlined(source, 2, **options)):
        optimize(shader, choice)
        result = interpret(shader, Environment(lanes=64, seed=3, ubos={0: numbers.tobytes()}))
        place = np.stack([result.outputs[VaryingSlot.POS, c] for c in range(4)])
        found.append(np.where(np.isnan(place.view(np.float32)), 0, place))
    return all(np.array_equal(found[0], other) for other in found[1:])


REMEDIES = {
    "never": OptimizeOptions(fuse_ffma=True, inexact_used_once="never"),
    "not_position": OptimizeOptions(fuse_ffma=True, inexact_used_once="not_position"),
    "position_invariant": OptimizeOptions(
        fuse_ffma=True, inexact_used_once="always", position_invariant=True
    ),
}


@pytest.mark.parametrize("remedy", REMEDIES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_inlined_uniforms_keep_the_position_under_every_remedy(remedy: str, seed: int) -> None:
    assert inlining_keeps_positions(seed, REMEDIES[remedy])


def test_uniforms_inlined_everywhere_move_it() -> None:
    choice = REMEDIES["not_position"]
    differing = [s for s in range(60) if not inlining_keeps_positions(s, choice, positions=True)]
    assert len(differing) > 2


@given(seed=st.integers(0, 2**32))
@settings(max_examples=80)
def test_fusing_whatever_the_use_count_is_keeps_it_too(seed: int) -> None:
    options = OptimizeOptions(
        fuse_ffma=True,
        inexact_used_once="never",
        algebraic=AlgebraicOptions(fuse_ffma_shared=True),
    )
    assert same_position(random.Random(seed), options)


def test_without_a_remedy_variants_disagree() -> None:
    options = OptimizeOptions(fuse_ffma=True, inexact_used_once="always")
    differing = [seed for seed in range(100) if not same_position(random.Random(seed), options)]
    assert len(differing) > 3


# -- which values count ---------------------------------------------------------------------------


class Outputs:
    """A vertex shader that stores to the position and to a varying, in either form."""

    def __init__(self, derefs: bool) -> None:
        b = self.b = Builder.shader_main(Stage.VERTEX, "outputs")
        self.derefs = derefs
        self.zero = b.imm_int(0)
        slots = {"position": VaryingSlot.POS, "other": VaryingSlot.VAR0}
        self.slots = slots
        self.vars = {
            name: b.shader.add_variable(name, t.FLOAT, Mode.SHADER_OUT, location=slot)
            for name, slot in slots.items()
        }

    def fresh(self) -> Def:
        b = self.b
        return b.intrinsic("load_ubo", [self.zero, b.imm_int(0)], num_components=1)

    def store(self, name: str, value: Def) -> None:
        if self.derefs:
            self.b.store_var(self.vars[name], value)
        else:
            slot = self.slots[name]
            self.b.intrinsic("store_output", [value, self.zero], location=slot, write_mask=1)

    def counts(self, value: Def) -> bool:
        return value in position_values(self.b.impl)


WAYS = ["at once", "chosen", "by a loop", "in a variable", "in a variable of an if"]


@pytest.mark.parametrize("derefs", [False, True], ids=["outputs", "derefs"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["position", "other"])
def test_a_value_counts_if_the_position_is_computed_from_it(
    name: str, way: str, derefs: bool
) -> None:
    """By whatever way, and what another output is computed from does not."""
    o = Outputs(derefs)
    b = o.b
    first, second, third, lonely = (o.fresh() for _ in range(4))
    asked = [third]
    if way == "at once":
        result = b.fadd(first, b.fmul(second, third))
    elif way == "chosen":
        b.push_if(b.flt(third, first))
        b.push_else()
        b.pop_if()
        result = b.if_phi(first, second)
    elif way == "by a loop":
        var = b.impl.add_local("sum", t.FLOAT)
        b.store_var(var, first)
        b.push_loop()
        b.break_if(b.flt(third, second))
        b.store_var(var, b.fadd(b.load_var(var), second))
        b.pop_loop()
        result = b.load_var(var)
        asked = []
    else:
        var = b.impl.add_local("kept", t.FLOAT)
        b.store_var(var, first)
        if way == "in a variable":
            b.store_var(var, b.fadd(second, third))
        else:
            b.push_if(b.flt(third, lonely))
            b.store_var(var, second)
            b.pop_if()
        result = b.load_var(var)
    o.store(name, result)
    o.store("other", lonely)
    if way == "by a loop":
        run_passes(b.shader, ["lower_vars_to_ssa"])
        asked = [third]
    validate(b.shader)
    for value in (first, second, *asked):
        assert o.counts(value) is (name == "position")
    assert o.counts(lonely) is (way == "in a variable of an if" and name == "position")
