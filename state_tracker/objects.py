"""GL objects: names, reference counts, and the tables that map names to objects.

Deleting a GL object frees its *name* at once; the object itself lives on while references (an
attachment, a binding) remain. So every object counts its references; the name table holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Generic, Self, TypeVar

from gallette.compiler.gc_pause import gc_paused
from gallette.state_tracker.entry_points.count_limits import MOST_NAMES, MOST_OBJECTS, check_count
from gallette.state_tracker.entry_points.errors import (
    invalid_operation,
    invalid_value,
    out_of_memory,
)


class GLObject:
    """Base of every object with a GL name. `destroy` runs when the last reference is released."""

    kind = "object"

    def __init__(self, name: int):
        self.name = name
        self.refs = 1
        self.label = ""
        self.deleted = False

    def retain(self) -> Self:
        self.refs += 1
        return self

    def release(self) -> None:
        self.refs -= 1
        if self.refs == 0:
            self.destroy()

    def destroy(self) -> None:
        """Delete the driver objects; called once only."""

    def __repr__(self) -> str:
        label = f" {self.label!r}" if self.label else ""
        return f"<{self.kind} {self.name}{label}>"


T = TypeVar("T", bound=GLObject)


def swap(old: T | None, new: T | None) -> T | None:
    """Replace a reference in its holder: `holder.x = swap(holder.x, new)`."""
    if new is not None:
        new.retain()
    if old is not None:
        old.release()
    return new


class NameTable(Generic[T]):
    """Names of one kind of object. A generated name has no object until it is first bound."""

    def __init__(self, kind: str):
        self.kind = kind
        self._objects: dict[int, T | None] = {}
        self._next = 1

    def generate(self, count: int) -> list[int]:
        """`count` unused names, reserved from now on."""
        if count < 0:
            raise invalid_value(f"a negative number of {self.kind} names")
        check_count(count, MOST_NAMES, f"{self.kind} names")
        names = []
        for _ in range(count):
            while self._next in self._objects:
                self._next += 1
            self._objects[self._next] = None
            names.append(self._next)
            self._next += 1
        return names

    @gc_paused
    def create(self, count: int, create: Callable[[int], T]) -> list[int]:
        """Create `count` new objects; returns their names."""
        check_count(count, MOST_OBJECTS, f"{self.kind} objects")
        names = self.generate(count)
        for name in names:
            self.bind(name, create, True)
        return names

    def reserve_block(self, count: int) -> int:
        """The first of `count` consecutive unused names, reserved from now on."""
        check_count(count, MOST_NAMES, f"{self.kind} names")
        first = max(self._objects, default=0) + 1
        if first + count > 1 << 32:  # a name near the end is taken: use the first gap
            taken = [0, *sorted(self._objects)]
            gaps = (a + 1 for a, b in pairwise(taken) if b - a > count)
            first = next(gaps, 0)
            if not first:
                raise out_of_memory(f"no {count} consecutive {self.kind} names are unused")
        for name in range(first, first + count):
            self._objects[name] = None
        return first

    def get(self, name: int) -> T | None:
        """The object of that name, None if the name is unused or was never bound."""
        return self._objects.get(name)

    def require(self, name: int) -> T:
        """The object of that name; INVALID_OPERATION if it does not exist."""
        found = self._objects.get(name)
        if found is None:
            raise invalid_operation(f"{name} is not the name of a {self.kind}")
        return found

    def is_reserved(self, name: int) -> bool:
        return name in self._objects

    def bind(self, name: int, create: Callable[[int], T], reserved_only: bool) -> T:
        """The object of that name, created on first use.

        Core profiles only accept names that `generate` returned (`reserved_only`).
        """
        found = self._objects.get(name)
        if found is None:
            if reserved_only and name not in self._objects:
                raise invalid_operation(f"{name} was not generated as the name of a {self.kind}")
            found = create(name)
            self._objects[name] = found
        return found

    def add(self, create: Callable[[int], T]) -> T:
        """Create an object under a new name."""
        (name,) = self.generate(1)
        created = create(name)
        self._objects[name] = created
        return created

    def pop(self, name: int) -> T | None:
        """Free the name; the caller takes over the table's reference."""
        if name == 0:
            return None
        found = self._objects.pop(name, None)
        if name < self._next:
            self._next = name
        if found is not None:
            found.deleted = True
        return found

    def __iter__(self) -> Iterator[int]:
        """Iterate over every name in use, with or without an object."""
        return iter(self._objects)

    def values(self) -> Iterator[T]:
        return iter([o for o in self._objects.values() if o is not None])

    def clear(self) -> None:
        """Free every name, at the end of a context."""
        for found in list(self.values()):
            found.deleted = True
            found.release()
        self._objects.clear()
