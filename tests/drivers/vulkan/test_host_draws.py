"""What the device draws otherwise than OpenGL is drawn by the host, among draws of the device."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.drivers.vulkan.host import HostDraws
from gallette.state_tracker import GL
from tests.state_tracker.helpers import linked, pixels

from .device import SIZE, both, needs_device, said, validated

pytestmark = needs_device

_VERTEX = """#version 150 compatibility
layout(std140) uniform Shift { vec4 shift; };
uniform vec4 tint;
out vec4 seen;
void main() {
    gl_Position = gl_Vertex + shift;
    gl_FrontColor = vec4(1.0, 0.0, 0.25, 0.5);
    gl_BackColor = vec4(0.0, 1.0, 0.25, 0.5);
    seen = gl_Position * 0.25 + tint;
}"""
_FRAGMENT = """#version 150 compatibility
in vec4 seen;
void main() {
    gl_FragColor = gl_Color * (gl_FrontFacing ? 1.0 : 0.75);
    gl_FragColor.b = seen.x + 0.125 * float(gl_PrimitiveID);
}"""
_SHAPE = [(-0.7, -0.6), (0.55, -0.5), (0.6, 0.7), (-0.5, 0.65)]
_BEYOND = [(x + 0.8, y - 0.3) for x, y in _SHAPE]  # cut by two sides of the view
_MODES = (
    (GL.POINT, GL.POINT),
    (GL.LINE, GL.LINE),
    (GL.FILL, GL.FILL),
    (GL.POINT, GL.FILL),
    (GL.FILL, GL.LINE),
)


@pytest.fixture(autouse=True)
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    messages = validated(tmp_path, monkeypatch)
    yield
    assert said(messages) == ""


@pytest.fixture
def by_host(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The draws that the host makes."""
    infos: list[Any] = []
    draw = HostDraws.draw

    def counted(self: HostDraws, info: Any) -> None:
        infos.append(info)
        draw(self, info)

    monkeypatch.setattr(HostDraws, "draw", counted)
    return infos


def used(gl: Any, fragment: str = _FRAGMENT, captured: tuple[str, ...] = ()) -> int:
    """A program in use, whose block is in a buffer."""
    made = linked(gl, captured=captured, vertex=_VERTEX, fragment=fragment)
    gl.uniform4f(gl.get_uniform_location(made, "tint"), 0.25, 0, 0, 0)
    (block,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, block)
    gl.buffer_data(GL.UNIFORM_BUFFER, 16, np.zeros(4, "f4"), GL.DYNAMIC_DRAW)
    return made


def shape(gl: Any, mode: int, corners: list[tuple[float, float]]) -> None:
    gl.begin(mode)
    for x, y in corners:
        gl.vertex2f(x, y)
    gl.end()


@pytest.mark.parametrize("mode", [GL.TRIANGLES, GL.QUADS, GL.QUAD_STRIP, GL.POLYGON])
def test_polygon_modes_edges_faces_and_numbers(mode: int, by_host: list[Any]) -> None:
    def draw(gl: Any) -> list[Any]:
        used(gl)
        gl.point_size(3)
        gl.blend_func(GL.SRC_ALPHA, GL.ONE)
        found = []
        corners = [_SHAPE, _SHAPE[::-1], _BEYOND, _BEYOND[::-1]]
        for (front, back), points, culled in product(_MODES, corners, (0, GL.BACK)):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.polygon_mode(GL.FRONT, front)
            gl.polygon_mode(GL.BACK, back)
            for capability, on in (
                (GL.BLEND, True),
                (GL.VERTEX_PROGRAM_TWO_SIDE, True),
                (GL.CULL_FACE, culled),
            ):
                (gl.enable if on else gl.disable)(capability)
            gl.cull_face(culled or GL.BACK)
            shape(gl, mode, points[:3] if mode == GL.TRIANGLES else points)
            found.append(pixels(gl, SIZE, SIZE))
        return found

    for ours, theirs in both(draw, "compat"):
        assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert by_host


def test_edge_flags_are_kept(by_host: list[Any]) -> None:
    def draw(gl: Any) -> list[Any]:
        used(gl)
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
        gl.begin(GL.TRIANGLES)
        for flag, (x, y) in zip((True, False, True), _SHAPE[:3], strict=True):
            gl.edge_flag(flag)
            gl.vertex2f(x, y)
        gl.end()
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert np.array_equal(ours, theirs)
    assert len(by_host) == 1


