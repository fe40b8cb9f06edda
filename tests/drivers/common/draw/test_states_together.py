"""The states of draws that became one, and what draws of several states cover together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from gallette.drivers.common.draw.merging import MergedDraws
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.raster.setup import Rect
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


class Snapshot:
    """What was given for draws."""

    def __init__(self, like: Any = None, scissor: bool = True, program: Any = "program") -> None:
        self.buffers: Any = ("buffers",)
        self.reads: Any = ()
        self.scissors = self.viewports = 0
        self.blocks: Any = ()
        self.versions: Any = ()
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

    def seek(self) -> None:
        """Its textures have one version."""


def merged(*snapshots: Snapshot, starts: Any = (0, 0, 0, 0)) -> Any:
    info = DrawInfo(TRIANGLES, count=3)
    calls = [info if not start else replace(info, start=start) for start in starts]
    entries: Any = [
        (snapshot, call, b"\1" * 16) for snapshot, call in zip(snapshots, calls, strict=False)
    ]
    return MergedDraws([*range(len(entries))], entries)


def test_a_family_of_one_state_has_it() -> None:
    snapshot = Snapshot()
    state = merged(snapshot, snapshot).state()
    assert state == snapshot.states.of(TRIANGLES)
    moved = merged(snapshot, snapshot, snapshot, starts=(3, 0, 3)).state()
    assert moved.firsts.tolist() == [3, 0, 3]
    snapshot.states.merged = lambda mode, constants: None
    assert merged(snapshot, snapshot).state() is None


def test_a_family_fetches_from_the_buffers_of_each() -> None:
    one, two, three = Snapshot(), Snapshot(), Snapshot()
    two.buffers = ("others",)
    state = merged(one, two, three, two).state()
    assert state.gathered.suppliers == [one, two]
    assert state.gathered.which.tolist() == [0, 1, 0, 1]
    assert not state.gathered.alike
    later = Snapshot(like=one)
    later.buffers, later.scissors, later.viewports, later.reads = ("later",), 1, 1, (1,)
    state = merged(one, later).state()  # the same but for what buffers and textures hold
    assert state.gathered.alike and state.gathered.suppliers == [one, later]
    assert state.scissors is None and state.viewports is None
    assert state.fragment.several.programs == [one, later]


def test_a_family_has_scissors_of_each() -> None:
    one, two, off = Snapshot(), Snapshot(), Snapshot(scissor=False)
    two.scissors = 1
    two.states.bound.scissors[0] = ScissorState(4, 0, 10, 50)
    state = merged(one, two, one).state()
    assert state.scissors.T.tolist() == [[1, 2, 30, 40], [4, 0, 10, 50], [1, 2, 30, 40]]
    assert state.fixed.raster.target == Rect(1, 0, 30, 50)
    assert state.gathered is None and state.viewports is None
    assert merged(off, two).state().scissors is None
    assert merged(one, Snapshot()).state().fixed.raster.target == "whole"


def test_a_family_has_viewports_of_each() -> None:
    one, two = Snapshot(), Snapshot()
    two.viewports = 1
    two.states.bound.viewports[0] = ViewportState((7, 8, 9), (1, 1, 0))
    state = merged(two, one, two).state()
    assert state.viewports.scale.tolist() == [[7, 1, 7], [8, 2, 8], [9, 3, 9]]
    assert state.viewports.translate.tolist() == [[1, 4, 1], [1, 5, 1], [0, 6, 0]]
    assert merged(one, Snapshot()).state().viewports is None


def test_a_family_shades_by_what_each_reads() -> None:
    one, two, none = Snapshot(), Snapshot(), Snapshot(program=None)
    two.reads, two.quads = (1,), True
    shader = merged(two, one, one).state().fragment
    assert shader.several.programs == [two, one]
    assert shader.several.which.tolist() == [0, 1, 1]
    assert shader.program is two and shader.quads
    assert not merged(one, Snapshot()).state().fragment.several
    assert merged(none, two).state().fragment.program is None
