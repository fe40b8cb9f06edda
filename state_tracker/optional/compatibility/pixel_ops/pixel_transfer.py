"""Pixel transfer: scale, bias and lookup tables for pixels passed to and from the GL.

All operations are vectorised over images: colours are float arrays `[..., 4]`, depths and indices
are separate arrays. `transforms_color` is false in the usual case, which costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    buffer_offset,
    read_bytes,
    write_bytes,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import read_bitmap

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Array = npt.NDArray[Any]
MAX_TABLE = 256
_MAPS = (
    "I_TO_I", "S_TO_S", "I_TO_R", "I_TO_G", "I_TO_B", "I_TO_A", "R_TO_R", "G_TO_G", "B_TO_B",
    "A_TO_A",
)  # fmt: skip
_CHANNELS = ("RED", "GREEN", "BLUE", "ALPHA")


class PixelTransfer:
    """GL_RED_SCALE and related parameters, the pixel maps, and the zoom of pixel rectangles."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.scale = [1.0] * 4
        self.bias = [0.0] * 4
        self.depth_scale, self.depth_bias = 1.0, 0.0
        self.map_color = self.map_stencil = False
        self.index_shift = self.index_offset = 0
        self.maps: dict[str, Array] = {name: np.zeros(1, np.float64) for name in _MAPS}
        self.zoom = (1.0, 1.0)

    @property
    def transforms_color(self) -> bool:
        return self.map_color or self.scale != [1.0] * 4 or self.bias != [0.0] * 4

    @property
    def transforms_depth(self) -> bool:
        return self.depth_scale != 1.0 or self.depth_bias != 0.0

    @property
    def transforms_index(self) -> bool:
        return bool(self.index_shift or self.index_offset or self.map_stencil)

    def color(self, rgba: Array) -> Array:
        """Colours scaled, biased and mapped."""
        if not self.transforms_color:
            return rgba
        out = rgba * np.array(self.scale) + np.array(self.bias)
        if self.map_color:
            for i, name in enumerate(("R_TO_R", "G_TO_G", "B_TO_B", "A_TO_A")):
                table = self.maps[name]
                at = np.rint(np.clip(out[..., i], 0.0, 1.0) * (table.size - 1)).astype(np.int64)
                out[..., i] = table[at]
        return np.asarray(out)

    def depth(self, values: Array) -> Array:
        if not self.transforms_depth:
            return values
        return np.asarray(np.clip(values * self.depth_scale + self.depth_bias, 0.0, 1.0))

    def index(self, values: Array, table: str) -> Array:
        """Colour or stencil indices shifted, offset and (if enabled) mapped."""
        shift = self.index_shift
        moved = values.astype(np.int64)
        moved = moved << shift if shift >= 0 else moved >> -shift
        moved = moved + self.index_offset
        on = self.map_stencil if table == "S_TO_S" else self.map_color
        if on:
            found = self.maps[table]
            moved = np.rint(found[moved & (found.size - 1)]).astype(np.int64)
        return np.asarray(moved)

    def index_to_color(self, values: Array) -> Array:
        """Colour indices as RGBA through the I_TO_* tables."""
        moved = self.index(values, "I_TO_I") if not self.map_color else self._shifted(values)
        planes = []
        for name in ("I_TO_R", "I_TO_G", "I_TO_B", "I_TO_A"):
            table = self.maps[name]
            planes.append(table[moved & (table.size - 1)])
        return np.stack(planes, axis=-1)

    def indices_of_bitmap(self, pointer: Pointer, width: int, height: int) -> Any:
        """A bitmap as indices in bytes `[1, height, width, 1]`; None for a null pointer."""
        bits = read_bitmap(self._ctx, pointer, width, height)
        return None if bits is None else bits.astype(np.uint8)[None, :, :, None]

    def _shifted(self, values: Array) -> Array:
        shift = self.index_shift
        moved = values.astype(np.int64)
        moved = moved << shift if shift >= 0 else moved >> -shift
        return np.asarray(moved + self.index_offset)


