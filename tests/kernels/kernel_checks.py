"""What the kernels of `more.cl` must give, in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.compute import Local

Check = Callable[[Any, np.random.Generator], None]
CHECKS: dict[str, Check] = {}
ONE_BUFFER = ("blelloch", "radix", "odd_even", "generic_swap", "nested", "hash")
"""those with a single array, for formats that know no other memory"""


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


@check
def argmax(k: Any, rng: np.random.Generator) -> None:
    data = rng.random(128, np.float32)
    out = np.zeros(4, [("value", "f4"), ("index", "i4")])
    k(out, data, Local(32 * 8), grid=4, block=32)
    assert np.array_equal(out["value"], data.reshape(4, 32).max(1))
    assert np.array_equal(data[out["index"]], out["value"])


@check
def dot_product(k: Any, rng: np.random.Generator) -> None:
    a, b, out = rng.random(300, np.float32), rng.random(300, np.float32), np.zeros(2, np.float32)
    k(out, a, b, np.uint32(300), grid=2, block=32)
    assert np.isclose(out.sum(), a @ b, rtol=1e-5)


@check
def minmax(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(-1000, 1000, 100).astype(np.int32)
    out = np.array([1 << 30, -(1 << 30), 0], np.int32)
    k(out, data, np.int32(100), grid=2, block=16)
    assert out.tolist() == [data.min(), data.max(), np.bitwise_xor.reduce(data)]


@check
def blelloch(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 9, 64).astype(np.int32)
    expected = data.reshape(2, 32).cumsum(1) - data.reshape(2, 32)
    k(data, Local(128), grid=2, block=32)
    assert np.array_equal(data.reshape(2, 32), expected)


@check
def segmented(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 9, 64).astype(np.int32)
    head = (rng.random(64) < 0.2).astype(np.int32)
    head[::32] = 1
    starts = np.flatnonzero(head)
    expected = np.concatenate([np.cumsum(part) for part in np.split(data, starts)[1:]])
    k(data, head, Local(32 * 8), grid=2, block=32)
    assert np.array_equal(data, expected)


@check
def compact(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 99, 60).astype(np.int32)
    out, count = np.zeros(60, np.int32), np.zeros(1, np.int32)
    k(out, count, data, np.uint32(60), grid=2, block=32)
    odd = data[data % 2 == 1]
    assert count[0] == odd.size
    assert np.array_equal(np.sort(out[: odd.size]), np.sort(odd))


@check
def radix(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 256, 64).astype(np.uint32)
    expected = np.sort(data)
    k(data, Local(256), Local(256), grid=1, block=64)
    assert np.array_equal(data, expected)


@check
def odd_even(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(-99, 99, 48).astype(np.int16)
    expected = np.sort(data.reshape(2, 24), 1).ravel()
    k(data, Local(48), grid=2, block=24)
    assert np.array_equal(data, expected)


@check
def rank_sort(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 20, 48).astype(np.float32)
    out = np.zeros_like(data)
    k(out, data, np.int32(48), grid=3, block=16)
    assert np.array_equal(out, np.sort(data))


@check
def transpose(k: Any, rng: np.random.Generator) -> None:
    data = rng.random((16, 24), np.float32)
    out = np.zeros((24, 16), np.float32)
    k(out, data, np.int32(24), np.int32(16), grid=(3, 2), block=(8, 8))
    assert np.array_equal(out, data.T)


@check
def matvec(k: Any, rng: np.random.Generator) -> None:
    m, x = rng.random((32, 16), np.float32), rng.random(16, np.float32)
    y = np.zeros(32, np.float32)
    k(y, m, x, np.int32(16), grid=2, block=16)
    assert np.allclose(y, m @ x, rtol=1e-5)


@check
def convolve(k: Any, rng: np.random.Generator) -> None:
    data = rng.random((8, 12), np.float32)
    out = np.zeros_like(data)
    k(out, data, np.int32(12), np.int32(8), grid=(3, 2), block=(4, 4))
    wide = np.pad(data, 1, "edge")
    weights = np.outer([1, 2, 1], [1, 2, 1]) / 16
    expected = sum(weights[j, i] * wide[j : j + 8, i : i + 12] for j in range(3) for i in range(3))
    assert np.allclose(out, expected, rtol=1e-5)


@check
def jacobi(k: Any, rng: np.random.Generator) -> None:
    data = rng.random(64, np.float32)
    out = np.zeros_like(data)
    k(out, data, Local(34 * 4), np.int32(5), grid=2, block=32)
    t = np.pad(data.reshape(2, 32), ((0, 0), (1, 1)))
    for _ in range(5):
        t[:, 1:-1] = np.float32(0.5) * (t[:, :-2] + t[:, 2:])
    assert np.allclose(out.reshape(2, 32), t[:, 1:-1], rtol=1e-5)


@check
def life(k: Any, rng: np.random.Generator) -> None:
    data = (rng.random((16, 24)) < 0.4).astype(np.uint8)
    out = np.zeros_like(data)
    k(out, data, np.int32(24), np.int32(16), grid=(3, 2), block=(8, 8))
    around = [(j, i) for j in (-1, 0, 1) for i in (-1, 0, 1) if (j, i) != (0, 0)]
    n = sum(np.roll(data, step, (0, 1)) for step in around)
    assert np.array_equal(out, (n == 3) | ((n == 2) & (data == 1)))


@check
def bytes(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 256, (64, 4)).astype(np.uint8)
    out = np.zeros(256, np.uint32)
    k(out, data, Local(1024), grid=2, block=32)
    assert np.array_equal(out, np.bincount(data.ravel(), minlength=256))


@check
def nested(k: Any, rng: np.random.Generator) -> None:
    inner = np.dtype(
        {
            "names": ["axis", "tag", "weight", "links"],
            "formats": [("f4", (2, 4)), "u1", "f8", ("i2", 3)],
            "offsets": [0, 32, 40, 48],
            "itemsize": 64,
        }
    )
    outer = np.dtype(
        {
            "names": ["id", "inner", "sum"],
            "formats": ["i4", (inner, 2), "u8"],
            "offsets": [0, 16, 144],
            "itemsize": 160,
        }
    )
    data = np.zeros(8, outer)
    data["id"] = np.arange(8)
    data["inner"]["tag"] = rng.integers(0, 255, (8, 2))
    data["inner"]["weight"] = rng.random((8, 2))
    tags, weights = data["inner"]["tag"].copy(), data["inner"]["weight"].copy()
    k(data, grid=1, block=8)
    for i in range(8):
        for part in range(2):
            step = i + part
            found = data["inner"][i, part]
            assert np.isclose(found["axis"][step & 1, 1], weights[i, part])
            assert found["links"][step % 3] == tags[i, part] + step
    assert np.array_equal(data["sum"], np.arange(8, dtype=np.uint64) << 40 | tags[:, 1])


@check
def chain(k: Any, rng: np.random.Generator) -> None:
    nodes = np.zeros(16, [("next", "u8"), ("value", "i4"), ("pad", "i4")])
    nodes["value"] = rng.integers(0, 99, 16)
    order = rng.permutation(16).astype(np.int32)
    sums = np.zeros(16, np.int32)
    k(nodes, order, sums, np.int32(16), grid=1, block=16)
    assert np.array_equal(sums, nodes["value"][order][::-1].cumsum()[::-1])


@check
def generic_swap(k: Any, rng: np.random.Generator) -> None:
    data = np.arange(1, 17, dtype=np.int32)
    expected = []
    for lane in range(16):
        mine, d, t = 10 * (lane + 1), lane + 1, lane
        mine, d = d, mine
        if lane & 1:
            t, mine = mine, t
        else:
            d, mine = mine, d
        expected.append(d + t + mine)
    k(data, Local(64), grid=1, block=16)
    assert data.tolist() == expected


@check
def generic_atomic(k: Any, rng: np.random.Generator) -> None:
    g, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    k(g, Local(4), out, grid=1, block=16)
    lanes = np.arange(16)
    assert g[0] == (lanes + 1)[lanes % 3 != 0].sum()
    assert out[0] == 100 + (lanes + 1)[lanes % 3 == 0].sum()


@check
def generic_struct(k: Any, rng: np.random.Generator) -> None:
    data = np.zeros(16, [("x", "f4", 3), ("n", "i4")])
    data["x"], data["n"] = rng.random((16, 3)), rng.integers(0, 4, 16)
    out = np.zeros(16, np.float32)
    k(out, data, Local(16 * 16), grid=1, block=16)
    for i in range(16):
        x, n = data["x"][i].astype(float), int(data["n"][i])
        if i & 3 == 2:
            x[0] += 1
        if i & 3 == 0:
            x, n = np.array([1.0, 2.0, 3.0]), i % 4
        assert np.isclose(out[i], np.sqrt((x[:n] ** 2).sum()), rtol=1e-5)


@check
def nbody(k: Any, rng: np.random.Generator) -> None:
    p, f = rng.random((16, 4), np.float32), np.zeros((16, 4), np.float32)
    k(f, p, np.int32(16), grid=1, block=16)
    d = p[None, :, :3].astype(float) - p[:, None, :3]
    r = 1 / np.sqrt((d * d).sum(2) + 0.01)
    expected = (d * (p[None, :, 3] * r**3)[:, :, None]).sum(1)
    assert np.allclose(f[:, :3], expected, rtol=1e-3, atol=1e-4)


@check
def search(k: Any, rng: np.random.Generator) -> None:
    data, q = np.sort(rng.random(50, np.float32)), rng.random(32, np.float32)
    out = np.zeros(32, np.int32)
    k(out, data, q, np.int32(50), grid=2, block=16)
    assert np.array_equal(out, np.searchsorted(data, q))


@check
def hash(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(1, 1 << 63, 16).astype(np.uint64)
    v = data.copy()
    for _ in range(7):
        for left, count in ((True, 13), (False, 7), (True, 17)):
            v ^= v << np.uint64(count) if left else v >> np.uint64(count)
    k(data, np.uint32(7), grid=1, block=16)
    assert np.array_equal(data, v)
