"""Arrays of every kind of variable are indexed out of range, and drawing goes on.

The index is a constant once the compiler has folded it, or a uniform. What is read is undefined,
but the program links and draws without an error on every driver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, linked

CONSTANTS = ("3", "8", "100", "-1", "-100", "0x7fffffff", "1 << 31", "0x10000000")
KINDS = {
    "vertex": GL.VERTEX_SHADER,
    "control": GL.TESS_CONTROL_SHADER,
    "evaluation": GL.TESS_EVALUATION_SHADER,
    "geometry": GL.GEOMETRY_SHADER,
    "fragment": GL.FRAGMENT_SHADER,
    "compute": GL.COMPUTE_SHADER,
}


@dataclass(frozen=True)
class Stage:
    """What a shader declares, what it does at first, and what it does with each index `i`."""

    declarations: str = ""
    first: str = ""
    each: str = ""
    compat: bool = False

    def source(self, indices: tuple[str, ...]) -> str:
        version = "130" if self.compat else "450"
        uses = "\n".join(f"{{ int i = {index}; {self.each} }}" for index in indices)
        return f"""#version {version}
            uniform int moving;
            {self.declarations}
            void main() {{ {self.first} {uses if self.each else ""} }}"""


AT = "in vec4 position; "
PLACED = "gl_Position = position; "
COLOR = "out vec4 color; "
VERTEX = Stage(AT, PLACED)
FRAGMENT = Stage(COLOR, "color = vec4(1);")
OLD_FRAGMENT = Stage("", "gl_FragColor = vec4(1);", compat=True)
OLD_VERTEX = Stage("", "gl_Position = gl_Vertex;", compat=True)


def between(variable: str, value: str, read: str, struct: str = "") -> dict[str, Stage]:
    """A variable that the vertex shader writes and the fragment shader reads in parts."""
    written = variable.format("out")
    return {
        "vertex": Stage(AT + struct + written, f"{PLACED} {value}"),
        "fragment": Stage(struct + variable.format("in") + COLOR, "color = vec4(0);", read),
    }


def in_fragments(declarations: str, each: str, first: str = "color = vec4(0);") -> dict[str, Stage]:
    return {"vertex": VERTEX, "fragment": Stage(COLOR + declarations, first, each)}


ALL = "v[0] = v[1] = v[2] = position;"
PATCH_LEVELS = "gl_TessLevelOuter[0] = gl_TessLevelInner[0] = 1.0;"
PROGRAMS: dict[str, dict[str, Stage]] = {
    "an input": between("smooth {} vec4 v[3];", ALL, "color += v[i];"),
    "a flat input": between("flat {} vec4 v[3];", ALL, "color += v[i];"),
    "a wide input": between(
        "flat {} dvec4 v[3];", ALL.replace("position", "dvec4(position)"), "color += vec4(v[i]);"
    ),
    "an input that is constant": between(
        "{} vec4 v[3];", ALL.replace("position", "vec4(1)"), "color += v[i];"
    ),
    "an input at the centroid": between(
        "{} vec4 v[3];", ALL, "color += interpolateAtCentroid(v[i]);"
    ),
    "a member": between(
        "{} T t;",
        "t.v[0] = t.v[1] = t.v[2] = position;",
        "color += t.v[i];",
        "struct T { float a; vec4 v[3]; };",
    ),
    "a member of a block": between(
        "{} T {{ float a; vec4 v[3]; }} t;",
        "t.v[0] = t.v[1] = t.v[2] = position;",
        "color += t.v[i];",
    ),
    "a column": between("{} mat4 v;", "v[0] = v[1] = v[2] = v[3] = position;", "color += v[i];"),
    "a component": between("{} vec4 v;", "v = position;", "color += v[i];"),
    "an array in an array": between(
        "{} vec2 v[3][2];", "v[0][0] = v[1][1] = position.xy;", "color += vec4(v[i][1], v[1][i]);"
    ),
    "clip distances": between(
        "{} float gl_ClipDistance[6];", "gl_ClipDistance[1] = 1.0;", "color += gl_ClipDistance[i];"
    ),
    "texture coordinates": {
        "vertex": Stage(
            "out vec4 gl_TexCoord[2];",
            "gl_Position = gl_Vertex;",
            "gl_TexCoord[i] = gl_Vertex;",
            compat=True,
        ),
        "fragment": Stage(
            "in vec4 gl_TexCoord[2];",
            "gl_FragColor = vec4(0);",
            "gl_FragColor += gl_TexCoord[i];",
            compat=True,
        ),
    },
    "an output": {
        "vertex": Stage(AT + "out vec4 v[3];", PLACED + ALL, "v[i] = position;"),
        "fragment": Stage("in vec4 v[3];" + COLOR, "color = v[0] + v[1] + v[2];"),
    },
    "a captured output": {
        "vertex": Stage(
            AT + "layout(xfb_buffer = 0, xfb_offset = 0) out vec3 v[3];",
            PLACED,
            "v[i] = position.xyz;",
        ),
        "fragment": Stage("in vec3 v[3];" + COLOR, "color = vec4(0);", "color.xyz += v[i];"),
    },
    "a component of an output": {
        "vertex": Stage(AT + "out vec4 v;", PLACED + "v = position;", "v[i] = 1.0;"),
        "fragment": Stage("in vec4 v;" + COLOR, "color = v;"),
    },
    "a clip distance": {
        "vertex": Stage(AT + "out float gl_ClipDistance[6];", PLACED, "gl_ClipDistance[i] = 1.0;"),
        "fragment": FRAGMENT,
    },
    "a component of the position": {
        "vertex": Stage(AT, PLACED, "gl_Position[i] = 1.0;"),
        "fragment": FRAGMENT,
    },
    "an attribute": {
        "vertex": Stage(
            "in vec4 position[3];", "gl_Position = vec4(0);", "gl_Position += position[i];"
        ),
        "fragment": FRAGMENT,
    },
    "a column of an attribute": {
        "vertex": Stage(
            "in mat4 position;", "gl_Position = vec4(0);", "gl_Position += position[i];"
        ),
        "fragment": FRAGMENT,
    },
    "a column of a wide attribute": {
        "vertex": Stage(
            "in dmat4 position;", "gl_Position = vec4(0);", "gl_Position += vec4(position[i]);"
        ),
        "fragment": FRAGMENT,
    },
    "a colour": {
        "vertex": VERTEX,
        "fragment": Stage("out vec4 color[3];", "", "color[i] = vec4(1);"),
    },
    "the last colour": {
        "vertex": VERTEX,
        "fragment": Stage("out vec4 color[8];", "", "color[i] = vec4(1);"),
    },
    "gl_FragData": {
        "vertex": OLD_VERTEX,
        "fragment": Stage("", "", "gl_FragData[i] = vec4(1);", compat=True),
    },
    "a sample mask": in_fragments("", "gl_SampleMask[i] = gl_SampleMaskIn[i];"),
    "vertices of a primitive": {
        "vertex": Stage(AT + "out vec4 v[3];", PLACED + ALL),
        "geometry": Stage(
            "layout(triangles) in; in vec4 v[][3]; layout(points, max_vertices = 1) out;",
            "",
            "gl_Position = gl_in[i].gl_Position + v[1][i] + v[i][1]; EmitVertex();",
        ),
        "fragment": FRAGMENT,
    },
    "vertices of a patch": {
        "vertex": VERTEX,
        "control": Stage(
            "layout(vertices = 3) out; patch out vec4 p[2]; out vec4 q[][2];",
            "gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position;" + PATCH_LEVELS,
            """gl_out[gl_InvocationID].gl_Position += gl_in[i].gl_Position + p[i] + q[i][1]
                + q[1][i];
            p[i] = vec4(1); q[gl_InvocationID][i] = vec4(2);
            gl_TessLevelOuter[i] = gl_TessLevelInner[i] = 1.0;""",
        ),
        "evaluation": Stage(
            "layout(triangles) in; patch in vec4 p[2]; in vec4 q[][2];",
            "gl_Position = vec4(0);",
            """gl_Position += gl_in[i].gl_Position + p[i] + q[i][1] + q[1][i]
                + gl_TessLevelOuter[i];""",
        ),
        "fragment": FRAGMENT,
    },
    "samplers": in_fragments("uniform sampler2D s[3];", "color += texture(s[i], vec2(0));"),
    "images": in_fragments(
        "layout(rgba8) uniform image2D s[3];", "color += imageLoad(s[i], ivec2(0));"
    ),
    "atomics of images": in_fragments(
        "layout(r32ui) uniform uimage2D s[3];", "color += imageAtomicAdd(s[i], ivec2(0), 1u);"
    ),
    "uniforms": in_fragments("uniform vec4 s[3];", "color += s[i];"),
    "built-in uniforms": {
        "vertex": Stage(
            "",
            "gl_Position = gl_Vertex;",
            "gl_Position += gl_LightSource[i].position + gl_TextureMatrix[i][0];",
            compat=True,
        ),
        "fragment": OLD_FRAGMENT,
    },
    "a uniform block": in_fragments("uniform B { vec4 s[3]; };", "color += s[i];"),
    "uniform blocks": in_fragments("uniform B { vec4 s[3]; } b[3];", "color += b[i].s[i];"),
    "a storage block": in_fragments("buffer B { vec4 s[3]; };", "color += s[i]; s[i] = vec4(2);"),
    "storage blocks": in_fragments(
        "buffer B { vec4 s[3]; } b[3];", "color += b[i].s[i]; b[i].s[1] = vec4(2);"
    ),
    "atomics of storage": in_fragments("buffer B { int s[3]; };", "color += atomicAdd(s[i], 1);"),
    "counters": in_fragments(
        "layout(binding = 0) uniform atomic_uint c[3];", "color += atomicCounterIncrement(c[i]);"
    ),
    "locals": in_fragments(
        "",
        "v[i] = vec4(2); m[i] = vec3(2); m[1][i] = 2.0; color += v[i] + m[i].x + m[1][i];",
        "color = vec4(0); vec4 v[3]; v[0] = v[1] = v[2] = vec4(1); mat3 m = mat3(1);",
    ),
    "constants": in_fragments(
        "const vec4 v[3] = vec4[3](vec4(1), vec4(2), vec4(3)); const mat3 m = mat3(1);",
        "color += v[i] + m[i].x + m[1][i];",
    ),
    "subroutines": in_fragments(
        """subroutine vec4 T(); subroutine uniform T t[3];
        subroutine(T) vec4 f() { return vec4(1); } subroutine(T) vec4 g() { return vec4(0); }""",
        "color += t[i]();",
    ),
    "shared variables": {
        "compute": Stage(
            "layout(local_size_x = 1) in; shared vec4 v[3]; shared int n[3]; buffer B { vec4 o; };",
            "o = vec4(0);",
            "v[i] = vec4(1); barrier(); o += v[i] + atomicAdd(n[i], 1);",
        )
    },
}


def bind_memory(gl: GLInterface) -> None:
    """A buffer is bound wherever a shader may look for one."""
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 4096, np.full(1024, 0.5, np.float32), GL.STATIC_DRAW)
    for number in range(4):
        for target in (GL.SHADER_STORAGE_BUFFER, GL.UNIFORM_BUFFER, GL.ATOMIC_COUNTER_BUFFER):
            gl.bind_buffer_base(target, number, buffer)


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_index_out_of_range_is_no_error(name: str, driver: str) -> None:
    stages = PROGRAMS[name]
    gl = create_context(driver, profile="compat", version=(4, 5), size=(4, 4))
    bind_memory(gl)
    for indices in (CONSTANTS, ("moving",)):
        program = linked(gl, {KINDS[kind]: stage.source(indices) for kind, stage in stages.items()})
        gl.uniform1i(gl.get_uniform_location(program, "moving"), 1000)
        if "compute" in stages:
            gl.dispatch_compute(1, 1, 1)
        else:
            gl.draw_arrays(GL.PATCHES if "control" in stages else GL.TRIANGLES, 0, 3)
        gl.finish()
        assert errors(gl) == []
