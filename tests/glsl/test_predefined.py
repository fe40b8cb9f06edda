"""Macros that are there from the start, functions that call themselves: as on native GL."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.cases import Case, each
from tests.conftest import native_context
from tests.glsl.shaders import compiled

MACROS = ["GL_ES", "GL_FRAGMENT_PRECISION_HIGH", "GL_core_profile", "GL_compatibility_profile"]
MACROS += ["GL_es_profile", "__LINE__", "__FILE__", "__VERSION__"]


def defined(version: int, profile: str) -> set[str]:
    """By the specifications: GLSL 4.60, 3.3 and GLSL ES 3.20, 3.4."""
    found = {"__LINE__", "__FILE__", "__VERSION__"}
    if profile == "es" or version == 100:
        found |= {"GL_ES", "GL_FRAGMENT_PRECISION_HIGH"}
        return found | ({"GL_es_profile"} if version >= 300 else set())
    if version >= 130:
        found.add("GL_FRAGMENT_PRECISION_HIGH")
    if version >= 150:
        found.add("GL_core_profile")
        if profile == "compatibility":
            found.add("GL_compatibility_profile")
    return found


LANGUAGES = [
    *((v, "") for v in (110, 120, 130, 140, 150, 330, 400, 450)),
    *((v, p) for v in (150, 330, 450) for p in ("core", "compatibility")),
    *((v, "es") for v in (300, 310, 320)),
    (100, ""),
]


def probes() -> Iterator[tuple[int, str, str, bool]]:
    """Version, profile, a shader that is right where a macro is (not) defined, is it?"""
    for (version, profile), macro in itertools.product(LANGUAGES, MACROS):
        head = f"#version {version} {profile}\n"
        there = macro in defined(version, profile)
        yield version, profile, f"{head}#ifndef {macro}\n#error\n#endif\nvoid main() {{}}\n", there
        yield (
            version,
            profile,
            f"{head}#ifdef {macro}\n#error\n#endif\nvoid main() {{}}\n",
            not there,
        )
        if there and macro != "__VERSION__" and not macro.startswith("__"):
            text = f"{head}#if {macro} != 1\n#error\n#endif\nvoid main() {{}}\n"
            yield version, profile, text, True


def test_macros_are_predefined() -> None:
    for version, profile, text, right in probes():
        api = "es" if profile == "es" or version == 100 else "compat"
        assert compiled(Stage.FRAGMENT, text, api).ok == right, text


@pytest.mark.native
@pytest.mark.parametrize("api", ["compat", "es"])
def test_the_same_are_on_native_gl(api: str) -> None:
    gl = native_context(profile=api, version=(3, 2) if api == "es" else (4, 5))
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    for version, profile, text, right in probes():
        # Mesa has neither __LINE__ nor GL_es_profile there, and one macro of a profile.
        both = profile == "compatibility" and "GL_core_profile" in text
        if "def __" in text or "GL_es_profile" in text or both:
            continue
        if (profile == "es" or version == 100) == (api == "es"):
            gl.shader_source(shader, text)
            gl.compile_shader(shader)
            assert bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]) == right, text
    gl.release()


@each(Path(__file__).with_name("nesting.txt"), "calls")
def test_recursion_is_found_wherever_it_is(case: Case) -> None:
    pairs = [word.partition(":")[::2] for word in case.text.split()]
    bodies = [
        f"void {name}() {{ {' '.join(f'{x}();' for x in called)} }}" for name, called in pairs
    ]
    declared = [f"void {name}();" for name, _ in pairs]
    for order in (bodies, bodies[::-1]):
        text = "\n".join(("#version 330", *declared, *order, "void main() { a(); }"))
        result = compiled(Stage.FRAGMENT, text)
        assert result.ok == (case.answer == "none")
        if case.answer == "recursion":
            assert "calls itself" in result.info_log
