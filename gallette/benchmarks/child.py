"""One side of a benchmark: `python -m gallette.benchmarks.child DRIVER`.

Reads a benchmark's name per line, answers one JSON object per line: seconds for one frame (draw
plus read back), or an error. The parent asks the sides in turn, so that noise hits all alike.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import GalletteError

__all__ = ["main"]


def _prepare(ctx: Any, name: str) -> Callable[[], bytes]:
    from gallette.benchmarks import BENCHMARKS

    bench = BENCHMARKS[name]
    target = ctx.framebuffer([ctx.texture(bench.size, 4)], ctx.depth_renderbuffer(bench.size))
    target.use()
    draw = bench.prepare(ctx, bench.size)

    def frame() -> bytes:
        target.use()
        target.clear()
        draw()
        data: bytes = target.read(components=4)
        ctx.disable(ctx.DEPTH_TEST)
        return data

    return frame


def main(driver: str) -> int:
    try:
        import moderngl
    except ImportError:
        print("benchmarks need moderngl: pip install moderngl", file=sys.stderr)
        return 2
    import gallette

    try:
        window: Any = gallette.moderngl_context(driver)
    except GalletteError as error:
        print(error, file=sys.stderr)
        return 2
    ctx = moderngl.create_context(standalone=True, context=window)
    print(json.dumps({"renderer": str(ctx.info["GL_RENDERER"])}), flush=True)
    frames: dict[str, Callable[[], bytes]] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in frames:
                start = time.perf_counter()
                frames[name] = _prepare(ctx, name)
                frames[name]()
                first = time.perf_counter() - start
                print(json.dumps({"first": first}), flush=True)
                continue
            start = time.perf_counter()
            frames[name]()
            print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
