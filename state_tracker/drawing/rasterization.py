"""Rasterisation state: culling, polygons, points, lines, viewports, scissors, samples."""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.color_clamp import clamps, clamps_fragments
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed
from gallette.state_tracker.parameters import profiles_of

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

POLYGON_MODES: dict[int, PolygonMode] = {
    GL.FILL: PolygonMode.FILL,
    GL.LINE: PolygonMode.LINE,
    GL.POINT: PolygonMode.POINT,
}
CULL_FACES: dict[int, CullFace] = {
    GL.FRONT: CullFace.FRONT,
    GL.BACK: CullFace.BACK,
    GL.FRONT_AND_BACK: CullFace.FRONT_AND_BACK,
}
CLIP_PLANES = 8


class RasterState:
    """All state between the vertex shader and the fragment shader."""

    viewports: list[tuple[float, float, float, float]]
    scissors: list[tuple[int, int, int, int]]
    depth_ranges: list[tuple[float, float]]
    offset: tuple[float, float, float]
    flat_shade: bool
    patch_vertices: int
    patch_levels: tuple[float, ...]
    sample_mask: int
    precision_bias: tuple[int, int]

    def __init__(self, ctx: Context):
        viewports = max(1, ctx.caps.max_viewports)
        width, height = ctx.framebuffers.window.size
        self.depth_ranges = [(0.0, 1.0)] * viewports
        self.scissor_enabled = [False] * viewports
        self.cover(width, height)
        self.clip_origin: int = GL.LOWER_LEFT
        self.clip_depth: int = GL.NEGATIVE_ONE_TO_ONE
        self.cull_enabled = False
        self.cull_face: int = GL.BACK
        self.front_face: int = GL.CCW
        self.polygon_front: int = GL.FILL
        self.polygon_back: int = GL.FILL
        self.offset_fill = self.offset_line = self.offset_point = False
        self.offset = (0.0, 0.0, 0.0)  # factor, units, clamp
        self.polygon_smooth = self.polygon_stipple = False
        self.stipple: tuple[int, ...] = (0xFFFFFFFF,) * 32
        self.line_width = 1.0
        self.line_smooth = self.line_stipple = False
        self.stipple_factor, self.stipple_pattern = 1, 0xFFFF
        self.patch_vertices = 3
        self.patch_levels = (1.0,) * 6  # outer, inner
        self.point_size = 1.0
        self.program_point_size = ctx.profile == "es"  # ES has no enable: it is always on
        self.point_smooth = False
        self.point_sprite = not ctx.is_compat
        self.point_fade = 1.0
        self.point_min, self.point_max = 0.0, ctx.caps.max_point_size
        self.point_attenuation = (1.0, 0.0, 0.0)
        self.sprite_origin: int = GL.UPPER_LEFT
        self.coord_replace = 0  # bit per texture unit
        self.flat_shade = False
        self.provoking: int = GL.LAST_VERTEX_CONVENTION
        self.two_side = False
        self.clip_planes_enabled = 0
        self.clip_planes: list[tuple[float, ...]] = [(0.0, 0.0, 0.0, 0.0)] * CLIP_PLANES
        self.clamp_near = self.clamp_far = False
        self.discard = False
        self.multisample = True
        self.sample_coverage_enabled = False
        self.sample_coverage, self.sample_invert = 1.0, False
        self.sample_mask_enabled = False
        self.sample_mask = 0xFFFFFFFF
        self.sample_shading_enabled = False
        self.min_sample_shading = 0.0
        # OpenGL ES always encodes sRGB (EXT_sRGB_write_control can disable it).
        self.framebuffer_srgb = ctx.profile == "es"
        self.primitive_restart = False
        self.primitive_restart_fixed = False
        self.restart_index = 0
        self.conservative = False
        self.precision_bias = (0, 0)
        self.bounding_box = (-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0)

    @property
    def restart(self) -> tuple[bool, bool, int]:
        """Whether an index restarts primitives, whether it is the largest index value, and its
        value.
        """
        return self.primitive_restart, self.primitive_restart_fixed, self.restart_index

    @restart.setter
    def restart(self, state: tuple[bool, bool, int]) -> None:
        self.primitive_restart, self.primitive_restart_fixed, self.restart_index = state

    @property
    def depth_clamp(self) -> bool:
        """Whether depth is clamped at either end (AMD_depth_clamp_separate enables each end)."""
        return self.clamp_near or self.clamp_far

    @depth_clamp.setter
    def depth_clamp(self, on: bool) -> None:
        self.clamp_near = self.clamp_far = on

    def cover(self, width: int, height: int) -> None:
        """Set viewports and scissors to the whole window."""
        count = len(self.scissor_enabled)
        self.viewports = [(0.0, 0.0, float(width), float(height))] * count
        self.scissors = [(0, 0, width, height)] * count


