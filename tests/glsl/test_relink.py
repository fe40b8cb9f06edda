"""A compiled shader may be linked again and again, with any partners, in any order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path

from gallette.compiler.glsl import CompiledShader, LinkOptions, link_program
from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.text.printer import print_shader
from tests.cases import Case, each
from tests.glsl.shaders import compiled, fingerprint

V, F, G = Stage.VERTEX, Stage.FRAGMENT, Stage.GEOMETRY


def outcome(shaders: tuple[CompiledShader, ...]) -> str:
    """Everything a link answers, as text."""
    before = fingerprint(shaders)
    program = link_program(shaders, LinkOptions(api="compat", separable=True))
    texts = [program.info_log, repr(program.uniforms), repr(program.uniform_blocks)]
    texts += [repr(program.storage_blocks), repr(program.buffer_variables)]
    for nir in program.shaders.values():
        texts.append(print_shader(nir))
        nir.unref()
    assert fingerprint(shaders) == before
    return "\n".join(texts)


@each(Path(__file__).with_name("relinked.txt"))
def test_links_do_not_disturb_each_other(case: Case) -> None:
    parts = [part.partition("\n") for part in f"\n{case.text}".split("\n@")[1:]]
    sources = [(Stage(stage), source) for stage, _, source in parts]

    def fresh() -> list[CompiledShader]:
        shaders = [compiled(stage, source) for stage, source in sources]
        assert all(s.ok for s in shaders), [s.info_log for s in shaders]
        return shaders

    subsets = [
        subset for n in (1, 2, 3) for subset in itertools.permutations(range(len(sources)), n)
    ]
    expected = {}
    for subset in subsets:
        shaders = fresh()
        expected[subset] = outcome(tuple(shaders[i] for i in subset))
    assert any("error" not in text for text in expected.values())
    shared = fresh()
    for subset in subsets + subsets[::-1]:
        assert outcome(tuple(shared[i] for i in subset)) == expected[subset], subset


# -- every change of a declaration would be noticed ------------------------------------------------

WHOLE = """#version 430
layout(std140) uniform B { vec4 a[2]; float b; } block;
in vec4 v; out vec4 c; uniform int n; float table[3];
subroutine float way(float x);
subroutine(way) float twice(float x) { return x + x; }
subroutine uniform way chosen;
float f(inout float x) { float y = x; for (int i = 0; i < n; i++) { int k = i; y += k; } return y; }
float g(float x) {
    if (x > 1.0) { float then = x; return then; } else { float otherwise = x; x += otherwise; }
    while (bool more = x < 3.0) { float inside = x; x += inside; }
    for (; bool again = x < 9.0; ) x += 1.0;
    do { float once = x; x += once; } while (x < 20.0);
    switch (n) {
        case 0: float chosen = x; x += chosen; break;
        default: { float deep = x; x = deep; }
    }
    return x;
}
void main() {
    float z = v.x;
    c = block.a[1] + f(z) + g(z) + chosen(z) + table[1] + gl_FragCoord;
}"""


def test_the_fingerprint_of_a_shader_covers_every_field_of_its_declarations() -> None:
    shader = compiled(F, WHOLE, "core")
    assert shader.tree is not None
    found = [x for x in reachable(shader.tree) if isinstance(x, DECLARATIONS)]
    assert {type(x) for x in found} == set(DECLARATIONS)
    before = fingerprint([shader])
    for thing in found:
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            setattr(thing, field.name, "changed")
            assert fingerprint([shader]) != before, (thing, field.name)
            setattr(thing, field.name, value)
    assert fingerprint([shader]) == before


DECLARATIONS = (hir.Shader, hir.Function, hir.Block, hir.Variable, hir.Quals)


def reachable(tree: hir.Shader) -> list[object]:
    """Everything the tree consists of."""
    seen: dict[int, object] = {}
    work: list[object] = [tree]
    while work:
        thing = work.pop()
        if id(thing) in seen or isinstance(thing, (type, t.Type)) or callable(thing):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, Mapping):
            work += thing.values()
        elif isinstance(thing, (list, tuple, set, frozenset)):
            work += thing
        elif dataclasses.is_dataclass(thing):
            work += [getattr(thing, field.name) for field in dataclasses.fields(thing)]
    return list(seen.values())
