"""Tables of functions, each entered by a decorator where it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FunctionTable(dict[K, V]):
    """A function, or a class, for each key."""

    def entry(self, *keys: K) -> Callable[[V], V]:
        """Decorator: this is the function for these keys."""

        def enter(function: V) -> V:
            self.update(dict.fromkeys(keys, function))
            return function

        return enter
