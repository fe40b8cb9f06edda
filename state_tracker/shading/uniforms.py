"""glUniform* and glProgramUniform*: the families, generated, and glGetUniform*."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    bytes_at,
    read_array,
    write_bytes,
)
from gallette.state_tracker.entry_points.memory import dtype_of as gl_dtype
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.shading.programs import Executable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.uniform_storage import Slot

# suffix, GL type, struct letter, end of the name
_TYPES = (
    ("f", "float", "f", ""),
    ("i", "int", "i", ""),
    ("ui", "uint", "I", ""),
    ("d", "double", "d", ""),
    ("i64", "int64", "q", "_arb"),
    ("ui64", "uint64", "Q", "_arb"),
)


def in_use(ctx: Context) -> Executable:
    """The program whose uniforms glUniform* sets."""
    executable = ctx.programs.executable
    pipeline = ctx.pipelines.current
    if ctx.programs.current is None and pipeline is not None and pipeline.active is not None:
        executable = pipeline.active.executable
    if executable is None:
        raise invalid_operation("no program is in use")
    return executable


def linked(ctx: Context, name: int) -> Executable:
    """The program of that name, which must be linked."""
    return ctx.programs.program(name).require_linked()


_UNITS = Dirty.TEXTURES | Dirty.IMAGES | Dirty.CONSTANTS  # a handle may replace a unit


def _touch(ctx: Context, executable: Executable, units: bool) -> None:
    if executable in ctx.programs.stages.values():
        ctx.dirty |= _UNITS if units else Dirty.CONSTANTS


def _set_values(
    ctx: Context, executable: Executable, location: int, letter: str, values: tuple[Any, ...]
) -> None:
    storage = executable.uniforms
    if location in storage.ignored:
        return
    units = storage.set_one(storage.slot(location), letter, values)
    _touch(ctx, executable, units)


def _useful(slot: Slot, count: int) -> int:
    """The number of values to read: two suffice to detect that there are too many."""
    return min(count, slot.remaining if slot.uniform.array_size else 2)


def _set_array(
    ctx: Context, executable: Executable, location: int, count: int, value: Pointer,
    components: int, gl_type: str, letter: str,
) -> None:  # fmt: skip
    if count < 0:
        raise invalid_value("negative count")
    storage = executable.uniforms
    if location in storage.ignored:
        return
    slot = storage.slot(location)
    if count == 1 and type(value) is int and slot.copies(letter, components, 1):
        storage.copy(slot, value)
        _touch(ctx, executable, False)
        return
    count = _useful(slot, count)
    array = read_array(value, gl_type, count * components).reshape(count, components)
    _touch(ctx, executable, storage.set_vectors(slot, letter, array))


def _set_matrices(
    ctx: Context, executable: Executable, location: int, count: int, transpose: int,
    value: Pointer, columns: int, rows: int, gl_type: str, suffix: str,
) -> None:  # fmt: skip
    if count < 0:
        raise invalid_value("negative count")
    storage = executable.uniforms
    if location in storage.ignored:
        return
    slot = storage.slot(location)
    if count == 1 and type(value) is int and not transpose and slot.copies(suffix, rows, columns):
        storage.copy(slot, value)
        _touch(ctx, executable, False)
        return
    count = _useful(slot, count)
    shape = (count, rows, columns) if transpose else (count, columns, rows)
    array = read_array(value, gl_type, count * columns * rows).reshape(shape)
    storage.set_matrices(slot, suffix, array, bool(transpose))
    _touch(ctx, executable, False)


def _copied(
    ctx: Context, location: int, letter: str, components: int, address: int, columns: int = 1
) -> bool:
    """Copy one value to the program in use from C memory: the fast path of per-frame uniforms.

    False if the general path is needed.
    """
    executable = ctx.programs.executable
    if executable is None:
        return False
    storage = executable.uniforms
    found = storage.straight.get((location, letter, components, columns))
    if found is None:
        return False
    at, end, size = found
    storage.data[at:end] = bytes_at(address, size)
    ctx.dirty |= Dirty.CONSTANTS
    return True


def _run_copied(
    ctx: Context, location: int, count: int, letter: str, components: int, address: int
) -> bool:
    """Copy several consecutive elements of an array from C memory."""
    executable = ctx.programs.executable
    if executable is None or count < 2:
        return False
    storage = executable.uniforms
    found = storage.runs.get((location, letter, components))
    if found is None:
        return False
    at, size, remaining = found
    length = min(count, remaining) * size
    storage.data[at : at + length] = bytes_at(address, length)
    ctx.dirty |= Dirty.CONSTANTS
    return True


def _vector_family(components: int, suffix: str, gl_type: str, letter: str, end: str) -> None:
    def by_use(ctx: Context, location: int, *values: Any) -> None:
        _set_values(ctx, in_use(ctx), location, letter, values)

    def by_name(ctx: Context, program: int, location: int, *values: Any) -> None:
        _set_values(ctx, linked(ctx, program), location, letter, values)

    def array_by_use(ctx: Context, location: int, count: int, value: Pointer) -> None:
        if type(value) is int:
            if count == 1 and _copied(ctx, location, letter, components, value):
                return
            if _run_copied(ctx, location, count, letter, components, value):
                return
        _set_array(ctx, in_use(ctx), location, count, value, components, gl_type, letter)

    def array_by_name(
        ctx: Context, program: int, location: int, count: int, value: Pointer
    ) -> None:
        executable = linked(ctx, program)
        _set_array(ctx, executable, location, count, value, components, gl_type, letter)

    register(f"uniform{components}{suffix}{end}", by_use)
    register(f"program_uniform{components}{suffix}{end}", by_name)
    register(f"uniform{components}{suffix}v{end}", array_by_use)
    register(f"program_uniform{components}{suffix}v{end}", array_by_name)


def _matrix_family(columns: int, rows: int, suffix: str, gl_type: str) -> None:
    shape = str(columns) if columns == rows else f"{columns}x{rows}"

    def by_use(ctx: Context, location: int, count: int, transpose: int, value: Pointer) -> None:
        if count == 1 and type(value) is int and not transpose:
            if _copied(ctx, location, suffix, rows, value, columns):
                return
        executable = in_use(ctx)
        _set_matrices(
            ctx, executable, location, count, transpose, value, columns, rows, gl_type, suffix
        )

    def by_name(
        ctx: Context, program: int, location: int, count: int, transpose: int, value: Pointer
    ) -> None:
        executable = linked(ctx, program)
        _set_matrices(
            ctx, executable, location, count, transpose, value, columns, rows, gl_type, suffix
        )

    register(f"uniform_matrix{shape}{suffix}v", by_use)
    register(f"program_uniform_matrix{shape}{suffix}v", by_name)


for _suffix, _gl_type, _letter, _end in _TYPES:
    for _components in (1, 2, 3, 4):
        _vector_family(_components, _suffix, _gl_type, _letter, _end)
for _columns, _rows in itertools.product((2, 3, 4), repeat=2):
    _matrix_family(_columns, _rows, "f", "float")
    _matrix_family(_columns, _rows, "d", "double")


def _get(ctx: Context, program: int, location: int) -> list[Any]:
    storage = ctx.programs.program(program).require_linked().uniforms
    return storage.get(storage.slot(location))


def _whole(convert: Callable[[Any], float]) -> Any:
    """glGetUniform*: return every component."""

    def call(ctx: Context, program: int, location: int) -> list[float]:
        return [convert(v) for v in _get(ctx, program, location)]

    return call


def _nearest(gl_type: str) -> Callable[[Any], int]:
    """Round to the nearest number of an integer type; NaN becomes 0."""
    info = np.iinfo(gl_dtype(gl_type))
    least, most = int(info.min), int(info.max)

    def convert(value: Any) -> int:
        if isinstance(value, float):
            if not math.isfinite(value):
                return 0 if value != value else most if value > 0 else least
            value = math.floor(value + 0.5) if value >= 0 else -math.floor(0.5 - value)
        return max(least, min(most, int(value)))

    return convert


def _bounded(gl_type: str, convert: Any) -> Any:
    """glGetnUniform*: return every component, with a size limit in bytes."""

    def call(ctx: Context, program: int, location: int, room: int, params: Any) -> bytes | None:
        found = [convert(v) for v in _get(ctx, program, location)]
        with np.errstate(over="ignore"):  # doubles beyond floats are infinite there
            values = np.array(found, gl_dtype(gl_type))
        if values.nbytes > room:
            raise invalid_operation(f"{room} bytes are too few for this uniform")
        if params is OMITTED:
            return values.tobytes()
        write_bytes(params, values)
        return None

    return call


for _name, _gl_type, _convert in (
    ("fv", "float", float),
    ("iv", "int", _nearest("int")),
    ("uiv", "uint", _nearest("uint")),
    ("dv", "double", float),
    ("i64v_arb", "int64", _nearest("int64")),
    ("ui64v_arb", "uint64", _nearest("uint64")),
):
    register(f"get_uniform{_name}", _whole(_convert))
    register(f"getn_uniform{_name}", _bounded(_gl_type, _convert))
