"""Images of another format or target than the shader declares: undefined results, no crash."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GL, GLInterface
from tests.hostile.programs import compute

FORMATS = ["R16F", "RG32UI", "RGBA16F", "RGBA32F"]
ATOMICS = {
    "add": ("r32ui, binding = 0) uniform uimage2D", "imageAtomicAdd(image, at, 3u)"),
    "swap": ("r32i, binding = 0) uniform iimage2D", "uint(imageAtomicCompSwap(image, at, 0, 4))"),
    "exchange": ("r32f, binding = 0) uniform image2D", "uint(imageAtomicExchange(image, at, 2.0))"),
}


def image(gl: GLInterface, target: int, format: str) -> None:
    """A layered image of zeros, 8 texels wide."""
    (texture,) = gl.create_textures(target, 1)
    if target == GL.TEXTURE_1D:
        gl.texture_storage1d(texture, 1, getattr(GL, format), 8)
    elif target == GL.TEXTURE_3D:
        gl.texture_storage3d(texture, 1, getattr(GL, format), 8, 8, 4)
    else:
        gl.texture_storage2d(texture, 1, getattr(GL, format), 8, 8)
    gl.bind_image_texture(0, texture, 0, 1, 0, GL.READ_WRITE, getattr(GL, format))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("atomic", ATOMICS)
def test_atomics_leave_texels_of_another_size_alone(
    gl: GLInterface, atomic: str, format: str
) -> None:
    image(gl, GL.TEXTURE_2D, format)
    declared, call = ATOMICS[atomic]
    found = compute(
        gl,
        f"""layout({declared} image;
        void main() {{
            ivec2 at = ivec2(gl_LocalInvocationIndex % 9u, 1);
            found[gl_LocalInvocationIndex] = {call} + 1u;
            found[16u + gl_LocalInvocationIndex] = {call} + 1u;
        }}""",
    )
    assert found[:32] == [1] * 32
    assert gl.get_error() == GL.NO_ERROR


SHAPES = {
    "1D": ("at.x", "ivec3(imageSize(image), 0, 0)", 1),
    "2D": ("at.xy", "ivec3(imageSize(image), 0)", 2),
    "2DArray": ("at", "imageSize(image)", 3),
    "3D": ("at", "imageSize(image)", 3),
}
"""Coordinates, the size, and how many extents that has."""

TARGETS = {"TEXTURE_1D": [8], "TEXTURE_2D": [8, 8], "TEXTURE_3D": [8, 8, 4]}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_extents_that_an_image_of_another_target_lacks_are_zero(
    gl: GLInterface, shape: str, target: str
) -> None:
    image(gl, getattr(GL, target), "RGBA8UI")
    place, size, extents = SHAPES[shape]
    found = compute(
        gl,
        f"""layout(rgba8ui, binding = 0) uniform uimage{shape} image;
        void main() {{
            ivec3 at = ivec3(gl_LocalInvocationIndex);
            imageStore(image, {place}, uvec4(7u));
            ivec3 size = {size};
            for (int i = 0; i < 3; i++) found[i] = uint(size[i]);
            found[3] = imageLoad(image, {place}).x;
        }}""",
    )
    have = TARGETS[target]
    assert found[:3] == [*have[:extents], *[0] * 3][:3]
    assert found[3] in (0, 7)
    assert gl.get_error() == GL.NO_ERROR