def rasterizer_state(ctx: Context) -> RasterizerState:
    """The pipe rasterizer state: one object for equal ones, which is compared faster."""
    s, compat, draw = ctx.raster, ctx.is_compat, ctx.framebuffers.draw
    return _state(
        _VALUES(s),
        any(s.scissor_enabled),
        compat,
        ctx.profile not in ("es", "es1"),
        ctx.caps.max_line_width,
        s.multisample and ctx.pipe_framebuffer.samples > 1,
        draw.is_window,
        _sized_vertices(ctx),
        compat and _even_colors(ctx),
        compat and _two_side(ctx),
        compat and clamps(ctx, ctx.fragment.clamp_vertex_color),
        compat and clamps_fragments(ctx),
    )


_NAMES = (
    *("clamp_far", "clamp_near", "clip_depth", "clip_origin", "clip_planes_enabled"),
    *("conservative", "coord_replace", "cull_enabled", "cull_face", "discard", "flat_shade"),
    *("front_face", "line_smooth", "line_stipple", "line_width", "offset", "offset_fill"),
    *("offset_line", "offset_point", "point_max", "point_min", "point_size", "point_smooth"),
    *("point_sprite", "polygon_back", "polygon_front", "polygon_smooth", "polygon_stipple"),
    *("provoking", "sprite_origin", "stipple_factor", "stipple_pattern"),
)
"""What the pipe state follows from."""
_VALUES = operator.attrgetter(*_NAMES)


@lru_cache(maxsize=256)
def _state(
    values: tuple[Any, ...],
    scissor: bool,
    compat: bool,
    desktop: bool,
    max_line_width: float,
    multisample: bool,
    window: bool,
    sized: bool,
    even: bool,
    two_side: bool,
    clamps_vertices: bool,
    clamps_fragments: bool,
) -> RasterizerState:
    s = SimpleNamespace(**dict(zip(_NAMES, values, strict=True)))
    factor, units, clamp = s.offset
    any_offset = s.offset_fill or s.offset_line or s.offset_point
    sprite = s.point_sprite
    state = RasterizerState(
        flatshade=compat and (s.flat_shade or even),
        even_colors=even,
        flatshade_first=s.provoking == GL.FIRST_VERTEX_CONVENTION,
        light_twoside=two_side,
        clamp_vertex_color=clamps_vertices,
        clamp_fragment_color=clamps_fragments,
        front_ccw=(s.front_face == GL.CCW) == (s.clip_origin == GL.LOWER_LEFT),
        cull_face=CULL_FACES[s.cull_face] if s.cull_enabled else CullFace.NONE,
        fill_front=POLYGON_MODES[s.polygon_front],
        fill_back=POLYGON_MODES[s.polygon_back],
        offset_point=s.offset_point,
        offset_line=s.offset_line,
        offset_tri=s.offset_fill,
        offset_units=units if any_offset else 0.0,
        offset_scale=factor if any_offset else 0.0,
        offset_clamp=clamp if any_offset else 0.0,
        scissor=scissor,
        poly_smooth=s.polygon_smooth,
        conservative=s.conservative,
        poly_stipple_enable=compat and s.polygon_stipple,
        point_smooth=compat and s.point_smooth and not sprite,
        sprite_coord_enable=s.coord_replace if compat and sprite else 0,
        sprite_coord_upper_left=s.sprite_origin == GL.UPPER_LEFT,
        point_quad_rasterization=sprite,
        point_clip_sides=desktop,
        point_size_per_vertex=sized,
        point_size=min(max(s.point_size, s.point_min), s.point_max),
        multisample=multisample,
        line_smooth=s.line_smooth,
        line_smooth_upwards=s.line_smooth and not window,
        line_stipple_enable=compat and s.line_stipple,
        line_stipple_factor=s.stipple_factor,
        line_stipple_pattern=s.stipple_pattern,
        line_width=min(max(1.0, s.line_width), max_line_width),
        depth_clip_near=not s.clamp_near,
        depth_clip_far=not s.clamp_far,
        depth_clamp=s.clamp_near and s.clamp_far,
        clip_halfz=s.clip_depth == GL.ZERO_TO_ONE,
        clip_plane_enable=s.clip_planes_enabled,
        rasterizer_discard=s.discard,
    )
    return _only(state)


