"""Uniforms, blocks and atomic counters of a whole program.

All stages share one storage: a uniform declared in several stages has one offset and one location.
Each stage gets NIR variables with the offset; opaque uniforms get unit numbers, counted per stage.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.link.blocks import BlockLinker, dims_of
from gallette.compiler.glsl.link.errors import LinkLog
from gallette.compiler.glsl.link.layout import (
    Leaf,
    counter,
    counter_buffer,
    leaves,
    opaque_paths,
    write_constant,
)
from gallette.compiler.glsl.link.program import LinkedProgram, SubroutineUniform
from gallette.compiler.glsl.link.resource_limits import check_limits
from gallette.compiler.glsl.link.stage import merge_types, same_constant
from gallette.compiler.glsl.link.subroutines import numbered
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables, access_flags
from gallette.compiler.glsl.lower.values import constant_bits
from gallette.compiler.glsl.qualifiers import IMAGE_FORMATS
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import align, explicit_type, size_align
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["ResourceLinker"]

_UNIFORM = Mode.UNIFORM
_NO_HANDLES: frozenset[Base] = frozenset()


@dataclass(slots=True)
class _Shared:
    """One uniform of the program, across stages."""

    name: str
    var: hir.Variable
    type: Type
    layout: dict[str, int]
    users: dict[StageUnit, hir.Variable] = field(default_factory=dict)
    live: set[Stage] = field(default_factory=set)
    init: hir.Value | None = None


def _locations_of(type_: Type) -> int:
    """The number of locations of a uniform: one per basic element."""
    if type_.element is not None:
        return type_.length * _locations_of(type_.element)
    if type_.is_struct:
        return sum(_locations_of(f.type) for f in type_.fields)
    return 1


@lru_cache(maxsize=1024)
def _storage(type_: Type) -> tuple[Type, int, int, int]:
    """The storage of a uniform: its type laid out, bytes, alignment, locations."""
    size, alignment = size_align(type_)
    return explicit_type(type_), size, max(alignment, 4), _locations_of(type_)


class ResourceLinker(BlockLinker):
    """Fills the resource tables of a program and the uniform variables of its stages."""

    def __init__(
        self,
        units: list[StageUnit],
        variables: dict[Stage, StageVariables],
        program: LinkedProgram,
        limits: Limits,
        log: LinkLog,
    ) -> None:
        super().__init__(units, variables, program, limits, log)
        self.textures = dict.fromkeys([u.stage for u in units], 0)
        self.images = self.textures.copy()
        self.storage = 0
        self.initial: list[tuple[int, Type, Any]] = []
        self.used_locations: dict[int, str] = {}
        self.next_location = 0
        self.subroutine_locations: dict[Stage, set[int]] = {}
        self.counters: dict[int, list[int]] = {}
        """buffer binding -> the atomic counters in it, as indices of uniforms"""

    def run(self) -> None:
        shared = self.collect()
        if self.with_blocks:
            self.link_blocks("uniform")
            self.link_blocks("buffer")
        self.explicit_locations(shared)
        for item in shared:
            if item.live:
                self.place(item)
        if self.counters:
            self.atomic_counters()
        self.finish()

    # -- collecting --------------------------------------------------------------------------

    def collect(self) -> list[_Shared]:
        """Collect uniforms of the default block, matched by name across stages."""
        found: dict[str, _Shared] = {}
        for unit in self.units:
            candidates = [*unit.globals.values(), *unit.builtins.values()]
            for var in candidates:
                quals = var.quals
                if quals.storage != "uniform" or var.block is not None:
                    continue
                key = var.name
                if var.type.holds_opaque and var.type.without_array.base is Base.SUBROUTINE:
                    key = f"{unit.stage.value}:{var.name}"
                item = found.get(key)
                if item is None:
                    item = found[key] = _Shared(var.name, var, var.type, quals.layout.copy())
                else:
                    self.match(item, var, unit)
                    item.layout.update(quals.layout)
                item.users[unit] = var
                if var.init is not None:
                    item.init = constant_value(var.init)
                if var in unit.live or var.init is not None:
                    # Initialised uniforms stay active, because their value can be queried.
                    item.live.add(unit.stage)
        if self.with_blocks:
            for (_, name), blocks in sorted(self.open_members().items()):
                if name in found:
                    self.log.error(f"'{name}' is declared both inside and outside of a block")
                if len(blocks) > 1:
                    a, b = sorted(blocks)[:2]
                    self.log.error(f"'{name}' is declared in the blocks '{a}' and '{b}'")
        self.check_subroutines(found.values())
        for unit in self.units:
            if self.needs_origin(unit):
                self.hidden_uniform(found, unit, "gl_FbWposYTransform", t.VEC4)
        return list(found.values())

    def open_members(self) -> dict[tuple[str, str], set[str]]:
        """Members of blocks without an instance name, whose names must not clash with other
        uniforms.

        (storage, name) -> the blocks that have such a member.
        """
        found: dict[tuple[str, str], set[str]] = {}
        for unit in self.with_blocks:
            for (storage, name), block in unit.blocks.items():
                if storage in ("uniform", "buffer") and not block.instance_name:
                    for member in block.members:
                        found.setdefault((storage, member.name), set()).add(name)
        return found

    def check_subroutines(self, shared: Iterable[_Shared]) -> None:
        """Check that each subroutine uniform, used or not, has a function of its type."""
        for item in shared:
            kind = item.type.without_array
            if kind.base is Base.SUBROUTINE:
                for unit in item.users:
                    functions = unit.functions.values()
                    if not any(kind.name in f.subroutine_types for f in functions):
                        self.log.error(f"no function suits the subroutine uniform '{item.name}'")

    def needs_origin(self, unit: StageUnit) -> bool:
        coord = unit.builtins.get("gl_FragCoord")
        return coord is not None and "origin_upper_left" in coord.quals.flags

    def hidden_uniform(
        self, found: dict[str, _Shared], unit: StageUnit, name: str, type_: Type
    ) -> None:
        """Add a uniform that the shader does not name but its lowering reads."""
        item = found.get(name)
        if item is None:
            var = hir.Variable(name, type_, hir.Quals("uniform"), kind="global", builtin="state:")
            item = found[name] = _Shared(name, var, type_, {})
        item.users.setdefault(unit, item.var)
        item.live.add(unit.stage)

    def match(self, item: _Shared, var: hir.Variable, unit: StageUnit) -> None:
        log, name = self.log, var.name
        merged = merge_types(item.type, var.type)
        if merged is None:
            log.error(f"uniform '{name}' is '{item.type}' in one stage and '{var.type}' in another")
            return
        item.type = merged
        for key in ("location", "binding", "offset"):
            a, b = item.layout.get(key, -1), var.quals.layout.get(key, -1)
            if a >= 0 and b >= 0 and a != b:
                log.error(f"uniform '{name}' has two values of '{key}'")
        if item.var.quals.flags & IMAGE_FORMATS != var.quals.flags & IMAGE_FORMATS:
            log.error(f"image '{name}' has different formats in different stages")
        es = unit.language.es
        if es and item.var.quals.precision != var.quals.precision:
            p, q = item.var.quals.precision, var.quals.precision
            used = bool(item.live) and var in unit.live
            if p and q and p != q and (used or unit.language.version >= 300):
                log.error(f"uniform '{name}' has precision '{p}' in one stage and '{q}' in another")
        if es:
            self.compare_members(name, item.type.without_array, next(iter(item.users)), unit)
        if item.init is not None and var.init is not None:
            init = constant_value(var.init)
            if init is None or not same_constant(item.type, init, item.init):
                log.error(f"uniform '{name}' has two different initializers")

    def compare_members(self, name: str, type_: Type, one: StageUnit, other: StageUnit) -> None:
        """Check that members of a structure have the same precision in both stages."""
        mine, theirs = one.precisions.get(type_.name, ()), other.precisions.get(type_.name, ())
        for member, p, q in zip(type_.fields, mine, theirs, strict=False):
            if p != q:
                self.log.error(
                    f"uniform '{name}' has a member '{member.name}' with precision '{p}' in one "
                    f"stage and '{q}' in another"
                )
            self.compare_members(name, member.type.without_array, one, other)

    # -- locations ---------------------------------------------------------------------------

    def explicit_locations(self, shared: list[_Shared]) -> None:
        for item in shared:
            location = item.layout.get("location", -1)
            if location < 0:
                continue
            if item.type.without_array.base is Base.SUBROUTINE:
                for unit in item.users:
                    own = self.subroutine_locations.setdefault(unit.stage, set())
                    wanted = set(range(location, location + max(1, item.type.array_elements)))
                    if not own.isdisjoint(wanted):
                        self.log.error(
                            f"'{item.name}' shares location {min(own & wanted)} with another one"
                        )
                    own |= wanted
                continue
            for i in range(location, location + _locations_of(item.type)):
                if self.used_locations.setdefault(i, item.name) != item.name:
                    self.log.error(
                        f"uniforms '{self.used_locations[i]}' and '{item.name}' share location {i}"
                    )
                if i >= self.limits.max_uniform_locations:
                    self.log.error(f"location {i} of uniform '{item.name}' exceeds the limit")
                    break
                if not item.live:
                    self.program.inactive_locations.add(i)

    def take_locations(self, count: int) -> int:
        """The first free run of `count` locations."""
        start = self.next_location
        if self.used_locations:
            while any(start + i in self.used_locations for i in range(count)):
                start += 1
            if count == 1 or start == self.next_location:
                self.next_location = start + count
            for i in range(count):
                self.used_locations[start + i] = ""
            return start
        self.next_location = start + count
        return start

    # -- placing -----------------------------------------------------------------------------

    def place(self, item: _Shared) -> None:
        """Assign storage, units and locations to a uniform that some stage uses."""
        if item.type.holds_opaque:
            base = item.type.without_array.base
            if base is Base.SUBROUTINE:
                self.place_subroutine(item)
                return
            if base is Base.ATOMIC_UINT:
                self.place_counter(item)
                return
        self.place_plain(item)

    def trim(self, item: _Shared) -> None:
        """Drop the elements of an array after the last one that is used, which are not active."""
        variables = item.users.values()
        if (
            item.type.element is None
            or item.init is not None
            or "location" in item.layout
            or any(v.whole or v.max_index < 0 for u, v in item.users.items() if v in u.live)
        ):
            return
        highest = max(v.max_index for v in variables)
        if 0 <= highest < item.type.length:
            item.type = t.array(item.type.element, highest + 1)

    def place_plain(self, item: _Shared) -> None:
        if not item.var.builtin:
            self.trim(item)
        type_, size, alignment, locations = _storage(item.type)
        offset = -1
        handles = self.handles_of(item) if item.type.holds_opaque else _NO_HANDLES
        if self.has_data(item.type, handles):
            offset = align(self.storage, alignment)
            self.storage = offset + size
            if item.init is not None:
                self.initial.append((offset, type_, constant_bits(type_, item.init)))
        builtin = item.var.builtin.startswith("state:")
        opaque = self.opaque_variables(item, handles) if item.type.holds_opaque else {}
        for unit, var in item.users.items():
            if unit.stage not in item.live or offset < 0:
                continue
            self.variables[unit.stage].variables[var] = Variable(
                item.name,
                t.stored_type(type_) if handles else type_,
                _UNIFORM,
                offset=offset,
                builtin=item.name if builtin else "",
                binding=item.layout.get("binding", -1),
            )
        location = item.layout.get("location", -1)
        if location < 0 and not builtin:
            location = self.take_locations(locations)
        stages = frozenset(item.live)
        for leaf in leaves(item.name, type_, max(offset, 0)):
            self.add_uniform(item, leaf, location, opaque, stages, handles)
            if not builtin:
                location += max(1, leaf.array_size)

    def has_data(self, type_: Type, handles: frozenset[Base]) -> bool:
        if not type_.holds_opaque:
            return True
        return any(not leaf.is_opaque or leaf.base in handles for leaf in type_.leaves())

    def handles_of(self, item: _Shared) -> frozenset[Base]:
        """The kinds of opaque uniforms in it that may be set to handles, and so have storage."""
        found = set()
        for kind, base in (("sampler", Base.SAMPLER), ("image", Base.IMAGE)):
            for unit, var in item.users.items():
                default = unit.layout.get(f"default_{kind}", f"bound_{kind}")
                said = var.quals.flags & {f"bindless_{kind}", f"bound_{kind}"}
                if (next(iter(said)) if said else default) == f"bindless_{kind}":
                    found.add(base)
        return frozenset(found)

    def add_uniform(
        self,
        item: _Shared,
        leaf: Leaf,
        location: int,
        opaque: dict[tuple[int, ...], dict[Stage, int]],
        stages: frozenset[Stage],
        handles: frozenset[Base],
    ) -> None:
        kind = leaf.type
        indices: dict[Stage, int] = {}
        binding = -1
        is_handle = kind.base in handles
        if kind.is_opaque:
            if not is_handle:
                indices = {s: first + leaf.flat for s, first in opaque[leaf.fields].items()}
            if "binding" in item.layout:
                binding = item.layout["binding"] + leaf.flat
        self.program.uniforms.append(
            leaf.uniform(
                stages,
                location=location,
                units=indices,
                binding=binding,
                builtin=location < 0,
                is_handle=is_handle,
            )
        )

    def opaque_variables(
        self, item: _Shared, handles: frozenset[Base]
    ) -> dict[tuple[int, ...], dict[Stage, int]]:
        """Unit numbers and NIR variables for samplers and images, also inside structures."""
        found: dict[tuple[int, ...], dict[Stage, int]] = {}
        for fields, type_, label in opaque_paths(item.type, item.name):
            element = type_.without_array
            if element.base in handles:
                continue
            count = type_.array_elements
            firsts: dict[Stage, int] = {}
            for unit, var in item.users.items():
                stage = unit.stage
                if stage not in item.live:
                    continue
                counter = self.images if element.is_image else self.textures
                first = counter[stage]
                counter[stage] += count
                firsts[stage] = first
                nir = Variable(
                    label,
                    type_,
                    Mode.UNIFORM,
                    driver_location=first,
                    binding=item.layout.get("binding", -1),
                    access=access_flags(var.quals.memory),
                    image_format=next(iter(var.quals.flags & IMAGE_FORMATS), ""),
                )
                stage_variables = self.variables[stage]
                if fields:
                    stage_variables.opaque[var, fields] = nir
                else:
                    stage_variables.variables[var] = nir
            found[fields] = firsts
        return found

    def place_subroutine(self, item: _Shared) -> None:
        """Store a subroutine uniform as the index of the chosen function."""
        ((unit, var),) = item.users.items()
        count = max(1, item.type.array_elements)
        kind = t.INT
        for length in reversed(dims_of(item.type)):
            kind = t.array(kind, length)
        type_ = explicit_type(kind)
        offset = align(self.storage, 16)
        self.storage = offset + 16 * count
        nir = Variable(item.name, type_, Mode.UNIFORM, offset=offset)
        self.variables[unit.stage].variables[var] = nir
        functions = [f for f in unit.functions.values() if f.subroutine_types]
        names = self.program.subroutines.get(unit.stage)
        if names is None:
            names = self.program.subroutines[unit.stage] = numbered(functions, self.log)
            if len(functions) > self.limits.max_subroutines:
                self.log.error(f"the {unit.stage.value} shader has too many subroutines")
        wanted = item.type.without_array.name
        suited = {f.name for f in functions if wanted in f.subroutine_types}
        compatible = tuple(i for i, name in enumerate(names) if name in suited)
        if compatible:
            for i in range(count):
                self.initial.append((offset + 16 * i, t.UINT, (compatible[0],)))
        location = item.layout.get("location", -1)
        taken = self.subroutine_locations.setdefault(unit.stage, set())
        if location < 0:
            location = 0
            while not taken.isdisjoint(range(location, location + count)):
                location += 1
            taken.update(range(location, location + count))
        if location + count > self.limits.max_subroutine_uniform_locations:
            self.log.error(f"subroutine uniform '{item.name}' has locations beyond the limit")
        for leaf in leaves(item.name, type_, offset):
            element = location + (leaf.offset - offset) // 16
            self.program.subroutine_uniforms.append(
                SubroutineUniform(
                    leaf.name.removesuffix("[0]") if leaf.array_size else leaf.name,
                    unit.stage,
                    element,
                    leaf.array_size,
                    leaf.offset,
                    compatible,
                )
            )

    def place_counter(self, item: _Shared) -> None:
        binding = item.layout.get("binding", 0)
        offset = item.layout.get("offset", 0)
        self.counters.setdefault(binding, []).append(len(self.program.uniforms))
        for unit, var in item.users.items():
            nir = Variable(item.name, item.type, _UNIFORM, binding=binding, offset=offset)
            self.variables[unit.stage].variables[var] = nir
        self.program.uniforms.append(
            counter(item.name, item.type, binding, offset, frozenset(item.live))
        )

    # -- completion --------------------------------------------------------------------------------

    def atomic_counters(self) -> None:
        for binding, indices in sorted(self.counters.items()):
            group = [self.program.uniforms[i] for i in indices]
            ranges = sorted((u.offset, u.offset + 4 * max(1, u.array_size), u.name) for u in group)
            for (_, end, a), (begin, _, b) in itertools.pairwise(ranges):
                if begin < end:
                    self.log.error(f"atomic counters '{a}' and '{b}' overlap")
            buffer = counter_buffer(binding, indices, self.program.uniforms)
            self.program.atomic_buffers.append(buffer)

    def finish(self) -> None:
        program, limits = self.program, self.limits
        program.default_block_size = align(self.storage, 16)
        data = bytearray(program.default_block_size)
        for offset, type_, bits in self.initial:
            write_constant(data, offset, type_, bits)
        program.default_block_initial = bytes(data)
        check_limits(program, self.textures, self.images, limits, self.log)
