"""Fixed state: clearing, enables, depth, blending, clip planes, matrices, points, patches."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command, unsupported
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []


@command("clear color")
def clear_color(session: Session, line: Line, words: Words) -> None:
    """clear color R G B A: choose the colour `clear` writes"""
    session.gl.clear_color(*words.numbers(4, "a colour channel"))
    words.end()
    session.clear_bits |= GL.COLOR_BUFFER_BIT


@command("clear depth")
def clear_depth(session: Session, line: Line, words: Words) -> None:
    """clear depth Z: choose the depth `clear` writes"""
    depth = words.number("a depth")
    words.end()
    if session.is_es:
        session.gl.clear_depthf(depth)
    else:
        session.gl.clear_depth(depth)
    session.clear_bits |= GL.DEPTH_BUFFER_BIT


@command("clear stencil")
def clear_stencil(session: Session, line: Line, words: Words) -> None:
    """clear stencil S: choose the stencil value `clear` writes"""
    session.gl.clear_stencil(words.integer("a stencil value"))
    words.end()
    session.clear_bits |= GL.STENCIL_BUFFER_BIT


@command("clear")
def clear(session: Session, line: Line, words: Words) -> None:
    """clear: write what the `clear color/depth/stencil` before it chose"""
    words.end()
    session.gl.clear(session.clear_bits)


@command("enable")
def enable(session: Session, line: Line, words: Words) -> None:
    """enable GL_CAP"""
    session.gl.enable(enum(line, words.word("a capability")))
    words.end()


@command("disable")
def disable(session: Session, line: Line, words: Words) -> None:
    """disable GL_CAP"""
    session.gl.disable(enum(line, words.word("a capability")))
    words.end()


@command("depth func", "depthfunc")
def depth_func(session: Session, line: Line, words: Words) -> None:
    """depth func GL_LESS: the comparison of the depth test"""
    session.gl.depth_func(enum(line, words.word("a comparison")))
    words.end()


@command("depth mask")
def depth_mask(session: Session, line: Line, words: Words) -> None:
    """depth mask 0|1"""
    session.gl.depth_mask(words.integer("0 or 1"))
    words.end()


@command("color mask")
def color_mask(session: Session, line: Line, words: Words) -> None:
    """color mask R G B A: which channels are written, as 0 or 1"""
    session.gl.color_mask(*words.integers(4, "0 or 1"))
    words.end()


@command("depth range")
def depth_range(session: Session, line: Line, words: Words) -> None:
    """depth range NEAR FAR"""
    near, far = words.numbers(2, "a depth")
    words.end()
    if session.is_es:
        session.gl.depth_rangef(near, far)
    else:
        session.gl.depth_range(near, far)


@command("blend func")
def blend_func(session: Session, line: Line, words: Words) -> None:
    """blend func GL_SRC GL_DST [GL_SRC_ALPHA_FACTOR GL_DST_ALPHA_FACTOR]"""
    factors = [enum(line, words.word("a blend factor")) for _ in range(2)]
    if not words.done:
        factors += [enum(line, words.word("a blend factor")) for _ in range(2)]
        session.gl.blend_func_separate(*factors)
    else:
        session.gl.blend_func(*factors)
    words.end()


@command("logic op")
def logic_op(session: Session, line: Line, words: Words) -> None:
    """logic op GL_XOR (with `enable GL_COLOR_LOGIC_OP`; not in piglit)"""
    session.gl.logic_op(enum(line, words.word("a logic operation")))
    words.end()


@command("blend equation")
def blend_equation(session: Session, line: Line, words: Words) -> None:
    """blend equation GL_FUNC_ADD"""
    session.gl.blend_equation(enum(line, words.word("an equation")))
    words.end()


@command("blend color")
def blend_color(session: Session, line: Line, words: Words) -> None:
    """blend color R G B A"""
    session.gl.blend_color(*words.numbers(4, "a colour channel"))
    words.end()


@command("alpha func")
def alpha_func(session: Session, line: Line, words: Words) -> None:
    """alpha func GL_GREATER REF: the alpha test's comparison (compatibility profile)"""
    function = enum(line, words.word("a comparison"))
    session.gl.alpha_func(function, words.number("a reference value"))
    words.end()


@command("stencil func")
def stencil_func(session: Session, line: Line, words: Words) -> None:
    """stencil func GL_EQUAL REF MASK"""
    function = enum(line, words.word("a comparison"))
    session.gl.stencil_func(function, words.integer("a reference"), words.integer("a mask"))
    words.end()


@command("stencil op")
def stencil_op(session: Session, line: Line, words: Words) -> None:
    """stencil op GL_SFAIL GL_ZFAIL GL_PASS"""
    session.gl.stencil_op(*(enum(line, words.word("an operation")) for _ in range(3)))
    words.end()


