"""Every property of every resource of every interface of a program is what native GL answers.

The program has something of each interface in each stage it may have, twice where a number could
be mistaken for another. Resources are told by name, and numbers of other resources are replaced by
their names, for the order of resources is an implementation's own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

COMMON = """#version 450
struct Item { vec3 at; float w[2]; };
layout(std140, binding = 3) uniform First { vec4 a; mat3 b; layout(row_major) mat4x2 c; } one;
layout(std140, binding = 1) uniform Second { float a[3]; vec2 b; } two[2];
layout(std430, binding = 2) buffer Store { uint count; Item items[]; } store;
layout(location = 2) uniform vec4 tint; layout(location = 5) uniform mat3 turn[2];
layout(location = 9, binding = 4) uniform sampler2DArray pictures[2];
layout(location = 12) uniform struct { float x; ivec2 y; } parts;
"""
TEXTS = {
    GL.VERTEX_SHADER: COMMON
    + """layout(location = 1) in vec4 position; layout(location = 3) in mat2 two_places;
layout(location = 0) out vec4 color; layout(location = 4) flat out ivec2 number;
layout(location = 6) out vec3 several[2];
void main() {
    gl_Position = position + one.a + vec4(two[1].b + two[0].b, two_places[1]);
    gl_Position += vec4(parts.x, parts.y, 0);
    color = one.c[1].xyxy + tint; number = ivec2(gl_VertexID); several[0] = several[1] = one.b[2];
}""",
    GL.FRAGMENT_SHADER: COMMON
    + """layout(location = 0) in vec4 color; layout(location = 4) flat in ivec2 number;
