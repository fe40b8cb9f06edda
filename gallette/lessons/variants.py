"""The lesson: one program, many variants, and what each of them costs."""

from __future__ import annotations

from typing import Any

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

PROGRAM = """[require]
GLSL >= 1.20

[vertex shader]
#version 120
void main()
{
	gl_Position = gl_Vertex;
	gl_FrontColor = vec4(gl_Vertex.xy * 0.5 + 0.5, 0.0, 0.75);
	gl_BackColor = vec4(0.0, 0.0, 1.0, 0.25);
}

[fragment shader]
#version 120
void main()
{
	gl_FragColor = gl_Color;
}

[test]
# Nothing special: the null key, made with the shader.
draw rect -1 -1 2 2
# The code generator's business: no second round in NIR.
shade model flat
draw rect -1 -1 2 2
shade model smooth
# Lowered in NIR, on a clone.
enable GL_VERTEX_PROGRAM_TWO_SIDE
draw rect -1 -1 2 2
enable GL_ALPHA_TEST
alpha func GL_GREATER 0.5
draw rect -1 -1 2 2
# The reference value is a parameter, not part of the key: no new variant.
alpha func GL_GREATER 0.25
draw rect -1 -1 2 2
disable GL_ALPHA_TEST
clip plane 0 1 0 0 0
enable GL_CLIP_PLANE0
draw rect -1 -1 2 2
# Back to where we were: a hit.
disable GL_CLIP_PLANE0
disable GL_VERTEX_PROGRAM_TWO_SIDE
draw rect -1 -1 2 2
"""


def collect(driver: str) -> tuple[list[Any], dict[str, dict[str, Any]]]:
    """Run the program; returns the variant log, and the driver's explanation of each stage."""
    events: list[Any] = []
    stages: dict[str, dict[str, Any]] = {}

    def look(gl: Any) -> None:
        events.extend(gl.pipe.variant_log)
        for (stage, _), handle in gl.programs.executable.handles.items():
            stages[stage.value] = gl.pipe.explain(handle)

    run_test(parse_text(PROGRAM, "lesson.shader_test"), driver, before_release=look)
    return events, stages
