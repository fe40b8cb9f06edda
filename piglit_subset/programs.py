"""Compiles and links the shader sections of a test."""

from __future__ import annotations

import re

from gallette.piglit_subset.requirements import Skip
from gallette.piglit_subset.session import Failure, Session, enum
from gallette.piglit_subset.shader_test import ShaderSource
from gallette.piglit_subset.spirv import compile_spirv, wants_spirv
from gallette.state_tracker.entry_points.enums import GL

POSITION, TEXCOORD = 0, 1
ATTRIBUTES = {"piglit_vertex": POSITION, "piglit_texcoord": TEXCOORD}


class _Refused(Exception):
    """A shader did not compile, as the test expects."""


def build(session: Session) -> None:
    """Compile every shader, then link; errors that a command expects do not end the test."""
    session.wanted_errors = {
        words[2].removeprefix("GL_")
        for line in session.test.commands
        if (words := line.text.split())[:2] == ["compile", "error"] and len(words) > 2
    }
    try:
        _build(session)
    except _Refused:
        session.link_ok = None


def _build(session: Session) -> None:
    assembly = [s for s in session.test.shaders if s.form == "assembly"]
    sources = _choose(session)
    for source in session.test.shaders:
        if source.form == "include":
            _include(session, source)
    for source in assembly:
        _assemble(session, source)
    if not sources:
        session.link_ok = True if assembly else None
        return
    if session.needs.sso:
        _link_separately(session, sources)
        return
    gl = session.gl
    session.program = gl.create_program()
    if session.needs.separable:
        gl.program_parameteri(session.program, GL.PROGRAM_SEPARABLE, 1)
    _link(session, session.program, sources)
    if session.link_ok:
        gl.use_program(session.program)


def _choose(session: Session) -> list[ShaderSource]:
    """The SPIR-V sections where they apply, else those of GLSL."""
    shaders = session.test.shaders
    if any(s.form == "spirv" for s in shaders) and wants_spirv(session):
        session.spirv = True
        return [s for s in shaders if s.form in ("spirv", "passthrough")]
    glsl = [s for s in shaders if s.form in ("glsl", "passthrough")]
    covered = {s.stage for s in glsl}
    if any(s.form == "spirv" and s.stage not in covered for s in shaders):
        raise Skip("requires SPIR-V shaders")
    return glsl


def passthrough_source(session: Session) -> str:
    """A vertex shader that only passes the position on, in the test's version of GLSL."""
    needs = session.needs
    body = "void main()\n{\n\tgl_Position = piglit_vertex;\n}\n"
    if needs.glsl_es and needs.glsl >= (3, 0):
        return f"#version {needs.glsl[0]}{needs.glsl[1]:02d} es\nin vec4 piglit_vertex;\n{body}"
    if session.is_es:
        return f"#version 100\nattribute vec4 piglit_vertex;\n{body}"
    if session.is_core or needs.glsl >= (1, 40):
        number = max(needs.glsl[0] * 100 + needs.glsl[1], 140)
        return f"#version {number}\nin vec4 piglit_vertex;\n{body}"
    return "#version 110\nvoid main()\n{\n\tgl_Position = gl_Vertex;\n}\n"


def _compile(session: Session, source: ShaderSource) -> int:
    if session.spirv:
        return compile_spirv(session, source)
    gl = session.gl
    shader: int = gl.create_shader(int(getattr(GL, source.stage)))
    if not shader:
        gl.get_error()
        raise Skip(f"no {source.stage.lower().replace('_', ' ')} in this context")
    text = passthrough_source(session) if source.form == "passthrough" else source.text
    if not text.lstrip().startswith("#version") and "#version" not in text:
        text = _default_version(session) + text
    gl.shader_source(shader, text)
    paths = [line.text.strip().rstrip("/") for line in session.test.include_paths]
    if paths:
        gl.compile_shader_include_arb(shader, len(paths), paths, None)
    else:
        gl.compile_shader(shader)
    if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
        log = str(gl.get_shader_info_log(shader)).strip()
        position, log = _place(session.test.name, source, log, _added_lines(text, source))
        if source.stage in session.wanted_errors:
            session.compile_logs[source.stage] = log
            raise _Refused
        stage = source.stage.lower().replace("_", " ")
        raise Failure(f"{position}: the {stage} does not compile:\n{log}")
    return shader


def _added_lines(text: str, source: ShaderSource) -> int:
    """The number of lines the runner put before the section's own."""
    return text.count("\n") - source.text.count("\n") if source.form != "passthrough" else 0


