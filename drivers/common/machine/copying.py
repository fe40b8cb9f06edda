"""Copying of objects with slots, such as the instructions of all machines."""

from __future__ import annotations

from typing import Self

__all__ = ["Copied"]


class Copied:
    """A slotted class whose objects can be copied, field by field."""

    __slots__: tuple[str, ...] = ()

    def copy(self) -> Self:
        made = object.__new__(type(self))
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        return made
