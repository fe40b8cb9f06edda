"""Variables and parameters: named pieces of storage."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.modes import Access, Mode
from gallette.compiler.nir.ir.types import Type


@lazy_dataclass(eq=False)
class Variable:
    """A named piece of storage.

    `location` is a slot (`VertAttrib`, `VaryingSlot`, `FragResult`, `SystemValue`) for inputs,
    outputs and system values; `offset` a byte offset for uniforms of the default block; `binding`
    a buffer binding or texture unit; `index` the dual-source index of a fragment output.
    `constant_initializer` is nested tuples shaped like the type (array elements, members, matrix
    columns), raw bits for each component at the bottom: a scalar is `(bits,)`.
    `packed` varyings fill 32-bit components without gaps, across slots, from `component` on.
    """

    name: str
    type: Type
    mode: Mode
    location: int = -1
    component: int = 0
    driver_location: int = -1
    binding: int = -1
    explicit_binding: bool = False
    index: int = 0
    offset: int = -1
    interpolation: str = "none"
    centroid: bool = False
    sample: bool = False
    patch: bool = False
    invariant: bool = False
    precise: bool = False
    explicit_location: bool = False
    constant_initializer: Any = None
    interface: Type | None = None
    interface_name: str = ""
    access: Access = Access.NONE
    image_format: str = ""
    precision: str = ""
    stream: int = 0
    xfb_buffer: int = -1
    xfb_offset: int = -1
    xfb_stride: int = -1
    builtin: str = ""
    per_vertex: bool = False
    packed: bool = False

    def copy(self, **changes: Any) -> Variable:
        """A copy of this variable with some attributes replaced."""
        new = object.__new__(Variable)
        for name in _FIELDS:
            setattr(new, name, getattr(self, name))
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def __repr__(self) -> str:
        return f"<{self.mode.text} {self.type} {self.name}>"


_FIELDS = tuple(field.name for field in fields(Variable))


@lazy_dataclass()
class Parameter:
    """A function parameter: a value, or (with `is_deref`) a pointer to a variable of `type`."""

    name: str
    type: Type
    is_deref: bool = False
    num_components: int = 1
    bit_size: int = 32

    def copy(self) -> Parameter:
        return replace(self)
