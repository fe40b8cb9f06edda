"""What a program says about itself: types, sizes and stages of uniforms, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

_TYPES = {
    "float": "FLOAT", "vec2": "FLOAT_VEC2", "vec3": "FLOAT_VEC3", "vec4": "FLOAT_VEC4",
    "int": "INT", "ivec2": "INT_VEC2", "ivec3": "INT_VEC3", "ivec4": "INT_VEC4",
    "uint": "UNSIGNED_INT", "uvec2": "UNSIGNED_INT_VEC2", "uvec3": "UNSIGNED_INT_VEC3",
    "uvec4": "UNSIGNED_INT_VEC4", "bool": "BOOL", "bvec2": "BOOL_VEC2", "bvec3": "BOOL_VEC3",
    "bvec4": "BOOL_VEC4", "mat2": "FLOAT_MAT2", "mat3": "FLOAT_MAT3", "mat4": "FLOAT_MAT4",
    "mat2x3": "FLOAT_MAT2x3", "mat2x4": "FLOAT_MAT2x4", "mat3x2": "FLOAT_MAT3x2",
    "mat3x4": "FLOAT_MAT3x4", "mat4x2": "FLOAT_MAT4x2", "mat4x3": "FLOAT_MAT4x3",
}  # fmt: skip
_SAMPLERS = {
    "sampler1D": ("SAMPLER_1D", "0.5"),
    "sampler2D": ("SAMPLER_2D", "vec2(0.5)"),
    "sampler3D": ("SAMPLER_3D", "vec3(0.5)"),
    "samplerCube": ("SAMPLER_CUBE", "vec3(0.5)"),
    "sampler2DArray": ("SAMPLER_2D_ARRAY", "vec3(0.5)"),
    "isampler2D": ("INT_SAMPLER_2D", "vec2(0.5)"),
    "usampler2D": ("UNSIGNED_INT_SAMPLER_2D", "vec2(0.5)"),
    "sampler2DShadow": ("SAMPLER_2D_SHADOW", "vec3(0.5)"),
}


def tests() -> Iterator[tuple[str, str, str]]:
    for kind, name in _TYPES.items():
        use = "u" if kind in ("float", "int", "uint", "bool") else "u.x"
        use = "u[0].x" if kind.startswith("mat") else use
        yield _uniform(kind, name, f"float({use})", f"float({use.replace('u', 'a[2]', 1)})")
    for kind, (name, coordinate) in _SAMPLERS.items():
        yield _sampler(kind, name, coordinate)
    for kind in ("float", "vec2", "vec3", "vec4", "int", "ivec4", "uint", "uvec4", "mat3"):
        yield _input(kind)


def _uniform(kind: str, name: str, use: str, element: str) -> tuple[str, str, str]:
    query = "verify program_interface_query GL_UNIFORM"
    body = f"""[require]
GLSL >= 4.30
SIZE 8 8

[vertex shader passthrough]

[fragment shader]
#version 430
uniform {kind} u;
uniform {kind} a[3];
out vec4 color;

void main()
{{
	color = vec4({use} + {element});
}}

[test]
{query} u GL_TYPE GL_{name}
{query} u GL_ARRAY_SIZE 1
{query} u GL_BLOCK_INDEX -1
{query} u GL_REFERENCED_BY_FRAGMENT_SHADER 1
{query} u GL_REFERENCED_BY_VERTEX_SHADER 0
{query} a[0] GL_TYPE GL_{name}
{query} a[0] GL_ARRAY_SIZE 3
active uniform u GL_UNIFORM_TYPE GL_{name}
active uniform a[0] GL_UNIFORM_SIZE 3
"""
    purpose = f"A {kind} uniform and an array of them are described as what they are."
    return f"glsl-4.30/interface-queries/uniform-{kind}", purpose, body


def _sampler(kind: str, name: str, coordinate: str) -> tuple[str, str, str]:
    query = "verify program_interface_query GL_UNIFORM"
    body = f"""[require]
GLSL >= 4.30
SIZE 8 8

[vertex shader passthrough]

[fragment shader]
#version 430
uniform {kind} s;
out vec4 color;

void main()
{{
	color = vec4(texture(s, {coordinate}));
}}

[test]
{query} s GL_TYPE GL_{name}
{query} s GL_OFFSET -1
{query} s GL_BLOCK_INDEX -1
active uniform s GL_UNIFORM_TYPE GL_{name}
"""
    purpose = f"A {kind} is described as one, without offset and block."
    return f"glsl-4.30/interface-queries/uniform-{kind}", purpose, body


def _input(kind: str) -> tuple[str, str, str]:
    scalar = kind in ("float", "int", "uint")
    use = "a" if scalar else "a[0].x" if kind.startswith("mat") else "a.x"
    query = "verify program_interface_query"
    body = f"""[require]
GLSL >= 4.30
SIZE 8 8

[vertex shader]
#version 430
in vec4 piglit_vertex;
layout(location = 5) in {kind} a;
out float v;

void main()
{{
	v = float({use});
	gl_Position = piglit_vertex;
}}

[fragment shader]
#version 430
in float v;
layout(location = 2) out vec4 color;

void main()
{{
	color = vec4(v);
}}

[test]
{query} GL_PROGRAM_INPUT a GL_TYPE GL_{_TYPES[kind]}
{query} GL_PROGRAM_INPUT a GL_LOCATION 5
{query} GL_PROGRAM_INPUT a GL_REFERENCED_BY_VERTEX_SHADER 1
{query} GL_PROGRAM_INPUT a GL_REFERENCED_BY_FRAGMENT_SHADER 0
{query} GL_PROGRAM_OUTPUT color GL_LOCATION 2
{query} GL_PROGRAM_OUTPUT color GL_LOCATION_INDEX 0
{query} GL_PROGRAM_OUTPUT color GL_TYPE GL_FLOAT_VEC4
"""
    purpose = f"A {kind} input is described with its location, and so is the output."
    return f"glsl-4.30/interface-queries/input-{kind}", purpose, body
