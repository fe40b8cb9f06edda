"""Old GL: current colour, display lists, parameters of assembly programs."""

from __future__ import annotations

from gallette.piglit_subset.commands.registry import calls, command
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []


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


def _new_list(session: Session, mode: int) -> None:
    session.display_list = int(session.gl.gen_lists(1))
    session.gl.new_list(session.display_list, mode)


calls(
    (
        ("color", "R G B A: the current colour", "color4f", "4 number a colour channel"),
        ("newlist", "GL_COMPILE: record a display list", _new_list, "enum a mode"),
        ("endlist", "", "end_list", ""),
        ("calllist", "", lambda session: session.gl.call_list(session.display_list), ""),
        ("deletelist", "", lambda session: session.gl.delete_lists(session.display_list, 1), ""),
    )
)
