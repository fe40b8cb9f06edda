"""`[... shader spirv]` sections: assembled by gallette's assembler, loaded with glShaderBinary.

`SPIRV YES` in `[require]` means that these sections replace the GLSL ones wherever the
implementation has ARB_gl_spirv; `ONLY` that there is no GLSL to fall back to.
"""

from __future__ import annotations

import numpy as np

from gallette.compiler.errors import InputError
from gallette.compiler.spirv.assembler import assemble
from gallette.piglit_subset.requirements import Skip, extensions
from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.shader_test import ShaderSource
from gallette.piglit_subset.text import Line
from gallette.state_tracker.entry_points.enums import GL

_TYPES = {"uint": np.uint32, "int": np.int32, "float": np.float32}

PASSTHROUGH = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %position %vertex
OpDecorate %position BuiltIn Position
OpDecorate %vertex Location 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%output = OpTypePointer Output %vec4
%input = OpTypePointer Input %vec4
%position = OpVariable %output Output
%vertex = OpVariable %input Input
%main = OpFunction %void None %type
%start = OpLabel
%value = OpLoad %vec4 %vertex
OpStore %position %value
OpReturn
OpFunctionEnd
"""


def wants_spirv(session: Session) -> bool:
    """Whether the SPIR-V sections apply in this context."""
    wanted = session.needs.spirv
    if wanted == "NO":
        return False
    if "GL_ARB_gl_spirv" in extensions(session.gl, session.needs.profile):
        return True
    if wanted == "ONLY":
        raise Skip("requires GL_ARB_gl_spirv")
    return False


def compile_spirv(session: Session, source: ShaderSource) -> int:
    """Create a specialised shader object from a section."""
    gl = session.gl
    text = PASSTHROUGH if source.form == "passthrough" else source.text
    stage = source.stage.lower().replace("_", " ")
    try:
        module = assemble(text, f"<{stage}>")
    except InputError as error:
        raise Failure(f"{session.test.name}:{source.line}: {error}") from None
    shader: int = gl.create_shader(int(getattr(GL, source.stage)))
    data = module.to_bytes()
    gl.shader_binary(1, [shader], int(GL.SHADER_BINARY_FORMAT_SPIR_V), data, len(data))
    indices, values = _specializations(session, source.stage)
    gl.specialize_shader_arb(shader, "main", len(indices), indices or None, values or None)
    code = gl.get_error()
    if code or not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
        log = str(gl.get_shader_info_log(shader)).strip()
        raise Failure(
            f"{session.test.name}:{source.line}: the {stage} cannot be specialised "
            f"(error {code:#x}):\n{log}"
        )
    return shader


def _specializations(session: Session, stage: str) -> tuple[list[int], list[int]]:
    """The lines `TYPE INDEX VALUE` of a specializations section."""
    indices: list[int] = []
    values: list[int] = []
    for source in session.test.shaders:
        if source.form != "spec" or source.stage != stage:
            continue
        for number, text in enumerate(source.text.splitlines(), source.line):
            words = Line(number, text.split("#", 1)[0], session.test.name).words()
            if not words.done:
                dtype = _TYPES[words.choice("a type", *_TYPES)]
                indices.append(words.integer("an index"))
                values.append(int(words.array(dtype, 1).view(np.uint32)[0]))
                words.end()
    return indices, values
