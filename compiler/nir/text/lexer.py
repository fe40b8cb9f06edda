"""The lexer of IR text, and errors that point at tokens.

It knows words, values (`%3`), numbers, strings and punctuation, but nothing of the grammar.
Comments run from `//` to the end of the line. Every token has its position, so that errors show
line, column and a caret.
"""

from __future__ import annotations

import ast
import json
import math
import re
from bisect import bisect_right
from typing import Any, NamedTuple, NoReturn

from gallette.compiler.errors import InputError, Span

_TOKEN = re.compile(
    r"""
    (?>[ \t\r\n]*(?://[^\n]*[ \t\r\n]*)*)  # space and comments in front
    (?: (?P<value>%\w+)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]+(?![\w.])|(?:\d+\.\d*|\d+)(?:[eE][-+]?\d+)?(?![\w])))
    | (?P<signed>[-+](?:inf|nan)\b)
    | (?P<word>[A-Za-z0-9_$][\w$]*)
    | (?P<arrow><-)
    | (?P<punct>[{}()\[\]<>=:;,.&@!*|+\#])
    | (?P<end>\Z)
    )
    """,
    re.VERBOSE,
)
_MAX_LITERAL_DEPTH = 32


class Token(NamedTuple):
    """`kind` is value, string, number, signed (inf, nan), word, arrow, punct or end."""

    kind: str
    text: str
    start: int


class Tokens:
    """The token stream, with one-token look-ahead and the errors of the parser."""

    def __init__(self, text: str, file: str):
        self.source = text
        self.file = file
        self.lines = [0, *[m.end() for m in re.finditer("\n", text)]]
        self.tokens: list[Token] = []
        self.scanned = 0
        self.position = 0
        self.current = self._scan(0)

    def _scan(self, number: int) -> Token:
        """Token `number`; the text is scanned only as far as needed."""
        tokens = self.tokens
        if number < len(tokens):
            return tokens[number]
        text, at = self.source, self.scanned
        match, append = _TOKEN.match, tokens.append
        for _ in range(number + 256 - len(tokens)):
            found = match(text, at)
            if found is None:
                self._unexpected(at)
            kind: str = found.lastgroup  # type: ignore[assignment]
            append(Token(kind, found[kind], found.start(kind)))
            at = found.end()
        self.scanned = at
        return tokens[number]

    def _unexpected(self, at: int) -> NoReturn:
        """Report that no token starts after the space and comments at `at`."""
        text = self.source
        skipped = re.compile(r"(?>[ \t\r\n]*(?://[^\n]*[ \t\r\n]*)*)").match(text, at)
        assert skipped is not None
        at = skipped.end()
        what = "an unterminated string" if text[at] in "\"'" else repr(text[at])
        self.fail(f"unexpected {what}", Token("punct", text[at], at))

    # Errors.

    def span(self, token: Token) -> tuple[Span, str]:
        line = bisect_right(self.lines, token.start)
        begin = self.lines[line - 1]
        end = self.source.find("\n", begin)
        shown = self.source[begin : end if end >= 0 else len(self.source)]
        column = token.start - begin + 1
        width = max(1, len(token.text))
        return Span(line, column, column + width, self.file), shown

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise an error at `token` (by default the current one)."""
        raise InputError(message, *self.span(token or self.current))

    # Reading.

    def advance(self) -> Token:
        token = self.current
        if token.kind != "end":
            self.position += 1
            position = self.position
            tokens = self.tokens
            self.current = tokens[position] if position < len(tokens) else self._scan(position)
        return token

    def peek(self, ahead: int = 1) -> Token:
        return self._scan(self.position + ahead)

    def at(self, text: str) -> bool:
        return self.current.text == text and self.current.kind != "string"

    def accept(self, text: str) -> bool:
        """Consume the token if it is `text`."""
        if self.current.text == text and self.current.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, text: str) -> Token:
        if not self.at(text):
            self.fail(f"expected {text!r}, found {self.shown()}")
        return self.advance()

    def shown(self) -> str:
        return repr(self.current.text) if self.current.kind != "end" else "the end of the text"

    def word(self, what: str) -> str:
        if self.current.kind != "word":
            self.fail(f"expected {what}, found {self.shown()}")
        return self.advance().text

    def name(self, what: str) -> str:
        """A bare word or a quoted string."""
        if self.current.kind == "string":
            return self.string()
        return self.word(what)

    def string(self) -> str:
        if self.current.kind != "string":
            self.fail(f"expected a quoted string, found {self.shown()}")
        try:
            text = self.current.text
            value: str = json.loads(text) if text[0] == '"' else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            self.fail("malformed escape in a string")
        self.advance()
        return value

    def integer(self, what: str) -> int:
        token = self.current
        try:
            value = int(token.text, 0)
        except ValueError:
            self.fail(f"expected {what}, found {self.shown()}")
        self.advance()
        return value

    def literal(self, depth: int = 0) -> Any:
        """A number, string, True, False or None, or a tuple, list or set of such."""
        token = self.current
        if token.kind == "string":
            return self.string()
        if token.kind in ("number", "signed"):
            self.advance()
            try:
                return int(token.text, 0)
            except ValueError:
                return float(token.text)
        if token.kind == "word" and token.text in _WORDS:
            self.advance()
            return _WORDS[token.text]
        close = {"(": ")", "[": "]", "{": "}"}.get(token.text) if token.kind == "punct" else None
        if close is None:
            self.fail(f"expected a value, found {self.shown()}")
        if depth >= _MAX_LITERAL_DEPTH:
            self.fail("value nested too deeply")
        self.advance()
        parts: list[Any] = []
        comma = False
        while not self.accept(close):
            parts.append(self.literal(depth + 1))
            comma = self.accept(",")
            if not comma and not self.at(close):
                self.fail(f"expected ',' or {close!r}, found {self.shown()}")
        if token.text == "(":
            return parts[0] if len(parts) == 1 and not comma else tuple(parts)
        if token.text == "[":
            return parts
        try:
            return set(parts)
        except TypeError:
            self.fail("a set holds plain values", token)


_WORDS = {"True": True, "False": False, "None": None, "inf": math.inf, "nan": math.nan}
