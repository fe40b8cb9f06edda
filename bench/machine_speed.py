"""How much slower the simulated machines are: `python -m bench.machine_speed [--frames N]`.

Frames of a Mandelbrot set (256x256) and of a lit mesh (2,048 triangles) on each driver in turn, in
one process; the least processor time of each, and its ratio to numpipe's. The first frame of a
driver compiles its shaders and is not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from gallette.benchmarks import BENCHMARKS
from gallette.scenes import lit_mesh
from gallette.scenes.common import gl_matrix, look_at, perspective, torus, upload
from gallette.state_tracker.context import Context

__all__ = ["main"]

Frame = Callable[[], None]
SIZE = 256, 256


def _mesh(ctx: Any) -> Frame:
    program = ctx.program(lit_mesh.GLSL["vertex"], lit_mesh.GLSL["fragment"])
    eye = (1.2, 1.5, 1.6)
    program["matrix"].write(gl_matrix(perspective(45, 1.0, 0.1, 10) @ look_at(eye)))
    program["lamp"].value = (2.0, 3.0, 1.0)
    program["eye"].value = eye
    mesh = upload(ctx, program, "3f 3f 2f", torus(64, 16), "position normal uv", ctx.TRIANGLES)
    ctx.enable(ctx.DEPTH_TEST)
    return lambda: mesh.render()


def _mandelbrot(ctx: Any) -> Frame:
    return BENCHMARKS["mandelbrot"].prepare(ctx, SIZE)


SCENES: dict[str, Callable[[Any], Frame]] = {"mandelbrot": _mandelbrot, "mesh": _mesh}


def _frame(driver: str, scene: str) -> Frame:
    """A frame from its clear to the last pixel."""
    import moderngl

    window: Any = Context(driver)
    ctx: Any = moderngl.create_context(standalone=True, context=window)
    target = ctx.framebuffer([ctx.texture(SIZE, 4)], ctx.depth_renderbuffer(SIZE))
    target.use()
    draw = SCENES[scene](ctx)

    def frame() -> None:
        with ctx:
            target.use()
            target.clear()
            draw()
            target.read()

    return frame


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.machine_speed")
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--drivers", default="simd,tiler")
    asked = parser.parse_args()
    drivers = ["numpipe", *asked.drivers.split(",")]
    for scene in SCENES:
        frames = {driver: _frame(driver, scene) for driver in drivers}
        best = dict.fromkeys(drivers, float("inf"))
        for turn in range(asked.frames + 1):
            for driver, frame in frames.items():
                start = time.process_time()
                frame()
                if turn:
                    best[driver] = min(best[driver], time.process_time() - start)
        for driver, seconds in best.items():
            ratio = seconds / best["numpipe"]
            print(f"{scene:11} {driver:8} {seconds * 1000:9.1f} ms  {ratio:5.1f} x numpipe")


if __name__ == "__main__":
    main()
