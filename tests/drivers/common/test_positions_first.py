"""Vertices that are placed before they are shaded: the picture and all counts are the same, and
only those vertices are shaded that some fragment needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw.positions import FewVertices
from gallette.drivers.numpipe.variants.compiler import ShaderCompiler
from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, program

SIZE, COUNT = 96, 2000  # triangles
VERTEX = """#version 430
#extension GL_ARB_shader_viewport_layer_array : enable
in vec4 position;
in vec3 normal;
in float shift;
HEAD
out vec3 light;
flat out ivec2 number;
noperspective out vec2 place;
out float same;
uniform float one;
void main() {
    gl_Position = position + vec4(shift, 0.0, 0.0, 0.0);
    vec3 sum = vec3(0.1);
    for (int i = 0; i < 6; i++) {
        vec3 l = vec3(sin(float(i)), cos(float(i)), 0.3) - position.xyz;
        float a = max(dot(normal, normalize(l)), 0.0);
        sum += a * vec3(0.4, 0.3, 0.2) + pow(a, 3.0) / (1.0 + dot(l, l));
    }
    light = sum;
    number = ivec2(gl_VertexID, gl_InstanceID);
    place = position.xy * 3.0;
    same = one;
    BODY
}
"""
FRAGMENT = """#version 430
in vec3 light;
flat in ivec2 number;
noperspective in vec2 place;
in float same;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec4 whole;
void main() {
    color = vec4(light * same, fract(place.x) + fract(place.y));
    whole = ivec4(number, 0, 1);
}
"""
STATISTICS = (
    GL.VERTEX_SHADER_INVOCATIONS,
    GL.PRIMITIVES_SUBMITTED,
    GL.CLIPPING_INPUT_PRIMITIVES,
    GL.CLIPPING_OUTPUT_PRIMITIVES,
    GL.FRAGMENT_SHADER_INVOCATIONS,
    GL.PRIMITIVES_GENERATED,
    GL.SAMPLES_PASSED,
)


def strewn(spread: float) -> npt.NDArray[np.float32]:
    """Triangles: position (some of them behind the eye), normal."""
    random = np.random.default_rng(3)
    places = random.uniform(-spread, spread, (COUNT, 1, 4)) + random.uniform(
        -0.15, 0.15, (COUNT, 3, 4)
    )
    places[..., 3] = 1 + 0.9 * np.sin(3 * places[..., 0])
    places[::50, 0, 3] = -0.2
    normals = random.uniform(-1, 1, (COUNT, 3, 3))
    return np.concatenate((places, normals), axis=2).reshape(-1, 7).astype(np.float32)


class Scene:
    """A context with the triangles bound, and two targets: floats and whole numbers."""

    def __init__(self, vertex: str, spread: float = 1.3, samples: int = 0) -> None:
        gl = create_context("numpipe", version=(4, 3), size=(SIZE, SIZE))
        self.gl: GLInterface = gl
        self.name = program(gl, vertex, FRAGMENT)
        gl.uniform1f(gl.get_uniform_location(self.name, "one"), 1.0)
        (target,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        for at, format in enumerate((GL.RGBA32F, GL.RGBA32I, GL.DEPTH_COMPONENT24)):
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, SIZE, SIZE)
            point = GL.DEPTH_ATTACHMENT if at == 2 else GL.COLOR_ATTACHMENT0 + at
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        gl.draw_buffers(2, [GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT0 + 1])
        self.samples = samples
        (vao,), (buffer, shifts, indices) = gl.gen_vertex_arrays(1), gl.gen_buffers(3)
        gl.bind_vertex_array(vao)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        data = strewn(spread)
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        for attribute, size, offset in (("position", 4, 0), ("normal", 3, 16)):
            at = gl.get_attrib_location(self.name, attribute)
            gl.enable_vertex_attrib_array(at)
            gl.vertex_attrib_pointer(at, size, GL.FLOAT, 0, 28, offset)
        gl.bind_buffer(GL.ARRAY_BUFFER, shifts)
        shift = np.array([0.0, 0.4, -0.6], np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, shift.nbytes, shift, GL.STATIC_DRAW)
        at = gl.get_attrib_location(self.name, "shift")
        gl.enable_vertex_attrib_array(at)
        gl.vertex_attrib_pointer(at, 1, GL.FLOAT, 0, 4, 0)
        gl.vertex_attrib_divisor(at, 1)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)
        order = np.random.default_rng(5).permutation(3 * COUNT).astype(np.uint32)
        order[::7] = order[0]
        gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, order.nbytes, order, GL.STATIC_DRAW)
        gl.enable(GL.DEPTH_TEST)

    def look(self, draw: Callable[[GLInterface], None]) -> list[Any]:
        """Both pictures, and what was counted."""
        gl = self.gl
        gl.clear(GL.DEPTH_BUFFER_BIT)
        gl.clear_bufferfv(GL.COLOR, 0, [0.0, 0.0, 0.0, 0.0])
        gl.clear_bufferiv(GL.COLOR, 1, [0, 0, 0, 0])
        queries = gl.gen_queries(len(STATISTICS))
        for target, query in zip(STATISTICS, queries, strict=True):
            gl.begin_query(target, query)
        draw(gl)
        for target in STATISTICS:
            gl.end_query(target)
        seen: list[Any] = [gl.get_query_objectuiv(q, GL.QUERY_RESULT)[0] for q in queries]
        if self.samples:
            return [*seen, *errors(gl)]
        for at, format, type in ((0, GL.RGBA, GL.FLOAT), (1, GL.RGBA_INTEGER, GL.INT)):
            gl.read_buffer(GL.COLOR_ATTACHMENT0 + at)
            seen.append(bytes(gl.read_pixels(0, 0, SIZE, SIZE, format, type)))
        return [*seen, *errors(gl)]


def instanced(gl: GLInterface) -> None:
    gl.draw_arrays_instanced(GL.TRIANGLES, 0, 3 * COUNT, 3)


def culled(gl: GLInterface) -> None:
    gl.enable(GL.CULL_FACE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3 * COUNT)


def indexed(gl: GLInterface) -> None:
    gl.cull_face(GL.FRONT)
    gl.enable(GL.CULL_FACE)
    gl.draw_elements_instanced_base_vertex_base_instance(
        GL.TRIANGLES, 3 * COUNT, GL.UNSIGNED_INT, None, 2, -5, 1
    )


def strip(gl: GLInterface) -> None:
    gl.provoking_vertex(GL.FIRST_VERTEX_CONVENTION)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 5, 3 * COUNT - 5)


def clipped(gl: GLInterface) -> None:
    gl.enable(GL.CLIP_DISTANCE0)
    gl.draw_arrays(GL.TRIANGLES, 0, 3 * COUNT)


def offset(gl: GLInterface) -> None:
    gl.enable(GL.POLYGON_OFFSET_FILL)
    gl.polygon_offset(1.0, 2.0)
    gl.draw_arrays(GL.TRIANGLES, 0, 3 * COUNT)


CLIPS = "gl_ClipDistance[0] = position.x + 0.2;"
VIEWPORTS = "gl_ViewportIndex = gl_VertexID / 3 & 1;"


def vertex(body: str = "", head: str = "") -> str:
    return VERTEX.replace("BODY", body).replace("HEAD", head)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[FewVertices]:
    """Whoever is told which vertices of a draw are shaded late."""
    made: list[FewVertices] = []

    class Told(FewVertices):
        def __init__(self, lanes: int) -> None:
            super().__init__(lanes)
            made.append(self)

    monkeypatch.setattr("gallette.drivers.common.draw.positions.FewVertices", Told)
    return made


@pytest.mark.parametrize(
    ("draw", "body", "samples"),
    [
        (instanced, "", 0),
        (culled, "", 0),
        (indexed, "", 0),
        (strip, "", 0),
        (clipped, CLIPS, 0),
        (culled, VIEWPORTS, 0),
        (offset, "", 0),
        (culled, "", 4),
    ],
    ids=["instanced", "culled", "indexed", "strip", "clipped", "viewports", "offset", "samples"],
)
def test_pictures_and_counts_are_the_same(
    draw: Callable[[GLInterface], None],
    body: str,
    samples: int,
    few: list[FewVertices],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(vertex(body), samples=samples)
    late = scene.look(draw)
    assert late == scene.look(draw)
    monkeypatch.setattr(ShaderCompiler, "positions_first", False)
    told = len(few)
    assert late == Scene(vertex(body), samples=samples).look(draw)
    assert late[0] > 0 and late[6] > 0
    assert len(few) == told >= 1
    if draw is not strip and draw is not indexed and body != VIEWPORTS:  # others share most
        assert all(0 < each.shaded < 0.95 * each.lanes for each in few)


def test_invisible_vertices_are_not_shaded(few: list[FewVertices]) -> None:
    scene = Scene(vertex(), spread=8.0)
    scene.look(culled)
    assert few[0].lanes == 3 * COUNT and few[0].shaded < 0.1 * few[0].lanes


def test_what_is_hidden_is_not_shaded(few: list[FewVertices]) -> None:
    scene = Scene(vertex())

    def draw(gl: GLInterface) -> None:
        culled(gl)
        culled(gl)

    scene.look(draw)
    assert 0 < few[1].shaded < 0.5 * few[0].shaded  # those that are cut


def test_draws_with_visible_vertices_only_are_shaded_at_once(few: list[FewVertices]) -> None:
    """And after a while it is tried again."""
    scene = Scene(vertex(), spread=0.2)

    def draw(gl: GLInterface) -> None:
        gl.disable(GL.DEPTH_TEST)  # what is hidden is not shaded either
        for _ in range(70):
            gl.draw_arrays(GL.TRIANGLES, 0, 3 * COUNT)

    scene.look(draw)
    assert [each.shaded > 0.7 * each.lanes for each in few] == [True] * len(few)
    assert len(few) == 3


def test_the_variant_says_why_it_is_there() -> None:
    scene = Scene(vertex())
    scene.look(culled)
    reasons = [event.reason for event in scene.gl.pipe.variant_log]
    assert "differs in depth_only" in reasons


STORES = "layout(std430, binding = 0) buffer B { uint count; };"


@pytest.mark.parametrize("why", ["stores", "captured", "outlined", "simple", "small"])
def test_vertices_are_shaded_at_once_where_the_difference_is_observable(
    why: str, few: list[FewVertices]
) -> None:
    """Or where there is nothing to save."""
    source = vertex("atomicAdd(count, 1u);", STORES) if why == "stores" else vertex()
    if why == "simple":
        source = source.replace("i < 6", "i < 0")
    scene = Scene(source)
    gl = scene.gl
    (buffer,) = gl.gen_buffers(1)
    target = GL.SHADER_STORAGE_BUFFER if why == "stores" else GL.TRANSFORM_FEEDBACK_BUFFER
    gl.bind_buffer_base(target, 0, buffer)
    gl.buffer_data(target, 1 << 20, np.zeros(1 << 18, np.uint32), GL.DYNAMIC_COPY)
    if why == "captured":
        gl.transform_feedback_varyings(scene.name, 1, ["light"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(scene.name)
        gl.use_program(scene.name)

    def draw(gl: GLInterface) -> None:
        if why == "outlined":
            gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
        if why == "captured":
            gl.begin_transform_feedback(GL.TRIANGLES)
        gl.draw_arrays(GL.TRIANGLES, 0, 3000 if why == "small" else 3 * COUNT)
        if why == "captured":
            gl.end_transform_feedback()

    seen = scene.look(draw)
    assert seen[6] > 0 and not few
    if why == "stores":
        data = np.frombuffer(bytes(gl.get_buffer_sub_data(target, 0, 4)), np.uint32)
        assert data[0] == 3 * COUNT
