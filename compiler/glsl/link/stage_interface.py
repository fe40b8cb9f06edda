"""The interface between two stages, and its variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.blocks import sized_block
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type

__all__ = ["InterfaceVariable", "StageInterface", "interface_variables", "is_per_vertex"]


@dataclass(slots=True, eq=False)
class InterfaceVariable:
    """One user-declared input or output, or one member of an interface block."""

    name: str
    """`name`, or `Block.member` for matching blocks"""
    var: hir.Variable
    """the variable, or the block's instance"""
    member: int
    quals: hir.Quals
    type: Type
    """including the per-vertex dimension"""
    per_vertex: bool
    block: hir.Block | None = None
    live: bool = False
    location: int = -1
    captured: bool = False
    partner: InterfaceVariable | None = None
    label: str = ""
    packed: int = -1
    """its first component after packing, counted from that of the first varying"""

    @property
    def shape(self) -> Type:
        """The type of one vertex's value."""
        if self.per_vertex and self.type.element is not None:
            return self.type.element
        return self.type

    @property
    def explicit(self) -> int:
        return self.quals.layout.get("location", -1)

    @property
    def component(self) -> int:
        if self.packed >= 0:
            return self.packed % 4
        return self.quals.layout.get("component", 0)

    @property
    def packing_class(self) -> tuple[object, ...]:
        """Varyings with equal packing class may share a slot, since they are interpolated alike."""
        leaves = self.shape.leaves()
        flat = self.quals.interpolation == "flat" or any(
            leaf.is_integer or leaf.has_handle or leaf.bit_size == 64 for leaf in leaves
        )
        how = "flat" if flat else self.quals.interpolation or "smooth"
        return (how, self.quals.centroid, self.quals.sample, self.quals.layout.get("stream", 0))

    @property
    def slots(self) -> int:
        """The number of slots it occupies, from `location` on."""
        if self.packed >= 0:
            return (self.component + self.shape.words + 3) // 4
        return self.shape.slots()


def is_per_vertex(unit: StageUnit, quals: hir.Quals) -> bool:
    if quals.patch:
        return False
    if quals.storage == "in":
        return unit.stage in (Stage.GEOMETRY, Stage.TESS_CTRL, Stage.TESS_EVAL)
    return unit.stage is Stage.TESS_CTRL


def interface_variables(
    unit: StageUnit, storage: str, captured: frozenset[str] = frozenset()
) -> list[InterfaceVariable]:
    """The user-declared inputs or outputs of a stage, with the members of blocks as variables."""
    found: list[InterfaceVariable] = []
    for var in unit.globals.values():
        if var.quals.storage == storage and var.block is None:
            found.append(
                InterfaceVariable(
                    name=var.name,
                    label=var.name,
                    var=var,
                    member=-1,
                    quals=var.quals,
                    type=var.type,
                    per_vertex=is_per_vertex(unit, var.quals) and var.type.is_array,
                    live=var in unit.live,
                    captured=var.name in captured,
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
            name=name,
            label=label,
            var=instance,
            member=i,
            quals=quals,
            type=type_,
            per_vertex=is_per_vertex(unit, block.quals) and bool(dims),
            block=block,
            live=(block.members[i] if block.members else instance) in unit.live,
            captured=bool({label, label.partition(".")[0], name} & captured),
        )


@dataclass(slots=True, eq=False)
class StageInterface:
    """The interface between two neighbouring stages, or between one stage and fixed function."""

    producer: StageUnit | None
    consumer: StageUnit | None
    outputs: list[InterfaceVariable]
    inputs: list[InterfaceVariable]
    variables: dict[Stage, StageVariables]
    limits: Limits
    log: LinkLog
    separable: bool
