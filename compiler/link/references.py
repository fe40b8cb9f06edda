"""Which stages reference a block or a member: REFERENCED_BY_..._SHADER (OpenGL 4.6, 7.3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gallette.compiler.link.program import LinkedProgram
from gallette.compiler.nir.ir import Deref, Mode, Shader, Stage
from gallette.compiler.nir.ir.queries import const_int, derefs_of


def mark_references(shaders: dict[Stage, Shader], program: LinkedProgram) -> None:
    """Record the stages that reference each block, or element of an array of blocks, and each
    member of a block without an instance name, which is a variable of its own.

    Shaders are not optimised yet: what optimization removes is still referenced.
    """
    if not (program.uniform_blocks or program.storage_blocks):
        return
    for mode, blocks, variables in (
        (Mode.UBO, program.uniform_blocks, program.uniforms),
        (Mode.SSBO, program.storage_blocks, program.buffer_variables),
    ):
        stages: dict[int, set[Stage]] = {}
        of_members: dict[tuple[int, str], set[Stage]] = {}
        for stage, shader in shaders.items() if blocks else ():
            numbers = {b.nir_index[stage]: i for i, b in enumerate(blocks) if stage in b.nir_index}
            for deref in derefs_of(shader, mode):
                if deref.form == "var" and deref.var is not None:
                    first = numbers[deref.var.driver_location]
                    for element in _elements(deref, 0):
                        stages.setdefault(first + element, set()).add(stage)
                    for member in _members(deref):
                        of_members.setdefault((first, member), set()).add(stage)
        for i, block in enumerate(blocks):
            blocks[i] = replace(block, stages=frozenset(stages.get(i, ())))
            prefix = block.name.partition("[")[0] + "."
            for k in block.members:
                name = variables[k].name
                if not name.startswith(prefix):
                    key = i, re.split(r"[.\[]", name, maxsplit=1)[0]
                    variables[k] = replace(variables[k], stages=frozenset(of_members.get(key, ())))


def _members(deref: Deref) -> Iterator[str]:
    """The members of a block that its uses select; the block is not an array."""
    for use in deref.dest.uses:
        at = use.parent
        if isinstance(at, Deref) and at.form == "struct":
            yield deref.type.fields[at.field].name


def _elements(deref: Deref, first: int) -> Iterator[int]:
    """The elements of an array of blocks that a deref may select, numbered through all
    dimensions.
    """
    if deref.type.element is None:
        yield first
        return
    for use in deref.dest.uses:
        at = use.parent
        if isinstance(at, Deref) and at.form == "array" and use is at.srcs[0]:
            chosen = const_int(at.array_index.value)
            choices = range(deref.type.length) if chosen is None else (chosen,)
            for i in choices:
                yield from _elements(at, first * deref.type.length + i)
