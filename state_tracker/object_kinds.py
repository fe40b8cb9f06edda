"""Kinds of objects: the functions that create, query and delete names and objects.

A topic declares with `objects` where the names of a kind are, how an object is created and where it
is bound; glGen*, glCreate*, glIs* and glDelete* and the kind's labels follow from that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.errors import invalid_value
from gallette.state_tracker.entry_points.memory import Pointer, read_names
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.objects import NameTable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


@lazy_dataclass(frozen=True)
class Kind:
    """Where the objects of one kind are stored, and how they are created and deleted."""

    names: Callable[[Context], NameTable[Any]]
    create: Callable[[Context, int], Any] | None
    """makes the object of a name; None: its topic has a glCreate* of its own"""
    unbind: Callable[[Context, Any], None]
    """takes an object that is deleted away from where this context has bound it"""
    check: Callable[[Context, Any], None] | None
    """raises if the object may not be deleted"""

    def generate(self, ctx: Context, n: int) -> list[int]:
        return self.names(ctx).generate(n)

    def make(self, ctx: Context, n: int) -> list[int]:
        create = self.create
        assert create is not None
        return self.names(ctx).create(n, lambda name: create(ctx, name))

    def is_there(self, ctx: Context, name: int) -> int:
        return int(self.names(ctx).get(name) is not None)

    def delete(self, ctx: Context, n: int, names: Pointer) -> None:
        if n < 0:
            raise invalid_value("a negative number of objects")
        table, wanted = self.names(ctx), [int(name) for name in read_names(names, n)]
        if self.check is not None:
            for name in wanted:
                found = table.get(name)
                if found is not None:
                    self.check(ctx, found)
        for name in wanted:
            found = table.pop(name)
            if found is not None:
                self.unbind(ctx, found)
                found.release()


LABELLED: dict[int, Callable[[Context], NameTable[Any]]] = {}
"""where the names of a kind are, by its enumerator for glObjectLabel"""


def objects(
    singular: str,
    names: Callable[[Context], NameTable[Any]],
    unbind: Callable[[Context, Any], None],
    create: Callable[[Context, int], Any] | None = None,
    *,
    plural: str = "",
    label: int = 0,
    generates: bool = True,
    check: Callable[[Context, Any], None] | None = None,
) -> None:
    """Declare a kind, by its name in Python methods.

    With `generates`, names have no objects until they are bound; otherwise glGen* creates objects.
    With `create` there is a glCreate*; a topic whose glCreate* takes a target registers its own.
    """
    kind = Kind(names, create, unbind, check)
    plural = plural or f"{singular}s"
    register(f"gen_{plural}", kind.generate if generates else kind.make)
    if create is not None:
        register(f"create_{plural}", kind.make)
    register(f"is_{singular}", kind.is_there)
    register(f"delete_{plural}", kind.delete)
    if label:
        LABELLED[label] = names
