"""What recording costs, and what a capture takes on disk: every scene with and without.

    python bench/capture_overhead.py [--repeat 5]

Processor time of drawing the scene (contexts and compilers warm), the least of some runs, taken
alternately. The promise: less than twice the time plus 50 ms.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import moderngl

import gallette
from gallette.capture import recording, replay
from gallette.scenes import SCENES


def drawn(name: str) -> float:
    """Seconds of processor time of one run of a scene, its set-up included."""
    start = time.process_time()
    window: Any = gallette.moderngl_context("numpipe")
    ctx = moderngl.create_context(standalone=True, context=window)
    ctx.extra = window  # for scenes that call OpenGL itself
    list(SCENES[name].render(ctx, SCENES[name].size))
    spent = time.process_time() - start
    window.release()
    return spent


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in SCENES:
            path = Path(folder) / f"{name}.gcap"
            plain, recorded = [], []
            drawn(name)
            for _ in range(options.repeat):
                plain.append(drawn(name))
                with recording(path):
                    recorded.append(drawn(name))
            done = replay(path)
            a, b = min(plain) * 1000, min(recorded) * 1000
            good = b < 2 * a + 50 and done.identical
            bad += not good
            print(
                f"{name:<16} {a:6.1f} ms, recorded {b:6.1f} ms ({b / a:.2f}x), "
                f"{path.stat().st_size / 1000:6.1f} kB, replay "
                f"{'identical' if done.identical else 'DIFFERENT'}",
                flush=True,
            )
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
