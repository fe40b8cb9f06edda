"""The settings of a compile: the context's dialect, and the extensions it supports."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gallette.compiler.debug import is_set
from gallette.compiler.glsl.language import ES_MINIMUM, EXTENSIONS, Language
from gallette.compiler.glsl.parse.macros import Macro
from gallette.compiler.lazy_dataclass import field, lazy_dataclass


@lru_cache(maxsize=16)
def _without_prefix(names: frozenset[str]) -> frozenset[str]:
    return frozenset([name.removeprefix("GL_") for name in names])


Dialect = tuple[str, int, int, frozenset[str] | None, bool]


@lazy_dataclass(frozen=True)
class Settings:
    """The parameters of a compile that the context determines."""

    api: str = "core"
    """core, compat or es"""
    version_limit: int = 460
    es_version_limit: int = 320
    extensions: frozenset[str] | None = None
    """names of supported extensions, with or without `GL_` (kept without); None for all that the
    compiler knows
    """
    include: Callable[[str, str], str | None] | None = None
    """returns the text of `#include <path>`: (path, the including string's name)"""
    strict: bool = field(default_factory=lambda: is_set("glsl:strict"))
    """is what `laxities` lists an error?"""

    def __post_init__(self) -> None:
        if self.extensions is not None:
            object.__setattr__(self, "extensions", _without_prefix(self.extensions))

    @property
    def dialect(self) -> Dialect:
        """The settings that are data."""
        return self.api, self.version_limit, self.es_version_limit, self.extensions, self.strict

    def language(self, stage: str = "") -> Language:
        """The language of a shader without #version."""
        es = self.api == "es"
        language = Language(100 if es else 110, es, not es, stage=stage, strict=self.strict)
        if not es and (self.extensions is None or "ARB_texture_rectangle" in self.extensions):
            language.enable("ARB_texture_rectangle")  # the only extension that is enabled initially
        return language


def is_supported(name: str, version: int, es: bool, offered: frozenset[str] | None) -> bool:
    where = EXTENSIONS.get(name)
    if where is None or (where != "both" and (where == "es") != es):
        return False
    if es and version < ES_MINIMUM.get(name, 0):
        return False
    return offered is None or name in offered


@lru_cache(maxsize=64)
def builtin_macros(
    version: int, es: bool, compat: bool, offered: frozenset[str] | None
) -> dict[str, Macro]:
    """The predefined macros: versions, profiles and supported extensions."""
    values = {"__LINE__": 0, "__FILE__": 0, "__VERSION__": version}
    if es:
        values["GL_ES"] = 1
        values["GL_FRAGMENT_PRECISION_HIGH"] = 1
    elif version >= 130:
        values["GL_FRAGMENT_PRECISION_HIGH"] = 1
    if version >= 150 and not es:
        values["GL_core_profile"] = 1
        if compat:
            values["GL_compatibility_profile"] = 1
    if es and version >= 300:
        values["GL_es_profile"] = 1
    values |= {f"GL_{name}": 1 for name in EXTENSIONS if is_supported(name, version, es, offered)}
    return {
        name: Macro(name, None, (("num", str(value), 0),), True) for name, value in values.items()
    }
