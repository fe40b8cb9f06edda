"""Finds the state of a draw; derived state is kept until a binding it depends on changes."""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.work import Work
from gallette.pipe.enums import POINTS_AND_LINES, PolygonMode, Primitive
from gallette.pipe.state import RasterizerState

from .geometry import OUTPUT_MODES
from .programs import ConstantTables, Joiner, Selection, inlined, select
from .state import DrawState, FixedState, Recorder, Witness, fixed_state

_NO_FRAGMENTS = FragmentShader()
_MOST_FIXED = 256


class DrawStates:
    """The states of a context's draws, by bound state and by whether points are rasterized.

    The context calls `joiner.forget` when it binds other resources to a stage.
    """

    __slots__ = (
        "_fixed",
        "_known",
        "_last",
        "_selections",
        "bound",
        "counters",
        "joiner",
        "recorder",
        "scratch",
        "witness",
        "work",
    )

    def __init__(self, bound: Bound, counters: Counters, work: Work) -> None:
        self.bound = bound
        self.counters = counters
        self.witness: Witness | None = None
        self.recorder: Recorder | None = None
        self.scratch = Scratch()
        self.work = work
        self.joiner = Joiner(bound, work)
        self._selections: dict[Any, Selection] = {}
        self._fixed: dict[Any, FixedState] = {}
        # The fixed states by mode, for shaders whose variants do not depend on values of uniforms.
        self._known: dict[Primitive, FixedState] = {}
        # Of each mode the last state, and how often programs had been joined then.
        self._last: dict[Primitive, tuple[int, DrawState]] = {}

    def for_snapshot(self, bound: Bound, base: DrawStates | None = None) -> DrawStates:
        """The states of draws with a copy of the bound state, which does not change.

        `base` has other vertex buffers and textures only, so both share their fixed states.
        """
        states = DrawStates(bound, self.counters, self.work)
        if base is not None:
            states._fixed = base._fixed
        states.scratch, states._selections = self.scratch, self._selections
        states.recorder = self.recorder
        return states

    def forget(self) -> None:
        """Forget states, because a binding that they are derived from has changed."""
        self._fixed.clear()
        self._known.clear()
        self._last.clear()

    def forget_shaders(self) -> None:
        """Forget the states of a shader that has been deleted."""
        self._selections.clear()
        self._fixed.clear()
        self._known.clear()
        self._last.clear()
        for stage in Stage:
            self.joiner.forget(stage)

    def of(self, mode: Primitive) -> DrawState | None:
        """The state for draws of this mode; None when no vertex shader is bound."""
        fixed = self._find(mode)
        if fixed is None:
            return None
        join, last = self.joiner, self._last.get(mode)
        if last is not None and last[0] == join.changes and self._is_current(last[1], fixed):
            return last[1]
        selection = fixed.selection
        programs = {stage: join.program(stage, code) for stage, code in selection.stages.items()}
        fragment = _NO_FRAGMENTS
        if selection.fragment is not None:
            fragment = join.join(Stage.FRAGMENT, selection.fragment)
        state = self._state(fixed, programs, fragment)
        self._last[mode] = join.changes, state
        return state

    def _is_current(self, state: DrawState, fixed: FixedState) -> bool:
        """Whether a state with current programs is still up to date with the other bindings."""
        bound = self.bound
        return (
            state.fixed is fixed
            and state.elements is bound.elements.state
            and state.buffers is bound.vertex_buffers
            and state.targets is bound.stream_targets
            and state.witness is self.witness
            and state.recorder is self.recorder
        )

    def merged(self, mode: Primitive, tables: dict[Stage, ConstantTables]) -> DrawState | None:
        """The state of merged draws, with tables of the constants that each reads."""
        fixed = self._find(mode)
        if fixed is None:
            return None
        programs = self.joiner.merged(fixed.selection, tables)
        fragment = _NO_FRAGMENTS
        if len(programs) > 1:
            fragment = FragmentShader(programs[1], self._needs_quads(fixed))
        return self._state(fixed, {Stage.VERTEX: programs[0]}, fragment)

    def merged_fragment(self, mode: Primitive, tables: ConstantTables) -> FragmentShader:
        """The fragment program of `merged` alone."""
        fixed = self._find(mode)
        assert fixed is not None
        program = self.joiner.merged_fragment(fixed.selection, tables)
        return FragmentShader(program, self._needs_quads(fixed))

    def _needs_quads(self, fixed: FixedState) -> bool:
        code = fixed.selection.fragment
        return code is not None and self.joiner.join(Stage.FRAGMENT, code).quads

    def selection(self, mode: Primitive) -> Selection | None:
        """The variants that draws of this mode run."""
        fixed = self._find(mode)
        return None if fixed is None else fixed.selection

    def _state(
        self,
        fixed: FixedState,
        programs: Any,
        fragment: FragmentShader,
    ) -> DrawState:
        bound = self.bound
        return DrawState(
            fixed,
            programs,
            fragment,
            bound.elements.state,
            bound.vertex_buffers,
            bound.stream_targets,
            self.counters,
            self.work,
            self.witness,
            bound=bound,
            recorder=self.recorder,
        )

    def _find(self, mode: Primitive) -> FixedState | None:
        known = self._known.get(mode)
        if known is not None:
            return known
        bound = self.bound
        points = _draws_points(_emitted_mode(bound, mode), bound.rasterizer.state)
        values = inlined(bound)
        key = (points, *values.items())
        found = self._fixed.get(key)
        if found is None:
            kind = Primitive.POINTS if points else Primitive.TRIANGLES
            selection = select(bound, kind, self._selections, values)
            if selection is None:
                return None
            found = fixed_state(bound, selection, self.scratch, self.counters, self.work)
            if len(self._fixed) >= _MOST_FIXED:
                self._fixed.clear()
            self._fixed[key] = found
        if not any(shader.reads.deciding for shader in bound.shaders.values() if shader):
            self._known[mode] = found
        return found


def _emitted_mode(bound: Bound, mode: Primitive) -> Primitive:
    """The kind of primitive that the last stage before the rasterizer emits."""
    geometry = bound.shaders.get(Stage.GEOMETRY)
    if geometry is not None:
        return OUTPUT_MODES[geometry.shader.info.output_primitive or "triangle_strip"]
    evaluation = bound.shaders.get(Stage.TESS_EVAL)
    if evaluation is not None:
        info = evaluation.shader.info
        if info.tess_point_mode:
            return Primitive.POINTS
        return Primitive.LINES if info.tess_primitive == "isolines" else Primitive.TRIANGLES
    return mode


def _draws_points(mode: Primitive, rasterizer: RasterizerState) -> bool:
    """Whether points reach the rasterizer: drawn as points, or as corners of polygons."""
    if mode in POINTS_AND_LINES:
        return mode is Primitive.POINTS
    return rasterizer.fill_front is PolygonMode.POINT
