"""Which declarations of two stages go together, in a program and in a pipeline of separable ones:
each pair of `declaration_pairs.txt`.

The native OpenGL takes the same pairs, or there is a reason.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

PRECISION = "precision highp float; precision highp int; precision highp sampler2D;"
TABLE = Path(__file__).with_name("declaration_pairs.txt").read_text("ascii")
KINDS = {
    head.split()[0]: (head.split()[1:], lines.splitlines())
    for head, lines in re.findall(r"^\[(.*)\]\n((?:.+\n)+)", TABLE, re.M)
}
CASES = [(kind, version) for kind, (versions, _) in KINDS.items() for version in versions]


class Linker:
    """Compiles each shader once, and links pairs."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        self.shaders: dict[tuple[int, str], int] = {}

    def shader(self, kind: int, text: str) -> int:
        gl = self.gl
        if (kind, text) not in self.shaders:
            name = self.shaders[kind, text] = gl.create_shader(kind)
            gl.shader_source(name, text)
            gl.compile_shader(name)
            assert gl.get_shaderiv(name, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(name)
        return self.shaders[kind, text]

    def links(self, vertex: str, fragment: str) -> bool:
        gl = self.gl
        program = gl.create_program()
        gl.attach_shader(program, self.shader(GL.VERTEX_SHADER, vertex))
        gl.attach_shader(program, self.shader(GL.FRAGMENT_SHADER, fragment))
        gl.link_program(program)
        found = bool(gl.get_programiv(program, GL.LINK_STATUS)[0])
        gl.delete_program(program)
        return found


def texts(version: str, declaration: str, read: str, varying: bool) -> tuple[str, str]:
    """The vertex shader and the fragment shader with a declaration."""
    head = f"#version {version.replace('es', ' es')}\n" + (PRECISION if "es" in version else "")
    write = f"gl_Position = vec4({read});"
    if varying:
        place, kind = re.sub(r"^float\((.*)\)$", r"\1", read), "float"
        if place != read:
            kind = "uint" if "uint" in declaration else "int"
        write = f"gl_Position = vec4(0.0); {place} = {kind}(1);"
    built_in = "" if "es" in version else "out gl_PerVertex { vec4 gl_Position; };"
    vertex = f"{head}{built_in}\n{declaration.replace('@', 'out')}\nvoid main() {{ {write} }}"
    result = "layout(location = 0) out highp vec4 result;"
    fragment = f"{head}\n{result} {declaration.replace('@', 'in')}\n"
    return vertex, fragment + f"void main() {{ result = vec4({read}); }}"


class Pipelines(Linker):
    """Makes each shader a separable program once, and validates pairs."""

    def __init__(self, gl: Any) -> None:
        super().__init__(gl)
        (self.pipeline,) = gl.gen_program_pipelines(1)
        gl.bind_program_pipeline(self.pipeline)
        (vertices,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(vertices)

    def shader(self, kind: int, text: str) -> int:
        gl = self.gl
        if (kind, text) not in self.shaders:
            name = self.shaders[kind, text] = gl.create_shader_programv(kind, 1, [text])
            assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
        return self.shaders[kind, text]

    def links(self, vertex: str, fragment: str) -> bool:
        gl, pipeline = self.gl, self.pipeline
        for kind, text in (("VERTEX", vertex), ("FRAGMENT", fragment)):
            name = self.shader(getattr(GL, f"{kind}_SHADER"), text)
            gl.use_program_stages(pipeline, getattr(GL, f"{kind}_SHADER_BIT"), name)
        gl.validate_program_pipeline(pipeline)
        valid = bool(gl.get_program_pipelineiv(pipeline, GL.VALIDATE_STATUS)[0])
        if not valid:
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            assert errors(gl) == ["GL_INVALID_OPERATION"]
        return valid


def check(kind: str, version: str, linker: type[Linker], mark: str) -> Counter[bool]:
    """Ask both GLs about each pair; returns how often ours says yes and no."""
    es = version.endswith("es")
    options: dict[str, Any] = {"profile": "es" if es else "core", "size": (4, 4)}
    options["version"] = (3, 2) if es else (4, 5)
    native, ours = native_context(**options), create_context("numpipe", **options)
    rows = [line.rsplit(" | ", 1) for line in KINDS[kind][1] if not line.startswith("!")]
    marked = [line.split(" ", 1) for line in KINDS[kind][1] if line.startswith("!")]
    reasons = [text.split(": ", 1)[1] for found, text in marked if found == mark]
    wrong, used, verdicts = [], Counter[str](), Counter[bool]()
    both = linker(native), linker(ours)
    made = [(row[0], texts(version, row[0], row[1], "@" in row[0])) for row in rows]
    for one, (vertex, _) in made:
        for other, (_, fragment) in made:
            theirs, mine = (linker.links(vertex, fragment) for linker in both)
            verdicts[mine] += 1
            pair = f"{one} -> {other}"
            reason = next((r for r in reasons if re.search(r, pair)), "")
            if theirs != mine and reason:
                used[reason] += 1
            elif theirs != mine:
                wrong.append(f"{pair}: native {theirs}, ours {mine}")
    native.release()
    ours.release()
    assert not wrong, "\n".join(wrong)
    assert set(used) == set(reasons)
    return verdicts


@pytest.mark.native
@pytest.mark.parametrize(("kind", "version"), CASES)
def test_two_declarations_are_linked_as_by_native_opengl(kind: str, version: str) -> None:
    verdicts = check(kind, version, Linker, "!")
    assert verdicts[True]
    assert verdicts[False] or kind == "auxiliary"


@pytest.mark.native
@pytest.mark.parametrize(("kind", "version"), [c for c in CASES if "@" in KINDS[c[0]][1][-1]])
def test_separable_programs_are_valid_together_as_on_native_opengl(kind: str, version: str) -> None:
    verdicts = check(kind, version, Pipelines, "!!")
    assert verdicts[True]
    assert verdicts[False] or kind == "auxiliary" or version == "450"
