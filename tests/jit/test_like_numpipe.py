"""Whole pictures on jit and on numpipe: the same bits, whatever is bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.common.texture.anisotropic import AnisotropicUnit
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.jit import fill
from gallette.drivers.jit import program as jit_program
from gallette.drivers.jit.direct import Direct
from gallette.state_tracker import GL

Array = npt.NDArray[Any]
SIZE = (101, 75)
Draw = Callable[[moderngl.Context], bytes]

VERTEX = """
#version 330
in vec4 position; in vec3 value; out vec3 v; flat out ivec2 number; noperspective out float line;
void main() {
    v = value; number = ivec2(gl_VertexID, gl_VertexID / 3); line = value.x;
    gl_Position = position;
}
"""
FRAGMENT = """
#version 330
in vec3 v; flat in ivec2 number; noperspective in float line; out vec4 o;
void main() {
    o = vec4(v.xy * 0.8 + 0.1, float(number.y & 7) / 7.0, line * 0.5 + 0.25);
    if (gl_FrontFacing) o.x = 1.0 - o.x;
}
"""
DISCARDING = """
#version 330
in vec3 v; out vec4 o;
void main() {
    if (fract(v.x * 5.0) < 0.4) discard;
    o = vec4(fwidth(v.x) * 9.0, dFdx(v.y) * 9.0 + 0.5, gl_FragCoord.z, 0.5);
    gl_FragDepth = v.z;
}
"""


def picture(driver: str, draw: Draw) -> Array:
    gl = gallette.moderngl_context(driver, version=(4, 3))
    with moderngl.create_context(standalone=True, context=gl) as context:
        context.extra = gl
        return np.frombuffer(draw(context), np.uint8)


def same(draw: Draw, monkeypatch: pytest.MonkeyPatch, natively: bool = True) -> None:
    """Both pictures are equal, and triangles were filled by machine code (or were not)."""
    calls = []
    run = fill._run
    monkeypatch.setattr(fill, "_run", lambda *args: calls.append(1) or run(*args))
    directly = Direct._call
    monkeypatch.setattr(Direct, "_call", lambda *args: calls.append(1) or directly(*args))
    have = picture("jit", draw)
    assert bool(calls) is natively
    wanted = picture("numpipe", draw)
    assert len(np.unique(wanted)) > 4
    assert np.array_equal(have, wanted), np.abs(have.astype(int) - wanted).max()


def triangles(context: moderngl.Context, program: moderngl.Program, count: int = 120) -> None:
    rng = np.random.default_rng(7)
    w = rng.uniform(0.7, 1.6, (count * 3, 1))
    place = rng.uniform(-1.2, 1.2, (count * 3, 3)) * w
    vertices = np.concatenate((place, w, rng.uniform(0, 1, (count * 3, 3))), axis=1)
    buffer = context.buffer(vertices.astype("f4").tobytes())
    names = [("position", "4f"), ("value", "3f")]
    used = [n for n, _ in names if n in program]
    layout = " ".join(f if n in program else f"{f[0]}x4" for n, f in names)
    context.vertex_array(program, [(buffer, layout, *used)]).render()


def target(context: moderngl.Context, components: int = 4, dtype: str = "f1") -> Any:
    frame = context.framebuffer(
        [context.texture(SIZE, components, dtype=dtype)], context.depth_renderbuffer(SIZE)
    )
    frame.use()
    frame.clear(0.25, 0.5, 0.75, 1.0, depth=0.9)
    return frame


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
    monkeypatch.setattr(fill, "answer", lambda *args: pytest.fail("asked of Python"))

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


def test_shading_of_every_sample_is_left_to_the_shared_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        many = context.simple_framebuffer(SIZE, samples=4)
        many.use()
        many.clear(0.1, 0.2, 0.3, 1.0)
        each = SAMPLED.replace("o = vec4(inside,", "o = vec4(gl_SamplePosition.x, inside.y,")
        program = context.program(vertex_shader=SAMPLED_VERTEX, fragment_shader=each)
        triangles(context, program, 20)
        one = context.simple_framebuffer(SIZE)
        context.copy_framebuffer(one, many)
        return bytes(one.read(components=4))

    same(draw, monkeypatch, natively=False)


TEXTURES = [
    ((16, 16), 4, "f1"),
    ((17, 9), 4, "f1"),
    ((16, 8), 1, "f1"),
    ((17, 8), 2, "f1"),
    ((16, 9), 3, "f1"),
    ((13, 8), 3, "f4"),
    ((16, 8), 4, "f2"),
    ((16, 8), 3, "f2"),
    ((13, 8), 1, "f2"),
]
FILTERS = [
    (moderngl.NEAREST, moderngl.NEAREST),
    (moderngl.LINEAR, moderngl.LINEAR),
    (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR),
    (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.NEAREST),
]
LOOKUPS = "texture(t, uv * 3.0)", "textureLod(t, uv, 1.3)", "texelFetch(t, ivec2(uv * 9.0), 0)"


@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size,components,dtype", TEXTURES)
def test_texture(
    size: tuple[int, int],
    components: int,
    dtype: str,
    filter: tuple[int, int],
    repeat: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        rng = np.random.default_rng(3)
        shape = (size[1], size[0], components)
        data = rng.uniform(0, 1, shape).astype("f4")
        data = (data * 255).astype("u1") if dtype == "f1" else data.astype(dtype)
        texture = context.texture(size, components, data.tobytes(), dtype=dtype, alignment=1)
        if filter[0] not in (moderngl.NEAREST, moderngl.LINEAR):
            texture.build_mipmaps()
        texture.filter = filter
        texture.repeat_x = texture.repeat_y = repeat
        texture.use(0)
        frame = target(context)
        sums = " + ".join(LOOKUPS)
        fragment = f"""#version 330
            uniform sampler2D t; in vec3 v; out vec4 o;
            void main() {{ vec2 uv = v.xy * 1.7 - 0.3; o = ({sums}) / 3.0; }}"""
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=fragment), 30)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


PROBED = (
    "texture(t, uv * vec2(9.0, 1.0))",
    "texture(t, uv.yx * vec2(0.7, 4.0), 1.2)",
    "textureGrad(t, uv, vec2(0.3, 0.01) * v.x, vec2(0.0, 0.07))",
    "textureOffset(t, uv * vec2(1.0, 5.0), ivec2(1, -2))",
)


@pytest.mark.parametrize("filter", FILTERS[1:])
@pytest.mark.parametrize("dtype,limit", [("f1", 16.0), ("f1", 2.5), ("f2", 7.0)])
def test_anisotropic_filters(
    dtype: str, limit: float, filter: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).uniform(0, 1, (32, 64, 4)).astype("f4")
        data = (data * 255).astype("u1") if dtype == "f1" else data.astype(dtype)
        texture = context.texture((64, 32), 4, data.tobytes(), dtype=dtype)
        texture.build_mipmaps()
        texture.filter, texture.anisotropy = filter, limit
        texture.use(0)
        frame = target(context)
        fragment = f"""#version 330
            uniform sampler2D t; in vec3 v; out vec4 o;
            void main() {{ vec2 uv = v.xy * 1.7 - 0.3; o = ({" + ".join(PROBED)}) / 4.0; }}"""
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=fragment), 30)
        return bytes(frame.read(components=4))

    def refused(*_: Any) -> None:
        raise AssertionError("the shared texture unit was asked")

    monkeypatch.setattr(AnisotropicUnit, "sample", refused)
    assert picture("jit", draw).any()
    monkeypatch.undo()
    same(draw, monkeypatch)


def _drawn(
    context: moderngl.Context, declared: str, body: str, version: int = 400, count: int = 30
) -> bytes:
    """Triangles of a fragment shader that is these declarations and this body."""
    frame = target(context)
    fragment = f"""#version {version}
        {declared} in vec3 v; out vec4 o;
        void main() {{ vec2 uv = v.xy * 1.7 - 0.3; {body} }}"""
    vertex = VERTEX.replace("#version 330", f"#version {version}")
    triangles(context, context.program(vertex_shader=vertex, fragment_shader=fragment), count)
    return bytes(frame.read(components=4))


def natively(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both pictures are equal, and nobody asked a texture unit for texels."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the shared texture unit was asked")

    with monkeypatch.context() as patched:
        patched.setattr(Unit, "sample", refused)
        assert picture("jit", draw).any()
    same(draw, monkeypatch)


@pytest.mark.parametrize("format", [GL.RGBA32F, GL.R8UI, GL.RGBA8, GL.RG16F])
def test_texels_of_buffers(format: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before the first and behind the last are zero."""

    def draw(context: moderngl.Context) -> bytes:
        gl = context.extra
        data = np.random.default_rng(5).integers(0, 63, 4096, np.uint8)
        buffer = context.buffer(data.tobytes())
        (name,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_BUFFER, name)
        gl.tex_buffer_range(GL.TEXTURE_BUFFER, format, buffer.glo, 256, 1024)
        kind = "usamplerBuffer" if format == GL.R8UI else "samplerBuffer"
        body = """int at = int(v.x * 90.0) - 9;
            o = vec4(texelFetch(t, at)) / 70.0 + float(textureSize(t) & 127) / 400.0;"""
        return _drawn(context, f"uniform {kind} t;", body)

    natively(draw, monkeypatch)


