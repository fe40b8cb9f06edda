"""Vertex buffers and textures made anew for each frame: plans move on to them, with the pixels of
new plans.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.jit import blocks, draw_plan
from gallette.drivers.jit.draw_plan import DrawPlan
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import errors, pixels, program

SIZE = 32
VERTEX = """
#version 330
in vec2 corner;
in vec3 tint;
out vec3 color;
void main() { gl_Position = vec4(corner, 0.0, 1.0); color = tint; }
"""
FRAGMENT = """
#version 330
in vec3 color;
out vec4 result;
void main() { result = vec4(color, 1.0); }
"""
TYPES = {GL.FLOAT: "<f4", GL.HALF_FLOAT: "<f2", GL.UNSIGNED_BYTE: "u1"}


def frames(kind: int, keeps: bool) -> Any:
    """Pictures of frames of two draws each, of triangles in a buffer of their own."""
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    name = program(gl, VERTEX, FRAGMENT)
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    at = [gl.get_attrib_location(name, each) for each in ("corner", "tint")]
    rng, found = np.random.default_rng(5), []
    for number in range(3):
        count = 6 + 3 * number  # so that later buffers are longer
        buffer = gl.gen_buffers(1)[0]
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        rows = np.zeros(count, [("corner", "<f4", 2), ("tint", TYPES[kind], 4)])
        rows["corner"] = rng.uniform(-1, 1, (count, 2))
        rows["tint"] = rng.uniform(0, 255 if kind == GL.UNSIGNED_BYTE else 1, (count, 4))
        gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(at[0], 2, GL.FLOAT, False, rows.itemsize, 0)
        gl.vertex_attrib_pointer(at[1], 3, kind, True, rows.itemsize, 8)
        for slot in at:
            gl.enable_vertex_attrib_array(slot)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.draw_arrays(GL.TRIANGLES, 3, count - 3)
        found.append(pixels(gl, SIZE, SIZE).copy())
        if not keeps:
            gl.delete_buffers(1, [buffer])
    assert not errors(gl)
    gl.release()
    return found


def moves_of_plans(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each plan moves on that is asked to, from now on."""
    moved: list[bool] = []
    move = DrawPlan.moved

    def noting(plan: DrawPlan, draw: Any) -> DrawPlan | None:
        found = move(plan, draw)
        moved.append(found is plan)
        return found

    monkeypatch.setattr(DrawPlan, "moved", noting)
    return moved


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("keeps", [False, True])
def test_they_are_drawn_by_the_plan_of_those_before(
    kind: int, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = moves_of_plans(monkeypatch)
    pictures = frames(kind, keeps)
    assert moved == [True, True]
    monkeypatch.setattr(DrawPlan, "moved", lambda *given: None)
    for mine, other in zip(pictures, frames(kind, keeps), strict=True):
        assert (mine == other).all() and mine.any()


TEXTURED = """
#version 430
in vec3 color;
out vec4 result;
uniform sampler2D image;
layout(binding = 0, rgba8) uniform readonly image2D other;
void main() { result = texture(image, color.xy) * imageLoad(other, ivec2(color.xy * 4.0)); }
"""


def textured_frames(formats: tuple[int, ...], images: int) -> Any:
    """Pictures of frames with a texture of their own each, and with one of some images."""
    gl = create_context("jit", profile="core", version=(4, 5), size=(SIZE, SIZE))
    name = program(gl, VERTEX.replace("330", "430"), TEXTURED)
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    rng, found = np.random.default_rng(6), []
    rows = rng.uniform(-1, 1, (30, 5)).astype(np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), GL.STATIC_DRAW)
    for place, (size, attribute) in enumerate(((2, "corner"), (3, "tint"))):
        slot = gl.get_attrib_location(name, attribute)
        gl.vertex_attrib_pointer(slot, size, GL.FLOAT, False, 20, 8 * place)
        gl.enable_vertex_attrib_array(slot)
    loaded = gl.gen_textures(images)
    for image in loaded:
        gl.bind_texture(GL.TEXTURE_2D, image)
        texels = rng.integers(0, 256, (4, 4, 4), np.uint8)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 4, 4)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    for number, format in enumerate(formats):
        gl.bind_image_texture(0, loaded[number % images], 0, False, 0, GL.READ_ONLY, GL.RGBA8)
        texture = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, texture)
        size = 4 << number
        texels = rng.integers(0, 256, (size, size, 4), np.uint8)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, format, size, size)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, size, size, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 15)
        gl.draw_arrays(GL.TRIANGLES, 15, 15)
        found.append(pixels(gl, SIZE, SIZE).copy())
        gl.delete_textures(1, [texture])
    assert not errors(gl)
    gl.release()
    return found


