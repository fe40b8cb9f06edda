"""Limits for glGet that have to be computed (the others are in `parameters.txt`).

One rule gives the limits of each stage. Limits of features that the driver lacks are 0 where GL
allows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.modes import GL_NAMES
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.getters import gets
from gallette.state_tracker.targets.framebuffers import DEPTH, STENCIL
from gallette.state_tracker.targets.renderbuffers import channel_bits, channel_of
from gallette.state_tracker.texturing.paletted import PALETTES
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Get = Callable[["Context"], Any]


def _atomics(name: str) -> Get:
    """A compiler limit that applies if the driver supports atomic counters."""
    return lambda ctx: getattr(ctx.limits.glsl_limits, name) if ctx.caps.max_shader_buffers else 0


# -- what every stage has ------------------------------------------------------------------------

_PER_STAGE: dict[str, Callable[[Context, str], int]] = {
    "TEXTURE_IMAGE_UNITS": lambda c, s: c.caps.max_samplers,
    "UNIFORM_COMPONENTS": lambda c, s: c.limits.max_uniform_components,
    "UNIFORM_BLOCKS": lambda c, s: c.limits.max_uniform_blocks,
    "IMAGE_UNIFORMS": lambda c, s: c.caps.max_shader_images,
    "SHADER_STORAGE_BLOCKS": lambda c, s: c.caps.max_shader_buffers,
    "ATOMIC_COUNTERS": lambda c, s: _atomics(f"max_{s}_atomic_counters")(c),
    "ATOMIC_COUNTER_BUFFERS": lambda c, s: _atomics(f"max_{s}_atomic_counter_buffers")(c),
}


def _combined_components(ctx: Context) -> int:
    limits = ctx.limits
    blocks = limits.max_uniform_blocks * ctx.caps.max_const_buffer_size // 4
    return int(limits.max_uniform_components + blocks)


def _stage_limits() -> None:
    for stage, gl_name in GL_NAMES.items():
        glsl_name = gl_name.lower()

        def present(value: Get, cap: str = stage.value) -> Get:
            return lambda ctx: value(ctx) if cap in ctx.caps.stages else 0

        for what, value in _PER_STAGE.items():
            name = f"MAX_{gl_name}_{what}"
            if name == "MAX_FRAGMENT_TEXTURE_IMAGE_UNITS":  # this name predates the other stages
                name = "MAX_TEXTURE_IMAGE_UNITS"
            gets({name: present(lambda c, v=value, s=glsl_name: v(c, s))})  # type: ignore[misc]
        gets({f"MAX_COMBINED_{gl_name}_UNIFORM_COMPONENTS": present(_combined_components)})


_stage_limits()

# -- textures, framebuffers, vertices --------------------------------------------------------------


def _context_flags(ctx: Context) -> int:
    flags = {
        GL.CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT: ctx.forward_compatible,
        GL.CONTEXT_FLAG_DEBUG_BIT: ctx.debug_context,
        GL.CONTEXT_FLAG_ROBUST_ACCESS_BIT: ctx.robust,
        GL.CONTEXT_FLAG_NO_ERROR_BIT: ctx.no_error,
    }
    return sum(bit for bit, is_set in flags.items() if is_set)


gets(
    {
        "NUM_COMPRESSED_TEXTURE_FORMATS": lambda c: len(_compressed(c)),
        "COMPRESSED_TEXTURE_FORMATS": lambda c: _compressed(c),
        "MAX_DUAL_SOURCE_DRAW_BUFFERS": lambda c: max(1, c.caps.max_dual_source_render_targets),
    }
)
gets(
    {
        "TEXTURE_BUFFER_DATA_STORE_BINDING": lambda c: _buffer_of_texture(c)[0],
        "TEXTURE_BUFFER_FORMAT_ARB": lambda c: _buffer_of_texture(c)[1],
    },
    profiles="desktop",
)


def _buffer_of_texture(ctx: Context) -> tuple[int, int]:
    """The buffer and format of the buffer texture of the active unit."""
    texture = ctx.textures.unit.bound[GL.TEXTURE_BUFFER]
    name = texture.buffer.name if texture.buffer is not None else 0
    return name, texture.buffer_info.value if texture.buffer_info is not None else int(GL.R8)


def _compressed(ctx: Context) -> list[int]:
    """Formats that an application may use without knowing their properties.

    In desktop contexts this excludes sRGB formats, and DXT1 with its one bit of alpha.
    """
    if ctx.profile == "es":
        return _named("ETC1_|ETC2|EAC|_RGBA?_S3TC|RGTC|BPTC|ASTC")
    if ctx.profile == "es1":
        return [*PALETTES, *_named("ETC1_|_RGB.*ETC2|EAC|_RGBA?_S3TC", "SRGB")]
    return _named("FXT1|_RGBA?_S3TC|_RGB.*ETC2|EAC", "SRGB|RGBA_S3TC_DXT1|ETC1")


@cache
def _named(wanted: str, unwanted: str = "^$") -> list[int]:
    """Compressed formats whose names match one pattern and not the other."""
    return [
        f
        for f, info in INTERNAL_FORMATS.items()
        if info.is_compressed
        and re.search(wanted, info.name)
        and not re.search(unwanted, info.name)
    ]


# -- shaders ---------------------------------------------------------------------------------------

gets(
    {
        "MAX_VERTEX_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_FRAGMENT_UNIFORM_VECTORS": lambda c: c.limits.max_uniform_components // 4,
        "MAX_SHADER_STORAGE_BLOCK_SIZE": lambda c: 1 << 27 if c.caps.max_shader_buffers else 0,
        "NUM_SHADER_BINARY_FORMATS": lambda ctx: int(ctx.profile != "es"),
        "SHADER_BINARY_FORMATS": lambda ctx: (
            [GL.SHADER_BINARY_FORMAT_SPIR_V] if ctx.profile != "es" else []
        ),
    }
)
# -- the context -----------------------------------------------------------------------------------

gets(
    {
        "NUM_EXTENSIONS": lambda c: len(c.limits.extensions),
        "CONTEXT_FLAGS": _context_flags,
        "RESET_NOTIFICATION_STRATEGY": lambda c: (
            GL.LOSE_CONTEXT_ON_RESET if c.loses_context_on_reset else GL.NO_RESET_NOTIFICATION
        ),
    }
)
gets(
    {
        "CONTEXT_PROFILE_MASK": lambda c: (
            GL.CONTEXT_COMPATIBILITY_PROFILE_BIT if c.is_compat else GL.CONTEXT_CORE_PROFILE_BIT
        ),
    },
    profiles="desktop",
)


def _window_bits(letter: str) -> Any:
    def get(ctx: Context) -> int:
        draw = ctx.framebuffers.draw
        points: dict[str, Any] = {"Z": DEPTH, "S": STENCIL}
        if letter in points:
            found = draw.attachments.get(points[letter])
        else:
            found = draw.color(draw.draw_buffers[0])
        return channel_bits(found.info, letter) if found is not None and found.info else 0

    return get


gets(
    {
        "RED_BITS": _window_bits("R"),
        "GREEN_BITS": _window_bits("G"),
        "BLUE_BITS": _window_bits("B"),
        "ALPHA_BITS": _window_bits("A"),
        "DEPTH_BITS": _window_bits("Z"),
        "STENCIL_BITS": _window_bits("S"),
    }
)


def _signed_components(c: Context) -> tuple[bool, ...]:
    """Per component of the colour buffer that is drawn to: whether it can be negative."""
    draw = c.framebuffers.draw
    found = draw.color(draw.draw_buffers[0]) if draw.draw_buffers[0] != GL.NONE else None
    if found is None or found.info is None:
        return (False,) * 4
    info, signed = found.info, []
    for letter in "RGBA":
        # Luminance is stored as the first three, and intensity as all of them.
        names = (letter, "I") if letter == "A" else (letter, "L", "I")
        channels = [x for x in (channel_of(info, name) for name in names) if x is not None]
        signed.append(any(x.type not in ("UNORM", "UINT") for x in channels))
    return (False,) * 4 if info.name == "R11F_G11F_B10F" else tuple(signed)


def _has_color(*kinds: str) -> Callable[[Context], bool]:
    """Whether a colour buffer of such a number type is attached, drawn to or not."""

    def get(ctx: Context) -> bool:
        attached = ctx.framebuffers.draw.attachments.items()
        infos = [a.info for point, a in attached if not isinstance(point, str) and a.info]
        return any(info.candidates[0].channels[0].type in kinds for info in infos)

    return get


gets(
    {
        "RGBA_SIGNED_COMPONENTS_EXT": _signed_components,
        "RGBA_FLOAT_MODE_ARB": _has_color("FLOAT"),
        "RGBA_INTEGER_MODE_EXT": _has_color("SINT", "UINT"),
    },
    profiles="desktop",
)
