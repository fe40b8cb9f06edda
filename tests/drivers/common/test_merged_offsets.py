"""Draws at other offsets of the same buffers are merged, with the same pixels."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.common.draw import execution, queue
from gallette.drivers.common.draw.merging import MergedDraws

VERTEX = """
#version 330
in vec2 position; in vec3 paint; uniform vec2 offset; uniform float depth;
flat out vec3 c;
void main() {
    gl_Position = vec4(position + offset, depth, 1.0);
    c = paint + float(gl_VertexID % 5) * 0.1;
}
"""
FRAGMENT = "#version 330\nflat in vec3 c; out vec4 o; void main() { o = vec4(c, 0.6); }"


def picture(driver: str, several: bool, uniforms: bool) -> npt.NDArray[Any]:
    gl = gallette.moderngl_context(driver)
    with moderngl.create_context(standalone=True, context=gl) as context:
        frame = context.framebuffer([context.texture((64, 64), 4)])
        frame.use()
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        rng = np.random.default_rng(4)
        arrays = []
        for _ in range(2 if several else 1):
            table = np.concatenate((rng.uniform(-1, 1, (100, 2)), rng.uniform(0, 0.6, (100, 3))), 1)
            buffer = context.buffer(table.astype("f4").tobytes())
            arrays.append(context.vertex_array(program, [(buffer, "2f 3f", "position", "paint")]))
        context.enable(moderngl.BLEND)
        for k in range(60):
            if uniforms:
                program["offset"] = rng.uniform(-0.2, 0.2, 2)
            # Some begin near the buffer's end, or behind it.
            first = 3 * (k % 9) if k % 7 else 95 + k
            arrays[k % len(arrays)].render(moderngl.TRIANGLES, vertices=6, first=first)
        return np.frombuffer(frame.read(components=4), np.uint8)


@pytest.mark.parametrize("uniforms", [False, True])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("driver", ["numpipe"])
def test_starts(
    driver: str, several: bool, uniforms: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    run = execution.draw_many

    def runs_many(many: MergedDraws, number: int = 0) -> None:
        runs.append(len(many.entries))
        run(many, number)

    monkeypatch.setattr(execution, "draw_many", runs_many)
    have = picture(driver, several, uniforms)
    if not several:
        assert runs == [60]
    monkeypatch.setattr(queue, "SMALL", 0)  # one draw after the other
    wanted = picture("numpipe", several, uniforms)
    assert len(np.unique(wanted)) > 20
    assert np.array_equal(have, wanted)
