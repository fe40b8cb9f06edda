"""Whole pictures on jit and on numpipe: the same bits, whatever is bound."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest

from gallette.drivers.jit import calls, draw_plan, rasterization
from gallette.state_tracker import GL
from tests.jit.whole_pictures import (
    FRAGMENT,
    SIZE,
    VERTEX,
    picture,
    same,
    target,
    triangles,
)

DISCARDING = """
#version 330
in vec3 v; out vec4 o;
void main() {
    if (fract(v.x * 5.0) < 0.4) discard;
    o = vec4(fwidth(v.x) * 9.0, dFdx(v.y) * 9.0 + 0.5, gl_FragCoord.z, 0.5);
    gl_FragDepth = v.z;
}
"""


STATES = {
    "plain": {},
    "blend": {"flags": moderngl.BLEND},
    "depth": {"flags": moderngl.DEPTH_TEST},
    "depth and blend": {"flags": moderngl.DEPTH_TEST | moderngl.BLEND, "depth_func": ">="},
    "culled": {"flags": moderngl.CULL_FACE},
    "saturating": {
        "flags": moderngl.BLEND,
        "blend_func": (moderngl.DST_COLOR, moderngl.ONE_MINUS_SRC_ALPHA),
        "blend_equation": moderngl.FUNC_SUBTRACT,
    },
    "minimum": {"flags": moderngl.BLEND, "blend_equation": moderngl.MIN},
}


@pytest.mark.parametrize("name", STATES)
def test_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = STATES[name]

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        for key, value in state.items():
            if key == "flags":
                context.enable(value)
            else:
                setattr(context, key, value)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


W_OF_CORNERS = {
    # lower left, lower right, upper left of a triangle whose legs lie along the axes
    "everywhere the same": (2.0, 2.0, 2.0),
    "and nothing special": (1.0, 1.0, 1.0),
    "other along x": (1.0, 4.0, 1.0),
    "other along y": (1.0, 1.0, 4.0),
    "other along both": (1.0, 3.0, 4.0),
    "smaller along x": (4.0, 0.5, 4.0),
    "smaller along y": (4.0, 4.0, 0.5),
}


@pytest.mark.parametrize("corners", W_OF_CORNERS)
def test_perspective_along_either_axis(corners: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever divides once for a triangle whose w is the same everywhere must know that it is."""
    w = np.array(W_OF_CORNERS[corners])[:, None]
    place = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.5], [-1.0, 1.0, 0.25]])
    value = np.array([[0.0, 0.1, 0.2], [0.9, 0.3, 0.8], [0.4, 1.0, 0.6]])
    data = np.concatenate((place * w, w, value), axis=1).astype("f4").tobytes()
    wanted = []

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        vertices = [(context.buffer(data), "4f 3f", "position", "value")]
        context.vertex_array(program, vertices).render()
        wanted.append(bytes(frame.read(components=4)))
        return wanted[-1]

    same(draw, monkeypatch)
    found = np.frombuffer(wanted[0], np.uint8).reshape(SIZE[1], SIZE[0], 4)
    x, y = (np.array([20, 40, 9]) + 0.5) / SIZE[0], (np.array([9, 30, 50]) + 0.5) / SIZE[1]
    weights = np.stack((1 - x - y, x, y)) / w
    smooth = (value[:, :2].T @ weights) / weights.sum(axis=0) * 0.8 + 0.1
    smooth[0] = 1 - smooth[0]
    seen = found[[9, 30, 50], [20, 40, 9], :2].T / 255
    assert np.abs(seen - smooth).max() < 0.01


@pytest.mark.parametrize(
    "components,dtype", [(1, "f1"), (2, "f1"), (4, "f2"), (2, "f4"), (1, "f2"), (4, "f4")]
)
def test_format(components: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context, components, dtype)
        context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=components, dtype=dtype))

    same(draw, monkeypatch)


def test_discards_derivatives_and_depth_of_the_shader(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.DEPTH_TEST)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=DISCARDING))
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


