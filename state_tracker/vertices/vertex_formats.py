"""The pipe format of a vertex attribute's (type, size, normalized, integer)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.formats import FORMATS, Format
from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.state_tracker.vertices.vertex_arrays import Attrib

# Bits per component and the letters of the numeric kinds: integer, normalised, scaled.
_PLAIN: dict[int, tuple[int, str, str, str]] = {
    GL.BYTE: (8, "SINT", "SNORM", "SSCALED"),
    GL.UNSIGNED_BYTE: (8, "UINT", "UNORM", "USCALED"),
    GL.SHORT: (16, "SINT", "SNORM", "SSCALED"),
    GL.UNSIGNED_SHORT: (16, "UINT", "UNORM", "USCALED"),
    GL.INT: (32, "SINT", "SNORM", "SSCALED"),
    GL.UNSIGNED_INT: (32, "UINT", "UNORM", "USCALED"),
    GL.HALF_FLOAT: (16, "FLOAT", "FLOAT", "FLOAT"),
    GL.FLOAT: (32, "FLOAT", "FLOAT", "FLOAT"),
    GL.DOUBLE: (64, "FLOAT", "FLOAT", "FLOAT"),
    GL.FIXED: (32, "FIXED", "FIXED", "FIXED"),
}
PACKED = frozenset(
    (GL.INT_2_10_10_10_REV, GL.UNSIGNED_INT_2_10_10_10_REV, GL.UNSIGNED_INT_10F_11F_11F_REV)
)
INTEGER_TYPES = frozenset(
    (GL.BYTE, GL.UNSIGNED_BYTE, GL.SHORT, GL.UNSIGNED_SHORT, GL.INT, GL.UNSIGNED_INT)
)
FLOAT_TYPES = frozenset(_PLAIN) | PACKED


def element_bytes(attrib: Attrib) -> int:
    """Size of one element, which is also the stride of a tight array."""
    if attrib.type in PACKED:
        return 4
    if attrib.type == GL.UNSIGNED_INT64_ARB:
        return 8 * attrib.size
    return attrib.size * _PLAIN[attrib.type][0] // 8


def vertex_format(attrib: Attrib) -> Format:
    """The pipe format of an attribute's elements in memory."""
    if attrib.type == GL.UNSIGNED_INT_10F_11F_11F_REV:
        return FORMATS["R11G11B10_FLOAT"]
    if attrib.type == GL.UNSIGNED_INT64_ARB:  # handles, which shaders read as two words
        return FORMATS["R32G32_UINT"]
    if attrib.type in PACKED:
        signed = attrib.type == GL.INT_2_10_10_10_REV
        kind = ("S" if signed else "U") + ("NORM" if attrib.normalized else "SCALED")
        return FORMATS[f"{'B10G10R10A2' if attrib.bgra else 'R10G10B10A2'}_{kind}"]
    bits, integer, normalized, scaled = _PLAIN[attrib.type]
    if attrib.bgra:
        return FORMATS["B8G8R8A8_UNORM"]
    kind = integer if attrib.integer else normalized if attrib.normalized else scaled
    return FORMATS["".join(f"{c}{bits}" for c in "RGBA"[: attrib.size]) + "_" + kind]
