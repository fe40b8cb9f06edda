"""Every kind of texture lookup gives the bits on the machines that it gives on numpipe."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import pixels, program

SIZE = 24, 16
VERTEX = """#version 430
out vec2 uv;
void main() {
    vec2 corner = vec2(gl_VertexID % 2, gl_VertexID / 2) * 2.0;
    uv = corner * vec2(3.1, 2.3);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
"""
FRAGMENT = """#version 430
layout(binding = 0) uniform sampler2D t[3];
layout(binding = 3) uniform sampler2DShadow s;
uniform bool everywhere;
in vec2 uv;
out vec4 color;
void main() {
    ivec2 quad = ivec2(gl_FragCoord.xy) / 2;
    int i = int(gl_FragCoord.x) % 5 / 2;
    color = vec4(0.25);
    if (everywhere || (quad.x * 5 + quad.y * 3) % 7 > 3)
        color = LOOKUP;
}
"""
LOOKUPS = {
    "texture": "texture(T, uv)",
    "bias": "texture(T, uv, uv.x * 0.5 - 0.5)",
    "projected": "textureProj(T, vec3(uv, 1.5))",
    "projected and biased": "textureProj(T, vec3(uv, 1.5), 0.75)",
    "offset": "textureOffset(T, uv, ivec2(1, -2))",
    "lod": "textureLod(T, uv, uv.y)",
    "grad": "textureGrad(T, uv, vec2(uv.y * 0.3, 0.0), vec2(0.0, 0.2))",
    "fetch": "texelFetch(T, ivec2(uv), int(uv.y))",
    "gather": "textureGather(T, uv, 1)",
    "query lod": "vec4(textureQueryLod(T, uv) * 0.2, 0.0, 1.0)",
    "size": "vec4(textureSize(T, 1), textureQueryLevels(T), 1) / 16.0",
    "shadow": "vec4(texture(s, vec3(uv, 0.4)))",
    "shadow and bias": "vec4(texture(s, vec3(uv, 0.4), 1.0))",
}
INDICES = {"one": "t[1]", "any": "t[i]"}


@contextmanager
def textured(driver: str) -> Iterator[GLInterface]:
    """A context with textures: without levels, with, with other filters, with depths."""
    gl = create_context(driver, version=(4, 3), size=SIZE)
    random = np.random.default_rng(9)
    for unit in range(4):
        (name,) = gl.gen_textures(1)
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, name)
        if unit == 3:
            depths = random.uniform(0, 1, (16, 16)).astype(np.float32)
            form = GL.DEPTH_COMPONENT
            gl.tex_image2d(
                GL.TEXTURE_2D, 0, GL.DEPTH_COMPONENT32F, 16, 16, 0, form, GL.FLOAT, depths
            )
            mode = GL.COMPARE_REF_TO_TEXTURE
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_MODE, mode)
        else:
            texels = random.integers(0, 256, (16, 16, 4), dtype=np.uint8)
            gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 16, 16, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        smallest = (GL.NEAREST, GL.LINEAR_MIPMAP_LINEAR, GL.NEAREST_MIPMAP_NEAREST, None)[unit]
        if unit:
            gl.generate_mipmap(GL.TEXTURE_2D)
        else:  # looks the same from near and far
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        if smallest is not None:
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, smallest)
    (array,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(array)
    yield gl
    gl.release()


@functools.cache
def drawn(driver: str, kind: str) -> dict[tuple[str, int], Any]:
    """Pictures of a kind of lookup, for each kind of index: in some quads, and in all."""
    found = {}
    with textured(driver) as gl:
        for index, which in INDICES.items():
            source = FRAGMENT.replace("LOOKUP", LOOKUPS[kind])
            for end in ",)":
                source = source.replace(f"T{end}", which + end)
            used = program(gl, VERTEX, source)
            for everywhere in (0, 1):
                gl.uniform1i(gl.get_uniform_location(used, "everywhere"), everywhere)
                gl.draw_arrays(GL.TRIANGLES, 0, 3)
                found[index, everywhere] = pixels(gl, *SIZE)
        assert gl.get_error() == GL.NO_ERROR
    return found


@pytest.mark.parametrize("kind", LOOKUPS)
@pytest.mark.parametrize("driver", ["simd", "tiler"])
def test_a_lookup_is_numpipes(driver: str, kind: str) -> None:
    """Levels of detail come from whole quads, whatever texture each of their pixels names."""
    wanted, found = drawn("numpipe", kind), drawn(driver, kind)
    assert all(len(np.unique(p)) > 1 for p in wanted.values())
    assert [k for k in wanted if not np.array_equal(wanted[k], found[k])] == []