@lru_cache(maxsize=256)
def _only(state: RasterizerState) -> RasterizerState:
    """The first of all equal states."""
    return state


def _sized_vertices(ctx: Context) -> bool:
    """Whether points have the sizes that shaders write; fixed function writes them where needed."""
    if not ctx.programs.writes_point_size:
        return False
    vertex = ctx.programs.vertex
    fixed = vertex is not None and vertex.is_fixed_function
    return ctx.raster.program_point_size or (fixed and len(ctx.programs.stages) <= 2)


def _even_colors(ctx: Context) -> bool:
    """Whether fixed function passes on the current colours, which no array overrides.

    Interpolated in perspective they would be rounded differently from pixel to pixel.
    """
    stages = ctx.programs.stages.values()
    fixed = all(stage.is_fixed_function for stage in stages)
    return fixed and not ctx.lighting.enabled and ctx.vertex_input.even_colors


def _two_side(ctx: Context) -> bool:
    """Whether colours are two-sided: an enable for shaders, the light model for fixed function."""
    vertex = ctx.programs.vertex
    if vertex is None or not vertex.is_fixed_function:
        return ctx.raster.two_side
    return ctx.lighting.enabled and ctx.lighting.two_side


# -- polygons, lines, points -----------------------------------------------------------------------


@entry
def polygon_mode(ctx: Context, face: int, mode: int) -> None:
    if mode not in POLYGON_MODES:
        raise invalid_enum(mode, "polygon mode")
    if face not in CULL_FACES or (face != GL.FRONT_AND_BACK and not ctx.is_compat):
        raise invalid_enum(face, "face")
    if face != GL.BACK:
        ctx.raster.polygon_front = mode
    if face != GL.FRONT:
        ctx.raster.polygon_back = mode
    ctx.dirty |= Dirty.RASTERIZER


@entry
def polygon_offset_clamp(ctx: Context, factor: float, units: float, clamp: float) -> None:
    ctx.raster.offset = (factor, units, clamp)
    ctx.dirty |= Dirty.RASTERIZER


@entry
def polygon_offset(ctx: Context, factor: float, units: float) -> None:
    polygon_offset_clamp(ctx, factor, units, 0.0)


@entry
def line_stipple(ctx: Context, factor: int, pattern: int) -> None:
    ctx.raster.stipple_factor = min(max(factor, 1), 256)
    ctx.raster.stipple_pattern = pattern & 0xFFFF
    ctx.dirty |= Dirty.RASTERIZER


@entry
def shade_model(ctx: Context, mode: int) -> None:
    if mode not in (GL.FLAT, GL.SMOOTH):
        raise invalid_enum(mode, "shade model")
    ctx.raster.flat_shade = mode == GL.FLAT
    ctx.dirty |= Dirty.RASTERIZER


# -- samples ---------------------------------------------------------------------------------------


@entry
def sample_coverage(ctx: Context, value: float, invert: int) -> None:
    ctx.raster.sample_coverage = min(max(value, 0.0), 1.0)
    ctx.raster.sample_invert = bool(invert)
    ctx.dirty |= Dirty.SAMPLE_MASK


@entry
def sample_maski(ctx: Context, mask_number: int, mask: int) -> None:
    if mask_number != 0:
        raise invalid_value("there is one sample mask word")
    ctx.raster.sample_mask = mask & 0xFFFFFFFF
    ctx.dirty |= Dirty.SAMPLE_MASK


def effective_sample_mask(ctx: Context) -> int:
    """The combined mask of sample coverage and GL_SAMPLE_MASK."""
    s, samples = ctx.raster, ctx.pipe_framebuffer.samples
    if samples <= 1 or not s.multisample:
        return 0xFFFFFFFF
    mask = 0xFFFFFFFF
    if s.sample_coverage_enabled:
        mask = (1 << math.floor(s.sample_coverage * samples + 0.5)) - 1
        if s.sample_invert:
            mask = ~mask & 0xFFFFFFFF
    if s.sample_mask_enabled:
        mask &= s.sample_mask
    return mask


@entry
def get_multisamplefv(ctx: Context, pname: int, index: int) -> list[float]:
    check_es(ctx, pname, "multisample parameter")
    draw = ctx.framebuffers.draw
    if pname == GL.PROGRAMMABLE_SAMPLE_LOCATION_ARB and ctx.caps.sample_locations:
        if index >= ctx.caps.max_samples:
            raise invalid_value("there are not that many sample locations")
        return list(draw.sample_locations.get(index, (0.5, 0.5)))
    if pname != GL.SAMPLE_POSITION:
        raise invalid_enum(pname, "multisample parameter")
    if index >= draw.samples:
        raise invalid_value("there are not that many samples")
    return list(sample_positions(ctx)[index])


