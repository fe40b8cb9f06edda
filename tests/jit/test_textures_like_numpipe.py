"""Whole pictures on jit and on numpipe: the same bits, however textures and images are read."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest

from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.jit import calls
from gallette.drivers.jit.llvm.text import Builder
from gallette.drivers.jit.shader import sampled
from gallette.state_tracker import GL
from tests.jit.whole_pictures import (
    FRAGMENT,
    VERTEX,
    Draw,
    picture,
    same,
    target,
    triangles,
)

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


@pytest.mark.parametrize("filter", FILTERS)
def test_textures(filter: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for a lookup is put together from that for addresses, texels and filters: each format
    meets each filter, and every other one is repeated.
    """

    def draw(context: moderngl.Context) -> bytes:
        rng = np.random.default_rng(3)
        frame = target(context)
        sums = " + ".join(LOOKUPS)
        fragment = f"""#version 330
            uniform sampler2D t; in vec3 v; out vec4 o;
            void main() {{ vec2 uv = v.xy * 1.7 - 0.3; o = ({sums}) / 3.0; }}"""
        program = context.program(vertex_shader=VERTEX, fragment_shader=fragment)
        found = b""
        for number, (size, components, dtype) in enumerate(TEXTURES, FILTERS.index(filter)):
            shape = (size[1], size[0], components)
            data = rng.uniform(0, 1, shape).astype("f4")
            data = (data * 255).astype("u1") if dtype == "f1" else data.astype(dtype)
            texture = context.texture(size, components, data.tobytes(), dtype=dtype, alignment=1)
            if filter[0] not in (moderngl.NEAREST, moderngl.LINEAR):
                texture.build_mipmaps()
            texture.filter = filter
            texture.repeat_x = texture.repeat_y = bool(number % 2)
            texture.use(0)
            frame.clear(0.25, 0.5, 0.75, 1.0, depth=0.9)
            triangles(context, program, 30)
            found += frame.read(components=4)
        return found

    same(draw, monkeypatch)


def test_lookups_that_are_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shader with many lookups calls one function for each kind, with the same result."""

    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, (32, 64, 4), np.uint8)
        texture = context.texture((64, 32), 4, data.tobytes())
        texture.build_mipmaps()
        texture.filter = FILTERS[2]
        texture.use(0)
        frame = target(context)
        kinds = [
            "texture(t, uv * {n}.0)",
            "texture(t, uv * 2.0, {n}.0 / 20.0)",
            "textureLod(t, uv + {n}.0, v.x)",
            "textureGrad(t, uv, vec2({n}.0 / 99.0, 0.01), vec2(0.0, 0.07) * v.y)",
            "textureOffset(t, uv * {n}.0, ivec2({n}, -2))",
        ]
        lookups = [kind.format(n=n) for n in range(1, 7) for kind in kinds]
        assert len(lookups) > sampled.MANY
        fragment = f"""#version 330
            uniform sampler2D t; in vec3 v; out vec4 o;
            void main() {{ vec2 uv = v.xy; o = ({" + ".join(lookups)}) / 30.0; }}"""
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=fragment), 30)
        return bytes(frame.read(components=4))

    made: list[str] = []
    apart = Builder.apart
    monkeypatch.setattr(Builder, "apart", lambda b, *args: made.append(args[0]) or apart(b, *args))
    same(draw, monkeypatch)
    assert len(made) == 5


PROBED = (
    "texture(t, uv * vec2(9.0, 1.0))",
    "texture(t, uv.yx * vec2(0.7, 4.0), 1.2)",
    "textureGrad(t, uv, vec2(0.3, 0.01) * v.x, vec2(0.0, 0.07))",
    "textureOffset(t, uv * vec2(1.0, 5.0), ivec2(1, -2))",
)


@pytest.mark.parametrize(
    "filter,dtype,limit",
    [
        (FILTERS[1], "f1", 16.0),
        (FILTERS[2], "f1", 2.5),
        (FILTERS[3], "f1", 16.0),
        (FILTERS[1], "f2", 2.5),
        (FILTERS[2], "f2", 7.0),
    ],
)
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

    # Not all of `Unit.sample`: mipmaps are made with it.
    same(draw, monkeypatch, unasked=[(Unit, "weighted")])


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
    """Both pictures are equal, and machine code asked no texture unit for texels."""
    same(draw, monkeypatch, unasked=[(Unit, "sample")])


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


def test_every_sample_of_a_single_texel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a colour of its own; those that are not there are zero."""

    def draw(context: moderngl.Context) -> bytes:
        several = context.texture((1, 1), 4, samples=4)
        frame = context.framebuffer([several])
        frame.use()
        context.extra.enable(GL.SAMPLE_MASK)
        for number in range(4):
            context.extra.sample_maski(0, 1 << number)
            level = (number + 1) / 5
            triangle = """#version 400
                void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1,
                    0, 1); }"""
            color = f"#version 400\nout vec4 o; void main() {{ o = vec4({level}); }}"
            made = context.program(vertex_shader=triangle, fragment_shader=color)
            context.vertex_array(made, []).render(vertices=3)
        context.extra.disable(GL.SAMPLE_MASK)
        several.use(0)
        body = """int which = int(v.z * 9.0) - 2;
            o = texelFetch(t, ivec2(0), which) + 0.01 * float(which + 2);"""
        return _drawn(context, "uniform sampler2DMS t;", body)

    natively(draw, monkeypatch)


