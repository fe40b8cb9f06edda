"""The capabilities of fixed function that glEnable does not find in the table: lights, textures,
texture coordinate generation, client arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.enables import switches
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.optional.compatibility.client_arrays import ARRAYS, slot_of_array
from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS, coordinate_unit

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


@contextmanager
def _unit(ctx: Context, index: int) -> Iterator[None]:
    """Select a unit: EXT_direct_state_access indexes the enables of texture units."""
    if not 0 <= index < TEXTURE_UNITS:
        raise invalid_value(f"fixed function has {TEXTURE_UNITS} texture units")
    saved, ctx.textures.active = ctx.textures.active, index
    try:
        yield
    finally:
        ctx.textures.active = saved


def _of_units(
    name: str, read: Callable[[Context], bool], write: Callable[[Context, bool], None]
) -> None:
    """Declare a capability of the active texture unit, and of a unit by its index."""

    def read_at(ctx: Context, index: int) -> bool:
        with _unit(ctx, index):
            return read(ctx)

    def write_at(ctx: Context, index: int, on: bool) -> None:
        with _unit(ctx, index):
            write(ctx, on)

    switches(name, read, write, "compat", (read_at, write_at))


def _texture(name: str) -> None:
    target = int(getattr(GL, name))

    def write(ctx: Context, on: bool) -> None:
        if ctx.textures.active >= TEXTURE_UNITS:
            raise invalid_operation(f"fixed function has {TEXTURE_UNITS} texture units")
        unit = ctx.textures.unit
        if (target in unit.enabled) == on:
            return
        unit.enabled = unit.enabled | {target} if on else unit.enabled - {target}
        ctx.dirty |= Dirty.BUILTINS | Dirty.PROGRAM

    _of_units(name, lambda ctx: target in ctx.textures.unit.enabled, write)


def _generation(number: int, name: str) -> None:
    def read(ctx: Context) -> bool:
        on: bool = ctx.lighting.texgen_enabled[coordinate_unit(ctx)][number]
        return on

    def write(ctx: Context, on: bool) -> None:
        rows, unit = ctx.lighting.texgen_enabled, coordinate_unit(ctx)
        if rows[unit][number] == on:
            return
        rows[unit] = (*rows[unit][:number], on, *rows[unit][number + 1 :])
        ctx.dirty |= Dirty.BUILTINS

    _of_units(name, read, write)


def _light(number: int) -> None:
    def read(ctx: Context) -> bool:
        on: bool = ctx.lighting.lights[number].enabled
        return on

    def write(ctx: Context, on: bool) -> None:
        light = ctx.lighting.lights[number]
        if light.enabled != on:
            light.enabled = on
            ctx.dirty |= Dirty.BUILTINS

    switches(f"LIGHT{number}", read, write, "compat")


def _array(name: str) -> None:
    array = int(getattr(GL, name))

    def slot(ctx: Context) -> int:
        found = slot_of_array(ctx, array)
        if found is None:
            raise invalid_enum(array, "capability")
        return found

    def read(ctx: Context) -> bool:
        on: bool = ctx.arrays.current.attribs[slot(ctx)].enabled
        return on

    def write(ctx: Context, on: bool) -> None:
        ctx.arrays.current.attribs[slot(ctx)].enabled = on
        ctx.arrays.current.changed()

    switches(name, read, write, "compat")


def _restarts(ctx: Context) -> bool:
    on: bool = ctx.raster.primitive_restart
    return on


def _no_switch(ctx: Context, on: bool) -> None:
    raise invalid_enum(GL.PRIMITIVE_RESTART_NV, "capability")  # glEnableClientState sets it


for _name in ("1D", "2D", "3D", "CUBE_MAP", "RECTANGLE"):
    _texture(f"TEXTURE_{_name}")
for _number, _coordinate in enumerate("STRQ"):
    _generation(_number, f"TEXTURE_GEN_{_coordinate}")
for _number in range(8):
    _light(_number)
for _name in ARRAYS:
    _array(f"{_name}_ARRAY")
switches(
    "COLOR_MATERIAL",
    lambda ctx: ctx.lighting.color_material_enabled,
    lambda ctx, on: ctx.lighting.track_color(ctx),
    "compat",
)
switches("PRIMITIVE_RESTART_NV", _restarts, _no_switch, "compat")
