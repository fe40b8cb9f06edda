"""One side of a benchmark: `python -m gallette.benchmarks.child DRIVER [SCENES]`.

Reads a benchmark's name per line, and writes one JSON object per line: the seconds that frames took
(draw plus read back) by the clock and of all threads' processor time, or an error, or the OpenGL
that it would need. `profile NAME` requests a profile, `memory NAME` the memory of a frame,
`limits NAME` what it must do. The parent alternates between the processes, so that noise slows all
of them alike.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gallette.benchmarks.captures import SUFFIX, capture_frame
from gallette.compiler.errors import GalletteError
from gallette.scenes.common import Scene

TURN = 0.04
"""Seconds of frames that a process draws before the next process draws: the first frame finds the
processor's caches filled by other processes, and applications draw one frame after another."""


Frame = tuple[Callable[[], object], "Mapping[int, Any]"]
"""Draws a frame; and the contexts of OpenGL that it draws on."""


def _prepare(ctx: Any, name: str, driver: str) -> Frame:
    from gallette.benchmarks import find

    bench = find(name)
    if name.endswith(SUFFIX):
        return _in_new_context(ctx, *capture_frame(Path(name), driver))
    if bench.prepare is None:
        return _in_new_context(ctx, *_all_passes(bench, driver))
    target = ctx.framebuffer([ctx.texture(bench.size, 4)], ctx.depth_renderbuffer(bench.size))
    target.use()
    draw = bench.prepare(ctx, bench.size)

    def frame() -> bytes:
        target.use()
        target.clear()
        draw()
        data: bytes = target.read(components=4)
        ctx.disable(ctx.DEPTH_TEST)  # what one leaves is not for the next one
        ctx.blend_func = ctx.DEFAULT_BLENDING
        return data

    return frame, {0: ctx.extra}


def _in_new_context(ctx: Any, draw: Callable[[], None], contexts: Mapping[int, Any]) -> Frame:
    def frame() -> None:
        draw()
        ctx.extra.make_current()  # for the other benchmarks

    return frame, contexts


def _all_passes(scene: Scene, driver: str) -> tuple[Callable[[], None], dict[int, Any]]:
    """A frame of a scene that yields pictures: everything is created, drawn and read back each
    time.
    """
    import moderngl

    import gallette

    window: Any = gallette.moderngl_context(driver)
    ctx = moderngl.create_context(standalone=True, context=window)
    ctx.extra = window  # for scenes that call OpenGL itself

    def frame() -> None:
        window.make_current()
        for _ in scene.render(ctx, scene.size):
            pass

    return frame, {0: window}


def main(driver: str, scenes: str = "") -> int:
    try:
        import moderngl
    except ImportError:
        print("benchmarks need moderngl: pip install moderngl", file=sys.stderr)
        return 2
    import gallette
    from gallette.benchmarks import read_scenes

    try:
        if scenes:
            read_scenes(Path(scenes))
        window: Any = gallette.moderngl_context(driver)
    except GalletteError as error:
        print(error, file=sys.stderr)
        return 2
    ctx = moderngl.create_context(standalone=True, context=window)
    ctx.extra = window  # for what moderngl does not offer
    print(json.dumps({"renderer": str(ctx.info["GL_RENDERER"])}), flush=True)
    frames: dict[str, Frame] = {}
    for line in sys.stdin:
        what, _, name = line.strip().rpartition(" ")
        try:
            answer = _answer(ctx, driver, frames, name, what)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    return 0


def _answer(
    ctx: Any, driver: str, frames: dict[str, Frame], name: str, what: str
) -> dict[str, Any]:
    from gallette.benchmarks import find, lacks
    from gallette.benchmarks.limits import frame_work
    from gallette.benchmarks.memory import memory
    from gallette.benchmarks.profiling import profile

    if missing := lacks(find(name), ctx.version_code, ctx.max_samples):
        return {"lacks": missing}
    first = time.perf_counter()
    if name not in frames:
        frames[name] = _prepare(ctx, name, driver)
        frames[name][0]()
        seconds, error = time.perf_counter() - first, ctx.error
        return {"first": seconds} if error == "GL_NO_ERROR" else {"error": error}
    frame, contexts = frames[name]
    if what == "profile":
        return {"profile": profile(frame)}
    if what == "memory":
        return {"memory": memory(ctx.extra.pipe, lambda: _prepare(ctx, name, driver)[0]).table()}
    if what == "limits":
        pipes = [each.pipe for each in contexts.values()]
        return {"limits": asdict(frame_work(pipes, frame))}
    return _time_frames(frame)


def _time_frames(frame: Callable[[], object]) -> dict[str, list[float]]:
    """The times of some frames."""
    seconds: list[float] = []
    processor: list[float] = []
    while not seconds or sum(seconds) + seconds[-1] <= TURN:
        start, used = time.perf_counter(), time.process_time()
        frame()
        processor.append(time.process_time() - used)
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds, "processor": processor}


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
