"""The sources of shader objects, so that programs can be linked again from a binary.

A `ShaderSource` is recorded when a shader is compiled or specialised, because the application may
replace the source and delete the included strings before it links the program.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Includes = dict[str, str | None]
"""The text found for each `#include`, by its path and the including file."""


@dataclass(frozen=True)
class ShaderSource:
    """GLSL and its included texts, or SPIR-V and its specialisation."""

    type: int
    source: str = ""
    included: tuple[tuple[str, str | None], ...] = ()
    code: bytes = b""
    entry: str = ""
    constants: tuple[tuple[int, int], ...] = ()

    def described(self) -> dict[str, Any]:
        """The JSON representation."""
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
        """Parse a JSON representation; raises Python's exceptions if it is malformed."""
        return cls(
            number(described["type"]),
            text(described["source"]),
            tuple((text(k), v if v is None else text(v)) for k, v in described["included"]),
            base64.b64decode(described["code"], validate=True),
            text(described["entry"]),
            tuple((number(k), number(v)) for k, v in described["constants"]),
        )

    def look(self, path: str, current: str) -> str | None:
        """The text that was included at the time of compilation."""
        return dict(self.included).get(_place(path, current))


def number(value: Any) -> int:
    """An unsigned number of 32 bits."""
    if type(value) is not int or value >> 32:
        raise ValueError(f"{value!r} is no number of 32 bits")
    return value


def text(value: Any) -> str:
    """A valid Unicode text: JSON can encode lone surrogates."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()
    return value


def _place(path: str, current: str) -> str:
    return f"{current}\n{path}"


def noting(
    look: Callable[[str, str], str | None], found: Includes
) -> Callable[[str, str], str | None]:
    """An include lookup that records its results."""

    def noted(path: str, current: str) -> str | None:
        text = found[_place(path, current)] = look(path, current)
        return text

    return noted
