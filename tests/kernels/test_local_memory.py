"""Local memory on numpipe: addresses are worked out once, and wild ones read zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.modes import Stage
from gallette.compute import ComputeShader
from gallette.drivers.numpipe.shader.program import compile_program
from gallette.drivers.numpipe.variants.compiler import ShaderCompiler

HEAD = """#version 430
layout(local_size_x = 4, local_size_y = 4) in;
layout(std430, binding = 0) buffer Out { int o[]; };
layout(std430, binding = 1) buffer In { int n[]; };
uniform int k;
shared int t[4][4];
shared ivec3 wide[16];
void main()
{
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    int l = int(gl_LocalInvocationIndex), g = int(gl_GlobalInvocationID.x) + 8 * (l >> 2);
    t[y][x] = n[g];
    wide[l] = ivec3(l, l * l, -l);
    barrier();
    int r = 0;
"""
TILE = "for (int i = 0; i < 4; i++) r += t[y][i] * t[i][x];"
LOOPS = {
    "constant": TILE,
    "not unrolled": "for (int i = 0; i < k; i++) r += t[y][i] * t[i][x];",
    "left at different times": "for (int i = 0; i <= x; i++) r += t[y][i] * t[i][x];",
    "for some": f"if (x > y) {{ {TILE} }} else r = t[x][y];",
    "neighbours": "if (x > 0) r = t[y][x - 1] - t[3 - y][x]; r += t[y][(x + k + 3) & 3];",
    "vectors": "for (int i = 0; i < k; i++) { ivec3 w = wide[l ^ i]; r += w.y * i + w.z; }",
}


def expected(name: str, tile: npt.NDArray[np.int32]) -> Any:
    y, x = np.indices((4, 4))
    products = tile[:, None, :] * tile.T[None]  # [y, x, i]
    if name in ("constant", "not unrolled"):
        return products.sum(2)
    if name == "left at different times":
        return np.where(np.arange(4) <= x[..., None], products, 0).sum(2)
    if name == "for some":
        return np.where(x > y, products.sum(2), tile.T)
    if name == "neighbours":
        left = np.where(x > 0, np.roll(tile, 1, 1) - tile[::-1], 0)
        return left + tile[y, (x + 7) & 3]
    at = (y * 4 + x)[..., None] ^ np.arange(4)
    return (at * at * np.arange(4) - at).sum(2)


@pytest.mark.parametrize("name", LOOPS)
def test_sums_of_a_tile(name: str) -> None:
    n = np.random.default_rng(1).integers(-9, 9, 64).astype(np.int32)
    o = np.zeros_like(n)
    with ComputeShader(f"{HEAD} {LOOPS[name]} o[g] = r; }}") as shader:
        values = {"k": 4} if any(a.name == "k" for a in shader.arguments) else {}
        shader(o, n, **values, grid=2)
    for group in range(2):
        rows = n[:32].reshape(4, 8)[:, 4 * group : 4 * group + 4]
        got = o[:32].reshape(4, 8)[:, 4 * group : 4 * group + 4]
        assert np.array_equal(got, expected(name, rows)), name


WILD = """#version 430
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { int o[]; };
uniform int k;
shared int t[4];
void main()
{
    int x = int(gl_LocalInvocationID.x), r = 0;
    t[x] = 1 << x;
    barrier();
    for (int i = 0; i < 3; i++) r += t[x + i * k - 1];
    o[gl_GlobalInvocationID.x] = r;
}
"""


@pytest.mark.parametrize("k", [0, 1, -1, 2, 5, 1 << 29, 1 << 30, -(1 << 31)])
def test_wild_indices_read_nothing(k: int) -> None:
    """Neither does another workgroup's memory show; offsets come round at 32 bits."""
    with ComputeShader(WILD) as shader:
        o = np.zeros(12, np.int32)
        shader(o, k=k, grid=3)
    at = [[(4 * (x + i * k - 1) & 0xFFFFFFFF) // 4 for i in range(3)] for x in range(4)]
    sums = [sum(1 << j for j in row if j < 4) for row in at]
    assert o.tolist() == sums * 3


def test_the_address_is_outside_the_loop() -> None:
    with ComputeShader(f"{HEAD} {LOOPS['not unrolled']} o[g] = r; }}") as shader:
        nir = shader.shader()
        assert nir.stage is Stage.COMPUTE
        ShaderCompiler().first_round(nir, None)
        code = compile_program(nir).code
        nir.unref()
    before, loop = code.split("while True:")
    assert before.count("shared_index(") == 2
    assert "shared_index(" not in loop
    assert loop.count("shared_load(") == 2


@pytest.mark.parametrize("grid", ["x", (1, "y"), None, 1j, float("inf"), (1, 2, 3, 4), -1])
def test_sizes_that_are_none_are_refused(grid: Any) -> None:
    with ComputeShader(WILD) as shader, pytest.raises(GalletteError, match="grid is one to three"):
        shader(np.zeros(4, np.int32), k=0, grid=grid)
