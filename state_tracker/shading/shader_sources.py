"""What shader objects were made from, so that programs can be linked once more from a binary.

A `ShaderSource` is recorded when a shader is compiled or specialised, because the application may
replace the source and delete the included strings before it links the program.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Includes", "ShaderSource", "noting", "number", "text"]

Includes = dict[str, str | None]
"""What each `#include` named and where it stood, and what was there."""


@dataclass(frozen=True)
class ShaderSource:
    """GLSL and what it included, or SPIR-V and how it was specialised."""

    type: int
    source: str = ""
    included: tuple[tuple[str, str | None], ...] = ()
    code: bytes = b""
    entry: str = ""
    constants: tuple[tuple[int, int], ...] = ()

    def described(self) -> dict[str, Any]:
        """In terms of JSON."""
        return {
            "type": self.type,
            "source": self.source,
            "included": self.included,
            "code": base64.b64encode(self.code).decode(),
            "entry": self.entry,
            "constants": self.constants,
        }

    @classmethod
    def read(cls, described: dict[str, Any]) -> ShaderSource:
        """The same from there; raises what Python raises if it is nothing of the kind."""
        return cls(
            number(described["type"]),
            text(described["source"]),
            tuple((text(k), v if v is None else text(v)) for k, v in described["included"]),
            base64.b64decode(described["code"], validate=True),
            text(described["entry"]),
            tuple((number(k), number(v)) for k, v in described["constants"]),
        )

    def look(self, path: str, current: str) -> str | None:
        """What was included there then."""
        return dict(self.included).get(_place(path, current))


def number(value: Any) -> int:
    """An unsigned number of 32 bits."""
    if type(value) is not int or value >> 32:
        raise ValueError(f"{value!r} is no number of 32 bits")
    return value


def text(value: Any) -> str:
    """A text of whole characters: JSON can spell halves of surrogate pairs."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()
    return value


def _place(path: str, current: str) -> str:
    return f"{current}\n{path}"


def noting(
    look: Callable[[str, str], str | None], found: Includes
) -> Callable[[str, str], str | None]:
    """What answers `#include` and writes down what it answers."""

    def noted(path: str, current: str) -> str | None:
        text = found[_place(path, current)] = look(path, current)
        return text

    return noted
