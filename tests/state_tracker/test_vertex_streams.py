"""Vertex streams: geometry shaders emit to several, each captured and counted on its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import compiled, errors, pixels

VS = "#version 430\nout int id;\nvoid main() { id = gl_VertexID; gl_Position = vec4(0); }"
GS = """#version 430
layout(points) in;
layout(points, max_vertices = 10) out;
in int id[];
layout(stream = 0) out float first;
layout(stream = 1) out vec2 second;
layout(stream = 3) flat out ivec3 fourth;
void main() {
    gl_Position = vec4(0.26, 0.26, 0.0, 1.0);
    first = id[0] + 0.5;
    EmitStreamVertex(0);
    EndStreamPrimitive(0);
    for (int i = 0; i < id[0]; i++) {
        second = vec2(id[0], i);
        EmitStreamVertex(1);
        if (i % 2 == 0) {
            fourth = ivec3(id[0], i, -1);
            EmitStreamVertex(3);
        }
    }
}"""
FS = "#version 430\nin float first;\nout vec4 color;\nvoid main() { color = vec4(first / 8.0); }"
STREAMS = (0, 1, 3)


@pytest.fixture(params=["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 3), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        if request.param == "jit":
            pytest.importorskip("llvmlite")
        context = create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    yield context
    context.release()


def linked(gl: GLInterface, *stages: tuple[int, str], varyings: list[str], mode: int) -> int:
    name = gl.create_program()
    for kind, source in stages:
        gl.attach_shader(name, compiled(gl, kind, source))
    gl.transform_feedback_varyings(name, varyings, mode)
    gl.link_program(name)
    return int(name)


def streaming(gl: GLInterface) -> int:
    stages = ((GL.VERTEX_SHADER, VS), (GL.GEOMETRY_SHADER, GS), (GL.FRAGMENT_SHADER, FS))
    varyings = ["first", "second", "fourth"]
    name = linked(gl, *stages, varyings=varyings, mode=GL.SEPARATE_ATTRIBS)
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    gl.use_program(name)
    return name


def capture_buffers(gl: GLInterface, *sizes: int) -> list[int]:
    names = [int(n) for n in gl.gen_buffers(len(sizes))]
    for index, (buffer, size) in enumerate(zip(names, sizes, strict=True)):
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, index, buffer)
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, size, bytes(size), GL.STATIC_DRAW)
    return names


def contents(gl: GLInterface, buffer: int, size: int, kind: str) -> npt.NDArray[Any]:
    gl.bind_buffer(GL.COPY_READ_BUFFER, buffer)
    raw = gl.get_buffer_sub_data(GL.COPY_READ_BUFFER, 0, size)
    return np.frombuffer(raw, kind)


SECOND = [(n, i) for n in range(5) for i in range(n)]
FOURTH = [(n, i, -1) for n in range(5) for i in range(0, n, 2)]


def test_each_stream_has_its_buffers(gl: GLInterface) -> None:
    streaming(gl)
    buffers = capture_buffers(gl, 64, 256, 256)
    kinds = (GL.PRIMITIVES_GENERATED, GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
    queries = {(s, k): int(gl.gen_queries(1)[0]) for s in range(4) for k in kinds}
    for (stream, kind), query in queries.items():
        gl.begin_query_indexed(kind, stream, query)
        assert gl.get_query_indexediv(kind, stream, GL.CURRENT_QUERY)[0] == query
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_transform_feedback()
    for stream, kind in queries:
        gl.end_query_indexed(kind, stream)
    assert errors(gl) == []
    assert list(contents(gl, buffers[0], 20, "<f4")) == [0.5, 1.5, 2.5, 3.5, 4.5]
    second = contents(gl, buffers[1], 8 * len(SECOND), "<f4").reshape(-1, 2)
    assert [tuple(v) for v in second.tolist()] == SECOND
    fourth = contents(gl, buffers[2], 12 * len(FOURTH), "<i4").reshape(-1, 3)
    assert [tuple(v) for v in fourth.tolist()] == FOURTH
    counts = {0: 5, 1: len(SECOND), 2: 0, 3: len(FOURTH)}
    for (stream, _), query in queries.items():
        assert gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] == counts[stream], stream
    assert (pixels(gl)[40, 40] > 0).all()  # the first stream is rasterized


def test_overflow_of_one_stream_is_separate(gl: GLInterface) -> None:
    if "GL_ARB_transform_feedback_overflow_query" not in extensions(gl):
        pytest.skip("no overflow queries")
    streaming(gl)
    capture_buffers(gl, 64, 24, 256)
    queries = [int(q) for q in gl.gen_queries(5)]
    gl.begin_query(GL.TRANSFORM_FEEDBACK_OVERFLOW, queries[4])
    for stream in range(4):
        gl.begin_query_indexed(GL.TRANSFORM_FEEDBACK_STREAM_OVERFLOW, stream, queries[stream])
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_transform_feedback()
    for stream in range(4):
        gl.end_query_indexed(GL.TRANSFORM_FEEDBACK_STREAM_OVERFLOW, stream)
    gl.end_query(GL.TRANSFORM_FEEDBACK_OVERFLOW)
    assert errors(gl) == []
    found = [gl.get_query_objectuiv(q, GL.QUERY_RESULT)[0] for q in queries]
    assert found == [0, 1, 0, 0, 1]
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.begin_conditional_render(queries[0], GL.QUERY_WAIT)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_conditional_render()
    assert not pixels(gl)[40, 40, 0]
    gl.begin_conditional_render(queries[4], GL.QUERY_WAIT)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_conditional_render()
    assert pixels(gl)[40, 40, 0]


def extensions(gl: GLInterface) -> set[str]:
    count = gl.get_integerv(GL.NUM_EXTENSIONS)[0]
    return {gl.get_stringi(GL.EXTENSIONS, i) for i in range(count)}


def test_as_many_vertices_are_drawn_as_a_stream_captured(gl: GLInterface) -> None:
    if "llvmpipe" in gl.get_string(GL.RENDERER):
        pytest.skip("llvmpipe divides by the stride of the first vertex buffer")
    streaming(gl)
    capture_buffers(gl, 64, 256, 256)
    (feedback,) = gl.gen_transform_feedbacks(1)
    buffers = capture_buffers(gl, 64, 256, 256)
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, feedback)
    for index, buffer in enumerate(buffers):
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, index, buffer)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_transform_feedback()
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, 0)
    (query,) = gl.gen_queries(1)
    for stream, count in ((0, 5), (1, len(SECOND)), (3, len(FOURTH))):
        gl.begin_query(GL.PRIMITIVES_GENERATED, query)
        gl.draw_transform_feedback_stream(GL.POINTS, feedback, stream)
        gl.end_query(GL.PRIMITIVES_GENERATED)
        assert gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] == count, stream
    assert errors(gl) == []
    gl.draw_transform_feedback_stream(GL.POINTS, feedback, 4)
    gl.begin_query_indexed(GL.PRIMITIVES_GENERATED, 4, query)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    assert gl.get_integerv(GL.MAX_VERTEX_STREAMS)[0] >= 4


def test_a_buffer_captures_one_stream(gl: GLInterface) -> None:
    stages = ((GL.VERTEX_SHADER, VS), (GL.GEOMETRY_SHADER, GS), (GL.FRAGMENT_SHADER, FS))
    mixed = linked(gl, *stages, varyings=["first", "second"], mode=GL.INTERLEAVED_ATTRIBS)
    assert not gl.get_programiv(mixed, GL.LINK_STATUS)[0]
    names = ["first", "gl_NextBuffer", "second", "gl_SkipComponents2", "gl_NextBuffer", "fourth"]
    good = linked(gl, *stages, varyings=names, mode=GL.INTERLEAVED_ATTRIBS)
    assert gl.get_programiv(good, GL.LINK_STATUS)[0], gl.get_program_info_log(good)
    gl.use_program(good)
    buffers = capture_buffers(gl, 64, 256, 256)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_transform_feedback()
    second = contents(gl, buffers[1], 16 * len(SECOND), "<f4").reshape(-1, 4)
    assert [tuple(v) for v in second[:, :2].tolist()] == SECOND


def test_the_evaluation_stage_is_captured(gl: GLInterface) -> None:
    control = """#version 430
layout(vertices = 3) out;
void main() {
    gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
    gl_TessLevelInner = float[2](1.0, 1.0);
}"""
    evaluation = """#version 430
layout(triangles) in;
out vec3 seen;
void main() { seen = gl_TessCoord; gl_Position = vec4(gl_TessCoord, 1.0); }"""
    name = linked(
        gl,
        (GL.VERTEX_SHADER, "#version 430\nvoid main() { gl_Position = vec4(0); }"),
        (GL.TESS_CONTROL_SHADER, control),
        (GL.TESS_EVALUATION_SHADER, evaluation),
        varyings=["seen"],
        mode=GL.INTERLEAVED_ATTRIBS,
    )
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    gl.use_program(name)
    (buffer,) = capture_buffers(gl, 36)
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.PATCHES, 0, 3)
    gl.end_transform_feedback()
    assert errors(gl) == []
    seen = contents(gl, buffer, 36, "<f4").reshape(3, 3)
    assert sorted(seen.tolist()) == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
