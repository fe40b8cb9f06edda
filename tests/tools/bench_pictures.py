"""What the benchmarks draw, told in numbers: of each part of a picture how bright and how rough.

    python -m tests.tools.bench_pictures    write `bench_pictures.txt` anew (look at `git diff`)

A row is a scene and one of its sixteen parts: the means of red, green and blue, and how much pixels
differ from those beside them. Another filter, blending or depth test is another number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gallette
from gallette.benchmarks import BENCHMARKS
from gallette.benchmarks.child import prepared

__all__ = ["FILE", "parts", "picture", "read"]

FILE = Path(__file__).with_suffix(".txt")
PARTS = 4
"""along each side"""


def picture(driver: str, name: str) -> npt.NDArray[np.float64]:
    """The first frame of a benchmark, by row, column and channel."""
    import moderngl

    window: Any = gallette.moderngl_context(driver, version=(4, 5))
    context: Any = moderngl.create_context(standalone=True, context=window)
    context.extra = window
    width, height = BENCHMARKS[name].size
    pixels = np.frombuffer(prepared(context, name)(), np.uint8).reshape(height, width, 4)
    context.release()
    window.release()
    return pixels.astype(np.float64)


def parts(pixels: npt.NDArray[np.float64]) -> list[list[float]]:
    """Four numbers for each part."""
    found = []
    for row in np.array_split(pixels[..., :3], PARTS):
        for part in np.array_split(row, PARTS, axis=1):
            rough = np.abs(np.diff(part, axis=0)).mean() + np.abs(np.diff(part, axis=1)).mean()
            found.append([round(float(v), 1) for v in (*part.mean(axis=(0, 1)), rough)])
    return found


def read() -> dict[str, list[list[float]]]:
    """What is written down."""
    found: dict[str, list[list[float]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, *numbers = line.split()
        found.setdefault(name, []).append([float(number) for number in numbers])
    return found


def main() -> None:
    """Write the file."""
    with FILE.open("w", encoding="utf-8") as file:
        for name in BENCHMARKS:
            for row in parts(picture("numpipe", name)):
                print(f"{name:16}", *(f"{number:6.1f}" for number in row), file=file)


if __name__ == "__main__":
    main()
