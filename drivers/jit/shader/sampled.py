"""Texture instructions compiled for the bound textures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Src, Tex
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.ir.types import Dim
from gallette.drivers.common.texture.sampling import Lookup
from gallette.pipe.enums import Target

from ..llvm.values import V
from .emitter import Emitter, Stage
from .layout import Words
from .sampling import Sampler, can_sample, fetch, gather, levels, size
from .texture_keys import Missing, TextureKey, UnitKey

_UNFILTERED = ("txf", "txf_ms", "txs", "query_levels")
"""Operations that use no sampler, even if the instruction names one."""

_ONE = 0x3F800000  # 1.0

MANY = 24
"""Lookups of a shader, above which they are calls."""
_TARGETS = {
    Dim.D1: Target.TEXTURE_1D,
    Dim.D2: Target.TEXTURE_2D,
    Dim.D3: Target.TEXTURE_3D,
    Dim.CUBE: Target.TEXTURE_CUBE,
    Dim.RECT: Target.TEXTURE_RECT,
    Dim.BUF: Target.BUFFER,
    Dim.MS: Target.TEXTURE_2D,
    Dim.EXTERNAL: Target.TEXTURE_2D,
}


def sampled(stage: Stage, e: Emitter, instr: Tex, keys: Sequence[UnitKey]) -> list[V] | None:
    """The components of a lookup; None if the shared texture unit has to be called."""
    number = _Number.of(e, instr)
    if number is None or number.first >= len(keys):
        return None
    look = _lookup(e, instr)
    if look is None:
        return None
    found = _nothing(e, instr)
    if number.moving is None:
        key = keys[number.first]
        if key is Missing.UNBOUND:
            return found
        if isinstance(key, Missing) or not can_sample(key, instr.op):
            return None
        where = e.word(Words.TEXTURES + number.first, "ptr")
        return _components(stage, e, instr, key, look, where)
    kinds: dict[TextureKey, int] = {}  # by kind: a bit for every unit
    for unit, key in enumerate(keys):
        if key is Missing.NO_CODE:
            return None
        if isinstance(key, TextureKey) and key.target is _target(instr):
            kinds[key] = kinds.get(key, 0) | 1 << unit
    if not all(can_sample(key, instr.op) for key in kinds):
        return None
    variables = [e.b.var("i32", e.w, value) for value in found]
    for key, units in kinds.items():
        with _each_unit(e, e.wide(number.moving), units) as (where, lanes):
            parts = _components(stage, e, instr, key, look, where)
            for variable, part in zip(variables, parts, strict=True):
                variable.update(lanes, part)
    return [variable.get() for variable in variables]


@lazy_dataclass(frozen=True)
class _Number:
    """The unit that an instruction selects: a constant, or (`moving`) a dynamic index."""

    first: int
    moving: V | None

    @classmethod
    def of(cls, e: Emitter, instr: Tex) -> _Number | None:
        """None if texture and sampler belong to different units."""
        sources: dict[str, Src] = dict(zip(instr.src_kinds, instr.srcs, strict=True))
        first, texture = instr.texture_index, sources.get("texture_offset")
        if instr.op not in _UNFILTERED:
            sampler = sources.get("sampler_offset")
            same = texture is sampler or (
                texture is not None
                and sampler is not None
                and (texture.value, texture.swizzle) == (sampler.value, sampler.swizzle)
            )
            if first != instr.sampler_index or not same:
                return None
        moving = None if texture is None else e.value(texture).as_int() + first
        return cls(first, moving)


@contextmanager
def _each_unit(e: Emitter, numbers: V, units: int) -> Iterator[tuple[V, V]]:
    """Emit code for each of `units` (a bit mask) that some lane selects; yields its description and
    these lanes.
    """
    b = e.b
    named = numbers.ult(FIRST_HANDLE) & (b.const("i32", units).lshr(numbers & 31) & 1).ne(0)
    left = b.var(f"i{e.w}", 0, b.bitmask(e.wide(e.mask) & named))
    with b.forever() as done:
        bits = left.get()
        go = b.block()
        b.branch(bits.ne(0), go, done)
        b.place(go)
        unit = b.extract(numbers, b.flagged("cttz", bits, True).to("i32", False))
        lanes = b.mask_of(bits) & numbers.eq(unit)
        yield b.load_at(e.ctx, unit.to("i64", False) + Words.TEXTURES, "ptr"), lanes
        left.set(bits & ~b.bitmask(lanes))


def _nothing(e: Emitter, instr: Tex) -> list[V]:
    """The result of a lookup where nothing is bound."""
    one = _ONE if instr.dest_type.startswith("float") else 1
    return [e.wide(e.b.const("i32", v)) for v in (0, 0, 0, one)][: instr.result.num_components]


def _target(instr: Tex) -> Target:
    """The target an instruction may use; units with textures of other targets are not selected."""
    target = _TARGETS[instr.dim]
    return Target(f"{target.value}_array") if instr.is_array else target


def _lookup(e: Emitter, instr: Tex) -> Lookup[V] | None:
    """The sources of an instruction, in all lanes; None if there is no code for them."""
    given: dict[str, list[V]] = {}
    for kind, src in zip(instr.src_kinds, instr.srcs, strict=True):
        if kind in ("texture_offset", "sampler_offset"):
            continue
        whole = kind in ("offset", "ms_index")
        whole |= instr.op in ("txf", "txf_ms", "txs") and kind in ("coord", "lod")
        values = [e.wide(v) for v in e.values(src)]
        given[kind] = [v.as_int() if whole else v.as_float() for v in values]
    if "projector" in given or ("ms_index" in given) != (instr.op == "txf_ms"):
        return None
    quads = instr.op in ("tex", "txb", "lod")
    look = Lookup(instr.op, given.get("coord", []), component=instr.component, quads=quads)
    for kind in ("lod", "bias", "min_lod", "comparator"):
        if kind in given:
            setattr(look, "compare" if kind == "comparator" else kind, given[kind][0])
    for kind in ("ddx", "ddy", "offset"):
        if kind in given:
            setattr(look, kind, given[kind])
    if "ms_index" in given:
        look.sample = given["ms_index"][0]
    return look


def _components(
    stage: Stage, e: Emitter, instr: Tex, key: TextureKey, look: Lookup[V], where: V
) -> list[V]:
    """The components of a lookup in a texture of this kind, given its description."""
    if instr.tg4_offsets:
        found = _gathered_separately(e, key, look, where, instr.tg4_offsets)
    else:
        found = _looked_up(stage, e, key, look, where)
    return [v.as_int() for v in found][: instr.result.num_components]


def _looked_up(stage: Stage, e: Emitter, key: TextureKey, look: Lookup[V], where: V) -> list[V]:
    b, w = e.b, e.w
    if look.op == "txs":
        return size(b, key, where, w, look.lod)
    if look.op == "query_levels":
        return levels(b, key, where, w)
    if look.op == "tg4":
        return gather(b, key, where, w, look)
    if look.op in ("txf", "txf_ms"):
        return fetch(b, key, where, w, look)
    if look.op == "lod":
        return _sampler(stage, e, key, where).levels_of(look)
    if e.lookups > MANY:
        return _called(stage, e, key, look, where)
    return _sampler(stage, e, key, where).looked_up(look)


def _sampler(stage: Stage, e: Emitter, key: TextureKey, where: V) -> Sampler:
    return Sampler(e.b, key, where, e.w, lambda name, value: stage.derivative(e, name, value))


def _called(stage: Stage, e: Emitter, key: TextureKey, look: Lookup[V], where: V) -> list[V]:
    """A lookup by a function of its own, which all lookups of this kind call: LLVM's time grows
    with the code, and a lookup is hundreds of instructions.
    """
    b, w = e.b, e.w
    lists = [look.coords, look.ddx, look.ddy, look.offset]
    single = [look.lod, look.bias, look.min_lod, look.compare]
    given = [*(v for values in lists for v in values), *single]
    wide = [b.spread(v, w) for v in given if v is not None]
    kind = key, look.op, tuple(map(len, lists)), tuple(v is not None for v in single)
    result = f"{{ {', '.join([f'<{w} x i32>'] * 4)} }}"
    name = e.called.get(kind)
    if name is None:
        name = e.called[kind] = f"lookup_{b.fresh()[2:]}"
        with b.apart(name, [("ptr", 0), *((v.t, w) for v in wide)], result) as (at, *inside):
            values = iter(inside)
            coords, ddx, ddy, offset = [[next(values) for _ in some] for some in lists]
            lod, bias, min_lod, compare = [None if v is None else next(values) for v in single]
            own = replace(
                look, coords=coords, lod=lod, bias=bias, min_lod=min_lod, compare=compare,
                ddx=ddx, ddy=ddy, offset=offset,
            )  # fmt: skip
            found = _sampler(stage, e, key, at).looked_up(own)
            whole = "poison"
            for number, part in enumerate(found):
                part = b.spread(part, w).as_int()
                text = f"insertvalue {result} {whole}, {part.type} {part.n}, {number}"
                whole = b.emit("i32", w, text).n
            b.line(f"ret {result} {whole}")
    arguments = ", ".join(f"{v.type} {v.n}" for v in (where, *wide))
    call = b.emit("i32", w, f"call {result} @{name}({arguments})")
    return [
        b.emit("i32", w, f"extractvalue {result} {call.n}, {number}").as_float()
        for number in range(4)
    ]


def _gathered_separately(
    e: Emitter, key: TextureKey, look: Lookup[V], where: V, offsets: Sequence[tuple[int, int]]
) -> list[V]:
    """One texel of each of four gathers, with separate offsets."""
    b, w = e.b, e.w
    found = []
    for offset in offsets:
        look.offset = [b.spread(b.const("i32", part), w) for part in offset]
        found.append(gather(b, key, where, w, look)[3])
    return found
