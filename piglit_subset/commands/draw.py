"""Drawing: rectangles, arrays from `[vertex data]`, compute dispatches."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset import vertices
from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.programs import POSITION, TEXCOORD
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []

Box = list[float]
"""X, Y, width and height."""


def _corners(box: Box) -> list[tuple[float, float]]:
    x, y, w, h = box
    return [(x, y), (x + w, y), (x, y + h), (x + w, y + h)]


def _draw_rectangle(
    session: Session, box: Box, texture: Box | None = None, patch: bool = False, instances: int = 1
) -> None:
    """Two triangles as a strip (or one patch of four vertices) over a rectangle."""
    gl = session.gl
    data = np.zeros((4, 8), np.float32)
    data[:, 0:2] = _corners(box)
    data[:, 3] = 1
    data[:, 7] = 1
    if texture is not None:
        data[:, 4:6] = _corners(texture)
    if not session.rectangle_buffer:
        session.rectangle_buffer = gl.gen_buffers(1)[0]
        if not session.is_es or session.needs.version >= (3, 0):
            session.rectangle_array = gl.gen_vertex_arrays(1)[0]
    if session.rectangle_array:
        gl.bind_vertex_array(session.rectangle_array)
    gl.bind_buffer(GL.ARRAY_BUFFER, session.rectangle_buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STREAM_DRAW)
    # The fixed-function arrays feed gl_Vertex, and alias attribute 0 for everyone else.
    switch_on, switch_off = gl.enable_vertex_attrib_array, gl.disable_vertex_attrib_array
    arrays = [POSITION, TEXCOORD][: 1 + (texture is not None)]
    if session.is_compat:
        switch_on, switch_off = gl.enable_client_state, gl.disable_client_state
        arrays = [GL.VERTEX_ARRAY, GL.TEXTURE_COORD_ARRAY][: len(arrays)]
        gl.vertex_pointer(4, GL.FLOAT, 32, 0)
        if texture is not None:
            gl.client_active_texture(GL.TEXTURE0)
            gl.tex_coord_pointer(4, GL.FLOAT, 32, 16)
    else:
        for index in arrays:
            gl.vertex_attrib_pointer(index, 4, GL.FLOAT, 0, 32, 16 * (index == TEXCOORD))
    for array in arrays:
        switch_on(array)
    if patch:
        gl.patch_parameteri(GL.PATCH_VERTICES, 4)
    _draw(session, GL.PATCHES if patch else GL.TRIANGLE_STRIP, 0, 4, instances)
    for array in arrays:
        switch_off(array)
    if session.rectangle_array:
        gl.bind_vertex_array(session.vertex_array)


def _draw(session: Session, mode: int, first: int, count: int, instances: int) -> None:
    if instances > 1:
        session.gl.draw_arrays_instanced(mode, first, count, instances)
    else:
        session.gl.draw_arrays(mode, first, count)


def _ortho(session: Session, box: Box) -> Box:
    """Pixels as what positions are given in."""
    width, height = session.width, session.height
    x, y, w, h = box
    return [-1 + 2 * x / width, -1 + 2 * y / height, 2 * w / width, 2 * h / height]


@command(
    "draw rect",
    "draw rect ortho",
    "draw rect patch",
    "draw rect ortho patch",
    "draw instanced rect",
    "draw instanced rect ortho",
    "draw instanced rect ortho patch",
)
def draw_rectangle(session: Session, line: Line, words: Words) -> None:
    """draw [instanced] rect [ortho] [patch] [INSTANCES] X Y W H"""
    head = words.texts[: words.at]
    instances = words.integer("an instance count") if "instanced" in head else 1
    box = words.numbers(4, "a coordinate")
    words.end()
    session.need_program(line)
    if "ortho" in head:
        box = _ortho(session, box)
    _draw_rectangle(session, box, None, "patch" in head, instances)


@command("draw rect tex", "draw rect ortho tex")
def draw_textured(session: Session, line: Line, words: Words) -> None:
    """draw rect [ortho] tex X Y W H S T SW TH: with texture coordinates"""
    head = words.texts[: words.at]
    box, texture = words.numbers(4, "a coordinate"), words.numbers(4, "a coordinate")
    words.end()
    session.need_program(line)
    _draw_rectangle(session, _ortho(session, box) if "ortho" in head else box, texture)


@command("draw arrays", "draw arrays instanced", "xfb draw arrays")
def draw_arrays(session: Session, line: Line, words: Words) -> None:
    """[xfb] draw arrays [instanced] GL_MODE FIRST COUNT [INSTANCES]"""
    head = words.texts[: words.at]
    mode = enum(line, words.word("a primitive mode"))
    first, count = words.integers(2, "a vertex number")
    instances = words.integer("an instance count") if "instanced" in head else 1
    words.end()
    session.need_program(line)
    if first < 0 or count <= 0:
        raise line.error("the first vertex must be at least 0 and the count at least 1")
    gl = session.gl
    if session.test.vertex_data:
        vertices.bind(session)
        if first + count > session.vertex_count:
            have = session.vertex_count
            raise line.error(f"draws vertex {first + count - 1}, [vertex data] has {have}")
    if "xfb" in head:
        _begin_feedback(session, mode)
    _draw(session, mode, first, count, instances)
    if "xfb" in head:
        gl.end_transform_feedback()
        gl.end_query(GL.PRIMITIVES_GENERATED)
        gl.end_query(GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)


@command("draw elements")
def draw_elements(session: Session, line: Line, words: Words) -> None:
    """draw elements GL_MODE I0 I1 I2 ...: indexed, the indices on the line (not in piglit)"""
    mode = enum(line, words.word("a primitive mode"))
    indices = np.array(words.integers(len(words), "an index"), np.uint32)
    words.end()
    session.need_program(line)
    if not len(indices):
        raise line.error("no indices to draw")
    vertices.bind(session)
    if indices.max() >= session.vertex_count:
        raise line.error(f"index {indices.max()}, [vertex data] has {session.vertex_count} rows")
    gl = session.gl
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STREAM_DRAW)
    gl.draw_elements(mode, len(indices), GL.UNSIGNED_INT, 0)


def _begin_feedback(session: Session, mode: int) -> None:
    gl = session.gl
    lines = (GL.LINES, GL.LINE_STRIP, GL.LINE_LOOP)
    primitive = GL.POINTS if mode == GL.POINTS else GL.LINES if mode in lines else GL.TRIANGLES
    for name in ("PRIMITIVES_GENERATED", "TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN"):
        if name not in session.queries:
            session.queries[name] = gl.gen_queries(1)[0]
        gl.begin_query(int(getattr(GL, name)), session.queries[name])
    gl.begin_transform_feedback(primitive)


@command("compute")
def compute(session: Session, line: Line, words: Words) -> None:
    """compute X Y Z: dispatch that many work groups"""
    groups = words.integers(3, "a group count")
    words.end()
    session.need_program(line)
    session.gl.dispatch_compute(*groups)
    session.gl.memory_barrier(GL.ALL_BARRIER_BITS)


@command("compute group size")
def compute_sized(session: Session, line: Line, words: Words) -> None:
    """compute group size X Y Z SX SY SZ: groups of a size given here"""
    numbers = words.integers(6, "a size")
    words.end()
    session.need_program(line)
    session.gl.dispatch_compute_group_size_arb(*numbers)
    session.gl.memory_barrier(GL.ALL_BARRIER_BITS)
