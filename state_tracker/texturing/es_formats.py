"""Restrictions of texture formats in OpenGL ES.

In desktop GL, nearly every client format and type can be combined with nearly every internal
format. In ES the three must be a row of a table (`data/es_formats.txt`), which also gives
renderable and filterable formats. An unsized internal format stands for the sized one given by its
type.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import DATA
from gallette.state_tracker.texturing.texture_formats import InternalFormat


@lazy_dataclass(frozen=True)
class EsFormat:
    """A row of the table; the first type is that of the stored texels."""

    format: int
    types: tuple[int, ...]
    renderable: bool
    filterable: bool


@cache
def _table() -> dict[int, EsFormat]:
    found: dict[int, EsFormat] = {}
    for line in table_rows(DATA / "es_formats.txt"):
        name, format, types, flags = line.split()
        numbers = tuple(int(getattr(GL, t)) for t in types.split(","))
        row = EsFormat(int(getattr(GL, format)), numbers, "R" in flags, "F" in flags)
        found[int(getattr(GL, name))] = row
    return found


@cache
def _pairs() -> frozenset[tuple[int, int]]:
    """Client formats and types that some internal format accepts."""
    found = {(row.format, kind) for row in _table().values() for kind in row.types}
    return frozenset(found | {(format, kind) for _, format, kind in _BLUE_FIRST})


def es_format(value: int) -> EsFormat | None:
    """The row of an internal format; None if ES does not have it."""
    return _table().get(value)


_EFFECTIVE: dict[tuple[int, int], int] = {
    (getattr(GL, format), getattr(GL, kind)): int(getattr(GL, sized))
    for format, kind, sized in (
        ("RGBA", "UNSIGNED_SHORT_4_4_4_4", "RGBA4"),
        ("RGBA", "UNSIGNED_SHORT_5_5_5_1", "RGB5_A1"),
        ("RGBA", "UNSIGNED_INT_2_10_10_10_REV", "RGB10_A2"),
        ("RGBA", "FLOAT", "RGBA32F"),
        ("RGBA", "HALF_FLOAT_OES", "RGBA16F"),
        ("RGB", "UNSIGNED_SHORT_5_6_5", "RGB565"),
        ("RGB", "UNSIGNED_INT_2_10_10_10_REV", "RGB10"),
        ("RGB", "FLOAT", "RGB32F"),
        ("RGB", "HALF_FLOAT_OES", "RGB16F"),
        ("ALPHA", "FLOAT", "ALPHA32F_ARB"),
        ("ALPHA", "HALF_FLOAT_OES", "ALPHA16F_ARB"),
        ("LUMINANCE", "FLOAT", "LUMINANCE32F_ARB"),
        ("LUMINANCE", "HALF_FLOAT_OES", "LUMINANCE16F_ARB"),
        ("LUMINANCE_ALPHA", "FLOAT", "LUMINANCE_ALPHA32F_ARB"),
        ("LUMINANCE_ALPHA", "HALF_FLOAT_OES", "LUMINANCE_ALPHA16F_ARB"),
        ("RED", "UNSIGNED_BYTE", "R8"),
        ("RED", "FLOAT", "R32F"),
        ("RED", "HALF_FLOAT", "R16F"),
        ("RED", "HALF_FLOAT_OES", "R16F"),
        ("RG", "UNSIGNED_BYTE", "RG8"),
        ("RG", "FLOAT", "RG32F"),
        ("RG", "HALF_FLOAT", "RG16F"),
        ("RG", "HALF_FLOAT_OES", "RG16F"),
        ("DEPTH_COMPONENT", "UNSIGNED_SHORT", "DEPTH_COMPONENT16"),
        ("DEPTH_COMPONENT", "UNSIGNED_INT", "DEPTH_COMPONENT24"),
        ("DEPTH_COMPONENT", "FLOAT", "DEPTH_COMPONENT32F"),
        ("DEPTH_STENCIL", "UNSIGNED_INT_24_8", "DEPTH24_STENCIL8"),
        ("DEPTH_STENCIL", "FLOAT_32_UNSIGNED_INT_24_8_REV", "DEPTH32F_STENCIL8"),
    )
}


def effective_format(internalformat: int, format: int, type: int) -> int:
    """The sized format of an unsized one, given the client data; other formats are returned
    unchanged.
    """
    return (
        _EFFECTIVE.get((format, type), internalformat)
        if internalformat == format
        else internalformat
    )


_BLUE_FIRST = frozenset(
    (int(getattr(GL, internal)), int(getattr(GL, format)), int(GL.UNSIGNED_BYTE))
    for internal, format in (
        ("RGBA", "BGRA_EXT"),
        ("RGBA8", "BGRA_EXT"),
        ("SRGB8_ALPHA8", "BGRA_EXT"),
        ("RGB8", "BGR_EXT"),
    )
)
"""GL_MESA_bgra: bytes in the opposite order."""


def check_es_image(internalformat: int, format: int, type: int) -> None:
    """Check for glTexImage* that the three are a row of the table."""
    _check_names(format, type)
    if (format, type) not in _pairs():
        raise invalid_operation(f"{GL.name_of(type)} does not hold {GL.name_of(format)}")
    row = es_format(internalformat)
    if (internalformat, format, type) in _BLUE_FIRST:
        return
    if row is None:
        raise invalid_value(f"{GL.name_of(internalformat)} is not an internal format")
    if row.format != format or type not in row.types:
        told = ", ".join(GL.name_of(t) for t in row.types)
        raise invalid_operation(
            f"{GL.name_of(internalformat)} takes {GL.name_of(row.format)} in {told}"
        )


def _check_names(format: int, type: int) -> None:
    if all(format != known for known, _ in _pairs()):
        raise invalid_enum(format, "pixel format")
    if all(type != known for _, known in _pairs()):
        raise invalid_enum(type, "pixel type")


ETC = frozenset(
    int(getattr(GL, name))
    for name in dir(GL)
    if name.startswith("COMPRESSED") and ("ETC2" in name or "EAC" in name or "ASTC" in name)
) | {int(GL.ETC1_RGB8_OES)}
"""Compressed formats that accept compressed images only."""

_S3TC = tuple((int(format), 0) for format in (GL.RGB, GL.RGBA))  # of any type
_COMPRESSING: dict[int, tuple[tuple[int, int], ...]] = {
    GL.COMPRESSED_RGB_S3TC_DXT1_EXT: _S3TC,
    GL.COMPRESSED_RGBA_S3TC_DXT1_EXT: _S3TC,
    GL.COMPRESSED_RGBA_S3TC_DXT3_EXT: _S3TC,
    GL.COMPRESSED_RGBA_S3TC_DXT5_EXT: _S3TC,
    GL.COMPRESSED_RED_RGTC1: ((GL.RED, GL.UNSIGNED_BYTE),),
    GL.COMPRESSED_SIGNED_RED_RGTC1: ((GL.RED, GL.BYTE),),
    GL.COMPRESSED_RG_RGTC2: ((GL.RG, GL.UNSIGNED_BYTE),),
    GL.COMPRESSED_SIGNED_RG_RGTC2: ((GL.RG, GL.BYTE),),
    GL.COMPRESSED_RGBA_BPTC_UNORM: ((GL.RGBA, GL.UNSIGNED_BYTE),),
    GL.COMPRESSED_SRGB_ALPHA_BPTC_UNORM: ((GL.RGBA, GL.UNSIGNED_BYTE),),
    GL.COMPRESSED_RGB_BPTC_SIGNED_FLOAT: ((GL.RGB, GL.FLOAT),),
    GL.COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT: ((GL.RGB, GL.FLOAT),),
}
"""Compressed formats that glTexImage* compresses to, and the pixels that each takes."""


def compresses_in_es(info: InternalFormat) -> bool:
    """Whether ES has that compressed format."""
    return not any(family in info.name for family in ("LUMINANCE", "FXT1"))


def check_es_compressing(info: InternalFormat, format: int, type: int) -> None:
    """Check glTexImage* of other compressed formats: few accept uncompressed pixels."""
    if not compresses_in_es(info):
        raise invalid_value(f"GL_{info.name} is not an internal format")
    pairs = _COMPRESSING.get(info.value, ())
    if (format, type) not in pairs and (format, 0) not in pairs:
        raise invalid_operation(f"GL_{info.name} images are not compressed from such pixels")


def check_es_update(info: InternalFormat, unsized: int, format: int, type: int) -> bool:
    """Check glTexSubImage* by the rules for defining the image; returns whether the table has its
    format. Images of RGB and RGBA with floats are updated as the sized ones.
    """
    _check_names(format, type)
    floats = unsized in (GL.RGB, GL.RGBA) and info.name.endswith("F")
    internalformat = info.value if floats else unsized or info.value
    row = es_format(internalformat)
    if row is None or (internalformat, format, type) in _BLUE_FIRST:
        return row is not None
    # Half-float texels may have either enum.
    kind = half_float(type) if row.types[0] == GL.HALF_FLOAT else type
    if row.format != format or kind not in row.types:
        name = GL.name_of(internalformat)
        raise invalid_operation(f"an image of {name} takes no {GL.name_of(format)} of that type")
    return True


_FLOATS = (GL.FLOAT, GL.HALF_FLOAT, GL.HALF_FLOAT_OES)


def half_float(type: int) -> int:
    """The half-float enum of OES_texture_half_float and OES_vertex_half_float, which is
    their own.
    """
    return int(GL.HALF_FLOAT) if type == GL.HALF_FLOAT_OES else type


def own_pair(info: InternalFormat) -> tuple[int, int]:
    """The client format and type that match such a colour buffer, so that reading needs no
    conversion.
    """
    row = es_format(info.value)
    if row is None or info.value == row.format:  # unsized
        return int(GL.RGBA), int(GL.UNSIGNED_BYTE)
    return row.format, row.types[0]


def renders_in_es(info: InternalFormat, unsized: int) -> bool:
    """Whether images of that format can be drawn to.

    Those of RGBA without a size cannot with ten bits or 32-bit floats: the extensions that allow
    these types let only the sized formats be drawn to.
    """
    row = es_format(info.value)
    if unsized == GL.RGBA and info.value in (GL.RGB10_A2, GL.RGBA32F):
        return False
    return row is not None and row.renderable


def stores_in_es(info: InternalFormat) -> bool:
    """Whether a renderbuffer can have that format, which must be sized."""
    row = es_format(info.value)
    return row is not None and row.renderable and info.value != row.format


def makes_es_mipmaps(info: InternalFormat, unsized: int) -> bool:
    """Whether mipmaps can be generated: unsized colour formats, and renderable, filterable ones
    among those that are sized or floats.
    """
    row = es_format(info.value)
    if row is None or not info.is_color:
        return False
    if info.value == row.format or (unsized and not info.name.endswith("F")):
        return True
    return row.renderable and row.filterable


_LAST: dict[str, tuple[tuple[int, int], ...]] = {
    "UNORM": ((GL.RGBA, GL.UNSIGNED_BYTE),),
    "SNORM": ((GL.RGBA, GL.BYTE), (GL.RGBA, GL.UNSIGNED_BYTE)),
    "FLOAT": ((GL.RGBA, GL.FLOAT),),
    "SINT": ((GL.RGBA_INTEGER, GL.INT),),
    "UINT": ((GL.RGBA_INTEGER, GL.UNSIGNED_INT),),
}
"""The read format of every colour buffer of a kind; sRGB buffers have only their own pair."""

_OF_BGRA = (GL.UNSIGNED_BYTE, GL.UNSIGNED_SHORT_4_4_4_4_REV, GL.UNSIGNED_SHORT_1_5_5_5_REV)
"""Additional types of non-integer buffers (EXT_read_format_bgra)."""

_DEPTHS = (GL.DEPTH_COMPONENT, GL.STENCIL_INDEX, GL.DEPTH_STENCIL)


_DEPTH_READS: dict[tuple[int, int], tuple[str, ...]] = {
    (GL.DEPTH_COMPONENT, GL.FLOAT): ("FLOAT",),
    (GL.DEPTH_COMPONENT, GL.UNSIGNED_INT): ("UNORM",),
    (GL.DEPTH_COMPONENT, GL.UNSIGNED_SHORT): ("UNORM",),
    (GL.DEPTH_COMPONENT, GL.UNSIGNED_INT_24_8): ("UNORM",),
    (GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8): ("UNORM",),
    (GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV): ("FLOAT",),
    (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE): ("UNORM", "FLOAT", "UINT"),
}
"""NV_read_depth and related extensions: the valid pairs, and the buffers they apply to."""


def check_es_depth_pair(format: int, type: int) -> None:
    """Check the type for glReadPixels of depth or stencil."""
    if (format, type) not in _DEPTH_READS:
        raise invalid_enum(type, "type to read depth or stencil as")


def check_es_depth_read(info: InternalFormat, format: int, type: int) -> None:
    """Check that fixed-point and float depth are read as such."""
    kinds = _DEPTH_READS[format, type]
    if info.candidates[0].channels[0].type not in kinds:
        raise invalid_operation(f"GL_{info.name} is not read as {GL.name_of(type)}")


def check_es_read(info: InternalFormat, format: int, type: int) -> None:
    """Check glReadPixels: its pair is that of all buffers of a kind, or the buffer's own."""
    if format in _DEPTHS or (format, type) == own_pair(info):
        return
    kind = "SRGB" if info.candidates[0].is_srgb else info.candidates[0].channels[0].type
    bits = max(channel.bits for channel in info.candidates[0].channels)
    allowed = (format, type) in _LAST.get(kind, ())
    allowed |= kind not in ("SINT", "UINT") and format == GL.BGRA_EXT and type in _OF_BGRA
    if kind in ("UNORM", "SNORM") and bits == 16:
        allowed |= (format, type) == (GL.RGBA, GL.SHORT if kind == "SNORM" else GL.UNSIGNED_SHORT)
    if not allowed:
        raise invalid_operation("a colour buffer of this format is not read as that")


