"""What is derived from capabilities is remembered while only they are switched, and no longer."""

from __future__ import annotations

from typing import Any

from gallette.state_tracker import GL, create_context

from .helpers import pixels, program, quad

BLEND, CULL, DEPTH = GL.BLEND, GL.CULL_FACE, GL.DEPTH_TEST


def scene(profile: str = "core") -> Any:
    gl = create_context(profile=profile, version=(3, 3), size=(4, 4))
    name = program(gl)
    quad(gl, name)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 0.5, 0.25, 1.0, 0.5)
    return gl


def drawn(gl: Any) -> list[int]:
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found: list[int] = pixels(gl, 4, 4)[0, 0].tolist()
    return found


def test_culling_and_depth_in_turn() -> None:
    gl = scene()
    gl.front_face(GL.CW)  # the strip faces back
    gl.depth_func(GL.NEVER)
    shown = {(): 128, (CULL,): 0, (DEPTH,): 0, (CULL, DEPTH): 0}
    for _ in range(2):
        for caps, expected in shown.items():
            for cap in (CULL, DEPTH):
                (gl.enable if cap in caps else gl.disable)(cap)
            assert drawn(gl)[0] == expected
    gl.front_face(GL.CCW)
    gl.depth_func(GL.ALWAYS)
    gl.enable(CULL)
    gl.enable(DEPTH)
    assert drawn(gl)[0] == 128
    gl.release()
