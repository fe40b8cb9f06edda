"""More rules of linking, of what meets: shaders of one stage, and stages that meet by location."""

from __future__ import annotations

from tests.glsl.link_rules import GEOMETRY, Rule, varying

_USED = "vertex: {} void f(); void main() {{ gl_Position = vec4(0.0); f(); }}\n"


def joined(one: str, other: str, use: str = "x") -> str:
    """Two vertex shaders that declare the same; the second uses it."""
    return _USED.format(one) + f"vertex: {other} void f() {{ gl_Position.x = float({use}); }}"


def same(name: str, accepted: str, rejected: str, use: str = "x", native: str = "") -> Rule:
    """What `accepted` and `rejected` differ in matters beside a shader with the former."""
    plain = accepted
    return Rule(name, joined(plain, accepted, use), joined(plain, rejected, use), native)


def located(out: str, into: str, write: str = "a = vec4(1.0);", read: str = "b") -> str:
    return varying(out, into, write, read)


_CONTROL = (
    "tess_ctrl: {} void main() {{ gl_TessLevelOuter[0] = 1.0; {} }}\n"
    "tess_eval: layout(triangles) in; {} void main() {{ gl_Position = vec4(0.0); {} }}"
)

_VERTEX_PAIR = (
    "vertex: {0} void f(); void main() {{ vec4 x = gl_Position; f(); }}\n"
    "vertex: {0} void f() {{ gl_Position = vec4(0.0); }}\n"
)
_READS_POSITION = (
    f"geometry: {GEOMETRY} in gl_PerVertex {{ vec4 gl_Position; }} gl_in[]; "
    "void main() { gl_Position = gl_in[0].gl_Position; EmitVertex(); }"
)

