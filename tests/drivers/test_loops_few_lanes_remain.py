"""Loops that most lanes leave early: the remaining lanes keep their values.

Rounds are counted so that whole rows, or whole stretches of vertices, leave together: the machines
then go on with a copy of the threads that are left (`common/machine/loop_back_edge.py`), and
everything a thread can ask for has to know which lanes those are. Numpipe is the oracle; the first
numbers of each test are worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import errors, linked

DRIVERS = ("jit", "simd", "tiler")
WIDTH, HEIGHT = 128, 80
VERTICES = 1536

Array = npt.NDArray[Any]


# -- fragments -------------------------------------------------------------------------------------

FRAGMENT_VERTEX = """#version 430
out vec2 at; out vec4 several[4]; flat out ivec4 whole[3];
void main() {
    vec2 corner = vec2(gl_VertexID % 2, gl_VertexID / 2) * 2.0;
    at = corner;
    for (int k = 0; k < 4; ++k) several[k] = vec4(corner * float(k + 1), k, 1);
    for (int k = 0; k < 3; ++k) whole[k] = ivec4(k, 10 * k, 100 * k, 7);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}"""
FRAGMENT = """#version 430
#extension GL_ARB_gpu_shader5 : enable
#extension GL_ARB_gpu_shader_fp64 : enable
in vec2 at; in vec4 several[4]; flat in ivec4 whole[3];
layout(binding = 0) uniform sampler2D pictures[3];
layout(binding = 3) uniform sampler2D nothing;
layout(binding = 0, r32i) uniform iimage2D image;
layout(binding = 1, r32i) uniform iimage2D nowhere;
layout(std430, binding = 0) buffer First { int counts[]; } stored[2];
layout(std140, binding = 0) uniform Block { vec4 u[8]; } blocks[2];
out vec4 o;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    int rounds = p.y / 8;
    vec4 sum = vec4(0.0);
    BEFORE
    for (int i = 0; i < rounds; ++i) { BODY }
    o = sum + vec4(rounds, 0, 0, 0);
}"""
BODIES = {
    "rounds": ("", "sum.y += 1.0;"),
    "varyings": ("", "sum += several[i & 3] + vec4(whole[i % 3]);"),
    "at an offset": ("", "sum.xy += interpolateAtOffset(at, vec2(float(i) / 16.0, 0.25));"),
    "at a sample": ("", "sum.xy += interpolateAtSample(at, 0) + interpolateAtCentroid(at);"),
    "coordinates": ("", "sum.xy += gl_FragCoord.xy * float(i); sum.z += gl_FrontFacing ? 1. : 2.;"),
    "textures": ("", "sum += textureLod(pictures[1], at * 3.0, float(i & 1));"),
    "textures by number": ("", "sum += texelFetch(pictures[i % 3], (p + i) & 7, 0);"),
    "gathered": ("", "sum += textureGather(pictures[2], at + float(i) / 8.0, 1);"),
    "derivatives": ("", "sum.xy += dFdx(at * float(i)); sum.z += fwidth(at.y * float(i));"),
    "implicit levels": ("", "sum += texture(pictures[0], at * float(i));"),
    "nothing bound": ("", "sum += texelFetch(nothing, p, 0); sum.x += imageLoad(nowhere, p).x;"),
    "images": ("", "imageStore(image, p, ivec4(i * 3 + p.x)); sum.x += imageLoad(image, p).x;"),
    "sums in images": ("", "imageAtomicAdd(image, p, i + 1);"),
    "buffers": ("", "stored[1].counts[p.y * 128 + p.x] += i; sum.x += stored[0].counts[i];"),
    "sums in buffers": ("", "atomicAdd(stored[i & 1].counts[p.y], 1);"),
    "uniforms": ("", "sum += blocks[0].u[(i + p.x) & 7] + blocks[1].u[i & 7];"),
    "arrays": ("float a[8]; for (int k = 0; k < 8; ++k) a[k] = float(k);",
               "a[(i + p.x) & 7] += float(i); sum.x += a[(p.x * 3) & 7];"),
    "arrays of doubles": ("double a[5]; for (int k = 0; k < 5; ++k) a[k] = double(k) / 3.0lf;",
                          "a[(i + p.x) % 5] += double(i); sum.x += float(a[p.x % 5]);"),
    "discarding": ("", "sum.y += 1.0; if (i == 4 && (p.x & 2) == 0) discard;"),
    "loops in loops": ("", "for (int k = 0; k < p.x / 16; ++k) { sum.z += 1.0;"
                           " if (k > i) break; if ((k + i) % 3 == 0) continue; sum.w += 1.0; }"),
}  # fmt: skip


def _bound(gl: Any, rng: np.random.Generator) -> tuple[list[int], int]:
    """Textures, an image and buffers; the buffers and the image."""
    textures = gl.gen_textures(4)
    for unit, name in enumerate(textures[:3]):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, name)
        for level in range(4):
            texels = rng.integers(0, 256, (8 >> level, 8 >> level, 4)).astype(np.uint8)
            size = 8 >> level
            gl.tex_image2d(
                GL.TEXTURE_2D, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels
            )
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.active_texture(GL.TEXTURE4)
    gl.bind_texture(GL.TEXTURE_2D, textures[3])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.R32I, WIDTH, HEIGHT)
    zeros = np.zeros((HEIGHT, WIDTH), np.int32)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL.RED_INTEGER, GL.INT, zeros)
    gl.bind_image_texture(0, textures[3], 0, False, 0, GL.READ_WRITE, GL.R32I)
    buffers = gl.gen_buffers(4)
    for k, name in enumerate(buffers):
        target = GL.SHADER_STORAGE_BUFFER if k < 2 else GL.UNIFORM_BUFFER
        data = rng.integers(0, 50, WIDTH * HEIGHT).astype(np.int32 if k < 2 else np.float32)
        gl.bind_buffer_base(target, k % 2, name)
        gl.buffer_data(target, data.nbytes, data, GL.STATIC_DRAW)
    return list(buffers[:2]), int(textures[3])


def fragments(driver: str, name: str) -> list[Array]:
    """The picture, the image and both buffers afterwards."""
    gl = create_context(driver, version=(4, 5), profile="core", size=(8, 8))
    before, body = BODIES[name]
    buffers, image = _bound(gl, np.random.default_rng(5))
    text = FRAGMENT.replace("BEFORE", before).replace("BODY", body)
    program = linked(gl, vertex=FRAGMENT_VERTEX, fragment=text)
    for k in range(2):
        block = gl.get_uniform_block_index(program, f"Block[{k}]")
        if block != GL.INVALID_INDEX:
            gl.uniform_block_binding(program, block, k)
        block = gl.get_program_resource_index(program, GL.SHADER_STORAGE_BLOCK, f"First[{k}]")
        if block != GL.INVALID_INDEX:
            gl.shader_storage_block_binding(program, block, k)
    (texture,), (target,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.active_texture(GL.TEXTURE5)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA32F, WIDTH, HEIGHT)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.viewport(0, 0, WIDTH, HEIGHT)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    found = [np.frombuffer(gl.read_pixels(0, 0, WIDTH, HEIGHT, GL.RGBA, GL.FLOAT), np.float32)]
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, image, 0)
    data = gl.read_pixels(0, 0, WIDTH, HEIGHT, GL.RED_INTEGER, GL.INT)
    found.append(np.frombuffer(data, np.int32))
    for buffer in buffers:
        gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, buffer)
        data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 4 * WIDTH * HEIGHT)
        found.append(np.frombuffer(data, np.int32))
    assert errors(gl) == []
    gl.release()
    return found


@pytest.fixture(scope="module")
def known() -> dict[str, list[Array]]:
    """What numpipe found, by body: each is drawn once."""
    return {}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", BODIES)
def test_fragments(driver: str, name: str, known: dict[str, list[Array]]) -> None:
    if "rounds" not in known:
        known["rounds"] = fragments("numpipe", "rounds")
    found = fragments(driver, name)
    picture, image, *stored = found
    colors = picture.reshape(HEIGHT, WIDTH, 4)
    rounds = np.arange(HEIGHT)[:, None] // 8 + np.zeros((1, WIDTH), int)
    if name == "at an offset":
        np.testing.assert_allclose(colors, interpolated(), rtol=1e-4, atol=1e-4)
        return  # the oracle has its own test
    if name not in known:
        known[name] = fragments("numpipe", name)
    for ours, theirs in zip(found, known[name], strict=True):
        if name in ("at a sample", "derivatives", "varyings"):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        else:
            assert ours.tolist() == theirs.tolist()
    if name == "rounds":
        assert (colors[..., 0] == rounds).all() and (colors[..., 1] == rounds).all()
    elif name == "sums in images":
        assert (image.reshape(HEIGHT, WIDTH) == rounds * (rounds + 1) // 2).all()
    elif name == "sums in buffers":
        for k, counts in enumerate(stored):
            added = counts[:HEIGHT] - known["rounds"][2 + k][:HEIGHT]
            assert added.tolist() == ((rounds[:, 0] + 1 - k) // 2 * WIDTH).tolist()


def interpolated() -> Array:
    """The sums of what `at an offset` asks for."""
    x, y = np.arange(WIDTH) + 0.5, (np.arange(HEIGHT) + 0.5)[:, None]
    rounds = np.arange(HEIGHT)[:, None] // 8
    colors = np.zeros((HEIGHT, WIDTH, 4))
    colors[..., 0] = rounds + (rounds * x + rounds * (rounds - 1) / 32) / WIDTH
    colors[..., 1] = rounds * (y + 0.25) / HEIGHT
    return colors


def test_numpipe_interpolates_for_those_that_are_left() -> None:
    picture, *_ = fragments("numpipe", "at an offset")
    np.testing.assert_allclose(
        picture.reshape(HEIGHT, WIDTH, 4), interpolated(), rtol=1e-4, atol=1e-4
    )


# -- stages before -------------------------------------------------------------------------------

PLAIN = "#version 430\nvoid main() { gl_Position = vec4(gl_VertexID, 1, 2, 3); }"
ROUNDS = "int rounds = {} / 192;"


def captured(driver: str, mode: int, count: int, words: int, **texts: str) -> tuple[Array, int]:
    """Words captured of a draw, and how many primitives were."""
    gl = create_context(driver, version=(4, 5), profile="core", size=(8, 8))
    _bound(gl, np.random.default_rng(6))
    linked(gl, captured=["result"], **texts)
    (buffer,), (query,) = gl.gen_buffers(1), gl.gen_queries(1)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
    gl.buffer_data(
        GL.TRANSFORM_FEEDBACK_BUFFER, 4 * words, np.zeros(words, np.int32), GL.STREAM_READ
    )
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))
    gl.enable(GL.RASTERIZER_DISCARD)
    if mode == GL.PATCHES:
        gl.patch_parameteri(GL.PATCH_VERTICES, 4)
    gl.begin_query(GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(mode, 0, count)
    gl.end_transform_feedback()
    gl.end_query(GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
    written = int(np.ravel(gl.get_query_objectiv(query, GL.QUERY_RESULT))[0])
    data = gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 4 * words)
    assert errors(gl) == []
    gl.release()
    return np.frombuffer(data, np.int32), written


VERTEX = """#version 430
layout(binding = 1) uniform sampler2D picture;
layout(std430, binding = 0) buffer Stored { int stored[]; };
flat out ivec4 result;
void main() {
    int rounds = gl_VertexID / 192, a[4] = int[](1, 2, 3, 4);
    result = ivec4(0);
    for (int i = 0; i < rounds; ++i) {
        result.x += i + gl_VertexID;
        result[1 + i % 2] += stored[(gl_VertexID + i) % 512];
        a[(i + gl_VertexID) & 3] += i;
        result.w += a[i & 3] + int(255.0 * texelFetch(picture, ivec2(i & 7, gl_VertexID & 7), 0).x);
    }
}"""


@pytest.mark.parametrize("driver", DRIVERS)
def test_vertices(driver: str) -> None:
    found, _ = captured(driver, GL.POINTS, VERTICES, 4 * VERTICES, VERTEX=VERTEX)
    wanted, _ = captured("numpipe", GL.POINTS, VERTICES, 4 * VERTICES, VERTEX=VERTEX)
    assert found.tolist() == wanted.tolist()
    number = np.arange(VERTICES)
    rounds = number // 192
    assert found[::4].tolist() == (rounds * (rounds - 1) // 2 + rounds * number).tolist()


GEOMETRY = """#version 430
layout(points) in; layout(points, max_vertices = 12) out;
flat out ivec4 result;
void main() {
    int rounds = gl_PrimitiveIDIn / 192, sum = 0;
    for (int i = 0; i < rounds; ++i) {
        sum += i;
        result.x = gl_PrimitiveIDIn;
        if ((i + gl_PrimitiveIDIn) % 3 == 0) result.y = i; else result.y = -i;
        result.z = sum + int(gl_in[0].gl_Position.x);
        result.w = 7;
        if ((gl_PrimitiveIDIn & 1) == 0) { result.w = i; EmitVertex(); EndPrimitive(); }
        else if (i == 2) EmitVertex();
    }
}"""


def emitted() -> list[list[int]]:
    found = []
    for point in range(VERTICES):
        total = 0
        for i in range(point // 192):
            total += i
            other = i if (i + point) % 3 == 0 else -i
            if point % 2 == 0 or i == 2:
                found.append([point, other, total + point, i if point % 2 == 0 else 7])
    return found


@pytest.mark.parametrize("driver", ("numpipe", *DRIVERS))
def test_points_that_are_emitted(driver: str) -> None:
    words = 4 * 12 * VERTICES
    found, written = captured(driver, GL.POINTS, VERTICES, words, VERTEX=PLAIN, GEOMETRY=GEOMETRY)
    wanted = emitted()
    assert written == len(wanted)
    assert found.reshape(-1, 4)[:written].tolist() == wanted
    assert not found[4 * written :].any()


CONTROL = """#version 430
layout(vertices = 4) out;
in int given[]; out int made[]; patch out int whole;
void main() {
    int patches = gl_PrimitiveID, rounds = patches / 48, sum = 0;
    made[gl_InvocationID] = 0;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = 1.0;
    for (int i = 0; i < rounds; ++i) {
        sum += given[(i + gl_InvocationID) & 3];
        made[gl_InvocationID] += sum + i;
        if (gl_InvocationID == 0) whole = sum * 2;
    }
    made[gl_InvocationID] += given[(sum + 1) & 3];
}"""
EVALUATION = """#version 430
layout(isolines, point_mode) in;
in int made[]; patch in int whole;
flat out ivec4 result;
void main() {
    int rounds = gl_PrimitiveID / 48;
    result = ivec4(gl_PrimitiveID, made[0], 0, rounds == 0 ? 0 : whole);
    for (int i = 0; i < rounds; ++i) result.z += made[(i + gl_PrimitiveID) & 3];
}"""
GIVEN = "#version 430\nout int given; void main() { given = gl_VertexID * 3 % 17; }"


def tessellated() -> list[list[int]]:
    """Of each patch, of which both ends of a line become a point."""
    found = []
    for patch in range(VERTICES // 4):
        given = [(4 * patch + k) * 3 % 17 for k in range(4)]
        made, whole, rounds = [], 0, patch // 48
        for own in range(4):
            total = mine = 0
            for i in range(rounds):
                total += given[(i + own) & 3]
                mine += total + i
            made.append(mine + given[(total + 1) & 3])
            if own == 0 and rounds:
                whole = 2 * total
        extra = sum(made[(i + patch) & 3] for i in range(rounds))
        found += [[patch, made[0], extra, whole]] * 2
    return found


@pytest.mark.parametrize("driver", ("numpipe", *DRIVERS))
def test_patches(driver: str) -> None:
    texts = {"VERTEX": GIVEN, "TESS_CONTROL": CONTROL, "TESS_EVALUATION": EVALUATION}
    words = 4 * VERTICES
    found, written = captured(driver, GL.PATCHES, VERTICES, words, **texts)
    assert found.reshape(-1, 4)[:written].tolist() == tessellated()
