"""Uniform and storage blocks of the stages: matched by name, sized, declared to the linker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.stage import same_block
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables, access_flags
from gallette.compiler.link.layout import laid_out
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.resources import Block, dims_of
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Field, Type


def declared_blocks(
    storage: str, units: list[StageUnit], variables: dict[Stage, StageVariables], log: LinkLog
) -> Iterator[Block]:
    """The blocks of a storage qualifier that a stage uses, or whose layout is known (7.6.2)."""
    seen: dict[str, dict[StageUnit, hir.Block]] = {}
    for unit in units:
        for (kind, name), block in unit.blocks.items():
            if kind != storage:
                continue
            users = seen.setdefault(name, {})
            if users:
                first = next(iter(users.values()))
                if not same_block(first, block):
                    log.error(f"block '{name}' is declared differently in different stages")
                _merge_sizes(first, block)
            users[unit] = block
    for name, users in seen.items():
        block = next(iter(users.values()))
        _check_sizes(name, block, log)
        live = frozenset(unit.stage for unit, own in users.items() if _is_live(unit, own))
        if live or block.type.packing in ("std140", "std430", "shared"):
            yield _declared(name, block, users, live, variables)


def _declared(
    name: str,
    block: hir.Block,
    users: dict[StageUnit, hir.Block],
    live: frozenset[Stage],
    variables: dict[Stage, StageVariables],
) -> Block:
    least = block.quals.layout.get("align", 1)
    layouts = [quals.layout for quals in block.member_quals]
    places = tuple([(m.get("offset", -1), m.get("align", least)) for m in layouts])
    type_, size = laid_out(sized_block(block), places)
    assert block.instance is not None
    dims = dims_of(block.instance.type)
    arrayed: Type = t.stored_type(type_)
    for length in reversed(dims):
        arrayed = t.array(arrayed, length)
    mode = Mode.UBO if block.quals.storage == "uniform" else Mode.SSBO
    binding = block.quals.layout.get("binding", -1)
    own: dict[Stage, Variable] = {}
    for unit, declared in users.items():
        assert declared.instance is not None
        own[unit.stage] = variables[unit.stage].blocks[declared.instance] = Variable(
            name,
            arrayed,
            mode,
            binding=max(binding, 0),
            interface=t.stored_type(type_),
            access=access_flags(declared.quals.memory),
        )
    prefix = name + "." if block.instance_name else ""
    return Block(name, mode, type_, size, dims, binding, own, live, prefix)


def _is_live(unit: StageUnit, block: hir.Block) -> bool:
    return block.instance in unit.live or any(m in unit.live for m in block.members)


def _merge_sizes(a: hir.Block, b: hir.Block) -> None:
    """Size implicitly sized members by the larger size of both stages."""
    for x, y in zip(a.members, b.members, strict=False):
        x.max_index = y.max_index = max(x.max_index, y.max_index)
    for p, q in zip(a.member_quals, b.member_quals, strict=False):
        p.max_index = q.max_index = max(p.max_index, q.max_index)


def _declared_member(block: hir.Block, i: int) -> tuple[Type, int]:
    """The type of a member, and the highest constant that indexes it, or -1."""
    if not block.members:
        return block.type.fields[i].type, block.member_quals[i].max_index
    member = block.members[i]
    return member.type, max(block.member_quals[i].max_index, member.max_index)


def sized_block(block: hir.Block) -> Type:
    """The block's type with its implicitly sized members sized."""
    fields: list[Field] = []
    last = len(block.type.fields) - 1
    for i, f in enumerate(block.type.fields):
        type_, highest = _declared_member(block, i)
        runtime = block.quals.storage == "buffer" and i == last
        if type_.is_unsized_array and not runtime and type_.element is not None:
            type_ = t.array(type_.element, max(1, highest + 1))
        fields.append(f if type_ is f.type else replace(f, type=type_))
    return t.interface(block.type.name, fields, block.type.packing, block.type.row_major)


def _check_sizes(name: str, block: hir.Block, log: LinkLog) -> None:
    """Only the last member may be left without a size (4.1.9)."""
    for i, f in enumerate(block.type.fields[:-1]):
        type_, highest = _declared_member(block, i)
        if type_.is_unsized_array and highest < 0:
            log.error(f"array '{f.name}' of block '{name}' has no size and is not the last member")
