"""The table of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["BENCHMARKS", "Benchmark", "benchmark"]

Prepare = Callable[[Any, tuple[int, int]], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: `prepare(ctx, size)` answers the function that draws one frame.

    `version` is the OpenGL it needs, as GLSL writes it, `samples` how many of them per pixel.
    """

    name: str
    doc: str
    prepare: Prepare
    size: tuple[int, int]
    version: int = 330
    samples: int = 0

    def lacks(self, version: int, samples: int) -> str:
        """What a context would need and does not have, or nothing."""
        if version < self.version:
            return f"no GL {self.version / 100:.1f}"
        return f"no {self.samples} samples" if samples < self.samples else ""


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(
    name: str, size: tuple[int, int] = (512, 512), version: int = 330, samples: int = 0
) -> Callable[[Prepare], Prepare]:
    def register(prepare: Prepare) -> Prepare:
        doc = (prepare.__doc__ or "").strip().splitlines()[0]
        BENCHMARKS[name] = Benchmark(name, doc, prepare, size, version, samples)
        return prepare

    return register
