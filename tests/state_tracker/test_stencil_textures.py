"""Textures with depth and stencil: what is fetched follows GL_DEPTH_STENCIL_TEXTURE_MODE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

SIZE = 4
SOURCE = """#version 430
layout(local_size_x = 4, local_size_y = 4) in;
layout(std430, binding = 0) writeonly buffer Found { uvec4 found[16]; };
uniform %ssampler2D%s source;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    %svec4 texel = %s;
    found[gl_LocalInvocationIndex] = %s(texel);
}"""
FETCHES = {
    "fetched": "texelFetch(source, ivec%d(at%s), 0)",
    "sampled": "textureLod(source, vec%d((vec2(at) + 0.5) / 4.0%s), 0.0)",
}
DRIVERS = [
    *("numpipe", "jit", "simd", "tiler"),
    pytest.param("native", marks=pytest.mark.native),
]
# Internal formats, the bits of their depths, and how one texel is given.
FORMATS: dict[str, tuple[int, Any, Callable[[Any, Any], Any]]] = {
    "DEPTH24_STENCIL8": (
        24,
        GL.UNSIGNED_INT_24_8,
        lambda depth, stencil: depth << 8 | stencil,
    ),
    "DEPTH32F_STENCIL8": (
        0,
        GL.FLOAT_32_UNSIGNED_INT_24_8_REV,
        lambda depth, stencil: np.stack(
            [(depth / 2.0**24).astype(np.float32).view(np.uint32), stencil], -1
        ),
    ),
}
Numbers = npt.NDArray[np.uint32]


def create(driver: str) -> Any:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (8, 8)}
    return native_context(**options) if driver == "native" else create_context(driver, **options)


def program(gl: Any, kind: str, how: str, layered: bool) -> int:
    coordinates = FETCHES[how] % ((3, ", 1") if layered else (2, ""))
    bits = "uvec4" if kind == "u" else "floatBitsToUint"
    return linked(gl, compute=SOURCE % (kind, "Array" if layered else "", kind, coordinates, bits))


def fetched(gl: Any, buffer: int) -> Numbers:
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, buffer)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 16 * SIZE * SIZE, None, GL.STATIC_DRAW)
    gl.dispatch_compute(1, 1, 1)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 16 * SIZE * SIZE)
    return np.frombuffer(data, np.uint32).reshape(SIZE, SIZE, 4)


def texture(gl: Any, format: str, layered: bool, depth: Numbers, stencil: Numbers) -> None:
    """Bound, its second layer or only one with these numbers, the other layer empty."""
    _, type, packed = FORMATS[format]
    target = GL.TEXTURE_2D_ARRAY if layered else GL.TEXTURE_2D
    gl.bind_texture(target, gl.gen_textures(1)[0])
    data = np.ascontiguousarray(packed(depth, stencil))
    where = (getattr(GL, format), SIZE, SIZE)
    if layered:
        gl.tex_storage3d(target, 1, *where, 2)
        size = (SIZE, SIZE, 1)
        gl.tex_sub_image3d(target, 0, 0, 0, 1, *size, GL.DEPTH_STENCIL, type, data)
    else:
        gl.tex_storage2d(target, 1, *where)
        gl.tex_sub_image2d(target, 0, 0, 0, SIZE, SIZE, GL.DEPTH_STENCIL, type, data)
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(target, name, GL.NEAREST)


@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("driver", DRIVERS)
def test_the_mode_says_what_is_fetched(driver: str, format: str, layered: bool) -> None:
    gl = create(driver)
    rng = np.random.default_rng(5)
    stencil = rng.integers(0, 256, (SIZE, SIZE), dtype=np.uint32)
    depth = rng.integers(0, 1 << 24, (SIZE, SIZE), dtype=np.uint32)
    texture(gl, format, layered, depth, stencil)
    target = GL.TEXTURE_2D_ARRAY if layered else GL.TEXTURE_2D
    (buffer,) = gl.gen_buffers(1)
    scale = 2.0**24 - 1 if FORMATS[format][0] else 2.0**24
    assert gl.get_tex_parameteriv(target, GL.DEPTH_STENCIL_TEXTURE_MODE) == [GL.DEPTH_COMPONENT]
    programs = {(k, how): program(gl, k, how, layered) for k in ("", "u") for how in FETCHES}
    for mode in (GL.DEPTH_COMPONENT, GL.STENCIL_INDEX, GL.DEPTH_COMPONENT, GL.STENCIL_INDEX):
        gl.tex_parameteri(target, GL.DEPTH_STENCIL_TEXTURE_MODE, mode)
        for how in FETCHES:
            gl.use_program(programs["u" if mode == GL.STENCIL_INDEX else "", how])
            found = fetched(gl, buffer)
            if mode == GL.STENCIL_INDEX:
                assert (found[..., 0] == stencil).all(), how
                assert (found[..., 1:] == (0, 0, 1)).all()
            else:
                numbers = found.view(np.float32)
                assert np.abs(numbers[..., 0] - depth / scale).max() < 1e-6, how
                assert (numbers[..., 3] == 1.0).all()
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
