"""A few triangles are rasterized in one go: what comes of it is what the way of many gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.raster import small_batches as quick
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.small_batches import FewTriangles
from gallette.drivers.common.raster.triangles import face_triangles, rasterize_triangles
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState, ViewportState

_VIEWPORT = ViewportState(scale=(24.0, 20.0, 0.5), translate=(24.0, 20.0, 0.5))
_STATES = [
    RasterizerState(
        front_ccw=ccw, flatshade_first=first, bottom_edge_rule=bottom, half_pixel_center=center
    )
    for ccw in (False, True)
    for first in (False, True)
    for bottom, center in ((True, True), (False, True), (True, False))
]


def _vertices(rng: np.random.Generator, count: int) -> VertexSet:
    """Corners on a coarse grid, so that edges are level or upright and triangles touch."""
    clip = np.ones((4, count), np.float32)
    clip[:3] = rng.integers(-8, 9, (3, count)) / 8
    loose = rng.random(count) < 0.3
    clip[:2, loose] += rng.normal(0, 0.3, (2, int(loose.sum())))
    return VertexSet(count, clip, {}, _VIEWPORT)


def _both(
    state: RasterizerState, vertices: VertexSet, corners: Any, target: Rect
) -> tuple[Any, Any]:
    provoking = corners[:, 0 if state.flatshade_first else 2]
    identity = np.arange(len(corners), dtype=np.int32)
    few = FewTriangles.of(state)
    assert few is not None
    with np.errstate(all="ignore"):
        found = few.rasterize(vertices, corners, provoking, identity, target)
        faced = face_triangles(vertices, corners, provoking, state)
        wanted = None
        if faced.count:
            wanted = rasterize_triangles(vertices, faced, identity[faced.rows], state, target, None)
            if not wanted[0].count:
                wanted = None
    return found, wanted


def _same(found: Any, wanted: Any) -> None:
    """The same spans of the same triangles; of those that cover nothing there may be more."""
    if wanted is None:
        assert found is None
        return
    (spans, source, info), (spans_, source_, info_) = found, wanted
    for name in ("y", "x", "length"):
        one, other = getattr(spans, name), getattr(spans_, name)
        assert one.dtype == other.dtype and np.array_equal(one, other), name
    one, other = spans.primitive, spans_.primitive
    assert one.dtype == other.dtype and (np.diff(one) >= 0).all()
    assert np.array_equal(source.corners[:, one], source_.corners[:, other])
    assert np.array_equal(source.provoking[one], source_.provoking[other])
    assert source.pixel_center == source_.pixel_center
    assert np.array_equal(info.front[one], info_.front[other])
    assert np.array_equal(info.identity[one], info_.identity[other])


@pytest.mark.parametrize("cull", list(CullFace))
@pytest.mark.parametrize("target", [Rect(0, 0, 48, 40), Rect(5, 7, 30, 31), Rect(20, 20, 21, 40)])
def test_a_few_triangles_cover_what_many_do(cull: CullFace, target: Rect) -> None:
    rng = np.random.default_rng(int(cull.value))
    for state in _STATES:
        for count in (1, 2, 3, 40):
            vertices = _vertices(rng, 3 * count)
            corners = rng.integers(0, 3 * count, (count, 3))
            _same(*_both(replace(state, cull_face=cull), vertices, corners, target))


def test_triangles_that_are_no_numbers_are_not_there() -> None:
    rng = np.random.default_rng(7)
    for bad in (np.nan, np.inf, -np.inf, 0.0):
        vertices = _vertices(rng, 30)
        vertices.clip[3, ::7] = bad
        vertices.clip[0, 3::9] = bad
        corners = np.arange(30).reshape(10, 3)
        _same(*_both(_STATES[0], vertices, corners, Rect(0, 0, 48, 40)))


def test_many_rows_go_edge_by_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "_MANY_ROWS", 16)
    rng = np.random.default_rng(3)
    for state in _STATES:
        vertices, corners = _vertices(rng, 60), np.arange(60).reshape(20, 3)
        _same(*_both(state, vertices, corners, Rect(2, 3, 40, 40)))


def test_only_plain_triangles_are_made_quickly() -> None:
    plain = RasterizerState()
    assert FewTriangles.of(plain) is FewTriangles.of(RasterizerState())
    others: list[dict[str, Any]] = [
        {"fill_front": PolygonMode.LINE},
        {"fill_back": PolygonMode.POINT},
        {"fill_front": PolygonMode.LINE, "fill_back": PolygonMode.LINE},
        {"offset_tri": True},
        {"conservative": True},
    ]
    for other in others:
        assert FewTriangles.of(replace(plain, **other)) is None
