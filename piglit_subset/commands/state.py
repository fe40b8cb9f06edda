"""Fixed state: clearing, enables, depth, blending, clip planes, matrices, points, patches."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import Row, calls, command, unsupported
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["CALLS"]


def _clear_color(session: Session, *color: float) -> None:
    session.gl.clear_color(*color)
    session.clear_bits |= GL.COLOR_BUFFER_BIT


def _clear_depth(session: Session, depth: float) -> None:
    (session.gl.clear_depthf if session.is_es else session.gl.clear_depth)(depth)
    session.clear_bits |= GL.DEPTH_BUFFER_BIT


def _clear_stencil(session: Session, value: int) -> None:
    session.gl.clear_stencil(value)
    session.clear_bits |= GL.STENCIL_BUFFER_BIT


def _depth_range(session: Session, near: float, far: float) -> None:
    (session.gl.depth_rangef if session.is_es else session.gl.depth_range)(near, far)


def _clip_plane(session: Session, plane: int, *equation: float) -> None:
    session.gl.clip_plane(GL.CLIP_PLANE0 + plane, np.array(equation, np.float64))


def _provoking_vertex(session: Session, which: str) -> None:
    first = GL.FIRST_VERTEX_CONVENTION
    session.gl.provoking_vertex(first if which == "first" else GL.LAST_VERTEX_CONVENTION)


def _frustum(
    session: Session, left: float, right: float, bottom: float, top: float, near: float, far: float
) -> None:
    matrix = np.zeros((4, 4), np.float32)
    matrix[0, 0], matrix[0, 2] = 2 * near / (right - left), (right + left) / (right - left)
    matrix[1, 1], matrix[1, 2] = 2 * near / (top - bottom), (top + bottom) / (top - bottom)
    matrix[2, 2], matrix[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    matrix[3, 2] = -1
    _load_projection(session, matrix)


def _load_projection(
    session: Session, matrix: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    gl = session.gl
    gl.matrix_mode(GL.PROJECTION)
    gl.load_matrixf(np.ascontiguousarray(matrix.T))
    gl.matrix_mode(GL.MODELVIEW)
    gl.load_identity()


def _patch_levels(session: Session, *levels: float) -> None:
    which = "OUTER" if len(levels) == 4 else "INNER"
    name = int(getattr(GL, f"PATCH_DEFAULT_{which}_LEVEL"))
    session.gl.patch_parameterfv(name, np.array(levels, np.float32))


CALLS: tuple[Row, ...] = (
    ("clear color", "R G B A: choose the colour `clear` writes", _clear_color,
     "4 number a colour channel"),
    ("clear depth", "Z: choose the depth `clear` writes", _clear_depth, "number a depth"),
    ("clear stencil", "S: choose the stencil value `clear` writes", _clear_stencil,
     "integer a stencil value"),
    ("clear", ": write what the `clear color/depth/stencil` before it chose",
     lambda session: session.gl.clear(session.clear_bits), ""),
    ("enable", "GL_CAP", "enable", "enum a capability"),
    ("disable", "GL_CAP", "disable", "enum a capability"),
    ("depth func, depthfunc", "GL_LESS: the comparison of the depth test", "depth_func",
     "enum a comparison"),
    ("depth mask", "0|1", "depth_mask", "integer 0 or 1"),
    ("color mask", "R G B A: which channels are written, as 0 or 1", "color_mask",
     "4 integer 0 or 1"),
    ("depth range", "NEAR FAR", _depth_range, "2 number a depth"),
    ("logic op", "GL_XOR (with `enable GL_COLOR_LOGIC_OP`; not in piglit)", "logic_op",
     "enum a logic operation"),
    ("blend equation", "GL_FUNC_ADD", "blend_equation", "enum an equation"),
    ("blend color", "R G B A", "blend_color", "4 number a colour channel"),
    ("alpha func", "GL_GREATER REF: the alpha test's comparison (compatibility profile)",
     "alpha_func", "enum a comparison, number a reference value"),
    ("stencil func", "GL_EQUAL REF MASK", "stencil_func",
     "enum a comparison, integer a reference, integer a mask"),
    ("stencil op", "GL_SFAIL GL_ZFAIL GL_PASS", "stencil_op", "3 enum an operation"),
    ("scissor", "X Y W H (with `enable GL_SCISSOR_TEST`)", "scissor", "4 integer a coordinate"),
    ("cull face", "GL_BACK", "cull_face", "enum a face"),
    ("front face", "GL_CCW", "front_face", "enum a winding"),
    ("clip plane", "N A B C D: a user clip plane in eye space (compatibility profile)",
     _clip_plane, "integer a plane number, 4 double a coefficient"),
    ("shade model", "flat|smooth (compatibility profile)",
     lambda session, model: session.gl.shade_model(GL.FLAT if model == "flat" else GL.SMOOTH),
     "flat|smooth a shade model"),
    ("provoking vertex", "first|last", _provoking_vertex, "first|last a convention"),
    ("polygon mode", "GL_FRONT_AND_BACK GL_LINE", "polygon_mode", "2 enum an enum"),
    ("hint", "GL_TARGET GL_NICEST", "hint", "2 enum an enum"),
    ("point size", "S", "point_size", "number a size"),
    ("line width", "W", "line_width", "number a width"),
    ("viewport indexed", "I X Y W H", "viewport_indexedf",
     "integer an index, 4 number a coordinate"),
    ("viewport", "X Y W H", "viewport", "4 integer a coordinate"),
    ("frustum", "LEFT RIGHT BOTTOM TOP NEAR FAR: a perspective projection", _frustum,
     "6 number a bound"),
    ("patch parameter vertices", "N",
     lambda session, count: session.gl.patch_parameteri(GL.PATCH_VERTICES, count),
     "integer a count"),
    ("patch parameter default level outer", "A B C D", _patch_levels, "4 number a level"),
    ("patch parameter default level inner", "A B", _patch_levels, "2 number a level"),
    ("memory barrier", "GL_SHADER_STORAGE_BARRIER_BIT", "memory_barrier", "enum barrier bits"),
    ("fbfetch barrier", ": glFramebufferFetchBarrierEXT", "framebuffer_fetch_barrier_ext", ""),
)  # fmt: skip
calls(CALLS)


@command("blend func")
def blend_func(session: Session, line: Line, words: Words) -> None:
    """blend func GL_SRC GL_DST [GL_SRC_ALPHA_FACTOR GL_DST_ALPHA_FACTOR]"""
    count = 4 if len(words) > 2 else 2
    factors = [enum(line, words.word("a blend factor")) for _ in range(count)]
    words.end()
    gl = session.gl
    (gl.blend_func if count == 2 else gl.blend_func_separate)(*factors)


@command("ortho")
def ortho(session: Session, line: Line, words: Words) -> None:
    """ortho [LEFT RIGHT BOTTOM TOP]: projection; window coordinates if no bounds are given"""
    if words.done:
        left, right, bottom, top = 0.0, float(session.width), 0.0, float(session.height)
    else:
        left, right, bottom, top = words.numbers(4, "a bound")
    words.end()
    matrix = np.eye(4, dtype=np.float32)
    matrix[0, 0], matrix[0, 3] = 2 / (right - left), -(right + left) / (right - left)
    matrix[1, 1], matrix[1, 3] = 2 / (top - bottom), -(top + bottom) / (top - bottom)
    matrix[2, 2] = -1
    _load_projection(session, matrix)


unsupported("viewport swizzles are not implemented", "viewport swizzle")
