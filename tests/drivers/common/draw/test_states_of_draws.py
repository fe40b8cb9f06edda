"""The states of draws: when they are found again, when anew; those of families; joined coverage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import finding, programs
from gallette.drivers.common.draw.families import Family
from gallette.drivers.common.draw.finding import DrawStates
from gallette.drivers.common.draw.grouping import Covered
from gallette.drivers.common.draw.joining import joined_coverage
from gallette.drivers.common.draw.programs import Joiner, select
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import Spans
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import DrawInfo, FramebufferState, ScissorState, ViewportState

TRIANGLES, LINES, POINTS = Primitive.TRIANGLES, Primitive.LINES, Primitive.POINTS


@pytest.fixture(autouse=True)
def nobody_looks(memories_are_right: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered here is not compared with what would be derived: these are no states."""
    monkeypatch.setattr(memories_are_right, "may_look", lambda *about: False)


# -- found again -----------------------------------------------------------------------------------


class Code:
    """A program that counts how often it was bound."""

    def __init__(self, quads: bool = False) -> None:
        self.times = 0
        self.facts = SimpleNamespace(needs_quads=lambda resources: quads)

    def bind(self, resources: Any) -> Any:
        self.times += 1
        return SimpleNamespace(resources=resources, number=self.times)


class Scene:
    """What is bound, and how often states and selections were made for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reads = SimpleNamespace(deciding=())
        info = SimpleNamespace(
            output_primitive=None, tess_point_mode=False, tess_primitive="triangles"
        )
        self.reads, self.info = reads, info
        stage = SimpleNamespace(constants=[], views=[], images=[], buffers=[])
        filled = SimpleNamespace(fill_front=PolygonMode.FILL)
        self.bound: Any = SimpleNamespace(
            shaders={Stage.VERTEX: SimpleNamespace(reads=reads)},
            rasterizer=SimpleNamespace(state=filled),
            elements=SimpleNamespace(state=()),
            vertex_buffers=(),
            stream_targets=(),
            stages=dict.fromkeys(Stage, stage),
            clip_planes=(),
            depth_stencil_alpha=SimpleNamespace(state=SimpleNamespace(alpha_ref_value=0.0)),
        )
        self.vertex, self.fragment = Code(), Code(quads=True)
        self.selected: list[Primitive] = []
        self.fixed = 0
        self.values: dict[Any, Any] = {}
        monkeypatch.setattr(finding, "select", self._select)
        monkeypatch.setattr(finding, "fixed_state", self._fixed)
        monkeypatch.setattr(finding, "inlined", lambda bound: self.values)
        work: Any = SimpleNamespace()
        self.states = DrawStates(self.bound, SimpleNamespace(), work)  # type: ignore[arg-type]

    def _select(self, bound: Any, primitive: Primitive, selections: Any, values: Any) -> Any:
        self.selected.append(primitive)
        if not bound.shaders:
            return None
        stages = {Stage.VERTEX: self.vertex}
        return SimpleNamespace(stages=stages, fragment=self.fragment, positions=None)

    def _fixed(self, bound: Any, selection: Any, *others: Any) -> Any:
        self.fixed += 1
        return SimpleNamespace(selection=selection)

    def counts(self) -> tuple[int, int, int]:
        """States that are fixed, and how often programs were bound."""
        return self.fixed, self.vertex.times, self.fragment.times


def test_states_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for polygons and lines, one for points; of a mode the same until something is bound."""
    scene = Scene(monkeypatch)
    first = scene.states.of(TRIANGLES)
    assert first is not None and first.fragment.quads and first.bound is scene.bound
    assert scene.states.of(TRIANGLES) is first
    lines, points = scene.states.of(LINES), scene.states.of(POINTS)
    assert lines is not None and points is not None
    assert lines.fixed is first.fixed and points.fixed is not first.fixed
    assert scene.selected == [TRIANGLES, POINTS]
    assert scene.counts() == (2, 1, 1)
    assert scene.states.of(TRIANGLES) is first
    assert scene.states.selection(LINES) is first.fixed.selection


