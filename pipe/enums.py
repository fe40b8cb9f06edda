"""The enumerations of the pipe interface: targets, primitives, functions, factors, usages."""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag, auto

__all__ = [
    "POINTS_AND_LINES",
    "Bind",
    "BlendFactor",
    "BlendFunc",
    "ClearFlags",
    "CompareFunc",
    "CullFace",
    "Filter",
    "LogicOp",
    "MapFlags",
    "MipFilter",
    "PolygonMode",
    "Primitive",
    "QueryType",
    "Reduction",
    "StencilOp",
    "Swizzle",
    "Target",
    "Usage",
    "Wrap",
]


class _Choice(Enum):
    """An enumeration; members are compared by identity, and Enum's hash is a Python call per
    look-up.
    """

    __hash__ = object.__hash__


class Target(_Choice):
    """The shape of a resource's or view's storage."""

    BUFFER = "buffer"
    TEXTURE_1D = "1d"
    TEXTURE_2D = "2d"
    TEXTURE_3D = "3d"
    TEXTURE_CUBE = "cube"
    TEXTURE_RECT = "rect"
    TEXTURE_1D_ARRAY = "1d_array"
    TEXTURE_2D_ARRAY = "2d_array"
    TEXTURE_CUBE_ARRAY = "cube_array"

    @property
    def is_array(self) -> bool:
        return self.value.endswith("_array")

    @property
    def is_cube(self) -> bool:
        return self.value.startswith("cube")


class Primitive(IntEnum):
    """Primitive types, numbered as GL numbers them."""

    POINTS = 0
    LINES = 1
    LINE_LOOP = 2
    LINE_STRIP = 3
    TRIANGLES = 4
    TRIANGLE_STRIP = 5
    TRIANGLE_FAN = 6
    QUADS = 7
    QUAD_STRIP = 8
    POLYGON = 9
    LINES_ADJACENCY = 10
    LINE_STRIP_ADJACENCY = 11
    TRIANGLES_ADJACENCY = 12
    TRIANGLE_STRIP_ADJACENCY = 13
    PATCHES = 14


POINTS_AND_LINES = frozenset(
    {
        Primitive.POINTS,
        Primitive.LINES,
        Primitive.LINE_STRIP,
        Primitive.LINE_LOOP,
        Primitive.LINES_ADJACENCY,
        Primitive.LINE_STRIP_ADJACENCY,
    }
)
"""Primitives that are neither polygons nor patches, which may become polygons."""


class CompareFunc(IntEnum):
    """Comparison functions, in GL's order from GL_NEVER."""

    NEVER = 0
    LESS = 1
    EQUAL = 2
    LEQUAL = 3
    GREATER = 4
    NOTEQUAL = 5
    GEQUAL = 6
    ALWAYS = 7


class StencilOp(_Choice):
    """Operations on a stencil value."""

    KEEP = auto()
    ZERO = auto()
    REPLACE = auto()
    INCR = auto()
    DECR = auto()
    INCR_WRAP = auto()
    DECR_WRAP = auto()
    INVERT = auto()


class BlendFunc(_Choice):
    """How weighted source and destination are combined."""

    ADD = auto()
    SUBTRACT = auto()
    REVERSE_SUBTRACT = auto()
    MIN = auto()
    MAX = auto()
    # Functions of both colours without factors; a shader's declarations number them in this order.
    MULTIPLY = auto()
    SCREEN = auto()
    OVERLAY = auto()
    DARKEN = auto()
    LIGHTEN = auto()
    COLOR_DODGE = auto()
    COLOR_BURN = auto()
    HARD_LIGHT = auto()
    SOFT_LIGHT = auto()
    DIFFERENCE = auto()
    EXCLUSION = auto()
    HSL_HUE = auto()
    HSL_SATURATION = auto()
    HSL_COLOR = auto()
    HSL_LUMINOSITY = auto()

    @property
    def is_advanced(self) -> bool:
        return self.value > BlendFunc.MAX.value


class BlendFactor(_Choice):
    """Blend weights; the `SRC1` ones use the second colour of dual-source blending."""

    ZERO = auto()
    ONE = auto()
    SRC_COLOR = auto()
    INV_SRC_COLOR = auto()
    SRC_ALPHA = auto()
    INV_SRC_ALPHA = auto()
    DST_COLOR = auto()
    INV_DST_COLOR = auto()
    DST_ALPHA = auto()
    INV_DST_ALPHA = auto()
    SRC_ALPHA_SATURATE = auto()
    CONST_COLOR = auto()
    INV_CONST_COLOR = auto()
    CONST_ALPHA = auto()
    INV_CONST_ALPHA = auto()
    SRC1_COLOR = auto()
    INV_SRC1_COLOR = auto()
    SRC1_ALPHA = auto()
    INV_SRC1_ALPHA = auto()


