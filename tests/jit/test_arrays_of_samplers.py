"""Arrays of samplers with an index: compiled code looks at each texture that lanes name."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from gallette.drivers.common.texture.unit import Unit
from gallette.state_tracker import GL
from tests.jit.whole_pictures import VERTEX, same, target, triangles

INDICES = {
    "moving": "int(v.z * 3.99)",
    "uniform": "chosen",
}

LOOKUPS = {
    "texture": "texture(t[i], uv * 3.0)",
    "lod": "textureLod(t[i], uv, v.x * 3.0)",
    "grad": "textureGrad(t[i], uv, vec2(v.y * 0.3, 0.0), vec2(0.0, 0.2))",
    "fetch": "texelFetch(t[i], ivec2(uv * 9.0), int(v.y * 2.0))",
    "gather": "textureGather(t[i], uv, 1)",
    "size": "vec4(textureSize(t[i], 1), textureQueryLevels(t[i]), 1) / 9.",
    "two": "texture(t[i], uv) * 0.5 + texture(t[3 - i], uv.yx * 2.0) * 0.5",
    "shadow": "vec4(texture(s[i & 1], vec3(uv, v.y)), textureSize(s[i & 1], 0).xyx / 32.0)",
}

FRAGMENT = """#version 430
layout(binding = 0) uniform sampler2D t[4]; layout(binding = 4) uniform sampler2DShadow s[2];
uniform int chosen; in vec3 v; out vec4 o;
void main() { vec2 uv = v.xy * 1.7 - 0.3; int i = INDEX; o = LOOKUP; }"""


def _textures(context: moderngl.Context) -> list[moderngl.Texture]:
    """Four colours, no two alike; two depths."""
    rng = np.random.default_rng(12)
    linear = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    nearest = moderngl.NEAREST_MIPMAP_NEAREST, moderngl.NEAREST
    found = []
    for size, dtype, filters in (
        ((16, 16), "f1", linear),
        ((8, 16), "f1", linear),
        ((16, 8), "f1", nearest),
        ((16, 16), "f2", linear),
    ):
        texture = context.texture(size, 4, dtype=dtype)
        texture.use(0)
        # Levels are given, because what generates them asks the shared texture unit.
        for level in range(max(size).bit_length()):
            wide, high = (max(1, each >> level) for each in size)
            data = rng.uniform(0, 1, (high, wide, 4))
            data = (data * 255).astype("u1") if dtype == "f1" else data.astype(dtype)
            form, kind = (
                (GL.RGBA8, GL.UNSIGNED_BYTE) if dtype == "f1" else (GL.RGBA16F, GL.HALF_FLOAT)
            )
            context.extra.tex_image2d(
                GL.TEXTURE_2D, level, form, wide, high, 0, GL.RGBA, kind, data
            )
        texture.filter = filters
        found.append(texture)
    for compare in ("<=", ">"):
        depths = rng.uniform(0, 1, (16, 16)).astype("f4")
        texture = context.depth_texture((16, 16), depths.tobytes())
        texture.compare_func = compare
        found.append(texture)
    return found


# What kind of lookup it is matters where lanes name different textures: that is a loop of its own.
@pytest.mark.parametrize(
    "index,lookup",
    [*[("moving", each) for each in LOOKUPS], ("uniform", "texture"), ("uniform", "gather")],
)
def test_an_array_of_samplers(index: str, lookup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        for number, texture in enumerate(_textures(context)):
            texture.use(number)
        frame = target(context, 4, "f4" if lookup == "size" else "f1")
        text = FRAGMENT.replace("INDEX", INDICES[index]).replace("LOOKUP", LOOKUPS[lookup])
        vertex = VERTEX.replace("#version 330", "#version 430")
        program = context.program(vertex_shader=vertex, fragment_shader=text)
        if "chosen" in program:
            program["chosen"].value = 2
        triangles(context, program, 30)
        return bytes(frame.read(components=4, dtype="f4" if lookup == "size" else "f1"))

    same(draw, monkeypatch, unasked=[(Unit, "sample")])


def test_vertices_take_from_arrays_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks as in tiles."""
    vertex = """#version 430
        layout(binding = 0) uniform sampler2D t[4];
        in vec4 position; in vec3 value; out vec3 v;
        void main() {
            v = textureLod(t[gl_VertexID & 3], value.xy, value.z * 2.0).xyz;
            gl_Position = position;
        }"""
    fragment = "#version 430\nin vec3 v; out vec4 o; void main() { o = vec4(v, 1.0); }"

    def draw(context: moderngl.Context) -> bytes:
        for number, texture in enumerate(_textures(context)):
            texture.use(number)
        frame = target(context)
        triangles(context, context.program(vertex_shader=vertex, fragment_shader=fragment), 30)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch, unasked=[(Unit, "sample")])


SHAPES = {"2D": "uv", "2DArray": "vec3(uv, v.z * 2.0)", "3D": "v", "Cube": "v - 0.5"}
"""Each with coordinates of it."""

SHAPED = {
    "texture": "texture(NAME, WHERE)",
    "grad": "textureGrad(NAME, WHERE, SLOPE(v.y * 0.3), SLOPE(0.2))",
    "lod": "vec4(textureQueryLod(NAME, DIRECTION), 0, 1)",
    "size": "vec4(textureSize(NAME, 0).xyyx) * v.x / 32.0",
}


@pytest.mark.parametrize("lookup", SHAPED)
def test_arrays_of_different_targets_in_one_shader(
    lookup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has as many coordinates as an array's samplers is not looked at as one of them."""
    declared, summed = "", []
    for number, (shape, where) in enumerate(SHAPES.items()):
        name, plain = f"t{number}[i]", "uv" if shape == "2DArray" else where
        slope = "vec2" if shape in ("2D", "2DArray") else "vec3"
        declared += f"layout(binding = {2 * number}) uniform sampler{shape} t{number}[2];\n"
        text = SHAPED[lookup].replace("NAME", name).replace("WHERE", where)
        summed.append(text.replace("SLOPE", slope).replace("DIRECTION", plain))
    fragment = f"""#version 430
        {declared} in vec3 v; out vec4 o;
        void main() {{ vec2 uv = v.xy; int i = int(v.z * 1.99); o = ({" + ".join(summed)}) / 4.0; }}
    """

    def draw(context: moderngl.Context) -> bytes:
        rng = np.random.default_rng(5)
        make = {
            "2D": lambda size: context.texture(size, 4, data(size, 1)),
            "2DArray": lambda size: context.texture_array((*size, 3), 4, data(size, 3)),
            "3D": lambda size: context.texture3d((*size, 4), 4, data(size, 4)),
            "Cube": lambda size: context.texture_cube(size, 4, data(size, 6)),
        }

        def data(size: tuple[int, int], planes: int) -> bytes:
            return rng.integers(0, 256, (planes, *size, 4), np.uint8).tobytes()

        for number in range(8):
            texture = make[[*SHAPES][number // 2]]((8 << number % 2, 8 << number % 2))
            texture.filter = moderngl.NEAREST, moderngl.LINEAR  # which one asks for derivatives
            texture.use(number)
        frame = target(context)
        vertex = VERTEX.replace("#version 330", "#version 430")
        triangles(context, context.program(vertex_shader=vertex, fragment_shader=fragment), 30)
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)
