"""The values of a program's uniforms, in the layout in which shaders read them.

The default block is one `bytearray` in the linker's layout; opaque uniforms (samplers, images) are
separate lists of units. Locations map to (uniform, array element).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.types import Base, Type
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.memory import bytes_at

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context

_KINDS: dict[Base, str] = {
    Base.FLOAT: "f",
    Base.DOUBLE: "d",
    Base.INT: "i",
    Base.UINT: "I",
    Base.BOOL: "b",
    Base.INT64: "q",
    Base.UINT64: "Q",
}
_DTYPES = {"f": "f4", "d": "f8", "i": "i4", "I": "u4", "q": "i8", "Q": "u8"}


NO_UNIT = -1
"""In place of a unit: the uniform was set to a handle."""


def element_count(uniform: Uniform) -> int:
    """The number of array elements of a uniform: 1 if it is not an array."""
    return max(1, uniform.array_size)


def numeric_kind(type: Type) -> str:
    """The struct letter of a type's components, "b" for bool, "" for opaque types."""
    return _KINDS.get(type.base, "")


@lazy_dataclass(frozen=True)
class Slot:
    """The uniform and element of a location, with precomputed data for setting it."""

    index: int
    uniform: Uniform
    element: int
    kind: str
    components: int
    columns: int
    offset: int  # of this element in the default block
    remaining: int  # elements from this one to the end
    pieces: tuple[tuple[int, int, int], ...] = ()  # bytes to copy: from, to, size

    def copies(self, kind: str, components: int, columns: int) -> bool:
        """Whether a value of that type in C memory can be copied unchanged."""
        return bool(
            self.kind == kind
            and self.components == components
            and self.columns == columns
            and self.pieces
        )


def _pieces(
    uniform: Uniform, letter: str, kind: Type, offset: int
) -> tuple[tuple[int, int, int], ...]:
    """The pieces of one tightly packed C value in the layout's columns; empty if it needs
    conversion.
    """
    if letter not in _DTYPES or uniform.row_major:
        return ()
    unit = np.dtype(_DTYPES[letter]).itemsize
    if not kind.is_matrix:
        return ((0, offset, unit * kind.rows),)
    column, stride = unit * kind.rows, uniform.matrix_stride
    if column == stride:
        return ((0, offset, column * kind.columns),)
    return tuple((i * column, offset + i * stride, column) for i in range(kind.columns))


