"""What a draw that waits was given: a copy of everything bound, but for constant block 0.

Copies are found again by what they hold, so that a program which goes through the same states in
every frame has everything derived from them only once. While draws wait, a copy holds references to
the resources it names; between times it holds none, and is forgotten when one of them is gone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound, ConstantBuffer, StageBindings
from gallette.drivers.common.program import DriverShader
from gallette.drivers.common.texture.pages import Pages
from gallette.drivers.common.texture.versions import may_have_versions
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.series import Series
from gallette.pipe.state import (
    DrawInfo,
    FramebufferState,
    ImageView,
    ShaderBuffer,
    VertexBuffer,
)

from .finding import DrawStates
from .parts import TOLD
from .programs import Selection, sampler_masks

__all__ = [
    "MERGED_STAGES",
    "Constants",
    "Given",
    "Memory",
    "Plan",
    "Row",
    "Runs",
    "resources_of",
    "row_of",
    "targets_of",
]

MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)
"""The stages whose constant block 0 may differ between draws that wait."""

Row = tuple[ConstantBuffer | None, ConstantBuffer | None]
"""Constant block 0 of the vertex and the fragment stage."""

Constants = Row | bytes
"""The same, or what both of them hold: thousands of draws may wait, and bytes are little work for
Python's collector of garbage."""


def row_of(constants: Constants) -> Row:
    """The blocks themselves."""
    if isinstance(constants, bytes):
        block = ConstantBuffer(constants)
        return block, block
    return constants


Reach = tuple[int, int, int]
"""The first byte that is read of a buffer, the one behind the last, and by vertex."""

_NO_VERSIONS: Mapping[int, tuple[Pages, int]] = {}
_BETWEEN = (Stage.TESS_CTRL, Stage.TESS_EVAL, Stage.GEOMETRY)
_MOST = 1024
_FEW = 64

_LARGE_BLOCKS = 1 << 12
"""Bytes of constant blocks that shaders may read for draws to have rows of them."""