def test_texels_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        several = context.texture((32, 32), 4, samples=4)
        frame = context.framebuffer([several])
        frame.use()
        frame.clear()
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        triangles(context, program, 20)
        several.use(0)
        body = """ivec2 at = ivec2(uv * 40.0) - 2;
            o = texelFetch(t, at, int(v.z * 4.0)) + 0.1 * texelFetch(t, at.yx, 3);"""
        return _drawn(context, "uniform sampler2DMS t;", body)

    natively(draw, monkeypatch)


@pytest.mark.parametrize("filter", FILTERS)
def test_levels_that_would_be_looked_at(
    filter: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        texture = context.texture((64, 32), 4, bytes(range(256)) * 32)
        texture.build_mipmaps()
        texture.filter = filter
        texture.use(0)
        body = "o = vec4(textureQueryLod(t, uv * vec2(9.0, 3.0)) * 0.1 + 0.4, v.z, 1.0);"
        return _drawn(context, "uniform sampler2D t;", body)

    natively(draw, monkeypatch)


def test_derivatives_of_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, 16 * 16 * 24, np.uint8)
        cube = context.texture_cube((16, 16), 4, data.tobytes())
        cube.build_mipmaps()
        cube.use(0)
        body = """vec3 at = vec3(uv * 3.0 - 1.0, v.z - 0.5);
            o = textureGrad(t, at, v * 0.4, vec3(0.02, v.xy * 0.1));"""
        return _drawn(context, "uniform samplerCube t;", body)

    natively(draw, monkeypatch)


