"""The snapshots of the last draws, found by bound state.

A look-up is cheap: the parts of the bound state have revisions, and the key of a part is computed
only after its revision has changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

from gallette.compiler.nir.ir.modes import BETWEEN, Stage
from gallette.drivers.common.bound import (
    MERGED_STAGES,
    PARAMETERS,
    Bound,
    ConstantBuffer,
    StageBindings,
)
from gallette.pipe.state import ImageView, ShaderBuffer

from .draw_states import DrawStates
from .programs import sampler_masks
from .snapshot import Snapshot

_PARAMETERS = [(name, row.large) for name, row in PARAMETERS.items() if not row.window]
_MOST = 1024
_FEW = 64
_MOST_ALIKE = 8
"""So many snapshots of one state, with textures of different formats, have plans for others."""


class SnapshotCache:
    """The snapshots of a context's last draws."""

    __slots__ = (
        "_alike",
        "_bases",
        "_crowded",
        "_fixed",
        "_found",
        "_last",
        "_next",
        "_numbers",
        "_scissors",
        "_stages",
        "_states",
        "_viewports",
    )

    def __init__(self, states: DrawStates) -> None:
        self._states = states
        self._found: dict[tuple[Any, ...], Snapshot] = {}
        self._bases: dict[tuple[Any, ...], Snapshot] = {}  # of those, by all but where vertices are
        # The last ones by all but vertex buffers and textures.
        self._alike: dict[tuple[Any, ...], list[Snapshot]] = {}
        self._crowded = _FEW
        self._numbers: dict[Hashable, int] = {}
        self._last: dict[str, tuple[Hashable, int]] = {}  # the last value of each parameter
        self._next = itertools.count()
        self._fixed = _Part()
        # The numbers of those that are bound, as far as `_fixed` knows.
        self._scissors = self._viewports = -1
        self._stages = [(states.bound.stages[stage], _Part()) for stage in MERGED_STAGES]

    def current(self) -> Snapshot:
        """The snapshot of the current bound state."""
        bound = self._states.bound
        state_key = self._state_key(bound)
        reads = self._stages[1][1].key
        buffers = tuple(
            [
                None if b is None else (id(b.buffer), b.offset, b.stride)
                for b in bound.vertex_buffers
            ]
        )
        windows = self._scissors, self._viewports
        blocks = tuple([part.blocks for _, part in self._stages])
        key = state_key, reads, buffers, windows, blocks
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= self._crowded:
                self._tidy()
            bound_blocks = [[key is None for key in blocks_] for blocks_ in blocks]
            there = [buffer is None for buffer in buffers]
            state_key = (state_key, *there, *map(tuple, bound_blocks))
            fragment = bound.shaders.get(Stage.FRAGMENT)
            masks = None if fragment is None else sampler_masks(bound, fragment)
            related = state_key, windows, masks
            base = self._bases.get(related)
            found = Snapshot(self._states, bound, state_key, reads, buffers, *windows, blocks, base)
            memory = _key_of_memory(bound.stages[Stage.FRAGMENT])
            others = key[0], masks, memory, windows, blocks
            alike = self._alike.setdefault(others, [])
            other = next(filter(found.succeed, alike), None)
            if other is not None:
                alike.remove(other)
            self._alike[others] = [*alike[-_MOST_ALIKE:], found]
            self._found[key] = self._bases[related] = found
        return found

    def _state_key(self, bound: Bound) -> tuple[Any, ...]:
        """The key of states, without vertex buffers, windows and resources that fragments read.

        Objects are compared by identity; a snapshot holds references to them.
        """
        shaders, fixed = bound.shaders, self._fixed
        if fixed.revision != bound.revision:
            fixed.revision, fixed.key = bound.revision, self._key_of_parameters(bound)
            self._scissors = self._number_of("scissors", _short(bound.scissors))
            self._viewports = self._number_of("viewports", _short(bound.viewports))
        (vertex, of_vertex), (fragment, of_fragment) = self._stages
        if of_vertex.revision != vertex.revision:
            of_vertex.update(vertex)
        if of_fragment.revision != fragment.revision:
            of_fragment.update(fragment)
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
        """The key of parameters that are not state objects, by value, because applications set the
        same ones in every frame.

        Draws that are captured have no snapshot (see `DrawQueue`).
        """
        parameters = [
            self._number_of(name, getattr(bound, name)) if large else getattr(bound, name)
            for name, large in _PARAMETERS
        ]
        return (*parameters, *[id(bound.shaders.get(stage)) for stage in BETWEEN])

    def _number_of(self, name: str, value: Hashable) -> int:
        """A number that stands for the value of a parameter, faster to compare; it is never used
        for another value.
        """
        last, number = self._last.get(name, (None, None))
        if last is value and number is not None:
            return number
        number = self._numbers.get(value)
        if number is None:
            if len(self._numbers) >= _MOST:
                self._numbers.clear()
            number = self._numbers[value] = next(self._next)
        self._last[name] = value, number
        return number

    def _tidy(self) -> None:
        """Forget snapshots of deleted resources, and if too many are left, all but those that
        pending draws hold; not again before there are twice as many as are left now.

        New ones may still succeed the forgotten ones, until the next time: many programs give
        their buffers new storages in each frame.
        """
        kept = {k: each for k, each in self._found.items() if each.held or each.alive}
        if len(kept) >= _MOST:
            kept = {k: each for k, each in kept.items() if each.held}
        if len(kept) < len(self._found):
            recent = set(self._found.values())
            self._bases = {k: each for k, each in self._bases.items() if each in recent}
            left = {k: list(filter(recent.__contains__, s)) for k, s in self._alike.items()}
            self._alike = {k: each for k, each in left.items() if each}
        self._found = kept
        self._crowded = max(_FEW, 2 * len(kept))


def _short(windows: tuple[Any, ...]) -> Hashable:
    """Viewports or scissors; only one if all are equal, which is compared faster."""
    equal = windows.count(windows[0]) == len(windows) if windows else False
    return windows[0] if equal else windows


class _Part:
    """The key of a part of the bound state, and the revision that it was made for."""

    __slots__ = ("blocks", "key", "revision")

    def __init__(self) -> None:
        self.revision = -1
        self.key: tuple[Any, ...] = ()
        self.blocks: tuple[Any, ...] = ()

    def update(self, bindings: StageBindings) -> None:
        """Update the key from the stage's bindings; constant blocks have a key of their own."""
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
    """The key of an image: its fields, since each glBindImageTexture makes a new object."""
    if image is None:
        return None
    resource, format = id(image.resource), id(image.format)
    parts = image.level, image.first_layer, image.last_layer, image.readable, image.writable
    return resource, format, *parts, image.buffer_offset, image.buffer_size


def _key_of_storage(storage: ShaderBuffer | None) -> Any:
    return None if storage is None else (id(storage.buffer), storage.offset, storage.size)


def _key_of_stage(bindings: StageBindings) -> tuple[Any, ...]:
    textures = *map(id, bindings.samplers), -1, *map(id, bindings.views)
    return *textures, *_key_of_memory(bindings), -1, len(bindings.constants)


def _key_of_memory(bindings: StageBindings) -> tuple[Any, ...]:
    if not (bindings.images or bindings.buffers):
        return ()
    images, buffers = map(_key_of_image, bindings.images), map(_key_of_storage, bindings.buffers)
    return -1, *images, -1, *buffers