class Plan(Protocol):
    """A quick way for single draws in a state, prepared by the programs' own code."""

    def draw(self, info: DrawInfo, row: Row) -> bool:
        """Make a draw with these constant blocks 0; false, and nothing is done, if it cannot."""
        ...

    def repeat(self, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        """The same with one block for both stages, mostly of the draw made last, from another
        vertex on."""
        ...

    def runs(self, series: Series, planned: Callable[[Any], Plan | None]) -> Runs:
        """What makes parts of a series at once: draws that are `planned`."""
        ...


class Runs(Protocol):
    """Parts of a series that are made at once."""

    def next(self, number: int, epoch: int) -> tuple[int, int]:
        """Where the next of them begins, at that entry or behind it, and where it ends: the same if
        nothing is to be made at once before there. `epoch`: of what is bound (`Bound`)."""
        ...

    def make(self, begin: int, end: int) -> tuple[int, int | None]:
        """Make these entries, or the first ones of them: how many, and if queries were begun or
        ended, how many more count samples now."""
        ...


class Given:
    """Everything bound for some draws, and what is derived from it."""

    __slots__ = (
        "_large",
        "_plans",
        "_reach",
        "_relatives",
        "_resources",
        "_sees_start",
        "_states",
        "_waitable",
        "blocks",
        "buffers",
        "family",
        "flushes",
        "held",
        "moved",
        "named",
        "pinned",
        "reads",
        "sampled",
        "scissors",
        "targets",
        "textures",
        "viewports",
    )

    def __init__(
        self,
        states: DrawStates,
        bound: Bound,
        family: tuple[Any, ...],
        reads: tuple[Any, ...],
        buffers: tuple[Any, ...],
        scissors: int,
        viewports: int,
        blocks: tuple[Any, ...],
        kin: Given | None = None,
    ) -> None:
        """`reads`: what fragments read, `buffers`: where vertices are, `scissors`, `viewports`:
        numbers that stand for them, `blocks`: constant blocks but the first, `family`: all else.

        `kin` was given the same but for where vertices are and what textures fragments read.
        """
        self.family, self.reads, self.buffers = family, reads, buffers
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
        self._states = states.remembering(copy, None if kin is None else kin.states)
        self.held = False
        self.flushes = 0  # that had draws of it
        self._sees_start: bool | None = None
        self._resources = list(resources_of(copy))
        self._waitable: dict[Primitive, bool] = {} if kin is None else kin._waitable
        self._relatives: dict[Primitive, tuple[Any, ...]] = {}
        self._plans: dict[Primitive, Plan | None] = {}
        self._large: dict[Primitive, bool] = {}
        self._reach: dict[int, list[Reach]] = {}
        # Calls that begin elsewhere, by identity and how far from there (see `streaming`).
        self.moved: dict[tuple[int, int], tuple[DrawInfo, list[DrawInfo]]] = {}
        self.named = frozenset(map(id, _versioned(copy)))  # buffers of which there are copies
        self.textures, self.pinned = _looked_at(copy)
        self.targets = targets_of(copy.framebuffer)
        self.sampled = frozenset(
            id(view.resource)
            for stage in MERGED_STAGES
            for view in stages[stage].views
            if view is not None
        )

    @property
    def like(self) -> Given:
        """What is the same but for what buffers hold (see `earlier`)."""
        return self

    @property
    def states(self) -> DrawStates:
        """What is derived from it, mode by mode, but for textures that were written since."""
        assert self._states is not None
        return self._states

    @property
    def alone(self) -> DrawStates:
        """The same for a draw by itself, which has those textures as they were."""
        return self.states

    @property
    def versions(self) -> Mapping[int, tuple[Pages, int]]:
        """Textures that were written since, by their identity, and what they were."""
        return _NO_VERSIONS

    @property
    def target(self) -> FramebufferState:
        """What is drawn to."""
        return self.states.bound.framebuffer

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]:
        return self.states.bound.vertex_buffers

    def bytes_of(self, slot: int) -> npt.NDArray[np.uint8]:
        """What a vertex buffer holds."""
        buffer = self.states.bound.vertex_buffers[slot]
        assert buffer is not None
        data: npt.NDArray[np.uint8] = buffer.buffer.storage[0][0, 0]
        return data

    def block(self, stage: Stage, number: int) -> ConstantBuffer | None:
        """A constant block."""
        constants = self.states.bound.stages[stage].constants
        return constants[number] if number < len(constants) else None

    def selection(self, mode: Primitive) -> Selection | None:
        """The variants its draws run."""
        return self.states.selection(mode)

    def reach(self, buffer: Resource) -> list[Reach]:
        """What draws read of a buffer: from the first byte of vertex 0 to behind its last, and how
        many bytes further the next vertex is (0: that is all there is)."""
        found = self._reach.get(id(buffer))
        if found is None:
            found = self._reach[id(buffer)] = list(_reach(self.states.bound, buffer))
        return found

    def bind(self, row: Row) -> None:
        """Make a draw's constants those that are bound."""
        states = self.alone
        stages, joiner = states.bound.stages, states.joiner
        for stage, block in zip(MERGED_STAGES, row, strict=True):
            constants = stages[stage].constants
            if constants and constants[0] is not block:
                constants[0] = block
                joiner.rebind(stage)

    def plan(self, mode: Primitive) -> Plan | None:
        """What makes single small draws quickly, if the programs have such a way."""
        if mode not in self._plans:
            self._plans[mode] = self._make_plan(mode)
        return self._plans[mode]

    def made_plan(self, mode: Primitive) -> Plan | None:
        """The same if it was asked for before: to make one takes as long as many draws."""
        return self._plans.get(mode)

    def has_no_plan(self, mode: Primitive) -> bool:
        """Is it known that there is none?"""
        return self._plans.get(mode, self) is None

    def _make_plan(self, mode: Primitive) -> Plan | None:
        if any(self.states.bound.shaders.get(stage) for stage in _BETWEEN):
            return None
        state = self.states.of(mode)
        if state is None:
            return None
        if any(shader.reads.deciding for shader, _ in state.fixed.selection.origin):
            return None
        make: Any = getattr(state.fragment.program, "plan", None)
        plan: Plan | None = None if make is None else make(state, mode)
        return plan

    def waitable(self, mode: Primitive) -> bool:
        """Can the programs run for many draws at once, and does nobody see when they run?"""
        found = self._waitable.get(mode)
        if found is None:
            found = self._waitable[mode] = self._may_wait(mode)
        return found

    def _may_wait(self, mode: Primitive) -> bool:
        bound = self.states.bound
        if bound.rasterizer.state.rasterizer_discard or any(
            bound.shaders.get(stage) for stage in _BETWEEN
        ):
            return False
        selection = self.states.selection(mode)
        return selection is not None and selection.mergeable

    def repeats_instances(self, mode: Primitive) -> bool:
        """Can draws of several instances be laid end to end?"""
        selection = self.selection(mode)
        assert selection is not None
        return not TOLD & selection.stages[Stage.VERTEX].facts.system_values

    def sees_start(self, mode: Primitive) -> bool:
        """Can the vertex shader tell where a draw begins in its buffers?"""
        if self._sees_start is None:
            state = self.states.of(mode)
            facts = None if state is None else state.fixed.selection.stages[Stage.VERTEX].facts
            self._sees_start = facts is None or not facts.system_values.isdisjoint(TOLD)
        return self._sees_start

    def relatives(self, mode: Primitive) -> tuple[Any, ...]:
        """What is the same for all with which draws of this mode can become one."""
        found = self._relatives.get(mode)
        if found is None:
            state = self.states.of(mode)
            found = (self,)
            if state is not None and state.fixed.engine.deals:
                program = state.fragment.program
                # Selections are told by identity; those of this state are kept with it.
                same: tuple[Any, ...]
                same = self.family, id(state.fixed.selection), self.large_blocks(mode)
                if not hasattr(program, "fill"):
                    if state.fixed.raster.viewports is not None:  # primitives choose theirs
                        same = *same, self.scissors, self.viewports
                    elif state.fixed.engine.state.depth_clamp is not None:  # to a viewport's
                        same = *same, self.viewports
                    found = same
                elif hasattr(program, "fill_together"):
                    found = *same, self.scissors, self.viewports
            self._relatives[mode] = found
        return found

    def large_blocks(self, mode: Primitive) -> Any:
        """Constant blocks, if so much of them is read that draws should not have rows of them."""
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
    def alive(self) -> bool:
        """All resources it names are still there."""
        for resource in self._resources:  # noqa: SIM110 - at every draw: `all` takes thrice as long
            if not resource.refcount:
                return False
        return True

    def hold(self) -> None:
        """Draws wait: what they were given must stay."""
        if not self.held:
            self.held = True
            for resource in self._resources:
                resource.ref()

    def release(self) -> None:
        """They wait no longer; constants of the last one are not kept."""
        if self.held:
            self.held = False
            states = self.alone
            for stage in MERGED_STAGES:
                constants = states.bound.stages[stage].constants
                if constants and constants[0] is not None:
                    constants[0] = None
                    states.joiner.release(stage)
            for resource in self._resources:
                resource.unref()


