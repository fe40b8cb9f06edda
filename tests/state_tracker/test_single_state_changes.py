"""Every setting by itself: it shows in the picture, at once, in waiting draws and on the way back,
and what it shows is what the native GL shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.dirty import Dirty
from tests.conftest import native_context
from tests.state_tracker.settings import Call, Row, draw, make, picture, rows, wipe

ROWS = rows()
SCENES = sorted({row.scene for row in ROWS})
# Objects whose state no attribute stack keeps: a context for each row.
_OBJECTS = ("program",)


def apply(gl: Any, calls: tuple[Call, ...]) -> None:
    for method, arguments in calls:
        getattr(gl, method)(*arguments)


def shown(gl: Any, row: Row) -> Any:
    wipe(gl, row.scene)
    draw(gl, row.scene)
    return picture(gl, row.scene)


def prepared(create: Callable[[], Any], scene: str) -> Iterator[tuple[Any, Row]]:
    """Each row of a scene with a context in which its setup and what is before are set."""
    gl = None
    for row in ROWS:
        if row.scene != scene:
            continue
        if gl is None or scene in _OBJECTS:
            if gl is not None:
                gl.release()
            gl = create()
            gl.make_current()
            make(gl, scene)
        gl.push_attrib(GL.ALL_ATTRIB_BITS)
        apply(gl, row.setup)
        apply(gl, row.before)
        yield gl, row
        apply(gl, row.before)
        gl.bind_sampler(0, 0)  # what no attribute group has, or Mesa's has not
        gl.disable(GL.SAMPLE_MASK)
        while gl.get_integerv(GL.ATTRIB_STACK_DEPTH)[0]:
            gl.pop_attrib()
        for mode in ("PROJECTION", "TEXTURE", "MODELVIEW"):
            gl.matrix_mode(getattr(GL, mode))
            while gl.get_integerv(getattr(GL, f"{mode}_STACK_DEPTH"))[0] > 1:
                gl.pop_matrix()
            gl.load_identity()
        assert gl.get_error() == 0, row.text
    assert gl is not None
    gl.release()


def ours() -> Any:
    return create_context("numpipe", profile="compat", version=(4, 3))


def theirs() -> Any:
    return native_context(profile="compat", version=(4, 5))


def waiting(gl: Any, row: Row, *, finished: bool) -> Any:
    """Two draws, one upon the other, the setting changed between; does the first wait?"""
    wipe(gl, row.scene)
    draw(gl, row.scene)
    if finished:
        gl.finish()
    apply(gl, row.after)
    draw(gl, row.scene)
    return picture(gl, row.scene)


@pytest.mark.parametrize("scene", SCENES)
def test_a_setting_is_not_forgotten(scene: str) -> None:
    wrong = []
    for gl, row in prepared(ours, scene):
        before = shown(gl, row)
        apply(gl, row.after)
        after = shown(gl, row)
        gl.dirty = Dirty.ALL
        pictures = {"at once": (after, shown(gl, row))}
        apply(gl, row.before)
        pictures["on the way back"] = (before, shown(gl, row))
        first = waiting(gl, row, finished=False)
        apply(gl, row.before)
        pictures["while a draw waits"] = (first, waiting(gl, row, finished=True))
        wrong += [f"{when}: {row.text}" for when, (a, b) in pictures.items() if (a != b).any()]
        if (before == after).all():
            wrong.append(f"nothing to be seen: {row.text}")
    assert wrong == []


@pytest.mark.native
@pytest.mark.parametrize("scene", SCENES)
def test_a_setting_does_what_it_does_on_the_native_gl(scene: str) -> None:
    wrong = []
    for (mine, row), (other, _) in zip(prepared(ours, scene), prepared(theirs, scene), strict=True):
        for calls in ((), row.after) if "ALPHA_TO_COVERAGE" not in row.text else ():  # as it likes
            pair = []
            for gl in (mine, other):
                gl.make_current()
                apply(gl, calls)
                pair.append(shown(gl, row))
            off = np.abs(pair[0] - pair[1])
            if (off[..., :4] > 2).any() or (off[..., 4] > 0).any():
                when = "after" if calls else "before"
                wrong.append(f"{(off.max(axis=2) > 2).sum()} pixels {when}: {row.text}")
    assert wrong == []
