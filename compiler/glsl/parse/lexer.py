"""The lexer: one regular expression splits the text into preprocessing tokens.

A token is a plain tuple `(kind, text, location)`; for operators the kind is the operator itself, so
the parser compares `kind == "("`. Identifiers are `"id"`, numbers `"num"`, line ends `"nl"`. Words
become keywords, and numbers typed values, after preprocessing (`classify`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.nir.ir.bits import bits_to_float, float_bits

Token = tuple[str, str, int]

# Every character is part of a piece, so a piece begins where the previous one ends. Blanks belong
# to the preceding piece, since otherwise half of all pieces would be blanks.
_ONE = r"""(?:
      [A-Za-z_]\w*
    | [(){},;\[\]?:~]
    | [\r\n][ \t\v\f\r\n]*
    | 0[xX][0-9a-fA-F]+\w* | (?:[0-9]+\.?|\.[0-9])\w*(?:(?<=[eE])[+-](?=[0-9])\w*)*
    | //[^\r\n]* | /\*.*?\*/ | /\*
    | <<=|>>=|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\^\^|\#\#
    | "[^"\r\n]*"
    | .
    )"""
_FLAGS = re.VERBOSE | re.DOTALL | re.ASCII
PIECE = re.compile(rf"{_ONE}[ \t\v\f]*", _FLAGS)
PLAIN_PIECE = re.compile(rf"{_ONE}[ \t\v\f\r\n]*", _FLAGS)
"""where no directives are left, so that line ends are blanks, too"""
_BLANKS = " \t\v\f"
_OPERATORS = frozenset("(){}[].,;:?+-*/%<>=!&|^~#")
"""first characters of operators"""
_MOST_KNOWN = 20_000
_LONGEST_KNOWN = 200
_known: dict[str, tuple[str, str]] = {}
"""Cache of kind and text, without blanks, of every piece; a comment has no kind."""


def tokenize(text: str, base: int, log: Log) -> list[Token]:
    """All tokens of a text whose first character has location `base`, without comments."""
    out: list[Token] = []
    append, known = out.append, _known.get
    at = base
    for piece in PIECE.findall(text):
        kind, word = known(piece) or lex_piece(piece)
        if kind:
            # A character that GLSL does not have is an error only if it survives preprocessing.
            append((kind, word, at))
        elif word:
            log.error("comment is not closed", at, hint="expected '*/'")
            break
        at += len(piece)
    return out


def lex_piece(piece: str) -> tuple[str, str]:
    """The kind and text of a piece; a comment has a text only if it is not closed."""
    text = piece.rstrip(_BLANKS)
    first = piece[0]
    if first == "_" or (first.isalpha() and first.isascii()):
        kind = "id"
    elif first in "0123456789" or (first == "." and len(text) > 1):
        kind = "num"
    elif text[:2] in ("//", "/*"):
        return "", text if text == "/*" else ""  # comments differ: no caching
    elif first in _OPERATORS:
        kind = text
    elif first in "\r\n":
        kind = "nl"
    elif first in _BLANKS:
        kind = ""
    else:
        kind = "str" if first == '"' and len(text) > 1 else "bad"
    if len(piece) > _LONGEST_KNOWN:
        return kind, text
    if len(_known) > _MOST_KNOWN:
        _known.clear()
    pair = _known[piece] = kind, text
    return pair


_FLOAT = re.compile(r"((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(\w*)$")
_INT = re.compile(r"(0[xX][0-9a-fA-F]+|\d+?)([uU]?[lL]?)$")


@lru_cache(maxsize=4096)
def number_value(text: str) -> tuple[str, int | float] | str:
    """The type and value of the text of a number, as in `("float", 1.0)`, or an error message.

    The value is one of its type: a wrapped integer, the nearest float.
    """
    if m := _INT.match(text):
        digits, suffix = m[1], m[2].lower()
        if digits[:2] in ("0x", "0X"):
            value = int(digits, 16)
        elif digits[0] == "0" and len(digits) > 1:
            if not set(digits) <= set("01234567"):
                return f"'{text}' is not a valid octal number"
            value = int(digits, 8)
        elif len(digits) > 40:
            return f"integer '{text[:12]}...' is too large"
        else:
            value = int(digits)
        kind = {"": "int", "u": "uint", "l": "int64_t", "ul": "uint64_t"}[suffix]
        bits = 64 if "l" in suffix else 32
        if value >= 1 << bits:
            return f"integer '{text}' does not fit {bits} bits"
        if kind.startswith("int") and value >= 1 << (bits - 1):
            value -= 1 << bits  # the bit pattern is kept: 0xffffffff is -1
        return kind, value
    if m := _FLOAT.match(text):
        suffix = m[2]
        if suffix in ("", "f", "F"):
            return "float", bits_to_float(float_bits(float(m[1])), 32)
        if suffix in ("lf", "LF"):
            return "double", float(m[1])
        return f"'{suffix}' is not a suffix of a floating-point number"
    return f"'{text[:40]}' is not a number"