@pytest.mark.parametrize("blended", [False, True])
def test_srgb(blended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        texture = context.texture(SIZE, 4, internal_format=GL.SRGB8_ALPHA8)
        frame = context.framebuffer([texture])
        frame.use()
        frame.clear(0.25, 0.5, 0.75, 1.0)
        context.extra.enable(GL.FRAMEBUFFER_SRGB)
        if blended:
            context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


STRETCHED = """
#version 330
in vec3 v; out vec4 o;
void main() {
    float x = (v.x - 0.4) * exp2(v.y * 40.0 - 24.0);
    o = vec4(x, v.z > 0.9 ? 1.0 / 0.0 : x * 0.001, v.z > 0.95 ? 0.0 / 0.0 : v.z, 0.5);
}
"""


@pytest.mark.parametrize("blended", [False, True])
def test_small_floats(blended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven and ten bits: from denormal to infinite."""

    def draw(context: moderngl.Context) -> bytes:
        texture = context.texture(SIZE, 3, internal_format=GL.R11F_G11F_B10F)
        frame = context.framebuffer([texture])
        frame.use()
        frame.clear(0.25, 0.5, 0.75, 1.0)
        if blended:
            context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=STRETCHED))
        return bytes(frame.read(components=3, dtype="f4"))

    same(draw, monkeypatch)


@pytest.mark.parametrize("format", [GL.R11F_G11F_B10F, GL.RGB9_E5])
def test_textures_of_small_floats(format: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context, 4, "f4")
        rng = np.random.default_rng(9)
        texels = np.exp2(rng.uniform(-20, 15, (16, 16, 3))).astype("f4")
        gl = context.extra
        texture = context.texture((16, 16), 3, internal_format=GL.R11F_G11F_B10F)
        texture.use(0)
        gl.tex_image2d(GL.TEXTURE_2D, 0, format, 16, 16, 0, GL.RGB, GL.FLOAT, texels.tobytes())
        fragment = """
            #version 330
            uniform sampler2D image; in vec3 v; out vec4 o;
            void main() { o = texture(image, v.xy); }
        """
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=fragment), 40)
        return bytes(frame.read(components=4, dtype="f4"))

    same(draw, monkeypatch)


def test_a_mask_of_wide_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context, 4, "f4")
        frame.color_mask = True, False, True, False
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4, dtype="f4"))

    same(draw, monkeypatch)


@pytest.mark.parametrize("format", [GL.DEPTH_COMPONENT24, GL.DEPTH_COMPONENT32F])
@pytest.mark.parametrize("factor,units,clamp", [(1.5, 7.0, 0.0), (-2.0, -900.0, -1e-4)])
def test_depth_offset(
    format: int, factor: float, units: float, clamp: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        gl: Any = context.extra
        frame = context.framebuffer([context.texture(SIZE, 4)])
        frame.use()
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, format, *SIZE)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.RENDERBUFFER, buffer)
        frame.clear(0.25, 0.5, 0.75, 1.0)
        gl.depth_mask(True)  # moderngl knows of no depth buffer
        gl.clear_depth(0.9)
        gl.clear(GL.DEPTH_BUFFER_BIT)
        gl.enable(GL.DEPTH_TEST)
        gl.enable(GL.POLYGON_OFFSET_FILL)
        gl.polygon_offset_clamp(factor, units, clamp)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(gl.read_pixels(0, 0, *SIZE, GL.DEPTH_COMPONENT, GL.FLOAT))

    same(draw, monkeypatch)


LAYERS = """
#version 400
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in vec3 v[]; flat out int own; out vec3 u;
void main() {
    for (int i = 0; i < 3; i++) {
        gl_Layer = gl_PrimitiveIDIn % 7 - 1; own = gl_PrimitiveIDIn; u = v[i];
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
}
"""


LAYERED = """
#version 430
flat in int own; in vec3 u; out vec4 o;
void main() { o = vec4(u.xy, float(gl_Layer) / 5.0, float(own & 15) / 15.0); }
"""


@pytest.mark.parametrize("layers", [1, 4])
def test_layers(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        gl: Any = context.extra
        colors, depths = gl.gen_textures(2)
        names = [(colors, GL.RGBA8), (depths, GL.DEPTH_COMPONENT24)]
        (frame,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        for (name, format), place in zip(
            names, (GL.COLOR_ATTACHMENT0, GL.DEPTH_ATTACHMENT), strict=True
        ):
            gl.bind_texture(GL.TEXTURE_2D_ARRAY, name)
            gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 1, format, *SIZE, layers)
            gl.framebuffer_texture(GL.FRAMEBUFFER, place, name, 0)
        gl.viewport(0, 0, *SIZE)
        gl.clear_color(0.25, 0.5, 0.75, 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.enable(GL.DEPTH_TEST)
        program = context.program(
            vertex_shader=VERTEX.replace("330", "400"),
            geometry_shader=LAYERS,
            fragment_shader=LAYERED,
        )
        triangles(context, program)
        gl.bind_texture(GL.TEXTURE_2D_ARRAY, colors)
        return bytes(gl.get_tex_image(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA, GL.UNSIGNED_BYTE))

    same(draw, monkeypatch)


SAMPLED = """
#version 400
in vec3 v; centroid in vec2 inside; flat in ivec2 number; out vec4 o;
void main() {
    o = vec4(inside, float(gl_SampleMaskIn[0] & 15) / 15.0, v.z);
    if (fract(v.x * 5.0) < 0.2) discard;
    gl_SampleMask[0] = number.y % 3 == 0 ? 0x5b : -1;
}
"""


SAMPLED_VERTEX = """
#version 400
in vec4 position; in vec3 value; out vec3 v; flat out ivec2 number; centroid out vec2 inside;
void main() {
    v = value; number = ivec2(gl_VertexID, gl_VertexID / 3); inside = value.xy;
    gl_Position = position;
}
"""


WAYS = {
    "plain": (),
    "depth": (GL.DEPTH_TEST,),
    "blend": (GL.BLEND,),
    "coverage": (GL.DEPTH_TEST, GL.SAMPLE_ALPHA_TO_COVERAGE, GL.SAMPLE_ALPHA_TO_ONE),
    "mask": (GL.DEPTH_TEST, GL.SAMPLE_MASK, GL.CULL_FACE),
}


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("way", WAYS)
def test_several_samples(samples: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        many = context.framebuffer(
            [context.renderbuffer(SIZE, samples=samples)],
            context.depth_renderbuffer(SIZE, samples=samples),
        )
        many.use()
        many.clear(0.1, 0.2, 0.3, 1.0, depth=0.8)
        gl: Any = context.extra
        for flag in WAYS[way]:
            gl.enable(flag)
        gl.sample_maski(0, 0x35A6)
        shaders = [(VERTEX, FRAGMENT), (SAMPLED_VERTEX, SAMPLED)][samples in (4, 16)]
        program = context.program(vertex_shader=shaders[0], fragment_shader=shaders[1])
        triangles(context, program, 30)
        one = context.simple_framebuffer(SIZE)
        context.copy_framebuffer(one, many)
        return bytes(one.read(components=4))

    same(draw, monkeypatch)


@pytest.mark.parametrize("extent", [0.6, 1.5, 4.0])
def test_triangles_of_few_pixels(extent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set-up drops those that cover no pixel; some have corners and edges on pixels' centres."""
    rng = np.random.default_rng(5)
    count = 3000
    at = rng.uniform((0, 0), SIZE, (count, 1, 2)) + rng.uniform(-extent, extent, (count, 3, 2))
    at = np.where(rng.random((count, 1, 1)) < 0.5, np.round(at * 2) / 2, at)
    vertices = np.ones((count, 3, 7))
    vertices[..., :2] = at / SIZE * 2 - 1
    vertices[..., 2:] = rng.uniform(0, 1, (count, 3, 5))
    vertices[..., 3] = 1.0

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.BLEND)
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        buffer = context.buffer(vertices.astype("f4").tobytes())
        context.vertex_array(program, [(buffer, "4f 3f", "position", "value")]).render()
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4))

    monkeypatch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
    monkeypatch.setattr(rasterization, "WORTH_THREADS", 0)
    monkeypatch.setattr(rasterization, "thread_count", lambda: 1)
    alone = picture("jit", draw)
    monkeypatch.setattr(rasterization, "thread_count", lambda: 4)
    assert np.array_equal(picture("jit", draw), alone)


CUT_OUT = """
#version 330
in vec3 v; out vec4 o;
void main() {
    if (fract(v.x * 6.0) < 0.5) discard;
    o = vec4(v, 1.0);
}
"""


@pytest.mark.parametrize("func", ["<", ">="])
def test_fragments_hidden_before_they_can_be_discarded(
    func: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = func
        frame.clear(0.1, 0.2, 0.3, 0.4, depth=0.6)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=CUT_OUT))
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


FLAT_ON = """
#version 330
in vec4 position; in vec3 value; out vec3 v; out float line;
void main() { v = value; line = value.x; gl_Position = vec4(position.xyz / 1.4, 1.4); }
"""


def test_triangles_that_face_the_eye(monkeypatch: pytest.MonkeyPatch) -> None:
    """All corners have the same w."""

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        fragment = "#version 330\nin vec3 v; out vec4 o; void main() { o = vec4(v, 1.0); }"
        triangles(context, context.program(vertex_shader=FLAT_ON, fragment_shader=fragment), 60)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)
