"""The state space as data: what a step may choose from, from the groups of `arguments.txt`."""

from __future__ import annotations

from fuzz.calls.arguments import group


def _pairs(name: str) -> list[tuple[str, str]]:
    return [(word, value) for word, _, value in (pair.partition("=") for pair in group(name))]


FACTORS = group("FACTOR")
DUAL_FACTORS = group("SECOND")
EQUATIONS = group("EQUATION")
COMPARES = group("COMPARE")
STENCIL_OPS = group("STENCIL")
PRIMITIVES = group("PRIMITIVE")
FILLED = group("FILLED")
WRAPS = group("REPEATED")
MINIFYING = group("SMALLER")
DEPTH_FORMATS = group("DEEP")
TEXTURE_FORMATS = group("SAMPLED")
COLOR_FORMATS = {name: int(step) for name, step in _pairs("DRAWN")}
"""colour formats, and one step of their coarsest channel in 255ths"""
INTEGER_FORMATS = dict(_pairs("WHOLE"))
"""integer colours, with the kind of their outputs"""
TRANSFERS = tuple(_pairs("MOVED"))
"""what `glTexSubImage` is given: format and type"""

# A step of four or five bits is seen in whatever is drawn with it. Which of two steps a number
# becomes that lies about half way between them is not specified: llvmpipe takes the nearest of
# eight bits first.
FEW_BITS = {"RGBA4", "RGB5_A1"}
OTHER_STEPS = {"BYTE", "UNSIGNED_SHORT", "UNSIGNED_INT_2_10_10_10_REV"}

# Vertex colours as other types read them from the same bytes: size, type, normalised, stride, at.
COLORS_AS = (
    "4, GL.UNSIGNED_BYTE, 1, 40, 18",
    "4, GL.SHORT, 1, 40, 20",
    "3, GL.FLOAT, 0, 40, 16",
    "1, GL.FLOAT, 0, 40, 20",
    "GL.BGRA, GL.UNSIGNED_BYTE, 1, 40, 18",
    "4, GL.UNSIGNED_INT_2_10_10_10_REV, 1, 40, 16",
    "4, GL.FLOAT, 0, 0, 0",
)
