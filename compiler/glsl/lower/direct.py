"""Inputs, uniforms and outputs as a driver sees them: slots, offsets and units.

Where a variable of the interface is read or written whole, or a constant part of it is read, what
the passes `lower_outputs_to_temporaries`, `lower_io`, `lower_uniforms_to_ubo` and `lower_samplers`
would make of a deref is built at once, with the helpers of those passes. Most shaders do nothing
else with their interface, so they never have a deref. Everything that is not told here (dynamic
indices, arrays of vertices, outputs that are read or written in parts) goes the long way; so does
all of a shader while somebody records what passes do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from gallette.compiler.glsl.lower.values import Value
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.address import Address
from gallette.compiler.nir.ir import Def, Instr, Intrinsic, Mode, Stage, Variable
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.layout import component_bytes
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.passes.io.lower_io import (
    FRAGMENT_SYSTEM,
    assign_bases,
    barycentric,
    is_flat,
    load_indices,
    store_indices,
)
from gallette.compiler.nir.passes.io.lower_uniforms_to_ubo import (
    is_plain,
    load_memory,
    uniform_layout,
)

__all__ = ["DirectAccess", "Steps"]

Steps: TypeAlias = "tuple[int, ...]"
"""The way into a variable: numbers of members, elements and columns."""

_IN, _OUT, _UNIFORM = Mode.SHADER_IN, Mode.SHADER_OUT, Mode.UNIFORM
_PLAIN_INPUTS = (Stage.VERTEX, Stage.FRAGMENT)
_PLAIN_OUTPUTS = (Stage.VERTEX, Stage.TESS_EVAL, Stage.FRAGMENT)
_LOAD_UBO = INTRINSICS["load_ubo"]
_LOAD_INPUT = INTRINSICS["load_input"]
_LOAD_INTERPOLATED = INTRINSICS["load_interpolated_input"]
_STORE_OUTPUT = INTRINSICS["store_output"]
_Load: TypeAlias = Callable[[Builder, Variable, Steps], Def]


@cache
def _part(t: Type, steps: Steps) -> Type:
    """What the steps lead to."""
    for step in steps:
        t = t.fields[step].type if t.is_struct else t.indexed()
    return t


@cache
def _place_in_block(t: Type, steps: Steps) -> tuple[Type, int, bool]:
    """The part of a uniform with its layout, its bytes from the uniform's start, and whether it
    lies there as it is read."""
    address = Address(None, uniform_layout(t)[0])
    for step in steps:
        address.step_constant(step)
    return address.type, address.constant, is_plain(address.type)


@cache
def _place_in_slots(t: Type, steps: Steps, in_vertex: bool) -> tuple[Type, int]:
    """The part of an input, and its slots from the input's first."""
    slot = 0
    for step in steps:
        if t.is_struct:
            slot += sum([f.type.slots(in_vertex) for f in t.fields[:step]])
            t = t.fields[step].type
        else:
            t = t.indexed()
            slot += step * t.slots(in_vertex)
    return t, slot