class Memory:
    """The states draws were given lately."""

    __slots__ = (
        "_crowded",
        "_fixed",
        "_found",
        "_kin",
        "_limit",
        "_next",
        "_numbers",
        "_scissors",
        "_stages",
        "_states",
        "_viewports",
    )

    def __init__(self, states: DrawStates) -> None:
        self._states = states
        self._found: dict[tuple[Any, ...], Given] = {}
        self._kin: dict[tuple[Any, ...], Given] = {}  # of those, by all but where vertices are
        self._limit = _MOST
        self._crowded = _FEW
        self._numbers: dict[Hashable, int] = {}
        self._next = itertools.count()
        self._fixed = _Part()
        # The numbers of those that are bound, as far as `_fixed` knows.
        self._scissors = self._viewports = -1
        self._stages = [(states.bound.stages[stage], _Part()) for stage in MERGED_STAGES]

    def given(self) -> Given:
        """What is bound now."""
        bound = self._states.bound
        family = self._family(bound)
        reads = self._stages[1][1].key
        buffers = tuple(
            [
                None if b is None else (id(b.buffer), b.offset, b.stride)
                for b in bound.vertex_buffers
            ]
        )
        windows = self._scissors, self._viewports
        blocks = tuple([part.blocks for _, part in self._stages])
        key = family, reads, buffers, windows, blocks
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= self._limit:
                self.tidy(0)
                self._limit = max(_MOST, 2 * len(self._found))  # those that are held stay
            bound_blocks = [[key is None for key in blocks_] for blocks_ in blocks]
            family = (family, *[buffer is None for buffer in buffers], *map(tuple, bound_blocks))
            fragment = bound.shaders.get(Stage.FRAGMENT)
            related = family, windows, None if fragment is None else sampler_masks(bound, fragment)
            kin = self._kin.get(related)
            found = Given(self._states, bound, family, reads, buffers, *windows, blocks, kin)
            self._found[key] = self._kin[related] = found
        return found

    def _family(self, bound: Bound) -> tuple[Any, ...]:
        """What tells states apart, but for vertex buffers, windows and what fragments read.

        Objects count by identity: a copy keeps those it names.
        """
        shaders, fixed = bound.shaders, self._fixed
        if fixed.revision != bound.revision:
            fixed.revision, fixed.key = bound.revision, self._key_of_parameters(bound)
            self._scissors = self._number(bound.scissors)
            self._viewports = self._number(bound.viewports)
        (vertex, of_vertex), (fragment, of_fragment) = self._stages
        if of_vertex.revision != vertex.revision:
            of_vertex.know(vertex)
        if of_fragment.revision != fragment.revision:
            of_fragment.know(fragment)
        return (
            id(bound.blend),
            id(bound.rasterizer),
            id(bound.depth_stencil_alpha),
            id(bound.elements),
            id(shaders.get(Stage.VERTEX)),
            id(shaders.get(Stage.FRAGMENT)),
            bound.counting_samples,
            fixed.key,
            of_vertex.key,
        )

    def _key_of_parameters(self, bound: Bound) -> tuple[Any, ...]:
        """What is not a state object: by value, for programs set the same ones in every frame.

        Nothing is remembered of draws that are captured (`DrawQueue` does not ask).
        """
        return (
            self._number(bound.framebuffer),
            self._number(bound.clip_planes),
            self._number(bound.polygon_stipple),
            bound.blend_color,
            bound.stencil_ref,
            bound.sample_mask,
            bound.min_samples,
            bound.sample_locations,
            *[id(bound.shaders.get(stage)) for stage in _BETWEEN],
        )

    def _number(self, value: Hashable) -> int:
        """A number that stands for a value, quicker to compare; never used for another one."""
        number = self._numbers.get(value)
        if number is None:
            if len(self._numbers) >= _MOST:
                self._numbers.clear()
            number = self._numbers[value] = next(self._next)
        return number

    def tidy(self, most: int = _MOST) -> None:
        """Forget what names resources that are gone, and if there are too many, all but `most`.

        Looking at all of them is put off until there are twice as many as were left last time.
        """
        if most and len(self._found) < self._crowded:
            return
        kept = {k: g for k, g in self._found.items() if g.held or g.alive}
        if len(kept) > most:
            kept = {k: g for k, g in kept.items() if g.held}
        if len(kept) < len(self._found):
            self._kin.clear()  # keys hold numbers of objects that may be gone
        self._found = kept
        self._crowded = max(_FEW, 2 * len(kept))

    def clear(self) -> None:
        """A shader is gone, or the context."""
        self._found.clear()
        self._kin.clear()


