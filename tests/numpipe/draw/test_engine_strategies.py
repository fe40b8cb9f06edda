"""Bundled programs draw the same with every strategy of the fragment engine.

Which way they go is decided by how many there are; pictures of conformance tests are small, so that
most of them go one way. Here each of the others is forced.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gallette.drivers.common.draw import queue
from gallette.drivers.common.output import engine, multisample
from gallette.drivers.common.raster import primitives, spans, triangles
from gallette.drivers.common.vertex import clip
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file
from gallette.piglit_subset.suite import find_tests

Patch = pytest.MonkeyPatch
SOME = find_tests([])[::97]


def _in_pieces(patch: Patch) -> None:
    for each in (engine, multisample):
        patch.setattr(each, "PIECE", 300)


def _in_short_chunks(patch: Patch) -> None:
    patch.setattr(engine.FragmentEngine, "_is_chunk", lambda self, lanes: lanes <= 64)
    patch.setattr(engine, "WORTH_A_THREAD", 1)
    patch.setenv("GALLETTE_THREADS", "3")


def _few_rows(patch: Patch) -> None:
    for each in (primitives, triangles):
        patch.setattr(each, "MOST_ROWS", 40)
    patch.setattr(spans, "_ROWS", 7)


WAYS: dict[str, Callable[[Patch], None]] = {
    "in pieces": _in_pieces,
    "in short chunks, by threads": _in_short_chunks,
    "each shaded": lambda patch: patch.setattr(
        engine.FragmentEngine, "_alike", lambda *arguments: None
    ),
    "in order": lambda patch: patch.setattr(
        engine.FragmentEngine, "_hides_order", lambda self: False
    ),
    "depth first": lambda patch: patch.setattr(engine, "_overdrawn", lambda spans: True),
    "in batches of seven": lambda patch: patch.setattr(
        primitives, "LARGEST_BATCH", dict.fromkeys((1, 2, 3), 7)
    ),
    "few rows at a time": _few_rows,
    "all looked at by the clipper": lambda patch: patch.setattr(clip, "every", lambda mask: False),
    "none waits": lambda patch: patch.setattr(
        queue.DrawQueue, "_can_be_pending", lambda self, info: False
    ),
    "few wait": lambda patch: patch.setattr(queue, "MOST_LANES", 1),
}


CASES = [(way, *each) for number, way in enumerate(WAYS) for each in SOME[number % 2 :: 2]]


@pytest.mark.parametrize("way, name, path", CASES, ids=[f"{way}-{name}" for way, name, _ in CASES])
def test_bundled_programs(way: str, name: str, path: Path, monkeypatch: Patch) -> None:
    WAYS[way](monkeypatch)
    outcome = run_test(parse_file(path), "numpipe")
    assert (outcome.result, outcome.reason) == ("pass", "")
