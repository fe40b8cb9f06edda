"""GLSL compute shaders as functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.compute import ComputeShader

SOURCE = """#version 430
layout(local_size_x = 8) in;
layout(std430, binding = 1) buffer Data { float d[]; };
layout(std430, binding = 0) buffer Count { uint n[]; };
layout(std140) uniform Offsets { vec4 q; };
layout(rgba32f) uniform image2D picture;
uniform sampler2D texture0;
uniform mat2x3 m;
uniform bool on;
uniform float w[3];
shared float t[8];
void main()
{
    uint i = gl_GlobalInvocationID.x;
    t[gl_LocalInvocationID.x] = d[i];
    barrier();
    d[i] = t[7u - gl_LocalInvocationID.x] * w[1] + m[1][2] + q.y;
    atomicAdd(n[0], 1u);
    if (on) imageStore(picture, ivec2(i, 0), vec4(d[i]) + texture(texture0, vec2(0.5)));
}
"""


@pytest.fixture(scope="module")
def shader() -> Iterator[ComputeShader]:
    with ComputeShader(SOURCE) as made:
        yield made


def test_every_kind_of_argument(shader: ComputeShader) -> None:
    names = ["Count", "Data", "Offsets", "picture", "texture0"]
    assert [a.name for a in shader.arguments][:5] == names
    count, data = np.zeros(1, np.uint32), np.arange(16, dtype=np.float32)
    picture, texels = np.zeros((1, 16, 4), np.float32), np.full((2, 2, 4), 0.25, np.float32)
    offsets = np.array([0, 7, 0, 0], np.float32)
    matrix = [[0, 0, 0], [0, 0, 100]]
    shader(count, data, offsets, picture, texels, grid=2, m=matrix, on=True, w=[1, 2, 3])
    expected = np.arange(16.0).reshape(2, 8)[:, ::-1].ravel() * 2 + 107
    assert np.array_equal(data, expected)
    assert count[0] == 16
    assert np.array_equal(picture[0], np.repeat(expected[:, None] + 0.25, 4, 1))


def test_mistakes_are_reported(shader: ComputeShader) -> None:
    count, data = np.zeros(1, np.uint32), np.arange(16, dtype=np.float32)
    with pytest.raises(GalletteError, match="needs the arguments Offsets, picture, texture0"):
        shader(count, data, grid=1)
    with pytest.raises(GalletteError, match="has no argument 'scale'; arguments: Count, Data"):
        shader(count, data, scale=2, grid=1)
    with pytest.raises(GalletteError, match="Count is given twice"):
        shader(count, Count=count, grid=1)
    with pytest.raises(GalletteError, match="declares workgroups of"):
        shader(count, data, grid=1, block=4)
    image = np.zeros((1, 1, 4), np.float32)
    with pytest.raises(GalletteError, match="uniform m is a mat2x3"):
        shader(count, data, np.zeros(4), image, image, m=[1, 2], grid=1)
    with pytest.raises(GalletteError, match="error"):
        ComputeShader("#version 430\nvoid main() { x }")


def test_the_command_runs_glsl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "twice.comp"
    file.write_text(
        "#version 430\nlayout(local_size_x=4) in; layout(std430) buffer B { int d[]; };"
        "uniform int k; void main() { d[gl_GlobalInvocationID.x] *= k; }"
    )
    assert main(["kernel", str(file), "--arg", "arange:i32:4", "--arg", "k=i32:3"]) == 0
    assert "B: [0 3 6 9]" in capsys.readouterr().out
    assert main(["kernel", str(file), "--nir"]) == 0
    assert "store_ssbo" in capsys.readouterr().out
    assert main(["kernel", str(file)]) == 2