layout(location = 6) in vec3 several[2];
layout(binding = 1, offset = 4) uniform atomic_uint counters[2];
layout(binding = 5) uniform atomic_uint alone;
layout(location = 17, binding = 3, rgba8) writeonly uniform image2D picture;
subroutine vec4 shading(float x);
layout(index = 2) subroutine(shading) vec4 red(float x) { return vec4(x, 0, 0, 1); }
layout(index = 0) subroutine(shading) vec4 grey(float x) { return vec4(x); }
layout(location = 1) subroutine uniform shading how;
layout(location = 0) out vec4 result; layout(location = 2) out uvec2 more[2];
void main() {
    uint n = atomicCounterIncrement(counters[1]) + atomicCounter(alone) + store.count;
    store.items[number.x].w[1] = two[0].a[2] + two[1].a[0] + turn[1][2].x;
    imageStore(picture, number, color);
    result = how(color.x) + texture(pictures[1], several[1]) + store.items[1].at.xyzz;
    more[0] = uvec2(n); more[1] = uvec2(1);
}""",
}
PROGRAMS = {
    title.strip(): body
    for title, _, body in (
        part.partition("]\n")
        for part in re.split(
            r"^\[", Path(__file__).with_name("resource_programs.txt").read_text("ascii"), flags=re.M
        )[1:]
    )
}
VARYINGS = [
    *("gl_Position", "gl_SkipComponents2", "color", "gl_NextBuffer", "gl_SkipComponents4"),
    *("number", "several[1]"),
]
STAGED = [
    GL.REFERENCED_BY_VERTEX_SHADER,
    GL.REFERENCED_BY_FRAGMENT_SHADER,
    GL.REFERENCED_BY_GEOMETRY_SHADER,
    GL.REFERENCED_BY_TESS_CONTROL_SHADER,
    GL.REFERENCED_BY_TESS_EVALUATION_SHADER,
    GL.REFERENCED_BY_COMPUTE_SHADER,
]
TYPED = [GL.TYPE, GL.ARRAY_SIZE]
MEMBER = [GL.OFFSET, GL.BLOCK_INDEX, GL.ARRAY_STRIDE, GL.MATRIX_STRIDE, GL.IS_ROW_MAJOR]
BUFFER = [GL.BUFFER_BINDING, GL.BUFFER_DATA_SIZE, GL.NUM_ACTIVE_VARIABLES, GL.ACTIVE_VARIABLES]
PLACED = [GL.LOCATION, GL.LOCATION_COMPONENT, GL.IS_PER_PATCH]
INTERFACES: dict[int, list[int]] = {
    GL.UNIFORM: [*TYPED, *MEMBER, GL.ATOMIC_COUNTER_BUFFER_INDEX, GL.LOCATION, *STAGED],
    GL.UNIFORM_BLOCK: [*BUFFER, *STAGED],
    GL.ATOMIC_COUNTER_BUFFER: [*BUFFER, *STAGED],
    GL.PROGRAM_INPUT: [*TYPED, *PLACED, *STAGED],
    GL.PROGRAM_OUTPUT: [*TYPED, *PLACED, GL.LOCATION_INDEX, *STAGED],
    GL.BUFFER_VARIABLE: [
        *TYPED, *MEMBER, GL.TOP_LEVEL_ARRAY_SIZE, GL.TOP_LEVEL_ARRAY_STRIDE, *STAGED
    ],
    GL.SHADER_STORAGE_BLOCK: [*BUFFER, *STAGED],
    GL.TRANSFORM_FEEDBACK_VARYING: [*TYPED, GL.OFFSET, GL.TRANSFORM_FEEDBACK_BUFFER_INDEX],
    GL.TRANSFORM_FEEDBACK_BUFFER: [
        GL.BUFFER_BINDING, GL.TRANSFORM_FEEDBACK_BUFFER_STRIDE, GL.NUM_ACTIVE_VARIABLES,
        GL.ACTIVE_VARIABLES,
    ],
    GL.FRAGMENT_SUBROUTINE: [],
    GL.FRAGMENT_SUBROUTINE_UNIFORM: [
        GL.ARRAY_SIZE, GL.NUM_COMPATIBLE_SUBROUTINES, GL.COMPATIBLE_SUBROUTINES, GL.LOCATION
    ],
}  # fmt: skip
UNIFORMS = (
    GL.UNIFORM_TYPE, GL.UNIFORM_SIZE, GL.UNIFORM_NAME_LENGTH, GL.UNIFORM_OFFSET,
    GL.UNIFORM_ARRAY_STRIDE, GL.UNIFORM_MATRIX_STRIDE, GL.UNIFORM_IS_ROW_MAJOR,
)  # fmt: skip
"""the older questions"""
NUMBERED = (GL.FRAGMENT_SUBROUTINE,)
"""native GL gives these another number by name (`layout(index)`) than in their list"""
NAMELESS = (GL.ATOMIC_COUNTER_BUFFER, GL.TRANSFORM_FEEDBACK_BUFFER)
MEMBERS_OF = {
    GL.UNIFORM_BLOCK: GL.UNIFORM,
    GL.ATOMIC_COUNTER_BUFFER: GL.UNIFORM,
    GL.SHADER_STORAGE_BLOCK: GL.BUFFER_VARIABLE,
    GL.TRANSFORM_FEEDBACK_BUFFER: GL.TRANSFORM_FEEDBACK_VARYING,
}
SUMS = (GL.ACTIVE_RESOURCES, GL.MAX_NAME_LENGTH, GL.MAX_NUM_ACTIVE_VARIABLES)


def shaders_of(name: str) -> dict[int, str]:
    """Shader type -> text of a program in the file, or of the one with something of everything."""
    parts = re.split(r"^@(\w+)\n", PROGRAMS.get(name, ""), flags=re.M)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {getattr(GL, f"{k}_SHADER"): "#version 450\n" + text for k, text in pairs} or TEXTS


def program_of(gl: GLInterface, name: str) -> int:
    texts = shaders_of(name)
    varyings = VARYINGS if texts is TEXTS else ()
    return linked(gl, texts, varyings, separable=len(texts) == 1, used=False)


class Asked:
    """What one GL says of the program."""

    def __init__(self, gl: GLInterface, name: str = "") -> None:
        self.gl, self.program = gl, program_of(gl, name)

    def name(self, interface: int, index: int) -> Any:
        """A resource's name, or what stands for it."""
        if index < 0:
            return index
        if interface in NAMELESS:
            return f"at {self.value(interface, index, GL.BUFFER_BINDING)}"
        return self.gl.get_program_resource_name(self.program, interface, index)

    def value(self, interface: int, index: int, prop: int) -> Any:
        found = self.gl.get_program_resourceiv(self.program, interface, index, 1, [prop])
        found = [int(v) for v in found]
        code = self.gl.get_error()
        if code != GL.NO_ERROR:
            return GL.name_of(code, "error")
        if prop == GL.BLOCK_INDEX:
            blocks = GL.SHADER_STORAGE_BLOCK
            if interface == GL.UNIFORM:
                blocks = GL.UNIFORM_BLOCK
            return self.name(blocks, found[0])
        if prop == GL.ATOMIC_COUNTER_BUFFER_INDEX:
            return self.name(GL.ATOMIC_COUNTER_BUFFER, found[0])
        if prop == GL.TRANSFORM_FEEDBACK_BUFFER_INDEX:
            return self.name(GL.TRANSFORM_FEEDBACK_BUFFER, found[0])
        if prop == GL.ACTIVE_VARIABLES:
            return sorted(self.name(MEMBERS_OF[interface], v) for v in found)
        return sorted(found)

    def everything(self, interface: int) -> dict[Any, Any]:
        """Of each resource, all its properties and what its name leads to."""
        gl, program = self.gl, self.program
        count = gl.get_program_interfaceiv(program, interface, GL.ACTIVE_RESOURCES)
        count = int(count[0] if isinstance(count, list | tuple) else count)
        found: dict[Any, Any] = {}
        for index in range(count):
            name = self.name(interface, index)
            found[name] = {
                GL.name_of(p): self.value(interface, index, p) for p in INTERFACES[interface]
            }
            places = GL.name_of(GL.COMPATIBLE_SUBROUTINES)
            if places in found[name]:  # so native GL has them; ours are the numbers by name
                values = found[name][places]
                found[name][places] = [sorted(values).index(v) for v in values]
            if interface not in (*NAMELESS, *NUMBERED):
                again = gl.get_program_resource_index(program, interface, name)
                found[name]["its index"] = int(again) == index
            if interface == GL.UNIFORM:
                for pname in UNIFORMS:
                    got = gl.get_active_uniformsiv(program, 1, [index], pname)
                    found[name][GL.name_of(pname)] = [int(v) for v in got], gl.get_error()
                older = GL.UNIFORM_ATOMIC_COUNTER_BUFFER_INDEX
                (buffer,) = gl.get_active_uniformsiv(program, 1, [index], older)
                found[name]["buffer"] = self.name(GL.ATOMIC_COUNTER_BUFFER, int(buffer))
        for pname in SUMS:
            got = gl.get_program_interfaceiv(program, interface, pname)
            found["all", pname] = got, gl.get_error()
        return found


