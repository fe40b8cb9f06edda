"""Since which version a shader is taken: every small shader in every version of GLSL, and in the
one before with the extension that brings it, here and as the native GL has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.cases import Case, sections
from tests.conftest import native_context
from tests.glsl.shaders import compiled
from tests.glsl.test_es_rules import STAGES

FILE = Path(__file__).with_name("minimum_versions.txt")
VERSIONS = (110, 120, 130, 140, 150, 330, 400, 410, 420, 430, 440, 450)
ES_VERSIONS = (100, 300, 310, 320)


def wanted(when: str, version: int, es: bool) -> bool:
    """Does a version fall into what is written as since when?"""
    for word in when.split():
        if ":" not in word and word.startswith("es") == es:
            low, _, high = word.removeprefix("es").partition("-")
            if int(low) <= version <= int(high or 999):
                return True
    return False


def source(version: str, case: Case, extension: str = "") -> str:
    """The whole shader."""
    stage, _, text = case.text.partition(": ")
    before, _, inside = text.partition("main: ")
    es = version.startswith("es")
    number = version.removeprefix("es")
    head = f"#version {number}{' es' if es and number != '100' else ''}\n"
    head += f"#extension GL_{extension} : require\n" if extension else ""
    if es and stage == "fragment":
        head += "precision highp float; precision highp int;\n"
    return f"{head}{before}\nvoid main() {{ {inside} }}\n"


def cases(native: bool = False) -> Iterator[tuple[str, str, str, bool]]:
    """What it is about, stage, shader, is it taken?"""
    for case in sections(FILE)["since"].cases:
        stage = case.text.partition(":")[0]
        here, _, there = case.answer.partition("|")
        when = there if native and there else here
        for es, versions in ((False, VERSIONS), (True, ES_VERSIONS)):
            for version in versions:
                name = f"{'es' if es else ''}{version}"
                text = source(name, case)
                yield f"{name}: {case.text}", stage, text, wanted(when, version, es)
        for word in here.split():
            extension, colon, name = word.partition(":")
            if colon:
                text = source(name, case, extension)
                yield f"{name} with {extension}: {case.text}", stage, text, True


def test_every_version_takes_what_it_has() -> None:
    wrong = []
    for about, stage, text, taken in cases():
        api = "es" if about.startswith("es") else "compat"
        result = compiled(Stage(stage), text, api, strict=True)
        if result.ok != taken:
            wrong.append(f"{about}: {result.info_log.splitlines()[:1]}")
    assert wrong == []


@pytest.mark.native
@pytest.mark.parametrize("api", ["compat", "es"])
def test_the_native_gl_takes_the_same(api: str) -> None:
    gl = native_context(profile=api, version=(3, 2) if api == "es" else (4, 5))
    shaders = {stage.value: gl.create_shader(kind) for stage, kind in STAGES.values()}
    wrong = []
    for about, stage, text, taken in cases(native=True):
        if about.startswith("es") == (api == "es"):
            gl.shader_source(shaders[stage], text)
            gl.compile_shader(shaders[stage])
            if bool(gl.get_shaderiv(shaders[stage], GL.COMPILE_STATUS)[0]) != taken:
                wrong.append(f"{about}: {gl.get_shader_info_log(shaders[stage])[:90]!r}")
    gl.release()
    assert wrong == []