class LogicOp(IntEnum):
    """Bitwise framebuffer operations, in GL's order from GL_CLEAR."""

    CLEAR = 0
    AND = 1
    AND_REVERSE = 2
    COPY = 3
    AND_INVERTED = 4
    NOOP = 5
    XOR = 6
    OR = 7
    NOR = 8
    EQUIV = 9
    INVERT = 10
    OR_REVERSE = 11
    COPY_INVERTED = 12
    OR_INVERTED = 13
    NAND = 14
    SET = 15


class CullFace(IntFlag):
    """The faces that are culled."""

    NONE = 0
    FRONT = 1
    BACK = 2
    FRONT_AND_BACK = 3


class PolygonMode(_Choice):
    """How polygons are filled."""

    FILL = auto()
    LINE = auto()
    POINT = auto()


class Wrap(_Choice):
    """Texture coordinate wrap modes; CLAMP is GL_CLAMP (halfway to the border colour)."""

    REPEAT = auto()
    CLAMP = auto()
    CLAMP_TO_EDGE = auto()
    CLAMP_TO_BORDER = auto()
    MIRROR_REPEAT = auto()
    MIRROR_CLAMP = auto()
    MIRROR_CLAMP_TO_EDGE = auto()
    MIRROR_CLAMP_TO_BORDER = auto()


class Filter(_Choice):
    """The filter inside one mipmap level."""

    NEAREST = auto()
    LINEAR = auto()


class MipFilter(_Choice):
    """The filter between mipmap levels."""

    NONE = auto()
    NEAREST = auto()
    LINEAR = auto()


class Reduction(_Choice):
    """How a filter combines texels."""

    MEAN = auto()
    MIN = auto()
    MAX = auto()


class Swizzle(IntEnum):
    """The source of a component of a sampler view."""

    X = 0
    Y = 1
    Z = 2
    W = 3
    ZERO = 4
    ONE = 5


class Bind(IntFlag):
    """The ways in which a resource may be bound."""

    NONE = 0
    VERTEX_BUFFER = auto()
    INDEX_BUFFER = auto()
    CONSTANT_BUFFER = auto()
    SHADER_BUFFER = auto()
    SHADER_IMAGE = auto()
    SAMPLER_VIEW = auto()
    RENDER_TARGET = auto()
    DEPTH_STENCIL = auto()
    STREAM_OUTPUT = auto()
    INDIRECT = auto()
    QUERY_BUFFER = auto()


class Usage(_Choice):
    """How often the contents are expected to change (a hint)."""

    DEFAULT = auto()
    IMMUTABLE = auto()
    DYNAMIC = auto()
    STREAM = auto()
    STAGING = auto()


class MapFlags(IntFlag):
    """The purpose of a transfer."""

    READ = auto()
    WRITE = auto()
    READ_WRITE = READ | WRITE
    DISCARD_RANGE = auto()
    DISCARD_WHOLE = auto()
    UNSYNCHRONIZED = auto()
    PERSISTENT = auto()
    COHERENT = auto()
    FLUSH_EXPLICIT = auto()


class ClearFlags(IntFlag):
    """Which attachments `Context.clear` clears: COLOR0 << i is colour buffer i."""

    NONE = 0
    DEPTH = 1
    STENCIL = 2
    COLOR0 = 1 << 2
    COLOR1 = 1 << 3
    COLOR2 = 1 << 4
    COLOR3 = 1 << 5
    COLOR4 = 1 << 6
    COLOR5 = 1 << 7
    COLOR6 = 1 << 8
    COLOR7 = 1 << 9
    COLOR = 0xFF << 2


class QueryType(_Choice):
    """The quantity that a query counts."""

    OCCLUSION_COUNTER = auto()
    OCCLUSION_PREDICATE = auto()
    OCCLUSION_PREDICATE_CONSERVATIVE = auto()
    TIMESTAMP = auto()
    TIME_ELAPSED = auto()
    PRIMITIVES_GENERATED = auto()
    PRIMITIVES_EMITTED = auto()
    SO_OVERFLOW_PREDICATE = auto()
    SO_OVERFLOW_ANY_PREDICATE = auto()
    PIPELINE_STATISTICS = auto()
