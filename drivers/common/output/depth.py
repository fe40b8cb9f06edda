"""Depth and stencil tests and updates on one depth-stencil buffer.

Depth is compared as codes: unsigned integers in the order of the depths. A 32-bit float depth is
its own bit pattern (depths are never negative). A `DepthTarget` holds flat views of the words that
hold depth and stencil; test and update work on arrays of distinct pixel numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.depth import mask_word, stencil_test, without_masks
from gallette.drivers.common.memory.resource import flat_texels
from gallette.pipe.enums import CompareFunc, StencilOp
from gallette.pipe.formats import Channel
from gallette.pipe.state import DepthStencilAlphaState, StencilState, Surface

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]

References = tuple[int, int] | npt.NDArray[np.uint8]

_COMPARE: dict[CompareFunc, Callable[[Array, Array], Array]] = {
    CompareFunc.LESS: np.less,
    CompareFunc.EQUAL: np.equal,
    CompareFunc.LEQUAL: np.less_equal,
    CompareFunc.GREATER: np.greater,
    CompareFunc.NOTEQUAL: np.not_equal,
    CompareFunc.GEQUAL: np.greater_equal,
}


def compare(func: CompareFunc, a: Array, b: Array) -> Array:
    """The result of `a func b`, lane by lane."""
    if func is CompareFunc.ALWAYS:
        return np.ones(np.broadcast_shapes(a.shape, b.shape), np.bool_)
    if func is CompareFunc.NEVER:
        return np.zeros(np.broadcast_shapes(a.shape, b.shape), np.bool_)
    return _COMPARE[func](a, b)


class DepthTarget:
    """A depth-stencil surface, flattened."""

    __slots__ = (
        "_depth",
        "_stencil",
        "depth_words",
        "plane",
        "resource",
        "stencil_words",
        "stride",
    )

    def __init__(self, surface: Surface, sample: int = 0) -> None:
        flat, self.stride, self.plane = flat_texels(surface, sample)
        self._depth: Channel | None = None
        self._stencil: Channel | None = None
        for channel in surface.format.channels:
            if channel.name == "Z":
                self._depth = channel
            elif channel.name == "S":
                self._stencil = channel
        self.resource = surface.resource
        if surface.format.block_bytes == 8:  # Z32F, then S8X24
            words = flat.view(np.uint32).reshape(-1, 2)
            self.depth_words, self.stencil_words = words[:, 0], words[:, 1]
            if self._stencil is not None:
                self._stencil = Channel("S", 8, 0, "UINT")
        else:
            self.depth_words = self.stencil_words = flat

    @property
    def channels(self) -> tuple[Channel | None, Channel | None]:
        """The depth and stencil channels of the format's words."""
        return self._depth, self._stencil

    @property
    def has_depth(self) -> bool:
        return self._depth is not None

    @property
    def has_stencil(self) -> bool:
        return self._stencil is not None

    @property
    def is_float(self) -> bool:
        return self._depth is not None and self._depth.type == "FLOAT"

    @property
    def depth_bits(self) -> int:
        return self._depth.bits if self._depth is not None else 0

    def codes(self, z: npt.NDArray[np.float32]) -> Codes:
        """Depth values as codes, clamped to 0..1."""
        assert self._depth is not None
        clamped = minmax.saturated(z)
        if self.is_float:
            clamped = clamped + np.float32(0.0)  # a negative zero would be the largest code
            return clamped.view(np.uint32)
        bits = self._depth.bits
        if bits == 32:
            return np.rint(clamped.astype(np.float64) * 4294967295.0).astype(np.uint32)
        scaled = clamped * np.float32((1 << bits) - 1)
        return np.rint(scaled, out=scaled).astype(np.uint32)

    # -- depth -----------------------------------------------------------------------------------

    @property
    def _fills_word(self) -> bool:
        assert self._depth is not None
        return bool(self._depth.bits == self.depth_words.dtype.itemsize * 8)

    def load(self, pixel: Array) -> Codes:
        """The codes stored at some pixels."""
        assert self._depth is not None
        return self.of_words(_at(self.depth_words, pixel))

    def of_words(self, words: Array) -> Codes:
        """The codes in words of the buffer."""
        assert self._depth is not None
        if self._fills_word:
            return words
        if self._depth.shift:
            words = words >> np.uint32(self._depth.shift)
        return np.asarray(words & np.uint32((1 << self._depth.bits) - 1))

    def store(self, pixel: Array, codes: Codes) -> None:
        """Store the depths of some pixels (the last one of repeated pixels), keeping stencil."""
        assert self._depth is not None
        if self._fills_word:
            self.depth_words[pixel] = codes
            return
        self.depth_words[pixel] = self._with_depth(pixel, codes)

    def store_extreme(self, pixel: Array, codes: Codes, least: bool) -> None:
        """Store the least (or greatest) code of each pixel, if it is beyond the stored one."""
        assert self._depth is not None
        update = np.minimum if least else np.maximum
        if self._fills_word:
            update.at(self.depth_words, pixel, codes.astype(self.depth_words.dtype, copy=False))
            return
        # The other bits of a word are equal for all fragments of a pixel, so whole words can be
        # compared.
        update.at(self.depth_words, pixel, self._with_depth(pixel, codes))

    def _with_depth(self, pixel: Array, codes: Codes) -> Array:
        """The words of some pixels with these depths."""
        assert self._depth is not None
        mask = np.uint32(((1 << self._depth.bits) - 1) << self._depth.shift)
        words: Array = _at(self.depth_words, pixel) & ~mask
        words |= codes << np.uint32(self._depth.shift)
        return words

    # -- stencil ---------------------------------------------------------------------------------

    def load_stencil(self, pixel: Array) -> Array:
        """The stencil values stored at some pixels."""
        return self._stencils(_at(self.stencil_words, pixel))

    def _stencils(self, words: Array) -> Array:
        """The stencil values in words of the buffer, in the type of the words."""
        assert self._stencil is not None
        shift, bits = self._stencil.shift, words.dtype.itemsize * 8
        if shift:
            words = words >> words.dtype.type(shift)
        return words if shift + 8 == bits else words & words.dtype.type(0xFF)

    def _store_stencil(self, pixel: Array, values: Array, words: Array | None = None) -> None:
        """Store stencil values. `words`: what the buffer holds there, if that is known."""
        assert self._stencil is not None
        shift, held = self._stencil.shift, self.stencil_words
        if held.dtype.itemsize == 1:
            self.stencil_words[pixel] = values
            return
        if words is None:
            words = _at(held, pixel)
        words = words & ~np.uint32(0xFF << shift)
        words |= values.astype(np.uint32, copy=False) << np.uint32(shift)
        self.stencil_words[pixel] = words

    def test(
        self,
        pixel: Array,
        codes: Codes | None,
        state: DepthStencilAlphaState,
        references: References,
        front: Bools | None,
    ) -> Bools | None:
        """Run all tests with their updates, on distinct pixels; None if all lanes pass.

        `front` says which lanes face front (None: all do); `references` are the stencil reference
        values: front and back, or what the shader exported for each lane.
        """
        if not (state.depth_bounds_test and self.has_depth):
            return self._test(pixel, codes, state, references, front)
        inside = self._within_bounds(pixel, state)
        which = np.flatnonzero(inside)
        if len(which):
            passed = self._test(
                pixel[which],
                None if codes is None else codes[which],
                state,
                references[which] if isinstance(references, np.ndarray) else references,
                None if front is None else front[which],
            )
            if passed is not None:
                inside[which] = passed
        return inside

    def _within_bounds(self, pixel: Array, state: DepthStencilAlphaState) -> Bools:
        """Which pixels store a depth inside the depth bounds."""
        stored = self.load(pixel)
        if self.is_float:
            held: Array = stored.view(np.float32)
        else:
            held = stored / np.float64((1 << self.depth_bits) - 1)
        return np.asarray((held >= state.depth_bounds_min) & (held <= state.depth_bounds_max))

    def _test(
        self,
        pixel: Array,
        codes: Codes | None,
        state: DepthStencilAlphaState,
        references: References,
        front: Bools | None,
    ) -> Bools | None:
        """Run the stencil and depth tests."""
        in_depth: Bools | None = None
        tests_depth = state.depth_enabled and codes is not None and self.has_depth
        if tests_depth:
            assert codes is not None
            in_depth = self._depth_test(pixel, codes, state)
        result = in_depth
        faces = self._faces(state, front, len(pixel))
        if faces:
            passed = self._stencil_test(pixel, faces, references, in_depth)
            if passed is not None:
                result = passed if in_depth is None else passed & in_depth
        if tests_depth and state.depth_writemask:
            assert codes is not None
            if result is None:
                self.store(pixel, codes)
            else:
                self.store(pixel.compress(result), codes.compress(result))
        return result

    def _faces(
        self, state: DepthStencilAlphaState, front: Bools | None, count: int
    ) -> list[tuple[int, StencilState, Any]]:
        """The stencil states in use, each with the lanes it applies to."""
        if not (state.stencil[0].enabled and self.has_stencil):
            return []
        if not state.stencil[1].enabled or front is None or front.all():
            return [(0, state.stencil[0], slice(None))]
        return [
            (0, state.stencil[0], np.flatnonzero(front)),
            (1, state.stencil[1], np.flatnonzero(~front)),
        ]

    def _depth_test(self, pixel: Array, codes: Codes, state: DepthStencilAlphaState) -> Bools:
        if state.depth_func is CompareFunc.ALWAYS:
            return np.ones(len(pixel), np.bool_)
        return compare(state.depth_func, codes, self.load(pixel))

    def _stencil_test(
        self,
        pixel: Array,
        faces: list[tuple[int, StencilState, Any]],
        references: References,
        in_depth: Bools | None,
    ) -> Bools | None:
        """Run the stencil test and store the new values; None if all lanes pass."""
        words = _at(self.stencil_words, pixel)
        old = self._stencils(words).astype(np.uint32, copy=False)
        passed: Array = np.ones(len(pixel), np.bool_)
        new = old
        for index, face, lanes in faces:
            given = [old[lanes], _reference(references, index, lanes) | np.uint32(mask_word(face))]
            if in_depth is not None:
                given.append(in_depth[lanes])
            found = evaluate(stencil_test(without_masks(face), in_depth is not None), given)
            if len(faces) == 1:
                passed, new = found
            else:
                new = old.copy() if new is old else new
                passed[lanes], new[lanes] = found
        if any(updates_stencil(face) for _, face, _ in faces):
            self._store_stencil(pixel, new, words)
        if passed.ndim:
            return passed
        return None if passed else np.zeros(len(pixel), np.bool_)