RULES = (
    # Declarations of a block in two shaders of a stage.
    same(
        "a block has an instance name in each shader or in none",
        "uniform B { float x; };",
        "uniform B { float x; } b;",
        "1.0",
    ),
    same("a block is packed alike", "layout(std140) uniform B { float x; };",
         "layout(shared) uniform B { float x; };"),
    same("a block has as many members", "uniform B { float x; };", "uniform B { float x, y; };"),
    same("a member has one name", "uniform B { float x, y; };", "uniform B { float x, z; };"),
    same("a member has one type", "uniform B { float x; vec2 y; };",
         "uniform B { float x; vec3 y; };"),
    same("an instance is an array in each", "uniform B { float x; } b[2];",
         "uniform B { float x; } b;", "1.0"),
    same("arrays of instances are as long", "uniform B { float x; } b[2];",
         "uniform B { float x; } b[3];", "b[1].x"),
    same("arrays of arrays of instances are as long", "uniform B { float x; } b[2][3];",
         "uniform B { float x; } b[2][4];", "b[1][1].x"),
    same("a block has one binding", "layout(binding = 1) uniform B { float x; };",
         "layout(binding = 2) uniform B { float x; };"),
    Rule(
        "a block may have its binding in one shader only",
        joined("layout(binding = 1) uniform B { float x; };", "uniform B { float x; };"),
        joined("layout(binding = 1) uniform B { float x; };", "uniform B { int x; };"),
    ),
    same("matrices are rows in each", "uniform B { float x; layout(row_major) mat2 m; };",
         "uniform B { float x; layout(column_major) mat2 m; };"),
    same("a member has one offset",
         "layout(std140) uniform B { float x; layout(offset = 16) int y; };",
         "layout(std140) uniform B { float x; layout(offset = 32) int y; };"),
    # Structures and constants.
    same("a structure has as many members", "struct S { float x; }; uniform S s;",
         "struct S { float x, y; }; uniform S s;", "s.x"),
    same("members of a structure have one name", "struct S { float x, y; }; uniform S s;",
         "struct S { float x, z; }; uniform S s;", "s.x"),
    same("members of a structure have one type", "struct S { float x; int y; }; uniform S s;",
         "struct S { float x; uint y; }; uniform S s;", "s.x"),
    same("a structure has one name", "struct S { float x; }; uniform S s;",
         "struct T { float x; }; uniform T s;", "s.x"),
    Rule(
        "structures without a name are the same if their members are",
        joined("uniform struct { float x; } s;", "uniform struct { float x; } s;", "s.x"),
        joined("uniform struct { float x; } s;", "uniform struct { float y; } s;", "s.y"),
    ),
    Rule(
        "sizes of arrays are filled in, in structures as well",
        joined("uniform float x[3];", "uniform float x[];", "x[2]"),
        joined("uniform float x[3];", "uniform float x[];", "x[3]"),
    ),
    same("a constant has one value", "const float x = 1.0;", "const float x = 2.0;"),
    same("constants of arrays have one value", "const float x[2] = float[](1.0, 2.0);",
         "const float x[2] = float[](1.0, 3.0);", "x[1]"),
    # What meets by location.
    Rule(
        "an input with a location has an output with it",
        located("layout(location = 1) out vec4 a;", "layout(location = 1) in vec4 b;"),
        located("out vec4 b;", "layout(location = 1) in vec4 b;", "b = vec4(1.0);"),
    ),
    Rule(
        "an output with a location has none by its name alone",
        located("layout(location = 1) out vec4 b;", "layout(location = 1) in vec4 b;",
                "b.x = 1.0;"),
        located("layout(location = 1) out vec4 b;", "in vec4 b;", "b.x = 1.0;"),
    ),
    Rule(
        "a location has components",
        located("layout(location = 1, component = 2) out float b;",
                "layout(location = 1, component = 2) in float b;", "b = 1.0;"),
        located("layout(location = 1, component = 2) out float b;",
                "layout(location = 1, component = 1) in float b;", "b = 1.0;"),
    ),
    Rule(
        "an element of an array is met by its location",
        located("layout(location = 1) out vec4 a[3];", "layout(location = 3) in vec4 b;",
                "a[2] = vec4(1.0);"),
        located("layout(location = 1) out vec4 a[3];", "layout(location = 4) in vec4 b;",
                "a[2] = vec4(1.0);"),
        "Mesa takes whole variables only",
    ),
    Rule(
        "a column of a matrix is met by its location",
        located("layout(location = 2) out mat4 a;", "layout(location = 2) in vec4 b;",
                "a = mat4(1.0);"),
        located("layout(location = 2) out mat4 a;", "layout(location = 1) in vec4 b;",
                "a = mat4(1.0);"),
        "Mesa takes whole variables only",
    ),
    Rule(
        "what meets by a location is of one kind",
        located("layout(location = 0) out float a; "
                "layout(location = 0, component = 1) out float c;",
                "layout(location = 0) in float b;", "a = c = 1.0;"),
        located("layout(location = 0) out float a; "
                "layout(location = 0, component = 1) flat out int c;",
                "layout(location = 0) in float b;", "a = 1.0; c = 1;"),
    ),
    # gl_PerVertex between stages.
    Rule(
        "stages of tessellation redeclare the same members",
        _CONTROL.format(
            "layout(vertices = 3) out; out gl_PerVertex { vec4 gl_Position; float gl_PointSize; } "
            "gl_out[];",
            "gl_out[gl_InvocationID].gl_Position = vec4(1.0);",
            "in gl_PerVertex { vec4 gl_Position; float gl_PointSize; } gl_in[];",
            "gl_Position = gl_in[0].gl_Position;",
        ),
        _CONTROL.format(
            "layout(vertices = 3) out; out gl_PerVertex { vec4 gl_Position; float gl_PointSize; } "
            "gl_out[];",
            "gl_out[gl_InvocationID].gl_Position = vec4(1.0);",
            "in gl_PerVertex { vec4 gl_Position; } gl_in[];",
            "gl_Position = gl_in[0].gl_Position;",
        ),
    ),
    Rule(
        "a stage writes what any of its shaders writes",
        _VERTEX_PAIR.format("out gl_PerVertex { vec4 gl_Position; };") + _READS_POSITION,
        _VERTEX_PAIR.format("") + _READS_POSITION,
    ),
    # Sizes that a layout gives.
    Rule(
        "outputs of a patch are as long as another shader of the stage says",
        "tess_ctrl: layout(vertices = 3) out; void f(); void main() { f(); }\n"
        "tess_ctrl: out vec4 v[]; void f() { v[gl_InvocationID] = vec4(1.0); }\n"
        "tess_eval: layout(triangles) in; in vec4 v[]; void main() { gl_Position = v[2]; }",
        "tess_ctrl: layout(vertices = 3) out; void f(); void main() { f(); }\n"
        "tess_ctrl: out vec4 v[4]; void f() { v[gl_InvocationID] = vec4(1.0); }\n"
        "tess_eval: layout(triangles) in; in vec4 v[]; void main() { gl_Position = v[2]; }",
        "Mesa leaves it without a size",
    ),
    Rule(
        "blocks of a geometry shader are as long in each of its shaders",
        f"geometry: {GEOMETRY} in B {{ vec4 x; }} b[1]; void f(); void main() {{ f(); }}\n"
        "geometry: in B { vec4 x; } b[]; void f() { gl_Position = b[0].x; EmitVertex(); }\n"
        "vertex: out B { vec4 x; } b; void main() { gl_Position = b.x = vec4(0.0); }",
        f"geometry: {GEOMETRY} in B {{ vec4 x; }} b[1]; void f(); void main() {{ f(); }}\n"
        "geometry: in B { vec4 x; } b[2]; void f() { gl_Position = b[0].x; EmitVertex(); }\n"
        "vertex: out B { vec4 x; } b; void main() { gl_Position = b.x = vec4(0.0); }",
    ),
)  # fmt: skip
