"""Whatever the number of threads and the size of chunks, the bits are the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from draw_scene import OVER, color_fragment, position_vertex

from gallette.drivers.common.output import engine
from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.threads import in_order
from gallette.pipe.enums import CompareFunc, Primitive
from gallette.pipe.state import BlendState


@pytest.mark.parametrize("kind", ["plain", "blended", "discarding"])
def test_threads_and_chunks_do_not_show(
    kind: str, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "WORTH_A_THREAD", 0)
    random = np.random.default_rng(9)
    places = random.uniform(-1, 1, (120, 4)).astype(np.float32)
    places[:, 3] = random.uniform(0.8, 1.5, 120)
    colors = random.random((120, 4)).astype(np.float32)
    images = []
    for threads, size in ((1, 1 << 20), (1, 1000), (2, 1000), (5, 64), (3, 4096)):

        def chunks(self: Any, lanes: Fragments, size: int = size) -> Iterator[Fragments]:
            for start in range(0, lanes.count, size):
                yield lanes.take(slice(start, start + size))

        monkeypatch.setattr(engine.FragmentEngine, "_chunks", chunks)
        monkeypatch.setattr(engine.FragmentEngine, "_threads", lambda self, n, t=threads: t)
        target = canvas(96, 96, depth="Z24X8_UNORM")
        target.program(
            position_vertex(), color_fragment(discard_below=0.5 if kind == "discarding" else None)
        )
        target.set_tests(
            depth_enabled=kind != "blended", depth_func=CompareFunc.LESS, depth_writemask=True
        )
        if kind == "blended":
            target.set_blend(BlendState((OVER,)))
        target.draw(Primitive.TRIANGLES, places, colors)
        images.append(target.pixels())
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 100
    for image in images[1:]:
        np.testing.assert_array_equal(image, images[0])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_come_in_order(threads: int) -> None:
    def work(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number * number

    assert list(in_order(work, range(20), threads)) == [(n, n * n) for n in range(20)]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_comes_out_where_its_item_is(threads: int) -> None:
    def work(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    seen = []
    with pytest.raises(ValueError, match="three"):
        for item, _ in in_order(work, range(9), threads):
            seen.append(item)
    assert seen == [0, 1, 2]
