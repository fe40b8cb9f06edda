"""Old GL: current colour, display lists, parameters of assembly programs."""

from __future__ import annotations

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []


@command("color")
def color(session: Session, line: Line, words: Words) -> None:
    """color R G B A: the current colour"""
    session.gl.color4f(*words.numbers(4, "a colour channel"))
    words.end()


@command("parameter env_vp", "parameter env_fp", "parameter local_vp", "parameter local_fp")
def parameter(session: Session, line: Line, words: Words) -> None:
    """parameter env_vp|local_vp|env_fp|local_fp INDEX (X, Y, Z, W)"""
    scope, _, stage = words.texts[1].partition("_")
    target = GL.VERTEX_PROGRAM_ARB if stage == "vp" else GL.FRAGMENT_PROGRAM_ARB
    index = words.integer("an index")
    values = words.numbers(4)
    words.end()
    gl = session.gl
    if scope == "env":
        gl.program_env_parameter4f_arb(target, index, *values)
    else:
        gl.program_local_parameter4f_arb(target, index, *values)


@command("newlist")
def new_list(session: Session, line: Line, words: Words) -> None:
    """newlist GL_COMPILE: record a display list"""
    mode = enum(line, words.word("a mode"))
    words.end()
    session.display_list = int(session.gl.gen_lists(1))
    session.gl.new_list(session.display_list, mode)


@command("endlist")
def end_list(session: Session, line: Line, words: Words) -> None:
    """endlist"""
    words.end()
    session.gl.end_list()


@command("calllist")
def call_list(session: Session, line: Line, words: Words) -> None:
    """calllist"""
    words.end()
    session.gl.call_list(session.display_list)


@command("deletelist")
def delete_list(session: Session, line: Line, words: Words) -> None:
    """deletelist"""
    words.end()
    session.gl.delete_lists(session.display_list, 1)
