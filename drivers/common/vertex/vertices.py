"""Vertices after the vertex shader: clip positions, window positions, varyings.

They are component-major float32 arrays with one column per vertex. Clipping appends columns;
primitives are arrays of column numbers, so nothing here knows about primitives.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.pipe.state import ViewportState

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Components = list[npt.NDArray[Any] | None]

_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_ZERO, _ONE = np.zeros((), _FLOAT), np.ones((), _FLOAT)
INTEGERS = frozenset({VaryingSlot.LAYER, VaryingSlot.VIEWPORT, VaryingSlot.PRIMITIVE_ID})
_DEFAULTS = (_ZERO, _ZERO, _ZERO, _ONE)


@lazy_dataclass(frozen=True)
class OwnViewports:
    """A viewport for every vertex: scale and translation, `[3, n]` each."""

    scale: Floats
    translate: Floats

    def take(self, which: Ints) -> OwnViewports:
        return OwnViewports(self.scale[:, which], self.translate[:, which])

    def followed_by(self, more: OwnViewports) -> OwnViewports:
        return OwnViewports(
            np.concatenate((self.scale, more.scale), axis=1),
            np.concatenate((self.translate, more.translate), axis=1),
        )


class VertexSet:
    """Shaded vertices. `varyings[slot]` has four components: arrays, scalars or None."""

    __slots__ = ("_window", "clip", "count", "fused", "varyings", "viewport")

    def __init__(
        self,
        count: int,
        clip: Floats,
        varyings: Mapping[int, Components],
        viewport: ViewportState | OwnViewports,
        fused: bool = True,
    ) -> None:
        """`fused`: how positions are projected to the window (see `project`)."""
        self.count = count
        self.clip = clip
        self.varyings = dict(varyings)
        self.viewport = viewport
        self.fused = fused
        self._window: Floats | None = None

    @property
    def window(self) -> Floats:
        """Window positions with 1/w, computed when first read, because captured vertices
        need none.
        """
        if self._window is None:
            with np.errstate(all="ignore"):
                self._window = project(self.clip, self.viewport, self.fused)
        return self._window

    @window.setter
    def window(self, window: Floats) -> None:
        self._window = window

    @classmethod
    def from_outputs(
        cls,
        count: int,
        outputs: Mapping[int, Components],
        viewport: ViewportState | OwnViewports,
        fused: bool = True,
    ) -> VertexSet:
        """Vertices from a shader's outputs; a position that it does not write is (0, 0, 0, 1)."""
        clip = np.empty((4, count), _FLOAT)
        position = outputs.get(VaryingSlot.POS, _DEFAULTS)
        for i in range(4):
            value = position[i]
            clip[i] = _DEFAULTS[i] if value is None else value
        return cls(count, clip, outputs, viewport, fused)

    def copy(self) -> VertexSet:
        """A copy to which a caller may append vertices; arrays are shared and never changed in
        place.
        """
        made = copy.copy(self)
        made.varyings = {slot: list(values) for slot, values in self.varyings.items()}
        return made

    def take(self, which: Ints) -> VertexSet:
        """Some of the vertices, projected anew when their window positions are read."""
        viewport = self.viewport
        if isinstance(viewport, OwnViewports):
            viewport = viewport.take(which)
        varyings = {
            slot: [value if value is None or not value.ndim else value[which] for value in values]
            for slot, values in self.varyings.items()
        }
        return VertexSet(len(which), self.clip[:, which], varyings, viewport, self.fused)

    def component(self, slot: int, component: int) -> npt.NDArray[Any]:
        """One component of a varying (default 0, 0, 0, 1 if nothing wrote it); maybe a scalar."""
        components = self.varyings.get(slot)
        value = None if components is None else components[component]
        return _DEFAULTS[component] if value is None else value

    def append(
        self,
        t: Floats,
        outside: Ints,
        inside: Ints,
        constant: Ints | None,
        flat: frozenset[int],
        linear: frozenset[int],
    ) -> int:
        """Add the vertices `outside + t (inside - outside)`; returns the first new number.

        `flat` slots are copied from the vertices `constant`; `linear` slots (noperspective) are
        interpolated in window space.
        """
        ends = self.clip.take(outside, axis=1), self.clip.take(inside, axis=1)
        clip, before = _lerp(t, *ends), self.window
        window = project(clip, self._viewport_of_new(outside), False)
        screen_t = t
        if linear:
            screen_t = _window_parameter(window, before[:, outside], before[:, inside], t)
        self._append_varyings(t, screen_t, outside, inside, constant, flat, linear)
        return self._append_places(clip, window)

    def append_on_screen(
        self, t: Floats, start: Ints, end: Ints, constant: Ints, flat: frozenset[int]
    ) -> int:
        """Add vertices between others, interpolated linearly in window space."""
        clip = _lerp(t, self.clip[:, start], self.clip[:, end])
        window = _lerp(t, self.window[:, start], self.window[:, end])
        self._viewport_of_new(start)
        self._append_varyings(t, t, start, end, constant, flat, frozenset())
        return self._append_places(clip, window)

    def _viewport_of_new(self, beside: Ints) -> ViewportState | OwnViewports:
        """The viewport of added vertices; if each vertex has its own, that of the vertex
        `beside`.
        """
        if isinstance(self.viewport, OwnViewports):
            new = self.viewport.take(beside)
            self.viewport = self.viewport.followed_by(new)
            return new
        return self.viewport

    def _append_varyings(
        self,
        t: Floats,
        screen_t: Floats,
        outside: Ints,
        inside: Ints,
        constant: Ints | None,
        flat: frozenset[int],
        linear: frozenset[int],
    ) -> None:
        # Window positions were computed before clipping; the added ones follow from `clip`.
        self.varyings.pop(VaryingSlot.POS, None)
        for slot, components in self.varyings.items():
            for i, value in enumerate(components):
                if value is None or not value.ndim:
                    continue
                if (slot in flat or slot in INTEGERS) and constant is not None:
                    new = value.take(constant)
                else:
                    raw = value if value.dtype == _FLOAT else value.view(_FLOAT)
                    at = screen_t if slot in linear else t
                    new = _lerp(at, raw.take(outside), raw.take(inside))
                    new = new if value.dtype == _FLOAT else new.view(value.dtype)
                components[i] = np.concatenate((value, new))

    def _append_places(self, clip: Floats, window: Floats) -> int:
        first = self.count
        self.window = np.concatenate((self.window, window), axis=1)
        self.clip = np.concatenate((self.clip, clip), axis=1)
        self.count += clip.shape[1]
        return first


