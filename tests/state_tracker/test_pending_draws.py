"""Pending draws give the pixels of immediate ones, whatever state changes between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import execution, pixel_order, queue
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

VS = """#version 330
layout(location = 0) in vec2 corner;
layout(location = 1) in vec4 paint;
uniform vec4 place;
out vec2 uv;
out vec4 tint;
void main() {
    gl_Position = vec4(corner * place.zw + place.xy, place.x * 0.5, 1.0);
    uv = corner * 2.0;
    tint = paint;
}"""
FS = """#version 330
uniform sampler2D image;
uniform vec4 place;
in vec2 uv;
in vec4 tint;
out vec4 color;
void main() {
    color = texture(image, uv) * tint;
    if (color.r < place.y - 0.6) discard;
}"""
PLAIN = FS.replace("    if (color.r < place.y - 0.6) discard;\n", "")
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)


def arrays(gl: Any, rng: np.random.Generator) -> list[int]:
    """Vertex arrays: colours by vertex, colours that are current values, a buffer that ends."""
    made = []
    for number in range(4):
        (vao,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(vao)
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        data = np.concatenate((SQUARE * (1 - number / 6), rng.random((6, 4))), axis=1)
        data = data.astype(np.float32)[: 5 if number == 3 else 6]
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 24, None)
        gl.enable_vertex_attrib_array(0)
        if number != 2:
            gl.vertex_attrib_pointer(1, 4, GL.FLOAT, 0, 24, 8)
            gl.enable_vertex_attrib_array(1)
        made.append(vao)
    return made


def textures(gl: Any, rng: np.random.Generator) -> list[int]:
    """Textures of several sizes, formats and filters."""
    kinds = (
        (8, GL.RGBA8, GL.LINEAR),
        (8, GL.RGBA8, GL.NEAREST),
        (4, GL.RGBA16F, GL.LINEAR),
        (16, GL.RGBA8, GL.LINEAR_MIPMAP_LINEAR),
    )
    made = gl.gen_textures(len(kinds))
    for name, (size, format, filter) in zip(made, kinds, strict=True):
        gl.bind_texture(GL.TEXTURE_2D, name)
        data = rng.integers(0, 256, (size, size, 4), np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, 0, format, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, filter)
        gl.generate_mipmap(GL.TEXTURE_2D)
    return list(made)


def picture(seed: int, fragment: str, size: float) -> npt.NDArray[Any]:
    rng = np.random.default_rng(seed)
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    name = program(gl, VS, fragment)
    vaos, images = arrays(gl, rng), textures(gl, rng)
    gl.vertex_attrib4f(1, 0.9, 0.5, 0.7, 0.6)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.clear_color(0.2, 0.2, 0.2, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    place = gl.get_uniform_location(name, "place")
    for _ in range(90):
        gl.bind_vertex_array(int(rng.choice(vaos)))
        gl.bind_texture(GL.TEXTURE_2D, int(rng.choice(images)))
        if rng.random() < 0.2:
            (gl.enable if rng.random() < 0.5 else gl.disable)(GL.BLEND)
        if rng.random() < 0.2:
            (gl.enable if rng.random() < 0.5 else gl.disable)(GL.DEPTH_TEST)
        extent = rng.choice([0.1, 0.2, 0.4], 2) * size
        gl.uniform4f(place, *rng.uniform(-0.9, 0.9, 2).tolist(), *extent.tolist())
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
    found = np.array(pixels(gl))
    gl.release()
    return found


@pytest.mark.parametrize("fragment", [PLAIN, FS], ids=["plain", "discarding"])
@pytest.mark.parametrize("size", [0.5, 2.5])
def test_arrays_textures_and_tests_in_any_order(
    fragment: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for small in (512, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture(3, fragment, size))
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 100
    np.testing.assert_array_equal(*images)


MARKED = PLAIN.replace("texture(image, uv) * tint", "vec4(fract(gl_FragCoord.xy / 7.0), tint.xy)")
EDGED = PLAIN.replace("texture(image, uv) * tint", "tint * (0.5 + 9.0 * abs(dFdx(uv.x)))")
FLAT = PLAIN.replace("texture(image, uv) * tint", "vec4(place.xyz * 0.5 + 0.5, 1.0)")
DEEP = PLAIN.replace("color = ", "gl_FragDepth = 0.5 + uv.x * 0.1;\n    color = ")


def turns(seed: int, fragments: list[str], depth: int, changing: bool) -> npt.NDArray[Any]:
    """Programs take turns, one over the other, without blending."""
    rng = np.random.default_rng(seed)
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    names = [program(gl, VS, fragment) for fragment in fragments]
    arrays(gl, rng)
    textures(gl, rng)
    gl.vertex_attrib4f(1, 0.9, 0.5, 0.7, 0.6)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    if depth:
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(depth)
        gl.depth_mask(depth != GL.GEQUAL)
        gl.clear_depth(0.0 if depth in (GL.GREATER, GL.GEQUAL) else 1.0)
        gl.clear(GL.DEPTH_BUFFER_BIT)
    for _ in range(70):
        name = names[int(rng.integers(len(names)))]
        gl.use_program(name)
        if changing and rng.random() < 0.1:
            gl.color_mask(*(rng.random(4) < 0.7).tolist())
        place = [*rng.uniform(-0.9, 0.9, 2).tolist(), *rng.choice([0.2, 0.5, 0.9], 2).tolist()]
        gl.uniform4f(gl.get_uniform_location(name, "place"), *place)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
    found = np.array(pixels(gl))
    gl.release()
    return found


@pytest.mark.parametrize(
    "depth", [0, GL.LESS, GL.LEQUAL, GL.GREATER, GL.GEQUAL, GL.ALWAYS, GL.EQUAL]
)
@pytest.mark.parametrize(
    ("fragments", "changing", "resolved"),
    [
        ([PLAIN, MARKED, FLAT], False, True),
        ([PLAIN, EDGED, FLAT, MARKED], False, True),
        ([PLAIN, EDGED, FLAT], True, False),
        ([PLAIN, DEEP, MARKED], False, False),
    ],
    ids=["three", "quads", "masks", "depths"],
)
def test_programs_that_alternate(
    fragments: list[str],
    changing: bool,
    resolved: bool,
    depth: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[int] = []
    own = pixel_order._resolved
    monkeypatch.setattr(pixel_order, "_resolved", lambda *a: (times.append(1), own(*a))[1])
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    images = []
    for small in (4096, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(turns(8, fragments, depth, changing))
    np.testing.assert_array_equal(*images)
    assert bool(times) is resolved or depth == GL.EQUAL
