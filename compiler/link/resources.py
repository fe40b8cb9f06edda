"""Uniforms, blocks and atomic counters of a program: where they lie, and how GL enumerates them.

All stages share one storage: a uniform of several stages has one offset and one location. Units of
textures and images are counted per stage. Sections are those of OpenGL 4.6.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.link.layout import (
    block_leaves,
    counter,
    counter_buffer,
    leaves,
    opaque_paths,
    write_constant,
)
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkedProgram, UniformBlock
from gallette.compiler.link.resource_limits import check_limits
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import align, explicit_type, size_align
from gallette.compiler.nir.ir.types import Base, Type

_NO_HANDLES: frozenset[Base] = frozenset()
Part = Callable[[Stage, tuple[int, ...], Type, str], Variable | None]
"""makes the variable of an opaque member in a stage: stage, path of members, type, name"""


@lazy_dataclass()
class Uniform:
    """A uniform of the default block, as its stages declare it."""

    name: str
    type: Type
    variables: dict[Stage, Variable]
    """of the stages that use it"""
    location: int = -1
    binding: int = -1
    initial: Any = None
    """bits, shaped like the type"""
    builtin: bool = False
    handles: frozenset[Base] = _NO_HANDLES
    """the kinds of opaque types that are stored as handles (ARB_bindless_texture)"""
    part: Part | None = None
    """separates samplers and images from a structure"""


@lazy_dataclass()
class Block:
    """A uniform or storage block, as its stages declare it."""

    name: str
    mode: Mode
    type: Type
    """with its layout, without array dimensions"""
    size: int
    dims: list[int]
    binding: int
    """-1 if none is declared"""
    variables: dict[Stage, Variable]
    live: frozenset[Stage]
    """the stages that use it"""
    prefix: str
    """of its members' names"""


def dims_of(type_: Type) -> list[int]:
    """The lengths of an array of arrays, the outermost first."""
    dims: list[int] = []
    while type_.element is not None:
        dims.append(type_.length)
        type_ = type_.element
    return dims


def locations_of(type_: Type) -> int:
    """The number of locations of a uniform: one per basic element (7.6.1)."""
    if type_.element is not None:
        return type_.length * locations_of(type_.element)
    if type_.is_struct:
        return sum(locations_of(f.type) for f in type_.fields)
    return 1


@lru_cache(maxsize=1024)
def _storage(type_: Type) -> tuple[Type, int, int, int]:
    """The storage of a uniform: its type laid out, bytes, alignment, locations."""
    size, alignment = size_align(type_)
    return explicit_type(type_), size, max(alignment, 4), locations_of(type_)


def _instances(name: str, dims: list[int]) -> list[str]:
    labels = [name]
    for length in dims:
        labels = [f"{label}[{i}]" for label in labels for i in range(length)]
    return labels


