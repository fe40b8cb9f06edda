"""Old GL: current colour, display lists, parameters of assembly programs."""

from __future__ import annotations

from gallette.piglit_subset.commands.registry import calls, command
from gallette.piglit_subset.session import Session
from gallette.state_tracker.entry_points.enums import GL

calls(
    (
        ("color", "R G B A: the current colour", "color4f", "4 number a colour channel"),
        ("endlist", "", "end_list", ""),
    )
)


@command(
    "parameter env_vp", "parameter env_fp", "parameter local_vp", "parameter local_fp",
    reads="integer an index, 4 number a number",
)  # fmt: skip
def parameter(session: Session, index: int, *values: float) -> None:
    """parameter env_vp|local_vp|env_fp|local_fp INDEX (X, Y, Z, W)"""
    scope, _, stage = session.head[1].partition("_")
    target = GL.VERTEX_PROGRAM_ARB if stage == "vp" else GL.FRAGMENT_PROGRAM_ARB
    gl = session.gl
    env = scope == "env"
    set_it = gl.program_env_parameter4f_arb if env else gl.program_local_parameter4f_arb
    set_it(target, index, *values)


@command("newlist", reads="enum a mode")
def new_list(session: Session, mode: int) -> None:
    """newlist GL_COMPILE: record a display list"""
    session.display_list = int(session.gl.gen_lists(1))
    session.gl.new_list(session.display_list, mode)


@command("calllist", reads="")
def call_list(session: Session) -> None:
    """calllist"""
    session.gl.call_list(session.display_list)


@command("deletelist", reads="")
def delete_list(session: Session) -> None:
    """deletelist"""
    session.gl.delete_lists(session.display_list, 1)
