"""The snapshot of a pending draw: everything that was bound, except constant block 0.

Equal snapshots are one object (`known_snapshots`), so for an application that repeats the same
states in every frame, everything is derived from them only once. While draws are pending, their
snapshots hold references to the resources they name; otherwise a snapshot holds none, and it is
forgotten when one of them is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import BETWEEN, Stage
from gallette.drivers.common.bound import (
    MERGED_STAGES,
    Bound,
    ConstantBuffer,
    pinned_by,
    readable_by,
    resources_of,
    sampled_by,
)
from gallette.drivers.common.program import DriverShader
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import DrawInfo, FramebufferState, VertexBuffer

from .draw_states import DrawStates
from .programs import Selection
from .splitting import CALL_VALUES
from .state import DrawState

if TYPE_CHECKING:
    from .copy_on_write import TextureVersions

Row = tuple[ConstantBuffer | None, ConstantBuffer | None]
"""Constant block 0 of the vertex and the fragment stage."""

Constants = Row | bytes
"""The blocks, or the bytes that both hold: thousands of draws may be pending, and bytes are cheap
for Python's garbage collector."""


def row_of(constants: Constants) -> Row:
    """The constant blocks themselves."""
    if isinstance(constants, bytes):
        block = ConstantBuffer(constants)
        return block, block
    return constants


_MOST_PREPARED = 64

_LARGE_BLOCKS = 1 << 12
"""Bytes of constant blocks that shaders may read for draws to have rows of them."""


