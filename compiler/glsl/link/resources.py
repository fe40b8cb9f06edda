"""Uniforms of the stages: matched by name, compared, declared to the linker."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.link.blocks import declared_blocks
from gallette.compiler.glsl.link.stage import merge_types, same_constant
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables, access_flags
from gallette.compiler.glsl.lower.values import constant_bits
from gallette.compiler.glsl.qualifiers import IMAGE_FORMATS
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.link.layout import leaves
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkedProgram, SubroutineUniform
from gallette.compiler.link.resources import ResourceTables, Uniform, dims_of
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import explicit_type
from gallette.compiler.nir.ir.types import Base, Type

_UNIFORM = Mode.UNIFORM


@lazy_dataclass()
class _Shared:
    """One uniform of the program, across stages."""

    name: str
    var: hir.Variable
    type: Type
    layout: dict[str, int]
    users: dict[StageUnit, hir.Variable] = field(default_factory=dict)
    live: set[Stage] = field(default_factory=set)
    init: hir.Value | None = None


class ResourceLinker:
    """Declares the uniforms, blocks and counters of the stages, with NIR variables for each."""

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
        self.tables = ResourceTables(program, limits, log)
        self.subroutine_locations: dict[Stage, set[int]] = {}
        self.subroutines: dict[Stage, list[str]] = {}

    def run(self) -> None:
        tables, shared = self.tables, self.collect()
        if self.with_blocks:
            for storage, mode in (("uniform", Mode.UBO), ("buffer", Mode.SSBO)):
                found = declared_blocks(storage, self.with_blocks, self.variables, self.log)
                tables.blocks(mode, found)
        for item in shared:
            location = item.layout.get("location", -1)
            if location >= 0 and item.type.without_array.base is Base.SUBROUTINE:
                self.reserve_subroutine(item, location)
            elif location >= 0:
                tables.reserve(item.name, item.type, location, bool(item.live))
        for item in shared:
            if item.live:
                self.place(item)
        tables.finish()

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
        """Check that each subroutine uniform, used or not, has a function of its type, and number
        the functions.
        """
        for unit in self.units:
            own = [f for f in unit.functions.values() if f.subroutine_types]
            self.subroutines[unit.stage] = numbered(own, self.log)
            defined = Counter(f.name for f in unit.functions.values())
            for name in sorted({f.name for f in own if defined[f.name] > 1}):
                self.log.error(f"'{name}' is a subroutine and cannot be overloaded")
            if len(own) > self.limits.max_subroutines:
                self.log.error(f"the {unit.stage.value} shader has too many subroutines")
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

    # -- declaring ---------------------------------------------------------------------------

    def place(self, item: _Shared) -> None:
        """Declare a uniform that some stage uses."""
        base = item.type.without_array.base
        if base is Base.SUBROUTINE:
            self.place_subroutine(item)
        elif base is Base.ATOMIC_UINT:
            self.place_counter(item)
        else:
            self.place_plain(item)

    def trim(self, item: _Shared) -> None:
        """Drop the elements of an array after the last one that is used, which are not active.

        Arrays of arrays stay whole, as on Mesa: conformance suites expect all of their elements.
        """
        variables = item.users.values()
        if (
            item.type.element is None
            or item.type.element.is_array
            or item.init is not None
            or "location" in item.layout
            or any(v.whole or v.max_index < 0 for u, v in item.users.items() if v in u.live)
        ):
            return
        highest = max(v.max_index for v in variables)
        if 0 <= highest < item.type.length:
            item.type = t.array(item.type.element, highest + 1)

    def place_plain(self, item: _Shared) -> None:
        self.trim(item)
        builtin = item.var.builtin.startswith("state:")
        opaque = item.type.holds_opaque
        handles = self.handles_of(item) if opaque else frozenset()
        declared: dict[Stage, hir.Variable] = {}
        own: dict[Stage, Variable] = {}
        binding = item.layout.get("binding", -1)
        name = item.name if builtin else ""
        for unit, var in item.users.items():
            stage = unit.stage
            if stage in item.live:
                declared[stage] = var
                nir = own[stage] = Variable(
                    item.name, item.type, _UNIFORM, builtin=name, binding=binding
                )
                if opaque and item.type.without_array.is_opaque:
                    image_qualifiers(nir, var)

        def part(stage: Stage, fields: tuple[int, ...], type_: Type, label: str) -> Variable:
            nir = Variable(label, type_, _UNIFORM, binding=binding)
            image_qualifiers(nir, declared[stage])
            self.variables[stage].opaque[declared[stage], fields] = nir
            return nir

        initial = None if item.init is None else constant_bits(item.type, item.init)
        location = item.layout.get("location", -1)
        self.tables.uniform(
            Uniform(item.name, item.type, own, location, binding, initial, builtin, handles, part)
        )
        for stage, nir in own.items():
            if nir.offset >= 0 or nir.driver_location >= 0:
                self.variables[stage].variables[declared[stage]] = nir

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

    def reserve_subroutine(self, item: _Shared, location: int) -> None:
        for unit in item.users:
            own = self.subroutine_locations.setdefault(unit.stage, set())
            wanted = set(range(location, location + max(1, item.type.array_elements)))
            if not own.isdisjoint(wanted):
                self.log.error(
                    f"'{item.name}' shares location {min(own & wanted)} with another one"
                )
            own |= wanted

    def place_subroutine(self, item: _Shared) -> None:
        """Store a subroutine uniform as the index of the chosen function."""
        ((unit, var),) = item.users.items()
        count = max(1, item.type.array_elements)
        kind = t.INT
        for length in reversed(dims_of(item.type)):
            kind = t.array(kind, length)
        type_ = explicit_type(kind)
        offset = self.tables.store(16 * count, 16)
        nir = Variable(item.name, type_, Mode.UNIFORM, offset=offset)
        self.variables[unit.stage].variables[var] = nir
        names = self.program.subroutines[unit.stage] = self.subroutines[unit.stage]
        wanted = item.type.without_array.name
        functions = unit.functions.values()
        suited = {f.name for f in functions if wanted in f.subroutine_types}
        compatible = tuple(i for i, name in enumerate(names) if name in suited)
        if compatible:
            for i in range(count):
                self.tables.initial.append((offset + 16 * i, t.UINT, (compatible[0],)))
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
        binding, offset = item.layout.get("binding", 0), item.layout.get("offset", 0)
        for unit, var in item.users.items():
            nir = Variable(item.name, item.type, _UNIFORM, binding=binding, offset=offset)
            self.variables[unit.stage].variables[var] = nir
        self.tables.counter(item.name, item.type, binding, offset, frozenset(item.live))


def image_qualifiers(nir: Variable, var: hir.Variable) -> None:
    """Set what an image's variable says of its access and format."""
    nir.access = access_flags(var.quals.memory)
    nir.image_format = next(iter(var.quals.flags & IMAGE_FORMATS), "")


def numbered(functions: list[hir.Function], log: LinkLog) -> list[str]:
    """The names of subroutines by their index; empty where no subroutine has the index."""
    names: dict[int, str] = {}
    for function in functions:
        index = function.subroutine_index
        if index in names:
            log.error(f"'{names[index]}' and '{function.name}' have the same index")
        elif index >= 0:
            names[index] = function.name
    free = (i for i in itertools.count() if i not in names)
    for function in functions:
        if function.subroutine_index < 0:
            names[next(free)] = function.name
    return [names.get(i, "") for i in range(max(names, default=-1) + 1)]