# Code is made for formats, and the third frame has that of the first; another image needs a plan of
# its own, as the first frame had one.
@pytest.mark.parametrize(
    ("formats", "images", "moves"),
    [
        ((GL.RGBA8, GL.RGBA8, GL.RGBA8), 1, [True, True]),
        ((GL.RGBA8, GL.RGBA16F, GL.RGBA8), 1, [False, True]),
        ((GL.RGBA8, GL.RGBA8, GL.RGBA8), 2, [True]),
    ],
)
def test_new_textures_are_drawn_by_the_plan_of_those_before(
    formats: tuple[int, ...], images: int, moves: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = moves_of_plans(monkeypatch)
    pictures = textured_frames(formats, images)
    assert moved == moves
    monkeypatch.setattr(DrawPlan, "moved", lambda *given: None)
    for mine, other in zip(pictures, textured_frames(formats, images), strict=True):
        assert (mine == other).all() and mine.any()


def test_buffers_that_take_turns_have_plans_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    name = program(gl, VERTEX, FRAGMENT)
    gl.use_program(name)
    arrays, at = gl.gen_vertex_arrays(2), gl.get_attrib_location(name, "corner")
    for array, side in zip(arrays, (-1, 1), strict=True):
        gl.bind_vertex_array(array)
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        half = np.array([0, -1, side, -1, 0, 1, side, 1], np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, half.nbytes, half.tobytes(), GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(at, 2, GL.FLOAT, False, 0, 0)
        gl.enable_vertex_attrib_array(at)
    made: list[bool] = []
    monkeypatch.setattr(DrawPlan, "moved", lambda plan, draw, move=DrawPlan.moved: (
        made.append(True) or move(plan, draw)
    ))  # fmt: skip
    gl.vertex_attrib3f(gl.get_attrib_location(name, "tint"), 1, 1, 1)
    for _ in range(3):
        for array, left in zip(arrays, (True, False), strict=True):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.bind_vertex_array(array)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            picture = pixels(gl, SIZE, SIZE)[..., 0] > 0
            assert picture[:, : SIZE // 2].all() == left
            assert picture[:, SIZE // 2 :].all() != left
    assert made == [True]
    assert not errors(gl)
    gl.release()


def test_what_is_compiled_ahead_serves_most_draws() -> None:
    """A draw of triangles in the first state needs no other set-up than the driver begins with."""
    blocks._setup_functions.cache_clear()
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    begun = blocks._setup_functions.cache_info().currsize
    gl.use_program(program(gl, VERTEX, FRAGMENT))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()
    assert blocks._setup_functions.cache_info()[1:] == (begun, 64, begun)  # misses
    assert begun == 1
    gl.release()


def pictures_of_a_large_buffer(kind: int) -> Any:
    """Pictures of draws from places that are far apart, before and after one of them is written."""
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    name = program(gl, VERTEX, FRAGMENT)
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    rng, found = np.random.default_rng(7), []
    rows = np.zeros(70_000, [("corner", "<f4", 2), ("tint", TYPES[kind], 4)])
    rows["corner"] = rng.uniform(-1, 1, (len(rows), 2))
    rows["tint"] = rng.uniform(0, 255 if kind == GL.UNSIGNED_BYTE else 1, (len(rows), 4))
    gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), GL.STREAM_DRAW)
    for size, type, attribute, at in ((2, GL.FLOAT, "corner", 0), (3, kind, "tint", 8)):
        slot = gl.get_attrib_location(name, attribute)
        gl.vertex_attrib_pointer(slot, size, type, True, rows.itemsize, at)
        gl.enable_vertex_attrib_array(slot)
    indices = np.array([66_001, 66_500, 65_990, 66_020, 66_001, 65_990], np.uint32)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices.tobytes(), GL.STATIC_DRAW)
    for _ in range(2):
        for first, count in ((0, 3), (1020, 6), (69_970, 30), (69_982, 300)):  # some past the end
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.draw_arrays(GL.TRIANGLES, first, count)
            found.append(pixels(gl, SIZE, SIZE).copy())
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_INT, 0)
        found.append(pixels(gl, SIZE, SIZE).copy())
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 69_971 * rows.itemsize, 60, bytes(rows.data)[:60])
    assert not errors(gl)
    gl.release()
    return found


@pytest.mark.parametrize("kind", TYPES)
def test_draws_from_large_buffers_follow_plans(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], draw_plan.make_plan
    monkeypatch.setattr(draw_plan, "make_plan", lambda *of: made.append(make(*of)) or made[-1])
    mine = pictures_of_a_large_buffer(kind)
    assert made and None not in made
    monkeypatch.setattr(draw_plan, "make_plan", lambda *of: None)
    for one, other in zip(mine, pictures_of_a_large_buffer(kind), strict=True):
        assert (one == other).all() and one.any()