def test_images_are_not_asked_for_a_vector_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, 32 * 32 * 4, np.uint8)
        context.texture((32, 32), 4, data.tobytes()).bind_to_image(0, True, False)
        declared = "layout(rgba8, binding = 0) readonly uniform image2D t;"
        return _drawn(context, declared, "o = imageLoad(t, ivec2(uv * 30.0));", 420)

    same(draw, monkeypatch, natively=False)


def test_gathers_with_four_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, 16 * 9 * 4, np.uint8)
        context.texture((16, 9), 4, data.tobytes()).use(0)
        body = """const ivec2 at[4] = ivec2[4](ivec2(0), ivec2(3, -2), ivec2(-8, 7), ivec2(1));
            o = textureGatherOffsets(t, uv, at, 2);"""
        return _drawn(context, "uniform sampler2D t;", body)

    natively(draw, monkeypatch)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4))

    monkeypatch.setattr(fill, "WORTH_THREADS", 0)
    monkeypatch.setattr(fill, "thread_count", lambda: 1)
    alone = picture("jit", draw)
    monkeypatch.setattr(fill, "thread_count", lambda: 4)
    assert np.array_equal(picture("jit", draw), alone)


VERTEX_LOOKUP = """
#version 330
uniform sampler2D t; in vec4 position; in vec3 value; out vec3 v;
void main() {
    gl_Position = position; gl_PointSize = 3.0;
    v = textureLod(t, value.xy * 2.0, value.z * 3.0).rgb + texelFetch(t, ivec2(3, 4), 1).gbr * 0.25;
}
"""
POINTS = """
#version 330
uniform sampler2D t; in vec3 v; out vec4 o;
void main() { o = vec4(v, 1.0) * texture(t, v.xy + gl_PointCoord * 0.1); }
"""