def _lerp(t: Floats, outside: Floats, inside: Floats) -> Floats:
    step = inside - outside
    step *= t
    step += outside
    return step


def _window_parameter(new: Floats, outside: Floats, inside: Floats, t: Floats) -> Floats:
    """The parameter of the new vertices between the old ones in window space, along the longer
    axis.
    """
    span = inside[:2] - outside[:2]
    axis = (np.abs(span[1]) > np.abs(span[0])).astype(np.intp)
    lanes = np.arange(t.size)
    along = (new[axis, lanes] - outside[axis, lanes]) / span[axis, lanes]
    return np.where(np.isfinite(along), along, t).astype(np.float32, copy=False)


def project(clip: Floats, viewport: ViewportState | OwnViewports, fused: bool) -> Floats:
    """Window x, y, z and 1/w of clip positions, rounded to float32 at each step.

    As in llvmpipe, scale and translation are one multiply-add (`fused`) for outputs of vertex
    shaders, and two operations for those of other stages and of clipping, so that the bits are
    equal.
    """
    window = np.empty(clip.shape, _FLOAT)
    inverse = np.divide(_ONE, clip[3], window[3])
    own = isinstance(viewport, OwnViewports)
    scale, translate = (viewport.scale, viewport.translate) if own else _operands(viewport, fused)
    for i in range(3):
        out = np.multiply(clip[i], inverse, window[i])
        if fused:
            exact = np.multiply(out, scale[i], dtype=_DOUBLE)
            exact += translate[i]
            out[...] = exact
        else:
            np.multiply(out, scale[i], out)
            np.add(out, translate[i], out)
    return window


@lru_cache(maxsize=256)
def _operands(viewport: ViewportState, fused: bool) -> tuple[Sequence[Any], Sequence[Any]]:
    """The viewport's numbers in the form that NumPy uses without conversion."""
    scale, translate = (
        [np.array(np.float32(v), _DOUBLE if fused else _FLOAT) for v in numbers]
        for numbers in (viewport.scale, viewport.translate)
    )
    return scale, translate
