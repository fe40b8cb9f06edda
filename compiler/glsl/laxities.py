"""Features that a version of GLSL lacks but shaders use all the same, because drivers accept
them.

Each gets a warning. With `GALLETTE_DEBUG=glsl:strict`, or `strict` among the settings, it is an
error, as specified.
"""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.glsl.language import Language
from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True)
class Laxity:
    """A row of the table: the feature, a shader that uses it, and the reason for accepting it."""

    stage: str
    example: str
    reason: str


LAXITIES: dict[str, Laxity] = {
    "float suffix": Laxity(
        "fragment",
        "#version 110\nvoid main() { gl_FragColor = vec4(255.0f); }",
        "GLSL 1.10 and ES 1.00 have no suffix, but numbers of C and of Cg have one; Mesa warns",
    ),
    "unsigned suffix": Laxity(
        "fragment",
        "#version 120\nvoid main() { gl_FragColor = vec4(3u); }",
        "shaders that test for GLSL 1.30 use it beside the test; Mesa takes it in every version",
    ),
    "global in and out": Laxity(
        "vertex",
        "#version 120\n#extension GL_ARB_separate_shader_objects : enable\n"
        "in vec4 position; void main() { gl_Position = position; }",
        "the extension is written against GLSL 4.00 and gives them locations; Mesa takes them with "
        "it in GLSL 1.10 and 1.20",
    ),
    "several outputs": Laxity(
        "fragment",
        "#version 300 es\nprecision highp float; out vec4 a, b; void main() { a = b = vec4(1); }",
        "OpenGL numbers outputs without locations itself, and so does Mesa for OpenGL ES",
    ),
    "texture functions": Laxity(
        "fragment",
        "#version 300 es\nprecision highp float; uniform sampler2D s; out vec4 a;\n"
        "void main() { a = texture2D(s, vec2(0)); }",
        "shaders of OpenGL ES 2.0 get another #version and keep their calls; Mesa takes them",
    ),
}


def grant(name: str, language: Language, log: Log, message: str, loc: int, end: int) -> None:
    """Warn of a feature in the table, or reject it in a strict language."""
    assert name in LAXITIES, name
    if language.strict:
        log.error(message, loc, end)
    else:
        log.warning(message, loc, end)
