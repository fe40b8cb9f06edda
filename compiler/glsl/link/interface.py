"""Between the stages: matching outputs with inputs, and giving both their slots."""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.errors import LinkLog
from gallette.compiler.glsl.link.layout import sized_block
from gallette.compiler.glsl.link.stage import merge_types
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import Type

__all__ = ["Port", "VaryingLinker", "ports"]

_MAX_VARYINGS = 32


@dataclass(slots=True, eq=False)
class Port:
    """One user-declared input or output, or one member of an interface block."""

    name: str
    """`name`, or `Block.member` for matching blocks"""
    var: hir.Variable
    """the variable, or the block's instance"""
    member: int
    quals: hir.Quals
    type: Type
    """with the per-vertex dimension"""
    per_vertex: bool
    block: hir.Block | None = None
    live: bool = False
    written: bool = False
    location: int = -1
    nir: Variable | None = None
    captured: bool = False
    partner: Port | None = None
    label: str = ""
    packed: int = 0
    """component given by packing, when the layout gives none"""

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
        return self.quals.layout.get("component", self.packed)

    @property
    def packing_class(self) -> tuple[object, ...]:
        """Varyings may share a slot if they are interpolated alike and have one kind of type."""
        element = self.shape.without_array
        flat = self.quals.interpolation == "flat" or element.is_integer
        how = "flat" if flat else self.quals.interpolation or "smooth"
        return (how, element.base, self.quals.centroid, self.quals.sample, self.shape.slots())


def _is_per_vertex(unit: StageUnit, quals: hir.Quals) -> bool:
    if quals.patch:
        return False
    if quals.storage == "in":
        return unit.stage in (Stage.GEOMETRY, Stage.TESS_CTRL, Stage.TESS_EVAL)
    return unit.stage is Stage.TESS_CTRL


def ports(unit: StageUnit, storage: str) -> list[Port]:
    """The user-declared inputs or outputs of a stage, block members one by one."""
    found: list[Port] = []
    for var in unit.globals.values():
        if var.quals.storage == storage and var.block is None:
            per_vertex = _is_per_vertex(unit, var.quals) and var.type.is_array
            port = Port(var.name, var, -1, var.quals, var.type, per_vertex)
            port.live = var in unit.live
            port.written = var.written
            port.label = var.name
            found.append(port)
    for (kind, _), block in unit.blocks.items():
        if kind != storage or block.builtin or block.instance is None:
            continue
        found += _block_ports(unit, block)
    return found


def _block_ports(unit: StageUnit, block: hir.Block) -> list[Port]:
    instance = block.instance
    assert instance is not None
    dims: list[int] = []
    outer = instance.type
    while outer.element is not None:
        dims.append(outer.length)
        outer = outer.element
    per_vertex = _is_per_vertex(unit, block.quals) and bool(dims)
    location = block.quals.layout.get("location", -1)
    found = []
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
        port = Port(f"{block.name}.{f.name}", instance, i, quals, type_, per_vertex, block)
        port.label = f"{block.name}.{f.name}" if block.instance_name else f.name
        if block.members:
            member = block.members[i]
            port.live, port.written = member in unit.live, member.written
        else:
            port.live, port.written = instance in unit.live, instance.written
        found.append(port)
    return found