@pytest.mark.native
@pytest.mark.parametrize("name", ["everything", *PROGRAMS])
def test_every_property_of_every_resource_is_the_native_gls(name: str) -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    ours = Asked(create_context("numpipe", **options), name)
    theirs = Asked(native_context(**options), name)
    explained = set(re.findall("^! (.*): ", PROGRAMS.get(name, ""), re.M))
    wrong = []
    for interface in INTERFACES:
        found, wanted = ours.everything(interface), theirs.everything(interface)
        kind = GL.name_of(interface)
        wrong += [
            f"{kind}: {k} is {'not ' * (k in wanted)}ours" for k in found.keys() ^ wanted.keys()
        ]
        for key in found.keys() & wanted.keys():
            if found[key] != wanted[key] and key in explained:
                explained.remove(key)
            elif found[key] != wanted[key]:
                one, other = found[key], wanted[key]
                if isinstance(one, dict):
                    one, other = ({p: d[p] for p in one if found[key][p] != wanted[key][p]}
                                  for d in (one, other))  # fmt: skip
                wrong.append(f"{kind}: {key}: {one}, native {other}")
        assert len(found) > len(SUMS) or name != "everything"
    assert not wrong, "\n".join(wrong)
    assert not explained


@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_a_subroutine_is_found_by_the_index_its_shader_gives_it(driver: str) -> None:
    if driver != "numpipe":
        native_context().release()
    asked = Asked(create_context(driver, profile="core", version=(4, 5), size=(4, 4)))
    for name, index in (("red", 2), ("grey", 0), ("blue", 0xFFFFFFFF)):
        of = asked.program, GL.FRAGMENT_SUBROUTINE, name
        assert asked.gl.get_program_resource_index(*of) == index
        of = asked.program, GL.FRAGMENT_SHADER, name
        assert asked.gl.get_subroutine_index(*of) == index
    asked.gl.release()


@pytest.mark.native
def test_a_property_of_another_interface_is_an_error_as_on_native_gl() -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    ours, theirs = Asked(create_context("numpipe", **options)), Asked(native_context(**options))
    properties = {prop: None for listed in INTERFACES.values() for prop in listed}

    def refused(asked: Asked, interface: int) -> list[str]:
        asked.gl.get_error()
        found = []
        for prop in properties:
            asked.gl.get_program_resourceiv(asked.program, interface, 0, 1, [prop])
            if (code := asked.gl.get_error()) != GL.NO_ERROR:
                found.append(f"{GL.name_of(prop)}: {GL.name_of(code, 'error')}")
        return found

    for interface, listed in INTERFACES.items():
        assert refused(ours, interface) == refused(theirs, interface), GL.name_of(interface)
        assert len(refused(ours, interface)) <= len(properties) - len(listed)
    ours.gl.release()
    theirs.gl.release()


@pytest.mark.native
def test_inputs_of_a_fragment_shader_alone_have_locations_without_an_index() -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    text = """#version 430
    layout(location = 1) in vec4 v; layout(location = 0, index = 1) out vec4 second;
    layout(location = 0) out vec4 first; void main() { first = v; second = v.yxzw; }"""
    for gl in (create_context("numpipe", **options), native_context(**options)):
        program = gl.create_shader_programv(GL.FRAGMENT_SHADER, 1, [text])

        def index(name: str, interface: int, gl: Any = gl, program: int = program) -> Any:
            at = gl.get_program_resource_index(program, interface, name)
            found = gl.get_program_resourceiv(program, interface, at, 1, [GL.LOCATION_INDEX])
            code = gl.get_error()
            return int(found[0]) if code == GL.NO_ERROR else GL.name_of(code, "error")

        assert index("first", GL.PROGRAM_OUTPUT) == 0
        assert index("second", GL.PROGRAM_OUTPUT) == 1
        assert index("v", GL.PROGRAM_INPUT) == "GL_INVALID_OPERATION"
        gl.release()