@pytest.mark.parametrize("name", ["elements", "vertex_buffers", "stream_targets", "witness"])
def test_states_are_made_anew_of_other_bindings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is fixed, and the programs, stay."""
    scene = Scene(monkeypatch)
    first = scene.states.of(TRIANGLES)
    assert first is not None
    if name == "witness":
        scene.states.witness = object()  # type: ignore[assignment]
    elif name == "elements":
        scene.bound.elements = SimpleNamespace(state=(1,))
    else:
        setattr(scene.bound, name, (object(),))
    second = scene.states.of(TRIANGLES)
    assert second is not None and second is not first and second.fixed is first.fixed
    assert scene.states.of(TRIANGLES) is second
    assert scene.counts() == (1, 1, 1)


def test_states_are_made_anew_when_a_program_was_joined_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    first = scene.states.of(TRIANGLES)
    scene.states.joiner.forget(Stage.FRAGMENT)
    second = scene.states.of(TRIANGLES)
    assert first is not None and second is not None
    assert second is not first and second.fixed is first.fixed
    assert scene.counts() == (1, 1, 2)
    scene.states.recorder = object()  # type: ignore[assignment]
    assert scene.states.of(TRIANGLES) is not second


def test_what_is_forgotten_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    first = scene.states.of(TRIANGLES)
    scene.states.forget()
    second = scene.states.of(TRIANGLES)
    assert second is not None and first is not None and second.fixed is not first.fixed
    assert scene.counts() == (2, 1, 1)
    scene.states._selections["some"] = object()  # type: ignore[assignment]
    scene.states.forget_shaders()
    assert not scene.states._selections
    third = scene.states.of(TRIANGLES)
    assert third is not None and third.fixed is not second.fixed
    assert scene.counts() == (3, 2, 2)
    scene.bound.shaders.clear()
    scene.states.forget()
    assert scene.states.of(TRIANGLES) is None
    assert scene.states.merged(TRIANGLES, {}) is None
    assert scene.states.selection(TRIANGLES) is None


def test_states_are_looked_up_at_each_draw_where_uniforms_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And many of them are remembered, but not too many."""
    monkeypatch.setattr(finding, "_MOST_FIXED", 2)
    scene = Scene(monkeypatch)
    scene.reads.deciding = (0,)
    found = []
    for value in (1, 2, 1, 2, 3, 1):
        scene.values = {Stage.VERTEX: value}
        state = scene.states.of(TRIANGLES)
        assert state is not None
        found.append(state.fixed)
    assert found[2] is found[0] and found[3] is found[1] and found[0] is not found[1]
    assert scene.fixed == 4 and found[5] is not found[0]  # the third had the first two forgotten


def test_states_remembered_of_kin_have_what_is_fixed_in_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    scene.states.recorder = object()  # type: ignore[assignment]
    one = scene.states.remembering(scene.bound)
    two = scene.states.remembering(scene.bound, one)
    other = scene.states.remembering(scene.bound)
    states = [each.of(TRIANGLES) for each in (one, two, other)]
    assert states[0] is not None and states[1] is not None and states[2] is not None
    assert states[1].fixed is states[0].fixed and states[2].fixed is not states[0].fixed
    assert one.scratch is scene.states.scratch and one._selections is scene.states._selections
    assert states[0].recorder is scene.states.recorder


