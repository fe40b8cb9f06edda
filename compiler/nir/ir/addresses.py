"""Address formats: how a driver represents a pointer, per kind of memory.

A format is a shape (components and bits) and a rule for accessing memory at an address.
`AddressModel` has the format of each mode; a pointer that may point into several kinds of memory
has the *generic* format.
"""

from __future__ import annotations

from collections.abc import Mapping

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Mode


@lazy_dataclass(frozen=True)
class AddressFormat:
    """One representation of a pointer."""

    name: str
    components: int
    bits: int
    doc: str


FORMATS = {
    f.name: f
    for f in (
        AddressFormat("offset32", 1, 32, "a byte offset into the one memory of the mode"),
        AddressFormat("index_offset32", 2, 32, "buffer number, byte offset"),
        AddressFormat("global64", 1, 64, "a 64-bit address"),
        AddressFormat("bounded64", 4, 32, "64-bit base (low, high), size, byte offset"),
        AddressFormat("generic62", 1, 64, "space in the top two bits, 62-bit address or offset"),
        AddressFormat("fat", 3, 32, "space, buffer number, byte offset"),
    )
}
SPACES = {Mode.GLOBAL: 0, Mode.SHARED: 1, Mode.FUNCTION_TEMP: 2}
"""The space of a generic pointer: top two bits of `generic62`, first component of `fat`."""


@lazy_dataclass(frozen=True)
class AddressModel:
    """A driver's table *mode -> format*, and the format of pointers of several modes."""

    formats: Mapping[Mode, str] = field(
        default_factory=lambda: {
            Mode.GLOBAL: "global64",
            Mode.SHARED: "offset32",
            Mode.FUNCTION_TEMP: "offset32",
        }
    )
    generic: str = "generic62"

    def of(self, modes: int) -> AddressFormat:
        """The format of a pointer into any of `modes`."""
        for mode, name in self.formats.items():
            if modes == mode:
                return FORMATS[name]
        return FORMATS[self.generic]

    @classmethod
    def parse(cls, text: str) -> AddressModel:
        """From `global=global64 shared=offset32 generic=generic62`."""
        formats = dict(cls().formats)
        generic = cls().generic
        for item in text.split():
            name, _, value = item.partition("=")
            if value not in FORMATS:
                raise ValueError(f"no address format is called {value!r}")
            if name == "generic":
                generic = value
            else:
                formats[Mode.parse(name)] = value
        return cls(formats, generic)
