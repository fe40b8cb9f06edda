"""Uniform and storage blocks of a whole program: matching, layout, numbering."""

from __future__ import annotations

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.errors import LinkLog
from gallette.compiler.glsl.link.layout import block_layout, block_leaves
from gallette.compiler.glsl.link.program import LinkedProgram, Uniform, UniformBlock
from gallette.compiler.glsl.link.stage import same_block
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables, access_flags
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type

__all__ = ["BlockLinker", "dims_of"]


class BlockLinker:
    """Fills the block tables, and gives each stage a NIR variable per block."""

    def __init__(
        self,
        units: list[StageUnit],
        variables: dict[Stage, StageVariables],
        program: LinkedProgram,
        limits: Limits,
        log: LinkLog,
    ) -> None:
        self.units = units
        self.variables = variables
        self.program = program
        self.limits = limits
        self.log = log
        self.with_blocks = [unit for unit in units if unit.blocks]

    def link_blocks(self, storage: str) -> None:
        program, log = self.program, self.log
        tables = program.uniform_blocks if storage == "uniform" else program.storage_blocks
        members = program.uniforms if storage == "uniform" else program.buffer_variables
        seen: dict[str, tuple[hir.Block, list[StageUnit]]] = {}
        for unit in self.with_blocks:
            for (kind, name), block in unit.blocks.items():
                if kind != storage:
                    continue
                if name in seen:
                    if not same_block(seen[name][0], block):
                        log.error(f"block '{name}' is declared differently in different stages")
                    self.merge_sizes(seen[name][0], block)
                    seen[name][1].append(unit)
                else:
                    seen[name] = block, [unit]
        per_stage = dict.fromkeys((u.stage for u in self.units), 0)
        for name, (block, units) in seen.items():
            live = frozenset(u.stage for u in units if self.block_live(u, u.blocks[storage, name]))
            declared = block.type.packing in ("std140", "std430", "shared")
            if not live and not declared:
                continue
            self.add_block(block, name, units, live, tables, members, storage)
            count = block.instance.type.array_elements if block.instance is not None else 1
            for stage in live:
                per_stage[stage] += max(1, count)
        limit = (
            self.limits.max_uniform_blocks
            if storage == "uniform"
            else self.limits.max_shader_storage_blocks
        )
        for stage, count in per_stage.items():
            if count > limit:
                log.error(f"the {stage.value} stage uses {count} {storage} blocks of {limit}")

    def merge_sizes(self, a: hir.Block, b: hir.Block) -> None:
        """Size implicitly sized members by the larger size of both stages."""
        for x, y in zip(a.members, b.members, strict=False):
            x.max_index = y.max_index = max(x.max_index, y.max_index)
        for p, q in zip(a.member_quals, b.member_quals, strict=False):
            p.max_index = q.max_index = max(p.max_index, q.max_index)

    def block_live(self, unit: StageUnit, block: hir.Block) -> bool:
        return block.instance in unit.live or any(m in unit.live for m in block.members)

    def add_block(
        self,
        block: hir.Block,
        name: str,
        units: list[StageUnit],
        live: frozenset[Stage],
        tables: list[UniformBlock],
        members: list[Uniform],
        storage: str,
    ) -> None:
        type_, size = block_layout(block)
        limit = (
            self.limits.max_uniform_block_size
            if storage == "uniform"
            else self.limits.max_shader_storage_block_size
        )
        if size > limit:
            self.log.error(f"block '{name}' has {size} bytes, more than the limit of {limit}")
        assert block.instance is not None
        dims = dims_of(block.instance.type)
        binding = block.quals.layout.get("binding", 0)
        first = len(tables)
        all_stages = frozenset(u.stage for u in units)
        stages = live or all_stages
        prefix = name + "." if block.instance_name else ""
        mode = Mode.UBO if storage == "uniform" else Mode.SSBO
        index_list: list[int] = []
        for leaf in block_leaves(type_, mode):
            index_list.append(len(members))
            members.append(leaf.uniform(live, prefix=prefix, block=first))
        offset = 1 if storage == "uniform" else 0
        for i, label in enumerate(_instances(name, dims)):
            explicit = "binding" in block.quals.layout
            tables.append(
                UniformBlock(
                    label,
                    size,
                    binding + i if explicit else 0,
                    stages,
                    tuple(index_list),
                    dict.fromkeys(stages, first + i + offset),
                )
            )
        for unit in units:
            own = unit.blocks[storage, name]
            assert own.instance is not None
            arrayed: Type = t.stored_type(type_)
            for length in reversed(dims):
                arrayed = t.array(arrayed, length)
            self.variables[unit.stage].blocks[own.instance] = Variable(
                name,
                arrayed,
                mode,
                driver_location=first + offset,
                binding=binding,
                interface=t.stored_type(type_),
                access=access_flags(own.quals.memory),
            )


def dims_of(type_: Type) -> list[int]:
    """The lengths of an array of arrays, the outermost first."""
    dims: list[int] = []
    while type_.element is not None:
        dims.append(type_.length)
        type_ = type_.element
    return dims


def _instances(name: str, dims: list[int]) -> list[str]:
    labels = [name]
    for length in dims:
        labels = [f"{label}[{i}]" for label in labels for i in range(length)]
    return labels