@lazy_dataclass()
class ResourceTables:
    """Fills the resource tables of a program, and the places in its NIR variables."""

    program: LinkedProgram
    limits: Limits
    log: LinkLog
    textures: dict[Stage, int] = field(default_factory=dict)
    images: dict[Stage, int] = field(default_factory=dict)
    """the number of units that each stage uses"""
    used: int = 0
    """bytes of the default block"""
    initial: list[tuple[int, Type, Any]] = field(default_factory=list)
    locations: dict[int, str] = field(default_factory=dict)
    """location -> the uniform that declares it"""
    next_location: int = 0
    counters: dict[int, list[int]] = field(default_factory=dict)
    """buffer binding -> the atomic counters in it, as indices of uniforms"""

    # -- locations (7.6.1; GLSL 4.60, 4.4.3) -------------------------------------------------------

    def reserve(self, name: str, type_: Type, location: int, live: bool) -> None:
        """Reserve declared locations; those of an unused uniform may be set without effect."""
        for i in range(location, location + locations_of(type_)):
            other = self.locations.setdefault(i, name)
            if other != name:
                self.log.error(f"uniforms '{other}' and '{name}' share location {i}")
            if i >= self.limits.max_uniform_locations:
                self.log.error(f"location {i} of uniform '{name}' exceeds the limit")
                break
            if not live:
                self.program.inactive_locations.add(i)

    def take_locations(self, count: int) -> int:
        """The first free run of `count` locations."""
        start = self.next_location
        if self.locations:
            while any(start + i in self.locations for i in range(count)):
                start += 1
            if count == 1 or start == self.next_location:
                self.next_location = start + count
            for i in range(count):
                self.locations[start + i] = ""
            return start
        self.next_location = start + count
        return start

    # -- the default block (7.6) -------------------------------------------------------------------

    def store(self, size: int, alignment: int) -> int:
        """The offset of new storage in the default block."""
        offset = align(self.used, alignment)
        self.used = offset + size
        return offset

    def uniform(self, u: Uniform) -> None:
        """Give a uniform its storage, units and locations."""
        type_, size, alignment, count = _storage(u.type)
        offset = -1
        units: dict[tuple[int, ...], dict[Stage, int]] = {}
        opaque = u.type.holds_opaque
        if not opaque or any(x.base in u.handles or not x.is_opaque for x in u.type.leaves()):
            offset = self.store(size, alignment)
            if u.initial is not None:
                self.initial.append((offset, type_, u.initial))
            for var in u.variables.values():
                var.type, var.offset = (t.stored_type(type_) if u.handles else type_), offset
        if opaque:
            units = self.units(u)
        location = u.location
        if location < 0 and not u.builtin:
            location = self.take_locations(count)
        stages = frozenset(u.variables)
        for leaf in leaves(u.name, type_, max(offset, 0)):
            kind, own, binding = leaf.type, {}, -1
            is_handle = kind.base in u.handles
            if kind.is_opaque:
                if not is_handle:
                    own = {s: first + leaf.flat for s, first in units[leaf.fields].items()}
                if u.binding >= 0:
                    binding = u.binding + leaf.flat
            self.program.uniforms.append(
                leaf.uniform(
                    stages,
                    location=location,
                    units=own,
                    binding=binding,
                    builtin=location < 0,
                    is_handle=is_handle,
                )
            )
            if not u.builtin:
                location += max(1, leaf.array_size)

    def units(self, u: Uniform) -> dict[tuple[int, ...], dict[Stage, int]]:
        """Number the units of samplers and images, also inside structures (7.10, 7.11).

        Returns the first of each stage, by the path of members.
        """
        found: dict[tuple[int, ...], dict[Stage, int]] = {}
        for fields, type_, label in opaque_paths(u.type, u.name):
            element = type_.without_array
            if element.base in u.handles:
                continue
            taken = self.images if element.is_image else self.textures
            firsts = found[fields] = {}
            for stage, whole in u.variables.items():
                first = firsts[stage] = taken.get(stage, 0)
                taken[stage] = first + type_.array_elements
                var: Variable | None = whole
                if u.part is not None and fields:
                    var = u.part(stage, fields, type_, label)
                if var is not None:
                    var.driver_location = first
        return found

    # -- blocks (7.6.2, 7.6.3, 7.8) ----------------------------------------------------------------

    def blocks(self, mode: Mode, declared: Iterable[Block]) -> None:
        """Number blocks, one for each element of an array of them: in the program, and in each
        stage that uses them (drivers have slots for the blocks of a stage).
        """
        program, limits = self.program, self.limits
        if mode is Mode.UBO:
            kind, tables, members, before = "uniform", program.uniform_blocks, program.uniforms, 1
            most, largest = limits.max_uniform_blocks, limits.max_uniform_block_size
        else:
            kind, tables, members = "buffer", program.storage_blocks, program.buffer_variables
            before, most = 0, limits.max_shader_storage_blocks
            largest = limits.max_shader_storage_block_size
        taken: dict[Stage, int] = {}
        for b in declared:
            if b.size > largest:
                message = f"has {b.size} bytes, more than the limit of {largest}"
                self.log.error(f"block '{b.name}' {message}")
            first = len(tables)
            stages = b.live or frozenset(b.variables)
            inside = []
            for leaf in block_leaves(b.type, mode):
                inside.append(len(members))
                members.append(leaf.uniform(b.live, prefix=b.prefix, block=first))
            for i, label in enumerate(_instances(b.name, b.dims)):
                binding = b.binding + i if b.binding >= 0 else 0
                numbers = {s: before + taken.get(s, 0) + i for s in b.live}
                tables.append(UniformBlock(label, b.size, binding, stages, tuple(inside), numbers))
            for stage, var in b.variables.items():
                var.driver_location = before + taken.get(stage, 0)
            for stage in b.live:
                taken[stage] = taken.get(stage, 0) + len(tables) - first
        for stage, count in taken.items():
            if count > most:
                self.log.error(f"the {stage.value} stage uses {count} {kind} blocks of {most}")

    # -- atomic counters (7.7) ---------------------------------------------------------------------

    def counter(
        self, name: str, type_: Type, binding: int, offset: int, stages: frozenset[Stage]
    ) -> None:
        """List an atomic counter, or an array of them."""
        self.counters.setdefault(binding, []).append(len(self.program.uniforms))
        self.program.uniforms.append(counter(name, type_, binding, offset, stages))

    def counter_buffers(self) -> None:
        for binding, indices in sorted(self.counters.items()):
            group = [self.program.uniforms[i] for i in indices]
            ranges = sorted((u.offset, u.offset + 4 * max(1, u.array_size), u.name) for u in group)
            for (_, end, a), (begin, _, b) in itertools.pairwise(ranges):
                if begin < end:
                    self.log.error(f"atomic counters '{a}' and '{b}' overlap")
            buffer = counter_buffer(binding, indices, self.program.uniforms)
            self.program.atomic_buffers.append(buffer)

    # -- completion --------------------------------------------------------------------------------

    def finish(self) -> None:
        """Write the initial values, and check the limits of a stage and of the program."""
        program = self.program
        self.counter_buffers()
        program.default_block_size = align(self.used, 16)
        data = bytearray(program.default_block_size)
        for offset, type_, bits in self.initial:
            write_constant(data, offset, type_, bits)
        program.default_block_initial = bytes(data)
        check_limits(program, self.textures, self.images, self.limits, self.log)
