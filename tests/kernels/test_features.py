"""Workgroup collectives, printf, images and copies in kernels: what NumPy says they give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Image, Local, Program, Sampler

HERE = Path(__file__).parent
Array = npt.NDArray[Any]


@pytest.fixture(scope="module", params=["", "global=index_offset32", "global=fat generic=fat"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    text = (HERE / "features.spvasm").read_text()
    with Program(assemble(text, "features.spvasm"), formats=request.param) as made:
        yield made


def test_collectives(program: Program) -> None:
    values = np.random.default_rng(0).integers(-3, 9, 90).astype(np.int32)
    o, f = np.zeros((90, 6), np.int32), np.zeros(90, np.float32)
    program.kernel("collectives")(o, f, values, grid=3, block=30)
    groups = values.reshape(3, 30)
    before = np.maximum.accumulate(groups, 1)[:, :-1]
    expected = [
        groups.sum(1, keepdims=True),
        groups.cumsum(1),
        np.concatenate([np.full((3, 1), -(2**31)), before], 1),
        groups[:, 3:4],
        (groups > 0).all(1, keepdims=True),
        (groups > 5).any(1, keepdims=True),
    ]
    for k, wanted in enumerate(expected):
        assert np.array_equal(o[:, k].reshape(3, 30), np.broadcast_to(wanted, (3, 30))), k
    assert np.array_equal(f.reshape(3, 30), np.repeat(groups.min(1, keepdims=True) * 0.5, 30, 1))


def test_broadcast_from_two_coordinates(program: Program) -> None:
    data = np.arange(64, dtype=np.int32)
    out = np.zeros_like(data)
    program.kernel("corner")(out, data, grid=(2, 2), block=(4, 4))
    square = data.reshape(8, 8)
    expected = np.kron(square[2::4, 1::4], np.ones((4, 4), np.int32))
    assert np.array_equal(out.reshape(8, 8), expected)


@pytest.mark.parametrize("block", [1, 2, 7])
def test_collectives_of_any_size(program: Program, block: int) -> None:
    data = np.arange(block * 2, dtype=np.int32)
    o, f = np.zeros((block * 2, 6), np.int32), np.zeros(block * 2, np.float32)
    program.kernel("collectives")(o, f, data, grid=2, block=block)
    assert np.array_equal(o[:, 1].reshape(2, block), data.reshape(2, block).cumsum(1))


def test_printf() -> None:
    out: list[str] = []
    text = (HERE / "features.spvasm").read_text()
    with Program(assemble(text, "features.spvasm"), output=out.append) as program:
        numbers = np.array([7, -4, 3], np.int32)
        program.kernel("prints")(numbers, np.float32(1.5), np.int64(1 << 33), grid=1, block=3)
    # Invocations run in lockstep: the first call of all of them, then the second.
    assert out == [
        "i=7 v= 0.00 text a%\n",
        "i=-4 v= 1.50 text b%\n",
        "1,-2,3,0|200000000\n",
        "1,-2,3,1|200000000\n",
        "1,-2,3,2|200000000\n",
    ]


def test_images_are_read_and_written(program: Program) -> None:
    data = np.random.default_rng(1).random((6, 8, 4), np.float32)
    out = np.zeros_like(data)
    program.kernel("blur")(data, out, grid=(8, 6))
    wide = np.pad(data, ((1, 1), (1, 1), (0, 0)), "edge")
    expected = sum(wide[y : y + 6, x : x + 8] for y in range(3) for x in range(3)) / 9
    assert np.allclose(out, expected, atol=1e-6)


def test_images_of_integers(program: Program) -> None:
    data = np.random.default_rng(2).integers(0, 200, (6, 8, 4)).astype(np.uint8)
    out = np.zeros_like(data)
    kernel = program.kernel("turned")
    kernel(Image(data, integer=True), Image(out, integer=True), grid=(4, 3), block=(2, 2))
    assert np.array_equal(out, data[::-1, ::-1] + 1)


def looked_up(data: Array, x: Array, y: Array, wrap: str, linear: bool) -> Array:
    """Coordinates in texels; `wrap` is repeat, edge or border."""
    h, w = data.shape[:2]

    def texel(ix: Array, iy: Array) -> Array:
        if wrap == "repeat":
            return data[iy % h, ix % w]
        found = data[np.clip(iy, 0, h - 1), np.clip(ix, 0, w - 1)]
        outside = (ix < 0) | (iy < 0) | (ix >= w) | (iy >= h)
        return np.where(outside[:, None] & (wrap == "border"), 0, found)

    if not linear:
        return texel(np.floor(x).astype(int), np.floor(y).astype(int))
    x, y = x - 0.5, y - 0.5
    ix, iy = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - ix)[:, None], (y - iy)[:, None]
    top = texel(ix, iy) * (1 - fx) + texel(ix + 1, iy) * fx
    low = texel(ix, iy + 1) * (1 - fx) + texel(ix + 1, iy + 1) * fx
    return np.asarray(top * (1 - fy) + low * fy)


@pytest.mark.parametrize("address", ["clamp", "clamp_to_edge", "none"])
@pytest.mark.parametrize("linear", [False, True])
def test_samplers(program: Program, address: str, linear: bool) -> None:
    data = np.random.default_rng(3).random((5, 7, 4), np.float32)
    out = np.zeros((24, 4), np.float32)
    program.kernel("lookups")(data, out, Sampler(address, linear=linear), grid=12)
    x = np.arange(12, dtype=np.float32) * np.float32(0.1) - np.float32(0.2)
    y = np.full(12, np.float32(0.3))
    repeated = looked_up(data, x * 7, y * 5, "repeat", True)
    assert np.allclose(out[::2], repeated, atol=1e-4)
    wrap = "border" if address == "clamp" else "edge"
    assert np.allclose(out[1::2], looked_up(data, x * 6, y * 6, wrap, linear), atol=1e-4)


def test_copies_into_local_memory(program: Program) -> None:
    data = np.random.default_rng(4).random(64, np.float32)
    out = np.zeros_like(data)
    program.kernel("fetched")(out, data, Local(128), grid=2, block=32)
    assert np.array_equal(out.reshape(2, 32), data.reshape(2, 32)[:, ::-1])


def test_arguments_that_do_not_fit(program: Program) -> None:
    image = np.zeros((4, 4, 4), np.float32)
    blur = program.kernel("blur")
    for bad in (3, np.zeros((4, 4, 3), np.float32), Image(np.zeros(4, np.float32), dimensions=1)):
        with pytest.raises(GalletteError):
            blur(image, bad, grid=1)
    with pytest.raises(GalletteError, match="needs a Sampler"):
        program.kernel("lookups")(image, np.zeros((2, 4), np.float32), 5, grid=1)
    with pytest.raises(GalletteError, match="addressing is one of"):
        Sampler("wrapped")
    with pytest.raises(GalletteError, match="an image cannot have components of float64"):
        Image(np.zeros((2, 2)))
    with pytest.raises(GalletteError, match="at least one texel"):
        Image(np.zeros((0, 2), np.float32))
