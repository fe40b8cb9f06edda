"""`[... shader spirv]` sections: assembled by gallette's assembler, loaded with glShaderBinary.

`SPIRV YES` in `[require]` means that these sections replace the GLSL ones wherever the
implementation has ARB_gl_spirv; `ONLY` that there is no GLSL to fall back to.
"""

from __future__ import annotations

import struct

from gallette.compiler.errors import InputError
from gallette.compiler.spirv.assembler import assemble
from gallette.piglit_subset.requirements import Skip, extensions
from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.shader_test import ShaderSource, ShaderTest
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["compile_spirv", "wants_spirv"]

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
    wanted = _requirement(session.test)
    if wanted not in ("YES", "ONLY"):
        return False
    if "GL_ARB_gl_spirv" in extensions(session.gl, session.needs.profile):
        return True
    if wanted == "ONLY":
        raise Skip("requires GL_ARB_gl_spirv")
    return False


def _requirement(test: ShaderTest) -> str:
    for line in test.require:
        words = line.text.split()
        if words and words[0] == "SPIRV" and len(words) > 1:
            return words[1]
    return ""


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
        for number, line in enumerate(source.text.splitlines(), source.line):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            try:
                kind, index, value = words
                indices.append(int(index))
                values.append(_bits(kind, value))
            except (ValueError, struct.error):
                raise Failure(
                    f"{session.test.name}:{number}: expected `uint|int|float INDEX VALUE`"
                ) from None
    return indices, values


def _bits(kind: str, value: str) -> int:
    if kind == "float":
        return int(struct.unpack("<I", struct.pack("<f", float(value)))[0])
    if kind not in ("uint", "int"):
        raise ValueError(kind)
    return int(value, 0) & 0xFFFFFFFF
