"""A program may read as many vertex attributes as the driver says: 32 on numpipe."""

from __future__ import annotations

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text


def text(count: int) -> str:
    inputs = "".join(f"in float a{i};\n" for i in range(count))
    right = " && ".join(f"a{i} == {i + 1}.0" for i in range(count))
    columns = " ".join(["piglit_vertex/float/2", *(f"a{i}/float/1" for i in range(count))])
    values = " ".join(str(i + 1) for i in range(count))
    rows = "\n".join(f"{x} {y} {values}" for x, y in ((-1, -1), (1, -1), (-1, 1), (1, 1)))
    return f"""
[require]
GLSL >= 1.50
[vertex shader]
#version 150
in vec2 piglit_vertex;
{inputs}
out vec4 c;
void main() {{
    c = {right} ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
    gl_Position = vec4(piglit_vertex, 0.0, 1.0);
}}
[fragment shader]
#version 150
in vec4 c;
out vec4 color;
void main() {{ color = c; }}
[vertex data]
{columns}
{rows}
[test]
draw arrays GL_TRIANGLE_STRIP 0 4
probe all rgba 0 1 0 1
"""


def test_all_thirty_two() -> None:
    assert run_test(parse_text(text(31)), "numpipe").result == "pass"
