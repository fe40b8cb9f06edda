"""The enumerations of the pipe interface: targets, primitives, functions, factors, usages."""

from __future__ import annotations

import re
from enum import Enum, IntEnum, IntFlag


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

    (
        POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN, QUADS,
        QUAD_STRIP, POLYGON, LINES_ADJACENCY, LINE_STRIP_ADJACENCY, TRIANGLES_ADJACENCY,
        TRIANGLE_STRIP_ADJACENCY, PATCHES,
    ) = range(15)  # fmt: skip


POINTS_AND_LINES = frozenset(p for p in Primitive if re.match("POINTS|LINE", p.name))
"""Primitives that are neither polygons nor patches, which may become polygons."""


class CompareFunc(IntEnum):
    """Comparison functions, in GL's order from GL_NEVER."""

    NEVER, LESS, EQUAL, LEQUAL, GREATER, NOTEQUAL, GEQUAL, ALWAYS = range(8)


class StencilOp(_Choice):
    """Operations on a stencil value."""

    KEEP, ZERO, REPLACE, INCR, DECR, INCR_WRAP, DECR_WRAP, INVERT = range(1, 9)


class BlendFunc(_Choice):
    """How weighted source and destination are combined."""

    ADD, SUBTRACT, REVERSE_SUBTRACT, MIN, MAX = range(1, 6)
    # Functions of both colours without factors; a shader's declarations number them in this order.
    (
        MULTIPLY, SCREEN, OVERLAY, DARKEN, LIGHTEN, COLOR_DODGE, COLOR_BURN, HARD_LIGHT, SOFT_LIGHT,
        DIFFERENCE, EXCLUSION, HSL_HUE, HSL_SATURATION, HSL_COLOR, HSL_LUMINOSITY,
    ) = range(6, 21)  # fmt: skip

    @property
    def is_advanced(self) -> bool:
        return self.value > BlendFunc.MAX.value


class BlendFactor(_Choice):
    """Blend weights; the `SRC1` ones use the second colour of dual-source blending."""

    (
        ZERO, ONE, SRC_COLOR, INV_SRC_COLOR, SRC_ALPHA, INV_SRC_ALPHA, DST_COLOR, INV_DST_COLOR,
        DST_ALPHA, INV_DST_ALPHA, SRC_ALPHA_SATURATE, CONST_COLOR, INV_CONST_COLOR, CONST_ALPHA,
        INV_CONST_ALPHA, SRC1_COLOR, INV_SRC1_COLOR, SRC1_ALPHA, INV_SRC1_ALPHA,
    ) = range(1, 20)  # fmt: skip


class LogicOp(IntEnum):
    """Bitwise framebuffer operations, in GL's order from GL_CLEAR."""

    (
        CLEAR, AND, AND_REVERSE, COPY, AND_INVERTED, NOOP, XOR, OR, NOR, EQUIV, INVERT, OR_REVERSE,
        COPY_INVERTED, OR_INVERTED, NAND, SET,
    ) = range(16)  # fmt: skip


class CullFace(IntFlag):
    """The faces that are culled."""

    NONE, FRONT, BACK, FRONT_AND_BACK = range(4)


class PolygonMode(_Choice):
    """How polygons are filled."""

    FILL, LINE, POINT = range(1, 4)


class Wrap(_Choice):
    """Texture coordinate wrap modes; CLAMP is GL_CLAMP (halfway to the border colour)."""

    (
        REPEAT, CLAMP, CLAMP_TO_EDGE, CLAMP_TO_BORDER, MIRROR_REPEAT, MIRROR_CLAMP,
        MIRROR_CLAMP_TO_EDGE, MIRROR_CLAMP_TO_BORDER,
    ) = range(1, 9)  # fmt: skip


class Filter(_Choice):
    """The filter inside one mipmap level."""

    NEAREST, LINEAR = range(1, 3)


class MipFilter(_Choice):
    """The filter between mipmap levels."""

    NONE, NEAREST, LINEAR = range(1, 4)


class Reduction(_Choice):
    """How a filter combines texels."""

    MEAN, MIN, MAX = range(1, 4)


class Swizzle(IntEnum):
    """The source of a component of a sampler view."""

    X, Y, Z, W, ZERO, ONE = range(6)


class Bind(IntFlag):
    """The ways in which a resource may be bound."""

    NONE = 0
    (
        VERTEX_BUFFER, INDEX_BUFFER, CONSTANT_BUFFER, SHADER_BUFFER, SHADER_IMAGE, SAMPLER_VIEW,
        RENDER_TARGET, DEPTH_STENCIL, STREAM_OUTPUT, INDIRECT, QUERY_BUFFER,
    ) = (1 << bit for bit in range(11))  # fmt: skip


class Usage(_Choice):
    """How often the contents are expected to change (a hint)."""

    DEFAULT, IMMUTABLE, DYNAMIC, STREAM, STAGING = range(1, 6)


class MapFlags(IntFlag):
    """The purpose of a transfer."""

    READ, WRITE = 1, 2
    READ_WRITE = READ | WRITE
    DISCARD_RANGE, DISCARD_WHOLE, UNSYNCHRONIZED, PERSISTENT, COHERENT, FLUSH_EXPLICIT = (
        1 << bit for bit in range(2, 8)
    )


class ClearFlags(IntFlag):
    """Which attachments `Context.clear` clears: COLOR0 << i is colour buffer i."""

    NONE, DEPTH, STENCIL = 0, 1, 2
    COLOR0, COLOR1, COLOR2, COLOR3, COLOR4, COLOR5, COLOR6, COLOR7 = (
        4 << index for index in range(8)
    )
    COLOR = 0xFF << 2


class QueryType(_Choice):
    """The quantity that a query counts."""

    (
        OCCLUSION_COUNTER, OCCLUSION_PREDICATE, OCCLUSION_PREDICATE_CONSERVATIVE, TIMESTAMP,
        TIME_ELAPSED, PRIMITIVES_GENERATED, PRIMITIVES_EMITTED, SO_OVERFLOW_PREDICATE,
        SO_OVERFLOW_ANY_PREDICATE, PIPELINE_STATISTICS,
    ) = range(1, 11)  # fmt: skip
