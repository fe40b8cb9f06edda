"""Which tests change what the fragments behind are tested against."""

from __future__ import annotations

import itertools

from gallette.drivers.common.output import order
from gallette.pipe.enums import StencilOp
from gallette.pipe.state import DepthStencilAlphaState, StencilState

MASKS = (0, 1, 0x80, 0xFF, 0x100)


def after(op: StencilOp, stored: int, reference: int) -> int:
    """What an operation makes of eight bits."""
    return {
        StencilOp.KEEP: stored,
        StencilOp.ZERO: 0,
        StencilOp.REPLACE: reference,
        StencilOp.INCR: min(stored + 1, 255),
        StencilOp.DECR: max(stored - 1, 0),
        StencilOp.INCR_WRAP: stored + 1 & 255,
        StencilOp.DECR_WRAP: stored - 1 & 255,
        StencilOp.INVERT: ~stored & 255,
    }[op]


def changes(face: StencilState) -> bool:
    """Is there a value that a fragment leaves as another?"""
    return face.enabled and any(
        (after(op, stored, reference) ^ stored) & face.writemask & 0xFF
        for op in (face.fail_op, face.zfail_op, face.zpass_op)
        for stored in (0, 1, 0x7F, 0x80, 0xFF)
        for reference in (0, 0xFF)
    )


def test_stencil_tests_that_write() -> None:
    """One operation of a face that is not GL_KEEP, and a bit it may write."""
    off = StencilState()
    count = 0
    for enabled, mask, op in itertools.product((False, True), MASKS, StencilOp):
        for place in ("fail_op", "zfail_op", "zpass_op"):
            face = StencilState(enabled=enabled, writemask=mask, **{place: op})
            for faces in ((face, off), (off, face), (face, face)):
                tests = DepthStencilAlphaState(stencil=faces)
                assert order.tests_write(tests, False, True) is changes(face), faces
                assert order.tests_write(tests, False, False) is False
                count += changes(face)
    assert count == 3 * 3 * 3 * 7


def test_depth_tests_that_write() -> None:
    for written, looked_at in itertools.product((False, True), repeat=2):
        tests = DepthStencilAlphaState(depth_enabled=True, depth_writemask=written)
        assert order.tests_write(tests, looked_at, False) is (written and looked_at)
