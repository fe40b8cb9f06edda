"""State that has changed since the last draw. Entry points set bits, `validate` clears them."""

from __future__ import annotations


class Dirty:
    """One bit per group of derived state; see `validate.ATOMS` for the atoms that read each bit.

    State derived from a vertex array has no bit: the array drops it (`VertexArray.changed`), and
    every draw checks.

    The bits are plain integers: they are set in every entry point, and an enum's operators would
    cost more than most entry points do.
    """

    BLEND = 1 << 0
    RASTERIZER = 1 << 1
    DEPTH_STENCIL = 1 << 2
    FRAMEBUFFER = 1 << 3
    VIEWPORT = 1 << 4
    SCISSOR = 1 << 5
    PROGRAM = 1 << 6
    CONSTANTS = 1 << 7
    TEXTURES = 1 << 8
    STENCIL_REF = 1 << 9
    BLEND_COLOR = 1 << 10
    CLIP = 1 << 11
    UNIFORM_BUFFERS = 1 << 12
    SAMPLE_MASK = 1 << 13
    CURRENT_ATTRIBS = 1 << 14
    BUILTINS = 1 << 15  # fixed-function state that shaders read as gl_* uniforms
    STIPPLE = 1 << 16
    IMAGES = 1 << 17
    STORAGE = 1 << 18
    TRANSFORM_FEEDBACK = 1 << 19
    MATRICES = 1 << 20  # of those, what changes most often
    VALUES = 1 << 21  # of those, materials and others that never select the shaders
    ALL = (1 << 22) - 1
