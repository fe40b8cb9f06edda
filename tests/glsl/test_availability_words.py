"""Every availability of the front end names versions and extensions that exist.

A misspelt one would be a feature that no shader has, which no test of a language would notice.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.compiler.glsl import availability, qualifiers
from gallette.compiler.glsl.builtins import functions, limits, variables
from gallette.compiler.glsl.check import conversions, declaration_rules, redeclarations
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse import keywords
from gallette.compiler.glsl.typenames import TYPE_AVAILABILITY

LANGUAGES = (Language(460), Language(320, es=True, compat=False))
GLSL = Path(availability.__file__).parent


def rows() -> Iterator[str]:
    """The availabilities in tables."""
    yield from (words for name, words in vars(availability).items() if name.isupper())
    yield from TYPE_AVAILABILITY.values()
    for table in (keywords._RESERVED, keywords._STATEMENTS, qualifiers.KEYWORDS):
        yield from table.values()
    yield from conversions._IMPLICIT.values()
    yield from (when for _, when in [*variables.STRUCTS.values(), *limits.CONSTANTS.values()])
    for table in (qualifiers.WORDS, qualifiers.LAYOUTS):
        yield from (row.when for ways in table.values() for row in ways)
    yield from (row.when for row in redeclarations.REDECLARATIONS.values())
    yield from (row.when for row in declaration_rules.rules())
    groups = {group for lines in functions._lines().values() for group, _ in lines}
    groups |= {group for lines in variables._lines().values() for group, _ in lines}
    for group in groups:
        yield from (alternative.partition("@")[0] for alternative in group.split("|"))


def written() -> Iterator[str]:
    """The availabilities that stand in calls of `lang.has` and `c.need`."""
    for path in sorted(GLSL.rglob("*.py")):
        name = ".".join(("gallette.compiler.glsl", *path.relative_to(GLSL).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Attribute(ast.Attribute(attr="lang"), "has"), [words]):
                    pass
                case ast.Call(ast.Attribute(_, "need"), [words, *_]):
                    pass
                case _:
                    continue
            match words:
                case ast.Constant(str(text)):
                    yield text
                case ast.Name(constant) if constant.isupper():
                    yield getattr(importlib.import_module(name), constant)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_availability_names_what_exists(language: Language) -> None:
    tables, calls = set(rows()), set(written())
    assert len(tables) > 100
    assert len(calls) > 25
    for words in tables | calls:
        language.has(words)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize(
    "words", ["* ARB_compute_shadr", "es320 460 125", "desktop+es305", "compat es+EXT_nothing"]
)
def test_an_unknown_version_or_extension_is_an_error_in_every_language(
    language: Language, words: str
) -> None:
    with pytest.raises(AssertionError):
        language.has(words)