def updates_stencil(face: StencilState) -> bool:
    """Whether a test with this state may change the stored value."""
    keeps = face.fail_op is face.zfail_op is face.zpass_op is StencilOp.KEEP
    return face.enabled and bool(face.writemask & 0xFF) and not keeps


def _at(words: Array, pixel: Array) -> Array:
    """Words at some pixels."""
    found: Array = words.take(pixel) if words.flags.c_contiguous else words[pixel]
    return found


def held(target: DepthTarget | None, pixel: Array) -> list[Array]:
    """Depth and stencil of some pixels, as shaders read them; zero for a missing channel."""
    depth: Array = np.zeros((), np.float32)
    stencil: Array = np.zeros((), np.int32)
    if target is not None and target.has_depth:
        codes = target.load(pixel)
        if target.is_float:
            depth = codes.view(np.float32)
        else:
            depth = (codes / float((1 << target.depth_bits) - 1)).astype(np.float32)
    if target is not None and target.has_stencil:
        stencil = target.load_stencil(pixel).astype(np.int32)
    return [depth, stencil]


def _reference(references: References, index: int, lanes: Any) -> Array:
    """The stencil reference values of a face's lanes."""
    if isinstance(references, np.ndarray):
        return np.asarray(references[lanes], np.uint32)
    return np.asarray(references[index] & 0xFF, np.uint32)