def targets_of(framebuffer: FramebufferState) -> frozenset[int]:
    """What is drawn to, by identity."""
    surfaces = (*framebuffer.cbufs, framebuffer.zsbuf)
    return frozenset(id(surface.resource) for surface in surfaces if surface is not None)


def resources_of(bound: Bound) -> Iterator[Resource]:
    """Every resource that draws with the vertex and fragment stage may read or write."""
    for surface in (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf):
        if surface is not None:
            yield surface.resource
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in MERGED_STAGES:
        bindings = bound.stages[stage]
        for view in bindings.views:
            if view is not None:
                yield view.resource
        for block in bindings.constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer
        for image in bindings.images:
            if image is not None:
                yield image.resource
        for storage in bindings.buffers:
            if storage is not None:
                yield storage.buffer


def _versioned(bound: Bound) -> Iterator[Resource]:
    """The buffers whose contents may be put in their place: of vertices and constants."""
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in MERGED_STAGES:
        for block in bound.stages[stage].constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer


def _looked_at(bound: Bound) -> tuple[frozenset[int], frozenset[int]]:
    """The resources that are reached in any other way: textures of which versions can be kept, and
    those of which they cannot.
    """
    sampled: set[int] = set()
    others = set(targets_of(bound.framebuffer))
    for stage in MERGED_STAGES:
        bindings, shader = bound.stages[stage], bound.shaders.get(stage)
        layerable = _layerable(shader)
        for index, view in enumerate(bindings.views):
            if view is not None:
                keeps = index in layerable and may_have_versions(view, bindings.sampler(index))
                (sampled if keeps else others).add(id(view.resource))
        for image in bindings.images:
            if image is not None:
                others.add(id(image.resource))
        for storage in bindings.buffers:
            if storage is not None:
                others.add(id(storage.buffer))
    return frozenset(sampled - others), frozenset(others)


