"""Words with positions: the lexer of a shader_test's line-oriented sections.

`[require]`, `[vertex data]` and `[test]` are lines of words. Parentheses, commas and semicolons
only group numbers for readers (`(0, 0, 4, 4)`), so the lexer drops them. Every word has its column,
so that errors can point at it.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import InputError, Span

Value = TypeVar("Value", int, float)

_WORD = re.compile(r"[^\s(),;]+")
_PARTED = re.compile(r"[<>=!]=|[<>]|!?[^\s(),;<>=!]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file: its number, its text without comment, and the file's name."""

    number: int
    text: str
    file: str

    def words(self, parted: bool = False) -> Words:
        """Its words; `parted` where a comparison needs no blanks around it, as in `GL>=3.0`."""
        return Words(self, _PARTED if parted else _WORD)

    def error(self, message: str, start: int = 0, end: int | None = None) -> InputError:
        """An error that underlines text[start:end] (the whole line by default)."""
        stripped = len(self.text) - len(self.text.lstrip())
        start = max(start, stripped) if end is None else start
        stop = len(self.text.rstrip()) if end is None else end
        span = Span(self.number, start + 1, max(start + 2, stop + 1), self.file)
        return InputError(message, span, self.text)


class Words:
    """A cursor over the words of a line; every `take_*` raises `InputError` with a caret."""

    __slots__ = ("_word", "at", "line", "texts")

    def __init__(self, line: Line, word: re.Pattern[str] = _WORD):
        self.line, self._word = line, word
        self.texts: list[str] = word.findall(line.text)
        self.at = 0

    def __len__(self) -> int:
        return len(self.texts) - self.at

    @property
    def done(self) -> bool:
        return self.at >= len(self.texts)

    def peek(self) -> str:
        return "" if self.done else self.texts[self.at]

    def skip(self, count: int) -> None:
        self.at += count

    def error(self, message: str, back: int = 1) -> InputError:
        """An error at the word taken `back` words ago (0: the next word, or the line's end)."""
        index = self.at - back
        if 0 <= index < len(self.texts):
            start = [found.start() for found in self._word.finditer(self.line.text)][index]
            return self.line.error(message, start, start + len(self.texts[index]))
        end = len(self.line.text.rstrip())
        return self.line.error(message, end, end + 1)

    def word(self, what: str) -> str:
        if self.done:
            raise self.error(f"expected {what}", back=0)
        self.at += 1
        return self.texts[self.at - 1]

    def optional(self, *choices: str) -> str:
        """Take the next word if it is one of `choices`, else return ''."""
        return self.word("a word") if self.peek() in choices else ""

    def choice(self, what: str, *choices: str) -> str:
        word = self.word(what)
        if word not in choices:
            raise self.error(f"expected {what} ({', '.join(choices)}), not {word!r}")
        return word

    def integer(self, what: str = "an integer") -> int:
        return self._parsed(parse_integer, what)

    def number(self, what: str = "a number") -> float:
        return self._parsed(parse_float, what)

    def double(self, what: str = "a number") -> float:
        return self._parsed(parse_double, what)

    def _parsed(self, parse: Callable[[str], Value], what: str) -> Value:
        word = self.word(what)
        try:
            return parse(word)
        except ValueError:
            raise self.error(f"expected {what}, not {word!r}") from None

    def parsed(self, parse: Callable[[str], Value], count: int, what: str) -> list[Value]:
        """Take `count` words, each parsed as a number."""
        if count <= len(self):
            try:
                found = [parse(text) for text in self.texts[self.at : self.at + count]]
                self.at += count
                return found
            except ValueError:
                pass  # find out which one it was
        return [self._parsed(parse, what) for _ in range(count)]

    def numbers(self, count: int, what: str = "a number") -> list[float]:
        return [self.number(what) for _ in range(count)]

    def integers(self, count: int, what: str = "an integer") -> list[int]:
        return [self.integer(what) for _ in range(count)]

    def array(self, dtype: Any, count: int, what: str = "a number") -> npt.NDArray[Any]:
        return as_array(self.parsed(parser_of(dtype), count, what), dtype)

    def all_integers(self) -> list[int]:
        """The rest of the line."""
        return self.integers(len(self))

    def sizes(self, count: int, largest: int = 16384) -> list[int]:
        """Sizes to be allocated, so they are bounded: each of them, and their product."""
        values = []
        for _ in range(count):
            values.append(self.integer("a size"))
            if not 1 <= values[-1] <= largest:
                raise self.error(f"a size must be from 1 to {largest}, not {values[-1]}")
        if math.prod(values) > 1 << 26:
            raise self.error("this is too large to allocate")
        return values

    def end(self) -> None:
        if not self.done:
            self.at += 1
            raise self.error(f"unexpected {self.texts[self.at - 1]!r} after the command")


def parse_integer(text: str) -> int:
    """An integer in C notation: decimal, 0x hexadecimal, or octal after a leading 0; a final u is
    allowed.
    """
    text = text[:-1] if text[-1:] in "uU" and text[-2:-1].isalnum() else text
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        value = int(digits, 8)
        return -value if text.startswith("-") else value
    if "_" in text:
        raise ValueError(text)
    return int(text, 0)


def parse_float(text: str, integer: str = "<I", floating: str = "<f") -> float:
    """A decimal number, inf, nan, or (0x...) the bits of a 32-bit float."""
    if text[:2] in ("0x", "0X"):
        bits = int(text, 16) & (1 << 8 * struct.calcsize(integer)) - 1
        value: float = struct.unpack(floating, struct.pack(integer, bits))[0]
        return value
    if "_" in text:
        raise ValueError(text)
    return float(text)


def parse_double(text: str) -> float:
    """A decimal number, inf, nan, or (0x...) the bits of a 64-bit float."""
    return parse_float(text, "<Q", "<d")


def parser_of(dtype: Any) -> Callable[[str], Any]:
    """What parses a number of this type."""
    if np.dtype(dtype).kind != "f":
        return parse_integer
    return parse_double if np.dtype(dtype).itemsize == 8 else parse_float


def as_array(values: Sequence[float], dtype: Any) -> npt.NDArray[Any]:
    """Numbers of a type; integers wrap as in C, where -1 is a way to write 0xffffffff."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.array(values, kind)
    mask = (1 << 8 * kind.itemsize) - 1
    return np.array([int(v) & mask for v in values], f"u{kind.itemsize}").view(kind)
