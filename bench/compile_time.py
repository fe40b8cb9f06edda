"""How long a program takes from GLSL to its first pixel, ours and llvmpipe's, side by side.

    python bench/compile_time.py [--runs 12] [--profile]

Each run compiles a 60-line vertex and fragment pair that no cache has seen (a constant changes),
draws one triangle and reads a pixel back, in turn on numpipe and on the native GL with its shader
cache off, through the same moderngl calls. Needs a native GL.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import time

SHADERS = pathlib.Path(__file__).parent / "shaders"
TRIANGLE = [-0.1, -0.1, 0, 0, 0, 1, 0, 0, 0.1, -0.1, 0, 0, 0, 1, 0, 0, 0, 0.1, 0, 0, 0, 1, 0, 0]


class Side:
    """One implementation, ready to compile and draw."""

    def __init__(self, driver: str) -> None:
        import moderngl
        import numpy as np

        import gallette

        self.ctx = moderngl.create_context(
            standalone=True, context=gallette.moderngl_context(driver)
        )
        with self.ctx:
            self.name = self.ctx.info["GL_RENDERER"]
            self.vertices = self.ctx.buffer(np.array(TRIANGLE, "f4").tobytes())
            self.target = self.ctx.simple_framebuffer((8, 8))

    def compile_and_draw(self, salt: int) -> float:
        """Milliseconds from source text to the first pixel."""
        vertex, fragment = (
            (SHADERS / name).read_text().replace("SALT", f"{salt}.25")
            for name in ("lit.vert", "lit.frag")
        )
        with self.ctx:
            self.target.use()
            start = time.perf_counter()
            program = self.ctx.program(vertex_shader=vertex, fragment_shader=fragment)
            array = self.ctx.vertex_array(
                program, [(self.vertices, "3f 3f 2f", "position", "normal", "texcoord")]
            )
            array.render()
            self.target.read(viewport=(0, 0, 1, 1))
            return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=12, help="counted runs of each side")
    parser.add_argument("--profile", action="store_true", help="profile one more of our runs")
    args = parser.parse_args()
    os.environ.setdefault("EGL_PLATFORM", "surfaceless")
    os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"
    sides = [Side("numpipe"), Side("native:llvmpipe")]
    times: list[list[float]] = [[], []]
    for run in range(args.runs + 2):
        for side, figures in zip(sides, times, strict=True):
            figures.append(side.compile_and_draw(run + 3))
    for side, figures in zip(sides, times, strict=True):
        counted = sorted(figures[2:])
        print(
            f"{side.name}: median {statistics.median(counted):.1f} ms "
            f"(min {counted[0]:.1f}, max {counted[-1]:.1f})"
        )
    ratios = [ours / theirs for ours, theirs in zip(*times, strict=True)][2:]
    print(f"ours / theirs, pair by pair: median {statistics.median(ratios):.2f}")
    if args.profile:
        import cProfile
        import pstats

        with cProfile.Profile() as profile:
            sides[0].compile_and_draw(1000)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
