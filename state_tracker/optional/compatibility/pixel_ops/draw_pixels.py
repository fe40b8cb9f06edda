"""glDrawPixels, glCopyPixels and glBitmap.

Colours and depths are drawn (`pixel_rectangles`), since all fragment operations apply to them.
Stencil values (alone, or with depth) are written directly: only ownership, scissor and masks apply.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags
from gallette.pipe.state import Box
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.drawing.viewports import scissor_states
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_framebuffer,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import read_bitmap, read_letter
from gallette.state_tracker.pixel_data.convert import as_bytes, decode_client, from_pipe
from gallette.state_tracker.pixel_data.pixel_store import check_pair, read_client
from gallette.state_tracker.pixel_data.pixels import COMPONENTS, INTEGER_FORMATS
from gallette.state_tracker.pixel_data.readback import read_box, read_source
from gallette.state_tracker.targets.framebuffers import Attachment

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Array = npt.NDArray[Any]
_FAR = 1e6  # window coordinates beyond every framebuffer


def _check(ctx: Context, width: int, height: int) -> None:
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    if width < 0 or height < 0:
        raise invalid_value("negative size")
    if ctx.framebuffers.draw.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the draw framebuffer is not complete")


def _origin(ctx: Context) -> tuple[float, float]:
    """The raster position, rounded to whole pixels, as all implementations do."""
    x, y, _, _ = ctx.raster_position.position
    if not (abs(x) < _FAR and abs(y) < _FAR):  # also rejects NaN
        return _FAR, _FAR
    return float(np.floor(x + 0.5)), float(np.floor(y + 0.5))


# -- output ----------------------------------------------------------------------------------------


def _draw_color(ctx: Context, rgba: Array, transfer: bool = True) -> None:
    x, y = _origin(ctx)
    if transfer:
        rgba = ctx.transfer.color(np.asarray(rgba, np.float64))
    drawer = ctx.pixel_drawer
    drawer.draw("color", [drawer.rectangle(rgba, x, y, ctx.transfer.zoom)])


def _draw_depth(ctx: Context, depth: Array) -> None:
    x, y = _origin(ctx)
    values = np.clip(ctx.transfer.depth(depth), 0.0, 1.0)
    drawer = ctx.pixel_drawer
    drawer.draw("depth", [drawer.rectangle(values[..., None], x, y, ctx.transfer.zoom)])


def _zoomed(start: float, count: int, zoom: float, low: int, high: int) -> tuple[int, Array]:
    """First window coordinate and, for each of the covered ones, the source index."""
    ends = sorted((start, start + count * zoom))
    if np.isnan(ends).any():  # an infinite zoom or an invalid raster position: empty
        return low, np.zeros(0, np.int64)
    first = max(int(np.ceil(max(ends[0], low) - 0.5)), low)
    last = min(int(np.ceil(min(ends[1], high) - 0.5)), high)
    centers = np.arange(first, max(last, first)) + 0.5
    index = (centers - start) / zoom if zoom else centers[:0]
    index = np.floor(index) if zoom > 0 else np.ceil(index) - 1  # lower edges are inside
    return first, np.clip(index, 0, max(count - 1, 0)).astype(np.int64)


def _write_stencil(ctx: Context, stencil: Array, depth: Array | None) -> None:
    """Write stencil (and depth) values into the buffer, subject to scissor and masks only."""
    validate(ctx, Dirty.FRAMEBUFFER)
    draw, zoom = ctx.framebuffers.draw, ctx.transfer.zoom
    scissor = scissor_states(ctx)[0]
    x, y = _origin(ctx)
    height, width = stencil.shape
    x0, columns = _zoomed(x, width, zoom[0], scissor.minx, scissor.maxx)
    y0, rows = _zoomed(y, height, zoom[1], scissor.miny, scissor.maxy)
    if not columns.size or not rows.size:
        return
    mask = ctx.fragment.stencil[0].write_mask & 0xFF
    if draw.has("S"):
        chosen = stencil[rows[:, None], columns[None, :]]
        _merge(ctx, draw.attachments["stencil"], x0, y0, chosen, mask)
    if depth is not None and draw.has("Z") and ctx.fragment.depth_mask:
        values = np.clip(ctx.transfer.depth(depth), 0.0, 1.0)[rows[:, None], columns[None, :]]
        _merge_depth(ctx, draw.attachments["depth"], x0, y0, values)


def _box(attachment: Attachment, x: int, y: int, shape: tuple[int, ...]) -> tuple[Any, int, Box]:
    place = attachment.place()
    assert place is not None
    return place[0], place[1], Box(x, y, place[2], shape[1], shape[0], 1)


def _merge(ctx: Context, attachment: Attachment, x: int, y: int, stencil: Array, mask: int) -> None:
    resource, level, box = _box(attachment, x, y, stencil.shape)
    format = attachment.format
    transfer = ctx.pipe.transfer_map(resource, level, MapFlags.READ | MapFlags.WRITE, box)
    raw = codecs.texels(format, np.ascontiguousarray(transfer.data))
    old = codecs.unpack_stencil(format, raw).astype(np.int64)
    merged = (old & ~mask) | (stencil[None].astype(np.int64) & mask)
    out = codecs.texel_bytes(format, codecs.pack_stencil(format, raw, merged & 0xFF))
    transfer.data[...] = out.reshape(transfer.data.shape)
    ctx.pipe.transfer_unmap(transfer)


def _merge_depth(ctx: Context, attachment: Attachment, x: int, y: int, depth: Array) -> None:
    resource, level, box = _box(attachment, x, y, depth.shape)
    format = attachment.format
    transfer = ctx.pipe.transfer_map(resource, level, MapFlags.READ | MapFlags.WRITE, box)
    raw = codecs.texels(format, np.ascontiguousarray(transfer.data))
    channel = next(c for c in format.channels if c.name == "Z")
    if channel.type == "FLOAT":
        raw = codecs.pack_depth(format, raw, depth[None].astype(np.float32))
    else:
        top = (1 << channel.bits) - 1
        bits = np.rint(np.clip(depth[None], 0.0, 1.0) * top).astype(raw.dtype)
        shift, word = raw.dtype.type(channel.shift), raw.dtype.type
        raw = (raw & ~(word(top) << shift)) | (bits << shift)
    out = codecs.texel_bytes(format, raw)
    transfer.data[...] = out.reshape(transfer.data.shape)
    ctx.pipe.transfer_unmap(transfer)


# -- glDrawPixels ----------------------------------------------------------------------------------

_COLORS = {*COMPONENTS} - {GL.COLOR_INDEX, GL.STENCIL_INDEX, GL.DEPTH_STENCIL, GL.DEPTH_COMPONENT}


@entry
def draw_pixels(
    ctx: Context, width: int, height: int, format: int, type: int, pixels: Pointer
) -> None:
    _check(ctx, width, height)
    bitmap = type == GL.BITMAP
    if bitmap:
        if format not in (GL.COLOR_INDEX, GL.STENCIL_INDEX):
            raise invalid_enum(type, "pixel type")
    else:
        check_pair(ctx, format, type)
    draw = ctx.framebuffers.draw
    if format == GL.STENCIL_INDEX and not draw.has("S"):
        raise invalid_operation("there is no stencil buffer")
    if format == GL.DEPTH_COMPONENT and not draw.has("Z"):
        raise invalid_operation("there is no depth buffer")
    if format == GL.DEPTH_STENCIL and not (draw.has("Z") and draw.has("S")):
        raise invalid_operation("there is no depth-stencil buffer")
    if format in INTEGER_FORMATS:
        raise invalid_operation("integer pixels cannot be drawn")
    if not ctx.raster_position.valid or not width or not height:
        return
    if ctx.rendering.draw_pixels():
        return
    if bitmap:
        bits = read_bitmap(ctx, pixels, width, height)
        if bits is None:
            return
        values = np.zeros((height, width, 4))
        values[..., 0 if format == GL.COLOR_INDEX else 1] = bits
    else:
        client = read_client(ctx, format, type, pixels, (width, height, 1), 2)
        if client is None:
            return
        texels = None
        if format in _COLORS and not ctx.transfer.transforms_color:
            texels = as_bytes(format, type, client)
        if texels is not None:
            _draw_color(ctx, texels[0], transfer=False)
            return
        values = decode_client(format, type, client)[0]
    if format == GL.COLOR_INDEX:
        # Scales, biases and maps of colours are for pixels that came as colours.
        _draw_color(ctx, ctx.transfer.index_to_color(values[..., 0]), transfer=False)
    elif format == GL.STENCIL_INDEX:
        _write_stencil(ctx, ctx.transfer.index(values[..., 1], "S_TO_S"), None)
    elif format == GL.DEPTH_STENCIL:
        stencil = ctx.transfer.index(values[..., 1], "S_TO_S")
        _write_stencil(ctx, stencil, np.asarray(values[..., 0], np.float64))
    elif format == GL.DEPTH_COMPONENT:
        _draw_depth(ctx, np.asarray(values[..., 0], np.float64))
    else:
        _draw_color(ctx, values)


# -- glCopyPixels ----------------------------------------------------------------------------------

_SOURCES: dict[int, int] = {
    GL.COLOR: GL.RGBA,
    GL.DEPTH: GL.DEPTH_COMPONENT,
    GL.STENCIL: GL.STENCIL_INDEX,
    GL.DEPTH_STENCIL: GL.DEPTH_STENCIL,
    GL.DEPTH_STENCIL_TO_RGBA_NV: GL.DEPTH_STENCIL,
    GL.DEPTH_STENCIL_TO_BGRA_NV: GL.DEPTH_STENCIL,
}


def _depth_as_color(values: Array, type: int) -> Array:
    """NV_copy_depth_to_color: the bytes of 24-bit depth, the highest first, and stencil."""
    depth = np.rint(values[..., 0] * 0xFFFFFF).astype(np.uint32)
    parts = [(depth >> shift & 0xFF) / 255 for shift in (16, 8, 0)]
    if type == GL.DEPTH_STENCIL_TO_BGRA_NV:
        parts.reverse()
    return np.stack([*parts, values[..., 1] / 255], axis=-1)


def _source_pixels(
    ctx: Context, source: Attachment, x: int, y: int, width: int, height: int
) -> Array:
    """Pixels of an attachment as RGBA or depth and stencil; zeros outside of it."""
    place = source.place()
    assert place is not None
    resource, level, layer, _ = place
    out = np.zeros((height, width, 4))
    fb_width, fb_height = source.size
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + width, fb_width), min(y + height, fb_height)
    if x1 > x0 and y1 > y0:
        rows = read_box(ctx, resource, level, Box(x0, y0, layer, x1 - x0, y1 - y0, 1))
        rgba = np.asarray(from_pipe(source.format, rows)[0], np.float64)
        info = source.info
        if info is not None and info.is_color and "A" not in info.base and info.base != "I":
            rgba[..., 3] = 1.0
        out[y0 - y : y1 - y, x0 - x : x1 - x] = rgba
    return out


@entry
def copy_pixels(ctx: Context, x: int, y: int, width: int, height: int, type: int) -> None:
    if type not in _SOURCES:
        raise invalid_enum(type, "kind of pixels to copy")
    _check(ctx, width, height)
    draw = ctx.framebuffers.draw
    if type == GL.DEPTH_STENCIL:
        if not (draw.has("Z") and draw.has("S")):
            raise invalid_operation("there is no depth-stencil buffer")
    source = read_source(ctx, _SOURCES[type])
    needed = {GL.DEPTH: "Z", GL.STENCIL: "S"}.get(type)
    if needed is not None and not draw.has(needed):
        raise invalid_operation("the draw framebuffer has no such buffer")
    if not ctx.raster_position.valid or not width or not height:
        return
    if ctx.rendering.draw_pixels(copy=True):
        return
    values = _source_pixels(ctx, source, x, y, width, height)
    if type == GL.COLOR:
        _draw_color(ctx, values)
    elif type in (GL.DEPTH_STENCIL_TO_RGBA_NV, GL.DEPTH_STENCIL_TO_BGRA_NV):
        _draw_color(ctx, _depth_as_color(values, type), transfer=False)
    elif type == GL.DEPTH:
        _draw_depth(ctx, values[..., 0])
    else:
        stencil = ctx.transfer.index(values[..., 1], "S_TO_S")
        _write_stencil(ctx, stencil, values[..., 0] if type == GL.DEPTH_STENCIL else None)


# -- glBitmap --------------------------------------------------------------------------------------


_SLACK = 1e-4
"""Tolerance: a raster position may miss a whole number by the transformation's rounding."""


def _whole(place: float) -> float:
    """Rounded down; NumPy takes ten times as long, and knows infinities."""
    return math.floor(place) if abs(place) < _FAR else float(np.floor(place))


@entry
def bitmap(
    ctx: Context, width: int, height: int, xorig: float, yorig: float, xmove: float, ymove: float,
    bitmap: Pointer,
) -> None:  # fmt: skip
    _check(ctx, width, height)
    raster = ctx.raster_position
    if not raster.valid:
        return
    if ctx.rendering.draw_pixels(bitmap=True):
        pass
    elif width and height:
        pixels = read_letter(ctx, bitmap, width, height)
        if pixels is not None:
            x = _whole(raster.position[0] - xorig + _SLACK)
            y = _whole(raster.position[1] - yorig + _SLACK)
            ctx.immediate.bitmap(ctx.pixel_drawer.rectangle(pixels, x, y))
    px, py, pz, pw = raster.position
    raster.position = (px + xmove, py + ymove, pz, pw)
