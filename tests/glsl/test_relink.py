"""A compiled shader may be linked again and again, with any partners, in any order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import pytest

from gallette.compiler.glsl import CompiledShader, LinkOptions, link_program
from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.text.printer import print_shader
from tests.glsl.shaders import compiled, fingerprint

V, F, G = Stage.VERTEX, Stage.FRAGMENT, Stage.GEOMETRY
VERTEX = "#version 430\nin vec4 p; out vec4 v; void main() { gl_Position = p; v = p; }"


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


SETS = {
    "an array one shader leaves open": [
        (
            F,
            "#version 430\nfloat a[]; out vec4 c; float f(); void main() { c = vec4(f() + a[1]); }",
        ),
        (F, "#version 430\nfloat a[5]; float f() { a[4] = 2.0; return a[4]; }"),
        (F, "#version 430\nfloat a[3]; float f() { a[2] = 2.0; return a[2]; }"),
    ],
    "an array in a block without a size": [
        (
            V,
            "#version 430\nbuffer B { float n; float a[]; }; void main() { gl_Position.x = a[1]; }",
        ),
        (F, "#version 430\nbuffer B { float n; float a[]; }; void main() { a[7] = n; }"),
        (F, "#version 430\nbuffer B { float n; float a[]; }; void main() { a[2] = n; }"),
    ],
    "the size of gl_TexCoord": [
        (V, "void main() { gl_Position = gl_Vertex; gl_TexCoord[2] = vec4(1.0); }"),
        (F, "void main() { gl_FragColor = gl_TexCoord[2]; }"),
        (F, "varying vec4 gl_TexCoord[5]; void main() { gl_FragColor = gl_TexCoord[4]; }"),
    ],
    "the primitive of a geometry shader": [
        (
            G,
            "#version 430\nlayout(points, max_vertices = 1) out; in vec4 v[]; void f();"
            "void main() { gl_Position = v[0] + gl_in[0].gl_Position; f(); EmitVertex(); }",
        ),
        (G, "#version 430\nlayout(triangles) in; in vec4 v[]; void f() { gl_Position += v[2]; }"),
        (G, "#version 430\nlayout(points) in; in vec4 v[]; void f() { gl_Position += v[0]; }"),
        (V, VERTEX),
    ],
    "who writes an output": [
        (F, "#version 430\nout vec4 c; void f(); void main() { f(); }"),
        (F, "#version 430\nout vec4 c; void f() { c = vec4(1.0); }"),
        (F, "void f() { gl_FragColor = vec4(1.0); }"),
    ],
    "qualifiers of a built-in": [
        (V, "#version 430\nvoid f(); in vec4 p; void main() { gl_Position = p; f(); }"),
        (V, "#version 430\ninvariant gl_Position; void f() { gl_Position *= 2.0; }"),
        (V, "#version 430\nvoid f() { gl_Position *= 2.0; }"),
    ],
    "locations of block members": [
        (
            V,
            "#version 430\nlayout(location = 2) out B { vec4 a; vec4 b; } o; in vec4 p;"
            "void main() { gl_Position = p; o.a = p; o.b = p; }",
        ),
        (
            F,
            "#version 430\nlayout(location = 2) in B { vec4 a; vec4 b; } i; out vec4 c;"
            "void main() { c = i.a + i.b; }",
        ),
    ],
    "initialisers of a uniform": [
        (V, "#version 430\nuniform float u; in vec4 p; void main() { gl_Position = p * u; }"),
        (F, "#version 430\nuniform float u = 2.0; out vec4 c; void main() { c = vec4(u); }"),
        (
            F,
            "#version 430\nlayout(location = 3) uniform int u; out int c; void main() { c = u; }",
        ),
    ],
}


@pytest.mark.parametrize("name", SETS)
def test_links_do_not_disturb_each_other(name: str) -> None:
    sources = SETS[name]

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
