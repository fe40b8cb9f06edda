"""The rules of GLSL ES in `es_rules.txt`, here and as the native GL has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL
from tests.conftest import native_context

_FILE = Path(__file__).parent / "es_rules.txt"
_LINE = re.compile(r'([+-])(!?) (\w+) (\S+) "(.*?)" (.*)')
STAGES = {
    "VERTEX": (Stage.VERTEX, GL.VERTEX_SHADER),
    "FRAGMENT": (Stage.FRAGMENT, GL.FRAGMENT_SHADER),
    "COMPUTE": (Stage.COMPUTE, GL.COMPUTE_SHADER),
    "TESS_CTRL": (Stage.TESS_CTRL, GL.TESS_CONTROL_SHADER),
    "TESS_EVAL": (Stage.TESS_EVAL, GL.TESS_EVALUATION_SHADER),
    "GEOMETRY": (Stage.GEOMETRY, GL.GEOMETRY_SHADER),
}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    stage: str
    source: str
    accepted: bool
    native: bool  # what the native GL says


def _cases() -> list[Case]:
    found: list[Case] = []
    for line in table_rows(_FILE):
        if line[2:].startswith("word "):
            _, _, version, *words = line.split()
            head = f"#version {version} es\n" if version != "100" else ""
            for word in words:
                source = f"{head}void main() {{ float {word} = 1.0; }}"
                found.append(
                    Case(f"{word} {version}", "VERTEX", source, line[0] == "+", line[0] == "+")
                )
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        sign, differs, stage, versions, name, code = match.groups()
        accepted = sign == "+"
        code = code.partition(" //! ")[0].replace("\\n", "\n")
        for version in versions.split(","):
            head = f"#version {version} es\n" if version != "-" else ""
            case = Case(
                f"{name} {version}", stage, head + code, accepted, accepted != bool(differs)
            )
            found.append(case)
    return found


CASES = _cases()


def test_every_rule_holds() -> None:
    options = CompileOptions(api="es")
    wrong = []
    for case in CASES:
        compiled = compile_shader(STAGES[case.stage][0], case.source, options)
        if compiled.ok != case.accepted:
            wrong.append(f"{case.name}: {compiled.info_log.splitlines()[:1]}")
        elif not compiled.ok:
            assert "error" in compiled.info_log
    assert wrong == []
    assert len(CASES) > 1600


@pytest.mark.native
def test_the_native_gl_has_the_same_rules() -> None:
    gl = native_context(profile="es", version=(3, 2))
    wrong = []
    for case in CASES:
        shader = gl.create_shader(STAGES[case.stage][1])
        gl.shader_source(shader, case.source)
        gl.compile_shader(shader)
        if bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]) != case.native:
            wrong.append(f"{case.name}: {gl.get_shader_info_log(shader)}")
        gl.delete_shader(shader)
    gl.release()
    assert wrong == []


def test_names_have_an_end() -> None:
    for length, accepted in ((1024, True), (1025, False)):
        source = f"#version 300 es\nvoid main() {{ float {'a' * length} = 1.0; }}"
        assert compile_shader(Stage.VERTEX, source, CompileOptions(api="es")).ok == accepted
