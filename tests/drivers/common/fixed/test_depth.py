"""Depth and stencil tests: the algebra against `DepthTarget` and against OpenGL's words."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.depth import depth_code, mask_word, stencil_test
from gallette.drivers.common.fixed.depth import tested as depth_and_stencil
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.output.depth import DepthTarget
from gallette.pipe.enums import CompareFunc, StencilOp, Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import StencilState, Surface
from tests.drivers.common.fixed.random_depth import (
    DEPTHS,
    LANES,
    STORED,
    faces,
    held,
    key_of,
    states,
)


def buffer(format: Format, words: np.ndarray) -> tuple[DepthTarget, np.ndarray]:
    resource = create_resource(ResourceDesc(Target.TEXTURE_2D, format, LANES, 1), ResourceLedger())
    memory = resource.storage[0]
    memory[...] = words.view(np.uint8).reshape(memory.shape)
    return DepthTarget(Surface(resource, format)), memory


@pytest.mark.parametrize("format", STORED, ids=str)
def test_codes_are_those_of_the_buffer(format: Format) -> None:
    target, _ = buffer(format, held(format, 1))
    with np.errstate(all="ignore"):
        wanted = target.codes(DEPTHS)
    (found,) = evaluate(depth_code(target.depth_bits, target.is_float), [DEPTHS])
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_buffers_hold_what_the_algebra_leaves(seed: int) -> None:
    for number, (format, state) in enumerate(states(60, seed)):
        words = held(format, number)
        target, memory = buffer(format, words)
        front = np.arange(LANES) % 3 > 0
        codes = target.codes(DEPTHS)
        if number % 2:  # equal depths, too
            codes = np.where(np.arange(LANES) % 2, codes, target.load(np.arange(LANES)))
            codes = codes.astype(np.uint32)
        passed = target.test(np.arange(LANES), codes, state, (0x35, 0xA1), front)
        key = key_of(format, state)
        wide = words.astype(np.uint32) if key.word < 32 else words
        given = [np.ones(LANES, np.bool_), wide, codes, front, *faces(state, (0x35, 0xA1))]
        ok, new, changed = evaluate(depth_and_stencil(key), [np.asarray(g) for g in given])
        wanted = np.ones(LANES, np.bool_) if passed is None else passed
        assert np.broadcast_to(ok, LANES).tolist() == wanted.tolist(), (format, state)
        left = np.where(changed, new.astype(words.dtype), words)
        stored = memory.reshape(-1).view(words.dtype)
        assert stored.tolist() == left.tolist(), (format, state)


@pytest.mark.parametrize("op", StencilOp)
def test_stencil_operations_are_those_of_the_specification(op: StencilOp) -> None:
    """Section 17.3.3: each operation on every value, where the test passes and where it fails."""
    old = np.arange(256, dtype=np.uint32)
    word = np.asarray(0x5A | mask_word(StencilState()), np.uint32)
    wanted = {
        StencilOp.KEEP: old,
        StencilOp.ZERO: 0 * old,
        StencilOp.REPLACE: 0 * old + 0x5A,
        StencilOp.INCR: np.minimum(old + 1, 255),
        StencilOp.DECR: np.maximum(old.astype(int) - 1, 0),
        StencilOp.INCR_WRAP: (old + 1) % 256,
        StencilOp.DECR_WRAP: (old.astype(int) - 1) % 256,
        StencilOp.INVERT: 255 - old,
    }[op]
    for func, place in ((CompareFunc.ALWAYS, "zpass_op"), (CompareFunc.NEVER, "fail_op")):
        face = StencilState(True, func, **{place: op})
        ok, new = evaluate(stencil_test(face, False), [old, word])
        assert bool(ok) == (func is CompareFunc.ALWAYS)
        assert np.broadcast_to(new, 256).tolist() == wanted.tolist()
    deep = np.zeros(256, np.bool_)
    face = StencilState(True, CompareFunc.ALWAYS, zfail_op=op)
    _, new = evaluate(stencil_test(face, True), [old, word, deep])
    assert np.broadcast_to(new, 256).tolist() == wanted.tolist()
