"""Checks of the program: whether it links, and what its interfaces contain."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, value_of
from gallette.state_tracker.entry_points.enums import GL


@command("compile error", reads="word a stage")
def compile_error(session: Session, stage: str) -> None:
    """compile error GL_FRAGMENT_SHADER: that shader must not compile (not in piglit)"""
    log = session.compile_logs.get(stage.removeprefix("GL_"))
    if log is None:
        session.wrong("the shader compiled")
    elif not log.strip():
        session.wrong("the shader did not compile, but its log is empty")


@command("link success", reads="")
def link_success(session: Session) -> None:
    """link success: the program must link"""
    if not session.link_ok:
        session.wrong(f"linking failed:\n{session.link_log.strip()}")


@command("link error", reads="")
def link_error(session: Session) -> None:
    """link error: the program must not link"""
    if session.link_ok:
        session.wrong("linking succeeded")


@command("verify program_query", reads="enum a query, word a value")
def verify_program(session: Session, name: int, value: str) -> None:
    """verify program_query GL_NAME VALUE: glGetProgramiv"""
    session.need_program()
    expected = value_of(session.line, value)
    session.expect(int(session.gl.get_programiv(session.program, name)[0]), expected)


@command("verify query_object", reads="word a query target, integer a value")
def verify_query(session: Session, target: str, expected: int) -> None:
    """verify query_object GL_TARGET VALUE: the result of the last query of that kind"""
    name = target.removeprefix("GL_")
    if name not in session.queries:
        raise session.line.error(f"no query of {name} was made")
    seen = session.gl.get_query_objectuiv(session.queries[name], GL.QUERY_RESULT)
    session.expect(int(seen[0]), expected)


@command("active uniform", reads="word a uniform, enum a property, word a value")
def active_uniform(session: Session, name: str, prop: int, value: str) -> None:
    """active uniform NAME GL_PROPERTY VALUE: glGetActiveUniformsiv"""
    session.need_program()
    expected = value_of(session.line, value)
    gl = session.gl
    for index in range(int(gl.get_programiv(session.program, GL.ACTIVE_UNIFORMS)[0])):
        if str(gl.get_active_uniform_name(session.program, index)) == name:
            indices = np.array([index], np.uint32)
            seen = gl.get_active_uniformsiv(session.program, 1, indices, prop)
            session.expect(int(seen[0]), expected)
            return
    session.wrong(f"{name!r} is no active uniform")


@command("active shader program", reads="word a stage")
def active_shader_program(session: Session, stage: str) -> None:
    """active shader program GL_STAGE: whose uniforms `uniform` sets in a pipeline"""
    program = session.stage_programs.get(stage.removeprefix("GL_"), 0)
    session.gl.active_shader_program(session.pipeline, program)
    session.active_program = program


@command("verify error", "verify gl error", reads="enum an error")
def verify_error(session: Session, expected: int) -> None:
    """verify error GL_INVALID_OPERATION: the pending GL error"""
    seen = session.gl.get_error()
    if seen != expected:
        session.wrong(f"observed {GL.name_of(seen, group='error')}")


@command("program binary", reads="* word save or restore")
def program_binary(session: Session, *steps: str) -> None:
    """program binary save restore: save the program as bytes, recreate it from them, or both

    A restored program has the initial values of its uniforms.
    """
    if not steps or not {*steps} <= {"save", "restore"}:
        raise session.line.error("'program binary' wants 'save', 'restore' or both")
    session.need_program()
    gl, program = session.gl, session.program
    for step in steps:
        if step == "save":
            size = int(gl.get_programiv(program, GL.PROGRAM_BINARY_LENGTH)[0])
            length, format = np.zeros(1, np.int32), np.zeros(1, np.uint32)
            data = np.zeros(size, np.uint8)
            gl.get_program_binary(program, size, length, format, data)
            session.binary = (int(format[0]), data[: int(length[0])])
        elif session.binary is None:
            raise session.line.error("no program was saved")
        else:
            kept, data = session.binary
            gl.program_binary(program, kept, data, data.nbytes)
            if not gl.get_programiv(program, GL.LINK_STATUS)[0]:
                session.wrong(f"restoring failed:\n{gl.get_program_info_log(program)}")
