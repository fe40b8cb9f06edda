"""Lesson: 64-bit vertex attributes on an API with explicit slots."""

from __future__ import annotations

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Code, Diff, Page, Table, lesson

__all__ = ["SHADER", "split"]

SHADER = """#version 410
layout(location = 0) in dvec3 wide;
layout(location = 2) in vec4 plain;
void main() {
    gl_Position = vec4(wide, 1.0) + plain;
}
"""


def split(source: str = SHADER) -> tuple[str, str, list[tuple[str, ...]]]:
    """NIR before and after the pass, and the inputs: name, type and slot on both sides."""
    with recording() as log:
        shader = compile_shader(Stage.VERTEX, source, CompileOptions(version_limit=410))
        program = link_program([shader], LinkOptions(separable=True))
    for linked in program.shaders.values():
        linked.unref()
    text = next(r.before for r in log.records if r.name == "lower_io")
    split_shader = parse(text)
    inputs: list[tuple[str, ...]] = []
    inputs += [("before", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    run_passes(split_shader, ["split_64bit_vs_inputs", "copy_prop", "dce"])
    inputs += [("after", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    after = print_shader(split_shader)
    split_shader.unref()
    return text, after, inputs


def _inputs(shader: Shader) -> list[Variable]:
    return list(shader.variables_of(Mode.SHADER_IN))


@lesson("dvec_inputs", "64-bit vertex attributes in 16-byte slots")
def run(page: Page, driver: str) -> None:
    """A `dvec3` fills two 16-byte slots: GL names one location, an explicit API wants two inputs.

    See the pass that gives each slot its own variable.
    """
    page.section(
        "One location, two slots",
        """Three or four doubles do not fit 16 bytes. OpenGL lets the shader name one location
        and implies the next; an API whose slots are explicit needs two variables at consecutive
        locations. The pass clamps the variable to `dvec2`, makes a second one in the next slot
        for the rest, loads both, puts the vector together again, and rewrites the uses that
        come after that, and only those: the loads themselves must keep reading the halves.""",
    )
    page.add(Code(SHADER.strip(), "glsl"))
    before, after, inputs = split()
    page.add(Table(("", "input", "type", "slot"), inputs))
    page.add(Diff(before, after, "before and after split_64bit_vs_inputs"))
