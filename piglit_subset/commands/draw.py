"""Drawing: rectangles, arrays from `[vertex data]`, compute dispatches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gallette.piglit_subset import vertices
from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.programs import POSITION, TEXCOORD
from gallette.piglit_subset.session import Session
from gallette.state_tracker.entry_points.enums import GL


def _corners(box: Sequence[float]) -> list[tuple[float, float]]:
    x, y, w, h = box
    return [(x, y), (x + w, y), (x, y + h), (x + w, y + h)]


def _draw_rectangle(
    session: Session, box: Sequence[float], texture: Sequence[float] = (), instances: int = 1
) -> None:
    """Two triangles as a strip (or one patch of four vertices) over a rectangle."""
    session.need_program()
    gl = session.gl
    if "ortho" in session.head:
        x, y, w, h = box
        width, height = session.needs.size
        box = (-1 + 2 * x / width, -1 + 2 * y / height, 2 * w / width, 2 * h / height)
    data = np.zeros((4, 8), np.float32)
    data[:, 0:2] = _corners(box)
    data[:, 3] = 1
    data[:, 7] = 1
    if texture:
        data[:, 4:6] = _corners(texture)
    if not session.rectangle_buffer:
        session.rectangle_buffer = gl.gen_buffers(1)[0]
        if not session.is_es or session.needs.version >= (3, 0):
            session.rectangle_array = gl.gen_vertex_arrays(1)[0]
    if session.rectangle_array:
        gl.bind_vertex_array(session.rectangle_array)
    gl.bind_buffer(GL.ARRAY_BUFFER, session.rectangle_buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STREAM_DRAW)
    attributes = (POSITION, TEXCOORD)[: 2 if texture else 1]
    for number, attribute in enumerate(attributes):
        if session.is_compat:
            # The fixed-function arrays feed gl_Vertex, and alias attribute 0 for other shaders.
            if attribute == TEXCOORD:
                gl.client_active_texture(GL.TEXTURE0)
            pointer = gl.vertex_pointer if attribute == POSITION else gl.tex_coord_pointer
            pointer(4, GL.FLOAT, 32, 16 * number)
            gl.enable_client_state(_FIXED[attribute])
        else:
            gl.vertex_attrib_pointer(attribute, 4, GL.FLOAT, 0, 32, 16 * number)
            gl.enable_vertex_attrib_array(attribute)
    mode = GL.TRIANGLE_STRIP
    if "patch" in session.head:
        gl.patch_parameteri(GL.PATCH_VERTICES, 4)
        mode = GL.PATCHES
    _draw_arrays(session, mode, 0, 4, instances)
    for attribute in attributes:
        if session.is_compat:
            gl.disable_client_state(_FIXED[attribute])
        else:
            gl.disable_vertex_attrib_array(attribute)
    if session.rectangle_array:
        gl.bind_vertex_array(session.vertex_array)


_FIXED = {POSITION: GL.VERTEX_ARRAY, TEXCOORD: GL.TEXTURE_COORD_ARRAY}


def _draw_arrays(session: Session, mode: int, first: int, count: int, instances: int) -> None:
    if instances > 1:
        session.gl.draw_arrays_instanced(mode, first, count, instances)
    else:
        session.gl.draw_arrays(mode, first, count)


@command(
    "draw instanced rect", "draw instanced rect ortho", "draw instanced rect ortho patch",
    reads="integer an instance count, 4 number a coordinate",
)  # fmt: skip
@command(
    "draw rect", "draw rect ortho", "draw rect patch", "draw rect ortho patch",
    reads="4 number a coordinate",
)  # fmt: skip
def draw_rectangle(session: Session, *numbers: float) -> None:
    """draw [instanced] rect [ortho] [patch] [INSTANCES] X Y W H"""
    *instances, x, y, width, height = numbers
    _draw_rectangle(session, (x, y, width, height), instances=int(instances[0]) if instances else 1)


@command("draw rect tex", "draw rect ortho tex", reads="8 number a coordinate")
def draw_textured(session: Session, *boxes: float) -> None:
    """draw rect [ortho] tex X Y W H S T SW TH: with texture coordinates"""
    _draw_rectangle(session, boxes[:4], boxes[4:])


_ARRAYS = "enum a primitive mode, 2 integer a vertex number"


def _check_range(session: Session, first: int, count: int) -> None:
    """Refuse to draw vertices that are not in the table."""
    session.need_program()
    if first < 0 or count <= 0:
        raise session.line.error("the first vertex must be at least 0 and the count at least 1")
    if session.test.vertex_data:
        vertices.bind(session)
        if first + count > session.vertex_count:
            last, have = first + count - 1, session.vertex_count
            raise session.line.error(f"draws vertex {last}, [vertex data] has {have}")


@command(
    "draw arrays instanced base", reads=f"{_ARRAYS}, integer an instance count, integer an instance"
)
def draw_from_instance(
    session: Session, mode: int, first: int, count: int, instances: int, base: int
) -> None:
    """draw arrays instanced base GL_MODE FIRST COUNT INSTANCES BASE"""
    _check_range(session, first, count)
    session.gl.draw_arrays_instanced_base_instance(mode, first, count, instances, base)


@command("multidraw arrays", reads="enum a primitive mode, integer a count, * integer a number")
def draw_many(session: Session, mode: int, count: int, *numbers: int) -> None:
    """multidraw arrays GL_MODE N FIRST... COUNT...: glMultiDrawArrays, N of each"""
    if count <= 0 or len(numbers) != 2 * count:
        raise session.line.error(f"expected {2 * max(count, 1)} numbers after the count")
    for first, length in zip(numbers[:count], numbers[count:], strict=True):
        _check_range(session, first, length)
    firsts, counts = np.array(numbers, np.int32).reshape(2, count)
    session.gl.multi_draw_arrays(mode, firsts, counts, count)


@command("draw arrays", "xfb draw arrays", reads=_ARRAYS)
@command("draw arrays instanced", reads=f"{_ARRAYS}, integer an instance count")
def draw_arrays(session: Session, mode: int, first: int, count: int, instances: int = 1) -> None:
    """[xfb] draw arrays [instanced] GL_MODE FIRST COUNT [INSTANCES]"""
    _check_range(session, first, count)
    if "xfb" in session.head:
        _begin_feedback(session, mode)
    _draw_arrays(session, mode, first, count, instances)
    if "xfb" in session.head:
        session.gl.end_transform_feedback()
        for name in _COUNTED:
            session.gl.end_query(int(getattr(GL, name)))


@command("draw elements", reads="enum a primitive mode, * integer an index")
def draw_elements(session: Session, mode: int, *numbers: int) -> None:
    """draw elements GL_MODE COUNT BASEVERTEX: COUNT of [elements], with BASEVERTEX added to each

    A test without that section has the indices in the line instead (not in piglit).
    """
    base = 0
    if session.test.elements:
        count, base = numbers if len(numbers) == 2 else (0, 0)
        given = [i for line in session.test.elements for i in line.words().all_integers()]
        if not 0 < count <= len(given) or base < 0:
            raise session.line.error(f"expected a count up to {len(given)} and a base vertex")
        numbers = tuple(given[:count])
    indices = np.array(numbers, np.uint32)
    session.need_program()
    if not len(indices):
        raise session.line.error("no indices to draw")
    vertices.bind(session)
    if (last := int(indices.max()) + base) >= session.vertex_count:
        have = session.vertex_count
        raise session.line.error(f"index {last}, [vertex data] has {have} rows")
    gl = session.gl
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STREAM_DRAW)
    if base:
        gl.draw_elements_base_vertex(mode, len(indices), GL.UNSIGNED_INT, 0, base)
    else:
        gl.draw_elements(mode, len(indices), GL.UNSIGNED_INT, 0)


_COUNTED = ("PRIMITIVES_GENERATED", "TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN")


def _begin_feedback(session: Session, mode: int) -> None:
    gl = session.gl
    lines = (GL.LINES, GL.LINE_STRIP, GL.LINE_LOOP)
    primitive = GL.POINTS if mode == GL.POINTS else GL.LINES if mode in lines else GL.TRIANGLES
    for name in _COUNTED:
        if name not in session.queries:
            session.queries[name] = gl.gen_queries(1)[0]
        gl.begin_query(int(getattr(GL, name)), session.queries[name])
    gl.begin_transform_feedback(primitive)


@command("compute", reads="3 integer a group count")
@command("compute group size", reads="6 integer a size")
def compute(session: Session, *numbers: int) -> None:
    """compute [group size] X Y Z [SX SY SZ]: dispatch work groups, perhaps of a given size"""
    session.need_program()
    gl = session.gl
    (gl.dispatch_compute_group_size_arb if len(numbers) == 6 else gl.dispatch_compute)(*numbers)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
