"""Benchmark scenes: moderngl clients that can be drawn again and again.

Each module function registered with `@benchmark` prepares everything and returns a `draw()` that
draws one frame. What is timed is `draw()` plus reading the picture back, because a driver that
postpones work would otherwise look fast.
"""

from gallette.benchmarks import (
    frame_scenes,
    mesh_scenes,
    scenes,
    stage_scenes,
    state_scenes,
    texture_scenes,
    update_scenes,
)
from gallette.benchmarks.registry import BENCHMARKS, Benchmark, benchmark, find, read_scenes

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "benchmark",
    "find",
    "frame_scenes",
    "mesh_scenes",
    "read_scenes",
    "scenes",
    "stage_scenes",
    "state_scenes",
    "texture_scenes",
    "update_scenes",
]
