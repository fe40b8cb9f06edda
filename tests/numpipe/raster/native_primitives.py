"""Render primitives on the machine's native GL in a child process, for comparison.

`Native().render(scenes)` returns, for every scene, the float colours and `gl_FragCoord` of all
pixels (-9 where nothing was drawn) and the depth buffer. A scene is a dictionary: `positions` and
`colors` (vec4 arrays), `mode` (GL's number), and optionally `size` (of points), `line_width`,
`interpolation` ("smooth", "flat" or "noperspective"), `polygon_mode`, `depth_func`, `offset`,
`samples`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

EXTENT = 64
NOTHING = -9.0
NO_GL = 77
"""the exit status that says so"""

_VERTEX = """#version 330
in vec4 position; in vec4 color; INTERPOLATION out vec4 value; uniform float size;
void main() { gl_Position = position; value = color; gl_PointSize = size; }"""
_FRAGMENT = """#version 330
INTERPOLATION in vec4 value;
layout(location = 0) out vec4 first; layout(location = 1) out vec4 second;
void main() { first = value; second = gl_FragCoord; }"""

Images = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]


class Native:
    """The child process, from its first scenes to `close`."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "EGL_PLATFORM": "surfaceless",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "GALLIUM_DRIVER": "llvmpipe",
        }
        command = [sys.executable, __file__]
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)

    def render(self, scenes: list[dict[str, Any]]) -> list[Images] | None:
        """Images of all scenes, or None if there is no native GL."""
        child = self._child
        assert child.stdin is not None and child.stdout is not None
        try:
            pickle.dump(scenes, child.stdin)
            child.stdin.flush()
            images: list[Images] = pickle.load(child.stdout)
        except (BrokenPipeError, EOFError):
            assert child.wait() == NO_GL
            return None
        return images

    def close(self) -> None:
        """It ends when nothing more comes."""
        with contextlib.suppress(BrokenPipeError):
            self._child.communicate()


def _main() -> int:
    try:
        import moderngl

        ctx = moderngl.create_context(standalone=True, backend="egl")
    except Exception as error:
        print(error, file=sys.stderr)
        return NO_GL
    programs: dict[str, Any] = {}
    while True:
        try:
            scenes = pickle.load(sys.stdin.buffer)
        except EOFError:
            return 0
        pickle.dump([_render(ctx, programs, scene) for scene in scenes], sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _render(ctx: Any, programs: dict[str, Any], scene: dict[str, Any]) -> Images:
    import moderngl

    kind = scene.get("interpolation", "smooth")
    if kind not in programs:
        programs[kind] = ctx.program(
            vertex_shader=_VERTEX.replace("INTERPOLATION", kind),
            fragment_shader=_FRAGMENT.replace("INTERPOLATION", kind),
        )
    if scene.get("samples"):
        return _resolved(ctx, programs[kind], scene)
    program = programs[kind]
    program["size"].value = scene.get("size", 1.0)
    extent = (EXTENT, EXTENT)
    colors = [ctx.texture(extent, 4, dtype="f4") for _ in range(2)]
    depth = ctx.depth_texture(extent)
    target = ctx.framebuffer(colors, depth)
    target.use()
    target.clear(NOTHING, NOTHING, NOTHING, NOTHING, depth=1.0)
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.PROGRAM_POINT_SIZE)
    ctx.depth_func = scene.get("depth_func", "1")
    ctx.line_width = scene.get("line_width", 1.0)
    ctx.wireframe = scene.get("polygon_mode") == "line"
    ctx.polygon_offset = scene.get("offset", (0.0, 0.0))
    vertices = np.concatenate((scene["positions"], scene["colors"]), axis=1).astype("f4")
    buffer = ctx.buffer(vertices.tobytes())
    array = ctx.vertex_array(program, [(buffer, "4f 4f", "position", "color")])
    array.render(scene["mode"])
    shape = (EXTENT, EXTENT, 4)
    result = (
        np.frombuffer(colors[0].read(), np.float32).reshape(shape),
        np.frombuffer(colors[1].read(), np.float32).reshape(shape),
        np.frombuffer(depth.read(alignment=1), np.float32).reshape(EXTENT, EXTENT),
    )
    for thing in (array, buffer, target, *colors, depth):
        thing.release()
    return result


def _resolved(ctx: Any, program: Any, scene: dict[str, Any]) -> Images:
    """The first colour of a multisampled target, resolved; the other images are empty."""
    import moderngl

    program["size"].value = scene.get("size", 1.0)
    extent, samples = (EXTENT, EXTENT), scene["samples"]
    color = ctx.renderbuffer(extent, 4, samples=samples, dtype="f4")
    depth = ctx.depth_renderbuffer(extent, samples=samples)
    target = ctx.framebuffer([color], depth)
    resolved = ctx.texture(extent, 4, dtype="f4")
    single = ctx.framebuffer([resolved])
    target.use()
    target.clear(0, 0, 0, 0, depth=1.0)
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.PROGRAM_POINT_SIZE)
    ctx.depth_func = "<"
    vertices = np.concatenate((scene["positions"], scene["colors"]), axis=1).astype("f4")
    buffer = ctx.buffer(vertices.tobytes())
    array = ctx.vertex_array(program, [(buffer, "4f 4f", "position", "color")])
    array.render(scene["mode"])
    ctx.copy_framebuffer(single, target)
    image = np.frombuffer(resolved.read(), np.float32).reshape(EXTENT, EXTENT, 4)
    for thing in (array, buffer, single, target, resolved, color, depth):
        thing.release()
    empty = np.zeros(0, np.float32)
    return image, empty, empty


if __name__ == "__main__":
    raise SystemExit(_main())