class UniformStorage:
    """Uniform values of one executable."""

    def __init__(self, linked: LinkedProgram, ctx: Context):
        self.linked = linked
        self.data = bytearray(max(linked.default_block_size, 16))
        initial = linked.default_block_initial
        self.data[: len(initial)] = initial
        self.units: dict[int, list[int]] = {}
        self.slots: dict[int, Slot] = {}
        self.straight: dict[tuple[int, str, int, int], tuple[int, int, int]] = {}
        """By location, kind, components and columns: the destination of one value copied
        unchanged.
        """
        self.runs: dict[tuple[int, str, int], tuple[int, int, int]] = {}
        """By location, kind and components: for elements laid out as in C: offset, size, count."""
        self.ignored = linked.inactive_locations | {-1}
        self.max_units = ctx.limits.max_combined_texture_units
        self.max_image_units = ctx.limits.glsl_limits.max_image_units
        self.sets_images = ctx.profiles != ("es",)
        self.handles = ctx.group.handles
        for index, uniform in enumerate(linked.uniforms):
            self._place(index, uniform)

    def _place(self, index: int, uniform: Uniform) -> None:
        kind = uniform.type.without_array
        count = element_count(uniform)
        if kind.is_opaque:
            first, step = (uniform.binding, 1) if uniform.binding >= 0 else (0, 0)
            self.units[index] = [first + step * i for i in range(count)]
            if uniform.is_handle:
                for i, unit in enumerate(self.units[index]):
                    self._tell(uniform, i, self.handles.of_unit(kind, unit))
        if uniform.location < 0:
            return
        letter = numeric_kind(kind)
        for element in range(count):
            offset = max(uniform.offset, 0) + element * uniform.array_stride
            location = uniform.location + element
            self.slots[location] = slot = Slot(
                index,
                uniform,
                element,
                letter,
                kind.rows if not kind.is_opaque else 1,
                kind.columns if kind.is_matrix else 1,
                offset,
                count - element,
                _pieces(uniform, letter, kind, offset),
            )
            if len(slot.pieces) == 1:
                _, at, size = slot.pieces[0]
                key = location, letter, slot.components, slot.columns
                self.straight[key] = at, at + size, size
                if uniform.array_size and uniform.array_stride == size and slot.columns == 1:
                    self.runs[location, letter, slot.components] = at, size, slot.remaining

    def copy(self, slot: Slot, address: int) -> None:
        """Copy one value from C memory: the fast path of per-frame uniforms."""
        data = self.data
        for source, target, size in slot.pieces:
            data[target : target + size] = bytes_at(address + source, size)

    def slot(self, location: int) -> Slot:
        found = self.slots.get(location)
        if found is None:
            raise invalid_operation(f"{location} is not a uniform location of this program")
        return found

    # -- setting ---------------------------------------------------------------------------------

    def set_one(self, slot: Slot, given: str, values: tuple[Any, ...]) -> bool:
        """Set one scalar or vector from numbers; true if a unit (not a value) changed."""
        kind = slot.kind
        if not kind:
            return self._set_units(slot, given, len(values), values[:1])
        if slot.components != len(values) or slot.columns != 1:
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        if kind == "b":
            if given == "d":
                raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
            values, kind = tuple(int(v != 0) for v in values), "I"
        elif kind != given:
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        elif kind in "iI":
            mask = 0xFFFFFFFF
            values, kind = tuple(int(v) & mask for v in values), "I"
        try:
            struct.pack_into(f"<{len(values)}{kind}", self.data, slot.offset, *values)
        except OverflowError:  # a double beyond float's range becomes infinity, as in C
            with np.errstate(over="ignore"):
                raw = np.array(values, np.float32).tobytes()
            self.data[slot.offset : slot.offset + len(raw)] = raw
        return False

    def set_vectors(self, slot: Slot, given: str, array: npt.NDArray[Any]) -> bool:
        """Set several scalars or vectors, `[count, components]`."""
        count, components = array.shape
        if count > 1 and not slot.uniform.array_size:
            raise invalid_operation(f"{slot.uniform.name} is not an array")
        array = array[: slot.remaining]
        if not slot.kind:
            return self._set_units(slot, given, components, array[:, 0].tolist())
        if slot.components != components or slot.columns != 1:
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        if slot.kind == "b":
            if given == "d":
                raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
            array = (array != 0).astype("u4")
        elif slot.kind != given:
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        self._store(slot.offset, slot.uniform.array_stride, array)
        return False

    def set_matrices(
        self, slot: Slot, given: str, array: npt.NDArray[Any], transpose: bool
    ) -> None:
        """Set several matrices, `[count, columns, rows]` (rows and columns swapped if
        transposed).
        """
        if slot.kind != given or slot.columns == 1:
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        if transpose:
            array = array.swapaxes(1, 2)
        count, columns, rows = array.shape
        if (columns, rows) != (slot.columns, slot.components):
            raise invalid_operation(f"{slot.uniform.name} is a {slot.uniform.type}")
        if count > 1 and not slot.uniform.array_size:
            raise invalid_operation(f"{slot.uniform.name} is not an array")
        array = array[: slot.remaining]
        if slot.uniform.row_major:
            array = array.swapaxes(1, 2)
        stride = slot.uniform.array_stride
        for i, matrix in enumerate(array):
            self._store(slot.offset + i * stride, slot.uniform.matrix_stride, matrix)

    def _store(self, offset: int, stride: int, rows: npt.NDArray[Any]) -> None:
        """Store rows of packed components, `stride` bytes apart."""
        if not len(rows):
            return
        raw = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
        size = raw.shape[1]
        if len(raw) == 1 or stride == size:
            self.data[offset : offset + raw.size] = raw.tobytes()
            return
        for i, row in enumerate(raw):
            at = offset + i * stride
            self.data[at : at + size] = row.tobytes()

    def _set_units(self, slot: Slot, given: str, components: int, values: Sequence[int]) -> bool:
        if given != "i" or components != 1:
            raise invalid_operation(f"{slot.uniform.name} is set with glUniform1i")
        of_image = slot.uniform.type.without_array.is_image
        if of_image and not self.sets_images:
            raise invalid_operation("the unit of an image is part of the shader in OpenGL ES")
        most = self.max_image_units if of_image else self.max_units
        for value in values:
            if not 0 <= value < most:
                raise invalid_value(f"there is no unit {value}")
        units = self.units[slot.index]
        units[slot.element : slot.element + len(values)] = values
        if slot.uniform.is_handle:
            for i, unit in enumerate(values, slot.element):
                kind = slot.uniform.type.without_array
                self._tell(slot.uniform, i, self.handles.of_unit(kind, unit))
        return True

    def set_handles(self, slot: Slot, values: Sequence[int]) -> None:
        """Set handles of an opaque uniform that accepts them, and of its array's next elements."""
        uniform = slot.uniform
        if not uniform.is_handle:
            raise invalid_operation(f"{uniform.name} is not a bindless sampler or image")
        if len(values) > 1 and not uniform.array_size:
            raise invalid_operation(f"{uniform.name} is not an array")
        for i, value in enumerate(values[: slot.remaining], slot.element):
            self.units[slot.index][i] = NO_UNIT
            self._tell(uniform, i, value)

    def _tell(self, uniform: Uniform, element: int, handle: int) -> None:
        at = uniform.offset + element * uniform.array_stride
        struct.pack_into("<Q", self.data, at, handle)

    # -- getting ---------------------------------------------------------------------------------

    def get(self, slot: Slot) -> list[Any]:
        """The components of one element, column-major."""
        if not slot.kind:
            unit = self.units[slot.index][slot.element]
            if unit == NO_UNIT:
                return list(struct.unpack_from("<Q", self.data, slot.offset))
            return [unit]
        letter = "I" if slot.kind == "b" else slot.kind
        dtype = np.dtype("<" + _DTYPES[letter])
        values: list[Any] = []
        uniform, outer, inner = slot.uniform, slot.columns, slot.components
        if uniform.row_major and slot.columns > 1:
            outer, inner = inner, outer
        for line in range(outer):
            at = slot.offset + line * uniform.matrix_stride
            raw = self.data[at : at + inner * dtype.itemsize]
            values.append(np.frombuffer(bytes(raw), dtype))
        matrix = np.array(values)
        if uniform.row_major and slot.columns > 1:
            matrix = matrix.T
        return [v.item() for v in matrix.reshape(-1)]