@command("scissor")
def scissor(session: Session, line: Line, words: Words) -> None:
    """scissor X Y W H (with `enable GL_SCISSOR_TEST`)"""
    session.gl.scissor(*words.integers(4, "a coordinate"))
    words.end()


@command("cull face")
def cull_face(session: Session, line: Line, words: Words) -> None:
    """cull face GL_BACK"""
    session.gl.cull_face(enum(line, words.word("a face")))
    words.end()


@command("front face")
def front_face(session: Session, line: Line, words: Words) -> None:
    """front face GL_CCW"""
    session.gl.front_face(enum(line, words.word("a winding")))
    words.end()


@command("clip plane")
def clip_plane(session: Session, line: Line, words: Words) -> None:
    """clip plane N A B C D: a user clip plane in eye space (compatibility profile)"""
    plane = words.integer("a plane number")
    equation = np.array([words.double("a coefficient") for _ in range(4)], np.float64)
    words.end()
    session.gl.clip_plane(GL.CLIP_PLANE0 + plane, equation)


@command("shade model")
def shade_model(session: Session, line: Line, words: Words) -> None:
    """shade model flat|smooth (compatibility profile)"""
    model = words.choice("a shade model", "flat", "smooth")
    words.end()
    session.gl.shade_model(GL.FLAT if model == "flat" else GL.SMOOTH)


@command("provoking vertex")
def provoking_vertex(session: Session, line: Line, words: Words) -> None:
    """provoking vertex first|last"""
    which = words.choice("a convention", "first", "last")
    words.end()
    first = which == "first"
    session.gl.provoking_vertex(GL.FIRST_VERTEX_CONVENTION if first else GL.LAST_VERTEX_CONVENTION)


@command("polygon mode")
def polygon_mode(session: Session, line: Line, words: Words) -> None:
    """polygon mode GL_FRONT_AND_BACK GL_LINE"""
    face, mode = (enum(line, words.word("an enum")) for _ in range(2))
    words.end()
    session.gl.polygon_mode(face, mode)


@command("hint")
def hint(session: Session, line: Line, words: Words) -> None:
    """hint GL_TARGET GL_NICEST"""
    target, mode = (enum(line, words.word("an enum")) for _ in range(2))
    words.end()
    session.gl.hint(target, mode)


@command("point size")
def point_size(session: Session, line: Line, words: Words) -> None:
    """point size S"""
    session.gl.point_size(words.number("a size"))
    words.end()


@command("line width")
def line_width(session: Session, line: Line, words: Words) -> None:
    """line width W"""
    session.gl.line_width(words.number("a width"))
    words.end()


@command("viewport indexed")
def viewport_indexed(session: Session, line: Line, words: Words) -> None:
    """viewport indexed I X Y W H"""
    session.gl.viewport_indexedf(words.integer("an index"), *words.numbers(4, "a coordinate"))
    words.end()


@command("viewport")
def viewport(session: Session, line: Line, words: Words) -> None:
    """viewport X Y W H"""
    session.gl.viewport(*words.integers(4, "a coordinate"))
    words.end()


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


@command("frustum")
def frustum(session: Session, line: Line, words: Words) -> None:
    """frustum LEFT RIGHT BOTTOM TOP NEAR FAR: a perspective projection"""
    left, right, bottom, top, near, far = words.numbers(6, "a bound")
    words.end()
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


@command("patch parameter vertices")
def patch_vertices(session: Session, line: Line, words: Words) -> None:
    """patch parameter vertices N"""
    session.gl.patch_parameteri(GL.PATCH_VERTICES, words.integer("a count"))
    words.end()


@command("patch parameter default level outer")
def patch_outer(session: Session, line: Line, words: Words) -> None:
    """patch parameter default level outer A B C D"""
    levels = np.array(words.numbers(4, "a level"), np.float32)
    words.end()
    session.gl.patch_parameterfv(GL.PATCH_DEFAULT_OUTER_LEVEL, levels)


@command("patch parameter default level inner")
def patch_inner(session: Session, line: Line, words: Words) -> None:
    """patch parameter default level inner A B"""
    levels = np.array(words.numbers(2, "a level"), np.float32)
    words.end()
    session.gl.patch_parameterfv(GL.PATCH_DEFAULT_INNER_LEVEL, levels)


@command("memory barrier")
def memory_barrier(session: Session, line: Line, words: Words) -> None:
    """memory barrier GL_SHADER_STORAGE_BARRIER_BIT"""
    bits = enum(line, words.word("barrier bits"))
    words.end()
    session.gl.memory_barrier(bits)


@command("fbfetch barrier")
def fetch_barrier(session: Session, line: Line, words: Words) -> None:
    """fbfetch barrier: glFramebufferFetchBarrierEXT"""
    words.end()
    session.gl.framebuffer_fetch_barrier_ext()


unsupported("viewport swizzles are not implemented", "viewport swizzle")
