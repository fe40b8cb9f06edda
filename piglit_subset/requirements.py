"""The `[require]` section: which context a test needs, and whether this implementation qualifies.

It is evaluated in two steps, because most requirements need a context: `ContextNeeds` reads
profile, version and window size from the text alone; `check` then queries the live context. Unmet
requirements are no failure: they skip the test, with the requirement as the reason.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gallette.piglit_subset.shader_test import ShaderTest
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_EXTENSION = re.compile(r"!?(GL_)?[A-Z0-9]{2,6}_\w+$")
_VERSION = re.compile(r"(\d+)\.(\d+)")

_OF_CONTEXTS = {
    *("SIZE", "rlimit", "depthbuffer", "SSO", "SEPARABLE", "ignore_missing_uniforms", "SPIRV"),
}
"""Requirements that every context meets: they say how the test is to be run. Building the programs
decides whether SPIR-V is available.
"""


class Skip(Exception):
    """The test does not apply to this implementation; the text says why."""


@dataclass(frozen=True, slots=True)
class ContextNeeds:
    """The requirements for creating the context."""

    profile: str = "compat"
    version: tuple[int, int] = (2, 1)
    glsl: tuple[int, int] = (1, 10)
    glsl_es: bool = False
    size: tuple[int, int] = (250, 250)
    separable: bool = False
    sso: bool = False
    ignores_missing: bool = False  # uniforms that the program does not have may be set
    spirv: str = "NO"  # whether sections of SPIR-V replace those of GLSL: YES, NO or ONLY


def _version(words: Words) -> tuple[int, int]:
    """Major and minor version; `3.3` and `3.30` are equal."""
    text = words.word("a version")
    match = _VERSION.fullmatch(text)
    if not match:
        raise words.error(f"expected a version such as 3.30, not {text!r}")
    return int(match[1]), int(match[2]) // 10 if len(match[2]) == 2 else int(match[2])


def _glsl_version(words: Words) -> tuple[int, int]:
    """Major version, and the minor one in hundredths, as GLSL spells it."""
    major, minor = _version(words)
    return major, minor * 10


def _comparison(words: Words) -> str:
    return words.choice("a comparison", *COMPARE)


def _gl_for_glsl(glsl: tuple[int, int], es: bool) -> tuple[int, int]:
    """The first GL version that includes this GLSL version."""
    number = glsl[0] * 100 + glsl[1]
    if es:
        return {100: (2, 0), 300: (3, 0), 310: (3, 1), 320: (3, 2)}.get(number, (2, 0))
    special = {110: (2, 0), 120: (2, 1), 130: (3, 0), 140: (3, 1), 150: (3, 2)}
    return special.get(number, (number // 100, number // 10 % 10))


def context_needs(test: ShaderTest) -> ContextNeeds:
    """Read the requirements for creating a context; malformed lines raise."""
    gl, glsl, size = (0, 0), (0, 0), (250, 250)
    api, es_language, separable, sso, ignores_missing = "", False, False, False, False
    spirv = "NO"
    for line in test.require:
        words = line.words(parted=True)
        first = words.word("a requirement")
        if first == "GL" and not words.done:
            kind = words.optional("ES", "COMPAT", "CORE")
            compare, version = _comparison(words), _version(words)
            api = {"ES": "es", "COMPAT": "compat", "CORE": "core"}.get(kind, api)
            gl = max(gl, version) if compare in (">=", ">", "==") else gl
        elif first == "GLSL":
            es_language = words.optional("ES") == "ES"
            compare, version = _comparison(words), _glsl_version(words)
            glsl = max(glsl, version) if compare in (">=", ">", "==") else glsl
            api = "es" if es_language else api
        elif first == "SIZE":
            width, height = words.sizes(2, 4096)
            size = (width, height)
        elif first == "SSO":
            sso = words.word("ENABLED") == "ENABLED"
        elif first == "SEPARABLE":
            words.choice("PROGRAM", "PROGRAM")
            separable = words.word("ENABLED") == "ENABLED"
        elif first == "ignore_missing_uniforms":
            ignores_missing = True
        elif first == "SPIRV":
            spirv = words.choice("whether SPIR-V counts", "YES", "NO", "ONLY")
    version = max(gl, _gl_for_glsl(glsl, es_language) if glsl != (0, 0) else (0, 0))
    if api == "es":
        version = max(version, (2, 0))
    elif not api:
        # A GL 3.1 context is a core context in tests that should run everywhere.
        api = "core" if version >= (3, 1) else "compat"
    version = max(version, (2, 0))
    if api == "compat" and version == (3, 1):
        version = (3, 2)  # 3.1 has no profiles: only 3.2 can be asked for compatibility
    return ContextNeeds(
        api, version, glsl, es_language, size, separable, sso, ignores_missing, spirv
    )


def check(gl: Any, test: ShaderTest, needs: ContextNeeds) -> None:
    """Raise `Skip` for the first requirement the live context does not meet."""
    for line in test.require:
        words = line.words(parted=True)
        first = words.word("a requirement")
        text = " ".join(words.texts)
        if first == "GL" and len(words) >= 2:
            words.optional("ES", "COMPAT", "CORE")
            met = COMPARE[_comparison(words)](gl_version(gl), _version(words))
        elif first == "GLSL":
            words.optional("ES")
            compare, wanted = _comparison(words), _glsl_version(words)
            met = COMPARE[compare](glsl_version(gl), wanted)
        elif first in _OF_CONTEXTS:
            continue
        elif first == "INT" or (first.startswith("GL_") and words.peek() in COMPARE):
            name = words.word("an enum") if first == "INT" else first
            compare, number = _comparison(words), words.integer()
            met = COMPARE[compare](_integer(gl, name), number)
        elif _EXTENSION.match(first):
            absent = first.startswith("!")
            name = first.lstrip("!")
            name = name if name.startswith("GL_") else f"GL_{name}"
            met = (name in extensions(gl, needs.profile)) != absent
        else:
            raise line.error(f"unknown requirement {first!r}")
        words.end()
        if not met:
            raise Skip(f"requires {text}")


def _integer(gl: Any, name: str) -> int:
    value = getattr(GL, name.removeprefix("GL_"), None)
    if value is None:
        raise Skip(f"requires {name}, which is unknown here")
    answer = int(gl.get_integerv(value)[0])
    if gl.get_error():
        raise Skip(f"requires {name}, which this context does not have")
    return answer


# A process uses few kinds of contexts, and hundreds of tests query the extensions of each.
_KNOWN: dict[tuple[str, ...], frozenset[str]] = {}


def extensions(gl: Any, profile: str) -> frozenset[str]:
    kind = (profile, str(gl.get_string(GL.RENDERER)), str(gl.get_string(GL.VERSION)))
    if kind not in _KNOWN:
        if gl_version(gl) >= (3, 0):
            count = gl.get_integerv(GL.NUM_EXTENSIONS)[0]
            found = frozenset(gl.get_stringi(GL.EXTENSIONS, i) for i in range(count))
        else:
            found = frozenset(str(gl.get_string(GL.EXTENSIONS)).split())
        _KNOWN[kind] = found
    return _KNOWN[kind]


def _reported_version(gl: Any, name: int) -> tuple[int, int]:
    match = _VERSION.search(str(gl.get_string(name)))
    return (int(match[1]), int(match[2])) if match else (0, 0)


def gl_version(gl: Any) -> tuple[int, int]:
    return _reported_version(gl, GL.VERSION)


def glsl_version(gl: Any) -> tuple[int, int]:
    return _reported_version(gl, GL.SHADING_LANGUAGE_VERSION)
