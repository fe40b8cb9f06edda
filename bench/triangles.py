"""Random triangles on a driver and on the machine's llvmpipe: coverage, colours, depth.

    python bench/triangles.py                         # 1,000,000 triangles
    python bench/triangles.py --triangles 50000 --driver jit --seed 7

Triangles are of many kinds: small and large, slivers, with corners on pixels' centres and edges,
with edges in common, outside the picture and behind the eye. Thousands are drawn at once, each
adding a weight of its own to every pixel it covers: the sums are whole numbers, exact in whatever
order they come, and differ where the coverage of any triangle differs. Then the same triangles are
drawn with a depth test and smooth colours. Exit status 1 if coverage differs anywhere, or colours
by more than 1/255, or depth by more than a step of 24 bits in more than 0.01 % of the pixels.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt

os.environ.setdefault("EGL_PLATFORM", "surfaceless")
os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")

from gallette.state_tracker import GL, create_context

SIZE = 256
VIEWS = (256, 250, 97)
"""Sizes of the viewport: places in the window are exact where it is a power of two."""
AT_ONCE = 4000
STEP = 1 / ((1 << 24) - 1)

VERTEX = """#version 330
in vec4 position;
in vec4 paint;
out vec4 smoothly;
flat out float weight;
void main() {
    gl_Position = position;
    smoothly = paint;
    weight = paint.a;
}"""
WEIGHT = """#version 330
flat in float weight;
out vec4 color;
void main() { color = vec4(weight, 0.0, 0.0, 1.0); }"""
SMOOTH = """#version 330
in vec4 smoothly;
out vec4 color;
void main() { color = vec4(smoothly.rgb, 1.0); }"""

Floats = npt.NDArray[np.float32]


def corners(random: np.random.Generator, count: int, size: int) -> Floats:
    """Clip coordinates `[count, corner, xyzw]` for a viewport of that size."""
    extent = 10 ** random.uniform(-2.5, 0.3, (count, 1, 1))
    at = random.uniform(-1.1, 1.1, (count, 1, 2)) + random.uniform(-1, 1, (count, 3, 2)) * extent
    kind = random.integers(0, 8, count)
    sliver = kind == 0
    along = random.uniform(0, 1, (count, 1))
    at[sliver, 2] = (at[:, 0] + (at[:, 1] - at[:, 0]) * along)[sliver]
    at[sliver, 2] += random.normal(0, 2e-3, (count, 2))[sliver]
    pixels = (at + 1) * (size / 2)
    at[kind == 1] = (np.floor(pixels) * (2 / size) - 1)[kind == 1]  # on edges of pixels
    at[kind == 2] = ((np.floor(pixels) + 0.5) * (2 / size) - 1)[kind == 2]  # on centres
    shared = np.flatnonzero(kind == 3)[1:]
    at[shared, :2] = at[shared - 1, :2]  # an edge in common with the one before
    z = random.uniform(-1, 1, (count, 3, 1))
    w = np.ones((count, 3, 1))
    behind = kind == 4
    w[behind] = random.uniform(-0.3, 2.0, (count, 3, 1))[behind]
    xyz = np.concatenate((at, z), axis=2) * np.where(behind[:, None, None], np.abs(w), 1)
    found: Floats = np.concatenate((xyz, w), axis=2).astype(np.float32)
    return found


class Side:
    """One implementation: a target for sums, one for pictures."""

    def __init__(self, driver: str) -> None:
        self.gl: Any = create_context(driver, profile="core", version=(3, 3))
        gl = self.gl
        (self.buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, self.buffer)
        (array,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(array)
        self.programs = [self._program(fragment) for fragment in (WEIGHT, SMOOTH)]
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 32, None)
        gl.vertex_attrib_pointer(1, 4, GL.FLOAT, 0, 32, 16)
        gl.enable_vertex_attrib_array(0)
        gl.enable_vertex_attrib_array(1)
        self.targets = [self._target(GL.R32F), self._target(GL.RGBA8)]
        gl.blend_func(GL.ONE, GL.ONE)
        gl.depth_func(GL.LESS)

    def _program(self, fragment: str) -> int:
        gl = self.gl
        name: int = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, fragment)):
            shader = gl.create_shader(kind)
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            gl.attach_shader(name, shader)
        gl.bind_attrib_location(name, 0, "position")
        gl.bind_attrib_location(name, 1, "paint")
        gl.link_program(name)
        assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
        return name

    def _target(self, format: int) -> int:
        gl = self.gl
        (name,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        places = (GL.COLOR_ATTACHMENT0, format), (GL.DEPTH_ATTACHMENT, GL.DEPTH_COMPONENT24)
        for place, kind in places:
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage(GL.RENDERBUFFER, kind, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, place, GL.RENDERBUFFER, buffer)
        return int(name)

    def _begin(self, number: int) -> None:
        gl = self.gl
        gl.use_program(self.programs[number])
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.targets[number])
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)

    def _read(self, format: int, type: int, dtype: str) -> npt.NDArray[Any]:
        raw = self.gl.read_pixels(0, 0, SIZE, SIZE, format, type)
        return np.frombuffer(raw, dtype).reshape(SIZE, SIZE, -1)

    def draw(self, vertices: Floats, view: int) -> tuple[npt.NDArray[Any], ...]:
        """Sums of weights, colours, depths, in a viewport of that size."""
        gl, count = self.gl, len(vertices)
        gl.viewport(0, 0, view, view)
        gl.buffer_data(GL.ARRAY_BUFFER, vertices.nbytes, vertices, GL.STREAM_DRAW)
        self._begin(0)
        gl.enable(GL.BLEND)
        gl.draw_arrays(GL.TRIANGLES, 0, count)
        gl.disable(GL.BLEND)
        sums = self._read(GL.RED, GL.FLOAT, "<f4")
        self._begin(1)
        gl.enable(GL.DEPTH_TEST)
        gl.draw_arrays(GL.TRIANGLES, 0, count)
        gl.disable(GL.DEPTH_TEST)
        colors = self._read(GL.RGBA, GL.UNSIGNED_BYTE, "u1")
        return sums, colors, self._read(GL.DEPTH_COMPONENT, GL.FLOAT, "<f4")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triangles", type=int, default=1_000_000)
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--against", default="native:llvmpipe")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    sides = [Side(options.driver), Side(options.against)]
    random = np.random.default_rng(options.seed)
    covered = unlike = far = deep = pixels = drawn = 0
    begun = time.monotonic()
    while drawn < options.triangles:
        count, view = min(AT_ONCE, options.triangles - drawn), VIEWS[drawn // AT_ONCE % len(VIEWS)]
        paint = random.random((count, 3, 4)).astype(np.float32)
        paint[..., 3] = random.integers(1, 4096, (count, 1))
        vertices = np.concatenate((corners(random, count, view), paint), axis=2).reshape(-1, 8)
        (sums, colors, depth), (sums2, colors2, depth2) = (
            side.draw(vertices, view) for side in sides
        )
        covered += int(np.count_nonzero(sums))
        unlike += int(np.count_nonzero(sums != sums2))
        same = np.abs(depth - depth2)[..., 0] <= 1.001 * STEP
        apart = np.abs(colors.astype(int) - colors2).max(axis=2) > 1
        far += int(np.count_nonzero(apart & same))
        deep += int(np.count_nonzero(~same))
        pixels += SIZE * SIZE
        drawn += count
        if sys.stderr.isatty():
            print(f"\r{drawn} triangles, {unlike} pixels unlike ", end="", file=sys.stderr)
    print(
        f"{drawn} triangles in {time.monotonic() - begun:.0f} s, {covered} pixels covered: "
        f"coverage differs in {unlike}, colours by more than 1/255 in {far} "
        f"({100 * far / pixels:.4f} %), depth by more than a step in {deep} "
        f"({100 * deep / pixels:.4f} %)"
    )
    return 0 if not unlike and far <= pixels // 10000 and deep <= pixels // 10000 else 1


if __name__ == "__main__":
    raise SystemExit(main())