@pytest.mark.parametrize("filter", FILTERS)
def test_lookups_of_vertices_and_points(
    filter: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit_program, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.PROGRAM_POINT_SIZE)
        program = context.program(vertex_shader=VERTEX_LOOKUP, fragment_shader=POINTS)
        rng = np.random.default_rng(5)
        texture = context.texture((16, 8), 4, rng.integers(0, 256, 512, np.uint8).tobytes())
        texture.build_mipmaps()
        texture.filter = filter
        texture.use(0)
        place = np.concatenate((rng.uniform(-1, 1, (90, 3)), np.ones((90, 1))), axis=1)
        vertices = np.concatenate((place, rng.uniform(0, 1, (90, 3))), axis=1).astype("f4")
        array = context.vertex_array(
            program, [(context.buffer(vertices.tobytes()), "4f 3f", "position", "value")]
        )
        array.render(moderngl.POINTS)
        array.render(moderngl.LINES, vertices=40)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch, natively=False)


COMPUTE = """
#version 430
layout(local_size_x = 8, local_size_y = 4) in;
uniform sampler2D t; layout(std430, binding = 0) buffer B { vec4 o[]; };
void main() {
    vec2 at = (vec2(gl_GlobalInvocationID.xy) + 0.3) / vec2(32.0, 16.0);
    o[gl_GlobalInvocationID.y * 32u + gl_GlobalInvocationID.x] =
        textureLod(t, at * 1.7, at.x * 2.0) + textureGrad(t, at.yx, at, at * 0.1);
}
"""


def test_lookups_of_compute_shaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_program, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        rng = np.random.default_rng(6)
        texture = context.texture((16, 8), 4, rng.integers(0, 256, 512, np.uint8).tobytes())
        texture.build_mipmaps()
        texture.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        texture.use(0)
        buffer = context.buffer(reserve=32 * 16 * 16)
        buffer.bind_to_storage_buffer(0)
        context.compute_shader(COMPUTE).run(4, 4)
        return bytes(buffer.read())

    same(draw, monkeypatch, natively=False)


CUBE = """
#version 430
uniform samplerCube t; in vec3 v; in vec3 u; out vec4 o;
void main() {
    vec3 way = v * 2.0 - 1.0;
    o = texture(t, way) * 0.5 + textureLod(t, way.yzx, v.x * 3.0) * 0.25 + %s * 0.25;
}
"""
GATHERS = "textureGather(t, way.zxy, 1)", "textureLod(t, way.zyx, 0.5)"


