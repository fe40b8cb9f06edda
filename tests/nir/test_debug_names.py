"""Source lines and names of variables survive passes, and never change what passes do."""

from __future__ import annotations

from gallette.compiler.glsl.api import compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir import Shader, Stage, clone_shader
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize

SOURCE = """#version 330
in vec3 n;
out vec4 color;
void main() {
    vec3 unit = n * 2.0;
    unit.y = unit.x;
    color = vec4(unit, 1.0);
}
"""


def optimised() -> Shader:
    compiled = compile_shader(Stage.FRAGMENT, SOURCE)
    program = link_program([compiled], LinkOptions(separable=True))
    shader = program.shaders[Stage.FRAGMENT]
    optimize(shader, OptimizeOptions(scalar=True))
    return shader


def test_lines_survive_scalarisation() -> None:
    shader = optimised()
    products = [
        i for i in instrs_of(shader.entry) if (i.dest and "fadd" in repr(i)) or _is(i, "fmul")
    ]
    assert products
    assert {i.loc for i in products} == {5}
    shader.unref()


def _is(instr: object, name: str) -> bool:
    op = getattr(instr, "op", None)
    return getattr(op, "name", "") == name


def test_components_keep_their_names() -> None:
    shader = optimised()
    found = {
        (name, component)
        for i in instrs_of(shader.entry)
        if i.dest is not None
        for name, components, _ in i.dest.names
        for component in components
    }
    assert {("unit", 0), ("unit", 1), ("unit", 2), ("n", 0), ("color", 3)} <= found
    shader.unref()


def test_clones_keep_lines_and_names() -> None:
    shader = optimised()
    clone = clone_shader(shader)
    pairs = zip(instrs_of(shader.entry), instrs_of(clone.entry), strict=True)
    for mine, theirs in pairs:
        assert mine.loc == theirs.loc
        assert mine.dest is None or theirs.dest is None or mine.dest.names == theirs.dest.names
    clone.unref()
    shader.unref()