# -- entry points ----------------------------------------------------------------------------------


@entry
def pixel_zoom(ctx: Context, xfactor: float, yfactor: float) -> None:
    ctx.transfer.zoom = (float(xfactor), float(yfactor))


_NAMES: dict[int, str] = {getattr(GL, f"PIXEL_MAP_{name}"): name for name in _MAPS}


def _map_name(value: int) -> str:
    if value not in _NAMES:
        raise invalid_enum(value, "pixel map")
    return _NAMES[value]


def _is_index(name: str) -> bool:
    return name in ("I_TO_I", "S_TO_S")


def _bytes_in(ctx: Context, pointer: Pointer, size: int, item: int) -> Array | None:
    buffer = ctx.buffers.bound[GL.PIXEL_UNPACK_BUFFER]
    if buffer is None:
        return None if pointer is None else read_bytes(pointer, size)
    offset = buffer_offset(pointer)
    outside = offset < 0 or offset % item or offset + size > buffer.size
    if buffer.blocked or outside:
        raise invalid_operation("the pixel unpack buffer is mapped or too small")
    return np.frombuffer(buffer.read(offset, size), np.uint8)


for _suffix, _dtype, _range in (
    ("fv", "<f4", 1.0), ("uiv", "<u4", 4294967295.0), ("usv", "<u2", 65535.0),
):  # fmt: skip

    def _set_map(
        ctx: Context, map: int, mapsize: int, values: Pointer, dtype: str = _dtype,
        top: float = _range,
    ) -> None:  # fmt: skip
        name = _map_name(map)
        if not 1 <= mapsize <= MAX_TABLE:
            raise invalid_value(f"a pixel map has 1 to {MAX_TABLE} entries")
        if name[0] in "IS" and mapsize & (mapsize - 1):
            raise invalid_value("a map of indices has a power of two entries")
        item = np.dtype(dtype).itemsize
        if isinstance(values, list | tuple):
            raw: Array | None = np.array(values, dtype).view(np.uint8)
        else:
            raw = _bytes_in(ctx, values, mapsize * item, item)
        if raw is None:
            return
        table = raw.view(dtype)[:mapsize].astype(np.float64)
        if not _is_index(name):
            table = np.clip(table / top, 0.0, 1.0)
        ctx.transfer.maps[name] = table

    def _get_map(
        ctx: Context, map: int, values: Any, dtype: str = _dtype, top: float = _range
    ) -> Any:
        return _sized_map(ctx, map, 1 << 30, values, dtype, top)

    def _sized_map(
        ctx: Context, map: int, room: int, values: Any, dtype: str = _dtype, top: float = _range
    ) -> Any:
        name = _map_name(map)
        table = ctx.transfer.maps[name]
        if not _is_index(name):
            table = table * top
        if np.dtype(dtype).kind == "u":
            table = np.rint(np.clip(table, 0, np.iinfo(dtype).max))
        found = table.astype(dtype)
        if found.nbytes > room:
            raise invalid_operation(f"{room} bytes are too few for this map")
        buffer = ctx.buffers.bound[GL.PIXEL_PACK_BUFFER]
        if buffer is not None:
            offset = 0 if values is None or values is OMITTED else int(values)
            if buffer.blocked or offset < 0 or offset + found.nbytes > buffer.size:
                raise invalid_operation("the pixel pack buffer is mapped or too small")
            buffer.write(offset, found.view(np.uint8))
            return None
        if values is OMITTED:
            return found.tobytes()
        if values is not None:
            write_bytes(values, found)
        return None

    register(f"pixel_map{_suffix}", _set_map)
    register(f"get_pixel_map{_suffix}", _get_map)
    register(f"getn_pixel_map{_suffix}", _sized_map)


gets({"MAX_PIXEL_MAP_TABLE": lambda c: MAX_TABLE}, profiles="compat")
gets(
    {
        f"PIXEL_MAP_{name}_SIZE": lambda c, n=name: c.transfer.maps[n].size  # type: ignore[misc]
        for name in _MAPS
    },
    profiles="compat",
)
