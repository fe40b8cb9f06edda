"""Type instructions: each becomes an `SpvType` with its NIR type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Dim, Field, Type
from gallette.compiler.spirv.grammar import name_of
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.model import SpvType, by_name
from gallette.compiler.work_limits import too_large

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.declarations import Declarations

_INTS = {
    (8, 1): Base.INT8,
    (8, 0): Base.UINT8,
    (16, 1): Base.INT16,
    (16, 0): Base.UINT16,
    (32, 1): Base.INT,
    (32, 0): Base.UINT,
    (64, 1): Base.INT64,
    (64, 0): Base.UINT64,
}
_FLOATS = {16: Base.FLOAT16, 32: Base.FLOAT, 64: Base.DOUBLE}
_DIMS = {
    "1D": Dim.D1,
    "2D": Dim.D2,
    "3D": Dim.D3,
    "Cube": Dim.CUBE,
    "Rect": Dim.RECT,
    "Buffer": Dim.BUF,
}


def _scalar(d: Declarations, i: Instruction) -> None:
    w = i.words
    if i.name == "OpTypeVoid":
        made = SpvType("void", t.VOID)
    elif i.name == "OpTypeBool":
        made = SpvType("bool", t.BOOL)
    elif i.name == "OpTypeInt":
        if (w[1], w[2]) not in _INTS:
            raise i.error(f"no integers of {w[1]} bits with signedness {w[2]}")
        made = SpvType("int", t.scalar(_INTS[w[1], w[2]]))
    else:
        if w[1] not in _FLOATS:
            raise i.error(f"no floats of {w[1]} bits")
        made = SpvType("float", t.scalar(_FLOATS[w[1]]))
    made.id = w[0]
    d.types[w[0]] = made


def _vector(d: Declarations, i: Instruction) -> None:
    element = d.type(i.words[1], i)
    if not element.nir.is_scalar or i.words[2] not in (2, 3, 4, 8, 16):
        raise i.error("expected a scalar type and 2, 3, 4, 8 or 16 components")
    nir = t.vec(element.nir.base, i.words[2])
    d.types[i.words[0]] = SpvType("vector", nir, element, count=i.words[2], id=i.words[0])


def _matrix(d: Declarations, i: Instruction) -> None:
    column = d.type(i.words[1], i)
    if not column.nir.is_vector or not column.nir.is_float or i.words[2] not in (2, 3, 4):
        raise i.error("expected a vector of floats and 2 to 4 columns")
    nir = t.mat(column.nir.base, i.words[2], column.nir.rows)
    d.types[i.words[0]] = SpvType("matrix", nir, column, count=i.words[2], id=i.words[0])


def _array(d: Declarations, i: Instruction) -> None:
    element = d.type(i.words[1], i)
    length = 0
    if i.name == "OpTypeArray":
        length = d.integer(i.words[2], i)
        if not 0 < length < 1 << 31:
            raise i.error(f"an array of {length} elements")
    if element.kind in ("void", "function"):
        raise i.error(f"an array of {element.kind}")
    stride = d.decorations.get(i.words[0], {}).get("ArrayStride", (0,))[0]
    nir = t.array(element.nir, length, stride)
    _check_size(nir, i)
    kind = "array" if length else "runtime_array"
    d.types[i.words[0]] = SpvType(kind, nir, element, count=length, id=i.words[0])


def _struct(d: Declarations, i: Instruction) -> None:
    id, *members = i.words
    kinds = [d.types.get(m) or _forward_pointer(d, m, i) for m in members]
    fields = []
    for n, member in enumerate(kinds):
        facts = d.member_decorations.get((id, n), {})
        nir = member.nir
        if nir.without_array.is_matrix and "MatrixStride" in facts:
            nir = _laid_out(nir, facts["MatrixStride"][0], "RowMajor" in facts)
        name = d.member_names.get((id, n)) or f"m{n}"
        offset = facts.get("Offset", (-1,))[0]
        fields.append(Field(name, nir, offset=offset))
    facts = d.decorations.get(id, {})
    name = d.names.get(id) or f"struct_{id}"
    block = "Block" in facts or "BufferBlock" in facts
    laid_out = block and bool(fields) and all(f.offset >= 0 for f in fields)
    nir = t.interface(name, fields, "std430") if laid_out else t.struct(name, fields)
    _check_size(nir, i)
    d.types[id] = SpvType("struct", nir, members=tuple(kinds), id=id, block=block)


def _check_size(nir: Type, i: Instruction) -> None:
    """Reject a type that is too large to process."""
    reason = too_large(nir)
    if reason:
        raise i.error(reason)


def _forward_pointer(d: Declarations, id: int, i: Instruction) -> SpvType:
    if id not in d._forward:
        raise i.error(f"%{id} is no type")
    return SpvType("pointer", _pointer_nir(d), storage=d._forward[id], id=id)


def _laid_out(nir: Type, stride: int, row_major: bool) -> Type:
    if nir.element is not None:
        return t.array(_laid_out(nir.element, stride, row_major), nir.length, nir.stride)
    return t.mat(nir.base, nir.columns, nir.rows, stride, row_major)


def _pointer_nir(d: Declarations) -> Type:
    return t.UINT64 if d.pointer_bits == 64 else t.UINT


def _pointer(d: Declarations, i: Instruction) -> None:
    storage = name_of("StorageClass", i.words[1])
    pointee = d.type(i.words[2], i)
    d.types[i.words[0]] = SpvType(
        "pointer", _pointer_nir(d), pointee, storage=storage, id=i.words[0]
    )


def _forward(d: Declarations, i: Instruction) -> None:
    d._forward[i.words[0]] = name_of("StorageClass", i.words[1])


def _image(d: Declarations, i: Instruction) -> None:
    _, sampled_type, dim, depth, arrayed, ms, sampled, fmt = i.words[:8]
    name = name_of("Dim", dim)
    if name not in _DIMS:
        raise i.error(f"images of dimension {name} are not supported")
    base = d.type(sampled_type, i).nir.base
    shape = Dim.MS if ms and name == "2D" else _DIMS[name]
    if base is Base.VOID:
        base = Base.FLOAT
    if sampled == 2 or d.addressing != "Logical":
        nir = t.image(shape, bool(arrayed), base)
    else:
        nir = t.sampler(shape, depth == 1, bool(arrayed), base)
    d.types[i.words[0]] = SpvType(
        "image", nir, id=i.words[0], format=name_of("ImageFormat", fmt), count=sampled
    )


def _sampler(d: Declarations, i: Instruction) -> None:
    # A kernel's sampler is a number (see `kernel_images`).
    nir = t.sampler(Dim.D2) if d.addressing == "Logical" else t.UINT
    d.types[i.words[0]] = SpvType("sampler", nir, id=i.words[0])


def _sampled_image(d: Declarations, i: Instruction) -> None:
    image = d.type(i.words[1], i)
    if image.kind != "image":
        raise i.error(f"%{i.words[1]} is no image type")
    d.types[i.words[0]] = SpvType("sampled_image", image.nir, image, id=i.words[0])


def _function_type(d: Declarations, i: Instruction) -> None:
    params = tuple(d.type(w, i) for w in i.words[2:])
    d.types[i.words[0]] = SpvType("function", t.VOID, d.type(i.words[1], i), params, id=i.words[0])


def _event(d: Declarations, i: Instruction) -> None:
    """An unused number, since waiting for an event is a barrier."""
    d.types[i.words[0]] = SpvType("event", t.UINT, id=i.words[0])


def _opaque(d: Declarations, i: Instruction) -> None:
    d.types[i.words[0]] = SpvType("opaque", t.VOID, id=i.words[0])


TYPES = by_name(
    {
        "OpTypeVoid OpTypeBool OpTypeInt OpTypeFloat": _scalar,
        "OpTypeVector": _vector,
        "OpTypeMatrix": _matrix,
        "OpTypeArray OpTypeRuntimeArray": _array,
        "OpTypeStruct": _struct,
        "OpTypePointer": _pointer,
        "OpTypeForwardPointer": _forward,
        "OpTypeImage": _image,
        "OpTypeSampler": _sampler,
        "OpTypeSampledImage": _sampled_image,
        "OpTypeFunction": _function_type,
        "OpTypeOpaque": _opaque,
        "OpTypeEvent": _event,
    }
)
