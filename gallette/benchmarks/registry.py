"""The table of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["BENCHMARKS", "Benchmark", "benchmark"]

Prepare = Callable[[Any, tuple[int, int]], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: `prepare(ctx, size)` answers the function that draws one frame."""

    name: str
    doc: str
    prepare: Prepare
    size: tuple[int, int]


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str, size: tuple[int, int] = (512, 512)) -> Callable[[Prepare], Prepare]:
    def register(prepare: Prepare) -> Prepare:
        doc = (prepare.__doc__ or "").strip().splitlines()[0]
        BENCHMARKS[name] = Benchmark(name, doc, prepare, size)
        return prepare

    return register