class Plan(Protocol):
    """A fast path for single draws in a state, prepared by the code of the programs."""

    def draw(self, info: DrawInfo, row: Row) -> int | None:
        """Make a draw with these constant blocks 0, part by part (`splitting.assemblies`); returns
        the number of the first part that it cannot make, if there is one.
        """
        ...

    def repeat(self, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        """Draw with one constant block for both stages, usually the previous draw from another
        vertex on.
        """
        ...

    def moved(self, draw: DrawState) -> Plan | None:
        """This plan, from now on for a state with other vertex buffers or textures; None if it
        cannot be.
        """
        ...

    def command_lists(
        self, series: Series, target: FramebufferState, planned: Callable[[Any], Plan | None]
    ) -> CommandLists:
        """The command lists that can execute parts of a series at once: draws to the `target`, if
        they are `planned`.
        """
        ...


class CommandLists(Protocol):
    """Parts of a series that a driver executes at once."""

    def next(self, number: int, epoch: int) -> tuple[int, int]:
        """The bounds of the next part at or after this entry; an empty range at this entry if no
        part begins before it. `epoch`: of the bound state (`Bound`).
        """
        ...

    def make(self, begin: int, end: int) -> tuple[int, int | None]:
        """Execute these entries, or the first ones of them; returns how many, and if queries were
        begun or ended, how many more now count samples.
        """
        ...


class Snapshot:
    """Everything bound for some draws, and the data derived from it."""

    __slots__ = (
        "_can_be_pending",
        "_large",
        "_merge_keys",
        "_observes_start",
        "_plans",
        "_prepared",
        "_resources",
        "_states",
        "blocks",
        "buffers",
        "held",
        "pinned",
        "readable",
        "reads",
        "sampled",
        "sampled_by_vertices",
        "scissors",
        "state_key",
        "viewports",
    )

    def __init__(
        self,
        states: DrawStates,
        bound: Bound,
        state_key: tuple[Any, ...],
        reads: tuple[Any, ...],
        buffers: tuple[Any, ...],
        scissors: int,
        viewports: int,
        blocks: tuple[Any, ...],
        base: Snapshot | None = None,
    ) -> None:
        """`reads`: resources that fragments read; `buffers`: vertex buffers; `scissors`,
        `viewports`: numbers that stand for them; `blocks`: constant blocks except the first;
        `state_key`: everything else.

        `base` is a snapshot that differs only in vertex buffers and sampled textures.
        """
        self.state_key, self.reads, self.buffers = state_key, reads, buffers
        self.scissors, self.viewports, self.blocks = scissors, viewports, blocks
        stages = {
            stage: replace(
                found,
                constants=list(found.constants),
                samplers=list(found.samplers),
                views=list(found.views),
            )
            if stage in MERGED_STAGES
            else found
            for stage, found in bound.stages.items()
        }
        copy = replace(bound, shaders=dict(bound.shaders), stages=stages)
        self._states: DrawStates | None
        self._states = states.for_snapshot(copy, None if base is None else base.states)
        self.held = False
        self._observes_start: bool | None = None
        self._resources = list(resources_of(copy))
        self._can_be_pending: dict[Primitive, bool] = {} if base is None else base._can_be_pending
        self._merge_keys: dict[Primitive, tuple[Any, ...]] = {}
        self._plans: dict[Primitive, Plan | None] = {}
        self._large: dict[Primitive, bool] = {}
        self._prepared: dict[int, PreparedDraw] = {}  # by the identity of the call
        # Resources by identity: those that draws write, those that they sample, of which there may
        # be versions, and others that they read, of which there may be copies (`copy_on_write`).
        self.pinned = frozenset(map(id, pinned_by(copy)))
        self.sampled = frozenset(map(id, sampled_by(copy)))
        self.sampled_by_vertices = frozenset(map(id, sampled_by(copy, (Stage.VERTEX,))))
        self.readable = frozenset(map(id, readable_by(copy))) - self.pinned - self.sampled

    @property
    def like(self) -> Snapshot:
        """The snapshot without copies in place of resources (see `snapshot_copies`)."""
        return self

    @property
    def states(self) -> DrawStates:
        """The states derived from the snapshot, by mode."""
        assert self._states is not None
        return self._states

    @property
    def target(self) -> FramebufferState:
        """The framebuffer that is drawn to."""
        return self.states.bound.framebuffer

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]:
        return self.states.bound.vertex_buffers

    def bytes_of(self, slot: int) -> npt.NDArray[np.uint8]:
        """The contents of a vertex buffer."""
        buffer = self.states.bound.vertex_buffers[slot]
        assert buffer is not None
        data: npt.NDArray[np.uint8] = buffer.buffer.storage[0][0, 0]
        return data

    def block(self, stage: Stage, number: int) -> ConstantBuffer | None:
        """A constant block."""
        constants = self.states.bound.stages[stage].constants
        return constants[number] if number < len(constants) else None

    def selection(self, mode: Primitive) -> Selection | None:
        """The variants that its draws run."""
        return self.states.selection(mode)

    versions: Sequence[tuple[TextureVersions, int]] = ()
    """Textures that were written while its draws were pending, and the versions that they sample.
    """

    def seek(self) -> None:
        """Let textures hold what its draws sample; called before their shaders run."""
        for texture, version in self.versions:
            texture.seek(version)

    def bind(self, row: Row) -> None:
        """Bind the constants of a draw."""
        states = self.states
        stages, joiner = states.bound.stages, states.joiner
        for stage, block in zip(MERGED_STAGES, row, strict=True):
            constants = stages[stage].constants
            if constants and constants[0] is not block:
                constants[0] = block
                joiner.rebind(stage)

    def plan(self, mode: Primitive) -> Plan | None:
        """The fast path for single draws, if the programs have one."""
        if mode not in self._plans:
            self._plans[mode] = self._make_plan(mode)
        return self._plans[mode]

    def prepared(self, info: DrawInfo, target: FramebufferState, epoch: int) -> PreparedDraw:
        """The call as a draw to be repeated: the same object as the last time, if possible."""
        found = self._prepared.get(id(info))
        if found is None or found.target is not target or found.epoch != epoch:
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()
            found = self._prepared[id(info)] = PreparedDraw(self, info, target, epoch)
        return found

    def succeed(self, other: Snapshot) -> bool:
        """Take the plans of a snapshot that differs in vertex buffers and textures only; false if
        there are none. Many programs make new ones in each frame; if the others are drawn again,
        they get new plans.
        """
        for mode, plan in list(other._plans.items()):
            state = None if plan is None else self.states.of(mode)
            moved = None if plan is None or state is None else plan.moved(state)
            if moved is not None:
                self._plans[mode] = moved
                del other._plans[mode]
        return bool(self._plans)

    def _make_plan(self, mode: Primitive) -> Plan | None:
        if any(self.states.bound.shaders.get(stage) for stage in BETWEEN):
            return None
        state = self.states.of(mode)
        if state is None:
            return None
        if any(shader.reads.deciding for shader, _ in state.fixed.selection.origin):
            return None
        program = state.fragment.program
        return None if program is None else program.plan(state, mode)

    def can_be_pending(self, mode: Primitive) -> bool:
        """Whether the programs can run for many draws at once without an observable order."""
        found = self._can_be_pending.get(mode)
        if found is None:
            found = self._can_be_pending[mode] = self._find_out(mode)
        return found

    def can_order(self, mode: Primitive) -> bool:
        """Whether its draws can be executed in per-pixel order with those of other states."""
        state = self.states.of(mode)
        return state is not None and state.fixed.engine.deals

    def _find_out(self, mode: Primitive) -> bool:
        bound = self.states.bound
        if bound.rasterizer.state.rasterizer_discard or any(
            bound.shaders.get(stage) for stage in BETWEEN
        ):
            return False
        selection = self.states.selection(mode)
        return selection is not None and selection.mergeable

    def observes_start(self, mode: Primitive) -> bool:
        """Whether the vertex shader can observe where a draw begins in its buffers."""
        if self._observes_start is None:
            state = self.states.of(mode)
            facts = None if state is None else state.fixed.selection.stages[Stage.VERTEX].facts
            self._observes_start = facts is None or not facts.system_values.isdisjoint(CALL_VALUES)
        return self._observes_start

    def merge_key(self, mode: Primitive) -> tuple[Any, ...]:
        """The merge key: draws of this mode can be merged with all draws that have an equal one."""
        found = self._merge_keys.get(mode)
        if found is None:
            state = self.states.of(mode)
            found = (self,)
            if state is not None and state.fixed.engine.deals:
                # The identity of a selection is in the key; the state keeps it alive.
                found = self.state_key, id(state.fixed.selection), self.large_blocks(mode)
                if state.fixed.raster.viewports is not None:  # primitives choose theirs
                    found = *found, self.scissors, self.viewports
                elif state.fixed.engine.state.depth_clamp is not None:  # to a viewport's
                    found = *found, self.viewports
            self._merge_keys[mode] = found
        return found

    def large_blocks(self, mode: Primitive) -> Any:
        """The constant blocks of which shaders read so much that draws should not have rows of
        them.
        """
        large = self.like._large.get(mode)
        if large is None:
            selection = self.selection(mode)
            shaders = () if selection is None else selection.origin
            read = [size for shader, _ in shaders for _, size in shader.reads.blocks]
            large = self.like._large[mode] = sum(read) > _LARGE_BLOCKS
        return self.blocks if large else None

    @property
    def shaders(self) -> tuple[DriverShader | None, ...]:
        """The vertex and the fragment shader."""
        found = self.states.bound.shaders
        return found.get(Stage.VERTEX), found.get(Stage.FRAGMENT)

    @property
    def named(self) -> Sequence[Resource]:
        """The resources it refers to."""
        return self._resources

    @property
    def alive(self) -> bool:
        """Whether all resources it refers to still exist."""
        for resource in self._resources:  # noqa: SIM110 - at every draw: `all` takes thrice as long
            if not resource.refcount:
                return False
        return True

    def hold(self) -> None:
        """Take references to the resources, because a draw is pending."""
        if not self.held:
            self.held = True
            for resource in self._resources:
                resource.ref()

    def release(self) -> None:
        """Release the references, because no draw is pending; constants of the last draw are not
        kept.
        """
        if self.held:
            self.held = False
            states = self.states
            for stage in MERGED_STAGES:
                constants = states.bound.stages[stage].constants
                if constants and constants[0] is not None:
                    constants[0] = None
                    states.joiner.release(stage)
            for resource in self._resources:
                resource.unref()


_MOST_CALLS = 4096


class Begun:
    """Calls with other starts, kept: applications repeat the same draws in every frame."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        # By identity and start, with the call itself, so that its identity stays its own.
        self._calls: dict[tuple[int, int, int | None], tuple[DrawInfo, DrawInfo]] = {}

    def at(self, info: DrawInfo, start: int, instance: int | None = None) -> DrawInfo:
        """The call, starting at that vertex and, if given, that instance."""
        key = id(info), start, instance
        found = self._calls.get(key)
        if found is None:
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            found = self._calls[key] = info, info.begun_at(start, instance)
        return found[1]


@lazy_dataclass(eq=False)
class PreparedDraw:
    """A small draw that was submitted before: its snapshot and its call, to be drawn again."""

    snapshot: Snapshot
    info: DrawInfo
    target: FramebufferState
    epoch: int  # of the bound state when it was submitted
    begun: Begun = field(default_factory=Begun)
