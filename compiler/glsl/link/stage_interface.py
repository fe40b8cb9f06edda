"""The interface between two stages, and its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.blocks import sized_block
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.slots import Interface, Port
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type


@lazy_dataclass(eq=False, kw_only=True)
class InterfaceVariable(Port):
    """One user-declared input or output, or one member of an interface block."""

    name: str
    """`name`, or `Block.member` for matching blocks"""
    declared: hir.Variable
    """the variable, or the block's instance"""
    member: int
    quals: hir.Quals
    block: hir.Block | None = None


def is_per_vertex(stage: Stage, quals: hir.Quals) -> bool:
    if quals.patch:
        return False
    if quals.storage == "in":
        return stage in (Stage.GEOMETRY, Stage.TESS_CTRL, Stage.TESS_EVAL)
    return stage is Stage.TESS_CTRL


def interface_variables(
    unit: StageUnit, storage: str, captured: frozenset[str] = frozenset()
) -> list[InterfaceVariable]:
    """The user-declared inputs or outputs of a stage, with the members of blocks as variables."""
    found: list[InterfaceVariable] = []
    for var in unit.globals.values():
        if var.quals.storage == storage and var.block is None:
            per_vertex = is_per_vertex(unit.stage, var.quals) and var.type.is_array
            found.append(
                InterfaceVariable(
                    _variable(var.name, var.type, var.quals, per_vertex),
                    var.type,
                    var.quals.layout.get("location", -1),
                    var in unit.live,
                    var.name in captured,
                    name=var.name,
                    declared=var,
                    member=-1,
                    quals=var.quals,
                )
            )
    for (kind, _), block in unit.blocks.items():
        if kind == storage and not block.builtin and block.instance is not None:
            found += _block_ports(unit, block, block.instance, captured)
    return found


def _block_ports(
    unit: StageUnit, block: hir.Block, instance: hir.Variable, captured: frozenset[str]
) -> Iterator[InterfaceVariable]:
    dims: list[int] = []
    outer = instance.type
    while outer.element is not None:
        dims.append(outer.length)
        outer = outer.element
    location = block.quals.layout.get("location", -1)
    for i, f in enumerate(sized_block(block).fields):
        quals = block.member_quals[i]
        type_ = f.type
        if "location" in quals.layout:
            location = quals.layout["location"]
        elif location >= 0:
            quals.layout["location"] = location
        if location >= 0:
            location += type_.slots()
        for length in reversed(dims):
            type_ = t.array(type_, length)
        name = f"{block.name}.{f.name}"
        label = name if block.instance_name else f.name
        yield InterfaceVariable(
            _variable(label, type_, quals, is_per_vertex(unit.stage, block.quals) and bool(dims)),
            type_,
            quals.layout.get("location", -1),
            (block.members[i] if block.members else instance) in unit.live,
            bool({label, label.partition(".")[0], name} & captured),
            name=name,
            declared=instance,
            member=i,
            quals=quals,
            block=block,
        )


def _variable(name: str, type_: Type, quals: hir.Quals, per_vertex: bool) -> Variable:
    """The NIR variable of an input or output, without its slot."""
    return Variable(
        name,
        t.stored_type(type_),
        Mode.SHADER_IN if quals.storage == "in" else Mode.SHADER_OUT,
        component=quals.layout.get("component", 0),
        interpolation=quals.interpolation or "none",
        centroid=quals.centroid,
        sample=quals.sample,
        patch=quals.patch,
        invariant=quals.invariant,
        precise=quals.precise,
        stream=quals.layout.get("stream", 0),
        per_vertex=per_vertex,
    )


StageInterface: TypeAlias = Interface[InterfaceVariable]


@lazy_dataclass(eq=False)
class StagePair:
    """Two neighbouring stages, with what one hands to the other."""

    first: StageUnit
    second: StageUnit
    outputs: list[InterfaceVariable]
    inputs: list[InterfaceVariable]
    log: LinkLog
    separable: bool