class DirectAccess:
    """The accesses of one stage that need no deref."""

    def __init__(self, b: Builder):
        self.main = b
        self.stage = b.shader.stage
        self.known: dict[tuple[Variable, Steps], Def] = {}
        """the latest reading of each vector"""
        self.touched: set[Variable] = set()
        """outputs that have derefs"""
        self.waiting: dict[Variable, tuple[Def, Instr, int]] = {}
        """outputs that have been written whole, for everybody, and not looked at since: the value,
        the instruction behind which that was, and the line"""
        self.returns = False
        """may main end before its end?"""
        assign_bases(b.shader)

    # -- reading -----------------------------------------------------------------------------

    def read(self, b: Builder, var: Variable, steps: Steps) -> Value | None:
        """A vector or matrix inside an input or uniform; None if that needs a deref."""
        if var.mode is _UNIFORM:
            if var.offset < 0 or var.type.holds_opaque:
                return None
            load, t = self._uniform, _part(var.type, steps)
        else:
            if self.stage not in _PLAIN_INPUTS or var.location < 0:
                return None
            if var.packed or var.compact or var.per_vertex:
                return None
            load, t = self._input, _part(var.type, steps)
        if t.is_vector_or_scalar:
            return self._latest(b, var, steps, load)
        if t.is_matrix:
            return [self._latest(b, var, (*steps, i), load) for i in range(t.columns)]
        return None

    def _latest(self, b: Builder, var: Variable, steps: Steps, load: _Load) -> Def:
        known = self.known.get((var, steps))
        if known is None or not b.sees(known):
            known = self.known[var, steps] = load(b, var, steps)
        return known

    def _uniform(self, b: Builder, var: Variable, steps: Steps) -> Def:
        t, offset, plain = _place_in_block(var.type, steps)
        size = uniform_layout(var.type)[1]
        if not plain:
            address = Address(b, t, var.offset + offset)
            return load_memory(b, address, "load_ubo", b.imm_int(0), (var.offset, size))
        indices = {"align_mul": component_bytes(t), "range_base": var.offset, "range": size}
        srcs = [b.imm_int(0), b.imm_int(var.offset + offset)]
        return self._insert(b, Intrinsic(_LOAD_UBO, srcs, t.components, t.bit_size, indices))

    def _input(self, b: Builder, var: Variable, steps: Steps) -> Def:
        stage = self.stage
        t, slot = _place_in_slots(var.type, steps, stage is Stage.VERTEX)
        info, srcs = _LOAD_INPUT, [b.imm_int(0)]
        if stage is Stage.FRAGMENT:
            system = FRAGMENT_SYSTEM.get(var.location)
            if system is not None:
                return b.trim(b.intrinsic(system), t.components)
            if not is_flat(var):
                info = _LOAD_INTERPOLATED
                srcs.insert(0, barycentric(b, var))
        indices = load_indices(stage, var, t, slot, var.component)
        return self._insert(b, Intrinsic(info, srcs, t.components, t.bit_size, indices))

    def _insert(self, b: Builder, load: Intrinsic) -> Def:
        b.insert(load)
        assert load.dest is not None
        return load.dest

    # -- writing -----------------------------------------------------------------------------

    def takes(self, b: Builder, var: Variable) -> bool:
        """Can what is stored into all of `var` here wait for the end of main?"""
        return (
            b is self.main
            and not self.returns
            and b.block.parent is b.impl
            and var.mode is _OUT
            and var not in self.touched
            and self.stage in _PLAIN_OUTPUTS
            and var.location >= 0
            and var.type.is_vector_or_scalar
            and not (var.packed or var.compact or var.precise or var.per_vertex)
        )

    def write(self, var: Variable, value: Def) -> None:
        """All of an output that `takes` said yes to is this now."""
        b = self.main
        assert b.after is not None
        value.call(var.name, b.loc)
        self.waiting[var] = value, b.after, b.loc

    def touch(self, var: Variable) -> None:
        """Somebody wants to have a deref: what was stored must be in the variable."""
        self.touched.add(var)
        found = self.waiting.pop(var, None)
        if found is None:
            return
        value, behind, line = found
        b = self.main
        assert behind.block is not None
        before, now = b.cursor, b.loc
        b.cursor = behind.block, behind
        b.loc = line
        b.store_deref(b.deref_var(var), value)
        b.loc = now
        if before[1] is not behind:
            b.cursor = before

    def touch_all(self) -> None:
        """Somebody may do whatever he likes with the outputs."""
        for var in list(self.waiting):
            self.touch(var)

    def finish(self) -> None:
        """The end of main: outputs get what they were given last."""
        if self.returns:
            self.touch_all()
        b = self.main
        for var, (value, _, line) in self.waiting.items():
            mask = (1 << value.num_components) - 1
            indices = store_indices(self.stage, var, var.type, 0, var.component, mask)
            b.loc = line
            b.insert(Intrinsic(_STORE_OUTPUT, [value, b.imm_int(0)], indices=indices))
        self.waiting.clear()