@pytest.mark.parametrize(
    ("shaders", "mode", "fill", "points"),
    [
        ({}, TRIANGLES, PolygonMode.FILL, False),
        ({}, TRIANGLES, PolygonMode.LINE, False),
        ({}, TRIANGLES, PolygonMode.POINT, True),
        ({}, LINES, PolygonMode.POINT, False),
        ({}, POINTS, PolygonMode.FILL, True),
        ({Stage.GEOMETRY: {"output_primitive": "points"}}, TRIANGLES, PolygonMode.FILL, True),
        ({Stage.GEOMETRY: {"output_primitive": "line_strip"}}, POINTS, PolygonMode.POINT, False),
        ({Stage.GEOMETRY: {}}, POINTS, PolygonMode.FILL, False),
        ({Stage.GEOMETRY: {}}, POINTS, PolygonMode.POINT, True),
        ({Stage.TESS_EVAL: {"tess_point_mode": True}}, TRIANGLES, PolygonMode.FILL, True),
        ({Stage.TESS_EVAL: {}}, POINTS, PolygonMode.FILL, False),
        ({Stage.TESS_EVAL: {}}, POINTS, PolygonMode.POINT, True),
        ({Stage.TESS_EVAL: {"tess_primitive": "isolines"}}, POINTS, PolygonMode.POINT, False),
        (
            {Stage.TESS_EVAL: {"tess_point_mode": True}, Stage.GEOMETRY: {}},
            POINTS,
            PolygonMode.FILL,
            False,
        ),
    ],
)
def test_points_are_rasterized(
    shaders: Any, mode: Primitive, fill: PolygonMode, points: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(monkeypatch)
    scene.bound.rasterizer.state.fill_front = fill
    for stage, facts in shaders.items():
        info = SimpleNamespace(**vars(scene.info) | facts)
        shader = SimpleNamespace(info=info)
        scene.bound.shaders[stage] = SimpleNamespace(shader=shader, reads=scene.reads)
    scene.states.selection(mode)
    assert scene.selected == [POINTS if points else TRIANGLES]


# -- joined programs -------------------------------------------------------------------------------


def test_programs_are_joined_once() -> None:
    bindings = SimpleNamespace(constants=[], views=[], images=[], buffers=[])
    bound: Any = SimpleNamespace(
        stages=dict.fromkeys(Stage, bindings),
        clip_planes=(),
        depth_stencil_alpha=SimpleNamespace(state=SimpleNamespace(alpha_ref_value=0.5)),
    )
    joiner, code, other = Joiner(bound, None), Code(True), Code(True)  # type: ignore[arg-type]
    first: Any = joiner.join(Stage.FRAGMENT, code)  # type: ignore[arg-type]
    assert joiner.changes == 1 and first.quads
    assert first.program.resources.alpha_ref == 0.5
    assert joiner.join(Stage.FRAGMENT, code) is first and joiner.changes == 1  # type: ignore[arg-type]
    assert joiner.join(Stage.FRAGMENT, other) is not first  # type: ignore[arg-type]
    assert joiner.changes == 2
    assert not joiner.join(Stage.VERTEX, Code(True)).quads  # type: ignore[arg-type]
    resources = joiner.resources(Stage.FRAGMENT)
    assert joiner.resources(Stage.FRAGMENT) is resources and joiner.changes == 3
    joiner.forget(Stage.FRAGMENT)
    assert joiner.changes == 4 and joiner.resources(Stage.FRAGMENT) is not resources
    assert joiner.join(Stage.FRAGMENT, other).program is not first.program  # type: ignore[arg-type]
    assert other.times == 2


@pytest.mark.parametrize("able", [False, True])
def test_programs_that_can_go_on_with_another_block_do(able: bool) -> None:
    block = SimpleNamespace(data=np.arange(4, dtype=np.uint8))
    bindings = SimpleNamespace(constants=[block], views=[], images=[], buffers=[])
    bound: Any = SimpleNamespace(
        stages=dict.fromkeys(Stage, bindings),
        clip_planes=(),
        depth_stencil_alpha=SimpleNamespace(state=SimpleNamespace(alpha_ref_value=0.5)),
    )
    joiner, code = Joiner(bound, None), Code()  # type: ignore[arg-type]
    joiner.rebind(Stage.VERTEX)  # there is nothing yet
    program: Any = joiner.program(Stage.VERTEX, code)  # type: ignore[arg-type]
    rebound: list[None] = []
    if able:
        program.rebind = lambda: rebound.append(None)
    changes = joiner.changes
    bindings.constants[0] = SimpleNamespace(data=np.arange(9, dtype=np.uint8))
    joiner.rebind(Stage.VERTEX)
    assert (joiner.program(Stage.VERTEX, code) is program) is able  # type: ignore[arg-type]
    assert len(rebound) == able
    assert (joiner.changes == changes) is able
    if able:
        assert program.resources.constants[0] is bindings.constants[0].data
        bindings.constants[0] = None
        joiner.release(Stage.VERTEX)
        assert program.resources.constants[0] is None and len(rebound) == 2
        for name in ("textures", "images", "buffers"):
            resources: Any = joiner.resources(Stage.VERTEX)
            setattr(resources, name, [None])
            joiner.release(Stage.VERTEX)
            assert joiner.resources(Stage.VERTEX) is not resources


class _Named:
    """Told by identity."""

    def __init__(self, **members: Any) -> None:
        vars(self).update(members)


def test_selections_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """By all they depend on; when there are many all are forgotten."""
    monkeypatch.setattr(programs, "_MOST_SELECTIONS", 3)
    made: list[Any] = []

    def make(*args: Any) -> object:
        made.append(args)
        return object()

    monkeypatch.setattr(programs, "_select", make)
    masks = [0]
    monkeypatch.setattr(programs, "sampler_masks", lambda bound, fragment: masks[0])
    kind = [0]
    compiler = SimpleNamespace(target_kind=lambda framebuffer: kind[0])
    discard = SimpleNamespace(rasterizer_discard=False)
    bound: Any = SimpleNamespace(
        shaders={Stage.VERTEX: object(), Stage.FRAGMENT: _Named(compiler=compiler)},
        rasterizer=_Named(state=discard),
        depth_stencil_alpha=object(),
        framebuffer=SimpleNamespace(cbufs=[None, object()], alpha_test_bits=8),
        blend=SimpleNamespace(
            state=SimpleNamespace(target=lambda index: SimpleNamespace(colormask=index * 3))
        ),
    )
    kept: dict[Any, Any] = {}

    def chosen(mode: Primitive = TRIANGLES, **values: Any) -> Any:
        return select(bound, mode, kept, values)  # type: ignore[arg-type]

    first = chosen()
    assert chosen() is first and chosen(LINES) is first and len(made) == 1
    assert made[0][5] == 3  # what any buffer lets through
    assert chosen(POINTS) is not first and len(kept) == 2
    assert chosen(some=1) is not first and len(kept) == 3
    assert chosen() is first
    masks[0] = 1
    assert chosen() is not first and len(kept) == 1
    assert chosen() is chosen()
    for change in (
        lambda: kind.__setitem__(0, 1),
        lambda: setattr(bound.framebuffer, "alpha_test_bits", 16),
        lambda: setattr(bound, "depth_stencil_alpha", object()),
        lambda: setattr(bound, "rasterizer", _Named(state=discard)),
        lambda: setattr(bound.framebuffer, "cbufs", [object()]),  # nothing is written now
        lambda: bound.shaders.__setitem__(Stage.VERTEX, object()),
        lambda: bound.shaders.__setitem__(Stage.GEOMETRY, object()),
        lambda: bound.shaders.__setitem__(Stage.TESS_EVAL, object()),
        lambda: setattr(discard, "rasterizer_discard", True),
    ):
        before = chosen()
        change()
        assert chosen() is not before
    assert made[-1][3] is None  # nobody shades what is discarded
    bound.shaders.clear()
    assert chosen() is None


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
        self.versions: Any = {}
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
    state = family(one, later).state()  # the same but for what buffers hold
    assert state.gathered.alike and state.gathered.suppliers == [one, later]
    assert state.scissors is None and state.viewports is None and state.fragment.several is None


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
    from gallette.drivers.common.vertex.vertices import VertexSet

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
