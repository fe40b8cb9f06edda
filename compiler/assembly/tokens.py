"""The tokens of an assembly program."""

from __future__ import annotations

import re

from gallette.compiler.assembly.program import AssemblyError
from gallette.compiler.lazy_dataclass import lazy_dataclass

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|\#[^\n]*)|(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<range>\.\.)"
    r"|(?P<mark>[-+,;=.\[\]{}|])"
)


@lazy_dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int


class Tokens:
    """A cursor over a program's tokens, and the limits of indices."""

    def __init__(self, text: str, at: int, limits: dict[str, int]):
        self.text, self.limits = text, limits
        self.next = 0
        self.tokens: list[Token] = []
        self.tokens = self._scan(at)

    def _scan(self, at: int) -> list[Token]:
        found = []
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self.error(f"unexpected character {self.text[at]!r}", at)
            kind = str(match.lastgroup)
            if kind != "space":
                found.append(Token(kind, match[0], at))
            at = match.end()
        found.append(Token("end", "", len(self.text)))
        return found

    def error(self, message: str, at: int | None = None) -> AssemblyError:
        return AssemblyError(message, self.peek.at if at is None else at, self.text)

    @property
    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        token = self.tokens[self.next]
        self.next += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek.text == text:
            self.next += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}, found {self.peek.text or 'the end'!r}")

    def name(self) -> str:
        if self.peek.kind != "name":
            raise self.error(f"expected a name, found {self.peek.text or 'the end'!r}")
        return self.take().text

    def integer(self) -> int:
        if self.peek.kind != "number" or not self.peek.text.isdigit():
            raise self.error(f"expected an integer, found {self.peek.text or 'the end'!r}")
        return int(self.take().text)

    def follows(self, *words: str) -> bool:
        """Whether the next tokens are a dot and one of the words."""
        return self.peek.text == "." and self.tokens[self.next + 1].text in words

    def word(self, *words: str) -> str:
        at = self.peek.at
        found = self.name()
        if found not in words:
            raise self.error(f"expected {' or '.join(words)}, found {found}", at)
        return found

    def index(self, limit: str, default: int | None = None) -> int:
        if not self.accept("["):
            if default is None:
                raise self.error("expected an index")
            return default
        at = self.peek.at
        value = self.integer()
        self.expect("]")
        if value >= self.limits[limit]:
            raise self.error(f"index {value} is not below {self.limits[limit]}", at)
        return value