def _layerable(shader: DriverShader | None) -> Sequence[int]:
    """The textures that a shader may look at as many draws see them."""
    if shader is None or not shader.compiler.layers_textures:
        return ()
    return shader.reads.layerable


def _reach(bound: Bound, buffer: Resource) -> Iterator[Reach]:
    """See `Given.reach`."""
    for slot, each in enumerate(bound.vertex_buffers):
        if each is None or each.buffer is not buffer:
            continue
        for element in bound.elements.state:
            if element.buffer_index != slot:
                continue
            first = each.offset + element.src_offset
            if element.instance_divisor:
                yield first, buffer.desc.width, 0
            else:
                yield first, first + element.src_format.block_bytes, each.stride
    for stage in MERGED_STAGES:
        for block in bound.stages[stage].constants[1:]:
            if block is not None and block.buffer is buffer:
                yield block.offset, block.offset + len(block.data), 0


class _Part:
    """The part of a key that was found last, and for which revision of what is bound."""

    __slots__ = ("blocks", "key", "revision")

    def __init__(self) -> None:
        self.revision = -1
        self.key: tuple[Any, ...] = ()
        self.blocks: tuple[Any, ...] = ()

    def know(self, bindings: StageBindings) -> None:
        """Look at what is bound to a stage; constant blocks are apart."""
        self.revision = bindings.revision
        self.key = _key_of_stage(bindings)
        self.blocks = tuple([_key_of_block(block) for block in bindings.constants[1:]])


def _key_of_block(block: ConstantBuffer | None) -> Any:
    if block is None:
        return None
    if block.buffer is None:
        return id(block)
    return id(block.buffer), block.offset, len(block.data)


def _key_of_image(image: ImageView | None) -> Any:
    """By value, as storage is: others are made whenever one is bound."""
    if image is None:
        return None
    resource, format = id(image.resource), id(image.format)
    parts = image.level, image.first_layer, image.last_layer, image.readable, image.writable
    return resource, format, *parts, image.buffer_offset, image.buffer_size


def _key_of_storage(storage: ShaderBuffer | None) -> Any:
    return None if storage is None else (id(storage.buffer), storage.offset, storage.size)


def _key_of_stage(bindings: StageBindings) -> tuple[Any, ...]:
    key: list[Any] = [*map(id, bindings.samplers), -1, *map(id, bindings.views)]
    if bindings.images or bindings.buffers:
        key += (-1, *map(_key_of_image, bindings.images), -1)
        key += map(_key_of_storage, bindings.buffers)
    key += -1, len(bindings.constants)
    return tuple(key)