class VaryingLinker:
    """Matches two neighbouring stages and assigns slots to what passes between them."""

    def __init__(
        self,
        producer: StageUnit | None,
        consumer: StageUnit | None,
        variables: dict[Stage, StageVariables],
        limits: Limits,
        log: LinkLog,
        separable: bool,
    ) -> None:
        self.producer = producer
        self.consumer = consumer
        self.variables = variables
        self.limits = limits
        self.log = log
        self.separable = separable
        self.outputs = ports(producer, "out") if producer is not None else []
        self.inputs = ports(consumer, "in") if consumer is not None else []

    def run(self, captured: frozenset[str] = frozenset()) -> None:
        for port in self.outputs:
            port.captured = bool({port.label, port.label.partition(".")[0], port.name} & captured)
        if self.producer is not None and self.consumer is not None:
            self.match()
            self.check_builtins()
        self.check_overlaps(self.outputs)
        self.check_overlaps(self.inputs)
        self.log.stop_on_error()
        self.assign()

    # -- matching ----------------------------------------------------------------------------

    def match(self) -> None:
        assert self.producer is not None
        assert self.consumer is not None
        by_name = {p.name: p for p in self.outputs}
        by_location = {
            (p.explicit, p.component, p.quals.patch): p for p in self.outputs if p.explicit >= 0
        }
        blocks = {p.block.name: p.block for p in self.outputs if p.block is not None}
        checked: set[str] = set()
        for port in self.inputs:
            other = None
            if port.explicit >= 0 and port.block is None:
                other = by_location.get((port.explicit, port.component, port.quals.patch))
                if other is None:
                    other = self.covering(port)
            if other is None:
                other = by_name.get(port.name)
                if (
                    other is not None
                    and port.block is None
                    and ((port.explicit >= 0) != (other.explicit >= 0))
                ):
                    other = other if other.explicit == port.explicit else None
            if port.block is not None and port.block.name not in checked:
                checked.add(port.block.name)
                mine = blocks.get(port.block.name)
                if mine is not None:
                    self.compare_blocks(mine, port.block)
            if other is None:
                self.unmatched(port)
                continue
            if port.block is None and port.explicit >= 0 and port.component != other.component:
                self.unmatched(port)
                continue
            port.partner, other.partner = other, port
            if port.block is None:
                self.compare(other, port)

    def covering(self, port: Port) -> Port | None:
        """An output array or matrix whose slots contain the input's location."""
        for other in self.outputs:
            if other.explicit >= 0 and other.quals.patch == port.quals.patch:
                end = other.explicit + other.shape.slots()
                if other.explicit <= port.explicit < end and other.component == port.component:
                    return other
        return None

    def unmatched(self, port: Port) -> None:
        assert self.consumer is not None
        assert self.producer is not None
        if not port.live:
            return
        self.log.error(
            f"input '{port.label}' of the {self.consumer.name} shader is not written by the "
            f"{self.producer.name} shader"
        )

    def compare(self, out: Port, into: Port) -> None:
        assert self.producer is not None
        assert self.consumer is not None
        log = self.log
        a, b = out.shape, into.shape
        by_location = into.explicit >= 0 and out.explicit != into.explicit
        if by_location or (
            into.explicit >= 0
            and out.name != into.name
            and a.without_array.base is b.without_array.base
        ):
            return
        if merge_types(a, b) is None and not self.unsized_match(a, b):
            log.error(
                f"'{into.label}' is '{a}' in the {self.producer.name} shader and '{b}' in the "
                f"{self.consumer.name} shader"
            )
            return
        lang = self.consumer.language
        self.compare_qualifiers(out.quals, into.quals, into.label, lang)

    def unsized_match(self, a: Type, b: Type) -> bool:
        return (
            a.element is not None
            and a.element is b.element
            and not (a.length and b.length and a.length != b.length)
        )

    def compare_qualifiers(self, a: hir.Quals, b: hir.Quals, label: str, lang: Language) -> None:
        log = self.log
        x, y = a.interpolation or "smooth", b.interpolation or "smooth"
        if x != y and (lang.es or lang.version < 440):
            log.error(f"'{label}' is '{x}' in one stage and '{y}' in the next")
        if a.invariant != b.invariant and lang.version < (300 if lang.es else 420):
            log.error(f"'{label}' is invariant in one stage only")
        for word in ("centroid", "sample"):
            if getattr(a, word) != getattr(b, word) and not lang.es and lang.version < 430:
                log.error(f"'{label}' is '{word}' in one stage only")
        if a.patch != b.patch:
            log.error(f"'{label}' is 'patch' in one stage only")

    def compare_blocks(self, out: hir.Block, into: hir.Block) -> None:
        log, name = self.log, into.name
        a, b = sized_block(out).fields, sized_block(into).fields
        if [f.name for f in a] != [f.name for f in b]:
            log.error(f"block '{name}' has different members in the two stages")
            return
        for f, g, p, q in zip(a, b, out.member_quals, into.member_quals, strict=True):
            if merge_types(f.type, g.type) is None:
                log.error(
                    f"member '{f.name}' of block '{name}' is '{f.type}' in one stage and "
                    f"'{g.type}' in the next"
                )
                return
            assert self.consumer is not None
            self.compare_qualifiers(p, q, f"{name}.{f.name}", self.consumer.language)
            for key in ("location", "component"):
                if p.layout.get(key, -1) != q.layout.get(key, -1):
                    log.error(f"member '{f.name}' of block '{name}' has two values of '{key}'")
        assert self.producer is not None
        assert self.consumer is not None
        assert out.instance is not None
        assert into.instance is not None
        x = self.stripped(self.producer, out)
        y = self.stripped(self.consumer, into)
        if x != y:
            log.error(f"block '{name}' has different array sizes in the two stages")

    def stripped(self, unit: StageUnit, block: hir.Block) -> list[int]:
        """Array dimensions of a block without the per-vertex one."""
        assert block.instance is not None
        dims: list[int] = []
        type_ = block.instance.type
        while type_.element is not None:
            dims.append(type_.length)
            type_ = type_.element
        return dims[1:] if _is_per_vertex(unit, block.quals) else dims

    def check_builtins(self) -> None:
        """Built-in varyings that both stages redeclare must agree."""
        assert self.producer is not None
        assert self.consumer is not None
        if self.consumer.stage is not Stage.FRAGMENT:
            self.check_per_vertex()
            return
        a, b = self.producer.builtins, self.consumer.builtins
        coord, back = a.get("gl_TexCoord"), b.get("gl_TexCoord")
        if coord is not None and back is not None and coord.explicit_size and back.explicit_size:
            if coord.type is not back.type:
                self.log.error("gl_TexCoord is redeclared with different sizes")
        for into, outs in (
            ("gl_Color", ("gl_FrontColor", "gl_BackColor")),
            ("gl_SecondaryColor", ("gl_FrontSecondaryColor", "gl_BackSecondaryColor")),
        ):
            color = b.get(into)
            if color is None or not color.used:
                continue
            for name in outs:
                out = a.get(name)
                if out is None or not out.written:
                    continue
                x = out.quals.interpolation or ""
                y = color.quals.interpolation or ""
                if x != y and self.consumer.language.version < 440:
                    self.log.error(f"'{into}' is '{y}' but '{name}' is '{x}'")

    def check_per_vertex(self) -> None:
        """Both sides of gl_PerVertex have the same members, if either redeclares the block."""
        assert self.producer is not None
        assert self.consumer is not None
        into = self.consumer.builtins.get("gl_in")
        if into is None or into.block is None or not into.used:
            return
        mine = tuple(sorted(f.name for f in into.block.type.fields)) if into.redeclared else None
        if self.producer.stage is Stage.TESS_CTRL:
            out = self.producer.builtins.get("gl_out")
            theirs = None
            if out is not None and out.redeclared and out.block is not None:
                theirs = tuple(sorted(f.name for f in out.block.type.fields))
            used = out is not None and out.used
        else:
            theirs = self.producer.layout.get("per_vertex_out")
            used = any(v.written for v in self.producer.builtins.values())
        if self.separable and used and (mine is None or theirs is None):
            if not self.consumer.language.es:
                self.log.error("separable programs must redeclare gl_PerVertex in both stages")
        elif used and (mine is None) != (theirs is None):
            self.log.error("gl_PerVertex is redeclared in one of two stages only")
        elif mine is not None and theirs is not None and mine != theirs:
            self.log.error("gl_PerVertex is redeclared with different members in two stages")

    # -- slots -------------------------------------------------------------------------------

    def check_overlaps(self, found: list[Port]) -> None:
        """No two variables may share a component of a location."""
        taken: dict[tuple[int, int, bool], Port] = {}
        limit = self.limits.max_varying_vectors
        for port in found:
            if port.explicit < 0:
                continue
            element = port.shape.without_array
            width = element.rows * (2 if element.bit_size == 64 else 1) if element.rows else 4
            slots = port.shape.slots()
            if port.explicit + slots > limit and not port.quals.patch:
                self.log.error(f"location {port.explicit} of '{port.label}' exceeds the limit")
                continue
            for i in range(slots):
                part = min(width - 4 * (i % 2), 4) if width > 4 else width
                for c in range(port.component, min(4, port.component + max(part, 0))):
                    key = (port.explicit + i, c, port.quals.patch)
                    other = taken.setdefault(key, port)
                    if other is not port:
                        self.log.error(
                            f"'{other.label}' and '{port.label}' share location {key[0]}"
                        )
                        return
            for other in found:
                if other is port or other.explicit != port.explicit or element.is_struct:
                    continue
                x, y = other.shape.without_array, element
                if x.is_struct or other.quals.patch != port.quals.patch:
                    continue
                if x.is_float != y.is_float or x.bit_size != y.bit_size:
                    self.log.error(
                        f"'{other.label}' and '{port.label}' share a location with different types"
                    )
                    return

    def assign(self) -> None:
        """Explicit locations first, then everything else in order, matched pairs together."""
        taken: set[int] = set()
        patches: set[int] = set()
        for port in [*self.outputs, *self.inputs]:
            if port.explicit >= 0:
                port.location = port.explicit
                pool = patches if port.quals.patch else taken
                pool.update(range(port.location, port.location + port.shape.slots()))
        self.pack(taken)
        for port in self.outputs:
            if port.location < 0 and self.is_needed_output(port):
                pool = patches if port.quals.patch else taken
                port.location = self.take(pool, port)
                if port.partner is not None:
                    port.partner.location = port.location
        for port in self.inputs:
            if port.location < 0 and port.live:
                if port.partner is not None and port.partner.location >= 0:
                    port.location = port.partner.location
                else:
                    pool = patches if port.quals.patch else taken
                    port.location = self.take(pool, port)
        self.check_limits()
        if self.producer is not None:
            self.make_variables(self.producer, self.outputs, Mode.SHADER_OUT)
        if self.consumer is not None:
            self.make_variables(self.consumer, self.inputs, Mode.SHADER_IN)

    def pack(self, taken: set[int]) -> None:
        """When one variable a slot is too many, put small ones side by side into slots."""
        waiting = [
            p
            for p in self.outputs
            if p.location < 0 and self.is_needed_output(p) and not p.quals.patch
        ]
        if len(taken) + sum(p.shape.slots() for p in waiting) <= _MAX_VARYINGS:
            return
        bins: dict[tuple[object, ...], list[list[int]]] = {}
        waiting.sort(key=lambda p: -p.shape.without_array.rows)
        for port in waiting:
            element = port.shape.without_array
            if element.is_struct or element.bit_size == 64 or port.block is not None:
                continue
            width = element.rows
            open_bins = bins.setdefault(port.packing_class, [])
            for place in open_bins:
                if place[1] + width <= 4:
                    break
            else:
                place = [self.take(taken, port), 0]
                open_bins.append(place)
            port.location, port.packed = place[0], place[1]
            place[1] += width
            if port.partner is not None:
                port.partner.location, port.partner.packed = port.location, port.packed

    def is_needed_output(self, port: Port) -> bool:
        if port.captured or self.consumer is None:
            return True
        if port.partner is not None and port.partner.live:
            return True
        assert self.producer is not None
        return self.producer.stage is Stage.TESS_CTRL and port.live

    def take(self, pool: set[int], port: Port) -> int:
        count = port.shape.slots()
        start = 0
        while any(start + i in pool for i in range(count)):
            start += 1
        pool.update(range(start, start + count))
        return start

    def check_limits(self) -> None:
        components = 0
        for port in self.outputs:
            if port.location >= 0 and self.is_needed_output(port) and not port.quals.patch:
                if port.location + port.shape.slots() > _MAX_VARYINGS:
                    self.log.error(f"too many varyings: '{port.label}' finds no slot")
                    return
                components += port.shape.slots() * 4
        for port in self.inputs:
            if port.location + port.shape.slots() > _MAX_VARYINGS and not port.quals.patch:
                self.log.error(f"too many varyings: '{port.label}' finds no slot")
                return

    def make_variables(self, unit: StageUnit, found: list[Port], mode: Mode) -> None:
        stage_variables = self.variables[unit.stage]
        for port in found:
            needed = port.location >= 0 and (
                mode is Mode.SHADER_IN or self.is_needed_output(port) or port.explicit >= 0
            )
            if mode is Mode.SHADER_IN and not port.live:
                continue
            nir = make_varying(port, mode if needed else Mode.SHADER_TEMP)
            port.nir = nir
            if port.member >= 0:
                stage_variables.members[port.var, port.member] = nir
            else:
                stage_variables.variables[port.var] = nir


def make_varying(port: Port, mode: Mode) -> Variable:
    """The NIR variable of a port."""
    quals = port.quals
    nir = Variable(port.label, port.type, mode)
    if mode is not Mode.SHADER_TEMP:
        first = VaryingSlot.PATCH0 if quals.patch else VaryingSlot.VAR0
        nir.location = first + port.location
        nir.component = port.component
        nir.explicit_location = port.explicit >= 0
        nir.per_vertex = port.per_vertex
    nir.interpolation = quals.interpolation or "none"
    nir.centroid, nir.sample, nir.patch = quals.centroid, quals.sample, quals.patch
    nir.invariant, nir.precise = quals.invariant, quals.precise
    nir.stream = quals.layout.get("stream", 0)
    return nir
