"""Everything else that draws depend on, at its edges."""

from __future__ import annotations

from collections.abc import Callable

from .. import tables as t
from ..writer import Writer, step

__all__ = ["change"]


def _switch(w: Writer) -> str:
    cap = w.pick(t.SWITCHES)
    on = w.often(0.1 if cap in t.SELDOM else 0.5)
    return f"gl.{'enable' if on else 'disable'}({cap})"


def _indexed_switch(w: Writer) -> str:
    cap = w.pick(t.names("BLEND SCISSOR_TEST"))
    return f"gl.{w.pick(('enablei', 'disablei'))}({cap}, {min(max(w.small(8), 0), 1 << 31)})"


def _viewport(w: Writer) -> str:
    kind = w.r.random()
    if kind < 0.5:
        return "gl.viewport(0, 0, 32, 32)"
    if kind < 0.7:
        x, y = (w.r.choice((0, -5, 3, 16, w.wild())) for _ in range(2))
        width, height = (w.r.choice((0, 1, 16, 32, 100, 16384, w.wild())) for _ in range(2))
        return f"gl.viewport({x}, {y}, {width}, {height})"
    if kind < 0.85:
        return f"gl.viewport_indexedf({w.small(16) & 0xFFFFFFFF}, {w.reals(4, 0.5)})"
    return f"gl.viewport_arrayv({w.r.randrange(12)}, 4, h.floats({w.seed()}, 16))"


def _scissor(w: Writer) -> str:
    x, y, width, height = (w.r.choice((0, 3, 16, 32, 1 << 20, w.wild())) for _ in range(4))
    if w.often(0.5):
        return f"gl.scissor({x}, {y}, {width}, {height})"
    return f"gl.scissor_indexed({w.small(16) & 0xFFFFFFFF}, {x}, {y}, {width}, {height})"


def _depth_range(w: Writer) -> str:
    if w.often(0.6):
        return f"gl.depth_range({w.unit()}, {w.unit()})"
    return f"gl.depth_range_indexed({w.small(16) & 0xFFFFFFFF}, {w.unit()}, {w.unit()})"


def _blend(w: Writer) -> str:
    index = w.r.randrange(4)
    factors = ", ".join(w.pick(t.FACTORS) for _ in range(4))
    return w.pick(
        (
            f"gl.blend_func_separate({factors})",
            f"gl.blend_func_separatei({index}, {factors})",
            f"gl.blend_equation({w.pick((*t.EQUATIONS, *t.ADVANCED))})",
            f"gl.blend_equation_separate({w.pick(t.EQUATIONS)}, {w.pick(t.EQUATIONS)})",
            f"gl.blend_equationi({index}, {w.pick(t.EQUATIONS)})",
            f"gl.blend_color({w.reals(4)})",
        )
    )


def _stencil(w: Writer) -> str:
    face = w.pick(t.names("FRONT BACK FRONT_AND_BACK"))
    operations = ", ".join(w.pick(t.STENCIL_OPS) for _ in range(3))
    return w.pick(
        (
            f"gl.stencil_func_separate({face}, {w.pick(t.COMPARES)}, {w.small(255)}, "
            f"{w.unsigned()})",
            f"gl.stencil_op_separate({face}, {operations})",
            f"gl.stencil_mask_separate({face}, {w.unsigned()})",
        )
    )


def _depth(w: Writer) -> str:
    return w.pick(
        (
            f"gl.depth_func({w.pick(t.COMPARES)})",
            f"gl.depth_mask({w.r.randrange(2)})",
            f"gl.depth_bounds_ext({w.unit()}, {w.unit()})",
            f"gl.polygon_offset_clamp({w.reals(3)})",
            f"gl.clip_control({w.pick(t.names('LOWER_LEFT UPPER_LEFT'))}, "
            f"{w.pick(t.names('NEGATIVE_ONE_TO_ONE ZERO_TO_ONE'))})",
        )
    )


def _raster(w: Writer) -> str:
    return w.pick(
        (
            f"gl.polygon_mode(GL.FRONT_AND_BACK, {w.pick(t.names('POINT LINE FILL FILL'))})",
            f"gl.cull_face({w.pick(t.names('FRONT BACK FRONT_AND_BACK'))})",
            f"gl.front_face({w.pick(t.names('CW CCW'))})",
            f"gl.line_width({w.real()})",
            f"gl.point_size({w.real()})",
            f"gl.point_parameterf(GL.POINT_FADE_THRESHOLD_SIZE, {w.real()})",
            f"gl.point_parameteri(GL.POINT_SPRITE_COORD_ORIGIN, "
            f"{w.pick(t.names('LOWER_LEFT UPPER_LEFT'))})",
            f"gl.provoking_vertex(GL.{w.pick(('FIRST', 'LAST'))}_VERTEX_CONVENTION)",
            f"gl.subpixel_precision_bias_nv({w.small(9) & 0xFFFFFFFF}, {w.small(9) & 0xFFFFFFFF})",
        )
    )


def _samples(w: Writer) -> str:
    return w.pick(
        (
            f"gl.sample_coverage({w.unit()}, {w.r.randrange(2)})",
            f"gl.sample_maski(0, {w.unsigned() if w.often(0.4) else 0xFFFFFFFF})",
            f"gl.min_sample_shading({w.unit()})",
            f"gl.framebuffer_sample_locationsfv_arb(GL.FRAMEBUFFER, {w.r.choice((0, 3, 60))}, 4, "
            f"h.floats({w.seed()}, 8))",
            f"gl.framebuffer_parameteri(GL.FRAMEBUFFER, "
            f"GL.FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB, {w.r.randrange(2)})",
        )
    )


def _colors(w: Writer) -> str:
    mask = ", ".join(str(min(w.r.randrange(4), 1)) for _ in range(4))
    return w.pick(
        (
            f"gl.color_mask({mask})",
            "gl.color_mask(1, 1, 1, 1)",
            f"gl.color_maski({w.r.randrange(5)}, {mask})",
            f"gl.logic_op({w.pick(t.LOGIC_OPS)})",
            f"gl.clamp_color(GL.CLAMP_READ_COLOR, {w.pick(t.names('TRUE FALSE FIXED_ONLY'))})",
        )
    )


def _primitives(w: Writer) -> str:
    return w.pick(
        (
            f"gl.primitive_restart_index({w.r.choice((0, 3, 255, 65535, 0xFFFFFFFF))})",
            f"gl.patch_parameteri(GL.PATCH_VERTICES, {w.r.choice((1, 2, 3, 4, 7, 32, 33))})",
            f"gl.patch_parameterfv(GL.PATCH_DEFAULT_OUTER_LEVEL, h.floats({w.seed()}, 4))",
            f"gl.patch_parameterfv(GL.PATCH_DEFAULT_INNER_LEVEL, h.floats({w.seed()}, 2))",
        )
    )


_KINDS: tuple[Callable[[Writer], str], ...] = (
    _switch, _switch, _switch, _switch, _indexed_switch, _viewport, _scissor, _depth_range, _blend,
    _stencil, _depth, _raster, _samples, _colors, _primitives,
)  # fmt: skip


@step(22)
def change(w: Writer) -> None:
    w.say(w.r.choice(_KINDS)(w))


@step(3)
def back_to_normal(w: Writer) -> None:
    """What lets draws be seen again."""
    w.say(
        "gl.viewport(0, 0, 32, 32); gl.disable(GL.SCISSOR_TEST); "
        "gl.disable(GL.RASTERIZER_DISCARD); gl.disable(GL.CULL_FACE); "
        "gl.color_mask(1, 1, 1, 1); gl.disable(GL.STENCIL_TEST)"
    )
