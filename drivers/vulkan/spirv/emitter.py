"""`emit`: one lowered stage as a `Program`."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.emit import write_module
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.interface import Interface
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import Instruction

from . import resources, varyings  # resources registers its handlers
from .program import Binding, Open, Program
from .variables import Variables

_REGISTERED = resources
_UNIFORM, _STORAGE, DYNAMIC_UNIFORM = 6, 7, 8


class _Interface(Interface):
    """The interface of a module whose locations and bindings are filled in later."""

    def __init__(self, b: ModuleBuilder, variables: Variables) -> None:
        self.opens = variables.opens
        self.marks: list[tuple[Instruction, Open]] = []
        self.bindings: dict[Open, Binding] = {}
        super().__init__(b, Types(b), variables.shader)

    def slot(self, var: Variable) -> IntEnum:
        return var.location  # type: ignore[return-value]

    def locate(self, id: int, var: Variable, slot: IntEnum) -> None:
        if isinstance(slot, FragResult):
            super().locate(id, var, slot)
        else:
            self._mark(id, "Location", self.opens[var])

    def bind(self, id: int, var: Variable, kind: int) -> None:
        what, type = self.opens[var], var.type
        count, shape = max(type.length, 1) if type.is_array else 1, Binding(0).shape
        if type.dim is not None:
            letter = {"float": "f", "int": "i"}.get(type.sampled.value, "u")
            shape = type.dim.value, type.is_arrayed, letter, type.is_shadow
            number = (3, 5) if type.is_image else (1, 4)
            found = number[type.dim is Dim.BUF]
        elif var.mode == Mode.SSBO:
            found = _STORAGE
        else:
            # Block 0 of a stage comes from uniform memory: its offset is given with each draw.
            found = DYNAMIC_UNIFORM if what == ("ubo", 0) else _UNIFORM
        self.bindings[what] = Binding(found, count, shape)
        self.b.decorate(id, "DescriptorSet", 0)
        self._mark(id, "Binding", what)
        if var.mode == Mode.SSBO and list(self.opens.values()).count(what) > 1:
            self.b.decorate(id, "Aliased")

    def _mark(self, id: int, decoration: str, what: Open) -> None:
        """Decorate with a number that is filled in later."""
        instr = self.b.put("decoration", "OpDecorate", id, value_of("Decoration", decoration), 0)
        self.marks.append((instr, what))


def emit(shader: Shader, key: Any) -> Program:
    """Translate a shader with slots for inputs and outputs, and numbers for everything else."""
    variables, stage = Variables(shader, key), shader.stage
    variables.rewrite()
    varyings.finish(variables)
    variables.finish()
    if stage is Stage.COMPUTE and key.block:
        variables.shader.info.workgroup_size = key.block
    b = ModuleBuilder()
    interface = _Interface(b, variables)
    module = write_module(b, interface, "main")
    located = {what for _, what in interface.marks}
    inputs = {number for kind, number in located if kind == "in"}
    outputs = {number for kind, number in located if kind == "out"}
    wide: set[int] = set()
    if stage is Stage.VERTEX:
        wide = {number - varyings.WIDE for number in inputs if number >= varyings.WIDE}
        inputs = {number for number in inputs if number < varyings.WIDE}
    at, where = 5, {}
    for instr in module.instructions:
        where[id(instr)] = at
        at += 1 + len(instr.words)
    words = np.frombuffer(module.to_bytes(), "<u4").copy()
    marks = tuple((where[id(instr)] + 3, what) for instr, what in interface.marks)
    return Program(
        stage, words, marks, interface.bindings, tuple(sorted(inputs)), tuple(sorted(outputs)),
        frozenset(wide), frozenset(variables.doubles), variables.writes_memory,
        "first_vertex" in variables.read, module,
    )  # fmt: skip
