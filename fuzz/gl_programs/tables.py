"""The state space as data: what a step may choose from."""

from __future__ import annotations

from fuzz.calls.arguments import group

FACTORS = group("FACTOR")
DUAL_FACTORS = group("SECOND")
EQUATIONS = group("EQUATION")
COMPARES = group("COMPARE")
STENCIL_OPS = group("STENCIL")
PRIMITIVES = [
    "TRIANGLES",
    "TRIANGLE_STRIP",
    "TRIANGLE_FAN",
    "POINTS",
    "LINES",
    "LINE_STRIP",
    "LINE_LOOP",
    "TRIANGLES_ADJACENCY",
    "TRIANGLE_STRIP_ADJACENCY",
    "LINES_ADJACENCY",
    "LINE_STRIP_ADJACENCY",
]
FILLED = ["TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN", "POINTS", "TRIANGLES_ADJACENCY"]
WRAPS = ["REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_EDGE", "CLAMP_TO_BORDER"]
MINIFYING = ["NEAREST", "LINEAR", "NEAREST_MIPMAP_NEAREST"]
# Colour formats, and one step of their coarsest channel in 255ths.
COLOR_FORMATS = {
    "RGBA8": 1,
    "RGB8": 1,
    "RGBA4": 17,
    "RGB565": 9,
    "RGB5_A1": 255,
    "RGBA16": 1,
    "RGBA16F": 1,
    "RGBA32F": 1,
    "R11F_G11F_B10F": 4,
    "RG8": 1,
    "R8": 1,
    "RGB10_A2": 85,
    "SRGB8_ALPHA8": 1,
}
# Integer colours, with the kind of their outputs.
INTEGER_FORMATS = {
    "RGBA8UI": "u",
    "RGBA8I": "i",
    "RGBA16I": "i",
    "RGBA32UI": "u",
    "RG16UI": "u",
    "R32I": "i",
}
DEPTH_FORMATS = [
    "DEPTH24_STENCIL8",
    "DEPTH_COMPONENT24",
    "DEPTH_COMPONENT16",
    "DEPTH_COMPONENT32F",
    "DEPTH32F_STENCIL8",
]
TEXTURE_FORMATS = [
    "RGBA8",
    "RGB8",
    "RGBA4",
    "RG8",
    "R8",
    "SRGB8_ALPHA8",
    "RGB5_A1",
    "RGBA8_SNORM",
    "RGBA16F",
    "RGB9_E5",
    "RGB10_A2",
    "RGBA16",
]

# How pixels come from memory: format, type, bytes of one. Integer types only: no NaN by accident.
TRANSFERS = (
    ("RGBA", "UNSIGNED_BYTE", 4),
    ("BGRA", "UNSIGNED_BYTE", 4),
    ("RGB", "UNSIGNED_BYTE", 3),
    ("RED", "UNSIGNED_BYTE", 1),
    ("RG", "UNSIGNED_BYTE", 2),
    ("RGBA", "UNSIGNED_SHORT", 8),
    ("RGBA", "BYTE", 4),
    ("RGB", "UNSIGNED_SHORT_5_6_5", 2),
    ("RGBA", "UNSIGNED_SHORT_4_4_4_4", 2),
    ("RGBA", "UNSIGNED_SHORT_1_5_5_5_REV", 2),
    ("BGRA", "UNSIGNED_INT_8_8_8_8_REV", 4),
    ("RGBA", "UNSIGNED_INT_2_10_10_10_REV", 4),
)
"""what `glTexSubImage` is given and `glReadPixels` is asked for"""

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
