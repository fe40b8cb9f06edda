"""Keywords and reserved words of each language version.

`classify` converts the preprocessor's tokens for the parser: a keyword's kind becomes the keyword
itself, qualifiers are `"qual"`, type keywords `"type"`, `true` and `false` `"bool"`, and every
other word `"id"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse.lexer import PLAIN_PIECE, Token, lex_piece
from gallette.compiler.glsl.qualifiers import KEYWORDS
from gallette.compiler.glsl.typenames import TYPE_AVAILABILITY

_STATEMENTS = {
    "break": "*",
    "continue": "*",
    "do": "*",
    "for": "*",
    "while": "*",
    "if": "*",
    "else": "*",
    "discard": "*",
    "return": "*",
    "struct": "*",
    "switch": "130 es300",
    "case": "130 es300",
    "default": "130 es300",
    "precision": "130 es",
    "demote": "EXT_demote_to_helper_invocation",
}
_RESERVED = {
    "asm class union enum typedef template this goto inline noinline "
    "public static extern external interface long short half fixed unsigned "
    "input output hvec2 hvec3 hvec4 fvec2 fvec3 fvec4 sampler3DRect "
    "sizeof cast namespace using": "*",
    "packed": "110-450 es100-es100",
    "row_major": "140-450",
    "volatile": "110-410 es100-es300",
    "switch default double dvec2 dvec3 dvec4 sampler2DRect sampler2DRectShadow": "*",
    "superp": "130 es",
    "lowp mediump highp precision": "120-120",
    "attribute varying": "420 es300",
    "coherent restrict readonly writeonly": "es300-es300",
    "resource atomic_uint": "420 es300",
    "patch sample": "es300-es310",
    "subroutine": "es300",
    "precise": "es310-es310",
    "noperspective": "es300",
    "common partition active filter": "130 es300",
    "flat": "es100-es100",
    "iimage1D iimage2D iimage3D iimageCube uimage1D uimage2D uimage3D uimageCube iimage1DArray "
    "iimage2DArray uimage1DArray uimage2DArray image1D image2D image3D imageCube image1DArray "
    "image2DArray imageBuffer iimageBuffer uimageBuffer": "130 es300",
    "image1DShadow image2DShadow image1DArrayShadow image2DArrayShadow": "130-450 es300",
    "sampler1D sampler1DShadow": "es",
    "sampler2DShadow": "es100-es100",
    "samplerBuffer": "130-130",
    "sampler1DArray sampler1DArrayShadow isampler1D usampler1D isampler1DArray usampler1DArray "
    "image2DRect iimage2DRect uimage2DRect image2DMS iimage2DMS uimage2DMS image2DMSArray "
    "iimage2DMSArray uimage2DMSArray imageCubeArray iimageCubeArray uimageCubeArray": "es300",
    "samplerCubeArray samplerCubeArrayShadow isamplerCubeArray usamplerCubeArray": "es310",
    "sampler3D": "es",
    "dmat2 dmat3 dmat4 dmat2x2 dmat2x3 dmat2x4 dmat3x2 dmat3x3 dmat3x4 dmat4x2 dmat4x3 "
    "dmat4x4": "es300",
    "samplerBuffer isamplerBuffer usamplerBuffer sampler2DMS isampler2DMS usampler2DMS "
    "sampler2DMSArray isampler2DMSArray usampler2DMSArray isampler2DRect usampler2DRect": "es300",
}
_LAYOUTS = frozenset(("packed", "row_major"))
"""reserved words that layout qualifiers may name"""
_UNPLAIN = frozenset(("#", "##", "bad", "str"))
_ODD = frozenset(("reserved", "painted", "#", "##"))
"""kinds that need individual treatment or a message"""


@lru_cache(maxsize=64)
def _table(key: tuple[int, bool, bool, frozenset[str]]) -> dict[str, str]:
    version, es, compat, extensions = key
    lang = Language(version, es, compat, set(extensions))
    table: dict[str, str] = {"true": "bool", "false": "bool"}
    for words, when in _RESERVED.items():
        if lang.has(when):
            for word in words.split():
                table[word] = "reserved"
    table.update({word: word for word, when in _STATEMENTS.items() if lang.has(when)})
    for word, when in KEYWORDS.items():
        if lang.has(when):
            table[word] = "qual"
    for word, when in TYPE_AVAILABILITY.items():
        if lang.has(when):
            table[word] = "type"
    return table


@lru_cache(maxsize=64)
def _pieces(key: tuple[int, bool, bool, frozenset[str]]) -> dict[str, tuple[str, str]]:
    """Cache of the kind and text of every piece, for texts in one language."""
    return {}


_MOST_PIECES = 20_000


def plain_words(text: str, base: int, lang: Language) -> list[Token] | None:
    """The tokens of a text without directives and macros, classified.

    None if it contains something that needs a message, or a name that only macros have.
    """
    table = _pieces(lang.key)
    known = table.get
    out: list[Token] = []
    append = out.append
    at = base
    for piece in PLAIN_PIECE.findall(text):
        pair = known(piece)
        if pair is None:
            pair = _plain_word(piece, lang)
            if pair is None:
                return None
            if piece[:2] != "//":
                if len(table) > _MOST_PIECES:
                    table.clear()
                table[piece] = pair
        kind, word = pair
        if kind:
            append((kind, word, at))
        at += len(piece)
    return out


def _plain_word(piece: str, lang: Language) -> tuple[str, str] | None:
    piece = piece.rstrip(" \t\v\f\r\n")
    if not piece:
        return "", ""
    kind, text = lex_piece(piece)
    if kind == "id":
        kind = _table(lang.key).get(text, "id")
        macro = text.startswith(("GL_", "__"))
        return None if macro or kind == "reserved" else (kind, text)
    odd = kind in _UNPLAIN or (not kind and text)
    return None if odd else (kind, text)


def _unsigned_ints(tokens: list[Token]) -> Iterator[Token]:
    """Replace `unsigned int`, as in EXT_gpu_shader4, by `uint`."""
    before: Token | None = None
    for token in tokens:
        if before is not None and before[1] == "unsigned" and token[1] == "int":
            yield "id", "uint", before[2]
            before = None
            continue
        if before is not None:
            yield before
        before = token
    if before is not None:
        yield before


def classify(tokens: list[Token], lang: Language, log: Log) -> list[Token]:
    """Give every word its kind in `lang`; reserved words are errors and become identifiers."""
    table = _table(lang.key)
    known_as = table.get
    out = [t if (k := known_as(t[1])) is None else (k, t[1], t[2]) for t in tokens]
    if _ODD.isdisjoint([t[0] for t in out]):
        return out
    out = []
    append = out.append
    before, in_layout = "", 0  # the word before, open parentheses of a layout qualifier
    for token in _unsigned_ints(tokens) if lang.has("EXT_gpu_shader4") else tokens:
        kind, text = token[0], token[1]
        if text == "(" and (in_layout or before == "layout"):
            in_layout += 1
        elif text == ")" and in_layout:
            in_layout -= 1
        before = text
        if kind == "id" or kind == "painted":
            known = table.get(text)
            if in_layout and text in _LAYOUTS:
                known = "id"
            if known is None and kind == "id":
                append(token)
                continue
            kind = known or "id"
            if kind == "reserved":
                log.error(
                    f"'{text}' is a reserved word in {lang.name}", token[2], token[2] + len(text)
                )
                kind = "id"
            append((kind, text, token[2]))
        elif kind in ("#", "##"):
            log.error(f"unexpected '{token[1]}'", token[2])
        else:
            append(token)
    return out
