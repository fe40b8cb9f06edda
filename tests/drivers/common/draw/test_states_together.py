"""The states of draws that became one, and what draws of several states cover together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw.families import Family
from gallette.drivers.common.draw.grouping import Covered
from gallette.drivers.common.draw.joining import joined_coverage
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo, FramebufferState, ScissorState, ViewportState

TRIANGLES = Primitive.TRIANGLES


# -- states of families ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Merged:
    """As much of a `DrawState` as a family looks at."""

    fixed: Any
    fragment: Any
    firsts: Any = None
    gathered: Any = None
    scissors: Any = None
    viewports: Any = None


@dataclass(frozen=True)
class Fixed:
    """As much of what is fixed."""

    raster: Any
    engine: Any = "engine"


@dataclass(frozen=True)
class Raster:
    """As much of what primitives are rasterized with."""

    state: Any
    target: Any = "whole"


class Given:
    """What was given for draws."""

    def __init__(self, like: Any = None, scissor: bool = True, program: Any = "program") -> None:
        self.buffers: Any = ("buffers",)
        self.reads: Any = ()
        self.scissors = self.viewports = 0
        self.blocks: Any = ()
        self.like = like or self
        self.scissor = ScissorState(1, 2, 30, 40)
        self.viewport = ViewportState((1, 2, 3), (4, 5, 6))
        self.quads = False
        framebuffer = FramebufferState(32, 64)
        own = Merged(
            Fixed(Raster(SimpleNamespace(scissor=scissor))), FragmentShader(program, False)
        )
        self.states = SimpleNamespace(
            merged=lambda mode, constants: own,
            of=lambda mode: own,
            merged_fragment=lambda mode, table: FragmentShader(self, self.quads),  # type: ignore[arg-type]
            bound=SimpleNamespace(
                framebuffer=framebuffer, scissors=[self.scissor], viewports=[self.viewport]
            ),
        )


def family(*givens: Given, starts: Any = (0, 0, 0, 0)) -> Any:
    info = DrawInfo(TRIANGLES, count=3)
    calls = [info if not start else replace(info, start=start) for start in starts]
    entries: Any = [(given, call, b"\1" * 16) for given, call in zip(givens, calls, strict=False)]
    return Family([*range(len(entries))], entries)


def test_a_family_of_one_state_has_it() -> None:
    given = Given()
    state = family(given, given).state()
    assert state == given.states.of(TRIANGLES)
    moved = family(given, given, given, starts=(3, 0, 3)).state()
    assert moved.firsts.tolist() == [3, 0, 3]
    given.states.merged = lambda mode, constants: None
    assert family(given, given).state() is None


def test_a_family_fetches_from_the_buffers_of_each() -> None:
    one, two, three = Given(), Given(), Given()
    two.buffers = ("others",)
    state = family(one, two, three, two).state()
    assert state.gathered.suppliers == [one, two]
    assert state.gathered.which.tolist() == [0, 1, 0, 1]
    assert not state.gathered.alike
    later = Given(like=one)
    later.buffers, later.scissors, later.viewports, later.reads = ("later",), 1, 1, (1,)
    state = family(one, later).state()  # the same but for what buffers and textures hold
    assert state.gathered.alike and state.gathered.suppliers == [one, later]
    assert state.scissors is None and state.viewports is None
    assert state.fragment.several.programs == [one, later]


def test_a_family_has_scissors_of_each() -> None:
    one, two, off = Given(), Given(), Given(scissor=False)
    two.scissors = 1
    two.states.bound.scissors[0] = ScissorState(4, 0, 10, 50)
    state = family(one, two, one).state()
    assert state.scissors.tolist() == [[1, 2, 30, 40], [4, 0, 10, 50], [1, 2, 30, 40]]
    assert state.fixed.raster.target == Rect(1, 0, 30, 50)
    assert state.gathered is None and state.viewports is None
    assert family(off, two).state().scissors is None
    assert family(one, Given()).state().fixed.raster.target == "whole"


def test_a_family_has_viewports_of_each() -> None:
    one, two = Given(), Given()
    two.viewports = 1
    two.states.bound.viewports[0] = ViewportState((7, 8, 9), (1, 1, 0))
    state = family(two, one, two).state()
    assert state.viewports.scale.tolist() == [[7, 1, 7], [8, 2, 8], [9, 3, 9]]
    assert state.viewports.translate.tolist() == [[1, 4, 1], [1, 5, 1], [0, 6, 0]]
    assert family(one, Given()).state().viewports is None


def test_a_family_shades_by_what_each_reads() -> None:
    one, two, none = Given(), Given(), Given(program=None)
    two.reads, two.quads = (1,), True
    shader = family(two, one, one).state().fragment
    assert shader.several.programs == [two, one]
    assert shader.several.which.tolist() == [0, 1, 1]
    assert shader.program is two and shader.quads
    assert not family(one, Given()).state().fragment.several
    assert family(none, two).state().fragment.program is None


def test_fragments_of_some_rows_are_shaded_by_what_each_reads() -> None:
    one, two = Given(), Given()
    two.reads = (1,)
    constants = family(one, one).constants
    engine, shader = family(one, two, one).shading(constants, [4, 1, 2], 5)
    assert engine == "engine"
    assert shader.several.programs == [one, two]
    assert shader.several.which.tolist() == [0, 1, 0, 0, 0]
    engine, shader = family(one, one).shading(constants, [0, 1], 2)
    assert (engine, shader.program, shader.several) == ("engine", one, None)
    none = Given(program=None)
    assert family(none, two).shading(constants, [0, 1], 2)[1].several is None


# -- joined coverage -------------------------------------------------------------------------------


def covered(identity: Any, vertices: Any = None, depth: bool = False, **more: Any) -> Covered:
    """Two spans of two triangles."""
    own: Any = vertices or points_of(4, 1.0)
    source = PlaneSource(
        own,
        np.array([[0, 1], [1, 2], [2, 3]], np.int64)[: more.pop("corners", 3)],
        np.array([0, 3], np.int64),
        more.pop("center", True),
        depth=np.array([[1.0, 2], [3, 4], [5, 6]]) if depth else None,
        depth_range=more.pop("range", None),
    )
    info = PrimitiveInfo(np.array([True, False]), np.array(identity, np.int32))
    for name in ("points", "screen"):
        if name in more:
            setattr(info, name, more.pop(name))
    spans = Spans(
        np.array([0, 1], np.int64),
        np.array([5, 6], np.int64),
        np.array([7, 8], np.int64),
        np.array([9, 10], np.int64),
        more.pop("bounds", None),
    )
    return Covered(spans, source, info)


def points_of(count: int, value: float, slot: int = 40) -> Any:
    clip = np.full((4, count), value, np.float32)
    varyings: Any = {slot: [np.full(count, value, np.float32), None, np.float32(value), None]}
    return VertexSet(count, clip, varyings, ViewportState((1, 1, 1), (0, 0, 0)))


def numbers(*values: int) -> Any:
    return np.array(values, np.uint16)


def test_coverage_is_joined_in_the_order_of_draws() -> None:
    one, two = covered([0, 1], depth=True), covered([0, 1], points_of(5, 2.0, 41), depth=True)
    found = joined_coverage(
        [one, two], [numbers(0, 3), numbers(1, 2)], [numbers(0, 3), numbers(1, 2)]
    )
    assert found is not None
    assert found.spans.primitive.tolist() == [0, 2, 3, 1]
    assert found.spans.y.tolist() == [5, 5, 6, 6]
    assert found.spans.x.tolist() == [7, 7, 8, 8]
    assert found.spans.length.tolist() == [9, 9, 10, 10]
    assert found.info.identity.tolist() == [0, 3, 1, 2]
    assert found.info.front.tolist() == [True, False, True, False]
    source = found.source
    assert source.corners.tolist() == [[0, 1, 4, 5], [1, 2, 5, 6], [2, 3, 6, 7]]
    assert source.provoking.tolist() == [0, 3, 4, 7]
    assert source.depth is not None
    assert source.depth.tolist() == [[1, 2, 1, 2], [3, 4, 3, 4], [5, 6, 5, 6]]
    vertices = source.vertices
    assert vertices.count == 9
    assert vertices.clip[0].tolist() == [1] * 4 + [2] * 5
    assert vertices.window.shape == (4, 9)
    assert vertices.window[3].tolist() == [1] * 4 + [0.5] * 5
    for slot, wanted in ((40, [1.0] * 4 + [0.0] * 5), (41, [0.0] * 4 + [2.0] * 5)):
        for component, values in ((0, wanted), (1, [0.0] * 9), (2, wanted), (3, [1.0] * 9)):
            assert vertices.component(slot, component).tolist() == values


def test_vertices_in_common_are_there_once() -> None:
    both = points_of(4, 1.0)
    found = joined_coverage(
        [covered([0, 1], both), covered([2, 3], both)],
        [numbers(0, 1), numbers(2, 3)],
        [numbers(0, 1), numbers(2, 3)],
    )
    assert found is not None and found.source.vertices is both
    assert found.source.corners[0].tolist() == [0, 1, 0, 1]
    assert found.source.depth is None


@pytest.mark.parametrize(
    "other",
    [
        {"corners": 2},
        {"center": False},
        {"range": (1, 2)},
        {"depth": True},
        {"bounds": np.zeros((2, 1, 2), np.int64)},
        {"points": (1, 2, 3)},
        {"screen": object()},
    ],
)
def test_what_differs_in_kind_is_not_joined(other: dict[str, Any]) -> None:
    alike, odd = covered([0, 1]), covered([2, 3], **other)
    places = [numbers(0, 1), numbers(2, 3)]
    assert joined_coverage([alike, covered([2, 3])], places, places) is not None
    assert joined_coverage([alike, odd], places, places) is None
    assert joined_coverage([odd, alike], places, places) is None
