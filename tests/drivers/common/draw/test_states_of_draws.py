"""The states of draws: when they are found again, and when they are made anew."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import draw_states, programs
from gallette.drivers.common.draw.draw_states import DrawStates
from gallette.drivers.common.draw.programs import Joiner, select
from gallette.pipe.enums import PolygonMode, Primitive

TRIANGLES, LINES, POINTS = Primitive.TRIANGLES, Primitive.LINES, Primitive.POINTS


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
        monkeypatch.setattr(draw_states, "select", self._select)
        monkeypatch.setattr(draw_states, "fixed_state", self._fixed)
        monkeypatch.setattr(draw_states, "inlined", lambda bound: self.values)
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
def test_states_are_derived_again_for_other_bindings(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_states_are_derived_again_after_a_program_was_joined_again(
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


def test_forgotten_states_are_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(draw_states, "_MOST_FIXED", 2)
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


def test_snapshots_with_equal_state_keys_share_their_fixed_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    scene.states.recorder = object()  # type: ignore[assignment]
    one = scene.states.for_snapshot(scene.bound)
    two = scene.states.for_snapshot(scene.bound, one)
    other = scene.states.for_snapshot(scene.bound)
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

    program.rebinds, program.rebind = able, lambda: rebound.append(None)
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
