"""Machine code clips triangles of small draws into the pieces that the shared parts make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.jit import draw_plan, rasterization
from gallette.drivers.jit.draw_plan import DrawPlan
from gallette.state_tracker import GL
from tests.jit.whole_pictures import FRAGMENT, SIZE, VERTEX, target

STATES: dict[str, Callable[[Any], None]] = {
    "plain": lambda gl: None,
    "zero to one": lambda gl: gl.clip_control(GL.LOWER_LEFT, GL.ZERO_TO_ONE),
    "clamped": lambda gl: gl.enable(GL.DEPTH_CLAMP),
}


def corners(seed: int, spread: float) -> npt.NDArray[np.float32]:
    """Triangles of which many cross planes, have corners on them, or are nowhere."""
    rng = np.random.default_rng(seed)
    clip = rng.uniform(-spread, spread, (240, 4))
    clip[:, 2:] = rng.uniform((-1.2, -0.3), 1.5, (240, 2))
    clip = np.where(rng.random((240, 4)) < 0.15, np.round(clip), clip)
    clip = np.where(rng.random((240, 4)) < 0.01, np.nan, clip)
    return np.concatenate((clip, rng.uniform(0, 1, (240, 3))), axis=1).astype(np.float32)


def picture(driver: str, state: str, data: npt.NDArray[np.float32]) -> tuple[bytes, list[int]]:
    """What small draws leave, and how many primitives went into and out of clipping."""
    gl = gallette.moderngl_context(driver, version=(4, 6))
    with moderngl.create_context(standalone=True, context=gl) as context:
        context.extra = gl
        frame = target(context)
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        buffer = context.buffer(data.tobytes())
        array = context.vertex_array(program, [(buffer, "4f 3f", "position", "value")])
        context.enable(moderngl.BLEND)
        STATES[state](gl)
        names = [GL.CLIPPING_INPUT_PRIMITIVES, GL.CLIPPING_OUTPUT_PRIMITIVES]
        queries = gl.gen_queries(2)
        for name, query in zip(names, queries, strict=True):
            gl.begin_query(name, query)
        for first in range(0, 240, 24):
            array.render(vertices=24, first=first)
        for name in names:
            gl.end_query(name)
        counted = [int(gl.get_query_objectuiv(q, GL.QUERY_RESULT)[0]) for q in queries]
        return bytes(frame.read(components=4)), counted


@pytest.mark.parametrize("spread", [1.0, 3.0, 8.0])
@pytest.mark.parametrize("state", STATES)
def test_pieces_are_equal(state: str, spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[bool] = []
    ended = DrawPlan.ended
    monkeypatch.setattr(
        DrawPlan, "ended", lambda *args: planned.append(ended(*args)) or planned[-1]
    )
    for seed in range(3):
        data = corners(seed, spread)
        wanted = picture("numpipe", state, data)
        assert len(set(wanted[0])) > 20 and len(wanted[0]) == 4 * SIZE[0] * SIZE[1]
        assert picture("jit", state, data) == wanted
        assert any(planned)
        with monkeypatch.context() as patch:
            patch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
            assert picture("jit", state, data) == wanted


@pytest.mark.parametrize("state", STATES)
def test_triangles_of_many_vertices_are_filled_a_few_at_a_time(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With those of their vertices that they use."""
    data = corners(1, 3.0)
    wanted = picture("numpipe", state, data)
    used: list[int] = []
    own = rasterization._own
    monkeypatch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
    monkeypatch.setattr(rasterization, "MOST_LANES", 20)
    monkeypatch.setattr(
        rasterization, "_own", lambda *args: used.append(own(*args)[0].count) or own(*args)
    )
    assert picture("jit", state, data) == wanted
    assert len(used) >= 10 * 24 // 3 // 5 and max(used) <= 20
