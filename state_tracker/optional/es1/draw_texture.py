"""OES_draw_texture: a rectangle of the window filled with a part of each bound texture.

The part is the texture's GL_TEXTURE_CROP_RECT_OES. Matrices, lights, clip planes and culling do not
apply; all stages after rasterization do. The rectangle is drawn as a quadrilateral, with temporary
state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_framebuffer, invalid_value
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import implemented, register
from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS, MatrixStack

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


@contextmanager
def _flat_state(ctx: Context, width: int, height: int) -> Iterator[None]:
    """Use window coordinates as positions, with all stages before rasterization disabled."""
    implemented("PushAttrib")(ctx, GL.ALL_ATTRIB_BITS)
    matrices = ctx.matrices
    saved = matrices.modelview, matrices.projection, matrices.texture
    matrices.modelview, matrices.projection = MatrixStack(), MatrixStack()
    matrices.texture = [MatrixStack() for _ in matrices.texture]
    ctx.lighting.enabled = ctx.lighting.color_sum = False
    ctx.lighting.texgen_enabled = [(False,) * 4] * len(ctx.lighting.texgen_enabled)
    ctx.raster.clip_planes_enabled, ctx.raster.cull_enabled = 0, False
    ctx.raster.viewports = [(0.0, 0.0, float(width), float(height))] * len(ctx.raster.viewports)
    ctx.raster.depth_ranges = [(0.0, 1.0)] * len(ctx.raster.depth_ranges)
    ctx.dirty |= Dirty.ALL
    try:
        yield
    finally:
        matrices.modelview, matrices.projection, matrices.texture = saved
        implemented("PopAttrib")(ctx)


def _crops(ctx: Context) -> dict[int, tuple[float, float, float, float]]:
    """Texture coordinates of the corners (left, bottom, right, top) per enabled unit."""
    found = {}
    for index, unit in enumerate(ctx.textures.units[:TEXTURE_UNITS]):
        texture = unit.bound[GL.TEXTURE_2D]
        base = texture.image(0, texture.base_level)
        if GL.TEXTURE_2D in unit.enabled and base is not None and base.width and base.height:
            u, v, w, h = texture.crop_rect
            left, bottom = u / base.width, v / base.height
            found[index] = (left, bottom, left + w / base.width, bottom + h / base.height)
    return found


def _draw(ctx: Context, x: float, y: float, z: float, width: float, height: float) -> None:
    if width <= 0 or height <= 0:
        raise invalid_value("an empty rectangle")
    whole_width, whole_height = ctx.framebuffers.draw.size
    if not (whole_width and whole_height):
        raise invalid_framebuffer("there is nothing to draw into")
    whole_width, whole_height = ctx.framebuffers.draw.size
    if not (whole_width and whole_height):
        raise invalid_framebuffer("there is nothing to draw into")
    near, far = ctx.raster.depth_ranges[0]
    depth = near + min(max(z, 0.0), 1.0) * (far - near)
    crops = _crops(ctx)
    with _flat_state(ctx, whole_width, whole_height):
        implemented("Begin")(ctx, GL.TRIANGLE_STRIP)
        for right, top in ((0, 0), (1, 0), (0, 1), (1, 1)):
            for unit, corners in crops.items():
                s, t = corners[2 * right], corners[1 + 2 * top]
                implemented("MultiTexCoord4f")(ctx, GL.TEXTURE0 + unit, s, t, 0.0, 1.0)
            implemented("Vertex3f")(
                ctx,
                2.0 * (x + right * width) / whole_width - 1.0,
                2.0 * (y + top * height) / whole_height - 1.0,
                2.0 * depth - 1.0,
            )
        implemented("End")(ctx)
        ctx.immediate.draw_pending()


def _vector(gl_type: str, scale: float) -> Any:
    def call(ctx: Context, coords: Pointer) -> None:
        _draw(ctx, *(v / scale for v in read_array(coords, gl_type, 5).tolist()))

    return call


for _letter, _gl_type, _scale in (
    ("s", "short", 1.0), ("i", "int", 1.0), ("f", "float", 1.0), ("x", "fixed", 65536.0)
):  # fmt: skip
    register(
        FUNCTIONS[f"DrawTex{_letter}OES"].method,
        lambda ctx, *args, scale=_scale: _draw(ctx, *(a / scale for a in args)),
    )
    register(FUNCTIONS[f"DrawTex{_letter}vOES"].method, _vector(_gl_type, _scale))
