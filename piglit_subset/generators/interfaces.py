"""What a program says about itself: types, sizes and stages of uniforms, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import Test, drawn, main, vector

_SCALARS = {"float": "FLOAT", "int": "INT", "uint": "UNSIGNED_INT", "bool": "BOOL"}
_TYPES = {
    vector(scalar, size): name if size == 1 else f"{name}_VEC{size}"
    for scalar, name in _SCALARS.items()
    for size in (1, 2, 3, 4)
}
for _shape in ("2", "3", "4", "2x3", "2x4", "3x2", "3x4", "4x2", "4x3"):
    _TYPES[f"mat{_shape}"] = f"FLOAT_MAT{_shape}"
_PLACE = "glsl-4.30/interface-queries"
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


def tests() -> Iterator[Test]:
    for kind, name in _TYPES.items():
        yield _uniform(kind, name)
    for kind, (name, coordinate) in _SAMPLERS.items():
        yield _sampler(kind, name, coordinate)
    for kind in ("float", "vec2", "vec3", "vec4", "int", "ivec4", "uint", "uvec4", "mat3"):
        yield _input(kind)


def _number(kind: str, name: str) -> str:
    """Something of a variable as a float, so that it is active."""
    part = "" if kind in _SCALARS else ".x"
    return f"float({name}{'[0].x' if kind.startswith('mat') else part})"


def _uniform(kind: str, name: str) -> Test:
    fragment = [f"uniform {kind} u;", f"uniform {kind} a[3];", "out vec4 color;"]
    fragment += main(f"color = vec4({_number(kind, 'u')} + {_number(kind, 'a[2]')});")
    queries = (f"u GL_TYPE GL_{name}", "u GL_ARRAY_SIZE 1", "u GL_BLOCK_INDEX -1",
               "u GL_REFERENCED_BY_FRAGMENT_SHADER 1", "u GL_REFERENCED_BY_VERTEX_SHADER 0",
               f"a[0] GL_TYPE GL_{name}", "a[0] GL_ARRAY_SIZE 3")  # fmt: skip
    commands = [f"verify program_interface_query GL_UNIFORM {query}" for query in queries]
    commands += [f"active uniform u GL_UNIFORM_TYPE GL_{name}"]
    commands += ["active uniform a[0] GL_UNIFORM_SIZE 3"]
    purpose = f"A {kind} uniform and an array of them are described as what they are."
    return f"{_PLACE}/uniform-{kind}", purpose, drawn(430, fragment, commands)


def _sampler(kind: str, name: str, coordinate: str) -> Test:
    fragment = [f"uniform {kind} s;", "out vec4 color;"]
    fragment += main(f"color = vec4(texture(s, {coordinate}));")
    queries = (f"s GL_TYPE GL_{name}", "s GL_OFFSET -1", "s GL_BLOCK_INDEX -1")
    commands = [f"verify program_interface_query GL_UNIFORM {query}" for query in queries]
    commands += [f"active uniform s GL_UNIFORM_TYPE GL_{name}"]
    purpose = f"A {kind} is described as one, without offset and block."
    return f"{_PLACE}/uniform-{kind}", purpose, drawn(430, fragment, commands)


def _input(kind: str) -> Test:
    vertex = ["in vec4 piglit_vertex;", f"layout(location = 5) in {kind} a;", "out float v;"]
    vertex += main(f"v = {_number(kind, 'a')};", "gl_Position = piglit_vertex;")
    fragment = ["in float v;", "layout(location = 2) out vec4 color;", *main("color = vec4(v);")]
    queries = (f"INPUT a GL_TYPE GL_{_TYPES[kind]}", "INPUT a GL_LOCATION 5",
               "INPUT a GL_REFERENCED_BY_VERTEX_SHADER 1",
               "INPUT a GL_REFERENCED_BY_FRAGMENT_SHADER 0", "OUTPUT color GL_LOCATION 2",
               "OUTPUT color GL_LOCATION_INDEX 0",
               "OUTPUT color GL_TYPE GL_FLOAT_VEC4")  # fmt: skip
    commands = [f"verify program_interface_query GL_PROGRAM_{query}" for query in queries]
    purpose = f"A {kind} input is described with its location, and so is the output."
    return f"{_PLACE}/input-{kind}", purpose, drawn(430, fragment, commands, vertex=vertex)
