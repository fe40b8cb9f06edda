"""Rules of linking and of layouts, each as a minimal pair: what links, and what just does not.

A program is a list of shaders, `STAGE: source`; a vertex or fragment shader that a rule is not
about is added. Where native Mesa decides otherwise, `native` says why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD = "#version 440\n"
PLAIN = {
    "vertex": "void main() { gl_Position = vec4(0.0); }",
    "fragment": "out vec4 plain; void main() { plain = vec4(1.0); }",
}
STAGES = ("vertex", "tess_ctrl", "tess_eval", "geometry", "fragment", "compute")


@dataclass(frozen=True)
class Rule:
    name: str
    accepted: str
    rejected: str
    native: str = ""  # why Mesa accepts what is rejected, or rejects what is accepted


def shaders(program: str, attributes: int) -> list[tuple[str, str]]:
    """(stage, source) of a program written as `STAGE: code`, one shader after the other.

    `@` and `@-1` are the number of vertex attributes, and one less.
    """
    program = re.sub(r"@(-\d+)?", lambda m: str(attributes + int(m[1] or 0)), program)
    found: list[tuple[str, str]] = []
    for line in program.strip().splitlines():
        stage, colon, rest = line.partition(":")
        if colon and stage in STAGES:
            found.append((stage, rest))
        else:  # a directive, or what follows one
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line + "\n")
    named = {stage for stage, _ in found}
    if "compute" not in named:
        found += [(stage, code) for stage, code in PLAIN.items() if stage not in named]
    return [(stage, HEAD + code) for stage, code in found]


def varying(out: str, into: str, write: str = "v = vec4(1.0);", read: str = "v") -> str:
    """A vertex output and the fragment input behind it."""
    return (
        f"vertex: {out} void main() {{ gl_Position = vec4(0.0); {write} }}\n"
        f"fragment: {into} out vec4 c; void main() {{ c = vec4({read}); }}"
    )


def outputs(declarations: str, body: str) -> str:
    return f"fragment: {declarations} void main() {{ {body} }}"


def inputs(declarations: str, value: str) -> str:
    return f"vertex: {declarations} void main() {{ gl_Position = vec4({value}); }}"


def uniforms(one: str, other: str, first: str = "u", second: str = "u") -> str:
    """A uniform of both stages."""
    return (
        f"vertex: {one} void main() {{ gl_Position = vec4({first}); }}\n"
        f"fragment: {other} out vec4 c; void main() {{ c = vec4({second}); }}"
    )


def captured(declarations: str, body: str = "v = 1.0;") -> str:
    """A vertex shader with outputs that transform feedback may write."""
    return f"vertex: {declarations} void main() {{ gl_Position = vec4(0.0); {body} }}"


def subroutines(count: int) -> str:
    bodies = "".join(f"subroutine(S) void f{i}() {{}}" for i in range(count))
    return f"subroutine void S(); {bodies} subroutine uniform S s; void main() {{ s(); }}"


GEOMETRY = "layout(points) in; layout(points, max_vertices = 1) out;"

RULES = (
    # Varyings between stages.
    Rule(
        "types match",
        varying("out vec4 v;", "in vec4 v;"),
        varying("out vec3 v;", "in vec4 v;", "v = vec3(1.0);"),
    ),
    Rule(
        "sizes of arrays match",
        varying("out vec4 v[2];", "in vec4 v[2];", "v[0] = v[1] = vec4(1.0);", "v[0] + v[1]"),
        varying("out vec4 v[2];", "in vec4 v[3];", "v[0] = v[1] = vec4(1.0);", "v[0] + v[2]"),
    ),
    Rule(
        "what is read is written by the stage before",
        varying("out vec4 v;", "in vec4 v;"),
        varying("out vec4 w;", "in vec4 v;", "w = vec4(1.0);"),
    ),
    Rule(
        "an input nobody reads needs no output",
        varying("out vec4 w;", "in vec4 v;", "w = vec4(1.0);", "1.0"),
        varying("out vec4 w;", "in vec4 v;", "w = vec4(1.0);"),
    ),
    Rule(
        "members of blocks match",
        varying("out B { vec4 a; } o;", "in B { vec4 a; } i;", "o.a = vec4(1.0);", "i.a"),
        varying("out B { vec4 a; } o;", "in B { vec4 b; } i;", "o.a = vec4(1.0);", "i.b"),
    ),
    Rule(
        "blocks match in the order of their members",
        varying(
            "out B { vec4 a; vec4 b; } o;",
            "in B { vec4 a; vec4 b; } i;",
            "o.a = o.b = vec4(1.0);",
            "i.a + i.b",
        ),
        varying(
            "out B { vec4 a; vec4 b; } o;",
            "in B { vec4 b; vec4 a; } i;",
            "o.a = o.b = vec4(1.0);",
            "i.a + i.b",
        ),
    ),
    Rule(
        "an instance name alone does not matter, whether it is an array does",
        varying(
            "out B { vec4 a; } o[2];",
            "in B { vec4 a; } i[2];",
            "o[0].a = o[1].a = vec4(1.0);",
            "i[0].a + i[1].a",
        ),
        varying(
            "out B { vec4 a; } o[2];", "in B { vec4 a; } i;", "o[0].a = o[1].a = vec4(1.0);", "i.a"
        ),
    ),
    Rule(
        "locations match, not names",
        varying(
            "layout(location = 1) out vec4 w;", "layout(location = 1) in vec4 v;", "w = vec4(1.0);"
        ),
        varying(
            "layout(location = 1) out vec4 w;", "layout(location = 2) in vec4 v;", "w = vec4(1.0);"
        ),
    ),
    Rule(
        "components of one location do not overlap",
        varying(
            "layout(location = 0, component = 0) out vec2 a;"
            "layout(location = 0, component = 2) out vec2 b;",
            "layout(location = 0, component = 0) in vec2 a;"
            "layout(location = 0, component = 2) in vec2 b;",
            "a = b = vec2(1.0);",
            "a, b",
        ),
        varying(
            "layout(location = 0, component = 0) out vec3 a;"
            "layout(location = 0, component = 2) out vec2 b;",
            "layout(location = 0, component = 0) in vec3 a;"
            "layout(location = 0, component = 2) in vec2 b;",
            "a = vec3(1.0); b = vec2(1.0);",
            "a.xy, b",
        ),
    ),
    Rule(
        "components of one location have one underlying type",
        varying(
            "layout(location = 0, component = 0) flat out int a;"
            "layout(location = 0, component = 1) flat out uint b;",
            "layout(location = 0, component = 0) flat in int a;"
            "layout(location = 0, component = 1) flat in uint b;",
            "a = 1; b = 1u;",
            "a, b, 0, 0",
        ),
        varying(
            "layout(location = 0, component = 0) flat out int a;"
            "layout(location = 0, component = 1) flat out float b;",
            "layout(location = 0, component = 0) flat in int a;"
            "layout(location = 0, component = 1) flat in float b;",
            "a = 1; b = 1.0;",
            "a, b, 0, 0",
        ),
    ),
    Rule(
        "a component needs a location",
        varying(
            "layout(location = 0, component = 1) out float a;",
            "layout(location = 0, component = 1) in float a;",
            "a = float(1.0);",
            "a",
        ),
        varying(
            "layout(component = 1) out float a;",
            "layout(component = 1) in float a;",
            "a = float(1.0);",
            "a",
        ),
    ),
    Rule(
        "a component leaves room",
        varying(
            "layout(location = 0, component = 2) out vec2 a;",
            "layout(location = 0, component = 2) in vec2 a;",
            "a = vec2(1.0);",
            "a, a",
        ),
        varying(
            "layout(location = 0, component = 3) out vec2 a;",
            "layout(location = 0, component = 3) in vec2 a;",
            "a = vec2(1.0);",
            "a, a",
        ),
    ),
    Rule(
        "there are four components",
        varying(
            "layout(location = 0, component = 3) out float a;",
            "layout(location = 0, component = 3) in float a;",
            "a = float(1.0);",
            "a",
        ),
        varying(
            "layout(location = 0, component = 4) out float a;",
            "layout(location = 0, component = 4) in float a;",
            "a = float(1.0);",
            "a",
        ),
    ),
    Rule(
        "a component leaves room for doubles",
        varying(
            "layout(location = 0, component = 0) flat out dvec2 a;",
            "layout(location = 0, component = 0) flat in dvec2 a;",
            "a = dvec2(1.0);",
            "vec2(a), 0.0, 0.0",
        ),
        varying(
            "layout(location = 0, component = 2) flat out dvec2 a;",
            "layout(location = 0, component = 2) flat in dvec2 a;",
            "a = dvec2(1.0);",
            "vec2(a), 0.0, 0.0",
        ),
    ),
    Rule(
        "more than two doubles have no component",
        varying(
            "layout(location = 0) flat out dvec3 a;",
            "layout(location = 0) flat in dvec3 a;",
            "a = dvec3(1.0);",
            "vec3(a), 0.0",
        ),
        varying(
            "layout(location = 0, component = 0) flat out dvec3 a;",
            "layout(location = 0, component = 0) flat in dvec3 a;",
            "a = dvec3(1.0);",
            "vec3(a), 0.0",
        ),
    ),
    Rule(
        "doubles begin at even components",
        varying(
            "layout(location = 0, component = 2) flat out double a;",
            "layout(location = 0, component = 2) flat in double a;",
            "a = double(1.0);",
            "float(a)",
        ),
        varying(
            "layout(location = 0, component = 1) flat out double a;",
            "layout(location = 0, component = 1) flat in double a;",
            "a = double(1.0);",
            "float(a)",
        ),
    ),
    Rule(
        "a component is of no matrix",
        varying(
            "layout(location = 0, component = 0) out vec2 a;",
            "layout(location = 0, component = 0) in vec2 a;",
            "a = vec2(1.0);",
            "a, a",
        ),
        varying(
            "layout(location = 0, component = 0) out mat2 a;",
            "layout(location = 0, component = 0) in mat2 a;",
            "a = mat2(1.0);",
            "a[0], a[1]",
        ),
    ),
    Rule(
        "a component is of no structure",
        varying(
            "layout(location = 0, component = 0) out vec2 a[2];",
            "layout(location = 0, component = 0) in vec2 a[2];",
            "a[0] = a[1] = vec2(1.0);",
            "a[0], a[1]",
        ),
        varying(
            "struct S { vec2 b; }; layout(location = 0, component = 0) out S a;",
            "struct S { vec2 b; }; layout(location = 0, component = 0) in S a;",
            "a.b = vec2(1.0);",
            "a.b, a.b",
        ),
    ),
    Rule(
        "a varying with a location does not run into the next",
        varying(
            "layout(location = 0) out vec4 v[2]; layout(location = 2) out vec4 w;",
            "layout(location = 0) in vec4 v[2]; layout(location = 2) in vec4 w;",
            "v[0] = v[1] = w = vec4(1.0);",
            "v[0] + v[1] + w",
        ),
        varying(
            "layout(location = 0) out vec4 v[2]; layout(location = 1) out vec4 w;",
            "layout(location = 0) in vec4 v[2]; layout(location = 1) in vec4 w;",
            "v[0] = v[1] = w = vec4(1.0);",
            "v[0] + v[1] + w",
        ),
    ),
    # Outputs of the fragment stage.
    Rule(
        "outputs do not share a location",
        outputs(
            "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;",
            "a = b = vec4(1.0);",
        ),
        outputs(
            "layout(location = 0) out vec4 a; layout(location = 0) out vec4 b;",
            "a = b = vec4(1.0);",
        ),
    ),
    Rule(
        "the two colours of a blend are two indices of one location",
        outputs(
            "layout(location = 0, index = 0) out vec4 a;"
            "layout(location = 0, index = 1) out vec4 b;",
            "a = b = vec4(1.0);",
        ),
        outputs(
            "layout(location = 0, index = 1) out vec4 a;"
            "layout(location = 0, index = 1) out vec4 b;",
            "a = b = vec4(1.0);",
        ),
        native="Mesa looks for two outputs at one place only among those of index 0",
    ),
    Rule(
        "a second colour has only the first locations",
        outputs("layout(location = 0, index = 1) out vec4 b;", "b = vec4(1.0);"),
        outputs("layout(location = 1, index = 1) out vec4 b;", "b = vec4(1.0);"),
    ),
    Rule(
        "locations of outputs are below the number of draw buffers",
        outputs("layout(location = 7) out vec4 a;", "a = vec4(1.0);"),
        outputs("layout(location = 8) out vec4 a;", "a = vec4(1.0);"),
    ),
    Rule(
        "an array of outputs has locations for all",
        outputs("layout(location = 6) out vec4 a[2];", "a[0] = a[1] = vec4(1.0);"),
        outputs("layout(location = 7) out vec4 a[2];", "a[0] = a[1] = vec4(1.0);"),
    ),
    # Attributes.
    Rule(
        "locations of attributes are below the limit",
        inputs("layout(location = @-1) in vec4 a;", "a"),
        inputs("layout(location = @) in vec4 a;", "a"),
    ),
    Rule(
        "a matrix has locations for its columns",
        inputs("layout(location = @-4) in mat4 a;", "a[0] + a[3]"),
        inputs("layout(location = @-3) in mat4 a;", "a[0] + a[3]"),
    ),
    Rule(
        "all attributes fit",
        inputs("in vec4 a[@-1]; in vec4 b;", "a[0] + a[@-2] + b"),
        inputs("in vec4 a[@]; in vec4 b;", "a[0] + a[@-1] + b"),
    ),
    Rule(
        "locations that are given leave room for the rest",
        inputs("layout(location = 3) in vec4 a; in vec4 b[@-4];", "a + b[0] + b[@-5]"),
        inputs("layout(location = 3) in vec4 a; in vec4 b[@-3];", "a + b[0] + b[@-4]"),
    ),
    # Uniforms and blocks.
    Rule(
        "uniforms of both stages have one type",
        uniforms("uniform vec4 u;", "uniform vec4 u;"),
        uniforms("uniform vec4 u;", "uniform vec3 u;", second="u, 1.0"),
    ),
    Rule(
        "uniforms of both stages have one initialiser",
        uniforms("uniform float u = 2.0;", "uniform float u = 2.0;"),
        uniforms("uniform float u = 2.0;", "uniform float u = 3.0;"),
    ),
    Rule(
        "a structure without a name is none with one",
        uniforms("uniform struct { vec4 a; } u;", "uniform struct { vec4 a; } u;", "u.a", "u.a"),
        uniforms("uniform struct { vec4 a; } u;", "uniform struct S { vec4 a; } u;", "u.a", "u.a"),
    ),
    Rule(
        "structures of uniforms are the same",
        uniforms(
            "struct S { vec4 a; }; uniform S u;", "struct S { vec4 a; }; uniform S u;", "u.a", "u.a"
        ),
        uniforms(
            "struct S { vec4 a; }; uniform S u;", "struct S { vec4 b; }; uniform S u;", "u.a", "u.b"
        ),
    ),
    Rule(
        "structures of uniforms have as many fields",
        uniforms(
            "struct S { vec4 a, b; }; uniform S u;",
            "struct S { vec4 a, b; }; uniform S u;",
            "u.a",
            "u.b",
        ),
        uniforms(
            "struct S { vec4 a, b; }; uniform S u;",
            "struct S { vec4 a; }; uniform S u;",
            "u.a",
            "u.a",
        ),
    ),
    Rule(
        "fields of structures of uniforms have one type",
        uniforms(
            "struct S { float a[2]; }; uniform S u;",
            "struct S { float a[2]; }; uniform S u;",
            "u.a[0]",
            "u.a[1]",
        ),
        uniforms(
            "struct S { float a[2]; }; uniform S u;",
            "struct S { float a[3]; }; uniform S u;",
            "u.a[0]",
            "u.a[1]",
        ),
    ),
    Rule(
        "structures of uniforms have one name",
        uniforms(
            "struct S { vec4 a; }; uniform S u[2];",
            "struct S { vec4 a; }; uniform S u[2];",
            "u[0].a",
            "u[1].a",
        ),
        uniforms(
            "struct S { vec4 a; }; uniform S u[2];",
            "struct T { vec4 a; }; uniform T u[2];",
            "u[0].a",
            "u[1].a",
        ),
    ),
    Rule(
        "a structure is no vector",
        uniforms(
            "struct S { vec4 a; }; uniform S u;", "struct S { vec4 a; }; uniform S w;", "u.a", "w.a"
        ),
        uniforms("struct S { vec4 a; }; uniform S u;", "uniform vec4 u;", "u.a", "u"),
    ),
    Rule(
        "an array is not what it is of",
        uniforms("uniform vec4 u[1];", "uniform vec4 u[1];", "u[0]", "u[0]"),
        uniforms("uniform vec4 u[1];", "uniform vec4 u;", "u[0]", "u"),
    ),
    Rule(
        "what an array is of is no array",
        uniforms("uniform vec4 u;", "uniform vec4 u;"),
        uniforms("uniform vec4 u;", "uniform vec4 u[1];", "u", "u[0]"),
    ),
    Rule(
        "arrays of arrays have the sizes of both",
        uniforms("uniform vec4 u[2][3];", "uniform vec4 u[2][3];", "u[0][0]", "u[0][1]"),
        uniforms("uniform vec4 u[2][3];", "uniform vec4 u[2][4];", "u[0][0]", "u[0][1]"),
    ),
    Rule(
        "an array without a size takes that of another shader of its stage",
        "vertex: uniform vec4 u[3]; vec4 g(); void main() { gl_Position = u[2] + g(); }\n"
        "vertex: uniform vec4 u[]; vec4 g() { return u[1]; }",
        "vertex: uniform vec4 u[3]; vec4 g(); void main() { gl_Position = u[2] + g(); }\n"
        "vertex: uniform vec4 u[]; vec4 g() { return u[3]; }",
    ),
    Rule(
        "locations of uniforms do not overlap",
        uniforms(
            "layout(location = 2) uniform vec4 u;",
            "layout(location = 3) uniform vec4 w;",
            second="w",
        ),
        uniforms(
            "layout(location = 2) uniform vec4 u;",
            "layout(location = 2) uniform vec4 w;",
            second="w",
        ),
    ),
    Rule(
        "one uniform has one location",
        uniforms("layout(location = 2) uniform vec4 u;", "layout(location = 2) uniform vec4 u;"),
        uniforms("layout(location = 2) uniform vec4 u;", "layout(location = 3) uniform vec4 u;"),
    ),
    Rule(
        "an array takes a location for each element",
        uniforms(
            "layout(location = 2) uniform vec4 u[3];",
            "layout(location = 5) uniform vec4 w;",
            "u[2]",
            "w",
        ),
        uniforms(
            "layout(location = 2) uniform vec4 u[3];",
            "layout(location = 4) uniform vec4 w;",
            "u[2]",
            "w",
        ),
    ),
    Rule(
        "uniform blocks of one name have the same members",
        uniforms("uniform B { vec4 u; };", "uniform B { vec4 u; };"),
        uniforms("uniform B { vec4 u; };", "uniform B { vec3 u; };", second="u, 1.0"),
    ),
    Rule(
        "uniform blocks of one name have one layout",
        uniforms("layout(std140) uniform B { vec4 u; };", "layout(std140) uniform B { vec4 u; };"),
        uniforms("layout(std140) uniform B { vec4 u; };", "layout(shared) uniform B { vec4 u; };"),
    ),
    Rule(
        "uniform blocks of one name have one binding",
        uniforms(
            "layout(binding = 1) uniform B { vec4 u; };",
            "layout(binding = 1) uniform B { vec4 u; };",
        ),
        uniforms(
            "layout(binding = 1) uniform B { vec4 u; };",
            "layout(binding = 2) uniform B { vec4 u; };",
        ),
    ),
    Rule(
        "row-major blocks are so everywhere",
        uniforms(
            "layout(row_major) uniform B { mat4 u; };",
            "layout(row_major) uniform B { mat4 u; };",
            "u[0]",
            "u[0]",
        ),
        uniforms(
            "layout(row_major) uniform B { mat4 u; };", "uniform B { mat4 u; };", "u[0]", "u[0]"
        ),
    ),
    Rule(
        "a member without an instance is no other uniform",
        uniforms("uniform B { vec4 u; };", "uniform C { vec4 w; };", second="w"),
        uniforms("uniform B { vec4 u; };", "uniform vec4 u;"),
    ),
    Rule(
        "offsets of members ascend and do not overlap",
        uniforms(
            "layout(std140) uniform B { layout(offset = 0) vec4 a;layout(offset = 16) vec4 b; };",
            "",
            "a + b",
            "1.0",
        ),
        uniforms(
            "layout(std140) uniform B { layout(offset = 0) vec4 a;layout(offset = 8) vec2 b; };",
            "",
            "a + b.xyxy",
            "1.0",
        ),
    ),
    Rule(
        "an offset is a multiple of the type's alignment",
        uniforms("layout(std140) uniform B { layout(offset = 32) vec4 a; };", "", "a", "1.0"),
        uniforms("layout(std140) uniform B { layout(offset = 24) vec4 a; };", "", "a", "1.0"),
    ),
    Rule(
        "an alignment is a power of two",
        uniforms("layout(std140, align = 32) uniform B { vec4 a; };", "", "a", "1.0"),
        uniforms("layout(std140, align = 24) uniform B { vec4 a; };", "", "a", "1.0"),
    ),
    Rule(
        "samplers keep to one kind",
        uniforms(
            "uniform sampler2D u;",
            "uniform sampler2D u;",
            "textureLod(u, vec2(0), 0.0)",
            "texture(u, vec2(0))",
        ),
        uniforms(
            "uniform sampler2D u;",
            "uniform sampler3D u;",
            "textureLod(u, vec2(0), 0.0)",
            "texture(u, vec3(0))",
        ),
    ),
    Rule(
        "counters of one binding do not overlap",
        outputs(
            "layout(binding = 0, offset = 0) uniform atomic_uint a;"
            "layout(binding = 0, offset = 4) uniform atomic_uint b; out vec4 c;",
            "c = vec4(atomicCounter(a) + atomicCounter(b));",
        ),
        outputs(
            "layout(binding = 0, offset = 0) uniform atomic_uint a;"
            "layout(binding = 0, offset = 0) uniform atomic_uint b; out vec4 c;",
            "c = vec4(atomicCounter(a) + atomicCounter(b));",
        ),
    ),
    Rule(
        "storage blocks of one name have the same members",
        uniforms("", "buffer B { vec4 u; };", "1.0"),
        "fragment: buffer B { vec4 u; }; out vec4 c; vec4 f(); void main() { c = u + f(); }\n"
        "fragment: buffer B { vec4 u; vec4 w; }; vec4 f() { return u + w; }",
    ),
    # Several shaders of one stage.
    Rule(
        "one main",
        "fragment: void f(); out vec4 c; void main() { c = vec4(1.0); f(); }\n"
        "fragment: void f() {}",
        "fragment: out vec4 c; void main() { c = vec4(1.0); }\nfragment: void main() {}",
    ),
    Rule(
        "a function that is called is defined",
        "fragment: float f(); out vec4 c; void main() { c = vec4(f()); }\n"
        "fragment: float f() { return 1.0; }",
        "fragment: float f(); out vec4 c; void main() { c = vec4(f()); }\n"
        "fragment: float f(int i) { return 1.0; }",
    ),
    Rule(
        "a function is defined once",
        "fragment: float f(); out vec4 c; void main() { c = vec4(f()); }\n"
        "fragment: float f() { return 1.0; }\nfragment: float f(int i) { return 1.0; }",
        "fragment: float f(); out vec4 c; void main() { c = vec4(f()); }\n"
        "fragment: float f() { return 1.0; }\nfragment: float f() { return 1.0; }",
    ),
    Rule(
        "global variables of a stage have one type",
        "fragment: float g; void f(); out vec4 c; void main() { f(); c = vec4(g); }\n"
        "fragment: float g; void f() { g = 1.0; }",
        "fragment: float g; void f(); out vec4 c; void main() { f(); c = vec4(g); }\n"
        "fragment: vec4 g; void f() { g = vec4(1.0); }",
    ),
    # Geometry, tessellation, compute.
    Rule(
        "a geometry shader says what it takes",
        f"geometry: {GEOMETRY} void main() {{ EmitVertex(); }}",
        "geometry: layout(points, max_vertices = 1) out; void main() { EmitVertex(); }",
    ),
    Rule(
        "a geometry shader says what it makes",
        f"geometry: {GEOMETRY} void main() {{ EmitVertex(); }}",
        "geometry: layout(points) in; layout(max_vertices = 1) out; void main() { EmitVertex(); }",
    ),
    Rule(
        "a geometry shader says how much it makes",
        f"geometry: {GEOMETRY} void main() {{ EmitVertex(); }}",
        "geometry: layout(points) in; layout(points) out; void main() { EmitVertex(); }",
    ),
    Rule(
        "layouts of one stage agree",
        f"geometry: {GEOMETRY} void f(); void main() {{ f(); }}\n"
        "geometry: layout(points) in; void f() { EmitVertex(); }",
        f"geometry: {GEOMETRY} void f(); void main() {{ f(); }}\n"
        "geometry: layout(lines) in; void f() { EmitVertex(); }",
    ),
    Rule(
        "inputs of a geometry shader are as many as its primitive has corners",
        "vertex: out vec4 v; void main() { v = gl_Position = vec4(0.0); }\n"
        f"geometry: {GEOMETRY} in vec4 v[1];"
        "void main() { gl_Position = v[0]; EmitVertex(); }",
        "vertex: out vec4 v; void main() { v = gl_Position = vec4(0.0); }\n"
        f"geometry: {GEOMETRY} in vec4 v[2];"
        "void main() { gl_Position = v[0]; EmitVertex(); }",
    ),
    Rule(
        "an array of input blocks is as long as the primitive, whoever declares it",
        "vertex: out B { vec4 v; }; void main() { v = gl_Position = vec4(0.0); }\n"
        "geometry: in B { vec4 v; } b[]; layout(points, max_vertices = 1) out;"
        "void main() { gl_Position = b[2].v; EmitVertex(); }\n"
        "geometry: layout(triangles) in;",
        "vertex: out B { vec4 v; }; void main() { v = gl_Position = vec4(0.0); }\n"
        "geometry: in B { vec4 v; } b[]; layout(points, max_vertices = 1) out;"
        "void main() { gl_Position = b[3].v; EmitVertex(); }\n"
        "geometry: layout(triangles) in;",
    ),
    Rule(
        "an array of output blocks is as long as the patch, whoever declares it",
        "tess_ctrl: out B { vec4 v; } b[3]; void main() { gl_TessLevelOuter[0] = 1.0;"
        "b[gl_InvocationID].v = vec4(0.0); }\n"
        "tess_ctrl: layout(vertices = 3) out;\n"
        "tess_eval: layout(triangles) in; in B { vec4 v; } b[];"
        "void main() { gl_Position = b[2].v; }",
        "tess_ctrl: out B { vec4 v; } b[4]; void main() { gl_TessLevelOuter[0] = 1.0;"
        "b[gl_InvocationID].v = vec4(0.0); }\n"
        "tess_ctrl: layout(vertices = 3) out;\n"
        "tess_eval: layout(triangles) in; in B { vec4 v; } b[];"
        "void main() { gl_Position = b[2].v; }",
    ),
    Rule(
        "a control shader says how many vertices its patches have",
        "tess_ctrl: layout(vertices = 3) out; void main() { gl_TessLevelOuter[0] = 1.0; }\n"
        "tess_eval: layout(triangles) in; void main() { gl_Position = vec4(0.0); }",
        "tess_ctrl: void main() { gl_TessLevelOuter[0] = 1.0; }\n"
        "tess_eval: layout(triangles) in; void main() { gl_Position = vec4(0.0); }",
    ),
    Rule(
        "an evaluation shader says what it tessellates",
        "tess_eval: layout(isolines) in; void main() { gl_Position = vec4(0.0); }",
        "tess_eval: layout(equal_spacing) in; void main() { gl_Position = vec4(0.0); }",
    ),
    Rule(
        "a control shader comes with an evaluation shader",
        "tess_ctrl: layout(vertices = 3) out; void main() { gl_TessLevelOuter[0] = 1.0; }\n"
        "tess_eval: layout(triangles) in; void main() { gl_Position = vec4(0.0); }",
        "tess_ctrl: layout(vertices = 3) out; void main() { gl_TessLevelOuter[0] = 1.0; }",
    ),
    Rule(
        "a compute shader says how large its groups are",
        "compute: layout(local_size_x = 4) in; void main() {}",
        "compute: void main() {}",
    ),
    Rule(
        "compute shaders of one program agree on the size",
        "compute: layout(local_size_x = 4) in; void f(); void main() { f(); }\n"
        "compute: layout(local_size_x = 4) in; void f() {}",
        "compute: layout(local_size_x = 4) in; void f(); void main() { f(); }\n"
        "compute: layout(local_size_x = 8) in; void f() {}",
    ),
    Rule(
        "a compute shader is alone",
        "compute: layout(local_size_x = 4) in; void main() {}",
        "compute: layout(local_size_x = 4) in; void main() {}\n"
        "vertex: void main() { gl_Position = vec4(0.0); }",
    ),
    Rule(
        "early tests are of fragment shaders, redeclared depth agrees with itself",
        "fragment: layout(depth_less) out float gl_FragDepth; void f();"
        "void main() { gl_FragDepth = 0.5; f(); }\n"
        "fragment: layout(depth_less) out float gl_FragDepth; void f() { gl_FragDepth = 0.25; }",
        "fragment: layout(depth_less) out float gl_FragDepth; void f();"
        "void main() { gl_FragDepth = 0.5; f(); }\n"
        "fragment: layout(depth_greater) out float gl_FragDepth; void f() { gl_FragDepth = 0.25; }",
    ),
    Rule(
        "clip distances fit",
        "vertex: out float gl_ClipDistance[8];"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[7] = 1.0; }",
        "vertex: out float gl_ClipDistance[9];"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[8] = 1.0; }",
    ),
    Rule(
        "clip and cull distances fit together",
        "vertex: \n#extension GL_ARB_cull_distance : require\n"
        "out float gl_ClipDistance[4]; out float gl_CullDistance[4];"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[3] = gl_CullDistance[3] = 1.0; }",
        "vertex: \n#extension GL_ARB_cull_distance : require\n"
        "out float gl_ClipDistance[5]; out float gl_CullDistance[4];"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[4] = gl_CullDistance[3] = 1.0; }",
    ),
    Rule(
        "distances without a size are as many as the greatest index says",
        "vertex: \n#extension GL_ARB_cull_distance : require\n"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[3] = gl_CullDistance[3] = 1.0; }",
        "vertex: \n#extension GL_ARB_cull_distance : require\n"
        "void main() { gl_Position = vec4(0.0); gl_ClipDistance[7] = gl_CullDistance[0] = 1.0; }",
    ),
    # Transform feedback.
    Rule(
        "a variable goes to a buffer that there is",
        captured("layout(xfb_buffer = 3, xfb_offset = 0) out float v;"),
        captured("layout(xfb_buffer = 4, xfb_offset = 0) out float v;"),
    ),
    Rule(
        "a block goes to a buffer that there is",
        captured("layout(xfb_buffer = 3) out B { layout(xfb_offset = 0) float v; };"),
        captured("layout(xfb_buffer = 4) out B { layout(xfb_offset = 0) float v; };"),
    ),
    Rule(
        "what comes after goes to a buffer that there is",
        captured("layout(xfb_buffer = 3) out; out float v;"),
        captured("layout(xfb_buffer = 4) out; out float v;"),
    ),
    Rule(
        "a variable is written at a multiple of its words",
        captured("layout(xfb_offset = 4) out float v;"),
        captured("layout(xfb_offset = 6) out float v;"),
    ),
    Rule(
        "a variable of doubles is written at a multiple of eight bytes",
        captured("layout(xfb_offset = 8) out double v;"),
        captured("layout(xfb_offset = 4) out double v;"),
    ),
    Rule(
        "a block is written at a multiple of its words",
        captured("layout(xfb_offset = 4) out B { float v; };"),
        captured("layout(xfb_offset = 6) out B { float v; };"),
    ),
    Rule(
        "a block with doubles is written at a multiple of eight bytes",
        captured("layout(xfb_offset = 8) out B { float v; double d; };"),
        captured("layout(xfb_offset = 4) out B { float v; double d; };"),
    ),
    Rule(
        "a member is written at a multiple of its words",
        captured("out B { layout(xfb_offset = 4) float v; };"),
        captured("out B { layout(xfb_offset = 6) float v; };"),
    ),
    Rule(
        "a member of doubles is written at a multiple of eight bytes",
        captured("out B { layout(xfb_offset = 8) double v; };"),
        captured("out B { layout(xfb_offset = 4) double v; };"),
    ),
    Rule(
        "a stride is a number of words",
        captured("layout(xfb_stride = 8, xfb_offset = 0) out float v;"),
        captured("layout(xfb_stride = 6, xfb_offset = 0) out float v;"),
    ),
    Rule(
        "a stride said by a member is a number of words",
        captured("out B { layout(xfb_stride = 8, xfb_offset = 0) float v; };"),
        captured("out B { layout(xfb_stride = 6, xfb_offset = 0) float v; };"),
    ),
    Rule(
        "a buffer has one stride, whoever says it",
        captured("layout(xfb_stride = 8) out; layout(xfb_stride = 8) out B { float v; };"),
        captured("layout(xfb_stride = 8) out; layout(xfb_stride = 12) out B { float v; };"),
    ),
    Rule(
        "a buffer has one stride, a member says it, too",
        captured("layout(xfb_stride = 8) out B { layout(xfb_stride = 8) float v; };"),
        captured("layout(xfb_stride = 8) out B { layout(xfb_stride = 12) float v; };"),
    ),
    Rule(
        "a captured array has a size",
        captured("layout(xfb_offset = 0) out float v[3];", "v[2] = 1.0;"),
        captured("layout(xfb_offset = 0) out float v[];", "v[2] = 1.0;"),
    ),
    Rule(
        "an array in a captured block has a size",
        captured("layout(xfb_offset = 0) out B { float v[3]; };", "v[2] = 1.0;"),
        captured("layout(xfb_offset = 0) out B { float v[]; };", "v[2] = 1.0;"),
    ),
    Rule(
        "a captured array in a block has a size",
        captured("out B { layout(xfb_offset = 0) float v[3]; };", "v[2] = 1.0;"),
        captured("out B { layout(xfb_offset = 0) float v[]; };", "v[2] = 1.0;"),
    ),
    Rule(
        "there are as many subroutines as the limit says",
        f"fragment: {subroutines(256)}",
        f"fragment: {subroutines(257)}",
    ),
    *(
        Rule(
            f"an array that does not end a {packing} buffer has constant indices",
            outputs(
                f"layout({packing}) buffer B {{ vec4 a[]; vec4 b; }}; out vec4 c;", "c = a[2] + b;"
            ),
            outputs(
                f"layout({packing}) buffer B {{ vec4 a[]; vec4 b; }}; uniform int i; out vec4 c;",
                "c = a[i] + b;",
            ),
        )
        for packing in ("std140", "std430", "shared", "packed")
    ),
)