_LETTERS = {
    int(GL.RED): "R", int(GL.RG): "RG", int(GL.RGB): "RGB", int(GL.RGBA): "RGBA",
    int(GL.RED_INTEGER): "R", int(GL.RG_INTEGER): "RG", int(GL.RGB_INTEGER): "RGB",
    int(GL.RGBA_INTEGER): "RGBA", int(GL.BGRA_EXT): "RGBA", int(GL.LUMINANCE): "R",
    int(GL.LUMINANCE_ALPHA): "RA", int(GL.ALPHA): "A",
}  # fmt: skip


def check_es_copy(internalformat: int, info: InternalFormat, source: InternalFormat) -> None:
    """Check glCopyTexImage*: the source has all components, of equal kind and (if sized) size."""
    row = es_format(internalformat)
    if row is None or not info.is_color:
        raise invalid_operation(f"nothing is copied to GL_{info.name}")
    wanted, given = info.candidates[0], source.candidates[0]
    letters = _LETTERS.get(row.format, "")
    bits = {c.name: c.bits for c in given.channels}
    fits = set(letters) <= set(source.base)
    fits &= wanted.channels[0].type == given.channels[0].type
    fits &= wanted.is_srgb == given.is_srgb
    if internalformat != row.format:
        own = {c.name: c.bits for c in wanted.channels if c.name in letters}
        fits &= all(bits.get(name) == size for name, size in own.items())
    else:
        fits &= source.name != "RGB10_A2"
    if not fits:
        raise invalid_operation(f"GL_{source.name} is not copied to GL_{info.name}")
