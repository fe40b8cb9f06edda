"""Characters to preprocessing tokens: one regular expression over the whole text.

A token is a plain tuple `(kind, text, location)`; for operators the kind is the operator itself,
so the parser compares `kind == "("`. Identifiers are `"id"`, numbers `"num"`, line ends `"nl"`.
Words become keywords, and numbers typed values, after preprocessing (`classify`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from gallette.compiler.glsl.diagnostics import Log

__all__ = ["Token", "number_value", "tokenize"]

Token = tuple[str, str, int]

_TOKEN = re.compile(
    r"""[ \t\v\f]*(?:
      (?P<id>[A-Za-z_]\w*)
    | (?P<com>//[^\r\n]*|/\*.*?\*/)
    | (?P<num>0[xX][0-9a-fA-F]+\w*|\.?[0-9](?:[eE][+-]?[0-9]|[\w.])*)
    | (?P<open>/\*)
    | (?P<op><<=|>>=|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\^\^|\#\#
        |[(){}\[\].,;:?+\-*/%<>=!&|^~\#])
    | (?P<nl>\r\n|\n|\r)
    | (?P<str>"[^"\r\n]*")
    | (?P<bad>[^ \t\v\f])
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def tokenize(text: str, base: int, log: Log) -> list[Token]:
    """All tokens of a text whose first character has location `base`; comments are gone."""
    out: list[Token] = []
    append = out.append
    for m in _TOKEN.finditer(text):
        kind = m.lastgroup
        if kind == "op":
            op = m.group("op")
            append((op, op, base + m.start("op")))
        elif kind == "com":
            continue
        elif kind == "open":
            log.error("comment is not closed", base + m.start("open"), hint="expected '*/'")
            break
        elif kind is not None:
            # A character GLSL does not know is only an error if it survives preprocessing.
            append((kind, m.group(kind), base + m.start(kind)))
    return out


_FLOAT = re.compile(r"((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+(?=[fF]$))(\w*)$")
_INT = re.compile(r"(0[xX][0-9a-fA-F]+|\d+?)([uU]?[lL]?)$")


@lru_cache(maxsize=4096)
def number_value(text: str) -> tuple[str, int | float] | str:
    """`("float", 1.0)` for the text of a number, or a message saying what is wrong with it."""
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
            value -= 1 << bits  # the bit pattern is kept, as 0xffffffff is -1
        return kind, value
    if m := _FLOAT.match(text):
        suffix = m[2]
        if suffix in ("", "f", "F"):
            return "float", float(m[1])
        if suffix in ("lf", "LF"):
            return "double", float(m[1])
        return f"'{suffix}' is not a suffix of a floating-point number"
    return f"'{text[:40]}' is not a number"
