"""Colour for code in pages: Pygments for languages it knows, and a lexer for NIR's text.

Lines may end in `//@12`, the source line they were made for. The mark is removed, and the line gets
an attribute that the page can link (`data-line`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer, RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from pygments.util import ClassNotFound

_MARK = re.compile(r"\s*//@(\d+)$")


class NirLexer(RegexLexer):  # type: ignore[misc]
    """NIR as `print_shader` writes it."""

    name = "NIR"
    aliases = ["nir"]
    tokens = {
        "root": [
            (r"\s+", Text),
            (r"(//|#).*?$", Comment.Single),
            (r'"[^"]*"', String),
            (r"%[\w.]+", Name.Variable),
            (r"@\w+", Name.Function),
            (r"&[\w@.]+", Name.Attribute),
            (
                r"\b(shader|var|function|impl|block|if|else|loop|break|continue|return|halt|entry"
                r"|phi|load_const|undef|preds|succs)\b",
                Keyword,
            ),
            (r"\b[ui]?(?:8|16|32|64|1)(?:x\d+)?(?=\s+%)", Keyword.Type),
            (r"-?\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b", Number),
            (r"(?<==\s)[a-z]\w*!?", Name.Builtin),
            (r"[A-Za-z_]\w*", Name),
            (r"[=(),.{}:\[\]!*<>-]", Operator),
            (r".", Text),
        ]
    }


def _lexer(language: str) -> Lexer | None:
    if language == "nir":
        return NirLexer()
    if language in ("text", ""):
        return None
    try:
        return get_lexer_by_name({"asm": "gas"}.get(language, language))
    except ClassNotFound:
        return None


_FORMAT = HtmlFormatter(nowrap=True)


def coloured(text: str, language: str) -> Markup:
    """Code as HTML; each token a span with Pygments' short class names (style.css has them)."""
    lexer = _lexer(language)
    if lexer is None:
        return Markup(escape(text))
    lexer.stripnl = lexer.ensurenl = False
    return Markup(highlight(text, lexer, _FORMAT))


def coloured_lines(text: str, language: str) -> list[Markup]:
    """Code as HTML, line by line: a token that spans lines is closed and opened again."""
    whole = str(coloured(text, language))
    lines, opened = [], ""
    for line in whole.split("\n"):
        full = opened + line
        last = ""
        for tag in re.finditer(r"<span[^>]*>|</span>", full):
            last = "" if tag[0] == "</span>" else tag[0]
        lines.append(Markup(full + ("</span>" if last else "")))
        opened = last
    return lines


def mapped(text: str, language: str) -> Iterator[tuple[str, Markup]]:
    """The lines of a text as (source line or "", HTML); lines may end in `//@12`."""
    bare, numbers = [], []
    for line in text.splitlines():
        mark = _MARK.search(line)
        numbers.append(mark[1] if mark else "")
        bare.append(line[: mark.start()] if mark else line)
    yield from zip(numbers, coloured_lines("\n".join(bare), language), strict=False)
