"""Stipple patterns and edge flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas, color_fragment, position_vertex

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.formats import format_named
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement

EVERYWHERE = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]


def drawn(target: Canvas) -> np.ndarray:
    return target.pixels()[..., 3] > 0


@pytest.mark.parametrize("samples", [0, 4])
def test_polygons_show_through_the_pattern(samples: int, canvas: Callable[..., Any]) -> None:
    target = canvas(64, 40, samples=samples)
    rows = tuple((0x80000001 << (i % 31)) & 0xFFFFFFFF for i in range(32))
    target.context.set_polygon_stipple(rows)
    target.set_rasterizer(poly_stipple_enable=True, multisample=samples > 1)
    target.draw(Primitive.TRIANGLES, EVERYWHERE)
    image = target.resolved()[..., 3] > 0 if samples else drawn(target)
    for y in range(40):
        for x in range(64):
            assert image[y, x] == bool(rows[y % 32] >> (31 - x % 32) & 1)


def line(points: list[tuple[float, float]]) -> np.ndarray:
    place = np.array(points) / 32 - 1
    return np.concatenate((place, np.tile([0.0, 1.0], (len(points), 1))), axis=1)


@pytest.mark.parametrize(("factor", "pattern"), [(1, 0x00FF), (2, 0x5555), (3, 0x8001)])
def test_lines_follow_the_pattern(factor: int, pattern: int, canvas: Callable[..., Any]) -> None:
    target = canvas(64, 64)
    target.set_rasterizer(
        line_stipple_enable=True, line_stipple_factor=factor, line_stipple_pattern=pattern
    )
    target.draw(Primitive.LINES, line([(2.5, 4.5), (60.5, 4.5), (2.5, 8.5), (60.5, 8.5)]))
    wanted = [bool(pattern >> (i // factor % 16) & 1) for i in range(58)]
    assert drawn(target)[4, 2:60].tolist() == wanted
    assert drawn(target)[8, 2:60].tolist() == wanted


def test_the_pattern_goes_on_along_a_strip(canvas: Callable[..., Any]) -> None:
    target = canvas(64, 64)
    target.set_rasterizer(line_stipple_enable=True, line_stipple_pattern=0x0F0F)
    corners = [(2.5, 4.5), (8.5, 4.5), (8.5, 40.5)]
    target.draw(Primitive.LINE_STRIP, line(corners))
    image = drawn(target)
    assert image[4, 2:8].tolist() == [True] * 4 + [False] * 2
    assert image[4:12, 8].tolist() == [False] * 2 + [True] * 4 + [False] * 2


def test_edges_without_a_flag_are_not_outlined(canvas: Callable[..., Any]) -> None:
    target = canvas(64, 64)
    target.program(position_vertex((VaryingSlot.VAR0, VaryingSlot.EDGE)), color_fragment())
    target.set_rasterizer(fill_front=PolygonMode.LINE, fill_back=PolygonMode.LINE)
    format = format_named("R32G32B32A32_FLOAT")
    context = target.context
    elements = tuple(VertexElement(16 * i, 0, format) for i in range(3))
    context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
    corners = line([(4.5, 4.5), (50.5, 4.5), (4.5, 50.5)])
    flags = np.zeros((3, 4))
    flags[0, 0] = 1
    data = np.concatenate((corners, np.ones((3, 4)), flags), axis=1)
    context.set_vertex_buffers([VertexBuffer(target.buffer(data), 0, 48)])
    context.draw_vbo(DrawInfo(Primitive.TRIANGLES, count=3))
    image = drawn(target)
    assert image[4, 4:50].all()
    assert not image[5:].any()
