"""Buffers, textures, images and memory of the workgroup; system values that come from state."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic, Tex
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import const_int, textures_of
from gallette.compiler.nir.ir.types import (
    FLOAT,
    UINT,
    UINT64,
    Base,
    Dim,
    Type,
    array,
    image,
    sampler,
    texture,
)
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import SpirvError
from gallette.drivers.vulkan.lowering import PARAMETERS, numbers_of

from .variables import Variables, block_of, constant, handles

COUNTERS = 16
"""Storage blocks from this one on are atomic counter buffers (see `set_shader_buffers`)."""
_UBO_WORDS = 1 << 14
_BASES = {"f": Base.FLOAT, "i": Base.INT, "u": Base.UINT}
_RED = (0, 1, 2, 3)
_QUERIES = ("txs", "query_levels", "texture_samples")
_LAST = 1 - 2**-24
"""The coordinate that clamping ends at: one is a texel beyond the last."""


# Memory.


def _block(v: Variables, mode: Mode, number: Def, element: Type = UINT) -> Deref:
    """The elements of a uniform or storage block."""
    kind, known = "ubo" if mode == Mode.UBO else "ssbo", const_int(number)
    type = block_of(element, _UBO_WORDS if mode == Mode.UBO else 0)
    if known is not None:
        return v.words(v.variable(mode, (kind, known), type))
    info = v.shader.info
    declared = [found.stop for found in numbers_of(v.shader, Base.INTERFACE, mode)]
    count = max([info.num_ubos if mode == Mode.UBO else info.num_ssbos, 1, *declared])
    return v.words(v.variable(mode, (f"{kind}s", 0), array(type, count)), number)


def _elements(v: Variables, instr: Intrinsic, element: Type) -> tuple[Deref, Def]:
    """The array that an instruction accesses, and the index of the first element.

    In memory of the workgroup and of the invocation, values of 64 bits have an array of their own,
    since no variable of GLSL is both.
    """
    b, name, info = v.b, instr.name, v.shader.info
    first, *rest = [src.value for src in instr.srcs[name.startswith("store") :]]
    shift = b.imm_int(3 if element is UINT64 else 2)
    if "shared" in name or "scratch" in name:
        shared = "shared" in name
        mode, size = (Mode.SHARED, info.shared_bytes) if shared else (
            Mode.SHADER_TEMP, info.scratch_bytes
        )  # fmt: skip
        type = array(element, max(size * 8 // element.bit_size, 1))
        return b.deref_var(v.variable(mode, ("own", 0), type)), b.ushr(first, shift)
    if name.startswith("atomic_counter"):
        number = b.imm_int(COUNTERS + int(instr["base"]))
        return _block(v, Mode.SSBO, number, element), b.ushr(first, shift)
    mode = Mode.UBO if name == "load_ubo" else Mode.SSBO
    return _block(v, mode, first, element), b.ushr(rest[0], shift)


def _element(v: Variables, instr: Intrinsic, bits: int) -> tuple[Type, int]:
    """The type of elements for a load or store, and how many make a component."""
    if bits not in (32, 64):
        raise SpirvError(f"{instr.name} of {bits}-bit values has no counterpart")
    own = "shared" in instr.name or "scratch" in instr.name
    return (UINT64, 1) if own and bits == 64 else (UINT, bits // 32)


@handles("load_ubo", "load_ssbo", "load_shared", "load_scratch")
def _load(v: Variables, instr: Intrinsic) -> Def:
    b, result = v.b, instr.result
    element, parts = _element(v, instr, result.bit_size)
    where, first = _elements(v, instr, element)
    words = []
    for i in range(result.num_components * parts):
        index = b.iadd(first, b.imm_int(i))
        if instr.name == "load_ubo":  # whose length is that of the descriptor
            index = b.iand(index, b.imm_int(_UBO_WORDS - 1))
        words.append(b.load_deref(b.deref_array(where, index)))
    if parts == 2:
        pairs = zip(words[::2], words[1::2], strict=True)
        words = [b.pack_64_2x32_split(low, high) for low, high in pairs]
    return b.vec(words)


@handles("store_ssbo", "store_shared", "store_scratch")
def _store(v: Variables, instr: Intrinsic) -> None:
    b, value = v.b, instr.srcs[0].value
    v.writes_memory |= instr.name == "store_ssbo"
    element, parts = _element(v, instr, value.bit_size)
    where, first = _elements(v, instr, element)
    for i, part in enumerate(b.channels(value)):
        if not instr["write_mask"] >> i & 1:
            continue
        halves = [part]
        if parts == 2:
            halves = [b.unpack_64_2x32_split_x(part), b.unpack_64_2x32_split_y(part)]
        for half, word in enumerate(halves):
            index = b.iadd(first, b.imm_int(i * parts + half))
            b.store_deref(b.deref_array(where, index), word)


@handles("ssbo_atomic", "ssbo_atomic_swap", "shared_atomic", "shared_atomic_swap",
         "atomic_counter", "atomic_counter_read", "atomic_counter_swap")  # fmt: skip
def _atomic(v: Variables, instr: Intrinsic) -> Instr:
    name = instr.name
    v.writes_memory |= "shared" not in name
    op = "ior" if name == "atomic_counter_read" else instr.indices.get("atomic_op", "")
    wide = UINT64 if instr.result.bit_size == 64 else UINT
    where, index = _elements(v, instr, FLOAT if op.startswith("f") else wide)
    data = [src.value for src in instr.srcs[1 + name.startswith("ssbo") :]]
    if name == "atomic_counter_read":
        data = [v.b.imm_int(0)]
    place = v.b.deref_array(where, index)
    become = "deref_atomic_swap" if name.endswith("swap") else "deref_atomic"
    instr.become(become, [place.result, *data], {"atomic_op": op} if op else None)
    return instr


@handles("get_ssbo_size")
def _size(v: Variables, instr: Intrinsic) -> Def:
    words = _block(v, Mode.SSBO, instr.srcs[0].value)
    length = v.b.intrinsic("deref_buffer_array_length", [words.result])
    return v.b.ishl(length, v.b.imm_int(2))


# Textures and images.


@handles("tex")
def _lookup(v: Variables, tex: Tex) -> Instr:
    """A lookup in a variable. Coordinates of rectangles are divided by its size, and those of wrap
    modes that Vulkan does not have are mirrored or clamped.
    """
    number, letter = tex.texture_index, tex.dest_type[0]
    if tex.op in _QUERIES:  # have the type of the other lookups of that texture
        others = [t for t in textures_of(v.shader.entry) if t.op not in _QUERIES]
        letter = next((t.dest_type[0] for t in others if t.texture_index == number), "f")
    base = _BASES.get(letter, Base.UINT)
    rectangle, dim = tex.dim is Dim.RECT, Dim.D2 if tex.dim is Dim.RECT else tex.dim
    shadow = tex.is_shadow and tex.op not in ("txs", "query_levels")
    type = sampler(dim, shadow, tex.is_array, base)
    if dim is Dim.BUF:
        type = texture(dim, tex.is_array, base)
        if tex.src("lod") is not None:
            tex.remove_src("lod")
    where = v.handle(Mode.UNIFORM, "tex", number, type)
    known = {index: rest for index, *rest in v.key.lookups}
    folds, swizzle = known.get(number, ((), _RED))
    if dim is Dim.CUBE or tex.op == "lod" or tex.src("offset") is not None:
        folds = ()
    if (rectangle or folds) and tex.info.is_sampled:
        _fold(v, tex, where, folds)
    tex.add_tex_src("texture_deref", where.result)
    tex.dim = dim
    if tex.src("comparator") is not None and tex.op != "tg4":
        _spread(v, tex, swizzle)
    return tex


def _fold(v: Variables, tex: Tex, where: Deref, folds: tuple[str, ...]) -> None:
    b, source, projector = v.b, tex.src("coord"), tex.src("projector")
    assert source is not None
    parts = b.channels(source.value)
    if projector is not None:
        compared, by = tex.src("comparator"), projector.value
        parts = [b.fdiv(part, by) for part in parts]
        if compared is not None:
            compared.rewrite(b.fdiv(compared.value, by))
        tex.remove_src("projector")
    if tex.dim is Dim.RECT:
        size = b.tex("txs", [("texture_deref", where.result), ("lod", b.imm_int(0))], Dim.D2,
                     num_components=2, dest_type="int32")  # fmt: skip
        scales = b.channels(b.u2f32(size))
        parts[:2] = [b.fdiv(part, scale) for part, scale in zip(parts, scales, strict=False)]
    for i, fold in enumerate(folds[: tex.dim.coordinates]):
        if "mirror" in fold:
            parts[i] = b.fabs(parts[i])
        if "clamp" in fold:
            parts[i] = b.fmin(b.fmax(parts[i], b.imm_float(0.0)), b.imm_float(_LAST))
    source.rewrite(b.vec(parts))


def _spread(v: Variables, tex: Tex, swizzle: tuple[int, ...]) -> None:
    """A comparison's result, distributed by the view's swizzle."""
    b, old = v.b, tex.dest
    chosen = (0, 0, 0, 3) if swizzle == _RED else swizzle
    if old.num_components == 1 and chosen[0] == 0:
        return
    tex.dest = Def(tex, 1, 32)
    b.at_after(tex)
    zero, one = b.imm_float(0.0), b.imm_float(1.0)
    sources = [tex.dest, zero, zero, one, zero, one]
    old.rewrite_uses(b.vec([sources[s] for s in chosen[: old.num_components]]))


@handles("image_load", "image_store", "image_size", "image_samples", "image_atomic",
         "image_atomic_swap")  # fmt: skip
def _image(v: Variables, instr: Intrinsic) -> Instr:
    format, dim = instr["format"].removeprefix("none"), Dim(instr["dim"])
    told = instr.indices.get("dest_type") or instr.indices.get("src_type") or "float32"
    letter = str(told)[0]
    if format:
        letter = "u" if format.endswith("ui") else "i" if format.endswith("i") else "f"
    v.writes_memory |= "store" in instr.name or "atomic" in instr.name
    type = image(Dim.D2 if dim is Dim.RECT else dim, bool(instr["is_array"]), _BASES[letter])
    number = constant(instr, 0)
    where = v.handle(Mode.IMAGE, "img", number, type, image_format=format)
    name = instr.name.replace("image_", "image_deref_")
    indices = {i: instr[i] for i in INTRINSICS[name].indices if i in instr.indices}
    instr.become(name, [where.result, *[src.value for src in instr.srcs[1:]]], indices)
    return instr


# System values.


@handles("load_base_vertex", "load_first_vertex", "load_draw_id", "load_num_samples",
         "load_alpha_ref")  # fmt: skip
def _pushed(v: Variables, instr: Intrinsic) -> Def:
    return v.pushed(instr.name.removeprefix("load_"))


@handles("load_tess_level_outer", "load_tess_level_inner")
def _levels(v: Variables, instr: Intrinsic) -> Def | Instr:
    """Control shaders are asked for the levels that the application set, others for those of the
    patch.
    """
    if v.stage is not Stage.TESS_CTRL:
        return instr
    first = 4 * instr.name.endswith("inner")
    return v.b.vec([v.pushed("levels", first + i) for i in range(instr.result.num_components)])


@handles("load_vertex_id_zero_base")
def _vertex_id(v: Variables, instr: Intrinsic) -> Def:
    return v.b.isub(v.b.intrinsic("load_vertex_id"), v.pushed("first_vertex"))


@handles("load_user_clip_plane")
def _plane(v: Variables, instr: Intrinsic) -> Def:
    words, first = _block(v, Mode.SSBO, v.b.imm_int(PARAMETERS)), 4 * instr["ucp_id"]
    at = [v.b.deref_array_imm(words, first + i) for i in range(4)]
    return v.b.vec([v.b.load_deref(place) for place in at])


@handles("load_point_coord")
def _point_coord(v: Variables, instr: Intrinsic) -> Def | Instr:
    """The point coordinate. Vulkan counts from row 0, which is the lower left of the picture."""
    if not v.key.upper_left:
        return instr
    b = v.b
    x, y = b.channels(b.intrinsic("load_point_coord"))
    return b.vec([x, b.fsub(b.imm_float(1.0), y)])
