"""State: clearing, enables, depth, blending, clip planes, matrices, points, patches; and of old GL
the current colour, display lists and parameters of assembly programs.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gallette.piglit_subset.commands.registry import Row, calls, command, unsupported
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL

CALLS: tuple[Row, ...] = (
    ("enable", "GL_CAP", "enable", "enum a capability"),
    ("disable", "GL_CAP", "disable", "enum a capability"),
    ("depth func, depthfunc", "GL_LESS: the comparison of the depth test", "depth_func",
     "enum a comparison"),
    ("depth mask", "0|1", "depth_mask", "integer 0 or 1"),
    ("color mask", "R G B A: which channels are written, as 0 or 1", "color_mask",
     "4 integer 0 or 1"),
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
    ("polygon mode", "GL_FRONT_AND_BACK GL_LINE", "polygon_mode", "2 enum an enum"),
    ("hint", "GL_TARGET GL_NICEST", "hint", "2 enum an enum"),
    ("point size", "S", "point_size", "number a size"),
    ("line width", "W", "line_width", "number a width"),
    ("viewport indexed", "I X Y W H", "viewport_indexedf",
     "integer an index, 4 number a coordinate"),
    ("viewport", "X Y W H", "viewport", "4 integer a coordinate"),
    ("memory barrier", "GL_SHADER_STORAGE_BARRIER_BIT", "memory_barrier", "enum barrier bits"),
    ("color", "R G B A: the current colour", "color4f", "4 number a colour channel"),
    ("endlist", "", "end_list", ""),
    ("fbfetch barrier", ": glFramebufferFetchBarrierEXT", "framebuffer_fetch_barrier_ext", ""),
    ("blend barrier", ": glBlendBarrier", "blend_barrier_khr", ""),
    ("clip plane", "N A B C D: a user clip plane in eye space (compatibility profile)",
     "clip_plane CLIP_PLANE0+", "integer a plane number, 4 doubles a coefficient"),
    ("texcoord", "UNIT (S, T, R, Q): the current texture coordinates (compatibility profile)",
     "multi_tex_coord4f TEXTURE0+", "integer a unit, 4 number a coordinate"),
    ("shade model", "flat|smooth (compatibility profile)", "shade_model",
     "flat=FLAT|smooth=SMOOTH a shade model"),
    ("provoking vertex", "first|last", "provoking_vertex",
     "first=FIRST_VERTEX_CONVENTION|last=LAST_VERTEX_CONVENTION a convention"),
    ("patch parameter vertices", "N", "patch_parameteri PATCH_VERTICES", "integer a count"),
    ("patch parameter default level outer", "A B C D",
     "patch_parameterfv PATCH_DEFAULT_OUTER_LEVEL", "4 floats a level"),
    ("patch parameter default level inner", "A B",
     "patch_parameterfv PATCH_DEFAULT_INNER_LEVEL", "2 floats a level"),
)  # fmt: skip
calls(CALLS)


def _clear_value(method: str, bit: int, session: Session, *values: float) -> None:
    getattr(session.gl, method + "f" * (session.is_es and method == "clear_depth"))(*values)
    session.clear_bits |= bit


for _head, _usage, _reads in (
    ("clear color", "R G B A: the colour that `clear` writes", "4 number a colour channel"),
    ("clear depth", "Z: the depth that `clear` writes", "number a depth"),
    ("clear stencil", "S: the stencil value that `clear` writes", "integer a stencil value"),
):
    _method, _what = _head.replace(" ", "_"), _head.removeprefix("clear ").upper()
    _set = partial(_clear_value, _method, int(getattr(GL, f"{_what}_BUFFER_BIT")))
    command(_head, reads=_reads, usage=f"{_head} {_usage}")(_set)


@command("clear", reads="")
def clear(session: Session) -> None:
    """clear: write the values of the preceding `clear color/depth/stencil`"""
    session.gl.clear(session.clear_bits)


@command("depth range", reads="2 number a depth")
def depth_range(session: Session, near: float, far: float) -> None:
    """depth range NEAR FAR"""
    (session.gl.depth_rangef if session.is_es else session.gl.depth_range)(near, far)


@command("blend func", reads="2 enum a blend factor, 2 enum? a blend factor")
def blend_func(session: Session, *factors: int) -> None:
    """blend func GL_SRC GL_DST [GL_SRC_ALPHA_FACTOR GL_DST_ALPHA_FACTOR]"""
    gl = session.gl
    (gl.blend_func if len(factors) == 2 else gl.blend_func_separate)(*factors)


_LIGHT_VALUES = {
    GL.AMBIENT: 4, GL.DIFFUSE: 4, GL.SPECULAR: 4, GL.POSITION: 4, GL.SPOT_DIRECTION: 3,
}  # fmt: skip


@command("light")
def light(session: Session, words: Words) -> None:
    """light N GL_DIFFUSE float|int VALUES: a parameter of a light (compatibility profile)"""
    index, name = words.integer("a light"), enum(words.line, words.word("a parameter"))
    kind = words.choice("a type", "float", "int")
    count, gl, at = _LIGHT_VALUES.get(name, 1), session.gl, GL.LIGHT0 + index
    if kind == "float":
        gl.lightfv(at, name, words.array(np.float32, count))
    else:
        gl.lightiv(at, name, words.array(np.int32, count, "an integer"))
    words.end()


@command("ortho", reads="4 number? a bound")
def ortho(session: Session, *bounds: float) -> None:
    """ortho [LEFT RIGHT BOTTOM TOP]: projection; window coordinates if no bounds are given"""
    width, height = session.draw_size
    left, right, bottom, top = bounds or (0.0, float(width), 0.0, float(height))
    matrix = np.eye(4, dtype=np.float32)
    matrix[0, 0], matrix[0, 3] = 2 / (right - left), -(right + left) / (right - left)
    matrix[1, 1], matrix[1, 3] = 2 / (top - bottom), -(top + bottom) / (top - bottom)
    matrix[2, 2] = -1
    _load_projection(session, matrix)


@command("frustum", reads="6 number a bound")
def frustum(
    session: Session, left: float, right: float, bottom: float, top: float, near: float, far: float
) -> None:
    """frustum LEFT RIGHT BOTTOM TOP NEAR FAR: a perspective projection"""
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


@command(
    "parameter env_vp", "parameter env_fp", "parameter local_vp", "parameter local_fp",
    reads="integer an index, 4 number a number",
)  # fmt: skip
def parameter(session: Session, index: int, *values: float) -> None:
    """parameter env_vp|local_vp|env_fp|local_fp INDEX (X, Y, Z, W)"""
    scope, _, stage = session.head[1].partition("_")
    target = GL.VERTEX_PROGRAM_ARB if stage == "vp" else GL.FRAGMENT_PROGRAM_ARB
    getattr(session.gl, f"program_{scope}_parameter4f_arb")(target, index, *values)


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


unsupported("viewport swizzles are not implemented", "viewport swizzle")