def sample_positions(ctx: Context) -> tuple[tuple[float, float], ...]:
    """The sample positions of the draw framebuffer. In windows they are mirrored, as on Mesa, whose
    windows begin at the top: antialiased edges there have the same pixels.
    """
    draw = ctx.framebuffers.draw
    if draw.programmable_locations:
        return tuple(draw.sample_locations.get(i, (0.5, 0.5)) for i in range(draw.samples))
    patterns = ctx.caps.sample_positions
    found = next((p for p in patterns if len(p) == draw.samples), ((0.5, 0.5),) * draw.samples)
    mirrored = draw.is_window and ctx.caps.sample_locations
    return tuple((x, 1.0 - y) for x, y in found) if mirrored else found


@entry
def hint(ctx: Context, target: int, mode: int) -> None:
    if mode not in (GL.FASTEST, GL.NICEST, GL.DONT_CARE):
        raise invalid_enum(mode, "hint")
    if target not in _HINTS or ctx.profile not in profiles_of(_HINTS[target]):
        raise invalid_enum(target, "hint")
    ctx.hints[target] = mode


# Which profiles have a hint.
_HINTS: dict[int, str] = {
    GL.FRAGMENT_SHADER_DERIVATIVE_HINT: "",
    GL.LINE_SMOOTH_HINT: "desktop",
    GL.POLYGON_SMOOTH_HINT: "desktop",
    GL.TEXTURE_COMPRESSION_HINT: "desktop",
    GL.GENERATE_MIPMAP_HINT: "compat,es",
    GL.PERSPECTIVE_CORRECTION_HINT: "compat",
    GL.POINT_SMOOTH_HINT: "compat",
    GL.FOG_HINT: "compat",
}


@entry
def primitive_bounding_box(
    ctx: Context, x0: float, y0: float, z0: float, w0: float, x1: float, y1: float, z1: float,
    w1: float,
) -> None:  # fmt: skip
    """Promise bounds of primitives; not used here."""
    ctx.raster.bounding_box = (x0, y0, z0, w0, x1, y1, z1, w1)


@entry
def subpixel_precision_bias_nv(ctx: Context, xbits: int, ybits: int) -> None:
    """Add subpixel bits; none can be added here (the limit is 0)."""
    if xbits or ybits:
        raise invalid_value("positions are not snapped to more bits than they are")
    ctx.raster.precision_bias = (xbits, ybits)


register("primitive_bounding_box_arb", primitive_bounding_box)


gets(
    {
        "SHADE_MODEL": lambda c: GL.FLAT if c.raster.flat_shade else GL.SMOOTH,
    },
    profiles="compat",
)
for _hint, _profiles in _HINTS.items():
    gets(
        {GL.name_of(_hint)[3:]: lambda c, h=_hint: c.hints.get(h, GL.DONT_CARE)},  # type: ignore[misc]
        profiles=_profiles,
    )


def _sample_mask_value(ctx: Context, index: int) -> int:
    """The mask as a signed integer, which wider queries extend as Mesa's do."""
    return (ctx.raster.sample_mask ^ 0x80000000) - 0x80000000


gets_indexed(lambda c: 1, {"SAMPLE_MASK_VALUE": _sample_mask_value})


@entry
def patch_parameteri(ctx: Context, pname: int, value: int) -> None:
    if pname != GL.PATCH_VERTICES:
        raise invalid_enum(pname, "patch parameter")
    if not 0 < value <= 32:
        raise invalid_value(f"{value} is not a number of vertices for a patch")
    ctx.raster.patch_vertices = value


@entry
def patch_parameterfv(ctx: Context, pname: int, values: Pointer) -> None:
    """Set the default levels of patches, used without a control shader."""
    levels = ctx.raster.patch_levels
    if pname == GL.PATCH_DEFAULT_OUTER_LEVEL:
        outer = read_array(values, "float", 4)
        ctx.raster.patch_levels = (*map(float, outer), *levels[4:])
    elif pname == GL.PATCH_DEFAULT_INNER_LEVEL:
        inner = read_array(values, "float", 2)
        ctx.raster.patch_levels = (*levels[:4], *map(float, inner))
    else:
        raise invalid_enum(pname, "patch parameter")
