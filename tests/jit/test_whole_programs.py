"""Programs whose answers are known, drawn by machine code: what lanes agree on, many inputs."""

from __future__ import annotations

import pytest

from gallette.drivers.jit.llvm.text import Builder
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

UNIFORM_ARRAY = """
[require]
GLSL >= 1.10

[vertex shader]
uniform float scale;
uniform int rounds;
void main() {
    vec4 shade[4];
    shade[0] = vec4(0.25, 0.0, 0.0, 1.0) * scale;
    shade[1] = vec4(0.0, 0.25, 0.0, 1.0) * scale;
    shade[2] = vec4(0.0, 0.0, 0.25, 1.0) * scale;
    shade[3] = vec4(0.25, 0.0, 0.25, 1.0) * scale;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < rounds; i++)
        for (int j = 0; j < 4 - i; j++)
            sum += shade[j];
    gl_FrontColor = sum;
    gl_Position = gl_Vertex;
}

[fragment shader]
void main() { gl_FragColor = gl_Color; }

[test]
uniform float scale 1.0
uniform int rounds 2
draw rect -1 -1 2 2
probe all rgb 0.75 0.5 0.75
"""

MANY_INPUTS = """
[require]
GLSL >= 1.50
GL_MAX_GEOMETRY_INPUT_COMPONENTS >= 120

[vertex shader]
#version 150
in vec4 piglit_vertex;
out block { vec4 a[14]; vec4 b[15]; } outs;
void main() {
    gl_Position = piglit_vertex;
    for (int i = 0; i < 14; i++) outs.a[i] = vec4(0.25, 0.5, 0.75, 1.0) + float(i);
    for (int i = 0; i < 15; i++) outs.b[i] = vec4(0.25, 0.5, 0.75, 1.0) + float(14 + i);
}

[geometry shader]
#version 150
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
uniform int index;
in block { vec4 a[14]; vec4 b[15]; } ins[];
out vec4 color;
void main() {
    for (int p = 0; p < 3; p++) {
        vec4 wanted = vec4(0.25, 0.5, 0.75, 1.0) + float(index);
        vec4 found = index < 14 ? ins[p].a[index] : ins[p].b[index - 14];
        color = found == wanted ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
        gl_Position = gl_in[p].gl_Position;
        EmitVertex();
    }
}

[fragment shader]
#version 150
in vec4 color;
out vec4 o;
void main() { o = color; }

[test]
clear color 0.5 0.5 0.5 0.5
clear
uniform int index 3
draw rect -1 -1 1 2
uniform int index 27
draw rect 0 -1 1 2
probe all rgba 0.0 1.0 0.0 1.0
"""

FLAT_BACK = """
[require]
GLSL >= 1.10

[vertex shader]
attribute vec4 place;
attribute vec4 shade;
void main() {
    gl_Position = place;
    gl_FrontColor = vec4(1.0);
    gl_BackColor = shade;
    gl_BackSecondaryColor = shade.bgra;
}

[fragment shader]
void main() { gl_FragColor = vec4(gl_Color.rgb + gl_SecondaryColor.rgb, 1.0); }

[vertex data]
place/float/2 shade/float/4
-1 -1 1 0 0 1
-1  3 0 1 0 1
 3 -1 0 0 1 1

[test]
enable GL_VERTEX_PROGRAM_TWO_SIDE
shade model flat
draw arrays GL_TRIANGLES 0 3
probe all rgba 1.0 0.0 1.0 1.0
"""

MISSING_COMPONENTS = """
[require]
GLSL >= 1.10

[vertex shader]
attribute vec4 place;
attribute vec4 shade;
varying vec4 v;
void main() {
    v = shade;
    gl_Position = vec4(place.xyz, place.w);
}

[fragment shader]
varying vec4 v;
void main() { gl_FragColor = v; }

[vertex data]
place/float/3 shade/float/2
-1 -1 0 0.0 1.0
-1  3 0 0.0 1.0
 3 -1 0 0.0 1.0

[test]
clear color 0.5 0.5 0.5 0.5
clear
draw arrays GL_TRIANGLES 0 3
probe all rgba 0.0 1.0 0.0 1.0
"""

LEFT_WITH_COMPONENTS = """
[require]
GLSL >= 4.30

[vertex shader passthrough]

[fragment shader]
#version 430
out vec4 color;
int lane = int(gl_FragCoord.x) % 8;
void main() {
    vec3 v = vec3(1.0);
    for (int i = 0; i < lane; i++)
        v = vec3(gl_FragCoord.x, 0.0, 0.0);
    color = v.z == (lane == 0 ? 1.0 : 0.0) ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
}

[test]
draw rect -1 -1 2 2
probe all rgb 0.0 1.0 0.0
"""


PARTLY_UNIFORM = """
[require]
GLSL >= 4.30

[vertex shader passthrough]

[fragment shader]
#version 430
uniform bool again;
out vec4 color;
int lane = int(gl_FragCoord.x) % 8;
void main() {
    ivec4 result = ivec4(0);
    if (lane >= 1) {
        for (int i = 0; i < 5; i++) {
            do {
                result += ivec4(1);
                result.z = lane;
            } while (again);
        }
    }
    bool right = result == (lane >= 1 ? ivec4(5, 5, lane, 5) : ivec4(0));
    color = right ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
}

[test]
uniform int again 0
draw rect -1 -1 2 2
probe all rgb 0.0 1.0 0.0
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(UNIFORM_ARRAY, id="what lanes agree on, out of an array of each lane's own"),
        pytest.param(MANY_INPUTS, id="more inputs than a block had words for"),
        pytest.param(FLAT_BACK, id="flat colours of back faces"),
        pytest.param(LEFT_WITH_COMPONENTS, id="components that differ by when lanes left"),
        pytest.param(
            PARTLY_UNIFORM, id="components that agree, where the first lane is not active"
        ),
        pytest.param(MISSING_COMPONENTS, id="components that an attribute lacks, of each vertex"),
    ],
)
def test_program(text: str, driver: str) -> None:
    outcome = run_test(parse_text(text), driver)
    assert (outcome.result, outcome.reason) == ("pass", "")


def test_a_variable_takes_only_what_fits() -> None:
    b = Builder()
    b.begin("f", [("ptr", "ctx")])
    variable = b.var("i32")
    with pytest.raises(AssertionError):
        variable.set(b.lanes("i32", [1, 2, 3, 4]))
