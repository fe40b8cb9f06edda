"""Questions about the program: did it link, and what do its interfaces look like."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []


@command("compile error")
def compile_error(session: Session, line: Line, words: Words) -> None:
    """compile error GL_FRAGMENT_SHADER: that shader must not compile (not in piglit)"""
    stage = words.word("a stage").removeprefix("GL_")
    words.end()
    if stage not in session.compile_logs:
        session.wrong(line, "the shader compiled")
    elif not session.compile_logs[stage].strip():
        session.wrong(line, "the shader did not compile, but its log is empty")


@command("link success")
def link_success(session: Session, line: Line, words: Words) -> None:
    """link success: the program must link"""
    words.end()
    if not session.link_ok:
        session.wrong(line, f"linking failed:\n{session.link_log.strip()}")


@command("link error")
def link_error(session: Session, line: Line, words: Words) -> None:
    """link error: the program must not link"""
    words.end()
    if session.link_ok:
        session.wrong(line, "linking succeeded")


def _expect(session: Session, line: Line, seen: int, expected: int) -> None:
    if seen != expected:
        session.wrong(line, f"observed {seen}")


def _number_or_enum(line: Line, text: str) -> int:
    return int(text, 0) if text.lstrip("-")[:1].isdigit() else enum(line, text)


@command("verify program_query")
def verify_program(session: Session, line: Line, words: Words) -> None:
    """verify program_query GL_NAME VALUE: glGetProgramiv"""
    name = enum(line, words.word("a query"))
    expected = words.integer("a value")
    words.end()
    session.need_program(line)
    _expect(session, line, int(session.gl.get_programiv(session.program, name)[0]), expected)


@command("verify program_interface_query")
def verify_interface(session: Session, line: Line, words: Words) -> None:
    """verify program_interface_query GL_INTERFACE NAME GL_PROPERTY VALUE"""
    interface = enum(line, words.word("an interface"))
    name = words.word("a resource")
    prop = enum(line, words.word("a property"))
    text = words.word("a value")
    words.end()
    session.need_program(line)
    expected = _number_or_enum(line, text)
    gl = session.gl
    index = int(gl.get_program_resource_index(session.program, interface, name))
    if session.spirv and index == 0xFFFFFFFF:
        index = _bound_block(session, interface)
    if index == 0xFFFFFFFF:
        session.wrong(line, f"no resource {name!r}")
        return
    props, out = np.array([prop], np.uint32), np.zeros(1, np.int32)
    gl.get_program_resourceiv(session.program, interface, index, 1, props, 1, None, out)
    _expect(session, line, int(out[0]), expected)


def _bound_block(session: Session, interface: int) -> int:
    """Where SPIR-V has no names, `block binding` says which block is meant."""
    if interface not in (GL.UNIFORM_BLOCK, GL.SHADER_STORAGE_BLOCK) or session.block.binding < 0:
        return 0xFFFFFFFF
    gl = session.gl
    out = np.zeros(1, np.int32)
    gl.get_program_interfaceiv(session.program, interface, GL.ACTIVE_RESOURCES, out)
    props, found = np.array([GL.BUFFER_BINDING], np.uint32), np.zeros(1, np.int32)
    for index in range(int(out[0])):
        gl.get_program_resourceiv(session.program, interface, index, 1, props, 1, None, found)
        if int(found[0]) == session.block.binding:
            return index
    return 0xFFFFFFFF


@command("verify query_object")
def verify_query(session: Session, line: Line, words: Words) -> None:
    """verify query_object GL_TARGET VALUE: the result of the last query of that kind"""
    name = words.word("a query target").removeprefix("GL_")
    expected = words.integer("a value")
    words.end()
    if name not in session.queries:
        raise line.error(f"no query of {name} was made")
    seen = int(session.gl.get_query_objectuiv(session.queries[name], GL.QUERY_RESULT)[0])
    _expect(session, line, seen, expected)


@command("active uniform")
def active_uniform(session: Session, line: Line, words: Words) -> None:
    """active uniform NAME GL_PROPERTY VALUE: glGetActiveUniformsiv"""
    name = words.word("a uniform")
    prop = enum(line, words.word("a property"))
    text = words.word("a value")
    words.end()
    session.need_program(line)
    expected = _number_or_enum(line, text)
    gl = session.gl
    count = int(gl.get_programiv(session.program, GL.ACTIVE_UNIFORMS)[0])
    for index in range(count):
        if str(gl.get_active_uniform_name(session.program, index)) != name:
            continue
        indices = np.array([index], np.uint32)
        seen = int(gl.get_active_uniformsiv(session.program, 1, indices, prop)[0])
        _expect(session, line, seen, expected)
        return
    session.wrong(line, f"{name!r} is no active uniform")


@command("active shader program")
def active_shader_program(session: Session, line: Line, words: Words) -> None:
    """active shader program GL_STAGE: whose uniforms `uniform` sets in a pipeline"""
    stage = words.word("a stage").removeprefix("GL_")
    words.end()
    program = session.stage_programs.get(stage, 0)
    session.gl.active_shader_program(session.pipeline, program)
    session.active_program = program


@command("verify error", "verify gl error")
def verify_error(session: Session, line: Line, words: Words) -> None:
    """verify error GL_INVALID_OPERATION: the pending GL error"""
    expected = enum(line, words.word("an error"))
    words.end()
    seen = session.gl.get_error()
    if seen != expected:
        session.wrong(line, f"observed {GL.name_of(seen, group='error')}")


@command("program binary")
def program_binary(session: Session, line: Line, words: Words) -> None:
    """program binary save restore: keep the program as bytes, make it anew of them, or both

    A restored program has its uniforms' first values again.
    """
    steps = words.texts[words.at :]
    if not steps or not {*steps} <= {"save", "restore"}:
        raise line.error("'program binary' wants 'save', 'restore' or both")
    session.need_program(line)
    gl, program = session.gl, session.program
    for step in steps:
        if step == "save":
            size = int(gl.get_programiv(program, GL.PROGRAM_BINARY_LENGTH)[0])
            length, format = np.zeros(1, np.int32), np.zeros(1, np.uint32)
            data = np.zeros(size, np.uint8)
            gl.get_program_binary(program, size, length, format, data)
            session.binary = (int(format[0]), data[: int(length[0])])
        elif session.binary is None:
            raise line.error("no program was saved")
        else:
            kept, data = session.binary
            gl.program_binary(program, kept, data, data.nbytes)
            if not gl.get_programiv(program, GL.LINK_STATUS)[0]:
                session.wrong(line, f"restoring failed:\n{gl.get_program_info_log(program)}")