@pytest.mark.parametrize("gather", GATHERS)
@pytest.mark.parametrize("dtype", ["f1", "f4"])
@pytest.mark.parametrize("seamless", [False, True])
def test_cubes(gather: str, dtype: str, seamless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (jit_program, fill):
        monkeypatch.setattr(module, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        rng = np.random.default_rng(8)
        kind = np.uint8 if dtype == "f1" else np.float32
        texels = (rng.random((6, 8, 8, 4)) * (255 if dtype == "f1" else 1)).astype(kind)
        texture = context.texture_cube((8, 8), 4, texels.tobytes(), dtype=dtype)
        texture.build_mipmaps()
        texture.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        texture.use(0)
        if seamless:
            context.extra.enable(GL.TEXTURE_CUBE_MAP_SEAMLESS)
        program = context.program(
            vertex_shader=VERTEX.replace("330", "430"), fragment_shader=CUBE % gather
        )
        triangles(context, program, 40)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


GATHER = """
#version 430
uniform sampler2D t; in vec3 v; out vec4 o;
void main() {
    o = textureGather(t, v.xy * 2.0 - 0.5, 2) * 0.5
        + textureGatherOffset(t, v.yx, ivec2(-3, 5), 0) * 0.5;
}
"""


def test_fetches_look_at_no_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their instructions all name the first one: that is no reason to ask Python."""
    monkeypatch.setattr(fill, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        rng = np.random.default_rng(5)
        for unit in range(3):
            data = rng.uniform(0, 1, (8, 8, 4)).astype("f2")
            context.texture((8, 8), 4, data.tobytes(), dtype="f2").use(unit)
        fragment = """#version 330
            uniform sampler2D a; uniform sampler2D b; uniform sampler2D c; in vec3 v; out vec4 o;
            void main() {
                ivec2 at = ivec2(v.xy * 7.0);
                o = texelFetch(a, at, 0) * texelFetch(b, at.yx, 0) + texelFetch(c, at, 0) * 0.3
                    + float(textureSize(c, 0).x) / 99.0;
            }"""
        program = context.program(vertex_shader=VERTEX, fragment_shader=fragment)
        for unit, name in enumerate("abc"):
            program[name] = unit
        triangles(context, program, 30)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


CUT_OUT = """
#version 330
in vec3 v; out vec4 o;
void main() {
    if (fract(v.x * 6.0) < 0.5) discard;
    o = vec4(v, 1.0);
}
"""


@pytest.mark.parametrize("func", ["<", ">="])
def test_what_is_hidden_before_it_can_be_discarded(
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


def test_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        rng = np.random.default_rng(9)
        texture = context.texture((13, 8), 4, rng.integers(0, 256, 416, np.uint8).tobytes())
        texture.use(0)
        program = context.program(
            vertex_shader=VERTEX.replace("330", "430"), fragment_shader=GATHER
        )
        triangles(context, program, 40)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


IMAGES = """
#version 430
layout(local_size_x = 8, local_size_y = 4) in;
layout(rgba8, binding = 0) uniform image2D a;
layout(rgba32f, binding = 1) writeonly uniform image2D b;
layout(r32ui, binding = 2) uniform uimage2D c;
layout(rgba16f, binding = 3) uniform image2DArray d;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    vec4 x = imageLoad(a, at.yx - 3) * 0.5 + vec4(at, 7.0, 9.0) / 40.0;
    imageStore(b, at + ivec2(5, -2), x * 3.0);
    imageAtomicAdd(c, at / 3, uint(at.x));
    imageAtomicMax(c, at / 3 + ivec2(12, 0), uint(at.y * at.x));
    uint old = imageAtomicCompSwap(c, at + ivec2(0, 8), 0u, uint(at.y + 1));
    vec4 y = imageLoad(d, ivec3(at.yx, 1)) + float(imageSize(d).z) + float(old);
    imageStore(d, ivec3(at, (at.x & 1) * 2), y);
}
"""


def test_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_program, "answer", lambda *args: pytest.fail("asked of Python"))

    def draw(context: moderngl.Context) -> bytes:
        gl: Any = context.extra
        names = gl.gen_textures(4)
        formats = [GL.RGBA8, GL.RGBA32F, GL.R32UI, GL.RGBA16F]
        read = [
            (GL.RGBA, GL.UNSIGNED_BYTE),
            (GL.RGBA, GL.FLOAT),
            (GL.RED_INTEGER, GL.UNSIGNED_INT),
            (GL.RGBA, GL.HALF_FLOAT),
        ]
        targets = [*[GL.TEXTURE_2D] * 3, GL.TEXTURE_2D_ARRAY]
        for unit, (name, format, to) in enumerate(zip(names, formats, targets, strict=True)):
            gl.bind_texture(to, name)
            if to == GL.TEXTURE_2D:
                gl.tex_storage2d(to, 1, format, 30, 17)
            else:
                gl.tex_storage3d(to, 1, format, 30, 17, 3)
            gl.bind_image_texture(unit, name, 0, True, 0, GL.READ_WRITE, format)
        context.compute_shader(IMAGES).run(4, 5)
        gl.memory_barrier(GL.ALL_BARRIER_BITS)
        found = b""
        for name, to, kind in zip(names, targets, read, strict=True):
            gl.bind_texture(to, name)
            found += bytes(gl.get_tex_image(to, 0, *kind))
        return found

    same(draw, monkeypatch, natively=False)
