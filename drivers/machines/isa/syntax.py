"""Templates of assembly text, used for both writing and reading.

    {neg?-}{file}{nr}[.{offset}]<{stride}>:{type}

`{nr}` is a field and `{neg?-}` a flag with the text that stands for true. Brackets are left out if
the first field in them has its default value. A flag that occurs twice is present both times or not
at all. A backslash escapes the next character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .fields import Field


@lazy_dataclass()
class _Group:
    """The contents of brackets, or the whole template."""

    parts: list[str | _Value | _Group] = field(default_factory=list)

    def first(self) -> _Value:
        return next(part for part in self.parts if isinstance(part, _Value))


@lazy_dataclass()
class _Value:
    """A field, or a flag with its text."""

    name: str
    flag: str | None


class Syntax:
    """One template."""

    def __init__(self, template: str, fields: Mapping[str, Field]) -> None:
        self.template = template
        self.fields = fields
        self._root = _parsed(re.finditer(r"\\(.)|\{(\w+)(?:\?([^}]*))?\}|(.)", template))
        self._seen: dict[str, _Value] = {}
        self._pattern = re.compile(self._regex(self._root))

    @property
    def optional(self) -> bool:
        """Whether this part is a flag, or can be omitted."""
        return not any(
            isinstance(part, str) or (isinstance(part, _Value) and part.flag is None)
            for part in self._root.parts
        )

    def _regex(self, group: _Group) -> str:
        found = ""
        for part in group.parts:
            if isinstance(part, str):
                found += re.escape(part)
            elif isinstance(part, _Group):
                found += f"(?:{self._regex(part)})?"
            elif part.name in self._seen:
                found += f"(?({part.name}){re.escape(part.flag or '')})"
            else:
                self._seen[part.name] = part
                if part.flag is not None:
                    found += f"(?P<{part.name}>{re.escape(part.flag)})?"
                else:
                    found += f"(?P<{part.name}>{self.fields[part.name].pattern})"
        return found

    def write(self, value_of: Callable[[str], Any]) -> str:
        """The text for the values of fields."""
        return self._written(self._root, value_of)

    def _written(self, group: _Group, value_of: Callable[[str], Any]) -> str:
        found = ""
        for part in group.parts:
            if isinstance(part, str):
                found += part
            elif isinstance(part, _Group):
                first = part.first().name
                if value_of(first) != self.fields[first].default:
                    found += self._written(part, value_of)
            elif part.flag is not None:
                found += part.flag if value_of(part.name) else ""
            else:
                found += self.fields[part.name].text(value_of(part.name))
        return found

    def read(self, text: str) -> dict[str, Any] | None:
        """The values in a text, without omitted ones; None if it does not match."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        found: dict[str, Any] = {}
        for name, part in self._seen.items():
            if part.flag is not None:
                found[name] = match[name] is not None
            elif match[name] is not None:
                found[name] = self.fields[name].read(match[name])
        return found


def _parsed(tokens: Iterator[re.Match[str]]) -> _Group:
    group = _Group()
    for token in tokens:
        escaped, name, flag, character = token.groups()
        if name:
            group.parts.append(_Value(name, flag))
        elif character == "[":
            group.parts.append(_parsed(tokens))
        elif character == "]":
            break
        else:
            group.parts.append(escaped or character)
    return group