@pytest.mark.parametrize("kind", ["unit", "handle"])
def test_samples_of_compute_shaders(kind: str) -> None:
    """Also where a texture is told by a handle, which machine code does not look at itself."""

    def draw(context: moderngl.Context) -> bytes:
        gl = context.extra
        several = context.texture((32, 16), 4, samples=4)
        frame = context.framebuffer([several])
        frame.use()
        frame.clear(0.2, 0.4, 0.6, 0.8)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT), 20)
        buffer = context.buffer(reserve=32 * 16 * 16)
        buffer.bind_to_storage_buffer(0)
        source = COMPUTE.replace("sampler2D t", "sampler2DMS t").split("vec2 at", 1)[0]
        source += """ivec2 at = ivec2(gl_GlobalInvocationID.xy);
            o[at.y * 32 + at.x] = texelFetch(t, at, at.x & 3); }"""
        if kind == "handle":
            head = "#version 430\n#extension GL_ARB_bindless_texture : require\n"
            source = source.replace("#version 430", head + "layout(bindless_sampler) uniform;")
        shader = context.compute_shader(source)
        if kind == "handle":
            handle = gl.get_texture_handle_arb(several.glo)
            gl.make_texture_handle_resident_arb(handle)
            place = gl.get_uniform_location(shader.glo, "t")
            gl.program_uniform_handleui64_arb(shader.glo, place, handle)
        else:
            several.use(0)
        shader.run(4, 4)
        return bytes(buffer.read())

    have, wanted = picture("jit", draw), picture("numpipe", draw)
    assert len(np.unique(wanted)) > 9
    assert np.array_equal(have, wanted)


@pytest.mark.parametrize("filter", FILTERS)
def test_levels_that_would_be_sampled(
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


@pytest.mark.parametrize(
    "lookup",
    [
        "texture(t, at)",
        "texture(t, at, 0.7)",
        "textureGrad(t, at, v * 0.4, vec3(0.02, v.xy * 0.1))",
        "vec4(textureQueryLod(t, at.xyz) * 0.1 + 0.4, v.z, 1.0)",
    ],
)
def test_levels_of_arrays_of_cubes(lookup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        gl = context.extra
        data = np.random.default_rng(8).integers(0, 256, 16 * 16 * 4 * 12, np.uint8)
        gl.bind_texture(GL.TEXTURE_CUBE_MAP_ARRAY, gl.gen_textures(1)[0])
        where = GL.TEXTURE_CUBE_MAP_ARRAY, 0, GL.RGBA8, 16, 16, 12
        gl.tex_image3d(*where, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        gl.generate_mipmap(GL.TEXTURE_CUBE_MAP_ARRAY)
        body = "vec4 at = vec4(uv * 9.0 - 3.0, v.z * 5.0 - 2.5, floor(v.x * 2.0));"
        return _drawn(context, "uniform samplerCubeArray t;", f"{body} o = {lookup};")

    natively(draw, monkeypatch)


def test_images_are_read_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, 32 * 32 * 4, np.uint8)
        context.texture((32, 32), 4, data.tobytes()).bind_to_image(0, True, False)
        declared = "layout(rgba8, binding = 0) readonly uniform image2D t;"
        return _drawn(context, declared, "o = imageLoad(t, ivec2(uv * 30.0));", 420)

    same(draw, monkeypatch)


def test_gathers_with_four_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        data = np.random.default_rng(8).integers(0, 256, 16 * 9 * 4, np.uint8)
        context.texture((16, 9), 4, data.tobytes()).use(0)
        body = """const ivec2 at[4] = ivec2[4](ivec2(0), ivec2(3, -2), ivec2(-8, 7), ivec2(1));
            o = textureGatherOffsets(t, uv, at, 2);"""
        return _drawn(context, "uniform sampler2D t;", body)

    natively(draw, monkeypatch)


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
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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

    natively(draw, monkeypatch)


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
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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


@pytest.mark.parametrize(
    "gather,dtype,seamless",
    [
        (GATHERS[0], "f1", True),
        (GATHERS[0], "f4", False),
        (GATHERS[1], "f1", False),
        (GATHERS[1], "f4", True),
    ],
)
def test_cubes(gather: str, dtype: str, seamless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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


def test_fetches_ignore_the_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their instructions all name the first one: that is no reason to ask Python."""
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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


def test_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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
    monkeypatch.setattr(calls, "answer", lambda *args: pytest.fail("asked of Python"))

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