@pytest.mark.parametrize("size", [1.0, 2.5, 9.3])
def test_smooth_points_and_stippled_polygons(size: float, by_host: list[Any]) -> None:
    def draw(gl: Any) -> list[Any]:
        gl.enable(GL.BLEND)
        gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
        gl.enable(GL.POLYGON_STIPPLE)
        gl.polygon_stipple(np.arange(128, dtype=np.uint8))
        gl.color4f(0.5, 1, 0, 0.75)
        shape(gl, GL.QUADS, _SHAPE)
        gl.enable(GL.POINT_SMOOTH)
        gl.point_size(size)
        shape(gl, GL.POINTS, _SHAPE)
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert np.array_equal(ours, theirs)
    assert len(by_host) == 2
    assert len(np.unique(ours[..., 0])) > 3


def test_the_host_and_the_device_draw_in_turns(by_host: list[Any]) -> None:
    """Uniform blocks, depth and colours are those of the draws and writes before."""

    def draw(gl: Any) -> list[Any]:
        used(gl)
        gl.point_size(3)
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(GL.LEQUAL)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.ONE)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        for number in range(6):  # triangles are filled and outlined by the device
            moved = np.array([0.1 * number - 0.2, 0.05 * number, -0.1 * (number % 3), 0], "f4")
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, 0, 16, moved)
            gl.polygon_mode(GL.FRONT_AND_BACK, (GL.FILL, GL.POINT, GL.LINE)[number % 3])
            shape(gl, GL.TRIANGLES if number < 3 else GL.QUADS, _SHAPE[: 3 + (number > 2)])
        depth = np.empty(SIZE * SIZE, np.float32)
        gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_COMPONENT, GL.FLOAT, depth)
        return [pixels(gl, SIZE, SIZE), depth]

    (ours, theirs), (our_depth, their_depth) = both(draw, "compat")
    assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert np.abs(our_depth - their_depth).max() < 1e-6
    assert len(by_host) == 4


def test_queries_and_captures_go_on_through_draws_of_the_host(by_host: list[Any]) -> None:
    kinds = GL.SAMPLES_PASSED, GL.PRIMITIVES_GENERATED, GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN

    def draw(gl: Any) -> list[Any]:
        used(gl, captured=("gl_Position", "seen"))
        gl.point_size(3)
        (store,), queries = gl.gen_buffers(1), gl.gen_queries(len(kinds))
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, store)
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 640, bytes(640), GL.STATIC_READ)
        for kind, query in zip(kinds, queries, strict=True):
            gl.begin_query(kind, query)
        gl.begin_transform_feedback(GL.TRIANGLES)
        for mode in (GL.FILL, GL.POINT, GL.LINE, GL.POINT):
            gl.polygon_mode(GL.FRONT_AND_BACK, mode)
            shape(gl, GL.TRIANGLES, _BEYOND[:3])
        gl.end_transform_feedback()
        for kind in kinds:
            gl.end_query(kind)
        counts = [gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] for query in queries]
        data = np.empty(160, np.float32)
        gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 640, data)
        return [pixels(gl, SIZE, SIZE), np.array(counts), data]

    (ours, theirs), (our_counts, their_counts), (our_data, their_data) = both(draw, "compat")
    assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert our_counts[1:].tolist() == [4, 4]
    assert np.array_equal(our_counts, their_counts)
    assert np.allclose(our_data, their_data, atol=1e-6)
    assert our_data[:96].any() and not our_data[96:].any()
    assert len(by_host) == 2


def test_multisampled_targets_are_drawn_by_the_host(by_host: list[Any]) -> None:
    def draw(gl: Any) -> list[Any]:
        used(gl)
        (target, plain), (samples, texture) = gl.gen_framebuffers(2), gl.gen_textures(2)
        gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, samples)
        gl.tex_image2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 4, GL.RGBA8, SIZE, SIZE, True)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, SIZE, SIZE)
        for name, kind, of in (
            (plain, GL.TEXTURE_2D, texture),
            (target, GL.TEXTURE_2D_MULTISAMPLE, samples),
        ):
            gl.bind_framebuffer(GL.FRAMEBUFFER, name)
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, kind, of, 0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        shape(gl, GL.TRIANGLES, _SHAPE[:3])
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
        shape(gl, GL.QUADS, _BEYOND)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, plain)
        box = 0, 0, SIZE, SIZE
        gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
        gl.bind_framebuffer(GL.FRAMEBUFFER, plain)
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert len(by_host) == 1
