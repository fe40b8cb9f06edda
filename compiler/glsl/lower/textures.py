"""Texture built-ins of all generations, with one parser of names and one of arguments.

A name such as `textureProjGradOffset` or `shadow2DProjLodEXT` implies the arguments after the
coordinates. Projection is lowered here (coordinates and comparator times 1/q), so that later passes
see plain lookups.
"""

from __future__ import annotations

import re

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.lower.expressions import ExpressionLowering
from gallette.compiler.glsl.lower.values import Value
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Def
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.ir.types import Base, Dim, Type

_NAME = re.compile(
    r"(texture|shadow|texelFetch|texture4)"
    r"(?:1DArray|2DArray|2DRect|Cube|Buffer|1D|2D|3D)?"
    r"(Proj)?(Lod|Grad)?(Offset)?(?:ARB|EXT)?$"
)
_RESULT = {Base.FLOAT: "float32", Base.INT: "int32", Base.UINT: "uint32"}


@lazy_dataclass()
class _Call:
    """A texture call being lowered."""

    sampler: tuple[str, Def] | None
    """the source with the sampler, if it is not an index"""
    type: Type
    srcs: list[tuple[str, Def]]
    first: int
    """the base of the index"""
    samples: bool = False
    """whether the sampler is used, in contrast to the texture alone"""

    def add_sampler(self) -> None:
        self.samples = True
        if self.sampler is not None:
            self.srcs.append(self.sampler)

    def add(self, kind: str, value: Def) -> None:
        self.srcs.append((kind, value))


class TextureLowering(ExpressionLowering):
    """Lowers built-ins with a sampler."""

    def lower_texture(self, e: hir.BuiltinCall) -> Value | None:
        """The value of a texture built-in, or None for others."""
        if not e.args or not e.args[0].type.is_sampler:
            return None
        call = self.texture_named(e.args[0])
        args = [self.scalar(a) for a in e.args[1:] if not a.type.is_array]
        name = e.name
        if name.startswith("textureGather") or name == "texture4":
            return self.gather(call, e, args)
        if name.startswith("textureSize"):
            if args:
                call.add("lod", args[0])
            return self.emit(call, "txs", e.type.components, "int32")
        if name in ("textureQueryLod", "textureQueryLOD"):
            call.add_sampler()
            call.add("coord", args[0])
            return self.emit(call, "lod", 2, "float32", coord_components=args[0].num_components)
        if name == "textureQueryLevels":
            return self.emit(call, "query_levels", 1, "int32")
        if name == "textureSamples":
            return self.emit(call, "texture_samples", 1, "int32")
        if name == "textureSamplesIdenticalEXT":
            return self.b.imm_bool(False)
        match = _NAME.match(name)
        assert match is not None, name
        projected, level, offset = bool(match[2]), match[3], bool(match[4])
        if match[1] == "texelFetch":
            return self.fetch(call, e, args, offset)
        return self.sample(call, e, args, projected, level, offset)

    def texture_named(self, e: hir.Expr) -> _Call:
        """The texture of a sampler expression: a variable bound to a unit, or a handle."""
        place = self.try_place(e)
        if place is not None and place.type.is_opaque:
            deref = place.deref.result
            return _Call(("sampler_deref", deref), e.type, [("texture_deref", deref)], 0)
        handle = self.scalar(e) if place is None else self.handle(place)
        low = self.b.channel(handle, 0)
        return _Call(("sampler_offset", low), e.type, [("texture_offset", low)], FIRST_HANDLE)

    def emit(
        self,
        call: _Call,
        op: str,
        components: int,
        dest_type: str,
        coord_components: int = 0,
        component: int = 0,
        offsets: tuple[tuple[int, int], ...] = (),
    ) -> Def:
        dim = call.type.dim
        assert dim is not None
        return self.b.tex(
            op,
            call.srcs,
            dim,
            num_components=components,
            dest_type=dest_type,
            is_array=call.type.is_arrayed,
            is_shadow=call.type.is_shadow,
            coord_components=coord_components,
            component=component,
            tg4_offsets=offsets,
            texture_index=call.first,
            sampler_index=call.first if call.samples or call.sampler is not None else 0,
        )

    def fetch(self, call: _Call, e: hir.BuiltinCall, args: list[Def], offset: bool) -> Def:
        rest = args[1:]
        call.add("coord", args[0])
        op = "txf"
        if call.type.dim is Dim.MS:
            op = "txf_ms"
            call.add("ms_index", rest.pop(0))
        elif call.type.dim not in (Dim.RECT, Dim.BUF):
            call.add("lod", rest.pop(0))
        if offset:
            call.add("offset", rest.pop(0))
        return self.emit(call, op, 4, _RESULT[call.type.sampled])

    def sample(
        self,
        call: _Call,
        e: hir.BuiltinCall,
        args: list[Def],
        projected: bool,
        level: str | None,
        offset: bool,
    ) -> Value:
        b, type_ = self.b, call.type
        call.add_sampler()
        p, rest = args[0], args[1:]
        assert type_.dim is not None
        n = type_.dim.coordinates + type_.is_arrayed
        coord = b.swizzle(p, tuple(range(n)))
        comparator = None
        if type_.is_shadow:
            if type_.dim is Dim.CUBE and type_.is_arrayed:
                comparator = rest.pop(0)
            elif type_.dim is Dim.CUBE or (type_.is_arrayed and type_.dim is Dim.D2):
                comparator = b.channel(p, 3)
            else:
                comparator = b.channel(p, 2)
        if projected:
            inverse = b.frcp(b.channel(p, p.num_components - 1))
            coord = b.fmul(coord, inverse)
            if comparator is not None:
                comparator = b.fmul(comparator, inverse)
        call.add("coord", coord)
        if comparator is not None:
            call.add("comparator", comparator)
        op = "tex"
        if level == "Lod":
            op = "txl"
            call.add("lod", rest.pop(0))
        elif level == "Grad":
            op = "txd"
            call.add("ddx", rest.pop(0))
            call.add("ddy", rest.pop(0))
        if offset:
            call.add("offset", rest.pop(0))
        if rest:
            op = "txb"
            call.add("bias", rest.pop(0))
        if op == "tex" and self.stage.value not in ("fragment", "compute"):
            # Without derivatives, level 0 is used.
            op = "txl"
            call.add("lod", b.imm_float(0.0))
        components = 1 if type_.is_shadow and e.type.is_scalar else 4
        return self.emit(call, op, components, _RESULT[type_.sampled])

    def gather(self, call: _Call, e: hir.BuiltinCall, args: list[Def]) -> Value:
        call.add_sampler()
        rest = list(args)
        first = rest.pop(0)
        call.add("coord", first)
        if call.type.is_shadow:
            reference = rest.pop(0)
            call.add("comparator", reference)
        component = 3 if e.name == "texture4" else 0
        offsets: tuple[tuple[int, int], ...] = ()
        if e.name == "texture4":
            component = 0
        written = list(e.args[2 + call.type.is_shadow :])
        if e.name == "textureGatherOffset":
            shift = rest.pop(0)
            call.add("offset", shift)
            written.pop(0)
        elif e.name == "textureGatherOffsets":
            table = constant_value(written.pop(0))
            assert table is not None
            offsets = tuple((int(x), int(y)) for x, y in table)
        if written:
            chosen = constant_value(written[0])
            component = int(chosen[0]) if chosen is not None else 0
        return self.emit(
            call, "tg4", 4, _RESULT[call.type.sampled], component=component, offsets=offsets
        )