# `<vertex shader>:3:7:` in gallette's compiler, `0:3(7):` in Mesa.
_POSITION = re.compile(r"(?m)^(?:<[\w ]+ shader>:(\d+):(\d+)|0:(\d+)\((\d+)\)):")


def _place(name: str, source: ShaderSource, log: str, added: int) -> tuple[str, str]:
    """The first error's place in the test file, and the log with all places in that file."""
    if source.form == "passthrough" or re.search(r"(?m)^\s*#\s*line\b", source.text):
        return f"{name}:{source.line}", log

    def moved(match: re.Match[str]) -> str:
        line, column = match[1] or match[3], match[2] or match[4]
        return f"{name}:{int(line) - added + source.line - 1}:{column}:"

    log = _POSITION.sub(moved, log)
    errors = re.search(rf"(?m)^({re.escape(name)}:\d+:\d+): error", log)
    return (errors[1] if errors else f"{name}:{source.line}"), log


def _default_version(session: Session) -> str:
    """Add the required version to sources without #version."""
    needs = session.needs
    if needs.glsl == (1, 10) or needs.glsl == (0, 0):
        return ""
    number = needs.glsl[0] * 100 + needs.glsl[1]
    es = " es" if needs.glsl_es and number >= 300 else ""
    return f"#version {number}{es}\n"


def _link(session: Session, program: int, sources: list[ShaderSource]) -> None:
    gl = session.gl
    for source in sources:
        shader = _compile(session, source)
        gl.attach_shader(program, shader)
        gl.delete_shader(shader)
    if any(source.stage == "VERTEX_SHADER" for source in sources):
        for name, location in ATTRIBUTES.items():
            gl.bind_attrib_location(program, location, name)
    _geometry_layout(session, program)
    gl.link_program(program)
    linked = bool(gl.get_programiv(program, GL.LINK_STATUS)[0])
    session.link_ok = linked if session.link_ok is None else session.link_ok and linked
    if not linked:
        log = str(gl.get_program_info_log(program))
        missing = re.search(r"the driver does not run (\w+) shaders", log)
        if missing:
            raise Skip(f"requires {missing[1]} shaders")
        session.link_log += log


def _geometry_layout(session: Session, program: int) -> None:
    """`[geometry layout]` lines: input type, output type, vertices out (pre-1.50 style)."""
    for line in session.test.geometry_layout:
        words = line.words()
        key = f"{words.word('a key')} {words.word('type or out')}"
        if key not in ("input type", "output type", "vertices out"):
            raise line.error(f"unknown geometry layout {key!r}")
        text = words.word("a value")
        value = int(text) if text.isdigit() else enum(line, text)
        name = int(getattr(GL, f"GEOMETRY_{key.upper().replace(' ', '_')}"))
        session.gl.program_parameteri(program, name, value)


def _link_separately(session: Session, sources: list[ShaderSource]) -> None:
    """`SSO ENABLED`: one separable program per stage, joined in a pipeline object."""
    gl = session.gl
    by_stage: dict[str, list[ShaderSource]] = {}
    for source in sources:
        by_stage.setdefault(source.stage, []).append(source)
    session.pipeline = gl.gen_program_pipelines(1)[0]
    for stage, group in by_stage.items():
        program = gl.create_program()
        gl.program_parameteri(program, GL.PROGRAM_SEPARABLE, 1)
        session.stage_programs[stage] = program
        _link(session, program, group)
        if session.link_ok:
            gl.use_program_stages(session.pipeline, int(getattr(GL, f"{stage}_BIT")), program)
    if session.link_ok:
        gl.bind_program_pipeline(session.pipeline)


def _include(session: Session, source: ShaderSource) -> None:
    """A named string: the section's first line is its path."""
    path, _, text = source.text.partition("\n")
    session.gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, path.strip(), -1, text)


def _assemble(session: Session, source: ShaderSource) -> None:
    """An ARB_vertex_program or ARB_fragment_program in assembly text."""
    gl = session.gl
    target = int(getattr(GL, source.stage))
    (name,) = gl.gen_programs_arb(1)
    gl.bind_program_arb(target, name)
    text = source.text.strip().encode()
    gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(text), text)
    if gl.get_error():
        message = gl.get_string(GL.PROGRAM_ERROR_STRING_ARB)
        raise Failure(f"{session.test.name}:{source.line}: program error: {message}")
    gl.enable(target)
