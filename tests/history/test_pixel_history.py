"""Pixel histories: they end with the framebuffer's bytes, change nothing, and say why."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.history import History, pixel_history
from gallette.piglit_subset.suite import BUNDLED, find_tests
from gallette.scenes import SCENES

moderngl = pytest.importorskip("moderngl")

PLAIN = ("lit_mesh", "transparency", "depth_prepass", "instances", "textured_quads", "gradient")


def last_picture(name: str) -> Any:
    """What the scene's last framebuffer holds when nobody watches, as [y, x, rgba] bytes."""
    window: Any = gallette.moderngl_context("numpipe")
    ctx = moderngl.create_context(standalone=True, context=window)
    list(SCENES[name].render(ctx, SCENES[name].size))
    surface = window.pipe_framebuffer.cbufs[0]
    from gallette.pipe.enums import MapFlags
    from gallette.pipe.state import Box

    state = window.pipe_framebuffer
    box = Box(0, 0, surface.first_layer, state.width, state.height, 1)
    transfer = window.pipe.transfer_map(surface.resource, surface.level, MapFlags.READ, box)
    data = np.array(transfer.data[0])
    window.pipe.transfer_unmap(transfer)
    window.release()
    return data.reshape(state.height, state.width, -1)


@pytest.mark.parametrize("name", PLAIN)
def test_a_history_ends_with_what_the_framebuffer_holds(name: str) -> None:
    picture = last_picture(name)
    height, width, _ = picture.shape
    chosen = random.Random(name)
    for _ in range(3):
        x, y = chosen.randrange(width), chosen.randrange(height)
        history = pixel_history(name, x, y)
        assert history.final["colour 0"].raw == picture[y, x].tobytes(), (x, y)
        _hangs_together(history)


def _hangs_together(history: History) -> None:
    """Every event begins where the one before it ended, and so does every fragment."""
    held: dict[str, dict[str, Any]] = {}
    for event in history.events:
        for name, stored in event.before.items():
            resource = event.attachments.get(name if name != "stencil" else "depth", "")
            known = held.get(resource, {}).get(name)
            assert known is None or known == stored
        now = dict(event.before)
        for fragment in event.fragments:
            assert fragment.before == now
            now = dict(fragment.after)
            if fragment.verdict.startswith(("discarded", "depth", "culled")):
                assert fragment.before["colour 0"] == fragment.after["colour 0"]
        if event.fragments:
            assert now == event.after
        for name, stored in event.after.items():
            resource = event.attachments.get(name if name != "stencil" else "depth", "")
            held.setdefault(resource, {})[name] = stored


def test_the_second_pass_of_a_prepass_tests_for_equality() -> None:
    history = pixel_history("depth_prepass", 120, 90)
    verdicts = [f.verdict for e in history.events for f in e.fragments]
    assert "depth test failed" in verdicts
    assert verdicts[-1] == "written"
    last = history.events[-1].fragments[-1]
    assert last.tests[-1].operands.split()[1] == "EQUAL"
    assert last.before["depth"] == last.after["depth"]


def test_bundled_tests_pass_while_they_are_observed() -> None:
    """Drawing the pixel's fragments apart changes no picture."""
    for name, path in find_tests([str(BUNDLED)], ["derivatives|discard"])[:8]:
        history = pixel_history(str(path), 1, 1)
        assert history.outcome in ("pass", "skip"), name
