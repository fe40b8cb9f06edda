"""Every call gives the same result with draws pending as after a flush, and so do the draws.

Every function in the table of calls: once behind draws that may wait, once behind the same draws
and glFinish, and with one more draw behind it. What the call answers, the picture, and the bytes of
what it could have changed are the same; a driver that forgets to do what it put off before
something is changed or looked at is found here, whichever function does it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.edges.scenes import accepted, scene
from tests.state_tracker.edges.walk import Edge, answer
from tests.state_tracker.negative_suite import topics

SIZE = 16
_KINDS = {
    "reads": tuple(topics()),
    "fixed function": ("state", "buffers", "compatibility"),
    "into a texture": ("draws", "textures", "framebuffers"),
    "sampler2D": ("buffers", "textures"),
}


_CORNERS = np.array([-0.9, -0.8, 0.9, -0.95, -0.3, 0.9, 0.95, 0.4] * 2, np.float32)
_SHADES = np.array([0.03125, 0.0625, 0.09375, 0.015625] * 4, np.float32)
_TEXELS = np.arange(10, 74, dtype=np.uint8)


def _wiped(gl: Any) -> None:
    """The picture empty, and what is drawn with as it was, as far as the calls left it there."""
    gl.named_buffer_sub_data(1, 0, 64, _CORNERS)
    gl.named_buffer_sub_data(2, 0, 64, _SHADES)
    gl.texture_sub_image2d(1, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, _TEXELS)
    gl.blend_func(GL.ONE, GL.ONE)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    while gl.get_error():
        pass


def _draws(gl: Any) -> None:
    """Two that may wait, blended upon each other."""
    for count in (3, 4):
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, count)


def _observed(gl: Any) -> list[Any]:
    """The picture, and the bytes of buffers and textures."""
    seen: list[Any] = []
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    for format in (GL.RGBA, GL.STENCIL_INDEX):
        pixels = np.zeros(SIZE * SIZE * 4, np.uint8)
        gl.read_pixels(0, 0, SIZE, SIZE, format, GL.UNSIGNED_BYTE, pixels)
        seen.append(pixels.tobytes())
    for name in (1, 2, 3):
        seen.append(bytes(gl.get_named_buffer_sub_data(name, 0, 64)))
    texels = np.zeros(4096, np.uint8)
    gl.get_texture_image(1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels.nbytes, texels)
    seen.append(texels.tobytes())
    while gl.get_error():
        pass
    return seen


def _story(kind: str, topic: str, chosen: list[Edge], finished: bool) -> list[tuple[str, Any]]:
    gl: Any = create_context("numpipe", profile="compat", version=(4, 3), size=(SIZE, SIZE))
    scene(gl, kind)
    story = []
    for edge in chosen:
        arrays = [a[:4096].copy() if isinstance(a, np.ndarray) else a for a in edge.arguments]
        edge = replace(edge, arguments=tuple(arrays))
        _wiped(gl)
        _draws(gl)
        if finished:
            gl.finish()
        code = answer(gl, edge)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        room = [a[:64].tobytes() for a in edge.arguments if isinstance(a, np.ndarray)]
        story.append((str(edge), (code, room, _observed(gl))))
    gl.release()
    return story


@pytest.mark.parametrize(("kind", "topic"), [(k, t) for k, some in _KINDS.items() for t in some])
def test_a_call_after_a_pending_draw(kind: str, topic: str) -> None:
    chosen = accepted(topic, 0)
    waiting, done = (_story(kind, topic, chosen, finished) for finished in (False, True))
    wrong = [one[0] for one, other in zip(waiting, done, strict=True) if one != other]
    assert wrong == []
    assert len({str(story) for story in waiting}) > 10
